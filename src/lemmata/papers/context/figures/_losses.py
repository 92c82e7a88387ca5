"""Figure 2a: training and inference losses of the one-layer transformer."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.drawing import PALETTE, TEXT_WIDTH, number, style
from lemmata.old_claims import Bench
from lemmata.papers._paper import Drawing
from lemmata.papers.context.experiments.training import SAMPLED, OneLayer, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = (
    ("training loss", "blue", lambda one: one.gaps + one.task.minimum),
    ("inference, in domain", "green", lambda one: 2 * one.gaps),
    ("inference, out of domain", "red", lambda one: one.run["out_of_domain"]),
)


def draw(bench: Bench) -> Drawing:
    """Unit tokens, Gaussian tokens, and unit tokens trained on a sample."""
    from matplotlib.figure import Figure

    found = curves(bench)
    sampled = bench.evidence(SAMPLED).cases[0]
    panels = {
        "(a) unit tokens": found["unit"],
        "(b) Gaussian tokens": found["Gaussian"],
        "(c) unit tokens, sampled": sampled,
    }
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.2))
        grid = picture.subplots(1, 3, sharey=True)
        for axes, (title, one) in zip(grid, panels.items(), strict=True):
            _draw_panel(axes, one)
            axes.set_title(title)
        grid[0].set_ylabel("loss")
        grid[0].legend(loc="lower left")
    numbers = {title[4:]: _numbers(one) for title, one in panels.items()}
    return Drawing(picture, _caption(found["unit"], sampled, numbers), numbers)


def _draw_panel(axes: "Axes", one: OneLayer) -> None:
    steps = one.run.steps
    for label, colour, values in LINES:
        axes.plot(steps, values(one), color=PALETTE[colour], label=label)
    axes.axhline(one.task.minimum, color=PALETTE["grey"], linestyle=":", linewidth=0.9)
    axes.annotate(
        "$L^*$",
        (steps[-1], one.task.minimum),
        (0, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=PALETTE["grey"],
    )
    axes.set_yscale("log")
    axes.set_xlabel("step $t$")
    axes.xaxis.set_major_formatter(lambda step, _: f"{step / 1000:g}k" if step else "0")


def _numbers(one: OneLayer) -> dict[str, Any]:
    last = one.run.steps[-1]
    at = [int(np.argmin(np.abs(one.run.steps - share * last))) for share in (0, 0.25, 0.5, 1)]
    return {
        "gap": {int(one.run.steps[i]): float(one.gaps[i]) for i in at},
        "out of domain": {int(one.run.steps[i]): float(one.run["out_of_domain"][i]) for i in at},
        "how far Q moved, relative": float(one.run["moved_Q"][-1]),
        "L*": one.task.minimum,
        "least gap with attention frozen": one.floor,
    }


def _caption(unit: OneLayer, sampled: OneLayer, numbers: dict[str, Any]) -> str:
    task, how = unit.task, unit.run.how
    gaps = {name: list(found["gap"].values())[-1] for name, found in numbers.items()}
    moved = {name: found["how far Q moved, relative"] for name, found in numbers.items()}
    return (
        f"One-layer transformer, N = {task.N}, K = {task.K}, d = {task.d}, m = {task.m}, "
        f"H = {how.heads}, Adam with rate {how.rate:g}, {how.steps:,} steps; tau = {task.tau:g}, "
        "the number of steps and the seed are our choices. The gap L − L* ends at "
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
