"""Compiled programs, kept from one command to the next in the user's cache folder.

JAX finds a program by the hash of what it computes, of its own version and of its options, so that
a kept one is the one that would be compiled. Programs of another kind of processor are kept apart,
because they might not run here.
"""

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path

SWITCH = "LEMMATA_PROGRAMS"
"""An environment variable: ``off`` keeps nothing, a path says where."""

LARGEST = 500_000_000
"""Bytes, after which the programs that have not been used for longest go."""


def keep_programs() -> Path | None:
    """Let JAX keep what it compiles, unless the user has said otherwise; returns the folder."""
    choice = os.environ.get(SWITCH, "")
    if choice == "off" or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = (Path(choice) if choice else home / "lemmata") / f"programs-{_processor()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _make_room(folder)
    except OSError:
        return None
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
    return folder


def _processor() -> str:
    """What compiled programs depend on: the kind of processor and its abilities."""
    words = [platform.system(), platform.machine(), platform.processor()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        words += [next((line for line in lines if line.startswith(("flags", "Features"))), "")]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]


def _make_room(folder: Path) -> None:
    """Remove what was used longest ago, if there is too much."""
    files = [(entry.stat(), entry.path) for entry in os.scandir(folder) if entry.is_file()]
    excess = sum(state.st_size for state, _ in files) - LARGEST
    for state, path in sorted(files, key=lambda file: max(file[0].st_atime, file[0].st_mtime)):
        if excess <= 0:
            break
        with suppress(FileNotFoundError):
            os.unlink(path)
        excess -= state.st_size
