"""Hypotheses: what a statement takes for granted, and which problems break it."""

from collections.abc import Iterable
from dataclasses import dataclass

from lemmata.tokens import Problem


@dataclass(frozen=True)
class Hypothesis:
    """Something a statement takes for granted.

    Attributes:
        name: one word for users and programs, such as ``realizable``.
        title: how the paper calls it, such as ``Assumption 2``.
        says: what it asks, in words.
        broken_by: the codes of the problems that break it.
    """

    name: str
    title: str
    says: str
    broken_by: frozenset[str]

    def broken(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems that break it."""
        return [problem for problem in problems if problem.code in self.broken_by]


def hypothesis(name: str, title: str, says: str, *broken_by: str) -> Hypothesis:
    """A hypothesis, with the codes of the problems that break it."""
    return Hypothesis(name, title, says, frozenset(broken_by))


def union(name: str, title: str, says: str, parts: Iterable[Hypothesis]) -> Hypothesis:
    """Several hypotheses under one name."""
    return Hypothesis(name, title, says, frozenset().union(*(part.broken_by for part in parts)))
