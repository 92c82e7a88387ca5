"""The table of a sweep: one row a task, and what can be read off it."""

import csv
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata._html import table

from ._tasks import VERDICT, Row

MOST_SHOWN = 40
"""Rows in a notebook."""


@dataclass(frozen=True)
class Fit:
    """A power law: measured = e^level parameter^exponent, by least squares on logarithms.

    ``error`` is the standard error of the exponent.
    """

    measured: str
    parameter: str
    exponent: float
    error: float
    level: float

    @property
    def says(self) -> str:
        """In a line."""
        return f"{self.measured} ~ {self.parameter}^({self.exponent:.4g} ± {self.error:.2g})"


class SweepTable:
    """What a sweep measured, one row a task, in columns.

    Every column is an attribute and an item: ``table.norm``, ``table["K"]``.

    Attributes:
        target: what was swept.
        parameters: the names that were swept over.
        measured: the names of what was measured, and is known of some task.
        rows: the tasks in the order of the grid.
        disagreements: pairs of rows about one task that differ.
    """

    def __init__(
        self,
        target: str,
        parameters: Sequence[str],
        rows: Sequence[Row],
        disagreements: Sequence[tuple[Row, Row]] = (),
    ) -> None:
        self.target = target
        self.parameters = tuple(parameters)
        self.rows = list(rows)
        self.disagreements = list(disagreements)
        known = {name for row in self.rows for name, value in row.items() if value is not None}
        known = known | set(VERDICT) if "status" in known else known
        names = dict.fromkeys(name for row in self.rows for name in row if name in known)
        self.measured = tuple(n for n in names if n not in ("task", "seed", *parameters))

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """All columns as arrays; numbers that are not known are NaN."""
        return {name: self[name] for name in (*self.parameters, "seed", *self.measured)}

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters that have several values; the first if none has."""
        several = [n for n in self.parameters if len({str(row[n]) for row in self.rows}) > 1]
        return tuple(several) or self.parameters[:1]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in (*self.parameters, "seed", *self.measured):
            known = (*self.parameters, "seed", *self.measured)
            raise InputError(unknown_name("column", name, known))
        values = [row.get(name) for row in self.rows]
        if any(isinstance(value, str) for value in values):
            return np.array([value or "" for value in values])
        return np.array([math.nan if value is None else value for value in values])

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or "rows" not in self.__dict__:
            raise AttributeError(name)
        return self[name]

    def __len__(self) -> int:
        return len(self.rows)

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {
            "target": self.target,
            "points": [
                {
                    "parameters": {name: row[name] for name in self.parameters},
                    "seed": row["seed"],
                    **{name: row.get(name) for name in self.measured},
                }
                for row in self.rows
            ],
            "fits": [vars(fit) for fit in self.fits()],
            "disagreements": [list(pair) for pair in self.disagreements],
        }

    def csv(self) -> str:
        """As comma-separated values."""
        names = (*self.parameters, "seed", *self.measured)
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row.get(name) for name in names] for row in self.rows)
        return text.getvalue()

    def to_pandas(self) -> Any:
        """As a pandas data frame; needs pandas."""
        return _library("pandas").DataFrame(self.columns)

    def to_polars(self) -> Any:
        """As a polars data frame; needs polars."""
        return _library("polars").DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """As a table of Apache Arrow; needs pyarrow."""
        return _library("pyarrow").table(self.columns)

    def over(
        self, parameter: str, name: str
    ) -> tuple[np.ndarray, Float[np.ndarray, "values seeds"]]:
        """The values of a parameter, and for each the numbers of all seeds (NaN for none)."""
        places, numbers = self[parameter], self[name].astype(float)
        values = np.array(list(dict.fromkeys(places.tolist())))
        seeds = np.unique(self["seed"])
        grid = np.full((len(values), len(seeds)), math.nan)
        for place, seed, value in zip(places, self["seed"], numbers, strict=True):
            grid[np.flatnonzero(values == place)[0], np.searchsorted(seeds, seed)] = value
        return values, grid

    def fits(self) -> list[Fit]:
        """Power laws of a sweep over one positive number, where what is measured is positive."""
        if len(self.varied) != 1:
            return []
        (parameter,) = self.varied
        found = [self._fit(parameter, name) for name in self.measured]
        return [fit for fit in found if fit is not None]

    def _fit(self, parameter: str, name: str) -> Fit | None:
        if self[parameter].dtype.kind not in "if" or self[name].dtype.kind not in "if":
            return None
        values, grid = self.over(parameter, name)
        with np.errstate(all="ignore"):
            x, y = np.log(values.astype(float)), np.log(grid).mean(axis=1)
        known = np.isfinite(x) & np.isfinite(y)
        if known.sum() < 3:
            return None
        slope, level = np.polyfit(x[known], y[known], 1)
        residues = float(np.sum((y[known] - slope * x[known] - level) ** 2))
        spread = float(np.sum((x[known] - x[known].mean()) ** 2))
        error = math.sqrt(residues / max(known.sum() - 2, 1) / spread)
        return Fit(name, parameter, float(slope), error, float(level))

    def __repr__(self) -> str:
        over = ", ".join(self.parameters) or "nothing"
        found = ", ".join(self.measured)
        return f"<SweepTable of {self.target} over {over}: {len(self)} tasks, {found}>"

    def _repr_html_(self) -> str:
        names = (*self.parameters, "seed", *self.measured)
        rows = [[_short(row.get(name)) for name in names] for row in self.rows[:MOST_SHOWN]]
        return table(names, rows, f"{self.target}, {len(self):,} tasks")


def _library(name: str) -> Any:
    """A library that is used if it is there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"this needs {name}: pip install {name}") from error


def _short(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def same_order(rows: Mapping[str, Row], points: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The rows of these tasks, in this order, as far as they are there.

    A point's values are those that were asked for: where files disagree about the type of a
    column, a number comes back as a text.
    """
    return [{**rows[key], **point} for key, point in points.items() if key in rows]
