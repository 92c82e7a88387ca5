"""Figure 2: both training stages on random datasets, at the settings of Section 7."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata.drawing import PALETTE, SMALL, TEXT_WIDTH, draw_band, number, style
from lemmata.old_claims import Bench
from lemmata.papers._paper import Drawing
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.experiments import PAPER_RUN, Trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Grid = Float[np.ndarray, "datasets _"]

ROUNDING = 1e-12
"""Relative error allowed to norms that meet a bound exactly."""


def draw(bench: Bench) -> Drawing:
    """Losses, directions and norms against the number of updates."""
    from matplotlib.figure import Figure

    trained = Trained(bench.evidence(PAPER_RUN))
    starts = _informative_from(trained)
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 3.9))
        grid = picture.subplots(2, 3)
        _draw_losses(grid[0, 0], grid[1, 0], trained)
        _draw_cosines(grid[0, 1], grid[1, 1], trained, starts)
        _draw_norms(grid[0, 2], grid[1, 2], trained)
        for axes in grid[0]:
            axes.set_xlabel(r"updates $t$ of $W_{\mathrm{ov}}$")
        for axes in grid[1]:
            axes.set_xlabel(r"updates $t$ of $W_{\mathrm{kq}}$")
    return Drawing(picture, _caption(trained, starts), _numbers(trained, starts))


def _draw_stage(axes: "Axes", steps: np.ndarray, rows: Grid, title: str, label: str) -> None:
    """The mean with its band, and the first dataset alone."""
    draw_band(axes, steps, rows, PALETTE["blue"], label=f"mean of {len(rows)}, 5–95 %")
    axes.plot(steps, rows[0], color=PALETTE["black"], linewidth=0.7, label="first dataset")
    axes.set_title(title)
    axes.set_ylabel(label)


def _draw_losses(above: "Axes", below: "Axes", trained: Trained) -> None:
    first, second = np.exp(trained.stage1("log_loss")), np.exp(trained.stage2("log_loss"))
    label = r"$\mathcal{L}_0(W_{\mathrm{ov}}^{(t)})$"
    _draw_stage(above, trained.steps1, first, "(a) stage 1: loss", label)
    label = r"$\mathcal{L}(\theta^{(t)})$"
    _draw_stage(below, trained.steps2, second, "(d) stage 2: loss", label)
    floor = float(np.exp(_log_floor(trained)))
    below.axhline(floor, color=PALETTE["red"], linestyle="--", linewidth=1.0)
    below.text(0, floor * 1.15, f"infimum {number(floor, 3)}", fontsize=SMALL, va="bottom")
    above.set_yscale("log")
    below.set_yscale("log")
    above.legend(loc="lower left")


def _draw_cosines(above: "Axes", below: "Axes", trained: Trained, starts: dict[str, float]) -> None:
    first = 1 - trained.stage1("one_minus_correlation")
    second = 1 - trained.stage2("one_minus_correlation")
    label = r"$\cos(W_{\mathrm{ov}}^{(t)}, W_{\mathrm{ov}}^*)$"
    _draw_stage(above, trained.steps1, first, "(b) stage 1: direction", label)
    label = r"$\cos(W_{\mathrm{kq}}^{(t)}, W_{\mathrm{kq}}^*)$"
    _draw_stage(below, trained.steps2, second, "(e) stage 2: direction", label)
    lowest = np.nanmin(np.quantile(second[:, 1:], 0.05, axis=0))
    for axes in (above, below):
        axes.set_ylim(np.floor(lowest * 20) / 20 - 0.1, 1.012)
    gap = float(np.nanmax(trained.stage1("one_minus_correlation")))
    exact = f"$1-\\cos$ is at most {number(gap, 1)}\nfrom $t=1$ on: only rounding\n\n"
    _note(above, exact + _vacuous("Proposition 1", starts["Proposition 1"]))
    _note(below, _vacuous("Theorem 1", starts["Theorem 1"]))


def _note(axes: "Axes", words: str) -> None:
    axes.text(0.97, 0.05, words, transform=axes.transAxes, ha="right", va="bottom", fontsize=SMALL)


def _vacuous(name: str, start: float) -> str:
    return f"{name}: the bound is\nnegative before $t$ = {number(start, 2)}"


def _draw_norms(above: "Axes", below: "Axes", trained: Trained) -> None:
    rows = (
        (above, trained.steps1, trained.stage1("norm"), trained.eta0, trained.norm_ov, "ov"),
        (below, trained.steps2, trained.stage2("norm"), trained.eta, trained.norm_kq, "kq"),
    )
    for axes, steps, norms, rate, target, name in rows:
        stage = 1 if name == "ov" else 2
        label = rf"$\Vert W_{{\mathrm{{{name}}}}}^{{(t)}}\Vert$"
        title = f"({'c' if stage == 1 else 'f'}) stage {stage}: norm"
        _draw_stage(axes, steps, norms, title, label)
        eta = r"\eta_0" if stage == 1 else r"\eta"
        bounds = (
            (float(rate.max()), ":", rf"$t\,{eta}$ (above)"),
            (
                float((rate / (2 * target)).max()),
                "--",
                rf"$t\,{eta}/(2\Vert W^*_{{\mathrm{{{name}}}}}\Vert)$ (below)",
            ),
        )
        lines = [
            axes.plot(steps, slope * steps, line, color=PALETTE["red"], linewidth=1.0, label=words)
            for slope, line, words in bounds
        ]
        axes.legend(handles=[line for (line,) in lines], loc="upper left")


def _log_floor(trained: Trained) -> float:
    return theory.loss_floor(trained.T, float(trained.eta0[0, 0]), trained.datasets[0].K)


def _informative_from(trained: Trained) -> dict[str, float]:
    """The earliest t, over the datasets, from which each bound on a cosine is positive."""

    def value(i: int, t: float) -> float:
        d, eta0 = trained.datasets[i], trained.eta0[i, 0]
        return float(theory.value_cosine_bound(t, eta0, d.norm_ov, d.K, 5))

    def attention(i: int, t: float) -> float:
        d, eta = trained.datasets[i], trained.eta[i, 0]
        return float(theory.attention_cosine_bound(t, eta, d.norm_kq, d.N, d.L_max))

    every = range(len(trained))
    return {
        "Proposition 1": min(theory.first_step(partial(value, i), 0.0, np.e) for i in every),
        "Theorem 1": min(theory.first_step(partial(attention, i), 0.0, np.e**2) for i in every),
    }


def _numbers(trained: Trained, starts: dict[str, float]) -> dict[str, Any]:
    final = {
        "L_0": np.exp(trained.stage1("log_loss")),
        "1 - cos(W_ov, W_ov*)": trained.stage1("one_minus_correlation"),
        "||W_ov||": trained.stage1("norm"),
        "L": np.exp(trained.stage2("log_loss")),
        "cos(W_kq, W_kq*)": 1 - trained.stage2("one_minus_correlation"),
        "||W_kq||": trained.stage2("norm"),
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
    floor = trained.steps2[1:] * trained.eta / (2 * trained.norm_kq)
    lowest = trained.stage2("norm")[:, 1:] / floor
    return {
        "datasets": len(trained),
        "final": rows,
        "infimum of L": np.exp(_log_floor(trained)),
        "bounds on the cosine are positive from t": starts,
        "||W_kq|| over its lower bound, smallest": lowest.min(),
    }


def _caption(trained: Trained, starts: dict[str, float]) -> str:
    loss = np.exp(trained.stage2("log_loss"))[:, -1]
    cosine = 1 - trained.stage2("one_minus_correlation")[:, -1]
    return (
        f"Algorithm 1 on {len(trained)} random realizable datasets with "
        f"|V| = {trained.datasets[0].K}, T = {trained.T} and T₁ = {trained.steps2[-1]} updates, "
        f"η₀ = {number(float(trained.eta0[0, 0]))} and η = {number(float(trained.eta[0, 0]))}. "
        f"{_stage_1_words(trained)} "
        f"Stage 2 (d–f): the loss ends at {number(float(loss.mean()), 3)} on average, "
        f"{number(float(loss.mean() / np.exp(_log_floor(trained))), 2)} times the infimum "
        "that the frozen W_ov allows, and the cosine with W_kq* at "
        f"{number(float(cosine.mean()))} (from {number(float(cosine.min()))} to "
        f"{number(float(cosine.max()))}). "
        f"{_norm_words(trained)} "
        "The paper's bounds on the cosines say nothing here: that of Proposition 1 is negative "
        f"before t = {number(starts['Proposition 1'], 3)}, that of Theorem 1 before "
        f"t = {number(starts['Theorem 1'], 3)}, on every dataset."
    )


def _stage_1_words(trained: Trained) -> str:
    losses = trained.stage1("log_loss")
    same = " is the same for all datasets" if np.ptp(losses, axis=0).max() < 1e-12 else ""
    gap = float(np.nanmax(trained.stage1("one_minus_correlation")))
    return (
        f"Stage 1 (a–c){same}: L₀ ends at {number(float(np.exp(losses[:, -1]).mean()))}, and "
        f"1 − cos is at most {number(gap, 1)} from the first update on."
    )


def _norm_words(trained: Trained) -> str:
    """Where the norms lie between the paper's bounds, as shares of the upper one."""
    stage1 = trained.stage1("norm")[:, 1:] / (trained.steps1[1:] * trained.eta0)
    stage2 = trained.stage2("norm")[:, 1:] / (trained.steps2[1:] * trained.eta)
    inside = [
        bool((share <= 1 + ROUNDING).all() and (2 * norm * share >= 1 - ROUNDING).all())
        for share, norm in ((stage1, trained.norm_ov), (stage2, trained.norm_kq))
    ]
    verb = "lie" if all(inside) else "do not always lie"
    return (
        f"The norms {verb} between the paper's bounds; their smallest ratio to the upper bound is "
        f"{number(float(stage1.min()), 3)} in stage 1 and {number(float(stage2.min()), 3)} in "
        "stage 2. The lower bound is drawn for the dataset with the smallest ‖W*‖."
    )
