"""Results on disk, each under the hash of the experiment that gave them.

A file appears whole or not at all: it is written beside its place and moved there. The hash
covers the package's own source, so that a result never outlives the code that made it.
"""

import hashlib
import json
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from lemmata._files import make_folder, write_whole

Arrays = dict[str, np.ndarray]


@cache
def _code() -> str:
    """A digest of every source file of the package, and of the array library's version."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256(version("jax").encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(experiment: Any) -> str:
    """The hash of an experiment, given as JSON-able values and arrays."""
    digest = hashlib.sha256(_code().encode())
    _feed(digest, experiment)
    return digest.hexdigest()[:32]


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key in sorted(value):
            digest.update(f"{key}:".encode())
            _feed(digest, value[key])
    elif isinstance(value, list | tuple):
        digest.update(f"[{len(value)}]".encode())
        for item in value:
            _feed(digest, item)
    else:
        digest.update(json.dumps(value).encode())


class Store:
    """Named arrays by key, in a folder."""

    def __init__(self, folder: Path):
        self.folder = make_folder(folder)

    def save(self, key: str, arrays: Arrays) -> None:
        """Replace what is stored under the key."""
        with tempfile.SpooledTemporaryFile(max_size=1 << 28) as buffer:
            np.savez(buffer, allow_pickle=False, **arrays)  # pyright: ignore[reportArgumentType]
            buffer.seek(0)
            write_whole(self.folder / f"{key}.npz", buffer.read())

    def load(self, key: str) -> Arrays | None:
        """What is stored under the key; None if there is nothing, or nothing readable."""
        path = self.folder / f"{key}.npz"
        try:
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except (FileNotFoundError, BadZipFile, ValueError, EOFError):
            return None
