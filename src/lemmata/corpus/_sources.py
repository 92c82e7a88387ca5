"""What a corpus is read from: files and folders of text, JSON Lines and Parquet, as a stream."""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any

from lemmata._errors import InputError

from ._tables import MANIFEST, connect

TEXT, LINES, PARQUET = (".txt", ".txt.gz"), (".jsonl", ".jsonl.gz"), (".parquet",)
SUFFIXES = (*TEXT, *LINES, *PARQUET)

CHUNK = 1 << 22
"""Bytes that are read at a time."""

LONGEST_LINE = 1 << 26
"""Bytes of one line of JSON."""

ROWS = 1024
"""Rows of a Parquet file that are read at a time."""

COLUMNS = ("text", "tokens", "input_ids", "ids", "content")
"""Where documents are looked for, if nobody says where they are."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a document.

    Attributes:
        file: the number of the file.
        row: the number of the document in it, from 0.
        first: whether the document begins here.
        content: text, or numbers of tokens.
    """

    file: int
    row: int
    first: bool
    content: str | list[int]


def files_of(path: Path) -> list[Path]:
    """The files that are meant, in a fixed order."""
    if path.is_dir():
        found = sorted(file for file in _walk(path) if _kind(file))
        if not found:
            raise InputError(f"{path} holds no corpus: no file ends in {', '.join(SUFFIXES)}")
        return found
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if not _kind(path):
        raise InputError(f"{path.name} is no corpus; files end in {', '.join(SUFFIXES)}")
    return [path]


def _walk(folder: Path) -> Iterator[Path]:
    """The files below a folder; hidden folders and stores are no part of a corpus."""
    for path in folder.iterdir():
        if path.is_dir() and not path.name.startswith(".") and not (path / MANIFEST).exists():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _kind(file: Path) -> str | None:
    return next((end for end in SUFFIXES if file.name.lower().endswith(end)), None)


def pieces(files: Sequence[Path], column: str | None = None) -> Iterator[Piece]:
    """All documents, piece by piece."""
    for number, file in enumerate(files):
        kind = _kind(file)
        if kind in TEXT:
            yield from _text(number, file)
        elif kind in LINES:
            yield from _lines(number, file, column)
        else:
            yield from _parquet(number, file, column)


def _text(number: int, file: Path) -> Iterator[Piece]:
    """A text file is one document."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    before, first = 0, True
    with _opened(file) as stream:
        while chunk := _read(stream, file):
            text = _decoded(decoder, chunk, file, before)
            before += len(chunk)
            yield Piece(number, 0, first, text.removeprefix("\ufeff") if first else text)
            first = False
    _decoded(decoder, b"", file, before, final=True)


def _opened(file: Path) -> BufferedIOBase:
    try:
        return gzip.open(file) if file.name.endswith(".gz") else file.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error


def _read(stream: BufferedIOBase, file: Path) -> bytes:
    try:
        return stream.read(CHUNK)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {file} to its end: {error}") from error


def _decoded(decoder: Any, chunk: bytes, file: Path, before: int, final: bool = False) -> str:
    kept = len(decoder.getstate()[0])
    try:
        return decoder.decode(chunk, final)
    except UnicodeDecodeError as error:
        where = before - kept + error.start
        raise InputError(
            f"{file} is not UTF-8: byte {where:,} is {error.object[error.start]:#04x}; convert it, "
            "as with iconv -t UTF-8"
        ) from error


def _lines(number: int, file: Path, column: str | None) -> Iterator[Piece]:
    """Each line is one document: an object with a text or token numbers, or one of these."""
    with _opened(file) as stream:
        for row in range(1 << 62):
            try:
                line = stream.readline(LONGEST_LINE + 1)
            except (OSError, EOFError, zlib.error) as error:
                raise InputError(f"cannot read {file} to its end: {error}") from error
            if not line:
                return
            where = f"{file}, line {row + 1:,}"
            if len(line) > LONGEST_LINE:
                raise InputError(
                    f"{where} is longer than {LONGEST_LINE >> 20} MB; a line is one document, and "
                    "a long one belongs into a .txt file"
                )
            if line.strip():
                yield Piece(number, row, True, _document(line, where, column))


def _document(line: bytes, where: str, column: str | None) -> str | list[int]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is no JSON: {error}") from error
    if isinstance(value, dict):
        name = column or next((name for name in COLUMNS if name in value), None)
        if name not in value:
            raise InputError(_no_column(where, name, list(value)))
        value = value[name]
    return _content(value, where)


def _content(value: Any, where: str) -> str | list[int]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(type(token) is int for token in value):
        return value
    raise InputError(f"{where}: a document is a text or a list of token numbers")


def _no_column(where: str, name: str | None, known: Sequence[str]) -> str:
    wanted = f"no '{name}'" if name else f"none of {', '.join(COLUMNS)}"
    return f"{where} has {wanted}; say --column NAME, one of {', '.join(known[:20])}"


def _parquet(number: int, file: Path, column: str | None) -> Iterator[Piece]:
    """Each row is one document."""
    with connect() as base:
        import duckdb

        try:
            known = base.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
            kinds = {name: kind for name, kind, *_ in known}
            name = column or next((name for name in COLUMNS if name in kinds), None)
            if name is None or name not in kinds:
                raise InputError(_no_column(str(file), name, list(kinds)))
            quoted = name.replace('"', '""')
            found = base.execute(f'SELECT "{quoted}" FROM read_parquet(?)', [str(file)])
            row = 0
            while rows := found.fetchmany(ROWS):
                for (value,) in rows:
                    where = f"{file}, row {row + 1:,} of {name}"
                    yield Piece(number, row, True, _content(value, where))
                    row += 1
        except duckdb.Error as error:
            raise InputError(f"cannot read {file}: {error}") from error
