"""What came out of a check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata._html import table


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


class Kind(StrEnum):
    """What sort of failure it is, if a statement fails."""

    MISPRINT = "misprint"
    CONSTANT = "constant"
    HYPOTHESIS = "hypothesis"
    SUBSTANCE = "substance"


KIND_MEANING = {
    Kind.MISPRINT: "a sign, an index or a typo: the proof uses the right one",
    Kind.CONSTANT: "true with another constant or power",
    Kind.HYPOTHESIS: "true once a missing hypothesis is added",
    Kind.SUBSTANCE: "what it says is not so",
}


ATTAINED = 1.0005
"""A bound that cannot be sharpened by more than this factor is attained."""


@dataclass(frozen=True)
class Tightness:
    """By how much a bound could be sharpened and still hold on all evidence.

    Attributes:
        factor: the bound could be so many times as strong; None unless both sides are positive
            wherever the statement speaks.
        amount: or stronger by this much, in the statement's own units.
        dataset, t: where the sharpened bound would first fail.
    """

    factor: float | None
    amount: float
    dataset: str
    t: float

    @property
    def attained(self) -> bool:
        """Whether it cannot be sharpened at all, up to three digits."""
        return not self.amount if self.factor is None else self.factor < ATTAINED


@dataclass(frozen=True)
class Judgement:
    """The outcome of one comparison.

    Attributes:
        part: which part of the statement this is.
        status: the outcome.
        reason: one sentence for a person.
        margin: the smallest distance to being false, in the statement's own units.
        informative_from: the first t from which the bound excludes something; None if it
            always does, or never.
        witness: the place of the margin: the most violated one, or the closest.
        tightness: of an inequality, by how much it could be sharpened.
        resolution: of an identity or a limit, the smallest relative change of one side that
            would have been noticed; of a share, the half width of its confidence interval.
        case: the number of the case that the witness speaks of, among those that were judged.
        scores: how far each case is from breaking it, relative to the size of the sides: negative
            where it is broken beyond rounding, NaN where nothing is said; None if it has no cases.
    """

    part: str
    status: Status
    reason: str
    margin: float | None = None
    informative_from: float | None = None
    witness: dict[str, Any] | None = None
    tightness: Tightness | None = None
    resolution: float | None = None
    case: int | None = None
    scores: Float[np.ndarray, "cases"] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Adversary:
    """What became of an attack on the statement.

    Attributes:
        outcome, reason: ``survived``, ``fails``, ``undecided`` or ``not searchable``, and why.
        tried, set_aside: instances within and outside its hypotheses.
        scopes: what was gone through whole.
        closest: the least distance from breaking it, relative to the sides.
        size: of the smallest instance that breaks it, and whether that is ``certified``.
        seconds: how long it took.
        by_hand: the size of the hand-made counterexample, which the attack did not know.
    """

    outcome: str
    reason: str
    tried: int
    set_aside: int
    scopes: tuple[str, ...]
    closest: float | None
    size: list[float | int] | None
    certified: bool
    seconds: float
    by_hand: list[float | int] | None = None


@dataclass(frozen=True)
class Support:
    """How much was looked at.

    Attributes:
        instances: to how many the statement applies.
        set_aside: how many break one of its hypotheses.
        steps: the last step or place that was recorded, if any.
        seed: what everything random depended on.
        adversary: what the last attack on it came to, if there was one.
    """

    instances: int
    set_aside: int
    steps: float | None
    seed: int
    adversary: Adversary | None = None


@dataclass(frozen=True, repr=False)
class Verdict:
    """The outcome of a claim: that of its least favourable part.

    Attributes:
        claim, statement, where: what was judged.
        status, reason, margin, informative_from, witness, tightness, resolution: of that part.
        kind: what sort of failure it is, if it fails.
        experiment: what was run, derived from its fields.
        support: how much was looked at.
        parts: all judgements.
        instance: what the witness speaks of, as a document that ``check --data`` and ``train``
            read back; None if it is no instance of the setting.
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
    tightness: Tightness | None = None
    resolution: float | None = None
    kind: Kind | None = None
    support: Support | None = None
    instance: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<Verdict on {self.claim}: {self.status.value}; {self.reason}>"

    def _repr_html_(self) -> str:
        return Verdicts([self])._repr_html_()


class Verdicts(tuple[Verdict, ...]):
    """Verdicts in order, which show themselves as a table in a notebook."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "<no verdicts>"

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, str):
            return super().__getitem__(at)
        for verdict in self:
            if verdict.claim == at:
                return verdict
        raise InputError(unknown_name("verdict", at, [verdict.claim for verdict in self]))

    def having(self, status: Status | str) -> "Verdicts":
        """Those with a status."""
        return Verdicts(verdict for verdict in self if verdict.status == Status(status))

    def _repr_html_(self) -> str:
        rows = [
            [verdict.status.value, verdict.claim, verdict.statement, worth(verdict), verdict.reason]
            for verdict in self
        ]
        return table(["status", "claim", "statement", "worth", "reason"], rows)


def worth(verdict: Verdict) -> str:
    """What the check could tell, in a few words; for a failure, what sort it is."""
    if verdict.kind is not None:
        return verdict.kind.value
    if verdict.tightness is not None:
        if verdict.tightness.attained:
            return "attained"
        if verdict.tightness.factor is not None:
            return f"{verdict.tightness.factor:.4g} times looser than needed"
        return f"looser by {verdict.tightness.amount:.3g} than needed"
    if verdict.resolution is not None:
        return f"resolves {verdict.resolution:.2g}"
    if verdict.informative_from is not None:
        return f"speaks from t = {verdict.informative_from:.3g}"
    return ""


def combine(judgements: Sequence[Judgement]) -> Judgement:
    """The worst part speaks for the statement, the first one among equals."""
    order = list(Status)
    return min(judgements, key=lambda judgement: order.index(judgement.status))


def tally(verdicts: Iterable[Verdict]) -> dict[Status, int]:
    """How many verdicts have each status."""
    verdicts = list(verdicts)
    return {status: sum(v.status is status for v in verdicts) for status in Status}
