"""Evidence: cases that can be told apart, and what was measured of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import unknown_name
from lemmata.tokens import Problem

from ._nudged import Nudged, nudged
from ._recorded import Recorded

Grid = Float[np.ndarray, "cases columns"]


@runtime_checkable
class Case(Protocol):
    """One thing that is looked at: a dataset, a plan, a point of one of them.

    A case may have an ``instance``, the value of its setting that it is about; a case without one
    counts as such a value itself.
    """

    @property
    def name(self) -> str: ...

    @property
    def problems(self) -> Sequence[Problem]: ...


CaseT = TypeVar("CaseT", bound=Case)


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Generic[CaseT]):
    """What an experiment gives to claims.

    A column is an attribute: ``evidence.norm`` has one row a case, and one column a record (or
    just one, for a number of the whole case).

    Attributes:
        cases: what was looked at.
        steps: the step, depth or time of each record; None where nothing was followed.
        columns: what was measured.
        skipped: cases that could not be used, so that a verdict can say why.
    """

    cases: tuple[CaseT, ...]
    steps: Num[np.ndarray, "records"] | None = None
    columns: Mapping[str, Grid] = field(default_factory=dict)
    skipped: tuple[Case, ...] = ()

    def __repr__(self) -> str:
        count = len(self)
        return f"<{count} case{'s' * (count != 1)}: {', '.join(self.columns) or 'no columns'}>"

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[CaseT]:
        return iter(self.cases)

    def __getattr__(self, name: str) -> Grid:
        if name.startswith("_") or "columns" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.columns:
            raise AttributeError(f"{unknown_name('column', name, self.columns)}{self._hint(name)}")
        return self.columns[name]

    def _hint(self, name: str) -> str:
        """Where a name is to be had that is no column: each case may know it."""
        case = self.cases[0] if self.cases else None
        if name not in dir(getattr(case, "instance", case)):
            return ""
        said = "data" if self.steps is None else "run"
        return f"; every instance has its own: {said}.each(lambda d: d.{name})"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.columns})

    @property
    def names(self) -> list[str]:
        """The name of each case."""
        return [case.name for case in self.cases]

    @property
    def records(self) -> Num[np.ndarray, "records"]:
        """The steps, where something was followed."""
        assert self.steps is not None, "nothing was followed"
        return self.steps

    def select(self, indices: Sequence[int]) -> "Evidence[CaseT]":
        """The evidence of these cases alone."""
        rows = list(indices)
        return replace(
            self,
            cases=tuple(self.cases[i] for i in rows),
            columns={name: grid[rows] for name, grid in self.columns.items()},
            skipped=(),
        )

    def where(self, chosen: Callable[[CaseT], bool]) -> "Evidence[CaseT]":
        """The evidence of the cases that are chosen."""
        return self.select([i for i, case in enumerate(self.cases) if chosen(case)])

    def each(self, value: Callable[[CaseT], Any]) -> Grid:
        """A number, or a row of numbers, of each case; shorter rows end in NaN."""
        return as_rows([value(case) for case in self.cases])

    def recorded(self) -> "Evidence[CaseT]":
        """The same with columns that know the step of each number, also in parts of them."""
        if self.steps is None:
            return self
        columns = {
            name: Recorded.of(grid, self.steps) if grid.shape[1] == len(self.steps) else grid
            for name, grid in self.columns.items()
        }
        return replace(self, columns=columns)

    def nudged(self, seed: int) -> "Evidence[Any]":
        """The same with every measured number, and every one of a case, moved by a hair."""
        generator = np.random.default_rng(seed)
        return replace(
            self,
            cases=tuple(Nudged(case, generator) for case in self.cases),
            columns={name: nudged(grid, generator) for name, grid in self.columns.items()},
        )


def as_rows(values: Sequence[Any]) -> Grid:
    """Rows of different lengths as one grid, filled up with NaN: nothing is said there."""
    rows = [np.ravel(np.asarray(value, dtype=float)) for value in values]
    grid = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for row, values_of_row in zip(grid, rows, strict=True):
        row[: len(values_of_row)] = values_of_row
    return grid


def once_each(
    function: Callable[[Any], Any], instances: Sequence[Any], spared: Callable[[], None]
) -> list[Any]:
    """A value of each instance, computed once where copies of one fill up a batch.

    ``spared`` is called for each copy, so that progress counts it.
    """
    values: dict[int, Any] = {}
    for instance in instances:
        if id(instance) in values:
            spared()
        else:
            values[id(instance)] = function(instance)
    return [values[id(instance)] for instance in instances]


def in_places(rows: Float[np.ndarray, "some columns"], places: Sequence[int], total: int) -> Grid:
    """Rows of some cases among all of them; NaN for the others."""
    grid = np.full((total, rows.shape[1]), np.nan)
    grid[list(places)] = rows
    return grid
