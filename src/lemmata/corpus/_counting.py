"""Counts over (last token, label, token): what the priority graphs of a corpus are made of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from ._windows import Samples

MOST_EVENTS = 1 << 22
"""Facts that are held before they are counted together."""

Keys = Int[np.ndarray, "_"]


@dataclass(frozen=True)
class Edges:
    """Who beats whom under which last token, and in how many samples; sorted."""

    query: Int[np.ndarray, "edges"]
    winner: Int[np.ndarray, "edges"]
    loser: Int[np.ndarray, "edges"]
    count: Int[np.ndarray, "edges"]


@dataclass(frozen=True)
class Labels:
    """How often a token follows a last token: with itself in the window, and without; sorted."""

    query: Int[np.ndarray, "labels"]
    label: Int[np.ndarray, "labels"]
    reached: Int[np.ndarray, "labels"]
    missed: Int[np.ndarray, "labels"]


def count(batches: Iterable[Samples], low: int, size: int) -> tuple[Edges, Labels]:
    """Edges and labels of samples whose last tokens start at ``low``; ``size`` tokens in all.

    A label that stands in its window beats the other tokens there. Three numbers become one, and
    equal ones are counted by sorting.
    """
    facts, reached, missed = _Counter(), _Counter(), _Counter()
    for batch in batches:
        pairs = (batch.query.astype(np.int64) - low) * size + batch.label
        missed.add(pairs[~batch.reached])
        reached.add(pairs[batch.reached])
        inside, pairs = batch.select(batch.reached), pairs[batch.reached]
        sample, token, _ = inside.entries()
        other = token != inside.label[sample]
        facts.add(pairs[sample[other]] * size + token[other])
    keys, counts = facts.total()
    pair, loser = keys // size, keys % size
    edges = Edges(pair // size + low, pair % size, loser, counts)
    return edges, _labels(reached.total(), missed.total(), low, size)


def _labels(reached: tuple[Keys, Keys], missed: tuple[Keys, Keys], low: int, size: int) -> Labels:
    keys = np.union1d(reached[0], missed[0])
    found = [np.zeros(len(keys), dtype=np.int64) for _ in range(2)]
    for column, (own, counts) in zip(found, (reached, missed), strict=True):
        column[np.searchsorted(keys, own)] = counts
    return Labels(keys // size + low, keys % size, *found)


class _Counter:
    """Counts numbers that come in batches, with few of them in memory."""

    def __init__(self) -> None:
        self.keys = np.zeros(0, dtype=np.int64)
        self.counts = np.zeros(0, dtype=np.int64)
        self.waiting: list[Keys] = []
        self.held = 0

    def add(self, keys: Keys) -> None:
        self.waiting.append(keys)
        self.held += len(keys)
        if self.held > max(MOST_EVENTS, len(self.keys)):
            self.settle()

    def settle(self) -> None:
        fresh = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *self.waiting]))
        self.waiting, self.held = [], 0
        start = np.flatnonzero(np.concatenate([[True], fresh[1:] != fresh[:-1]])[: len(fresh)])
        keys, counts = fresh[start], np.diff(np.append(start, len(fresh)))
        if len(self.keys):
            keys = np.concatenate([self.keys, keys])
            order = np.argsort(keys, kind="stable")
            keys, counts = keys[order], np.concatenate([self.counts, counts])[order]
            start = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
            keys, counts = keys[start], np.add.reduceat(counts, start)
        self.keys, self.counts = keys, counts

    def total(self) -> tuple[Keys, Keys]:
        self.settle()
        return self.keys, self.counts


def numbered(keys: Keys) -> tuple[Keys, Keys]:
    """The distinct keys in order, and the place of each key among them.

    The places travel with the keys through one sort, where both fit into 64 bits.
    """
    bits = len(keys).bit_length()
    if not len(keys) or int(keys.max()) >> (62 - bits):
        return np.unique(keys, return_inverse=True)
    packed = np.sort((keys << bits) | np.arange(len(keys)))
    ordered, place = packed >> bits, packed & ((1 << bits) - 1)
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(keys), dtype=np.int64)
    inverse[place] = np.cumsum(fresh) - 1
    return ordered[fresh], inverse


def runs(sorted_keys: Keys) -> Iterator[tuple[int, slice]]:
    """Each distinct key of a sorted row, and where it stands."""
    start = np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]]))
    for a, b in zip(start, np.append(start[1:], len(sorted_keys)), strict=True):
        if b > a:
            yield int(sorted_keys[a]), slice(int(a), int(b))
