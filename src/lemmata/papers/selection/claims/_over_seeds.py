"""Comparisons of means over seeds, with the spread of the seeds as their error.

Ends are means over the last tenth of the time, and losses are averaged over all tokens exactly.
"""

import numpy as np

from lemmata.claims import Inequality, Limit, at_least, at_most, mean_of, tends_to
from lemmata.settings import Evidence

from ..experiments.endings import Rows, Tasks, clock, end, off_plateau, over, power
from ..experiments.runs import Arm, Pair

STAYS = 0.25
"""A loss that stays falls at most like this power of the time."""


def mean_at_least(part: str, rows: Rows, bound: float) -> Inequality:
    """Every mean over seeds is at least the bound."""
    means, errors = mean_of(list(rows.values()), axis=1)
    return at_least(means[:, None], bound, error=errors[:, None], part=part, cases=list(rows))


def mean_at_most(part: str, rows: Rows, bound: float) -> Inequality:
    """Every mean over seeds is at most the bound."""
    means, errors = mean_of(list(rows.values()), axis=1)
    return at_most(means[:, None], bound, error=errors[:, None], part=part, cases=list(rows))


def vanishes(pairs: Evidence[Pair], arm: Arm, tasks: Tasks) -> Limit:
    """The losses of the tasks, as means over seeds, go to 0 along the time of gradient flow.

    From the end of the plateau on, and relative to the zero predictor's loss.
    """
    tasks, runs = list(tasks), [pair.run(arm) for pair in pairs]
    late = np.all([off_plateau(run) for run in runs], axis=0)
    curves = [np.mean([run.task("population", *task) for run in runs], axis=0) for task in tasks]
    return tends_to(
        np.where(late, curves, np.nan),
        0.0,
        size=np.array([[runs[0].how.task.d / (2 * q)] for _, q in tasks]),
        part=f"{arm}: loss",
        cases=[f"T = {T}, q = {q}" for T, q in tasks],
        places=clock(runs[0]),
    )


def stays(pairs: Evidence[Pair], tasks: Tasks) -> Inequality:
    """The losses of fixed encodings do not go to 0: they hardly fall."""
    powers = over(pairs, tasks, lambda pair, T, q: power(pair, "fixed", T, q))
    return mean_at_most("fixed: power of 1/t", powers, STAYS)


def advantage(pairs: Evidence[Pair], tasks: Tasks, factor: float) -> Inequality:
    """Fixed encodings end with a loss so many times as large."""

    def ratio(pair: Pair, T: int, q: int) -> float:
        return end(pair, "fixed", T, q) / end(pair, "stochastic", T, q)

    return mean_at_least("fixed over stochastic at the end", over(pairs, tasks, ratio), factor)
