"""Results as files: one Parquet file a group of tasks, read together by DuckDB.

A file is named after what is in it, so that folders of two machines can be copied together: equal
results are one file, and results of one task that differ are two, which is noticed.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata._files import made_whole, make_folder

from ._tasks import Row

MISSING = "a sweep keeps its results with DuckDB: pip install 'lemmata[sweep]'"


class Results:
    """The results in a folder.

    Attributes:
        folder: where the files are.
        disagreements: tasks that have two different results, as the rows that differ.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise InputError(MISSING) from error
        self._duckdb = duckdb
        self._base = duckdb.connect()  # opening one takes longer than writing a file
        self.folder = make_folder(folder)
        self.disagreements: list[tuple[Row, Row]] = []

    def read(self) -> dict[str, Row]:
        """All rows by their task; of two that disagree, the first file's counts."""
        rows: dict[str, Row] = {}
        self.disagreements = []
        for row in self._rows(sorted(self.folder.glob("*.parquet"))):
            known = rows.setdefault(row["task"], row)
            if _canonical(known) != _canonical(row):
                self.disagreements.append((known, row))
        return rows

    def _rows(self, files: Sequence[Path]) -> list[Row]:
        """The rows of all files; columns that a file does not have are None in its rows."""
        if not files:
            return []
        question = "SELECT * FROM read_parquet(?, union_by_name = true)"
        try:
            table = self._base.execute(question, [[str(file) for file in files]])
            names = [column[0] for column in table.description]
            return [dict(zip(names, values, strict=True)) for values in table.fetchall()]
        except self._duckdb.Error as error:
            where = (
                f"{self.folder} holds a file that cannot be read; remove it to run its tasks again"
            )
            raise InputError(f"{where} ({error})") from error

    def write(self, rows: Sequence[Row]) -> Path:
        """Write the rows of a group; the file appears whole or not at all."""
        rows = [{name: _python(value) for name, value in row.items()} for row in rows]
        digest = hashlib.sha256(json.dumps([_canonical(row) for row in rows]).encode()).hexdigest()
        path = self.folder / f"{digest[:24]}.parquet"
        with made_whole(path) as temporary:
            names = list(rows[0])
            columns = ", ".join(f'"{_quoted(name)}" {_type(rows, name)}' for name in names)
            self._base.execute(f"CREATE OR REPLACE TABLE rows ({columns})")
            marks = ", ".join("?" * len(names))
            self._base.executemany(
                f"INSERT INTO rows VALUES ({marks})", [[row[n] for n in names] for row in rows]
            )
            self._base.execute(f"COPY rows TO '{_escaped(temporary)}' (FORMAT parquet)")
        return path


def _python(value: Any) -> Any:
    """A number of NumPy as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _canonical(row: Row) -> list[list[Any]]:
    """A row so that equal ones are equal, to the last bit; what is not known is left out."""
    return [[name, _exact(row[name])] for name in sorted(row) if row[name] is not None]


def _exact(value: Any) -> Any:
    return value.hex() if isinstance(value, float) and math.isfinite(value) else str(value)


def _type(rows: Sequence[Row], name: str) -> str:
    """The type of a column in SQL."""
    kinds = {type(row[name]) for row in rows if row[name] is not None}
    if kinds <= {bool}:
        return "BOOLEAN" if kinds else "DOUBLE"
    if kinds <= {int}:
        return "BIGINT"
    return "DOUBLE" if kinds <= {int, float} else "VARCHAR"


def _quoted(name: str) -> str:
    return name.replace('"', '""')


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
