"""Figures 4 to 7: longer lengths above, unseen subset sizes below, for four ways to train."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lemmata.claims import Bench, Experiment
from lemmata.drawing import TEXT_WIDTH, draw_logarithmic, number, style
from lemmata.papers._paper import Drawing
from lemmata.settings import Evidence

from ..claims.observations import REPORTED_SHARE
from ..experiments.endings import lengths, subset_sizes
from ..experiments.ensembles import RIVALS
from ..experiments.runs import ADAM, ADAM_RANDOM, ARMS, SGD, SGD_RANDOM, Pair
from ..experiments.switched_encodings import SWITCHED
from ._curves import draw_task, rows, say_sizes, setting, span, table

RANDOM_START = (
    "Weights start Gaussian with variance 1/(d + d_e), which the paper calls a standard deviation. "
    "The lines leave out what the first d rows of W do, which die out; the first d columns have no "
    "gradient while x_query = 0, so that the cosine of W stays below 1."
)


def draw_sgd(bench: Bench) -> Drawing:
    """Figure 4: with what the caption says about fixed encodings, and about the limit."""
    ends, largest = bench.evidence(SWITCHED), bench.evidence(RIVALS).cases[-1]
    floor = min(loss / case.zero_loss for case in ends for loss, _ in case.longer.values())
    says = (
        "The paper reports at least 0.15 for fixed encodings at every length, which is "
        f"{number(100 * REPORTED_SHARE, 2)} % of d/(2q) at its sizes; here the least of all runs "
        f"is {number(100 * floor, 3)} %. At the paper's sizes, T = 200 and d_e = 170, "
        f"{largest.found} of {largest.looked} subsets with q = {largest.q} have an encoding "
        "outside with <e_i, e_y> ≥ 1, which attention prefers to them: their loss does not go to 0."
    )
    return draw_figure(bench, SGD, says)


def draw_adam(bench: Bench) -> Drawing:
    """Figure 5."""
    return draw_figure(bench, ADAM, "The paper calls Adam's settings the default ones.")


def draw_sgd_random(bench: Bench) -> Drawing:
    """Figure 6."""
    return draw_figure(bench, SGD_RANDOM, RANDOM_START)


def draw_adam_random(bench: Bench) -> Drawing:
    """Figure 7."""
    return draw_figure(bench, ADAM_RANDOM, RANDOM_START)


def draw_figure(bench: Bench, experiment: Experiment[Evidence[Pair]], says: str) -> Drawing:
    """Both rows, for one way to train; ``says`` ends the caption."""
    pairs = bench.evidence(experiment)
    above, below = list(lengths(pairs)), list(subset_sizes(pairs))
    with style():
        picture = Figure(figsize=(TEXT_WIDTH, 3.7))
        columns = max(len(above), len(below))
        panels = picture.subplots(2, columns, sharey="row", sharex=True, squeeze=False)
        for line, tasks in zip(panels, (above, below), strict=True):
            for axes, (T, q) in zip(line, tasks, strict=False):
                draw_task(axes, pairs, T, q)
            for axes in line[len(tasks) :]:
                axes.set_axis_off()
            draw_logarithmic(line[0])
            line[0].set_ylabel("loss")
        for axes in (*panels[1][: len(below)], *panels[0][len(below) : len(above)]):
            axes.set_xlabel("step $t$")
            axes.tick_params(labelbottom=True)
        handles = panels[0][0].get_legend_handles_labels()
        picture.legend(*handles, loc="outside upper center", ncols=4, columnspacing=1.2)
        say_sizes(picture, pairs.cases[0].fixed.how, len(pairs))
    numbers = numbers_of(pairs)
    return Drawing(picture, _caption(pairs, numbers, says), numbers)


def numbers_of(pairs: Evidence[Pair]) -> dict[str, Any]:
    """What the caption says, and the directions that training found."""
    tasks = [*lengths(pairs), *subset_sizes(pairs)]
    return {
        "seeds": len(pairs),
        "at the end": table(pairs, tasks),
        "best of all steps": [
            {
                "T": T,
                "q": q,
                "fresh": float(np.mean(rows(pairs, "stochastic", "population", T, q).min(axis=1))),
                "fixed": float(np.mean(rows(pairs, "fixed", "population", T, q).min(axis=1))),
            }
            for T, q in tasks
        ],
        "at the last step": [
            {
                "encodings": arm,
                **{
                    name: float(np.mean([pair.run(arm)[name][-1] for pair in pairs]))
                    for name in ("loss", "alpha", "C", "cosine_W", "cosine_V")
                },
            }
            for arm in ARMS
        ],
    }


def _caption(pairs: Evidence[Pair], numbers: dict[str, Any], says: str) -> str:
    how = pairs.cases[0].fixed.how
    ends = numbers["at the end"]
    longer = [row for row in ends if row["T"] != how.task.T]
    larger = [row for row in ends if row["T"] == how.task.T]
    fresh, fixed = numbers["at the last step"]

    def losses(part: list[dict[str, Any]], arm: str) -> str:
        return ", ".join(
            number(row["loss at the end"], 2) for row in part if row["encodings"] == arm
        )

    best = [
        row["fixed"] / row["fresh"]
        for row in numbers["best of all steps"]
        if row["T"] == how.task.T
    ]
    return (
        "Longer lengths (above) and unseen subset sizes (below). "
        f"{setting(how, len(pairs))} Lines: averaged over tokens exactly; dotted: on 128 "
        "samples drawn before training. Over the last tenth of the time the losses "
        f"above are {losses(longer, 'stochastic')} with fresh and "
        f"{losses(longer, 'fixed')} with fixed encodings, and below {losses(larger, 'stochastic')} "
        f"and {losses(larger, 'fixed')}. The best step of fixed encodings is "
        f"{span(best)} times as bad as that of fresh ones at unseen subset sizes. "
        f"The cosine of W with its target ends at {number(fresh['cosine_W'])} and "
        f"{number(fixed['cosine_W'])}. {says}"
    )
