"""Samples of a corpus: every position with the tokens up to it, and the token after it.

A window never reaches beyond the start of its document.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int
from numpy.lib.stride_tricks import sliding_window_view

from ._encode import RARE, Encoded

SAMPLES_AT_A_TIME = 1 << 15

Positions = Int[np.ndarray, "samples"]


@dataclass(frozen=True)
class Samples:
    """Samples with their windows; the last place of a window is the last token.

    Attributes:
        position: of the last token in the corpus.
        window: the tokens, ``RARE`` where there is none that counts.
        label: the next token.
    """

    position: Positions
    window: Int[np.ndarray, "samples places"]
    label: Int[np.ndarray, "samples"]

    @property
    def query(self) -> Int[np.ndarray, "samples"]:
        """The last tokens."""
        return self.window[:, -1]

    @cached_property
    def reached(self) -> Bool[np.ndarray, "samples"]:
        """Whether the label stands in the window."""
        return (self.window == self.label[:, None]).any(axis=1)

    def select(self, chosen: np.ndarray) -> "Samples":
        """Some of them."""
        return Samples(self.position[chosen], self.window[chosen], self.label[chosen])

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sample, the token and how often it occurs, for each distinct token of a window."""
        ordered = np.sort(self.window, axis=1)
        first = np.ones(ordered.shape, dtype=bool)
        first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        flat = np.flatnonzero(first)
        times = np.diff(np.append(flat, ordered.size))
        token = ordered.ravel()[flat]
        counts = token != RARE
        return flat[counts] // ordered.shape[1], token[counts], times[counts]


@dataclass(frozen=True)
class Windows:
    """All samples of a corpus.

    Attributes:
        corpus: in numbers.
        length: T, the tokens of a window.
    """

    corpus: Encoded
    length: int

    @classmethod
    def read(cls, folder: Path, length: int) -> "Windows":
        """Those of a corpus on disk."""
        return cls(Encoded.read(folder), length)

    @cached_property
    def _inside(self) -> Int[np.ndarray, "windows places"]:
        """The window that ends at each position from the ``length``-th on."""
        tokens = self.corpus.tokens
        length = min(self.length, len(tokens))
        return sliding_window_view(tokens, length)

    def at(self, positions: Positions) -> Samples:
        """The samples whose last token stands at these positions."""
        tokens, starts = self.corpus.tokens, self.corpus.starts
        width = self._inside.shape[1]
        positions = positions.astype(np.int64)
        window = np.array(self._inside[np.maximum(positions - width + 1, 0)])
        early = np.flatnonzero(positions < width - 1)
        for i in early:
            there = tokens[: positions[i] + 1]
            window[i] = RARE
            window[i, width - len(there) :] = there
        here = positions - starts[np.searchsorted(starts, positions, side="right") - 1] + 1
        short = np.flatnonzero(here < width)
        if len(short):
            outside = np.arange(width)[None] < (width - here[short])[:, None]
            window[short] = np.where(outside, RARE, window[short])
        return Samples(positions, window, np.asarray(tokens[positions + 1]))

    def between(self, start: int, end: int) -> Positions:
        """The positions of all samples with their label from ``start`` to below ``end``."""
        first = max(start - 1, 0)
        tokens = np.asarray(self.corpus.tokens[first:end])
        good = (tokens[:-1] != RARE) & (tokens[1:] != RARE)
        ends = self.corpus.starts[1:] - 1 - first
        good[ends[(ends >= 0) & (ends < len(good))]] = False
        return first + np.flatnonzero(good)

    def all_at(self, positions: Positions) -> Iterator[Samples]:
        """The same, a few at a time."""
        for start in range(0, len(positions), SAMPLES_AT_A_TIME):
            yield self.at(np.asarray(positions[start : start + SAMPLES_AT_A_TIME]))
