"""Every small dataset, up to relabelling of tokens.

Attention does not see the order of the tokens before the last one, so a sample is its last token,
the bag of its tokens, and its label.
"""

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, islice, permutations

import numpy as np
from jaxtyping import Bool, Int

from ._data import Sample, TokenData

SHORTEST = 2
"""A single token has no alternative to itself."""

AT_ONCE = 500_000
"""Sets of samples that are compared with their relabellings in one go."""


def all_samples(K: int, T: int) -> list[Sample]:
    """Every sample of at most T tokens out of K whose label is one of them."""
    return [
        Sample((*rest, query), label)
        for length in range(SHORTEST, T + 1)
        for query in range(K)
        for rest in combinations_with_replacement(range(K), length - 1)
        for label in sorted({*rest, query})
    ]


def all_datasets(K: int, T: int, n: int, *, ordered: bool = False) -> Iterator[TokenData]:
    """Every set of n samples, one of each class of those that differ by names of tokens only.

    If ``ordered``, only those of samples with two distinct tokens in which no token is a label and
    beaten by another label under the same last token.

    Examples:
        >>> sum(1 for n in (1, 2, 3) for _ in all_datasets(3, 3, n))
        3749
        >>> sum(1 for n in (1, 2, 3) for _ in all_datasets(3, 3, n, ordered=True))
        1389
    """
    samples = all_samples(K, T)
    if ordered:
        samples = [sample for sample in samples if len(set(sample.tokens)) > 1]
    moved = _relabellings(samples, K)
    above, below = _sides(samples, K)
    sets = combinations(range(len(samples)), n)
    while rows := list(islice(sets, AT_ONCE)):
        chosen = np.array(rows, dtype=np.int64)
        if ordered:
            up, down = (np.bitwise_or.reduce(bits[chosen], axis=1) for bits in (above, below))
            chosen = chosen[(up & down) == 0]
        for row in chosen[_is_least(chosen, moved)]:
            yield _compact([samples[i] for i in row])


def _sides(
    samples: list[Sample], K: int
) -> tuple[Int[np.ndarray, "samples"], Int[np.ndarray, "samples"]]:
    """The label of each sample, and the tokens that it beats, under its last token, as bits."""
    above = [1 << (K * s.query + s.label) for s in samples]
    below = [sum(1 << (K * s.query + t) for t in {*s.tokens} - {s.label}) for s in samples]
    return np.array(above, dtype=np.int64), np.array(below, dtype=np.int64)


def _relabellings(samples: list[Sample], K: int) -> Int[np.ndarray, "relabellings samples"]:
    """Which sample each becomes, under every renaming of the tokens."""
    index = {_key(sample.tokens, sample.label): i for i, sample in enumerate(samples)}
    return np.array(
        [
            [index[_key([new[t] for t in s.tokens], new[s.label])] for s in samples]
            for new in permutations(range(K))
        ]
    )


def _key(tokens: "tuple[int, ...] | list[int]", label: int) -> tuple[int, tuple[int, ...], int]:
    return tokens[-1], tuple(sorted(tokens)), label


def _is_least(
    chosen: Int[np.ndarray, "sets n"], moved: Int[np.ndarray, "relabellings samples"]
) -> Bool[np.ndarray, "sets"]:
    """Whether no relabelling of a set comes before it."""
    base = moved.shape[1] ** np.arange(chosen.shape[1])[::-1]
    own, least = chosen @ base, np.ones(len(chosen), dtype=bool)
    for new in moved:
        least &= np.sort(new[chosen], axis=1) @ base >= own
    return least


def _compact(samples: list[Sample]) -> TokenData:
    """The samples with a vocabulary of the tokens that occur: a, b, c and so on."""
    used = sorted({token for sample in samples for token in sample.tokens})
    number = {token: i for i, token in enumerate(used)}
    renamed = tuple(
        Sample(tuple(number[t] for t in s.tokens), number[s.label], 1, f"sample {i}")
        for i, s in enumerate(samples, start=1)
    )
    return TokenData(tuple(letters(len(used))), renamed)


def letters(count: int) -> list[str]:
    """Names of tokens: a, b, c, ..., z, t26, t27, ..."""
    return [chr(ord("a") + i) if i < 26 else f"t{i}" for i in range(count)]
