"""Proof that an instance breaks a statement, by an evaluation that training does not share.

The recorded columns are computed again in ball arithmetic, and the statement itself is evaluated on
balls: if even the far ends of both balls violate it, that is a proof. A statement without training
is evaluated on the instance as its file holds it, whose structure and limits are exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from lemmata.claims import (
    Bench,
    Claim,
    Comparison,
    Exact,
    Identity,
    Inequality,
    Limit,
    as_list,
    evidence_for,
)
from lemmata.settings import AbstractSpace, Balls

from ._score import Attempt, try_all

PRECISIONS = (320, 1_280, 5_120, 20_480)
"""Bits of the balls: more as long as nothing is proved and they get narrower, since every step
widens them.
"""

COARSE = 1e-15
"""Balls narrower than this, relative to what they hold, need no more bits."""

CLEAR = 1e-9
"""A violation by this much, relative to the sides, is none of rounding."""


@dataclass(frozen=True)
class Certificate:
    """Whether a violation is proved, and what the proof rests on."""

    proved: bool
    says: str


class BallRun:
    """A run of one instance whose columns are balls, with the interface of evidence."""

    def __init__(self, instance: Any, steps: np.ndarray, columns: Balls) -> None:
        self.cases = (instance,)
        self.steps = np.array([arb(int(step)) for step in steps], dtype=object)
        self.columns = {name: np.atleast_2d(column) for name, column in columns.items()}

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("columns", {})
        if name not in columns:
            raise AttributeError(name)
        return columns[name]

    def __iter__(self) -> Any:
        return iter(self.cases)

    def __len__(self) -> int:
        return 1

    @property
    def records(self) -> np.ndarray:
        """The recorded steps."""
        return self.steps

    def each(self, value: Callable[[Any], Any]) -> np.ndarray:
        """A number, or a row of numbers, of the instance."""
        return np.atleast_2d([value(case) for case in self.cases])


def certify(
    claim: Claim, space: AbstractSpace[Any], attempt: Attempt, read_back: Callable[[Any], Any]
) -> Certificate:
    """What proves that the attempt breaks the claim."""
    instance = read_back(attempt.instance)
    again = try_all(claim, [instance], attempt.options, 0)
    if not again or not again[0].broken:
        return Certificate(False, "read back from its file, the instance does not break it")
    training = claim.experiment.training
    if claim.exact is not None:
        return _exactly(claim.exact, instance, attempt)
    if training is None:
        if again[0].score > -CLEAR:
            return Certificate(False, f"the sides differ by {-again[0].score:.2g} only")
        return Certificate(True, "recomputed from its file; nothing is trained")
    if not hasattr(training, "options") or attempt.place is None:
        return Certificate(False, "floating point alone: this experiment has no second evaluation")
    options = {**training.options, **attempt.options}
    steps, old = _records(claim, instance, attempt), ctx.prec
    certificate, widths = Certificate(False, ""), {}
    try:
        for ctx.prec in PRECISIONS:
            columns = space.replay(instance, options, steps)
            if columns is None:
                says = "floating point alone: no second evaluation of this training"
                return Certificate(False, says)
            certificate = _by_balls(claim, BallRun(instance, steps, columns), int(steps[-1]))
            before, widths = widths, {name: _width(column) for name, column in columns.items()}
            if certificate.proved or not any(
                not width <= COARSE and not width >= before.get(name, np.inf)
                for name, width in widths.items()
            ):
                break
    finally:
        ctx.prec = old
    return certificate


def _exactly(exact: Exact, instance: Any, attempt: Attempt) -> Certificate:
    """By the claim's own second evaluation."""
    old = ctx.prec
    try:
        for ctx.prec in PRECISIONS[:2]:
            if any(
                _violated(comparison) for comparison in as_list(exact(instance, attempt.options))
            ):
                return Certificate(True, "the statement was evaluated in fractions and balls")
    finally:
        ctx.prec = old
    return Certificate(False, "evaluated in fractions and balls, the violation is not certain")


def _records(claim: Claim, instance: Any, attempt: Attempt) -> np.ndarray:
    """The recorded steps up to the first one after the violation."""
    assert attempt.place is not None
    bench = Bench(instances=[instance], options=dict(attempt.options))
    steps = evidence_for(claim, bench)[1].records
    return steps[: int(np.searchsorted(steps, float(attempt.place["t"]), side="right")) + 1]


def _by_balls(claim: Claim, run: BallRun, last: int) -> Certificate:
    """Along the trajectory."""
    try:
        comparisons: Sequence[Comparison] = claim.compare(run)
        proved = any(_violated(comparison) for comparison in comparisons)
    except Exception as error:  # a statement may use functions that balls do not have
        return Certificate(False, f"the statement cannot be evaluated on balls: {error}")
    if proved:
        return Certificate(True, f"ball arithmetic with {ctx.prec} bits up to step {last}")
    if any(isinstance(comparison, Limit) for comparison in comparisons):
        return Certificate(False, "a limit: that it settles elsewhere is extrapolated")
    return Certificate(False, f"in balls with {ctx.prec} bits the violation is not certain")


def _width(column: np.ndarray) -> float:
    """How wide a column of balls ends up, relative to what they hold.

    It is 0 for what was never a number, which it is at no precision, and NaN for what was one.
    """
    last: arb = column[-1]
    if not last.is_finite():
        return np.nan if any(ball.is_finite() for ball in column) else 0.0
    return float(last.rad() / max(abs(last.mid()), arb(10) ** -300))


def _violated(comparison: Comparison) -> bool:
    """Whether the comparison is certainly broken somewhere."""
    if isinstance(comparison, Inequality):
        sign = 1 if comparison.sense in (">=", ">") else -1
        return any(sign * (a - b) < 0 for a, b in _pairs(comparison.left, comparison.right))
    if isinstance(comparison, Identity):
        return any(not a.overlaps(b) for a, b in _pairs(comparison.left, comparison.right))
    return False


def _pairs(left: Any, right: Any) -> list[tuple[arb, arb]]:
    """Both sides as balls, place by place, where both are known."""
    grids = (np.atleast_2d(np.asarray(side, dtype=object)) for side in (left, right))
    sides = np.broadcast_arrays(*grids)
    pairs = [(_ball(a), _ball(b)) for a, b in zip(*(side.ravel() for side in sides), strict=True)]
    return [(a, b) for a, b in pairs if a.is_finite() and b.is_finite()]


def _ball(value: Any) -> arb:
    """A number as a ball: exactly what it is."""
    if isinstance(value, Fraction):
        return arb(value.numerator) / value.denominator
    return value if isinstance(value, arb) else arb(float(value))
