"""Figure 2a: training and inference losses of the one-layer transformer."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, TEXT_WIDTH, Drawing, number, style

from ..experiments.training import SAMPLED, OneLayer, curves
from ._heads import FROZEN

LINES = (
    ("training loss", "blue", lambda case: case.gaps + case.task.minimum),
    ("inference, in domain", "green", lambda case: 2 * case.gaps),
    ("inference, out of domain", "red", lambda case: case.run["out_of_domain"]),
)


def draw(bench: Bench) -> Drawing:
    """Unit tokens, Gaussian tokens, and unit tokens trained on a sample."""
    full = curves(bench)
    sampled = bench.evidence(SAMPLED).cases[0]
    panels = {
        "(a) unit tokens": full["unit"],
        "(b) Gaussian tokens": full["Gaussian"],
        "(c) unit tokens, sampled": sampled,
    }
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.2))
        grid = picture.subplots(1, 3, sharey=True)
        for axes, (title, case) in zip(grid, panels.items(), strict=True):
            _draw_panel(axes, case)
            axes.set_title(title)
        grid[0].set_ylabel("loss")
        grid[0].legend(loc="lower left")
    numbers = {title[4:]: _numbers(case) for title, case in panels.items()}
    return Drawing(picture, _caption(full["unit"], sampled, numbers), numbers)


def _draw_panel(axes: Axes, case: OneLayer) -> None:
    steps = case.run.steps
    for label, colour, values in LINES:
        axes.plot(steps, values(case), color=PALETTE[colour], label=label)
    axes.axhline(case.task.minimum, color=PALETTE["grey"], linestyle=":", linewidth=0.9)
    axes.annotate(
        "$L^*$",
        (steps[-1], case.task.minimum),
        (0, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=PALETTE["grey"],
    )
    axes.set_yscale("log")
    axes.set_xlabel("step $t$")
    axes.xaxis.set_major_formatter(lambda step, _: f"{step / 1000:g}k" if step else "0")


def _numbers(case: OneLayer) -> dict[str, Any]:
    last = case.run.steps[-1]
    at = [int(np.argmin(np.abs(case.run.steps - share * last))) for share in (0, 0.25, 0.5, 1)]
    return {
        "gap": {int(case.run.steps[i]): float(case.gaps[i]) for i in at},
        "out of domain": {int(case.run.steps[i]): float(case.run["out_of_domain"][i]) for i in at},
        "how far Q moved, relative": float(case.run["moved_Q"][-1]),
        "L*": case.task.minimum,
        FROZEN: case.frozen_gap,
    }


def _caption(unit: OneLayer, sampled: OneLayer, numbers: dict[str, Any]) -> str:
    task, training = unit.task, unit.run.how
    gaps = {name: list(own["gap"].values())[-1] for name, own in numbers.items()}
    moved = {name: own["how far Q moved, relative"] for name, own in numbers.items()}
    return (
        f"One-layer transformer, N = {task.N}, K = {task.K}, d = {task.d}, m = {task.m}, "
        f"H = {training.heads}, Adam with rate {training.rate:g}, {training.steps:,} steps; tau = "
        f"{task.tau:g}, the number of steps and the seed are our choices. The gap L − L* ends at "
        f"{number(gaps['unit tokens'], 2)} with unit tokens and "
        f"{number(gaps['Gaussian tokens'], 2)} with Gaussian ones, as the paper draws them: there "
        "attention is saturated at the start and Q moves by "
        f"{number(moved['Gaussian tokens'], 2)} of its size, against "
        f"{number(moved['unit tokens'], 2)}. The inference loss in domain is twice the gap "
        "exactly; that under N(1, 4I) is more than four times as large for any weights. (a) and "
        "(b) train on the population loss (9). The paper also speaks of 10,000 prompts in batches "
        f"of {sampled.run.how.batch}: that is (c), which ends at "
        f"{number(gaps['unit tokens, sampled'], 2)}."
    )
