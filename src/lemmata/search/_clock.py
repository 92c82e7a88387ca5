"""Time for an evaluation: it is given up once it is clear that it will not end in time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

SURE = 4
"""So many pieces of training tell how long the rest will take, and one more."""

AMPLY = 1.2
"""What would take longer than there is time, by this factor, is given up."""

NEARLY = 0.1
"""What is done but for this share of the time that it took is finished, however late it is."""


SOON = 1.0
"""What takes no more seconds is begun, however late it is: a proof that was nearly at hand."""


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
        if seconds > max(AMPLY * self.left, SOON):
            raise TooSlowError(seconds)

    def track(self, title: str, total: int) -> Callable[[int], None]:
        """What a bench calls while it trains; it raises ``TooSlowError``.

        A pause to compile is not held against the rest: the first piece does not count, of the
        others the usual pace does.
        """
        calls = [time.monotonic()]
        paces: list[float] = []
        done = 0

        def progress(more: int) -> None:
            nonlocal done
            done += more
            calls.append(time.monotonic())
            paces.append((calls[-1] - calls[-2]) / max(1, more))
            begun, now, left = calls[0], calls[-1], total - done
            if left <= 0 or len(paces) == 1:
                return
            rest = left * median(paces[1:])
            there_is = max(self.ends - now, NEARLY * (now - begun))
            if rest > AMPLY * there_is and (len(paces) > SURE or now > self.ends):
                raise TooSlowError(now - begun + rest)

        return progress
