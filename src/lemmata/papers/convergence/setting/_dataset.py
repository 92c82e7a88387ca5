"""A dataset with everything that the paper reads off it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.margin import MaxMargin, Status, embedded_max_margin, max_margin
from lemmata.settings import Shown, encode
from lemmata.tokens import (
    Collocation,
    Instance,
    PartialOrders,
    PriorityGraph,
    Problem,
    Token,
    TokenData,
    find_collocation,
    orthonormality_error,
    partial_orders,
    sizes_of,
)

ORTHONORMAL = 1e-9
"""Embeddings whose Gram matrix is this close to the identity count as orthonormal."""


@dataclass(frozen=True, repr=False)
class Dataset(Shown):
    """Training data D_0, its collocation and orders, and the max-margin solutions they define.

    Attributes:
        name: how reports call it.
        data: the distinct inputs.
        embeddings: one row a token; None for an orthonormal family, where nothing depends on
            which one it is.
        initial_weights: W_kq before the first step; None for zero.
        log_frequency: log pi up to a common constant, where it is too skewed to be written as
            counts.
        initial_values: W_ov before the first step, one row a next token; None for zero.
    """

    name: str
    data: TokenData
    embeddings: Float[np.ndarray, "tokens dimension"] | None = None
    initial_weights: Float[np.ndarray, "dimension dimension"] | None = None
    log_frequency: Float[np.ndarray, "samples"] | None = field(default=None, compare=False)
    initial_values: Float[np.ndarray, "vocabulary dimension"] | None = None

    @property
    def summary(self) -> str:
        """Its sizes, in a line."""
        return sizes_of(self.data)

    @classmethod
    def from_sentences(
        cls, name: str, sentences: Sequence[Sequence[Token]] | Mapping[str, int]
    ) -> "Dataset":
        """Every prefix of every sentence is a sample.

        Args:
            name: how reports call it.
            sentences: sequences of tokens; or how often each sentence occurs, by its words with
                spaces between them.

        Examples:
            >>> dataset = Dataset.from_sentences("m", {"a b a": 1000, "b a b": 1})
            >>> [sample.count for sample in dataset.data.samples]
            [1000, 1000, 1, 1]
        """
        if not len(sentences):
            raise InputError(f"{name}: there is no sentence: give at least one")
        if not isinstance(sentences, Mapping):
            return cls(name, TokenData.from_sentences(sentences))
        rows = []
        for number, (sentence, count) in enumerate(sentences.items(), start=1):
            words = sentence.split()
            _check_count(name, f"sentence {number}", count)
            rows += [
                (words[:end], words[end], count, f"sentence {number}")
                for end in range(1, len(words))
            ]
        return cls(name, TokenData.from_samples(rows))

    @classmethod
    def from_samples(
        cls,
        name: str,
        sequences: Sequence[Sequence[Token]],
        labels: Sequence[Token],
        counts: Sequence[int] | None = None,
        *,
        embeddings: Float[np.ndarray, "tokens dimension"] | None = None,
        initial_weights: Float[np.ndarray, "dimension dimension"] | None = None,
        log_frequencies: Sequence[float] | None = None,
        initial_values: Float[np.ndarray, "vocabulary dimension"] | None = None,
    ) -> "Dataset":
        """Inputs with their next tokens, and how often each occurs.

        With embeddings, tokens are numbers, and token i owns row i.
        """
        counts = [1] * len(sequences) if counts is None else counts
        if not len(sequences) == len(labels) == len(counts):
            raise InputError(
                f"{name}: {len(sequences)} sequences, {len(labels)} labels and {len(counts)} "
                "counts; each sequence needs one of each"
            )
        rows = []
        for i, (sequence, label, count) in enumerate(zip(sequences, labels, counts, strict=True)):
            _check_count(name, f"sequence {i}", count)
            rows.append((sequence, label, count, f"sequence {i}"))
        vocabulary = None if embeddings is None else range(len(embeddings))
        data = TokenData.from_samples(rows, vocabulary)
        start = Instance(data, embeddings, initial_weights, initial_values=initial_values)
        start.check_shapes(name)
        skewed = None if log_frequencies is None else np.asarray(log_frequencies, dtype=float)
        if skewed is not None and len(skewed) != len(data.samples):
            raise InputError(
                f"{name}: {len(skewed)} log frequencies for {len(data.samples)} distinct samples"
            )
        return cls(name, data, embeddings, initial_weights, skewed, initial_values)

    @classmethod
    def from_instance(cls, name: str, instance: Instance) -> "Dataset":
        """What a token file said; orthonormal embeddings are set aside once checked."""
        instance.check_shapes(name)
        size = instance.data.size
        embeddings, start = instance.embeddings, instance.initial_weights
        orthonormal = embeddings is None or orthonormality_error(embeddings) <= ORTHONORMAL
        shares, values = instance.log_frequencies, instance.initial_values
        if orthonormal and start is None and (embeddings is None or values is None):
            return cls(name, instance.data, log_frequency=shares, initial_values=values)
        rows = np.eye(size) if embeddings is None else embeddings
        return cls(name, instance.data, rows, start, shares, values)

    def document(self) -> dict[str, Any]:
        """The dataset as JSON values that ``read`` reads back."""
        names, samples = self.data.vocabulary, self.data.samples
        document: dict[str, Any] = {
            "sequences": [[names[token] for token in sample.tokens] for sample in samples],
            "labels": [names[sample.label] for sample in samples],
        }
        if self.log_frequency is None and any(sample.count != 1 for sample in samples):
            document["counts"] = [sample.count for sample in samples]
        arrays = {
            "log_frequencies": self.log_frequency,
            "embeddings": self.embeddings,
            "initial_weights": self.initial_weights,
            "initial_values": self.initial_values,
        }
        return document | {
            name: array.tolist() for name, array in arrays.items() if array is not None
        }

    @cached_property
    def collocation(self) -> Collocation:
        """n: V -> V."""
        return find_collocation(self.data)

    @cached_property
    def orders(self) -> PartialOrders:
        """The query-dependent partial orders (Definition 1)."""
        return partial_orders(self.data, self.collocation)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every assumption of the paper that the data breaks, with the sentence at fault."""
        return self._problems

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        problems = list(self.orders.problems)
        if self.data.size == 1:
            message = "there is one token only: every prediction is certain and nothing is trained"
            problems.append(Problem("single_token", f"token {self.data.name(0)}", message))
        if not any(len(set(sample.tokens)) > 1 for sample in self.data.samples):
            message = (
                "no input has two distinct tokens: attention has nothing to choose from, W_kq* is "
                "0 and stage 2 has no gradient"
            )
            problems.append(Problem("nothing_to_attend", "all samples", message))
        if self.initial_weights is not None and self.initial_weights.any():
            message = "W_kq does not start at zero, as Algorithm 1 does"
            problems.append(Problem("initial_weights_not_zero", "initial_weights", message))
        if self.initial_values is not None and self.initial_values.any():
            message = "W_ov does not start at zero, as Algorithm 1 does: margins need not be equal"
            problems.append(Problem("initial_values_not_zero", "initial_values", message))
        if self.embeddings is not None:
            error = orthonormality_error(self.embeddings)
            if error > ORTHONORMAL:
                message = f"E E^T differs from the identity by {error:.3g}: Assumption 2 is broken"
                problems.append(Problem("embeddings_not_orthonormal", "embeddings", message))
        return tuple(problems)

    @cached_property
    def log_pi(self) -> Float[np.ndarray, "samples"]:
        """The logarithms of pi, the share of each distinct sample."""
        if self.log_frequency is None:
            return np.log(self.data.frequencies)
        return self.log_frequency - np.logaddexp.reduce(self.log_frequency)

    @property
    def frequencies(self) -> Float[np.ndarray, "samples"]:
        """pi; it may underflow where it is very skewed."""
        return self.data.frequencies if self.log_frequency is None else np.exp(self.log_pi)

    @property
    def plain(self) -> "Dataset":
        """The same data with the usual embeddings, from zero."""
        return replace(self, embeddings=None, initial_weights=None, initial_values=None)

    def starting_from(self, values: Float[np.ndarray, "vocabulary dimension"]) -> "Dataset":
        """The same data, where W_ov starts elsewhere."""
        Instance(self.data, self.embeddings, initial_values=values).check_shapes(self.name)
        return replace(self, initial_values=values)

    @property
    def largest_logit(self) -> float:
        """That a matrix of norm 1 can give: the square of the longest embedding."""
        return 1.0 if self.embeddings is None else float(np.max(np.sum(self.embeddings**2, axis=1)))

    def broken(self, *codes: str) -> list[Problem]:
        """The problems with one of these codes."""
        return [problem for problem in self.problems if problem.code in codes]

    @property
    def orthonormal(self) -> bool:
        """Assumption 2."""
        return not self.broken("embeddings_not_orthonormal")

    @property
    def has_collocation(self) -> bool:
        """Whether n is defined on all of V, which stage 1 needs."""
        return len(self.collocation.following) == self.data.size

    @property
    def K(self) -> int:
        """|V|."""
        return self.data.size

    @property
    def N(self) -> int:
        """The number of distinct inputs, those of length one included."""
        return len({sample.tokens for sample in self.data.samples})

    @property
    def L_max(self) -> int:
        """The longest sentence; it counts the predicted token."""
        return self.data.longest_input + 1

    @cached_property
    def attention_margin(self) -> MaxMargin:
        """W_kq*, the solution of Eq. (3)."""
        if self.orthonormal:
            return max_margin(self.orders.graphs, self.K)
        assert self.embeddings is not None
        return embedded_max_margin(self.orders.graphs, self.embeddings)

    @cached_property
    def value_margin(self) -> MaxMargin:
        """W_ov*, the solution of Eq. (2): at each x, n(x) beats every other token.

        It is the same program on other graphs, with tokens in the place of queries.
        """
        graphs = {
            x: PriorityGraph(
                x,
                tuple(range(self.K)),
                {(after, v): x for v in range(self.K) if v != after},
            )
            for x, after in sorted(self.collocation.following.items())
        }
        return max_margin(graphs, self.K)

    @cached_property
    def norm_kq(self) -> float:
        """||W_kq*||, NaN if there is no such matrix."""
        norm = self.attention_margin.norm
        return float("nan") if norm is None else norm

    @cached_property
    def norm_ov(self) -> float:
        """||W_ov*||."""
        norm = self.value_margin.norm
        return float("nan") if norm is None else norm

    @property
    def attention_status(self) -> Status:
        """Whether W_kq* exists."""
        return self.attention_margin.status

    def encode(self, words: str | Sequence[str]) -> list[int]:
        """Tokens by name, for a prediction; words of a text have spaces between them."""
        return encode(self.data, words)


def _check_count(name: str, where: str, count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"{name}, {where}: a count is a whole number from 1 on; got {count!r}")


def example_1() -> Dataset:
    """Example 1: subject, verb, object, punctuation."""
    return Dataset.from_sentences("example-1", ["SVOP", "VOP", "OPP", "PSV"])
