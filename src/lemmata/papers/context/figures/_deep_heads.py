"""Figure 5: the four-layer transformer with different numbers of heads, in a fixed time."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, Drawing, draw_band, draw_logarithmic, new_figure, number
from lemmata.settings import Evidence

from ..experiments.deep import HEADS, LOSSES, Heads, fixed_time
from ._deep import COLOURS, MARKS, NAMES, choices, say_sizes

SHADES = tuple(PALETTE[name] for name in ("blue", "orange", "green", "purple"))
LINES = ("-", "--", "-.", ":")


def draw(bench: Bench) -> Drawing:
    """Final losses against H, and the curves against time and against steps.

    The curves are functions of the step that come out the same every time. What is measured is how
    long a step takes, and it only stretches them.
    """
    evidence = bench.evidence(HEADS)
    with new_figure(2.55, 1, 3) as (picture, (ends, times, steps)):
        _draw_ends(ends, evidence)
        _draw_curves(times, evidence, timed=True)
        times.axvline(fixed_time(evidence), color=PALETTE["grey"], linestyle=":", linewidth=0.9)
        times.set_title("(b) training loss against time")
        times.set_xlabel("seconds")
        _draw_curves(steps, evidence, timed=False)
        steps.set_title("(c) against steps")
        steps.set_xlabel("step $t$")
        steps.sharey(times)
        steps.legend(loc="upper right")
        first = evidence.cases[0]
        say_sizes(picture, first.runs[0], f"{len(first.runs)} seeds")
    numbers = _numbers(evidence)
    return Drawing(picture, _caption(evidence, numbers), numbers)


def final(case: Heads, loss: str, seconds: float) -> float:
    """The loss after so many seconds; the mean of seeds."""
    return float(np.exp(case.after(seconds, loss)).mean())


def _draw_ends(axes: Axes, evidence: Evidence[Heads]) -> None:
    seconds = fixed_time(evidence)
    heads = [case.heads for case in evidence]
    for name in LOSSES:
        axes.plot(
            heads,
            [final(case, name, seconds) for case in evidence],
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


def _draw_curves(axes: Axes, evidence: Evidence[Heads], *, timed: bool) -> None:
    for case, colour, line in zip(evidence, SHADES, LINES, strict=False):
        along = case.steps * (case.seconds if timed else 1)
        draw_band(axes, along, case["training"], colour, label=f"$H={case.heads}$", linestyle=line)
    draw_logarithmic(axes)


def _numbers(evidence: Evidence[Heads]) -> dict[str, Any]:
    seconds = fixed_time(evidence)
    return {
        "seconds": seconds,
        "seeds": len(evidence.cases[0].runs),
        "by number of heads": [
            {
                "H": case.heads,
                "seconds a step": case.seconds,
                "steps": int(min(seconds / case.seconds, float(case.steps[-1]))),
                **{NAMES[name]: final(case, name, seconds) for name in LOSSES},
                "training loss after all steps": float(case["training"][:, -1].mean()),
            }
            for case in evidence
        ],
        "all steps": int(evidence.cases[0].steps[-1]),
    }


def _caption(evidence: Evidence[Heads], numbers: dict[str, Any]) -> str:
    rows = numbers["by number of heads"]
    table = "; ".join(
        f"H = {row['H']}: {number(1e3 * row['seconds a step'], 3)} ms a step, {row['steps']} "
        f"steps, {number(row['training loss'], 3)} (after all {numbers['all steps']} steps "
        f"{number(row['training loss after all steps'], 3)})"
        for row in rows
    )
    first = evidence.cases[0].runs[0]
    return (
        f"A {first.how.layers}-layer transformer with different numbers of heads. "
        f"{choices(first)} Means of {numbers['seeds']} seeds with their 5–95 % range. "
        f"(a) The losses after {number(numbers['seconds'], 2)} seconds (the paper: 100), in which "
        "the fastest makes all its steps. (b) The training loss against time: steps times what a "
        "step takes on this machine at best, compilation aside. Only this is measured anew each "
        f"time. (c) The same against steps. Training loss in that time: {table}."
    )
