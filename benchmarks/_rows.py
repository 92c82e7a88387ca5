"""What a benchmark hands to the table, and the clock."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

ResultT = TypeVar("ResultT")


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


def timed(work: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """Seconds on the wall clock, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """The fastest of a few runs: the least disturbed by other processes."""
    return min(timed(work)[0] for _ in range(repeats))
