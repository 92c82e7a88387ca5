"""Hypotheses: what a statement takes for granted, and which problems break it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lemmata.tokens import Problem


@dataclass(frozen=True)
class Hypothesis:
    """Something a statement takes for granted.

    Attributes:
        name: one word for users and programs, such as ``realizable``.
        title: how the paper calls it, such as ``Assumption 2``.
        says: what it asks, in words.
        broken_by: the codes of the problems that break it.
        left_open_by: those among them by which it is only not known to be met.
    """

    name: str
    title: str
    says: str
    broken_by: frozenset[str]
    left_open_by: frozenset[str] = frozenset()

    def broken(self, problems: Iterable[Problem]) -> list[Problem]:
        """The problems that break it."""
        return [problem for problem in problems if problem.code in self.broken_by]

    def is_open(self, problems: Iterable[Problem]) -> bool:
        """Whether nothing breaks it but that it is not known to be met."""
        broken = self.broken(problems)
        return bool(broken) and all(problem.code in self.left_open_by for problem in broken)


@dataclass(frozen=True)
class Subject:
    """What a statement is about by its wording: instances of one kind.

    Attributes:
        name: one word for programs.
        says: of which kind they are, in words.
        includes: whether an instance is one of them.
    """

    name: str
    says: str
    includes: Callable[[Any], bool]

    def __call__(self, instance: Any) -> bool:
        return self.includes(instance)

    @property
    def hypothesis(self) -> Hypothesis:
        """To be of that kind; no problem says so of an instance."""
        return Hypothesis(self.name, self.says, self.says, frozenset())


def hypothesis(
    name: str, title: str, says: str, *broken_by: str, left_open_by: Iterable[str] = ()
) -> Hypothesis:
    """A hypothesis, with the codes of the problems that break it or leave it open."""
    unknown = frozenset(left_open_by)
    return Hypothesis(name, title, says, unknown.union(broken_by), unknown)


def union(name: str, title: str, says: str, parts: Iterable[Hypothesis]) -> Hypothesis:
    """Several hypotheses under one name."""
    return Hypothesis(name, title, says, frozenset().union(*(part.broken_by for part in parts)))
