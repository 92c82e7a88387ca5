"""Orders that conjectures about graphs are tried on first: chains, stars, cycles, whole orders."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

FAMILY_SIZES = (4, 6, 9)
"""How many tokens they are tried with."""

Contest = tuple[tuple[int, ...], int]
"""The tokens of an input, of which the last one asks, and the one that beats the others."""


def order_families(size: int) -> Iterator[list[Contest]]:
    """Contests among ``size`` tokens: under one more token that asks, then under all of them;
    at last chains of half as many."""
    every, ask = range(size), size
    yield _chain(every, ask)
    yield [((*every, ask), 0)]  # one beats all
    yield [((i, size - 1, ask), i) for i in every[:-1]]  # all beat one
    yield [((*every[i:], ask), i) for i in every]  # a whole order
    yield [((i, (i + 1) % size, ask), i) for i in every]  # a cycle
    yield [contest for query in every for contest in _halves(size, query)]
    few = range(size // 2 + 1)
    yield [contest for query in few for contest in _chain([i for i in few if i != query], query)]


def _chain(tokens: Sequence[int], query: int) -> list[Contest]:
    """Each token beats the next one, and the last one that which asks."""
    pairs = [((a, b, query), a) for a, b in pairwise(tokens)]
    return [*pairs, ((tokens[-1], query), tokens[-1])]


def _halves(size: int, query: int) -> Iterator[Contest]:
    """Each token of one half beats all of the half that asks."""
    turned = [(query + i) % size for i in range(size)]
    losers, winners = turned[: size // 2], turned[size // 2 :]
    for winner in winners:
        yield (winner, *losers[1:], query), winner
