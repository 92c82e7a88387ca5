"""Time for an evaluation: it is given up once it is clear that it will not end in time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

SURE = 0.5
"""Seconds of training after which it can be told how long the rest will take."""

AMPLY = 1.2
"""What would take longer than there is time, by this factor, is given up."""


class TooSlowError(Exception):
    """An evaluation that would take longer than there is time.

    Attributes:
        seconds: how long it would take in all, as far as that can be told.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"about {seconds:.0f} s")
        self.seconds = seconds


@dataclass(frozen=True)
class Clock:
    """When an evaluation must have ended, by ``time.monotonic``."""

    ends: float = float("inf")

    @property
    def left(self) -> float:
        """Seconds."""
        return self.ends - time.monotonic()

    def within(self, seconds: float) -> "Clock":
        """One that ends in so many seconds, or earlier."""
        return Clock(min(self.ends, time.monotonic() + seconds))

    def afford(self, seconds: float) -> None:
        """Raise ``TooSlowError`` if what is coming takes so long and does not fit."""
        if seconds > AMPLY * self.left:
            raise TooSlowError(seconds)

    def track(self, title: str, total: int) -> Callable[[int], None]:
        """What a bench calls while it trains; it raises ``TooSlowError``.

        The first call comes after compiling, which is not held against the rest.
        """
        begun = time.monotonic()
        calls: list[tuple[float, int]] = []

        def progress(more: int) -> None:
            now = time.monotonic()
            calls.append((now, more))
            left = total - sum(done for _, done in calls)
            since, lately = now - calls[0][0], sum(done for _, done in calls[1:])
            if left > 0 and since > SURE and lately:
                rest = since / lately * left
            elif left > 0 and now > self.ends:
                rest = (now - begun) * left / max(1, total - left)
            else:
                return
            if rest > AMPLY * (self.ends - now):
                raise TooSlowError(now - begun + rest)

        return progress
