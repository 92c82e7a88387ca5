"""Random datasets. The paper names none, so these are ours; see docs/convergence.md.

Under the full assumptions every query has at most one optimal token (``own/one-optimal-token``),
so a realizable dataset is a permutation n, one optimal token o_q = n^-i(q) per query, and a
maximal length for the walk from each start. ``Realizable`` draws exactly these; ``Rejection``
grows sentences token by token instead; ``Samples`` drops prefix-closure, which is what it takes
to see more than one optimal token. Whatever is drawn, ``Dataset.problems`` says what it breaks.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lemmata._errors import InputError
from lemmata.tokens import TokenData

from ._dataset import Dataset


@dataclass(frozen=True)
class Realizable:
    """Walks from every start, cut where an assumption would break.

    Attributes:
        vocabulary: |V|.
        cycles: the number of cycles of the collocation.
        reflect: the probability that a query's optimal token is an earlier token.
        depth: how much earlier it can be, at most.
        longest: the longest sentence.
        assumption_3: cut a walk before a non-optimal token outnumbers the optimal one.
        copies: truncated repetitions of each sentence, which skew the frequencies.
        random_lengths: cut each walk at a random length.
    """

    vocabulary: int = 20
    cycles: int = 1
    reflect: float = 0.3
    depth: int = 19
    longest: int = 10
    assumption_3: bool = True
    copies: int = 0
    random_lengths: bool = True

    def draw(self, generator: np.random.Generator) -> TokenData:
        """One dataset."""
        K = self.vocabulary
        sizes_fit = K >= 2 and 1 <= self.cycles <= K and self.longest >= 2
        if not (sizes_fit and 0 <= self.reflect <= 1 and min(self.depth, self.copies) >= 0):
            raise InputError(
                f"cannot draw {self}: need at least 2 tokens, 1 to |V| cycles, sentences of at "
                "least 2 tokens, a probability, and no negative depth or number of copies"
            )
        following, before = _permutation(K, self.cycles, generator)
        optimal = [_ancestor(q, before, self._depth(generator)) for q in range(K)]
        sentences = []
        for start in generator.permutation(K):
            limit = int(generator.integers(2, self.longest + 1))
            walk = self._walk(int(start), following, optimal)
            sentence = walk[: limit if self.random_lengths else self.longest]
            sentences.append(sentence)
            for _ in range(self.copies):
                sentences.append(sentence[: int(generator.integers(2, len(sentence) + 1))])
        return TokenData.from_sentences(sentences, range(K))

    def _depth(self, generator: np.random.Generator) -> int:
        reflects = generator.random() < self.reflect
        deepest = min(self.depth, self.vocabulary - 1)
        return int(generator.integers(1, deepest + 1)) if reflects and deepest else 0

    def _walk(self, start: int, following: list[int], optimal: list[int]) -> list[int]:
        """The sentence from ``start``, as long as its inputs keep the assumptions."""
        sentence = [start, following[start]]
        while len(sentence) < self.longest:
            chosen = optimal[sentence[-1]]
            counts = Counter(sentence)
            outnumbered = any(
                count > counts[chosen] for token, count in counts.items() if token != chosen
            )
            if chosen not in counts or (self.assumption_3 and outnumbered):
                break
            sentence.append(following[chosen])
        return sentence


@dataclass(frozen=True)
class Rejection:
    """Sentences grown token by token among the choices that are still consistent."""

    vocabulary: int = 20
    longest: int = 10
    sentences: int = 60
    assumption_3: bool = True
    stop: float = 0.1

    def draw(self, generator: np.random.Generator) -> TokenData:
        """One dataset."""
        K = self.vocabulary
        if K < 2 or self.longest < 2:
            raise InputError(f"cannot draw {self}: need 2 tokens and sentences of 2 tokens")
        following, _ = _permutation(K, 1, generator)
        grown = [[x, following[x]] for x in range(K)]
        chosen_for: dict[tuple[int, ...], int] = {}
        above: dict[int, set[int]] = {}
        below: dict[int, set[int]] = {}
        for _ in range(self.sentences):
            start = int(generator.integers(K))
            sentence = [start, following[start]]
            while len(sentence) < self.longest and generator.random() >= self.stop:
                query, present = sentence[-1], set(sentence)
                tops, lows = above.setdefault(query, set()), below.setdefault(query, set())
                known = chosen_for.get(tuple(sentence))
                candidates = [known] if known is not None else sorted(present)
                counts = Counter(sentence)
                allowed = [
                    x
                    for x in candidates
                    if x not in lows
                    and not (tops & (present - {x}))
                    and not (self.assumption_3 and max(counts.values()) > counts[x])
                ]
                if not allowed:
                    break
                choice = int(allowed[generator.integers(len(allowed))])
                if len(present) > 1:
                    tops.add(choice)
                    lows |= present - {choice}
                chosen_for[tuple(sentence)] = choice
                sentence.append(following[choice])
            grown.append(sentence)
        return TokenData.from_sentences(grown, range(K))


@dataclass(frozen=True)
class Samples:
    """Collocation pairs and arbitrary inputs around a hidden order; not prefix-closed.

    Under each query a few tokens are optimal; an input holds one of them and some of the tokens
    below it.
    """

    vocabulary: int = 20
    optimal: int = 2
    inputs_per_optimal: int = 1
    longest: int = 6

    def draw(self, generator: np.random.Generator) -> TokenData:
        """One dataset."""
        K = self.vocabulary
        if not 1 <= self.optimal < K or self.longest < 3:
            raise InputError(
                f"cannot draw {self}: need fewer optimal tokens than |V| and inputs of 3 tokens"
            )
        following, _ = _permutation(K, 1, generator)
        rows = [([x], following[x], 1, f"pair {x}") for x in range(K)]
        for query in range(K):
            others = [x for x in generator.permutation(K) if x != query]
            tops, rest = others[: self.optimal], others[self.optimal :]
            for top in tops:
                for _ in range(self.inputs_per_optimal):
                    size = min(int(generator.integers(0, self.longest - 2)), len(rest))
                    company = generator.choice(rest, size, replace=False)
                    body = [int(x) for x in generator.permutation([top, *company])]
                    rows.append(([*body, query], following[top], 1, f"query {query}"))
        return TokenData.from_samples(rows, range(K))


Generator = Realizable | Rejection | Samples


def generate(recipe: Generator, count: int, seed: int) -> list[Dataset]:
    """``count`` independent datasets; dataset i depends on the seed and on i alone."""
    kind = f"{type(recipe).__name__.lower()}-{recipe.vocabulary}"
    return [
        Dataset(f"{kind}-{seed}.{i}", recipe.draw(np.random.default_rng([seed, i])))
        for i in range(count)
    ]


def _permutation(
    K: int, cycles: int, generator: np.random.Generator
) -> tuple[list[int], list[int]]:
    """A random permutation with the given number of cycles, and its inverse."""
    order = generator.permutation(K)
    cuts = np.sort(generator.choice(np.arange(1, K), cycles - 1, replace=False))
    following, before = [0] * K, [0] * K
    for ring in np.split(order, cuts):
        for x, after in zip(ring, np.roll(ring, -1), strict=True):
            following[x], before[after] = int(after), int(x)
    return following, before


def _ancestor(token: int, before: list[int], depth: int) -> int:
    """n^-depth(token)."""
    for _ in range(depth):
        token = before[token]
    return token
