"""Judgements about trained pairs: means over seeds, with the spread of the seeds as error bar.

A limit cannot be seen in a finite run. "Goes to 0" means here that a loss ends below a twentieth of
the zero predictor's d/(2q) and falls at least like the square root of the time; "stays" that it
falls more slowly than the fourth root. Ends are means over the last tenth of the time, and losses
are averaged over all tokens exactly.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status
from lemmata.papers.selection.experiments.runs import Arm, Pair, decay, late

Tasks = Iterable[tuple[int, int]]
"""Pairs of a length T and a subset size q."""

ERRORS = 3.0
"""A mean within so many standard errors of the bound decides nothing."""

SMALL = 0.05
"""Of the zero predictor's loss, for one that goes to 0."""

FALLS, STAYS = 0.5, 0.25
"""Powers of the time: one that falls has at least the first, one that stays at most the second."""

Rows = Mapping[str, Sequence[float]]
"""For each thing that is measured, one value a seed."""


def more(part: str, rows: Rows, bound: float) -> Judgement:
    """Judge that every mean is above the bound."""
    return _seeds(part, rows, bound, 1.0)


def less(part: str, rows: Rows, bound: float) -> Judgement:
    """Judge that every mean is below the bound."""
    return _seeds(part, rows, bound, -1.0)


def _seeds(part: str, rows: Rows, bound: float, sign: float) -> Judgement:
    values = {name: np.asarray(row, dtype=float) for name, row in rows.items()}
    if not values or min(map(len, values.values())) < 2:
        return Judgement(part, Status.UNDECIDED, f"{part}: one seed has no error bar")
    means = {
        name: (float(row.mean()), float(row.std(ddof=1) / np.sqrt(len(row))))
        for name, row in values.items()
    }
    judged = measured(part, means, bound, sign)
    seeds = values[(judged.witness or {})["on"]].tolist()
    return replace(judged, witness={**(judged.witness or {}), "seeds": seeds})


def measured(
    part: str, values: Mapping[str, tuple[float, float]], bound: float, sign: float = 1.0
) -> Judgement:
    """Judge that every value, with its standard error, is above the bound (below: sign -1).

    The worst speaks: the one with the smallest distance in standard errors.
    """
    found = np.array(list(values.values()))
    gaps, errors = sign * (found[:, 0] - bound), found[:, 1]
    worst = int(np.argmin(gaps / np.maximum(errors, 1e-300)))
    name, (value, error), gap = list(values)[worst], found[worst].tolist(), float(gaps[worst])
    status = Status.UNDECIDED
    if abs(gap) > ERRORS * error:
        status = Status.HOLDS if gap > 0 else Status.FAILS
    how = {Status.HOLDS: "", Status.UNDECIDED: "not clearly ", Status.FAILS: "not "}[status]
    side = "above" if sign > 0 else "below"
    reason = f"{part}: {value:.4g} ± {error:.2g} on {name}, {how}{side} {bound:.4g}"
    witness: dict[str, Any] = {"on": name, "value": value, "standard error": error, "bound": bound}
    return Judgement(part, status, reason, gap, witness=witness)


def lengths(pairs: Cases[Pair]) -> Tasks:
    """The other lengths, at the q of training."""
    how = pairs.cases[0].fixed.how
    return [(T, q) for T, q in how.tests if q == how.task.q]


def subset_sizes(pairs: Cases[Pair]) -> Tasks:
    """The other subset sizes, at the T of training."""
    how = pairs.cases[0].fixed.how
    return [(T, q) for T, q in how.tests if T == how.task.T]


def over(pairs: Cases[Pair], tasks: Tasks, value: Callable[[Pair, int, int], float]) -> Rows:
    """One row a task, one value a seed."""
    return {f"T = {T}, q = {q}": [value(pair, T, q) for pair in pairs] for T, q in tasks}


def end(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """The loss of a task at the end."""
    run = pair.run(arm)
    return late(run, run.task("population", T, q))


def share(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """The same as a share of the zero predictor's loss."""
    return end(pair, arm, T, q) / (pair.run(arm).how.task.d / (2 * q))


def power(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """How fast it falls."""
    run = pair.run(arm)
    return decay(run, run.task("population", T, q))


def vanishes(pairs: Cases[Pair], arm: Arm, tasks: Tasks) -> list[Judgement]:
    """The losses of the tasks go to 0."""
    tasks = list(tasks)
    return [
        less(
            f"{arm}: share of d/(2q) at the end",
            over(pairs, tasks, lambda pair, T, q: share(pair, arm, T, q)),
            SMALL,
        ),
        more(
            f"{arm}: power of 1/t",
            over(pairs, tasks, lambda pair, T, q: power(pair, arm, T, q)),
            FALLS,
        ),
    ]


def stays(pairs: Cases[Pair], tasks: Tasks) -> Judgement:
    """The losses of fixed encodings do not go to 0."""
    rows = over(pairs, tasks, lambda pair, T, q: power(pair, "fixed", T, q))
    return less("fixed: power of 1/t", rows, STAYS)


def advantage(pairs: Cases[Pair], tasks: Tasks, factor: float) -> Judgement:
    """Fixed encodings end with a loss so many times as large."""

    def ratio(pair: Pair, T: int, q: int) -> float:
        return end(pair, "fixed", T, q) / end(pair, "stochastic", T, q)

    return more("fixed over stochastic at the end", over(pairs, tasks, ratio), factor)
