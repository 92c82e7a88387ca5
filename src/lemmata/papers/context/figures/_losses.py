"""Figure 2a: training and inference losses of the one-layer transformer."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, Drawing, new_figure, number

from ..experiments.training import SAMPLED, OneLayer, curves
from ._deep import COLOURS, NAMES
from ._heads import FROZEN, say_sizes

VALUES = {
    "training": lambda case: case.gaps + case.task.minimum,
    "in_domain": lambda case: 2 * case.gaps,
    "out_of_domain": lambda case: case.run["out_of_domain"],
}


def draw(bench: Bench) -> Drawing:
    """Unit and Gaussian tokens, on the population loss and on a sample."""
    full, sampled = curves(bench), {case.tokens: case for case in bench.evidence(SAMPLED)}
    panels = {
        "(a) unit tokens": full["unit"],
        "(b) Gaussian tokens": full["Gaussian"],
        "(c) unit, sampled": sampled["unit"],
        "(d) Gaussian, sampled": sampled["Gaussian"],
    }
    with new_figure(2.45, 1, 4, sharey=True) as (picture, grid):
        for axes, (title, case) in zip(grid, panels.items(), strict=True):
            _draw_panel(axes, case)
            axes.set_title(title)
        grid[0].set_ylabel("loss")
        handles, names = grid[0].get_legend_handles_labels()
        picture.legend(handles, names, loc="outside upper center", ncols=3)
        say_sizes(picture, full["unit"])
    numbers = {title[4:]: _numbers(case) for title, case in panels.items()}
    return Drawing(picture, _caption(full["unit"], sampled["unit"], numbers), numbers)


def _draw_panel(axes: Axes, case: OneLayer) -> None:
    steps = case.run.steps
    for name, values in VALUES.items():
        axes.plot(steps, values(case), color=COLOURS[name], label=NAMES[name])
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
        "(b) train on the population loss (9). The paper also speaks of "
        f"{sampled.run.how.sample:,} prompts in batches of {sampled.run.how.batch}: (c) and (d), "
        "where the gap ends at "
        f"{number(gaps['unit, sampled'], 2)} and {number(gaps['Gaussian, sampled'], 2)}. (d) is "
        "Section 4's set-up to the letter."
    )
