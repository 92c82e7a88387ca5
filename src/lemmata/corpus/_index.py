"""Which samples end in which token: positions sorted by last token, cut into partitions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from lemmata._files import write_json

from ._encode import BLOCK, RARE, Encoded

BYTES_A_SAMPLE = 5120
"""What counting and solving hold for one sample of a partition, at the most of what was seen."""

LARGEST_KEY = 2**62
"""(last token, label, token) is counted as one number."""


@dataclass(frozen=True)
class Index:
    """Samples by last token.

    Attributes:
        positions: of all samples, those of token 0 first.
        first: where the positions of each last token begin, and the end of all.
    """

    positions: Int[np.ndarray, "samples"]
    first: Int[np.ndarray, "vocabulary_and_end"]

    @classmethod
    def read(cls, folder: Path) -> "Index":
        """What ``write_index`` wrote."""
        positions = np.load(folder / "positions.npy", mmap_mode="r")
        return cls(positions, np.load(folder / "first.npy"))

    def of(self, low: int, high: int | None = None) -> Int[np.ndarray, "samples"]:
        """The positions at which one of the tokens from ``low`` to below ``high`` stands last."""
        end = low + 1 if high is None else high
        return self.positions[self.first[low] : self.first[end]]

    def partitions(self, memory: int) -> list[tuple[int, int]]:
        """Ranges of last tokens with about as many samples as fit, the most frequent alone."""
        size = len(self.first) - 1
        most = max(memory // BYTES_A_SAMPLE, 1)
        widest = max(LARGEST_KEY // size**2, 1)
        ranges, low = [], 0
        while low < size:
            full = int(np.searchsorted(self.first, self.first[low] + most, side="right")) - 1
            high = min(max(full, low + 1), low + widest, size)
            ranges.append((low, high))
            low = high
        return ranges


def write_index(folder: Path, corpus: Encoded, end: int) -> None:
    """Sort the samples before position ``end`` by their last token, without holding them all."""
    tokens, starts = corpus.tokens, corpus.starts
    size = len(corpus.names)
    is_last = np.zeros(len(tokens), dtype=bool)
    is_last[starts[1:] - 1] = True
    counts = np.zeros(size, dtype=np.int64)
    blocks = [(at, min(at + BLOCK, end - 1)) for at in range(0, end - 1, BLOCK)]

    def samples(at: int, until: int) -> Int[np.ndarray, "samples"]:
        here, after = np.asarray(tokens[at:until]), np.asarray(tokens[at + 1 : until + 1])
        return at + np.flatnonzero((here != RARE) & (after != RARE) & ~is_last[at:until])

    for block in blocks:
        counts += np.bincount(tokens[samples(*block)], minlength=size)
    first = np.concatenate([[0], np.cumsum(counts)])
    kind = np.int32 if len(tokens) < 2**31 else np.int64
    place = folder / "positions.npy"
    shape = (max(int(first[-1]), 1),)
    positions = np.lib.format.open_memmap(place, mode="w+", dtype=kind, shape=shape)
    free = first[:-1].copy()
    for block in blocks:
        found = samples(*block)
        token = tokens[found]
        order = np.argsort(token, kind="stable")
        token = token[order]
        run = np.arange(len(token)) - np.searchsorted(token, token)
        positions[free[token] + run] = found[order]
        free += np.bincount(token, minlength=size)
    positions.flush()
    np.save(folder / "first.npy", first)
    write_json(folder / "indexed.json", {"samples": int(first[-1])})
