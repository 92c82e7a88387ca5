"""Figure 5: the four-layer transformer with different numbers of heads, in a fixed time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.drawing import PALETTE, TEXT_WIDTH, Drawing, draw_band, number, style
from lemmata.old_claims import Bench, Cases
from lemmata.papers.context.experiments.deep import HEADS, LOSSES, Deep, Heads
from lemmata.papers.context.figures._deep import COLOURS, MARKS, NAMES, choices, draw_logarithmic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = tuple(PALETTE[name] for name in ("blue", "orange", "green", "purple"))
LINES = ("-", "--", "-.", ":")


def draw(bench: Bench) -> Drawing:
    """Final losses against H, and the curves against time and against steps.

    The curves are functions of the step that come out the same every time. What is measured is how
    long a step takes, and it only stretches them.
    """
    from matplotlib.figure import Figure

    found = bench.evidence(HEADS)
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.4))
        ends, times, steps = picture.subplots(1, 3)
        _draw_ends(ends, found)
        _draw_curves(times, found, timed=True)
        times.axvline(budget(found), color=PALETTE["grey"], linestyle=":", linewidth=0.9)
        times.set_title("(b) training loss against time")
        times.set_xlabel("seconds")
        _draw_curves(steps, found, timed=False)
        steps.set_title("(c) against steps")
        steps.set_xlabel("step $t$")
        steps.sharey(times)
        steps.legend(loc="upper right")
    numbers = _numbers(found)
    return Drawing(picture, _caption(found, numbers), numbers)


def budget(found: Cases[Heads]) -> float:
    """The seconds that every number of heads is given: what the fastest needs for all steps."""
    return min(one.seconds * float(one.steps[-1]) for one in found)


def final(one: Heads, loss: str, seconds: float) -> float:
    """The loss after so many seconds, between records along the logarithm; the mean of seeds."""
    step = min(seconds / one.seconds, float(one.steps[-1]))
    rows = [np.exp(np.interp(step, one.steps, np.log(row))) for row in one[loss]]
    return float(np.mean(rows))


def _draw_ends(axes: "Axes", found: Cases[Heads]) -> None:
    seconds = budget(found)
    heads = [one.heads for one in found]
    for name in LOSSES:
        axes.plot(
            heads,
            [final(one, name, seconds) for one in found],
            marker=MARKS[name],
            markersize=4,
            color=COLOURS[name],
            label=NAMES[name],
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(heads, [str(count) for count in heads])
    axes.set_xticks([], minor=True)
    draw_logarithmic(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.5)
    axes.set_title(f"(a) after {number(seconds, 2)} s")
    axes.set_xlabel("heads $H$")
    axes.set_ylabel("loss")
    axes.legend(loc="upper left")


def _draw_curves(axes: "Axes", found: Cases[Heads], *, timed: bool) -> None:
    for one, colour, line in zip(found, SHADES, LINES, strict=False):
        along = one.steps * (one.seconds if timed else 1)
        draw_band(axes, along, one["training"], colour, label=f"$H={one.heads}$", linestyle=line)
    draw_logarithmic(axes)


def _numbers(found: Cases[Heads]) -> dict[str, Any]:
    seconds = budget(found)
    return {
        "seconds": seconds,
        "seeds": len(found.cases[0].runs),
        "by number of heads": [
            {
                "H": one.heads,
                "seconds a step": one.seconds,
                "steps": int(min(seconds / one.seconds, float(one.steps[-1]))),
                **{NAMES[name]: final(one, name, seconds) for name in LOSSES},
                "training loss after all steps": float(one["training"][:, -1].mean()),
            }
            for one in found
        ],
        "all steps": int(found.cases[0].steps[-1]),
    }


def _caption(found: Cases[Heads], numbers: dict[str, Any]) -> str:
    rows = numbers["by number of heads"]
    table = "; ".join(
        f"H = {row['H']}: {number(1e3 * row['seconds a step'], 3)} ms a step, {row['steps']} "
        f"steps, {number(row['training loss'], 3)} (after all {numbers['all steps']} steps "
        f"{number(row['training loss after all steps'], 3)})"
        for row in rows
    )
    first = found.cases[0].runs[0]
    return (
        f"A {first.how.layers}-layer transformer with different numbers of heads. "
        f"{choices(Deep('', first))} Means of {numbers['seeds']} seeds with their 5–95 % range. "
        f"(a) The losses after {number(numbers['seconds'], 2)} seconds (the paper: 100), in which "
        "the fastest makes all its steps. (b) The training loss against time: steps times what a "
        "step takes on this machine at best, compilation aside. Only this is measured anew each "
        f"time. (c) The same against steps. Training loss in that time: {table}."
    )
