"""Results on disk, each under the hash of the experiment that gave them.

A file appears whole or not at all: it is written beside its place and moved there. The hash
covers the package's own source, so that a result never outlives the code that made it.
"""

import hashlib
import json
import zlib
from functools import cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from lemmata._files import make_folder, write_whole

Arrays = dict[str, np.ndarray]

_NAMES = "names of all arrays"

_DAMAGE = (
    AttributeError,
    BadZipFile,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zlib.error,
)
"""What a damaged archive can raise when it is read; such a file counts as absent."""


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
        digest.update(f"array {value.dtype} {value.shape};".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        digest.update(f"{{{len(value)}}}".encode())
        for key in sorted(value):
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, list | tuple):
        digest.update(f"[{len(value)}]".encode())
        for item in value:
            _feed(digest, item)
    else:
        digest.update(f"{json.dumps(value)};".encode())


class Store:
    """Named arrays by key, in a folder."""

    def __init__(self, folder: Path):
        self.folder = make_folder(folder)

    def save(self, key: str, arrays: Arrays) -> None:
        """Replace what is stored under the key."""
        buffer = BytesIO()
        named: dict[str, Any] = arrays | {_NAMES: np.array(sorted(arrays))}
        np.savez(buffer, allow_pickle=False, **named)
        write_whole(self.folder / f"{key}.npz", buffer.getvalue())

    def load(self, key: str) -> Arrays | None:
        """What is stored under the key; None if there is nothing, or nothing readable."""
        path = self.folder / f"{key}.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return {str(name): archive[str(name)] for name in archive[_NAMES]}
        except _DAMAGE:
            return None
