"""Training data and the structure that the paper reads off it: graphs, ties and cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.attention import normalized, number_cells
from lemmata.drawing import NamedGraphs
from lemmata.margin import Pair
from lemmata.settings import Shown, encode
from lemmata.tokens import (
    Instance,
    Token,
    TokenData,
    cyclic_subdata,
    orthonormality_error,
    priority_graphs,
    sizes_of,
)

from ._sentences import Sentence, Sentences, document_of, samples_of

ORTHONORMAL = 1e-9
"""Embeddings whose Gram matrix is this close to the identity count as orthonormal."""

SMALLEST = 1e-60
"""Embeddings of this size and its inverse still have products within floating point."""

MOST_KNOWN = 20
"""Tokens that are listed where one is unknown."""


StructureT = TypeVar("StructureT", bound="Structure")


@dataclass(frozen=True, repr=False)
class Structure(Shown):
    """Training data and its token-priority graphs.

    Attributes:
        name: how reports call it.
        data: the distinct samples.
        embeddings: one row a token; None for an orthonormal family, where nothing depends on
            which one it is.
        initial_weights: W(0); None for zero.
        log_frequency: the logarithm of how often each sample occurs, up to a constant, where
            that is too skewed to be written as counts.
    """

    name: str
    data: TokenData
    embeddings: Float[np.ndarray, "tokens dimension"] | None = None
    initial_weights: Float[np.ndarray, "dimension dimension"] | None = None
    log_frequency: Float[np.ndarray, "samples"] | None = None

    @property
    def summary(self) -> str:
        """Its sizes, in a line."""
        return sizes_of(self.data)

    @classmethod
    def from_samples(
        cls: type[StructureT],
        name: str,
        sequences: Sequence[Sequence[Token]],
        labels: Sequence[Token],
        embeddings: Float[np.ndarray, "tokens dimension"] | None = None,
        initial_weights: Float[np.ndarray, "dimension dimension"] | None = None,
    ) -> StructureT:
        """Sequences with their next tokens; with embeddings, token i is row i.

        ``from_sentences`` takes the words of a user, and how often each sentence occurs.
        """
        rows = [
            (sequence, label, 1, f"sequence {i}")
            for i, (sequence, label) in enumerate(zip(sequences, labels, strict=True))
        ]
        vocabulary = None if embeddings is None else range(len(embeddings))
        return cls(name, TokenData.from_samples(rows, vocabulary), embeddings, initial_weights)

    @classmethod
    def from_sentences(cls: type[StructureT], name: str, sentences: Sentences) -> StructureT:
        """The last token of each sentence is the label of the rest.

        A sentence is a text with blanks between its tokens, or a list of them; a mapping says how
        often each sentence occurs.

        Examples:
            >>> dataset = Structure.from_sentences("mine", {"a b a": 1000, "b a b": 1})
            >>> dataset.data.total
            1001
        """
        return cls(name, samples_of(sentences))

    @classmethod
    def from_instance(cls: type[StructureT], name: str, instance: Instance) -> StructureT:
        """What a token file said; orthonormal embeddings are set aside once checked."""
        instance.check_shapes(name)
        embeddings, start = instance.embeddings, instance.initial_weights
        if embeddings is not None:
            largest = float(np.abs(embeddings).max())
            if not SMALLEST <= largest <= 1 / SMALLEST:
                raise InputError(
                    f"{name}: the largest entry of the embeddings is {largest:g}; scale them to "
                    f"between {SMALLEST:g} and {1 / SMALLEST:g}"
                )
        if start is None and embeddings is not None:
            orthonormal = orthonormality_error(embeddings) <= ORTHONORMAL
            embeddings = None if orthonormal else embeddings
        return cls(name, instance.data, embeddings, start, instance.log_frequencies)

    def document(self) -> dict[str, Any]:
        """What a JSON token file says about the same data."""
        return document_of(self.data, self.embeddings, self.initial_weights, self.log_frequency)

    def encode(self, words: Sentence) -> list[int]:
        """Tokens by name, for a prediction."""
        return encode(self.data, words, MOST_KNOWN)

    @cached_property
    def realizable(self) -> TokenData:
        """The samples whose label occurs in them; the others have no gradient (Section 3.3)."""
        kept = tuple(sample for sample in self.data.samples if sample.label in sample.tokens)
        return replace(self.data, samples=kept)

    def log_shares(self, data: TokenData) -> Float[np.ndarray, "samples"]:
        """The logarithm of the share of each sample, among all of them or the realizable ones."""
        if self.log_frequency is None:
            return np.log(data.frequencies)
        if len(data.samples) == len(self.data.samples):
            return normalized(self.log_frequency)
        kept = [sample.label in sample.tokens for sample in self.data.samples]
        return normalized(self.log_frequency[kept])

    @property
    def log_total(self) -> float:
        """log n: of the number of samples, or of the least at which the rarest occurs once."""
        if self.log_frequency is None:
            return float(np.log(self.data.total))
        return -float(normalized(self.log_frequency).min())

    @cached_property
    def graphs(self) -> NamedGraphs:
        """The token-priority graphs of the realizable samples, one per last token.

        By the number of the last token; by its name, a graph can be drawn and saved.
        """
        data = self.realizable
        labels = [frozenset({sample.label}) for sample in data.samples]
        return NamedGraphs(priority_graphs(data, labels), data.vocabulary)

    @property
    def acyclic(self) -> bool:
        """Definition 2."""
        return all(graph.acyclic for graph in self.graphs.values())

    @cached_property
    def cyclic(self) -> TokenData:
        """The cyclic subdata (Definition 1, Eq. 5)."""
        return cyclic_subdata(self.realizable, self.graphs)

    @cached_property
    def orthonormal(self) -> bool:
        """Whether the columns of W decouple."""
        return self.embeddings is None or orthonormality_error(self.embeddings) <= ORTHONORMAL

    @cached_property
    def E(self) -> Float[np.ndarray, "tokens dimension"]:
        """The embeddings; unit vectors stand for any orthonormal family."""
        return np.eye(self.data.size) if self.embeddings is None else self.embeddings

    @property
    def K(self) -> int:
        """The size of the vocabulary."""
        return self.data.size

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every edge (label, token) of every graph."""
        return [(query, edge) for query, graph in self.graphs.items() for edge in graph.edges]

    @cached_property
    def strict_pairs(self) -> list[Pair]:
        """The edges i => j of every graph."""
        return [(q, edge) for q, graph in self.graphs.items() for edge in graph.strict_edges]

    @cached_property
    def tied_pairs(self) -> list[Pair]:
        """Neighbours inside each component; their differences span S_cyc."""
        return [
            (query, edge)
            for query, graph in self.graphs.items()
            for component in graph.components
            for edge in pairwise(component)
        ]

    @cached_property
    def cells(self) -> dict[tuple[int, int], int]:
        """A number for each (token, query) that attention ever looks at."""
        return number_cells(self.realizable)

    @cached_property
    def cell_embeddings(self) -> tuple[Float[np.ndarray, "cells dimension"], ...]:
        """The embeddings of the token and of the query of each cell."""
        tokens, queries = zip(*self.cells, strict=True) if self.cells else ((), ())
        return self.E[list(tokens)], self.E[list(queries)]

    @cached_property
    def tied_tokens(self) -> list[frozenset[int]]:
        """The tokens of each realizable sample that are in its label's component."""
        found = []
        for sample in self.realizable.samples:
            component = self.graphs[sample.query].component_of
            own = component[sample.label]
            found.append(frozenset(t for t in sample.tokens if component[t] == own))
        return found

    @cached_property
    def tied_samples(self) -> list[int]:
        """I: which realizable samples hold another token of their label's component."""
        samples = self.realizable.samples
        return [i for i, tied in enumerate(self.tied_tokens) if tied - {samples[i].label}]

    @cached_property
    def log_tied_share(self) -> float:
        """log |I|/n: of the share of the samples with ties."""
        return float(np.logaddexp.reduce(self.log_shares(self.realizable)[self.tied_samples]))
