"""Figure 2: both training stages on random datasets, at the settings of Section 7."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, SMALL, draw_band, draw_sizes, new_figure, number
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from .. import theory
from ..experiments import PAPER_STAGES
from ..setting import Dataset

Grid = Float[np.ndarray, "datasets _"]

ROUNDING = 1e-12
"""Relative error allowed to norms that meet a bound exactly."""

Stage = Evidence[Dataset]


def draw(bench: Bench) -> Drawing:
    """Losses, directions and norms against the number of updates."""
    first, second = (bench.evidence(stage) for stage in PAPER_STAGES)
    first = replace(first, columns={**first.columns, "rate": first.value_rate})
    starts = _informative_from(first, second)
    with new_figure(4.05, 2, 3) as (picture, grid):
        _draw_losses(grid[0, 0], grid[1, 0], first, second)
        _draw_cosines(grid[0, 1], grid[1, 1], first, second, starts)
        _draw_norms(grid[0, 2], first, "(c) stage 1: norm", "ov", r"\eta_0")
        _draw_norms(grid[1, 2], second, "(f) stage 2: norm", "kq", r"\eta")
        for axes in grid[0]:
            axes.set_xlabel(r"updates $t$ of $W_{\mathrm{ov}}$")
        for axes in grid[1]:
            axes.set_xlabel(r"updates $t$ of $W_{\mathrm{kq}}$")
        rates = (number(float(stage.rate[0, 0])) for stage in (first, second))
        steps = rf"$\eta_0={next(rates)}$, $\eta={next(rates)}$"
        draw_sizes(picture, f"$|V|={second.cases[0].K}$, {steps}, {len(second)} datasets")
    numbers = _numbers(first, second, starts)
    return Drawing(picture, _caption(first, second, starts), numbers)


def _draw_stage(
    axes: Axes, stage: Stage, rows: Grid, title: str, label: str, *, first: bool = True
) -> None:
    """The mean with its band, and the first dataset alone; or one line for all, if they agree."""
    steps, count = stage.records, len(rows)
    if np.nanmax(np.ptp(rows, axis=0)) <= ROUNDING * np.nanmax(np.abs(rows)):
        words = f"all {count} datasets alike"
        axes.plot(steps, rows[0], color=PALETTE["sky"], linewidth=3.2, label=words)
    else:
        draw_band(axes, steps, rows, PALETTE["blue"], label=f"mean of {count}, 5–95 %")
        look: dict[str, Any] = {
            "color": PALETTE["black"],
            "linewidth": 0.7,
            "linestyle": (0, (6, 3)),
        }
        if first:
            axes.plot(steps, rows[0], label="first dataset", **look)
    axes.set_title(title)
    axes.set_ylabel(label)


def _draw_losses(above: Axes, below: Axes, first: Stage, second: Stage) -> None:
    label = r"$\mathcal{L}_0(W_{\mathrm{ov}}^{(t)})$"
    _draw_stage(above, first, np.exp(first.log_loss), "(a) stage 1: loss", label)
    label = r"$\mathcal{L}(\theta^{(t)})$"
    _draw_stage(below, second, np.exp(second.log_loss), "(d) stage 2: loss", label)
    floor = float(np.exp(_log_floor(second)))
    words = f"infimum {number(floor, 3)}"
    below.axhline(floor, color=PALETTE["red"], linestyle="--", linewidth=1.0, label=words)
    for axes in (above, below):
        axes.set_yscale("log")
        axes.legend(loc="lower left")
    below.set_ylim(floor / 60, None)


def _draw_cosines(
    above: Axes, below: Axes, first: Stage, second: Stage, starts: dict[str, float]
) -> None:
    cosine = 1 - second.one_minus_correlation
    label = r"$\cos(W_{\mathrm{ov}}^{(t)}, W_{\mathrm{ov}}^*)$"
    _draw_stage(above, first, 1 - first.one_minus_correlation, "(b) stage 1: direction", label)
    label = r"$\cos(W_{\mathrm{kq}}^{(t)}, W_{\mathrm{kq}}^*)$"
    _draw_stage(below, second, cosine, "(e) stage 2: direction", label)
    lowest = np.nanmin(np.quantile(cosine[:, 1:], 0.05, axis=0))
    for axes in (above, below):
        axes.set_ylim(np.floor(lowest * 20) / 20 - 0.1, 1.012)
    gap = float(np.nanmax(first.one_minus_correlation))
    exact = f"$1-\\cos$ is at most {number(gap, 1)}\nfrom $t=1$ on: only rounding\n\n"
    _note(above, exact + _vacuous("Proposition 1", starts["Proposition 1"]))
    _note(below, _vacuous("Theorem 1", starts["Theorem 1"]))
    above.legend(loc="upper right", bbox_to_anchor=(1.0, 0.86))
    below.legend(loc="lower right", bbox_to_anchor=(1.0, 0.24))


def _note(axes: Axes, words: str) -> None:
    axes.text(0.97, 0.05, words, transform=axes.transAxes, ha="right", va="bottom", fontsize=SMALL)


def _vacuous(name: str, start: float) -> str:
    return f"{name}: the bound is\nnegative before $t$ = {number(start, 2)}"


def _draw_norms(axes: Axes, stage: Stage, title: str, name: str, eta: str) -> None:
    label = rf"$\Vert W_{{\mathrm{{{name}}}}}^{{(t)}}\Vert$"
    _draw_stage(axes, stage, stage.norm, title, label, first=False)
    target = stage.norm_ov if name == "ov" else stage.norm_kq
    bounds = (
        (float(stage.rate.max()), ":", rf"$t\,{eta}$ (above)"),
        (
            float((stage.rate / (2 * target)).max()),
            "--",
            rf"$t\,{eta}/(2\Vert W^*_{{\mathrm{{{name}}}}}\Vert)$ (below)",
        ),
    )
    steps = stage.records
    lines = [
        axes.plot(
            steps, slope * steps, line, color=PALETTE["red"], linewidth=1.2, label=words, zorder=4
        )
        for slope, line, words in bounds
    ]
    data = [line for line in axes.lines if line not in [bound for (bound,) in lines]]
    axes.legend(handles=[*data, *(line for (line,) in lines)], loc="upper left")
    axes.set_ylim(None, 1.5 * float(np.max(stage.norm)))


def _log_floor(stage: Stage) -> float:
    T, eta0, K = (
        float(column[0, 0]) for column in (stage.stage1_steps, stage.stage1_rate, stage.K)
    )
    return theory.loss_floor(T, eta0, K)


def _informative_from(first: Stage, second: Stage) -> dict[str, float]:
    """The earliest t, over the datasets, from which each bound on a cosine is positive."""
    value = np.hstack([first.rate, first.norm_ov, first.K])
    attention = np.hstack([second.rate, second.norm_kq, second.N, second.L])
    return {
        "Proposition 1": min(theory.value_bound_starts(*row, constant=5) for row in value),
        "Theorem 1": min(theory.attention_bound_starts(*row) for row in attention),
    }


def _numbers(first: Stage, second: Stage, starts: dict[str, float]) -> dict[str, Any]:
    final = {
        "L_0": np.exp(first.log_loss),
        "1 - cos(W_ov, W_ov*)": first.one_minus_correlation,
        "||W_ov||": first.norm,
        "L": np.exp(second.log_loss),
        "cos(W_kq, W_kq*)": 1 - second.one_minus_correlation,
        "||W_kq||": second.norm,
    }
    rows = []
    for name, series in final.items():
        last = series[:, -1]
        low, high = np.quantile(last, [0.05, 0.95])
        rows.append(
            {
                "at the end": name,
                "first dataset": last[0],
                "mean": last.mean(),
                "5 %": low,
                "95 %": high,
                "smallest": last.min(),
                "largest": last.max(),
            }
        )
    floor = second.records[1:] * second.rate / (2 * second.norm_kq)
    return {
        "datasets": len(second),
        "final": rows,
        "infimum of L": np.exp(_log_floor(second)),
        "bounds on the cosine are positive from t": starts,
        "||W_kq|| over its lower bound, smallest": (second.norm[:, 1:] / floor).min(),
    }


def _caption(first: Stage, second: Stage, starts: dict[str, float]) -> str:
    loss = np.exp(second.log_loss)[:, -1]
    cosine = 1 - second.one_minus_correlation[:, -1]
    return (
        f"Algorithm 1 on {len(second)} random realizable datasets with "
        f"|V| = {second.cases[0].K}, T = {first.records[-1]} and T₁ = {second.records[-1]} "
        f"updates, η₀ = {number(float(first.rate[0, 0]))} and "
        f"η = {number(float(second.rate[0, 0]))}. {_stage_1_words(first)} "
        f"Stage 2 (d–f): the loss ends at {number(float(loss.mean()), 3)} on average, "
        f"{number(float(loss.mean() / np.exp(_log_floor(second))), 2)} times the infimum "
        "that the frozen W_ov allows, and the cosine with W_kq* at "
        f"{number(float(cosine.mean()))} (from {number(float(cosine.min()))} to "
        f"{number(float(cosine.max()))}). "
        f"{_norm_words(first, second)} "
        "The paper's bounds on the cosines say nothing here: that of Proposition 1 is negative "
        f"before t = {number(starts['Proposition 1'], 3)}, that of Theorem 1 before "
        f"t = {number(starts['Theorem 1'], 3)}, on every dataset."
    )


def _stage_1_words(first: Stage) -> str:
    same = " is the same for all datasets" if np.ptp(first.log_loss, axis=0).max() < 1e-12 else ""
    gap = float(np.nanmax(first.one_minus_correlation))
    return (
        f"Stage 1 (a–c){same}: L₀ ends at {number(float(np.exp(first.log_loss[:, -1]).mean()))}, "
        f"and 1 − cos is at most {number(gap, 1)} from the first update on."
    )


def _norm_words(first: Stage, second: Stage) -> str:
    """Where the norms lie between the paper's bounds, as shares of the upper one."""
    shares = [stage.norm[:, 1:] / (stage.records[1:] * stage.rate) for stage in (first, second)]
    inside = [
        bool((share <= 1 + ROUNDING).all() and (2 * norm * share >= 1 - ROUNDING).all())
        for share, norm in zip(shares, (first.norm_ov, second.norm_kq), strict=True)
    ]
    verb = "lie" if all(inside) else "do not always lie"
    smallest = [number(float(share.min()), 3) for share in shares]
    return (
        f"The norms {verb} between the paper's bounds; their smallest ratio to the upper bound is "
        f"{smallest[0]} in stage 1 and {smallest[1]} in stage 2. The lower bound is drawn for the "
        "dataset with the smallest ‖W*‖."
    )
