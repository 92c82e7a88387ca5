"""Ours: Theorem 1 at its own step sizes, the exact curve, and how much is given away."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import COLUMN_WIDTH, PALETTE, Drawing, draw_sizes, new_figure, number

from ..experiments.descents import DESCENTS, Run
from ..experiments.inference import Promise


def draw(bench: Bench) -> Drawing:
    """One task of middling size, to where Theorem 2 stops."""
    runs = [run for run in bench.evidence(DESCENTS) if run.choice == (1.0, 1.0)]
    run = runs[len(runs) // 2 - 2]
    with new_figure(2.55, width=COLUMN_WIDTH) as (picture, axes):
        numbers = _draw_curves(axes, run)
        task = run.plan.task
        sizes = f"$N={task.N}$, $K={task.K}$, $d={task.d}$, $m={task.m}$, $\\tau={task.tau:g}$"
        draw_sizes(picture, f"{sizes}, $H={run.plan.heads}$, one task")
    return Drawing(picture, _caption(run, numbers), numbers)


def _draw_curves(axes: Axes, run: Run) -> dict[str, Any]:
    rate, first = float(run.rates.guaranteed), run.plan.constants.gap
    T = Promise(run.plan, run.rates, 0).needed()
    t = np.geomspace(1, 2 * T, 400)
    edge = 0.98 * run.plan.frozen.largest_stable_rate
    bound = np.log(first) + t * np.log1p(-rate)
    curve = run.plan.frozen.log_gap(t, float(run.rates.w))
    tuned = run.plan.frozen.log_gap(t, edge)
    axes.plot(t, np.exp(bound), "--", color=PALETTE["black"], label="Theorem 1")
    axes.plot(t, np.exp(curve), color=PALETTE["blue"], label="attention frozen, exact")
    axes.plot(t, np.exp(tuned), color=PALETTE["green"], label="largest stable step, exact")
    axes.plot(run.steps[1:], run["gap"][1:], "o", ms=2.5, color=PALETTE["red"], label="descent")
    axes.axvline(T, color=PALETTE["grey"], linestyle=":", linewidth=0.9)
    axes.annotate(
        "$T$ of Theorem 2",
        (T, 1e-12 * first),
        (4, 4),
        textcoords="offset points",
        rotation=90,
        ha="left",
        va="bottom",
        color=PALETTE["grey"],
        fontsize="x-small",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-12 * first, 3 * first)
    axes.set_xlabel("step $t$")
    axes.set_ylabel("gap $L - L^*$")
    axes.legend(loc="lower left")
    reach = 1e-6 * first
    return {
        "guaranteed rate": rate,
        "T of Theorem 2": T,
        "steps to a millionth": {
            "guaranteed": float(np.log(1e-6) / np.log1p(-rate)),
            "descent": _reached(run, float(run.rates.w), reach),
            "largest stable step": _reached(run, edge, reach),
        },
    }


def _reached(run: Run, rate: float, gap: float) -> float:
    """The first step, up to a part in a thousand, with a smaller gap, attention being frozen."""
    t = np.geomspace(1, 1e18, 50_000)
    low = int(np.searchsorted(-run.plan.frozen.log_gap(t[::50], rate), -np.log(gap)))
    fine = t[max(50 * (low - 1), 0) : 50 * low + 1]
    at = int(np.searchsorted(-run.plan.frozen.log_gap(fine, rate), -np.log(gap)))
    return float(fine[min(at, len(fine) - 1)])


def _caption(run: Run, numbers: dict[str, Any]) -> str:
    steps = numbers["steps to a millionth"]
    return (
        f"{run.name}, step sizes (16) with L from (61): eta_w = {number(float(run.rates.w), 3)}, "
        f"eta_Q = {number(float(run.rates.Q), 2)}. To a millionth of the first gap Theorem 1 "
        f"guarantees {steps['guaranteed']:,.0f} steps; descent takes "
        f"{steps['descent']:,.0f}, and with the largest stable "
        f"eta_w {steps['largest stable step']:,.0f}. Theorem 2 asks for T = "
        f"{numbers['T of Theorem 2']:,.0f} for an error of {run.plan.epsilon:g}. Dots: gradient "
        "descent in all parameters; at these rates attention stays where it starts."
    )
