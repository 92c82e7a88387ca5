"""Every small dataset, up to relabelling of tokens: what an adversary goes through whole.

In prefix-closed data without ambiguous inputs all sentences from one first token are prefixes of
the longest one. So such data is a map n and, for each start x, what follows [x n(x)] there. For
realizable data that is not prefix-closed n may be any bijection, because attention never looks at
names of next tokens: with n = id a sample is its last token, the bag of its tokens, and its label.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product

from lemmata.tokens import TokenData, all_datasets, letters

Words = tuple[int, ...]
Facts = frozenset[tuple[int, int]]
"""Pairs of a query and a token."""


def small_datasets(K: int, T: int, n: int) -> Iterator[TokenData]:
    """Data with n inputs of two to T tokens out of at most K: prefix-closed, then realizable."""
    for size in range(2, K + 1):
        maps = product(range(size), repeat=size)
        yield from _up_to_names(maps, lambda following: _continuations(len(following), T, n))
    for data in all_datasets(K, T, n, ordered=True):
        yield with_pairs(data)


def realizable_sentences(K: int, T: int) -> Iterator[TokenData]:
    """Prefix-closed realizable data: at most K tokens, inputs of at most T tokens."""
    for size in range(2, K + 1):
        yield from _up_to_names(
            permutations(range(size)),
            lambda following: _grow(following, T, 0, (), (Facts(), Facts())),
        )


def _up_to_names(
    maps: Iterable[Words], continuations: Callable[[Words], Iterable[tuple[Words, ...]]]
) -> Iterator[TokenData]:
    """A map n and what follows, one of each class of those that differ by names of tokens."""
    for following in maps:
        names, renamings = letters(len(following)), list(permutations(range(len(following))))
        if any(_renamed_map(following, new) < following for new in renamings):
            continue
        same = [new for new in renamings if _renamed_map(following, new) == following]
        for rests in continuations(following):
            if all(_renamed(rests, new) >= rests for new in same):
                yield TokenData.from_sentences(
                    [names[t] for t in (x, following[x], *rest)] for x, rest in enumerate(rests)
                )


def _continuations(K: int, T: int, n: int) -> Iterator[tuple[Words, ...]]:
    """Whatever follows the first two tokens of the sentence of each start: n tokens together."""
    for lengths in product(range(T), repeat=K):
        if sum(lengths) == n:
            yield from product(*(product(range(K), repeat=length) for length in lengths))


def _grow(
    following: Words, T: int, start: int, rests: tuple[Words, ...], facts: tuple[Facts, Facts]
) -> Iterator[tuple[Words, ...]]:
    """Continue the sentences from ``start`` on, as long as no token is confused.

    ``facts`` are those above others and those below others under a query, so far.
    """
    if start == len(following):
        yield rests
        return
    waiting: list[tuple[Words, Facts, Facts]] = [((start, following[start]), *facts)]
    while waiting:
        sentence, above, below = waiting.pop()
        yield from _grow(following, T, start + 1, (*rests, sentence[2:]), (above, below))
        present, query = set(sentence), sentence[-1]
        for winner in sorted(present) if len(sentence) <= T else ():
            losers = {(query, token) for token in present - {winner}}
            up, down = (above | {(query, winner)}, below | losers) if losers else (above, below)
            if not up & down:
                waiting.append(((*sentence, following[winner]), up, down))


def _renamed_map(following: Words, new: Words) -> Words:
    renamed = [0] * len(new)
    for x, after in enumerate(following):
        renamed[new[x]] = new[after]
    return tuple(renamed)


def _renamed(rests: tuple[Words, ...], new: Words) -> tuple[Words, ...]:
    renamed: list[Words] = [()] * len(new)
    for x, rest in enumerate(rests):
        renamed[new[x]] = tuple(new[token] for token in rest)
    return tuple(renamed)


def with_pairs(data: TokenData) -> TokenData:
    """The samples together with [x] -> x for every token x."""
    names = data.vocabulary
    rows = [
        (tuple(names[t] for t in s.tokens), names[s.label], s.count, s.source)
        for s in data.samples
        if len(s.tokens) > 1
    ]
    return TokenData.from_samples([*(((x,), x, 1, f"pair {x}") for x in names), *rows])
