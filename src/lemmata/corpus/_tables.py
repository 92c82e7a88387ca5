"""Parquet files by DuckDB: arrays in, arrays out, each file whole or not at all."""

import atexit
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata._files import made_whole

MISSING = "a corpus needs some more libraries: pip install 'lemmata[corpus]'"

MANIFEST = "manifest.json"
"""The file that makes a folder a store."""

Table = Mapping[str, np.ndarray]
"""Columns of equal length by name."""


def connect(memory: str = "512MB") -> Any:
    """A connection that lives in memory, keeps within its share and uses one core."""
    try:
        import duckdb
    except ImportError as error:
        raise InputError(MISSING) from error
    config = {"memory_limit": memory, "threads": 1, "temp_directory": tempfile.gettempdir()}
    return duckdb.connect(config=config)


def write_table(path: Path, columns: Table) -> None:
    """Write columns as a Parquet file, beside it first."""
    with made_whole(path) as temporary, _base().cursor() as base:
        base.register("columns", dict(columns))
        base.execute(f"COPY (SELECT * FROM columns) TO '{_quoted(temporary)}' (FORMAT parquet)")


def read_table(files: Path | Sequence[Path], where: str = "true", *values: Any) -> Table:
    """All columns of the rows that meet a condition in SQL, in the order of the files."""
    paths = [str(path) for path in ([files] if isinstance(files, Path) else files)]
    return ask(f"SELECT * FROM read_parquet(?) WHERE {where}", paths, *values)


def ask(question: str, *values: Any) -> Table:
    """The columns that answer a question in SQL."""
    import duckdb

    try:
        found = _base().cursor().execute(question, list(values)).fetchnumpy()
    except duckdb.Error as error:
        raise InputError(f"a file of the store cannot be read: {error}") from error
    return {
        name: np.ma.filled(np.ma.asarray(column), _nothing(column))
        for name, column in found.items()
    }


@cache
def _base() -> Any:
    """One connection for all tables, which takes longer to make than most of them."""
    atexit.register(_base.cache_clear)  # before the interpreter goes, or DuckDB complains
    return connect()


def _nothing(column: np.ndarray) -> Any:
    """What stands for a missing value."""
    return np.nan if column.dtype.kind == "f" else None if column.dtype.kind == "O" else 0


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
