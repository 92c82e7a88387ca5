"""Which theorems speak about an instance, by the hypotheses of the claims themselves."""

import re
from dataclasses import dataclass
from typing import Any

from lemmata.claims import Kind
from lemmata.settings import Hypothesis

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
        kind: in what sense it is known to fail as printed, if it does.
    """

    name: str
    statement: str
    broken: tuple[Hypothesis, ...]
    kind: Kind | None = None

    @property
    def applies(self) -> bool:
        """Whether it speaks about the instance."""
        return not self.broken

    @property
    def says(self) -> str:
        """For a person."""
        if self.applies:
            known = "" if self.kind is None else f" (but fails as printed: {self.kind.value})"
            return f"{self.name} applies{known}: {self.statement}"
        needs = "; ".join(hypothesis.says for hypothesis in self.broken)
        return f"{self.name} does not apply (it needs: {needs})"


def theorems_about(paper: Paper, instance: Any) -> list[Theorem]:
    """The paper's main results, each with the hypotheses that the instance breaks."""
    chosen = [
        (claim.name.removeprefix(f"{paper.key}/"), claim)
        for claim in paper.claims
        if MAIN.fullmatch(claim.name.removeprefix(f"{paper.key}/")) and not claim.experiment.own
    ]
    return [
        Theorem(
            name,
            claim.statement,
            tuple(h for h in claim.hypotheses if h.broken(instance.problems)),
            claim.kind,
        )
        for name, claim in chosen
    ]
