"""Proof that an instance breaks a statement, by an evaluation that training does not share.

The recorded columns are computed again in ball arithmetic, and the statement itself is evaluated on
balls: if even the far ends of both balls violate it, that is a proof. A statement without training
is evaluated on the instance as its file holds it, whose structure and limits are exact.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    Judgement,
    Status,
    as_list,
    evidence_for,
    judge,
)
from lemmata.settings import AbstractSpace, Evidence

from ._balls import UNFIT, BallRun, CannotTellError
from ._clock import Clock, TooSlowError
from ._score import FOREVER, Attempt, evidence_on, try_all
from ._violations import at_most_broken_by, can_be_proved_wrong, sign_of, violated

PRECISIONS = (320, 1_280, 5_120, 20_480)
"""Bits of the balls: more as long as nothing is proved and they get narrower, since every step
widens them.
"""

COARSE = 1e-15
"""Balls narrower than this, relative to what they hold, need no more bits."""

CLEAR = 1e-9
"""A violation by this much, relative to the sides, is none of rounding."""


AMPLE = 10.0
"""A violation is larger than the error of what an instance knows by this factor."""

PLAINLY = 1e-6
"""And by this much, none of any well-behaved function of numbers that are right to rounding."""


VANISHING = float(np.finfo(float).tiny) ** 0.5
"""Below this a square underflows, and floating point knows no digits."""

PATIENCE = 20.0
"""A proof may take so many seconds, or half of the time that is left if that is more."""

GLANCE = 20
"""How long a replay takes is told from the part of it with this share of its steps."""

UNPROVABLE = "a limit or an average: that it is wrong is extrapolated"


@dataclass(frozen=True)
class Certificate:
    """Whether a violation is proved, and what the proof rests on; or that it is mere rounding.

    Attributes:
        worst: the violation as it is judged on the records that the proof goes through, if those
            are not all.
        hopeless: whether no instance can prove the statement wrong.
    """

    proved: bool
    says: str
    rounding: bool = False
    hopeless: bool = False
    worst: Judgement | None = None


def certify(
    claim: Claim,
    space: AbstractSpace[Any],
    attempt: Attempt,
    read_back: Callable[[Any], Any],
    clock: Clock = FOREVER,
    filler: Any = None,
) -> Certificate:
    """What proves that the attempt breaks the claim, if there is time for it.

    ``filler`` is an instance that fills up a batch (see ``evidence_on``).
    """
    try:
        return _certify(claim, space, attempt, read_back(attempt.instance), clock, filler)
    except TooSlowError as error:
        needed = f"a proof takes {error}: there was" if error.seconds >= 1 else "there was"
        return Certificate(False, f"{needed} no time for it")


def _certify(
    claim: Claim,
    space: AbstractSpace[Any],
    attempt: Attempt,
    instance: Any,
    clock: Clock,
    filler: Any,
) -> Certificate:
    again = try_all(claim, [instance], attempt.options, 0, None, clock, filler)
    if not again or not again[0].broken:
        says = "read back from its file, the instance does not break it"
        return Certificate(False, says, rounding=True)
    training = claim.experiment.training
    if claim.exact is not None:
        return _exactly(claim.exact, instance, attempt)
    if training is None:
        return _untrained(claim, space, instance, again[0])
    if not hasattr(training, "options") or attempt.place is None:
        return Certificate(False, "floating point alone: this experiment has no second evaluation")
    options = {**training.options, **attempt.options}
    evidence = evidence_on(claim, [instance], attempt.options, 0, clock, filler)
    if evidence.steps is None:
        return Certificate(False, "floating point alone: it is not followed step by step")
    if not _certainly_false(claim, evidence):
        hopeless = not any(map(can_be_proved_wrong, claim.compare(evidence)))
        return Certificate(False, _extrapolated(again[0]), hopeless=hopeless)
    unknown = _unknown_to_balls(claim, space, instance, options, evidence.records[:2])
    if unknown is not None:
        return Certificate(False, f"floating point alone: {unknown}")
    certificate = Certificate(False, "nothing is recorded")
    clock = clock.within(max(PATIENCE, clock.left / 2))
    for steps, worst in _stretches(claim, evidence):
        certificate = _along(claim, space, instance, options, steps, _gap(again[0]), clock)
        certificate = replace(certificate, worst=worst)
        if certificate.proved or clock.left < 0:
            break
    return certificate


def _untrained(
    claim: Claim, space: AbstractSpace[Any], instance: Any, attempt: Attempt
) -> Certificate:
    """By what the instance knows about itself, in balls if the statement can be evaluated so."""
    violation, doubt = -attempt.score, CLEAR + AMPLE * space.doubt(instance)
    if violation < doubt:
        says = f"the sides differ by {violation:.2g} only, where {doubt:.2g} may be an error"
        return Certificate(False, says, rounding=True)
    if 0 < _gap(attempt) < VANISHING:
        return Certificate(False, "so small that products underflow on the way", rounding=True)
    if not _certainly_false(claim, evidence_for(claim, Bench(instances=[instance]))[1]):
        return Certificate(False, UNPROVABLE)
    if not _same_elsewhere(claim, space, instance, attempt):
        return Certificate(False, "written in another way, it is not the same", rounding=True)
    plain = Certificate(True, "recomputed from its file; nothing is trained")
    cases = evidence_for(claim, Bench(instances=[instance]))[1].cases
    if len(cases) != 1 or cases[0] is not instance:
        return plain
    for _ in _precisions(PRECISIONS[:1]):
        run = BallRun(instance, None, {}, space.enclosures(instance))
        try:
            comparisons = claim.compare(run)
        except CannotTellError:
            return Certificate(False, "in balls the violation is not certain")
        except (AttributeError, TypeError, *UNFIT) as error:
            if isinstance(error.__cause__, CannotTellError):
                return Certificate(False, "in balls the violation is not certain")
            return plain
        if not all(isinstance(comparison, Inequality | Identity) for comparison in comparisons):
            return plain
        if not any(violated(comparison) for comparison in comparisons):
            says = "in balls around what the instance knows there is no violation"
            small = all(at_most_broken_by(c, _gap(attempt) / 2, None) for c in comparisons)
            return Certificate(False, says, rounding=small)
    return replace(plain, says="recomputed from its file, in balls; nothing is trained")


def _unknown_to_balls(
    claim: Claim,
    space: AbstractSpace[Any],
    instance: Any,
    options: Mapping[str, Any],
    steps: np.ndarray,
) -> str | None:
    """What the statement asks for that no replay gives, seen on few steps; None if nothing."""
    columns = space.replay(instance, options, steps)
    if columns is None:
        return "no second evaluation of this training"
    try:
        claim.compare(BallRun(instance, steps, columns, space.enclosures(instance)))
    except AttributeError as error:
        return str(error)
    except (CannotTellError, TypeError, *UNFIT) as error:
        return str(error) if isinstance(error.__cause__, AttributeError) else None
    return None


def _stretches(
    claim: Claim, evidence: Evidence[Any]
) -> Iterator[tuple[np.ndarray, Judgement | None]]:
    """Records from the start on, few at first, up to which the statement is broken already.

    With them comes how it is broken there, unless they are all.

    Fewer than all of them only if the statement says the same of them whatever comes later: one
    about the last record, or about the second half of the run, does not.
    """
    steps, whole = evidence.records, claim.compare(evidence)
    for length in (2**power for power in range(1, len(steps).bit_length())):
        if length >= len(steps):
            break
        columns = {
            name: grid[:, :length] if grid.shape[1] == len(steps) else grid
            for name, grid in evidence.columns.items()
        }
        part = replace(evidence, steps=steps[:length], columns=columns)
        try:
            compared = claim.compare(part)
        except UNFIT:  # the statement needs more records than these
            continue
        judged = [judge(comparison, part) for comparison in compared]
        broken = [judgement for judgement in judged if judgement.status is Status.FAILS]
        same = len(compared) == len(whole) and all(
            _begins(short, long, len(steps) - length)
            for short, long in zip(compared, whole, strict=True)
        )
        if broken and same:
            yield steps[:length], broken[0]
            break
    yield steps, None


def _begins(part: Comparison, whole: Comparison, left_out: int) -> bool:
    """Whether a comparison of each record is what a longer one is at its beginning."""
    if not isinstance(whole, Inequality | Identity) or not isinstance(part, type(whole)):
        return False
    if sign_of(part) != sign_of(whole):
        return False
    shorter = []
    for name in ("left", "right", "from_step", "places"):
        sides = (np.asarray(getattr(c, name, None), dtype=float) for c in (part, whole))
        short, long = (np.atleast_2d(side) for side in sides)
        if not np.array_equal(long[:, : short.shape[1]], short, equal_nan=True):
            return False
        shorter.append(long.shape[1] - short.shape[1])
    return set(shorter) <= {0, left_out} and left_out in shorter[:2]


def _exactly(exact: Exact, instance: Any, attempt: Attempt) -> Certificate:
    """By the claim's own second evaluation."""
    for _ in _precisions(PRECISIONS[:2]):
        comparisons = as_list(exact(instance, attempt.options))
        if any(violated(comparison) for comparison in comparisons):
            return Certificate(True, "the statement was evaluated in fractions and balls")
    return Certificate(False, "evaluated in fractions and balls, the violation is not certain")


def _along(
    claim: Claim,
    space: AbstractSpace[Any],
    instance: Any,
    options: Mapping[str, Any],
    steps: np.ndarray,
    gap: float,
    clock: Clock,
) -> Certificate:
    """By balls along the trajectory, with as many bits as that takes.

    ``gap`` is by how much the statement is broken in floating point.
    """
    certificate, widths = Certificate(False, "too coarse"), {}
    for _ in _precisions(PRECISIONS):
        clock.afford(_expected(space, instance, options, steps))
        columns = space.replay(instance, options, steps)
        if columns is None:
            return certificate
        run = BallRun(instance, steps, columns, space.enclosures(instance))
        certificate = _by_balls(claim, run, steps, gap)
        before, widths = widths, {name: _width(column) for name, column in columns.items()}
        narrowing = [
            not width <= COARSE and not width >= before.get(name, np.inf)
            for name, width in widths.items()
        ]
        if certificate.proved or clock.left < 0 or not any(narrowing):
            break
    return certificate


def _expected(
    space: AbstractSpace[Any], instance: Any, options: Mapping[str, Any], steps: np.ndarray
) -> float:
    """How many seconds a replay takes, from that of its beginning."""
    some = steps[: np.searchsorted(steps, steps[-1] // GLANCE, side="right")]
    if not len(some) or not some[-1]:
        return 0.0
    begun = time.monotonic()
    space.replay(instance, options, some)
    return (time.monotonic() - begun) * float(steps[-1] / some[-1])


def _precisions(bits: Sequence[int]) -> Iterator[int]:
    """One precision after the other, as long as it is asked for; then what it was before."""
    old = ctx.prec
    try:
        for ctx.prec in bits:
            yield ctx.prec
    finally:
        ctx.prec = old


def _by_balls(claim: Claim, run: BallRun, steps: np.ndarray, gap: float) -> Certificate:
    """The statement evaluated on balls."""
    balls = f"ball arithmetic with {ctx.prec} bits up to step {steps[-1]}"
    open_ = Certificate(False, f"in balls with {ctx.prec} bits the violation is not certain")
    try:
        comparisons = claim.compare(run)
    except (CannotTellError, TypeError, AttributeError, *UNFIT) as error:
        if isinstance(error, CannotTellError) or isinstance(error.__cause__, CannotTellError):
            return open_
        return _in_floats(claim, run, f"{balls}; {error}")
    if any(violated(comparison, steps) for comparison in comparisons):
        return Certificate(True, balls)
    if not all(map(can_be_proved_wrong, comparisons)):
        return Certificate(False, UNPROVABLE)
    if all(at_most_broken_by(comparison, gap / 2, steps) for comparison in comparisons):
        return replace(open_, rounding=True)
    return open_


def _in_floats(claim: Claim, run: BallRun, why: str) -> Certificate:
    """The statement evaluated in floating point on columns that balls enclose.

    It may use functions that balls do not have. Only a violation far beyond rounding counts.
    """
    evidence = run.rounded()
    try:
        comparisons = claim.compare(evidence)
        judged = [judge(c, evidence) for c in comparisons if can_be_proved_wrong(c)]
    except (AttributeError, *UNFIT) as error:
        return Certificate(False, f"the statement cannot be evaluated on balls: {error}")
    broken = [
        -float(np.nanmin(judgement.scores))
        for judgement in judged
        if judgement.status is Status.FAILS and judgement.scores is not None
    ]
    if not broken or max(broken) < PLAINLY:
        return Certificate(False, f"not certain in floating point ({why})")
    return Certificate(
        True, f"columns enclosed by {why}; so the statement itself is evaluated in floating point"
    )


def _width(column: np.ndarray) -> float:
    """How wide a column of balls ends up, relative to what they hold.

    It is 0 for what was never a number, which it is at no precision, and NaN for what was one.
    """
    last: arb = column[-1]
    if not last.is_finite():
        return np.nan if any(value.is_finite() for value in column) else 0.0
    return float(last.rad() / max(abs(last.mid()), arb(10) ** -300))


def _gap(attempt: Attempt) -> float:
    """By how much the sides are on the wrong side of each other, in floating point."""
    place = attempt.place or {}
    return abs(place["left"] - place["right"]) if "left" in place else 0.0


def _extrapolated(attempt: Attempt) -> str:
    """Why no finite run proves what the end of this one suggests."""
    place = attempt.place or {}
    if "extrapolated" not in place:
        return UNPROVABLE
    away = f"{place['extrapolated']:.3g} ± {place['error']:.2g}"
    return f"a limit: extrapolated from its end it is {away} away, which no finite run proves"


def _certainly_false(claim: Claim, evidence: Evidence[Any]) -> bool:
    """Whether what is broken is neither a matter of chance nor extrapolated."""
    return any(
        judge(comparison, evidence).status is Status.FAILS
        for comparison in claim.compare(evidence)
        if can_be_proved_wrong(comparison)
    )


def _same_elsewhere(
    claim: Claim, space: AbstractSpace[Any], instance: Any, attempt: Attempt
) -> bool:
    """Whether the instance, written in other ways, breaks the statement by as much."""
    for other in space.equivalents(instance):
        again = try_all(claim, [other], attempt.options, 0)
        if not again or not again[0].broken:
            return False
        if abs(_gap(again[0]) - _gap(attempt)) > _gap(attempt) / 10:
            return False
    return True
