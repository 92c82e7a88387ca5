"""Figures 5 and 6: what descent selects under a general head, and the local limits that it defines.

Three comparisons of one run: with the limits of the data's own graphs (global), with the pseudo
graphs of the authors' program (local), and with our definition of the local limits.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from lemmata.drawing import COLUMN_WIDTH, PALETTE, draw_band
from lemmata.papers.mechanics.evidence import Local
from lemmata.papers.mechanics.figures._trials import draw_level, spread
from lemmata.papers.mechanics.setting import TrainingRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STARVED = 1e-15
"""A gradient below this is smaller than a few of the authors' epsilon: steps shrink to nothing."""

FAR = 1.0
"""A local distance above this is an outlier: the other trials are within the step size or so."""

NAMES = ("global", "local, authors", "local, ours")


def comparisons(local: Local) -> dict[str, TrainingRun]:
    """The run next to each kind of limit."""
    return dict(zip(NAMES, (local.run, local.authors, local.selected), strict=True))


def tied(local: Local) -> Bool[np.ndarray, "trials"]:
    """Whether some sample of a trial selects several tokens."""
    return np.array([any(len(s) > 1 for s in pseudo.selected) for pseudo in local.pseudo[1]])


def starved(local: Local) -> Bool[np.ndarray, "trials"]:
    """Whether the gradient ends below what the authors' epsilon lets through."""
    return local.run["log_gradient_norm"][:, -1] < np.log(STARVED)


def correlations(run: TrainingRun) -> Float[np.ndarray, "trials"]:
    """At the end."""
    return 1 - run["one_minus_correlation"][:, -1]


def distances(run: TrainingRun) -> Float[np.ndarray, "trials"]:
    """To the finite limit, at the end."""
    return run["cyclic_distance"][:, -1]


def panels() -> "tuple[Figure, Axes, Axes]":
    """Directions above, distances below."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(COLUMN_WIDTH, 4.0))
    above, below = picture.subplots(2, 1, sharex=True)
    return picture, above, below


def draw_correlations(axes: "Axes", local: Local) -> None:
    """Means with bands as in the paper, and medians."""
    for run, name, colour in (
        (local.run, "global", PALETTE["blue"]),
        (local.authors, "local", PALETTE["orange"]),
    ):
        rows = 1 - run["one_minus_correlation"]
        draw_band(axes, run.steps, rows, colour, label=name)
        axes.plot(
            run.steps,
            np.median(rows, axis=0),
            ":",
            color=colour,
            linewidth=1.0,
            label=f"{name}, median",
        )
    axes.set_title("(a) direction")
    axes.set_ylabel(r"correlation with $W^{\mathrm{mm}}$")


def draw_distances(axes: "Axes", local: Local) -> None:
    """Linear near zero, which is a value here, and logarithmic beyond."""
    draw_band(
        axes,
        local.run.steps,
        local.run["cyclic_distance"],
        PALETTE["blue"],
        label="global",
    )
    rows = local.authors["cyclic_distance"]
    steps = local.authors.steps
    axes.plot(steps, rows.mean(axis=0), color=PALETTE["orange"], label="local")
    axes.plot(
        steps,
        np.median(rows, axis=0),
        ":",
        color=PALETTE["orange"],
        linewidth=1.2,
        label="local, median",
    )
    ours = local.selected["cyclic_distance"]
    axes.plot(
        steps,
        ours.mean(axis=0),
        "--",
        color=PALETTE["green"],
        label="local, our definition",
    )
    draw_level(axes, float(local.run.rate[0]) / 2, r"$\eta/2$", "grey", ":")
    axes.set_yscale("symlog", linthresh=0.01, linscale=0.5)
    axes.set_ylim(bottom=-0.002)
    axes.set_title("(b) part inside the ties")
    axes.set_xlabel("step $t$")
    axes.set_ylabel(r"distance to $W^{\mathrm{cyc}}$")


def legends(above: "Axes", below: "Axes") -> None:
    """Where the curves leave room."""
    above.set_ylim(bottom=-0.55)
    above.legend(loc="lower right", ncols=2, columnspacing=1.0)
    below.set_ylim(top=5e3)
    below.legend(loc="upper right", ncols=2, columnspacing=1.0)


def numbers_of(local: Local, paper: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Everything that a caption says, next to what the paper reports."""
    trials = len(local)
    directions, ways = [], []
    for name, run in comparisons(local).items():
        ends, far = correlations(run), distances(run)
        directions.append(
            {
                "limit": name,
                "paper": paper["correlation"].get(name, "-"),
                **spread(ends),
                "above 0.99": int((ends > 0.99).sum()),
                "below 0.95": int((ends < 0.95).sum()),
            }
        )
        near = far[far <= FAR]
        ways.append(
            {
                "limit": name,
                "paper": paper["distance"].get(name, "-"),
                **spread(far),
                "exactly 0": int((far == 0).sum()),
                "median where not 0": _median(far[far > 0]),
                "above 1": trials - len(near),
                "mean of the others": _mean(near),
            }
        )
    several, hungry = tied(local), starved(local)
    return {
        "trials": trials,
        "correlation at the end": directions,
        "distance at the end": ways,
        "selection": _selection(local),
        "trials where some sample selects several tokens": int(several.sum()),
        "local correlation, mean": {
            "trials with several tokens": _mean(correlations(local.authors)[several]),
            "trials with one token a sample": _mean(correlations(local.authors)[~several]),
        },
        "trials with |gradient| below 1e-15": int(hungry.sum()),
        "of which select one token a sample": int((hungry & ~several).sum()),
        "||W|| / (eta t) of these, median": _median(_way(local)[hungry]),
    }


def _selection(local: Local) -> dict[str, int]:
    """How many tokens the samples of all trials select, and whether the label is among them."""
    counts: Counter[int] = Counter()
    hits = 0
    for dataset, pseudo in zip(local.run.datasets, local.pseudo[1], strict=True):
        for sample, chosen in zip(dataset.data.samples, pseudo.selected, strict=True):
            counts[len(chosen)] += sample.count
            hits += sample.count * (sample.label in chosen)
    return {
        "samples": counts.total(),
        **{f"select {size}": counts[size] for size in sorted({1, 2, 3, *counts})},
        "label selected": hits,
    }


def _way(local: Local) -> Float[np.ndarray, "trials"]:
    """The norm at the end as a share of what full steps in one direction would give."""
    return local.run["norm"][:, -1] / (local.run.rate * local.run.steps[-1])


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
