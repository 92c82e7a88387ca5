"""Evidence in this paper: cases with a name, and what keeps a statement from speaking of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from lemmata.tokens import Problem


@runtime_checkable
class Case(Protocol):
    """One thing that is looked at."""

    @property
    def name(self) -> str: ...

    @property
    def problems(self) -> Sequence[Problem]: ...


CaseT = TypeVar("CaseT", bound=Case)


@dataclass(frozen=True)
class Cases(Generic[CaseT]):
    """Several cases."""

    cases: tuple[CaseT, ...]

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self):
        return iter(self.cases)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [case.name for case in self.cases]

    def problems(self, index: int) -> Sequence[Problem]:
        """What is wrong with a case."""
        return self.cases[index].problems

    def select(self, indices: Sequence[int]) -> "Cases[CaseT]":
        """These cases alone."""
        return Cases(tuple(self.cases[i] for i in indices))
