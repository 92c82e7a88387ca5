"""Figure 4: training losses for several numbers of heads, unit and Gaussian tokens."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, Drawing, draw_sizes, new_figure, number

from ..experiments.training import HEADS, OneLayer, first_task

FROZEN = "gap after a billion steps with attention frozen"

COLOURS = ("red", "orange", "purple", "green", "blue", "black")


def draw(bench: Bench) -> Drawing:
    """The gap on a logarithmic axis, and what attention as at the start would leave for H < N."""
    runs = first_task(bench.evidence(HEADS))
    with new_figure(2.65, 1, 2, sharey=True) as (picture, grid):
        for axes, tokens, letter in zip(grid, ("unit", "Gaussian"), "ab", strict=True):
            _draw_panel(axes, [case for case in runs if case.tokens == tokens])
            axes.set_title(f"({letter}) {tokens} tokens")
        grid[0].set_ylabel("gap $L - L^*$")
        grid[0].set_ylim(bottom=max(1e-7, min(float(case.gaps.min()) for case in runs) / 2))
        grid[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        say_sizes(picture, runs[0], heads=False)
    numbers = _numbers(runs)
    return Drawing(picture, _caption(runs, numbers), numbers)


def say_sizes(picture: Figure, case: OneLayer, *, heads: bool = True) -> None:
    """What was trained, in a line below the panels."""
    task, training = case.task, case.run.how
    count = f"$H={training.heads}$, " if heads else ""
    draw_sizes(
        picture,
        f"$N={task.N}$, $K={task.K}$, $d={task.d}$, $m={task.m}$, {count}$\\tau={task.tau:g}$, "
        f"Adam with step size {number(training.rate)}, one task",
    )


def _draw_panel(axes: Axes, runs: list[OneLayer]) -> None:
    for case, name in zip(runs, COLOURS, strict=False):
        colour = PALETTE[name]
        axes.plot(case.run.steps, case.gaps, color=colour, label=f"$H={case.heads}$")
        if case.heads < case.task.N:
            axes.axhline(case.frozen_gap, color=colour, linestyle=":", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xlabel("step $t$")
    axes.xaxis.set_major_formatter(lambda step, _: f"{step / 1000:g}k" if step else "0")


def _numbers(runs: list[OneLayer]) -> dict[str, Any]:
    return {
        "runs": [
            {
                "tokens": case.tokens,
                "H": case.heads,
                "steps": int(case.run.steps[-1]),
                "last gap": float(case.gaps[-1]),
                FROZEN: case.frozen_gap,
                "steps that raised the gap": int(case.run["increases"][-1]),
                "how far Q moved, relative": float(case.run["moved_Q"][-1]),
            }
            for case in runs
        ]
    }


def _caption(runs: list[OneLayer], numbers: dict[str, Any]) -> str:
    first = runs[0]
    task, rate = first.task, first.run.how.rate
    unit = [row for row in numbers["runs"] if row["tokens"] == "unit"]
    few = max((row for row in unit if row["H"] < task.N), key=lambda row: row["H"])
    most = max(unit, key=lambda row: row["H"])
    same = next(
        row for row in numbers["runs"] if row["tokens"] == "Gaussian" and row["H"] == few["H"]
    )
    return (
        f"N = {task.N}, K = {task.K}, d = {task.d}, m = {task.m}, tau = {task.tau:g}, Adam with "
        f"rate {rate:g} on the population loss; tau, the numbers of heads and of steps are our "
        "choices. Dotted, for H < N: what a billion stable steps on w alone leave, with attention "
        f"as at the start. With unit tokens {few['H']} < N heads come to a gap of "
        f"{number(few['last gap'], 2)}, below their {number(few[FROZEN], 2)}: Q is learned. With "
        "Gaussian tokens, as the paper draws them, attention is saturated and the same number of "
        f"heads stays at {number(same['last gap'], 2)}. With the most heads, {most['H']}, the gap "
        f"rose in {most['steps that raised the gap']} of {most['steps']:,} steps."
    )
