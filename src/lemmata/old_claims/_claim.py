"""A claim: a numbered statement that knows how to be checked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from lemmata.old_claims._bench import Bench, Experiment
from lemmata.old_claims._verdict import Judgement
from lemmata.tokens._problems import Problem


@dataclass(frozen=True)
class Assumption:
    """Something a statement takes for granted, and the problems that break it."""

    name: str
    says: str
    broken_by: frozenset[str]


@runtime_checkable
class Evidence(Protocol):
    """What an experiment gives: one or more instances that can be told apart."""

    def __len__(self) -> int: ...

    def problems(self, index: int) -> Sequence[Problem]:
        """What is wrong with an instance."""
        ...

    def select(self, indices: Sequence[int]) -> Any:
        """The evidence of these instances alone."""
        ...


Check = Callable[[Any, bool], Sequence[Judgement]]
"""Judge the evidence; with True, judge the sharpened and false version instead."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, or one of ours.

    Attributes:
        name: ``paper/kind-number``, as the paper numbers it, with a suffix for a variant.
        where: section and equation.
        statement: what it says, in our words.
        assumptions: what must hold of an instance before the statement speaks about it.
        experiment: where it is checked by default.
        check: how it is judged.
        sharpened: what the negative control claims; it must come out as ``fails``.
        counterexample: further judgements on instances of its own, in default runs only: one
            within the literal hypotheses that breaks the statement, or one that attains it.
    """

    name: str
    where: str
    statement: str
    assumptions: tuple[Assumption, ...]
    experiment: Experiment[Any]
    check: Check
    sharpened: str
    counterexample: Callable[[Bench], Sequence[Judgement]] | None = None

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.name.split("/")[0]


def statements(paper: str) -> Callable[..., Callable[[Check], Claim]]:
    """A decorator that makes a claim of the paper out of a check."""

    def claim(
        name: str,
        where: str,
        statement: str,
        *,
        assumes: tuple[Assumption, ...],
        on: Experiment[Any],
        sharpened: str,
        counterexample: Callable[[Bench], Sequence[Judgement]] | None = None,
    ) -> Callable[[Check], Claim]:
        def wrap(check: Check) -> Claim:
            return Claim(
                f"{paper}/{name}", where, statement, assumes, on, check, sharpened, counterexample
            )

        return wrap

    return claim


def claims_of(modules: Iterable[ModuleType]) -> tuple[Claim, ...]:
    """All claims of the modules, in order of appearance; one that is imported counts once."""
    found = {
        value.name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Claim)
    }
    return tuple(found.values())
