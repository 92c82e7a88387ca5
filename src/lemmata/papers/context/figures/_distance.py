"""Figure 3: the transformer's ridge regression against the paper's best one, for every N."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, Drawing, draw_band, draw_sizes, new_figure, number
from lemmata.settings import Evidence

from ..experiments.ridge import SWEEPS, Sweep


def draw(bench: Bench) -> Drawing:
    """Exact curves: the distance, and the two risks behind it."""
    sweeps = bench.evidence(SWEEPS)
    with new_figure(2.35, 1, 2) as (picture, (distance, risk)):
        _draw_distance(distance, sweeps)
        _draw_risk(risk, sweeps)
        for axes in (distance, risk):
            axes.axvline(sweeps.cases[0].task.m, color=PALETTE["grey"], linestyle=":", lw=0.9)
            axes.set_xlabel("examples in a prompt $N$")
        task = sweeps.cases[0].task
        sizes = f"$K={task.K}$, $d={task.d}$, $m={task.m}$, $\\tau={task.tau:g}$"
        draw_sizes(picture, f"{sizes}, {len(sweeps)} dictionaries, exact")
    numbers = _numbers(sweeps)
    return Drawing(picture, _caption(sweeps, numbers), numbers)


def _draw_distance(axes: Axes, sweeps: Evidence[Sweep]) -> None:
    rows = np.array([sweep.gaps for sweep in sweeps])
    draw_band(axes, sweeps.cases[0].lengths, rows, PALETTE["blue"])
    axes.set_ylim(bottom=0)
    axes.set_title("(a) distance to the paper's best choice")
    axes.set_ylabel(r"$E\,\|\hat y^* - \hat y^{\mathrm{best}}\|^2/K$")


def _draw_risk(axes: Axes, sweeps: Evidence[Sweep]) -> None:
    lengths = sweeps.cases[0].lengths
    excess = np.array([sweep.risks(None) - sweep.risks(1.0) for sweep in sweeps])
    excess[:, lengths == sweeps.cases[0].task.m] = np.nan  # zero, but for rounding
    risk = np.array([sweep.risks(1.0) for sweep in sweeps])
    draw_band(axes, lengths, risk, PALETTE["blue"], label=r"with $m\tau$, the transformer's")
    draw_band(axes, lengths, excess, PALETTE["red"], label=r"what $N\tau$ adds to it")
    axes.set_yscale("log")
    axes.set_ylim(top=3e4)
    axes.set_title("(b) risk on queries")
    axes.set_ylabel("squared error")
    axes.legend(loc="upper right")


def _numbers(sweeps: Evidence[Sweep]) -> dict[str, Any]:
    first = sweeps.cases[0]
    mean = np.mean([sweep.gaps for sweep in sweeps], axis=0)
    risk = np.mean([sweep.risks(1.0) for sweep in sweeps], axis=0)
    below, above = first.lengths < first.task.m, first.lengths > first.task.m
    return {
        "distance": {int(N): float(x) for N, x in zip(first.lengths, mean, strict=True)},
        "risk": {int(N): float(x) for N, x in zip(first.lengths, risk, strict=True)},
        "peaks at": [int(first.lengths[side][np.argmax(mean[side])]) for side in (below, above)],
        "at N = m": float(mean[first.lengths == first.task.m][0]),
    }


def _caption(sweeps: Evidence[Sweep], numbers: dict[str, Any]) -> str:
    task, lengths = sweeps.cases[0].task, sweeps.cases[0].lengths
    risks = numbers["risk"]
    low, high = numbers["peaks at"]
    return (
        f"m = {task.m}, tau = {task.tau:g}; K = {task.K} (the paper does not say), mean and range "
        f"over {len(sweeps)} dictionaries, no sampling of prompts: the curves are exact. (a) The "
        f"distance is {number(numbers['at N = m'])} at N = m, where the two ridge problems are the "
        f"same, and is not monotone: it peaks at N = {low} and N = {high}. (b) What Nτ adds "
        "is zero at N = m, which a logarithmic axis does not show. Predictions do not "
        f"get better towards N = m: the risk falls from {number(risks[int(lengths[0])], 3)} at N = "
        f"{lengths[0]} over {number(risks[task.m], 3)} at N = m to "
        f"{number(risks[int(lengths[-1])], 3)} at N = {lengths[-1]}. And the paper's best choice "
        "is worse than the transformer's, by K/(K−N) times the distance of (a): m tau is the "
        "regularizer with the least risk."
    )
