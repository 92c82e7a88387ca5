"""A generator that always draws from one end, so that the ends of ranges can be seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class Ends(np.random.Generator):
    """The lowest numbers and first words, or the highest and last; coins and others as told.

    Attributes:
        high: which end.
        coins: what ``random`` gives, one after the other.
        words, wholes: what ``choice`` and ``integers`` give, before they go on with the end.
    """

    def __init__(
        self,
        high: bool,
        coins: Sequence[float] = (),
        words: Sequence[Any] = (),
        wholes: Sequence[int] = (),
    ):
        super().__init__(np.random.PCG64(0))
        self.high, self.coins = high, list(coins)
        self.words, self.wholes = list(words), list(wholes)

    def random(self, size: Any = None) -> Any:
        return super().random(size) if size is not None else self.coins.pop(0)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        end = float(high if self.high else low)
        return end if size is None else np.full(size, end)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """One deviation from the middle."""
        return float(loc + scale if self.high else loc - scale)

    def integers(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:
        if self.wholes:
            return self.wholes.pop(0)
        least, beyond = (0, low) if high is None else (low, high)
        end = beyond - 1 if self.high else least
        return end if size is None else np.full(size, end)

    def choice(self, a: Any, size: Any = None, **_: Any) -> Any:
        if self.words:
            return self.words.pop(0)
        end = (np.arange(a) if isinstance(a, int) else np.asarray(a))[-1 if self.high else 0]
        return end if size is None else np.full(size, end)
