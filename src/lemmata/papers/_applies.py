"""Which theorems speak about an instance, by the hypotheses of the claims themselves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lemmata.claims import Claim, Kind
from lemmata.settings import Hypothesis, Subject
from lemmata.tokens import Problem

from ._paper import Paper

MAIN = re.compile(r"(theorem|proposition|corollary)-[^/]+")
"""Claims worth listing: the printed version of a main result."""


@dataclass(frozen=True)
class Theorem:
    """A theorem and what it would need of an instance, if it does not apply.

    Attributes:
        name: without the paper's key.
        statement: what it says.
        broken: its hypotheses that the instance does not meet.
        open: those of which it is not known.
        kind: in what sense it is known to fail as printed, if it does.
    """

    name: str
    statement: str
    broken: tuple[Hypothesis, ...]
    open: tuple[Hypothesis, ...] = ()
    kind: Kind | None = None

    @property
    def applies(self) -> bool | None:
        """Whether it speaks about the instance; None if that is not known."""
        return False if self.broken else None if self.open else True

    @property
    def says(self) -> str:
        """For a person."""
        needs = "; ".join(hypothesis.says for hypothesis in self.broken or self.open)
        if self.broken:
            return f"{self.name} does not apply (it needs: {needs})"
        applies = f"may apply (it is not known whether {needs})" if self.open else "applies"
        known = "" if self.kind is None else f" (but fails as printed: {self.kind.value})"
        return f"{self.name} {applies}{known}: {self.statement}"


def theorems_about(paper: Paper, instance: Any, found: Sequence[Problem] = ()) -> list[Theorem]:
    """The paper's main results, each with the hypotheses that the instance breaks.

    Args:
        paper: with its claims.
        instance: of the paper's setting.
        found: problems that an analysis found, beside the instance's own.
    """
    problems = (*instance.problems, *found)
    chosen = [
        (claim.name.removeprefix(f"{paper.key}/"), claim)
        for claim in paper.claims
        if MAIN.fullmatch(claim.name.removeprefix(f"{paper.key}/")) and not claim.experiment.own
    ]
    return [
        Theorem(
            name,
            claim.statement,
            (
                *_wrong_subject(claim, instance),
                *(h for h in claim.hypotheses if h.broken(problems) and not h.is_open(problems)),
            ),
            tuple(h for h in claim.hypotheses if h.is_open(problems)),
            claim.kind,
        )
        for name, claim in chosen
    ]


def _wrong_subject(claim: Claim, instance: Any) -> Iterator[Hypothesis]:
    """What the instance would have to be, if the claim's experiment does not look at such ones."""
    looked_at = claim.experiment.fits
    if isinstance(looked_at, Subject) and not looked_at(instance):
        yield looked_at.hypothesis
