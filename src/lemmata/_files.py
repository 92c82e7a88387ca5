"""Folders and files: made whole or not at all, with errors for people."""

import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._errors import InputError
from ._plain import plain

UNFINISHED = ".unfinished."
"""How names of files begin that are not whole yet."""


def make_folder(folder: Path) -> Path:
    """Make a folder that can be written to, or say why there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(dir=folder, prefix=UNFINISHED)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder


@contextmanager
def made_whole(path: Path) -> Iterator[Path]:
    """A path beside the file to write to, which is moved into place at the end of the block."""
    temporary = path.with_name(f"{UNFINISHED}{path.name}.{secrets.token_hex(8)}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that were killed have left below a folder."""
    for leftover in folder.rglob(f"{UNFINISHED}*"):
        leftover.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half-written."""
    make_folder(path.parent)
    with made_whole(path) as temporary, temporary.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def write_json(path: Path, document: Any) -> None:
    """A document for people and programs, in plain values."""
    text = json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(path, f"{text}\n".encode())
