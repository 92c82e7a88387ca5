"""From files to a store: read, sort by last token, count and solve partition by partition.

Everything happens in a folder beside the store, which becomes the store once it is whole. What
is there already is not done again, so that a run that was killed goes on where it was.
"""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lemmata import __version__
from lemmata._engines import Announce, Engine, dask, here, processes
from lemmata._errors import InputError
from lemmata._files import make_folder, remove_unfinished, write_json
from lemmata._plain import plain
from lemmata.settings import Track, silent

from ._encode import Encoded, encode
from ._index import Index, write_index
from ._overview import overview
from ._partition import TABLES, Partition, solve
from ._sources import files_of
from ._tables import MANIFEST
from ._tokenizers import tokenizer_of

FORMAT = 1
"""Of the store; one of another format is not read."""

LEAST_MEMORY = 256 << 20


@dataclass(frozen=True)
class Reading:
    """How a corpus is read; what a store depends on.

    Attributes:
        tokenizer: ``words``, ``characters`` or the path of a ``tokenizer.json``.
        window: T: a sample is so many tokens and the next one.
        min_count: rarer tokens fill their place, and are nothing else.
        column: where documents stand in JSON Lines and Parquet.
        held_out: the share of the corpus, at its end, that nothing is learnt from.
    """

    tokenizer: str = "words"
    window: int = 32
    min_count: int = 1
    column: str | None = None
    held_out: float = 0.0

    def __post_init__(self) -> None:
        for name in ("window", "min_count"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                flag = name.replace("_", "-")
                raise InputError(f"--{flag} takes a whole number from 1 on; got {value}")
        if not 0 <= self.held_out < 1:
            raise InputError(f"--held-out takes a share from 0 to below 1; got {self.held_out}")


def build(
    source: Path,
    store: Path,
    reading: Reading,
    *,
    memory: int = 2 << 30,
    workers: int | None = None,
    scheduler: str | None = None,
    track: Track = silent,
    announce: Announce = lambda line: None,
) -> Path:
    """Make the store of a corpus, or find it made; returns where it is."""
    files = files_of(source)
    if memory < LEAST_MEMORY:
        raise InputError(f"--memory is at least {LEAST_MEMORY >> 20}MB; got {memory >> 20}MB")
    wanted = _identity(files, reading)
    if (store / MANIFEST).exists() and _same(store / MANIFEST, wanted):
        return store
    if store.exists() and not (store / MANIFEST).exists():
        raise InputError(f"{store} is in the way: it is no store; say another --out")
    folder = _begin(store, wanted)
    try:
        _make(folder, files, reading, memory, workers, scheduler, track, announce)
        write_json(folder / MANIFEST, {**wanted, **overview(folder, reading.window)})
        _put(folder, store)
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(f"cannot write to {folder.parent}: {error.strerror or error}") from error
    return store


def _identity(files: Sequence[Path], reading: Reading) -> dict[str, Any]:
    """What a store is known by: how it was read, and from which files."""
    sources = [
        {"file": str(file), "bytes": file.stat().st_size, "changed": file.stat().st_mtime_ns}
        for file in files
    ]
    return {
        "format": FORMAT,
        "lemmata": __version__,
        "reading": plain(asdict(reading)),
        "files": sources,
    }


def _same(path: Path, wanted: dict[str, Any]) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return all(found.get(name) == value for name, value in wanted.items())


def _begin(store: Path, wanted: dict[str, Any]) -> Path:
    """The folder in which the store is made; what is there of another corpus goes."""
    folder = store.parent / f".{store.name}.unfinished"
    if folder.exists() and not _same(folder / "wanted.json", wanted):
        shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    write_json(folder / "wanted.json", wanted)
    return folder


def _make(
    folder: Path,
    files: Sequence[Path],
    reading: Reading,
    memory: int,
    workers: int | None,
    scheduler: str | None,
    track: Track,
    announce: Announce,
) -> None:
    if not (folder / "encoded.json").exists():
        tokenizer = tokenizer_of(reading.tokenizer)
        how = {"column": reading.column, "min_count": reading.min_count, "track": track}
        encode(files, tokenizer, folder, **how)
    corpus = Encoded.read(folder)
    end = len(corpus.tokens) - int(len(corpus.tokens) * reading.held_out)
    if not (folder / "indexed.json").exists():
        write_index(folder, corpus, end)
    index = Index.read(folder)
    if not index.first[-1]:
        raise InputError("there is no sample: no two tokens that count stand side by side")
    for table in TABLES:
        make_folder(folder / table)
    hands = workers or os.cpu_count() or 1
    ranges = index.partitions(memory // (hands + 1))
    tasks = [Partition(str(folder.resolve()), n, *r, reading.window) for n, r in enumerate(ranges)]
    missing = [task for task in tasks if not task.done]
    done = track("samples", int(index.first[-1]))
    done(sum(int(index.first[t.high] - index.first[t.low]) for t in tasks if t.done))
    for _, samples in _engine(hands, scheduler, len(missing), announce)(missing):
        done(samples)


def _engine(
    workers: int, scheduler: str | None, tasks: int, announce: Announce
) -> Engine[Partition, int]:
    if scheduler is not None:
        return dask(solve, scheduler, announce)
    return processes(solve, workers) if workers > 1 and tasks > 1 else here(solve)


def _put(folder: Path, store: Path) -> None:
    """The store appears in one move; an older one goes first."""
    (folder / "wanted.json").unlink()
    remove_unfinished(folder)
    if store.exists():
        shutil.rmtree(store)
    folder.replace(store)
