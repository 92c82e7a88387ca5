"""How near instances come to breaking a statement, many of them in one evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.claims import Bench, Claim, Judgement, Status, evidence_for, instance_of, judge

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
    claim: Claim, instances: Sequence[Any], options: Mapping[str, Any], seed: int
) -> list[Attempt]:
    """Every instance that meets the hypotheses and on which something is said.

    Instances that cannot be evaluated are set aside: a batch with one of them is halved.
    """
    if not instances:
        return []
    together = list(instances)
    if hasattr(claim.experiment.training, "options"):
        together += [instances[-1]] * (_shared_size(len(instances)) - len(instances))
    bench = Bench(seed=seed, instances=together, options=dict(options))
    try:
        _, applicable = evidence_for(claim, bench)
        comparisons = claim.compare(applicable) if len(applicable) else []
        judged = [(c, judge(c, applicable)) for c in comparisons]
    except (InputError, ArithmeticError, np.linalg.LinAlgError):
        if len(instances) == 1:
            return []
        middle = len(instances) // 2
        parts = (instances[:middle], instances[middle:])
        return [attempt for part in parts for attempt in try_all(claim, part, options, seed)]
    worst: dict[int, Attempt] = {}
    for comparison, judgement in judged:
        cases = applicable.cases if comparison.cases is None else comparison.cases
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
                strict = getattr(comparison, "sense", "") in (">", "<")
                unclear = strict and judgement.status is Status.UNDECIDED
                attempt = replace(attempt, touches=unclear)
            worst[id(instance)] = attempt
    return list(worst.values())


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
