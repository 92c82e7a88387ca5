"""Folders and files: made whole or not at all, with errors for people."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ._errors import InputError
from ._plain import plain


def make_folder(folder: Path) -> Path:
    """Make a folder that can be written to, or say why there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(dir=folder)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file and move it into place, so that it is never seen half-written."""
    make_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path: Path, document: Any) -> None:
    """A document for people and programs, in plain values."""
    text = json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(path, f"{text}\n".encode())
