"""What came out of a check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The five outcomes, from the most to the least conclusive against a statement."""

    FAILS = "fails"
    INAPPLICABLE = "inapplicable"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"
    HOLDS = "holds"


MEANING = {
    Status.HOLDS: "true wherever it was checked, and it excludes something",
    Status.VACUOUS: "true, but it excludes nothing in the range checked: no support",
    Status.FAILS: "false: the witness reproduces it",
    Status.INAPPLICABLE: "an assumption is not met",
    Status.UNDECIDED: "the run is too short or the statistical error too large to tell",
}


@dataclass(frozen=True)
class Judgement:
    """The outcome of one inequality, identity or fact of a statement.

    Attributes:
        part: which part of the statement this is.
        status: the outcome.
        reason: one sentence for a person.
        margin: the smallest distance to being false, in the statement's own units.
        informative_from: the first t from which the bound excludes something; None if it
            always does, or never.
        witness: where it fails, or where the margin is smallest.
    """

    part: str
    status: Status
    reason: str
    margin: float | None = None
    informative_from: float | None = None
    witness: dict[str, Any] | None = None


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim: that of its least favourable part.

    ``control`` is the status of a sharpened, false version of the claim; the check is only worth
    something if that is ``fails``.
    """

    claim: str
    status: Status
    reason: str
    statement: str
    where: str
    experiment: str
    parts: tuple[Judgement, ...] = ()
    margin: float | None = None
    informative_from: float | None = None
    witness: dict[str, Any] | None = None
    control: Status | None = None


def combine(judgements: Sequence[Judgement]) -> Judgement:
    """The worst part speaks for the statement, the first one among equals."""
    order = list(Status)
    return min(judgements, key=lambda judgement: order.index(judgement.status))


def tally(verdicts: Iterable[Verdict]) -> dict[Status, int]:
    """How many verdicts have each status."""
    verdicts = list(verdicts)
    return {status: sum(v.status is status for v in verdicts) for status in Status}
