"""Token data: distinct inputs, the token that follows each, and how often."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

Token = str | int
"""A token as the user wrote it."""


@dataclass(frozen=True)
class Sample:
    """One distinct input X with its next token, as indices into the vocabulary."""

    tokens: tuple[int, ...]
    label: int
    count: int = 1
    source: str = ""
    asked_by: int | None = None
    """The query of a sample that has lost its last token."""

    @property
    def query(self) -> int:
        """The last token, which asks the question that attention answers."""
        return self.tokens[-1] if self.asked_by is None else self.asked_by


@dataclass(frozen=True)
class TokenData:
    """The training set D_0 as a vocabulary and its distinct (input, next token) pairs."""

    vocabulary: tuple[Token, ...]
    samples: tuple[Sample, ...]

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[Token]], vocabulary: Sequence[Token] | None = None
    ) -> "TokenData":
        """Every proper prefix of every sentence predicts the token after it.

        Examples:
            >>> data = TokenData.from_sentences(["SVOP", "VOP", "OPP", "PSV"])
            >>> len(data.samples), data.longest_input
            (9, 3)
        """
        pairs = [
            (sentence[:end], sentence[end], 1, f"sentence {number}")
            for number, sentence in enumerate(sentences, start=1)
            for end in range(1, len(sentence))
        ]
        return cls.from_samples(pairs, vocabulary)

    @classmethod
    def from_samples(
        cls,
        pairs: Iterable[tuple[Sequence[Token], Token, int, str]],
        vocabulary: Sequence[Token] | None = None,
    ) -> "TokenData":
        """Collect (input, next token, count, source) rows; equal pairs are counted together.

        Without a vocabulary the tokens are numbered in the order of their first appearance.
        """
        pairs = list(pairs)
        if vocabulary is None:
            vocabulary = list(
                dict.fromkeys(token for tokens, label, _, _ in pairs for token in (*tokens, label))
            )
        index = {token: i for i, token in enumerate(vocabulary)}
        merged: dict[tuple[tuple[int, ...], int], Sample] = {}
        for tokens, label, count, source in pairs:
            key = (tuple(index[token] for token in tokens), index[label])
            known = merged.get(key)
            merged[key] = (
                Sample(*key, count, source)
                if known is None
                else replace(known, count=known.count + count)
            )
        return cls(tuple(vocabulary), tuple(merged.values()))

    @property
    def size(self) -> int:
        """|V|, the number of tokens."""
        return len(self.vocabulary)

    @cached_property
    def total(self) -> int:
        """|D_0|, counting repetitions."""
        return sum(sample.count for sample in self.samples)

    @cached_property
    def frequencies(self) -> Float[np.ndarray, "samples"]:
        """pi: the share of each distinct input in D_0."""
        return np.array([sample.count for sample in self.samples], dtype=float) / max(self.total, 1)

    @cached_property
    def longest_input(self) -> int:
        """The length of the longest input; the papers' L_max is one more."""
        return max((len(sample.tokens) for sample in self.samples), default=0)

    def name(self, token: int) -> str:
        """The token as text."""
        return str(self.vocabulary[token])

    def show(self, sample: Sample) -> str:
        """A sample for a person: ``[S V] -> O (sentence 1)``."""
        words = " ".join(map(self.name, sample.tokens))
        source = f" ({sample.source})" if sample.source else ""
        return f"[{words}] -> {self.name(sample.label)}{source}"


def sizes_of(data: TokenData) -> str:
    """How much there is, in a line."""
    longest = max((len(sample.tokens) for sample in data.samples), default=0)
    return f"{data.size} tokens, {len(data.samples)} samples of up to {longest} tokens"
