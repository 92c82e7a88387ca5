"""Proof that an instance breaks a statement, by an evaluation that training does not share.

The recorded columns are computed again in ball arithmetic, and the statement itself is evaluated on
balls: if even the far ends of both balls violate it, that is a proof. A statement without training
is evaluated on the instance as its file holds it, whose structure and limits are exact.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    Status,
    as_list,
    evidence_for,
    judge,
)
from lemmata.settings import AbstractSpace, Balls, Evidence

from ._score import Attempt, try_all

PRECISIONS = (320, 1_280, 5_120, 20_480)
"""Bits of the balls: more as long as they end up too coarse, since every step widens them."""

COARSE = 1e-15
"""Balls wider than this, relative to what they hold, decide nothing."""

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
    bench = Bench(instances=[instance], options=dict(attempt.options))
    evidence, old = evidence_for(claim, bench)[1], ctx.prec
    certificate = Certificate(False, f"balls with {PRECISIONS[-1]} bits are too coarse")
    try:
        for steps in _stretches(claim, evidence):
            outcome = None
            for ctx.prec in PRECISIONS:
                outcome = outcome or _by_balls(claim, space, instance, options, steps)
            if outcome is not None and outcome.proved:
                return outcome
            certificate = outcome or certificate
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


def _stretches(claim: Claim, evidence: Evidence[Any]) -> Iterator[np.ndarray]:
    """Records from the start on, few at first, up to which the statement is broken already.

    Fewer than all of them only if the statement says the same of them whatever comes later: one
    about the last record does not.
    """
    steps, whole = evidence.records, claim.compare(evidence)
    length = 2
    while length < len(steps):
        columns = {
            name: grid[:, :length] if grid.shape[1] == len(steps) else grid
            for name, grid in evidence.columns.items()
        }
        part = replace(evidence, steps=steps[:length], columns=columns)
        try:
            compared = claim.compare(part)
        except Exception:  # a statement may need more records than these
            compared = []
        if any(judge(comparison, part).status is Status.FAILS for comparison in compared) and all(
            _begins(one, other) for one, other in zip(compared, whole, strict=True)
        ):
            yield steps[:length]
        length *= 2
    yield steps


def _begins(part: Comparison, whole: Comparison) -> bool:
    """Whether a comparison is what a longer one is at its beginning."""
    for name in ("left", "right"):
        short, long = (np.asarray(getattr(c, name, 0.0), dtype=float) for c in (part, whole))
        if short.ndim != long.ndim:
            return False
        known = long[..., : short.shape[-1]] if short.ndim else long
        if not np.array_equal(short, known, equal_nan=True):
            return False
    return True


def _by_balls(
    claim: Claim,
    space: AbstractSpace[Any],
    instance: Any,
    options: Mapping[str, Any],
    steps: np.ndarray,
) -> Certificate | None:
    """Along the trajectory; None if the balls have become too wide to tell."""
    columns = space.replay(instance, options, steps)
    if columns is None:
        return Certificate(False, "floating point alone: no second evaluation of this training")
    run = BallRun(instance, steps, columns)
    try:
        comparisons: Sequence[Comparison] = claim.compare(run)
        proved = any(_violated(comparison, steps) for comparison in comparisons)
    except Exception as error:  # a statement may use functions that balls do not have
        return Certificate(False, f"the statement cannot be evaluated on balls: {error}")
    if any(isinstance(comparison, Limit) for comparison in comparisons):
        return Certificate(False, "a limit: that it settles elsewhere is extrapolated")
    if not proved and any(_coarse(column) for column in columns.values()):
        return None
    if not proved:
        return Certificate(False, "in ball arithmetic the violation is not certain")
    return Certificate(True, f"ball arithmetic with {ctx.prec} bits up to step {steps[-1]}")


def _coarse(column: np.ndarray) -> bool:
    """Whether balls have become wide; what was never a number is none at any precision."""
    last: arb = column[-1]
    if not last.is_finite():
        return any(ball.is_finite() for ball in column)
    return float(last.rad()) > COARSE * abs(float(last.mid()))


def _violated(comparison: Comparison, steps: np.ndarray | None = None) -> bool:
    """Whether the comparison is certainly broken somewhere that it speaks of."""
    if isinstance(comparison, Inequality):
        sign = 1 if comparison.sense in (">=", ">") else -1
        start = -np.inf if comparison.from_step is None else np.max(comparison.from_step)
        places = steps if comparison.places is None else np.asarray(comparison.places)
        pairs = _pairs(comparison.left, comparison.right, places, float(start))
        return any(sign * (a - b) < 0 for a, b in pairs)
    if isinstance(comparison, Identity):
        return any(not a.overlaps(b) for a, b in _pairs(comparison.left, comparison.right))
    return False


def _pairs(
    left: Any, right: Any, places: np.ndarray | None = None, start: float = -np.inf
) -> list[tuple[arb, arb]]:
    """Both sides as balls, place by place from a start on, where both are known."""
    grids = (np.atleast_2d(np.asarray(side, dtype=object)) for side in (left, right))
    sides = np.broadcast_arrays(*grids)
    width = sides[0].shape[1]
    fits = places is not None and len(places) in (width, width + 1)
    later = (places if fits and places is not None else np.arange(width))[:width] >= start
    columns = [side[:, later].ravel() for side in sides]
    pairs = [(_ball(a), _ball(b)) for a, b in zip(*columns, strict=True)]
    return [(a, b) for a, b in pairs if a.is_finite() and b.is_finite()]


def _ball(value: Any) -> arb:
    """A number as a ball: exactly what it is."""
    if isinstance(value, Fraction):
        return arb(value.numerator) / value.denominator
    return value if isinstance(value, arb) else arb(float(value))
