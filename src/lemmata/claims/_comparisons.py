"""What a claim asserts about evidence, as values that know nothing of verdicts.

Both sides are grids with one row a case and one column a record; scalars, rows and columns are
spread out. A NaN on either side means that the statement does not speak there. ``rounding`` is the
relative rounding error of the two sides, and ``size`` what it is relative to: the larger side,
unless terms that cancel were larger. ``error`` is a standard error, if a side is an average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Side = Any
"""A number, a list of numbers or an array."""

Sense = Literal[">=", ">", "<=", "<"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """What all comparisons share.

    Attributes:
        part: the name of this part of the statement.
        cases: what the rows are; None for the cases of the evidence.
        places: what the columns are; None for the recorded steps, or their numbers.
    """

    part: str = ""
    cases: Sequence[Any] | None = None
    places: Any = None


@dataclass(frozen=True, eq=False)
class Inequality(Comparison):
    """left >= right, or another sense.

    Attributes:
        baseline: what is known of the left side without the statement. A bound that never goes
            beyond it on some case is vacuous: it has no support there.
        informative_from: the first t from which the bound of each case goes beyond it.
        from_step: the statement speaks of later steps only, case by case.
    """

    left: Side
    right: Side
    sense: Sense = ">="
    baseline: Side = None
    rounding: Side = None
    size: Side = None
    error: Side = None
    informative_from: Sequence[float] | None = None
    from_step: Side = None


@dataclass(frozen=True, eq=False)
class Identity(Comparison):
    """left == right."""

    left: Side
    right: Side
    rounding: Side = None
    size: Side = None
    error: Side = None


@dataclass(frozen=True, eq=False)
class Limit(Comparison):
    """A curve, one a row, tends to its target (a number, infinity, or one number a row).

    Attributes:
        trend: how the distance falls if the statement is true, as values at the places, up to a
            constant factor; None for a power of t, of log t, or an exponential, whichever fits.
        rounding: of the curve, relative to ``size``.
        size: by default the largest distance from the target.
        waits: whether the curve may stand still before it moves, as training does at a saddle or
            where attention is saturated: one that has hardly moved decides nothing then.
        above: whether the curve cannot fall below its target, as a distance cannot fall below 0:
            one that extrapolates to less tends to it.
    """

    curve: Side
    target: Side = 0.0
    trend: Side = None
    rounding: Side = None
    size: Side = None
    waits: bool = False
    above: bool = False


@dataclass(frozen=True, eq=False)
class Share(Comparison):
    """The probability behind ``successes`` of ``trials`` is at least (or at most) ``bound``."""

    successes: Side
    trials: Side
    bound: Side
    sense: Literal[">=", "<="] = ">="


@dataclass(frozen=True, eq=False)
class Fact(Comparison):
    """Something that is simply true or false of what was looked at: a last resort.

    Attributes:
        holds: whether it is so.
        reason: what was seen, in a sentence.
        checked: how many things were looked at; with none, nothing is decided.
        witness: the numbers that matter.
        margin: a distance to being false, if there is one.
        case: the number of the case at fault.
    """

    holds: bool
    reason: str
    checked: int = 1
    witness: dict[str, Any] | None = None
    margin: float | None = None
    case: int | None = None


@dataclass(frozen=True, eq=False)
class Silence(Comparison):
    """Nothing can be said, and why: nothing fits the statement, or the run is too short.

    Attributes:
        reason: why.
        applies: whether the statement speaks of the evidence at all.
    """

    reason: str
    applies: bool = True


def at_least(left: Side, right: Side, *, strict: bool = False, **options: Any) -> Inequality:
    """left >= right wherever both are known; ``strict`` for >."""
    return Inequality(left, right, ">" if strict else ">=", **options)


def at_most(left: Side, right: Side, *, strict: bool = False, **options: Any) -> Inequality:
    """left <= right wherever both are known; ``strict`` for <."""
    return Inequality(left, right, "<" if strict else "<=", **options)


def equal(left: Side, right: Side, **options: Any) -> Identity:
    """left == right up to rounding."""
    return Identity(left, right, **options)


def tends_to(curve: Side, target: Side = 0.0, **options: Any) -> Limit:
    """The curve has the target as its limit."""
    return Limit(curve, target, **options)


def share_at_least(successes: Side, trials: Side, bound: Side, **options: Any) -> Share:
    """At least this probability, judged from a sample of trials."""
    return Share(successes, trials, bound, ">=", **options)


def share_at_most(successes: Side, trials: Side, bound: Side, **options: Any) -> Share:
    """At most this probability, judged from a sample of trials."""
    return Share(successes, trials, bound, "<=", **options)


def mean_of(draws: Any, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The average of draws and its standard error, for a side and its ``error``."""
    values = np.asarray(draws, dtype=float)
    count = values.shape[axis]
    spread = (
        values.std(axis=axis, ddof=1) if count > 1 else np.full(values.mean(axis).shape, np.inf)
    )
    return np.asarray(values.mean(axis=axis)), np.asarray(spread / np.sqrt(count))
