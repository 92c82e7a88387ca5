"""Figures 5 and 6: what descent selects under a general head, and the local limits that it defines.

Three comparisons of one run: with the limits of the data's own graphs (global), with the pseudo
graphs of the authors' program (local), and with our definition of the local limits.
"""

from collections import Counter
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lemmata.drawing import COLUMN_WIDTH, PALETTE, draw_band
from lemmata.settings import Evidence

from ..experiments import Followed
from ..setting import LOCAL
from ._trials import draw_level, median, say_sizes, spread

STARVED = 1e-15
"""A gradient below this is smaller than a few of the authors' epsilon: steps shrink to nothing."""

FAR = 1.0
"""A local distance above this is an outlier: the other trials are within the step size or so."""

LIMITS = {"global": "", "local, authors": "authors_", "local, ours": "selected_"}
"""How the columns of each kind of limit begin."""


def tied(local: Evidence[Followed]) -> Bool[np.ndarray, "trials"]:
    """Whether some sample of a trial selects several tokens."""
    return np.array([any(len(s) > 1 for s in case.pseudo["selected"].selected) for case in local])


def starved(local: Evidence[Followed]) -> Bool[np.ndarray, "trials"]:
    """Whether the gradient ends below what the authors' epsilon lets through."""
    return local.log_gradient_norm[:, -1] < np.log(STARVED)


def correlations(local: Evidence[Followed], limit: str) -> Float[np.ndarray, "trials"]:
    """At the end, with one kind of limit."""
    return 1 - local.columns[f"{LIMITS[limit]}one_minus_correlation"][:, -1]


def distances(local: Evidence[Followed], limit: str) -> Float[np.ndarray, "trials"]:
    """To the finite limit, at the end."""
    return local.columns[f"{LIMITS[limit]}cyclic_distance"][:, -1]


def draw_panels(local: Evidence[Followed]) -> tuple[Figure, Axes, Axes]:
    """Directions above, distances below."""
    picture = Figure(figsize=(COLUMN_WIDTH, 4.15))
    above, below = picture.subplots(2, 1, sharex=True)
    _draw_correlations(above, local)
    _draw_distances(below, local)
    say_sizes(picture, local, LOCAL)
    return picture, above, below


def _draw_correlations(axes: Axes, local: Evidence[Followed]) -> None:
    """Means with bands as in the paper, and medians."""
    for gaps, name, colour in (
        (local.one_minus_correlation, "global", PALETTE["blue"]),
        (local.authors_one_minus_correlation, "local", PALETTE["orange"]),
    ):
        rows = 1 - gaps
        draw_band(axes, local.records, rows, colour, label=f"{name}, mean of {len(rows)}")
        look = {"color": colour, "linewidth": 1.0, "label": f"{name}, median"}
        axes.plot(local.records, np.median(rows, axis=0), ":", **look)
    axes.set_title("(a) direction")
    axes.set_ylabel(r"correlation with $W^{\mathrm{mm}}$")


def _draw_distances(axes: Axes, local: Evidence[Followed]) -> None:
    """Linear near zero, which is a value here, and logarithmic beyond."""
    steps, rows = local.records, local.authors_cyclic_distance
    draw_band(axes, steps, local.cyclic_distance, PALETTE["blue"], label="global")
    draw_band(axes, steps, rows, PALETTE["orange"], label=f"local, mean of {len(rows)}")
    _draw_outlier(axes, steps, rows)
    look = {"color": PALETTE["orange"], "linewidth": 1.2, "label": "local, median"}
    axes.plot(steps, np.median(rows, axis=0), ":", **look)
    ours = local.selected_cyclic_distance.mean(axis=0)
    axes.plot(steps, ours, "--", color=PALETTE["green"], label="local, our definition")
    draw_level(axes, float(local.rate[0, 0]) / 2, r"$\eta/2$", "grey", ":")
    axes.set_yscale("symlog", linthresh=0.01, linscale=0.5)
    axes.set_ylim(bottom=-0.006)
    axes.axhline(0.0, color=PALETTE["grey"], linewidth=0.5, zorder=0)
    axes.set_title("(b) part inside the ties")
    axes.set_xlabel("step $t$")
    axes.set_ylabel(r"distance to $W^{\mathrm{cyc}}$")


def _draw_outlier(axes: Axes, steps: np.ndarray, rows: np.ndarray) -> None:
    """The trial that the mean is made of, if there is one."""
    worst = int(rows[:, -1].argmax())
    if rows[worst, -1] <= FAR:
        return
    axes.plot(steps, rows[worst], color=PALETTE["black"], linewidth=0.7, label="local, worst trial")
    axes.plot(steps[-1], rows[worst, -1], "o", color=PALETTE["black"], markersize=3, clip_on=False)


def legends(above: Axes, below: Axes) -> None:
    """Where the curves leave room."""
    above.set_ylim(bottom=-0.55)
    above.legend(loc="lower right", ncols=2, columnspacing=1.0)
    below.set_ylim(top=5e3)
    below.legend(loc="upper right", ncols=2, columnspacing=1.0)


def numbers_of(local: Evidence[Followed], paper: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Everything that a caption says, next to what the paper reports."""
    trials = len(local)
    directions, ways = [], []
    for name in LIMITS:
        ends, far = correlations(local, name), distances(local, name)
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
                "median where not 0": median(far[far > 0]),
                "above 1": trials - len(near),
                "mean of the others": _mean(near),
            }
        )
    several, hungry = tied(local), starved(local)
    by_authors = correlations(local, "local, authors")
    return {
        "trials": trials,
        "correlation at the end": directions,
        "distance at the end": ways,
        "selection": _selection(local),
        "trials where some sample selects several tokens": int(several.sum()),
        "local correlation, mean": {
            "trials with several tokens": _mean(by_authors[several]),
            "trials with one token a sample": _mean(by_authors[~several]),
        },
        "trials with |gradient| below 1e-15": int(hungry.sum()),
        "of which select one token a sample": int((hungry & ~several).sum()),
        "||W|| / (eta t) of these, median": median(_way(local)[hungry]),
    }


def _selection(local: Evidence[Followed]) -> dict[str, int]:
    """How many tokens the samples of all trials select, and whether the label is among them."""
    counts: Counter[int] = Counter()
    hits = 0
    for case in local:
        selected = case.pseudo["selected"].selected
        for sample, chosen in zip(case.instance.data.samples, selected, strict=True):
            counts[len(chosen)] += sample.count
            hits += sample.count * (sample.label in chosen)
    return {
        "samples": counts.total(),
        **{f"select {size}": counts[size] for size in sorted({1, 2, 3, *counts})},
        "label selected": hits,
    }


def _way(local: Evidence[Followed]) -> Float[np.ndarray, "trials"]:
    """The norm at the end as a share of what full steps in one direction would give."""
    return local.norm[:, -1] / (local.rate[:, 0] * local.records[-1])


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
