"""What a benchmark hands to the table, the clock, and the peak of memory."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ResultT = TypeVar("ResultT")

MEGABYTE = 2**20


class Seconds(float):
    """Seconds that remember the memory that was needed; numbers computed from them do not.

    Attributes:
        memory: megabytes at the peak above those at the start; None where that is not known.
    """

    memory: float | None = None


@dataclass(frozen=True)
class Row:
    """Two things that were timed, and how they compare.

    Attributes:
        first, second: what they are.
        first_seconds, second_seconds: how long they took.
        note: what else there is to know.
    """

    first: str
    first_seconds: float
    second: str
    second_seconds: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times as long the second takes."""
        return self.second_seconds / self.first_seconds

    @property
    def memory(self) -> tuple[float | None, float | None]:
        """Megabytes of both, where they were measured."""
        first, second = self.first_seconds, self.second_seconds
        return getattr(first, "memory", None), getattr(second, "memory", None)


def timed(work: Callable[[], ResultT]) -> tuple[Seconds, ResultT]:
    """Seconds on the wall clock with the peak of memory, and the result."""
    before = _forget_peak()
    start = time.perf_counter()
    result = work()
    seconds = Seconds(time.perf_counter() - start)
    if before is not None:
        seconds.memory = max(_status("VmHWM") - before, 0.0)
    return seconds, result


def best_of(repeats: int, work: Callable[[], object]) -> Seconds:
    """The fastest of a few runs: the least disturbed by other processes."""
    return min(timed(work)[0] for _ in range(repeats))


def _forget_peak() -> float | None:
    """Start the count of this process's peak anew; what it has now, or None outside Linux."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _status(name: str) -> float:
    """Megabytes, from the system's own account of this process."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None, name
    return int(found[1]) * 1024 / MEGABYTE
