"""Evidence case by case: things with a name, and inequalities between their numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from lemmata.old_claims._judge import at_least, equal
from lemmata.old_claims._verdict import Judgement, Status
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


def along(
    cases: Iterable[Any],
    part: str,
    measured: Callable[[Any], Any],
    bound: Callable[[Any], Any],
    **how: Any,
) -> Judgement:
    """Judge measured >= bound along recorded descents; NaN where the statement is silent."""
    rows = list(cases)
    if not rows:
        return _nothing(part)
    steps = max((row.steps for row in rows), key=len)

    def everywhere(row: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(measured(row), dtype=float), len(row.steps))

    left, right = _sides(rows, everywhere, bound)
    return at_least(part, left, right, steps=steps, names=_names(rows), **how)


def each(
    cases: Iterable[Any],
    part: str,
    measured: Callable[[Any], Any],
    bound: Callable[[Any], Any],
    **how: Any,
) -> Judgement:
    """Judge measured >= bound, one number or one row of numbers a case."""
    rows = list(cases)
    if not rows:
        return _nothing(part)
    left, right = _sides(rows, measured, bound)
    return at_least(part, left, right, steps=np.arange(left.shape[1]), names=_names(rows), **how)


def at_most(
    cases: Iterable[Any],
    part: str,
    measured: Callable[[Any], Any],
    bound: Callable[[Any], Any],
    *,
    trivial: Callable[[Any], Any] = lambda _: np.inf,
    sharper: float = 1.0,
    tolerance: float = 0.0,
) -> Judgement:
    """Judge measured <= bound for sizes that are not negative, as ratios of the two.

    Args:
        cases: what is looked at.
        part: the name of the inequality.
        measured, bound: the two sides, one number or one row of numbers a case.
        trivial: what the measured side cannot exceed in any case; a bound above it is vacuous.
        sharper: judge a bound so many times smaller instead.
        tolerance: the relative rounding error of the two sides.
    """
    rows = list(cases)
    if not rows:
        return _nothing(part)

    def ratio(row: Any) -> np.ndarray:
        left, right = (np.atleast_1d(np.asarray(side(row), float)) for side in (measured, bound))
        silent = (left == 0) & (right == 0)
        if (left < 0).any() or (right < 0).any():
            raise ValueError(f"{part}: the sides are sizes, and not negative")
        with np.errstate(divide="ignore"):
            return -np.divide(left, right, out=np.full(silent.shape, np.nan), where=~silent)

    left, most = _sides(rows, ratio, lambda row: -np.asarray(trivial(row)) / bound(row))
    found = at_least(
        part,
        left,
        np.full_like(left, -1 / sharper),
        steps=np.arange(left.shape[1]),
        names=_names(rows),
        baseline=most,
        tolerance=tolerance,
    )
    if found.status not in (Status.FAILS, Status.HOLDS) or found.witness is None:
        return found
    share, where = -found.witness["left"] * sharper, found.witness["dataset"]
    reason = f"{part}: {share:.4g} of the bound on {where}"
    if found.status is Status.FAILS:
        reason = f"{part} fails on {where}: {share:.6g} times the bound"
    return replace(found, reason=reason, witness={"dataset": where, "left": share, "right": 1.0})


def same(
    cases: Iterable[Any],
    part: str,
    left: Callable[[Any], Any],
    right: Callable[[Any], Any],
    tolerance: float | Callable[[Any], float],
) -> Judgement:
    """Judge left == right, one number or one row of numbers a case.

    The tolerance is the rounding error of the two sides, and may depend on the case.
    """
    rows = list(cases)
    if not rows:
        return _nothing(part)
    one, other = _sides(rows, left, right)
    allowed = [tolerance(row) if callable(tolerance) else tolerance for row in rows]
    return equal(
        part,
        one,
        other,
        steps=np.arange(one.shape[1]),
        names=_names(rows),
        tolerance=np.array(allowed)[:, None],
    )


def _nothing(part: str) -> Judgement:
    return Judgement(part, Status.INAPPLICABLE, f"{part}: there is no case that it speaks of")


def _names(rows: list[Any]) -> list[str]:
    return [row.name for row in rows]


def _sides(
    rows: list[Any], left: Callable[[Any], Any], right: Callable[[Any], Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Both sides as matrices, rows of different lengths filled up with NaN."""
    pairs = [
        np.broadcast_arrays(*(np.ravel(np.asarray(f(row), dtype=float)) for f in (left, right)))
        for row in rows
    ]
    sides = np.full((2, len(rows), max(len(one) for one, _ in pairs)), np.nan)
    for i, pair in enumerate(pairs):
        for side, values in enumerate(pair):
            sides[side, i, : len(values)] = values
    return sides[0], sides[1]
