"""The definitions of Section 4 read off word by word, with no regard for speed.

A dataset is a list of (input, next token) pairs; n is a dictionary.
"""

from collections.abc import Sequence
from itertools import product

Pair = tuple[tuple[int, ...], int]


def prefixes(sentences: Sequence[Sequence[int]]) -> list[Pair]:
    """Every proper prefix of every sentence with the token after it, repetitions dropped."""
    pairs = [(tuple(s[:i]), s[i]) for s in sentences for i in range(1, len(s))]
    return list(dict.fromkeys(pairs))


def beats(pairs: Sequence[Pair], n: dict[int, int], q: int) -> set[tuple[int, int]]:
    """x >_q x': some input ending in q contains both, n(x) is its next token, n(x') is not."""
    return {
        (x, other)
        for tokens, label in pairs
        if tokens[-1] == q
        for x, other in product(set(tokens), repeat=2)
        if n.get(x) == label != n.get(other)
    }


def optimal(pairs: Sequence[Pair], n: dict[int, int], q: int) -> set[int]:
    """Tokens that beat somebody under q and are beaten by nobody."""
    order = beats(pairs, n, q)
    return {x for x, _ in order} - {x for _, x in order}


def confused(pairs: Sequence[Pair], n: dict[int, int], q: int) -> set[int]:
    """Tokens that beat somebody under q and are beaten by somebody."""
    order = beats(pairs, n, q)
    return {x for x, _ in order} & {x for _, x in order}


def keeps_preimages(pairs: Sequence[Pair], n: dict[int, int]) -> bool:
    """Whether every input contains a token that n sends to its next token."""
    return all(any(n.get(x) == label for x in tokens) for tokens, label in pairs)


def keeps_assumption_3(pairs: Sequence[Pair], n: dict[int, int]) -> bool:
    """Per input, at least as many optimal positions as copies of any other token."""
    return all(
        sum(n.get(x) == label for x in tokens)
        >= max((tokens.count(x) for x in tokens if n.get(x) != label), default=0)
        for tokens, label in pairs
        if any(n.get(x) == label for x in tokens)
    )


def sentences_of(n: dict[int, int], longest: int) -> list[tuple[int, ...]]:
    """Every sentence of at most ``longest`` tokens that starts with a pair (x, n(x)) and whose
    labels all have their preimage in the sentence so far."""
    layers = [[(x, n[x]) for x in sorted(n)]]
    for _ in range(longest - 2):
        layers.append([(*s, n[x]) for s in layers[-1] for x in sorted(set(s))])
    return [sentence for layer in layers for sentence in dict.fromkeys(layer)]
