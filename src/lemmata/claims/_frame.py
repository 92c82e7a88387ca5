"""The sides of a comparison as grids: one row a case, one column a place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import StatementError
from lemmata.settings import Evidence, steps_of

from ._comparisons import Comparison, Limit

Grid = Float[np.ndarray, "cases places"]

EPS = float(np.finfo(float).eps)

OPERATIONS = 64
"""Roundings that a side is allowed unless it says more; along training, one more a step."""


@dataclass(frozen=True)
class Frame:
    """What the rows and columns of a comparison are.

    Attributes:
        names: of the rows.
        places: of the columns.
        along: whether the places are steps of a run, each of which rounds.
    """

    names: list[str]
    places: Num[np.ndarray, "places"]
    along: bool

    def place(self, row: int, column: int, **numbers: float) -> dict[str, Any]:
        """A place for a person, with the numbers there."""
        at = self.places[column]
        t = int(at) if float(at).is_integer() else float(at)
        return {"dataset": self.names[row], "t": t, **numbers}

    @property
    def rounding(self) -> Float[np.ndarray, "places"]:
        """The relative rounding error of a side that says nothing of its own."""
        steps = np.maximum(self.places, 0) if self.along else np.zeros(len(self.places))
        return (OPERATIONS + steps) * EPS


def frame(
    comparison: Comparison, evidence: Evidence[Any], **sides: Any
) -> tuple[Frame, dict[str, Grid]]:
    """Spread the sides out over cases and places; a side that is None stays out."""
    cases = evidence.cases if comparison.cases is None else comparison.cases
    names = [case if isinstance(case, str) else case.name for case in cases]
    given = {
        name: _as_numbers(side, comparison.part) for name, side in sides.items() if side is not None
    }
    _check_dimensions(comparison.part, given)
    width = max((side.shape[1] for side in given.values() if side.ndim == 2), default=None)
    grids = {
        name: _as_grid(side, comparison.part, len(names), width, evidence)
        for name, side in given.items()
    }
    _check_curve(comparison, given, grids, evidence)
    try:
        shape = np.broadcast_shapes((len(names), 1), *(grid.shape for grid in grids.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {grid.shape}" for name, grid in grids.items())
        raise StatementError(
            f"{comparison.part or 'the comparison'}: the shapes do not fit, {shapes} with "
            f"{len(names)} rows"
        ) from error
    if shape[0] != len(names):
        raise StatementError(
            f"{comparison.part or 'the comparison'}: {shape[0]} rows for {len(names)} cases"
        )
    places, along = _places(comparison, evidence, shape[1], steps_of(sides.values(), shape[1]))
    spread = {name: np.broadcast_to(grid, shape) for name, grid in grids.items()}
    return Frame(names, places, along), spread


def _as_numbers(side: Any, part: str) -> np.ndarray:
    try:
        if np.iscomplexobj(side):
            raise TypeError("complex numbers cannot be compared")
        return np.asarray(side, dtype=float)
    except (TypeError, ValueError) as error:
        raise StatementError(f"{part or 'the comparison'}: a side is no number: {error}") from error


def _check_dimensions(part: str, sides: dict[str, np.ndarray]) -> None:
    for name, side in sides.items():
        if side.ndim > 2:
            raise StatementError(
                f"{part or 'the comparison'}: {name} has {side.ndim} dimensions; expected one row "
                "a case and one column a record"
            )


def _check_curve(
    comparison: Comparison,
    sides: dict[str, np.ndarray],
    grids: dict[str, Grid],
    evidence: Evidence[Any],
) -> None:
    """One number a case is no curve, unless there is but one record."""
    if not isinstance(comparison, Limit) or comparison.places is not None:
        return
    one_record = evidence.steps is not None and len(evidence.steps) == 1
    if sides["curve"].ndim < 2 and grids["curve"].shape[1] == 1 and not one_record:
        raise StatementError(
            f"{comparison.part or 'tends_to'}: a limit is one of a curve, with one row a case and "
            f"one column a record; got shape {sides['curve'].shape}. Give all records, as in "
            "lm.tends_to(run.norm, 1), and not the last one"
        )


def _as_grid(
    side: np.ndarray, part: str, rows: int, width: int | None, evidence: Evidence[Any]
) -> np.ndarray:
    """A list of numbers is one value a column if that fits the other side, else one a case."""
    if side.ndim != 1:
        return side.reshape(1, 1) if side.ndim == 0 else side
    records = None if evidence.steps is None else len(evidence.steps)
    if width is not None and len(side) == width and width > 1:
        return side[None, :]
    if len(side) == rows:
        return side[:, None]
    if len(side) == records or (width == 1 and rows == 1) or len(side) == 1:
        return side[None, :]
    raise StatementError(
        f"{part or 'the comparison'}: a list of {len(side)} numbers is neither one a case ({rows}) "
        f"nor one a record ({records if width is None else width})"
    )


def _places(
    comparison: Comparison,
    evidence: Evidence[Any],
    width: int,
    known: Num[np.ndarray, "places"] | None,
) -> tuple[Num[np.ndarray, "places"], bool]:
    """What the columns are, and whether they are steps; ``known`` if the sides say so."""
    if comparison.places is not None:
        return np.asarray(comparison.places), False
    if known is not None:
        return known, True
    steps: Sequence[Any] | np.ndarray | None = evidence.steps
    if steps is not None and width in (len(steps), len(steps) - 1) and width > 0:
        return np.asarray(steps)[:width], True
    return np.arange(width), False
