"""Results on disk, each under the hash of the computation that gave them.

The hash covers the lowered program, its arrays and the array library's version. So a result never
outlives the code that made it, be it ours or a user's, while a changed comment recomputes nothing.
Where a result came from stands beside it. A file appears whole or not at all: it is written beside
its place and moved there.
"""

import hashlib
import json
import os
import platform
import zlib
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import numpy as np

from lemmata._files import make_folder, write_whole

Arrays = dict[str, np.ndarray]

_NAMES = "names of all arrays"
_ORIGIN = "where they came from"

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


def fingerprint(computation: Any) -> str:
    """The hash of a computation, given as JSON-able values and arrays."""
    digest = hashlib.sha256(version("jax").encode())
    _feed(digest, computation)
    return digest.hexdigest()[:32]


def provenance() -> dict[str, Any]:
    """What a result may depend on besides its computation: versions, processor, threads."""
    return {
        **{name: version(name) for name in ("lemmata", "jax", "jaxlib", "numpy")},
        "python": platform.python_version(),
        "processor": f"{platform.system()} {platform.machine()}",
        "threads": os.cpu_count(),
    }


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
        """Replace what is stored under the key, with its provenance beside it."""
        buffer = BytesIO()
        origin = np.array(json.dumps(provenance()))
        named: dict[str, Any] = arrays | {_NAMES: np.array(sorted(arrays)), _ORIGIN: origin}
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

    def origin(self, key: str) -> dict[str, Any]:
        """Where what is stored under the key came from."""
        with np.load(self.folder / f"{key}.npz", allow_pickle=False) as archive:
            return json.loads(str(archive[_ORIGIN]))


class Film(Store):
    """Keeps nothing on disk: lets a run keep the state of every record in memory instead.

    The numbers that are recorded are the same to the bit. Runs with more than ``room`` bytes of
    states keep none. A ``quick`` one is for a glance at a few steps: its program is compiled in
    half the time, and the last digits may differ.
    """

    def __init__(self, room: int = 100_000_000, *, quick: bool = False):
        self.room = room
        self.quick = quick

    def has_room(self, state: Any, records: int) -> bool:
        """Whether the states of all records may be kept."""
        size = sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(state))
        return size * records <= self.room

    def save(self, key: str, arrays: Arrays) -> None:
        """Nothing is written."""

    def load(self, key: str) -> Arrays | None:
        """Nothing is there."""
        return None
