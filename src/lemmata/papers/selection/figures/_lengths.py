"""Figure 2: the loss at longer lengths, with fresh and with fixed encodings."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lemmata.claims import Bench
from lemmata.drawing import PALETTE, TEXT_WIDTH, draw_logarithmic, number, style
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..experiments.endings import lengths
from ..experiments.mean_fields import MEAN_FIELD
from ..experiments.runs import SGD, Pair
from ..experiments.switched_encodings import SWITCHED, Switched
from ._curves import draw_task, say_sizes, setting, span, table


def draw(bench: Bench) -> Drawing:
    """One panel a length, with the mean field of fresh encodings."""
    pairs, field = bench.evidence(SGD), bench.evidence(MEAN_FIELD).cases[0].outside
    tasks = list(lengths(pairs))
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 2.2))
        panels = np.atleast_1d(picture.subplots(1, len(tasks), sharey=True))
        for axes, (T, q) in zip(panels, tasks, strict=True):
            draw_task(axes, pairs, T, q)
            line = {"color": PALETTE["black"], "linewidth": 1.0, "label": "mean field"}
            axes.plot(field.steps, field.losses[T, q], "--", **line)
            axes.set_xlabel("step $t$")
        draw_logarithmic(panels[0])
        panels[0].set_ylabel("loss")
        handles = panels[0].get_legend_handles_labels()
        picture.legend(*handles, loc="outside upper center", ncols=5, columnspacing=1.2)
        say_sizes(picture, pairs.cases[0].fixed.how, len(pairs))
    numbers = _numbers(pairs, bench.evidence(SWITCHED), tasks)
    for row, task in zip(numbers["at the end"][::2], tasks, strict=True):
        row["mean field"] = float(field.losses[task][-1])
    for row in numbers["at the end"][1::2]:
        row["mean field"] = None
    return Drawing(picture, _caption(pairs, numbers), numbers)


def _numbers(
    pairs: Evidence[Pair], switched: Evidence[Switched], tasks: list[tuple[int, int]]
) -> dict[str, Any]:
    return {
        "seeds": len(pairs),
        "at the end": table(pairs, tasks),
        "fixed encodings, by subset": [
            {
                "T": T,
                "all positions trained": _mean([case.trained[T] for case in switched]),
                "some not trained": _mean([case.untrained[T] for case in switched]),
            }
            for T, _ in tasks
        ],
        "at the training length": {
            "fixed, own encodings": _mean([case.own for case in switched]),
            "fixed, other encodings": _mean([case.fresh for case in switched]),
            "fresh": _mean([case.stochastic for case in switched]),
        },
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _caption(pairs: Evidence[Pair], numbers: dict[str, Any]) -> str:
    ends = numbers["at the end"]
    fresh, fixed = ends[::2], ends[1::2]
    parts, short = numbers["fixed encodings, by subset"], numbers["at the training length"]
    return (
        "The loss at longer lengths while training at a shorter case. "
        f"{setting(pairs.cases[0].fixed.how, len(pairs))} Lines: averaged over tokens exactly; "
        "dotted: on 128 samples drawn before training; dashed: the mean field. Over the last tenth "
        "of the time the loss "
        f"is {span([row['loss at the end'] for row in fresh])} with fresh encodings and "
        f"{span([row['loss at the end'] for row in fixed])} with fixed ones. From a quarter of the "
        "time on it falls like a power of 1/t: "
        f"{span([row['power of 1/t'] for row in fresh])} and "
        f"{span([row['power of 1/t'] for row in fixed])}. With fixed encodings the error comes "
        "from subsets with a position that was not trained: there the loss is "
        f"{span([row['some not trained'] for row in parts])}, elsewhere "
        f"{span([row['all positions trained'] for row in parts])}. At the training length these "
        f"weights have a loss of {number(short['fixed, own encodings'], 2)}, and "
        f"{number(short['fixed, other encodings'], 2)} under other encodings of the same kind "
        f"(trained on fresh ones: {number(short['fresh'], 2)})."
    )
