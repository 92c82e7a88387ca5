"""How near instances come to breaking a statement, many of them in one evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lemmata._errors import InputError, StatementError
from lemmata.claims import (
    Bench,
    Claim,
    Comparison,
    Judgement,
    Status,
    evidence_for,
    instance_of,
    judge_for,
)
from lemmata.settings import Evidence

from ._clock import Clock

UNUSABLE = (InputError, ArithmeticError, np.linalg.LinAlgError, MemoryError)
"""What an instance that cannot be evaluated raises."""

FOREVER = Clock()

SMALLEST = 16
"""Fewer instances are trained as if they were so many."""


@dataclass(frozen=True)
class Attempt:
    """An instance that was tried.

    Attributes:
        instance: what was tried, with the options it was trained with.
        score: its distance from breaking the statement, relative to the sides; negative if it does.
        place: where, with both sides; known for the worst of those that were tried together.
        touches: whether the sides of a strict statement are equal there, up to rounding.
    """

    instance: Any
    options: Mapping[str, Any]
    score: float
    place: Mapping[str, Any] | None = None
    touches: bool = False

    @property
    def broken(self) -> bool:
        """Whether it breaks the statement beyond rounding."""
        return self.score < 0


def try_all(
    claim: Claim,
    instances: Sequence[Any],
    options: Mapping[str, Any],
    seed: int,
    errors: list[StatementError] | None = None,
    clock: Clock = FOREVER,
    filler: Any = None,
) -> list[Attempt]:
    """Every instance that meets the hypotheses and on which something is said.

    Instances that cannot be evaluated are set aside: a batch with one of them is halved. What the
    statement itself raised, or dynamics of its own, is added to ``errors``. What does not fit into
    the time of the clock raises ``TooSlowError``.
    """
    if not instances:
        return []
    try:
        applicable = evidence_on(claim, instances, options, seed, clock, filler)
    except UNUSABLE as error:
        if len(instances) == 1:
            if errors is not None and isinstance(error, StatementError):
                errors.append(error)
            return []
        middle = len(instances) // 2
        parts = (instances[:middle], instances[middle:])
        return [
            attempt
            for part in parts
            for attempt in try_all(claim, part, options, seed, errors, clock, filler)
        ]
    worst: dict[int, Attempt] = {}
    for comparison, judgement, cases in _judged(claim, applicable, errors):
        for row, score in enumerate(_scores(judgement, len(cases))):
            instance = instance_of(cases[row])
            known = worst.get(id(instance))
            if np.isnan(score) or (known is not None and known.score <= score):
                continue
            if not hasattr(instance, "document"):
                continue
            attempt = Attempt(instance, options, float(score))
            if row == judgement.case and judgement.witness is not None:
                attempt = with_judgement(attempt, judgement)
                if applicable.steps is None and comparison.places is None:
                    attempt = replace(attempt, place=_timeless(attempt.place))
                strict = getattr(comparison, "sense", "") in (">", "<")
                unclear = strict and judgement.status is Status.UNDECIDED
                attempt = replace(attempt, touches=unclear)
            worst[id(instance)] = attempt
    return list(worst.values())[: len(instances)]  # what was repeated to fill up comes last


def evidence_on(
    claim: Claim,
    instances: Sequence[Any],
    options: Mapping[str, Any],
    seed: int,
    clock: Clock = FOREVER,
    filler: Any = None,
) -> Evidence[Any]:
    """What the claim's experiment says of instances that meet the hypotheses.

    Trained together they are filled up, with the last one or with a ``filler`` that is as large
    as any, so that batches of different numbers and sizes share compiled programs.
    """
    together = list(instances)
    if hasattr(claim.experiment.training, "options"):
        last = instances[-1] if filler is None else filler
        together += [last] * (_shared_size(len(instances)) - len(instances))
    bench = Bench(seed=seed, track=clock.track, instances=together, options=dict(options))
    evidence, applicable = evidence_for(claim, bench)
    if filler is None or len(together) == len(instances):
        return applicable
    if len(evidence.cases) != len(together):  # which of them fill up cannot be told
        return evidence_on(claim, instances, options, seed, clock)
    asked = {id(case) for case in evidence.cases[: len(instances)]}
    return applicable.select([i for i, case in enumerate(applicable.cases) if id(case) in asked])


def _judged(
    claim: Claim, evidence: Evidence[Any], errors: list[StatementError] | None
) -> list[tuple[Comparison, Judgement, Sequence[Any]]]:
    """What is asserted, how it is judged, and of what; without cases that it does not fit."""
    if not len(evidence):
        return []
    try:
        return [
            (
                comparison,
                judge_for(claim.name, comparison, evidence),
                evidence.cases if comparison.cases is None else comparison.cases,
            )
            for comparison in claim.compare(evidence)
        ]
    except UNUSABLE as error:
        if len(evidence) == 1:
            if errors is not None and isinstance(error, StatementError):
                errors.append(error)
            return []
        middle = len(evidence) // 2
        halves = (range(middle), range(middle, len(evidence)))
        return [row for half in halves for row in _judged(claim, evidence.select(half), errors)]


def _timeless(place: Mapping[str, Any] | None) -> dict[str, Any]:
    """A place without a step, of a statement about no training."""
    return {name: value for name, value in (place or {}).items() if name != "t"}


def with_judgement(attempt: Attempt, judgement: Judgement) -> Attempt:
    """The attempt with the score and the place of a judgement of its case."""
    score = attempt.score
    if judgement.scores is not None and judgement.case is not None:
        score = float(judgement.scores[judgement.case])
    return replace(
        attempt, score=score, place={"part": judgement.part, **(judgement.witness or {})}
    )


def _shared_size(count: int) -> int:
    """A power of two, so that runs of different sizes share compiled programs."""
    return max(SMALLEST, 1 << (count - 1).bit_length())


def _scores(judgement: Judgement, cases: int) -> np.ndarray:
    """A judgement without scores speaks of one case, or of none."""
    if judgement.scores is not None:
        return judgement.scores
    scores = np.full(cases, np.nan)
    if judgement.case is not None and judgement.status in (Status.FAILS, Status.HOLDS):
        scores[judgement.case] = -1.0 if judgement.status is Status.FAILS else 1.0
    return scores
