"""A dataset with everything that the paper reads off it: graphs, ties, and the two limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.attention import number_cells
from lemmata.drawing import NamedGraphs
from lemmata.margin import (
    GeneralizedMargin,
    MaxMargin,
    Pair,
    Status,
    embedded_max_margin,
    generalized_max_margin,
    max_margin,
    pair_rows,
    remove,
    span_basis,
)
from lemmata.settings import encode
from lemmata.tokens import (
    Instance,
    Problem,
    Sample,
    Token,
    TokenData,
    cyclic_subdata,
    orthonormality_error,
    priority_graphs,
)

from ._minimise import (
    Correction,
    Minimum,
    by_cell,
    in_span,
    is_skewed,
    minimise,
    minimise_logits,
)
from ._problems import (
    cycles,
    embedding_problems,
    labels_out_of_reach,
    limit_problems,
    shortened,
    start_problems,
)
from ._risk import Risk, normalized
from ._sentences import Sentence, Sentences, document_of, samples_of

ORTHONORMAL = 1e-9
"""Embeddings whose Gram matrix is this close to the identity count as orthonormal."""

SMALLEST = 1e-60
"""Embeddings of this size and its inverse still have products within floating point."""

MOST_KNOWN = 20
"""Tokens that are listed where one is unknown."""

Basis = Float[np.ndarray, "rank variables"]


@dataclass(frozen=True)
class Dataset:
    """Training data, its token-priority graphs, and the limits that they define.

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

    @classmethod
    def from_samples(
        cls,
        name: str,
        sequences: Sequence[Sequence[Token]],
        labels: Sequence[Token],
        embeddings: Float[np.ndarray, "tokens dimension"] | None = None,
        initial_weights: Float[np.ndarray, "dimension dimension"] | None = None,
    ) -> "Dataset":
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
    def from_sentences(cls, name: str, sentences: Sentences) -> "Dataset":
        """The last token of each sentence is the label of the rest.

        A sentence is a text with blanks between its tokens, or a list of them; a mapping says how
        often each sentence occurs.

        Examples:
            >>> dataset = Dataset.from_sentences("mine", {"a b a": 1000, "b a b": 1})
            >>> dataset.data.total
            1001
        """
        return cls(name, samples_of(sentences))

    @classmethod
    def from_instance(cls, name: str, instance: Instance) -> "Dataset":
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
    def margin(self) -> MaxMargin:
        """W^mm, the solution of Graph-SVM, in token coordinates or as a matrix."""
        if self.embeddings is None:
            return max_margin(self.graphs, self.K, ties=True)
        return embedded_max_margin(self.graphs, self.embeddings, ties=True)

    @cached_property
    def generalized(self) -> GeneralizedMargin:
        """What is separable, and the direction that training follows when not everything is."""
        return generalized_max_margin(self.pairs, self.E)

    @cached_property
    def target(self) -> Float[np.ndarray, "dimension dimension"]:
        """The direction that training follows: W^mm, or its generalization."""
        weights = (self.margin if self.feasible else self.generalized.margin).weights
        assert weights is not None
        return weights

    @cached_property
    def norm(self) -> float:
        """||W^mm||, NaN if Graph-SVM is infeasible."""
        return float("nan") if self.margin.norm is None else self.margin.norm

    @cached_property
    def cells(self) -> dict[tuple[int, int], int]:
        """A number for each (token, query) that attention ever looks at."""
        return number_cells(self.realizable)

    @cached_property
    def cell_embeddings(self) -> tuple[Float[np.ndarray, "cells dimension"], ...]:
        """The embeddings of the token and of the query of each cell."""
        tokens, queries = zip(*self.cells, strict=True) if self.cells else ((), ())
        return self.E[list(tokens)], self.E[list(queries)]

    @property
    def feasible(self) -> bool:
        """Whether Graph-SVM has a solution."""
        return self.margin.status is not Status.INFEASIBLE

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
    def bound_tokens(self) -> list[frozenset[int]]:
        """The tokens of each realizable sample that training does not separate from its label."""
        if self.feasible:
            return self.tied_tokens
        bound = set(self.generalized.bound)
        return [
            frozenset(t for t in s.tokens if (s.query, (s.label, t)) in bound)
            for s in self.realizable.samples
        ]

    @cached_property
    def risk(self) -> Risk:
        """The log-loss risk of the realizable samples, in the logits of the cells."""
        data = self.realizable
        return Risk.of(data, self.cells, self.bound_tokens, self.log_shares(data))

    @cached_property
    def tied_samples(self) -> list[int]:
        """I: which realizable samples hold another token of their label's component."""
        samples = self.realizable.samples
        return [i for i, tied in enumerate(self.tied_tokens) if tied - {samples[i].label}]

    @cached_property
    def log_tied_share(self) -> float:
        """log |I|/n: of the share of the samples with ties."""
        return float(np.logaddexp.reduce(self.log_shares(self.realizable)[self.tied_samples]))

    @cached_property
    def cyclic_risk(self) -> Risk:
        """The risk of the cyclic subdata; samples that are the same once reduced count together."""
        merged: dict[tuple[int, tuple[int, ...], int], float] = {}
        weights = self.log_shares(self.realizable)[self.tied_samples]
        for sample, weight in zip(self.cyclic.samples, weights, strict=True):
            key = sample.query, tuple(sorted(sample.tokens)), sample.label
            merged[key] = float(np.logaddexp(merged.get(key, -np.inf), weight))
        samples = tuple(Sample(tokens, label, asked_by=q) for q, tokens, label in merged)
        data = TokenData(self.data.vocabulary, samples)
        tied = [frozenset(sample.tokens) for sample in samples]
        return Risk.of(data, self.cells, tied, normalized(np.array(list(merged.values()))))

    @cached_property
    def tied_basis(self) -> Basis:
        """An orthonormal basis of S_cyc."""
        return span_basis(pair_rows(self.tied_pairs, self.E))

    @cached_property
    def bound_basis(self) -> Basis:
        """The same for the pairs that training cannot separate; S_cyc if Graph-SVM is feasible."""
        if self.feasible:
            return self.tied_basis
        return span_basis(pair_rows(self.generalized.bound, self.E))

    @cached_property
    def free_basis(self) -> Basis:
        """An orthonormal basis of the rest of the span of all pairs."""
        return span_basis(remove(pair_rows(self.pairs, self.E), self.bound_basis))

    def design(self, basis: Basis) -> Float[np.ndarray, "cells rank"]:
        """The logit that each basis matrix gives to each cell."""
        tokens, queries = self.cell_embeddings
        matrices = basis.reshape(-1, self.E.shape[1], self.E.shape[1])
        return np.einsum("cd,rde,ce->cr", tokens, matrices, queries)

    @cached_property
    def correction(self) -> Correction:
        """W^cyc (Definition 3)."""
        return self._finite_limit(self.cyclic_risk, lambda: self.tied_basis)

    @cached_property
    def finite_part(self) -> Correction:
        """The limit inside the bound pairs: W^cyc, if Graph-SVM is feasible."""
        if self.feasible:
            return self.correction
        return self._finite_limit(self.risk.tied_only(), lambda: self.bound_basis)

    def _finite_limit(self, reduced: Risk, basis: Callable[[], Basis]) -> Correction:
        """The minimiser of the risk of the tied tokens alone."""
        if self.embeddings is None:
            return by_cell(minimise_logits(reduced), self.graphs, self.cells)
        directions = basis()
        if not is_skewed(reduced):
            return in_span(minimise(reduced, self.design(directions)), directions)
        if self.broken("embeddings_dependent"):
            raise InputError(
                f"{self.name}: frequencies as skewed as these need linearly independent "
                "embeddings, where the logits of tied tokens are free"
            )
        return in_span(self._with_logits(minimise_logits(reduced), directions), directions)

    def _with_logits(self, wanted: Minimum, basis: Basis) -> Minimum:
        """The point in S_cyc at which tied tokens differ as they do among the wanted logits."""
        rows = pair_rows(self.tied_pairs, self.E) @ basis.T
        apart = [
            wanted.point[self.cells[a, q]] - wanted.point[self.cells[b, q]]
            for q, (a, b) in self.tied_pairs
        ]
        return Minimum(np.linalg.solve(rows, np.array(apart)), wanted.gradient_norm)

    def dense(self, correction: Correction) -> Float[np.ndarray, "dimension dimension"]:
        """A finite limit as a matrix."""
        return correction.dense(self.K)

    @cached_property
    def W_mm(self) -> Float[np.ndarray, "dimension dimension"]:
        """W^mm as a matrix (by token and query, for orthonormal embeddings); NaN if there is none.

        ``margin`` is the same with its certificate.
        """
        size = self.E.shape[1]
        weights = self.margin.weights
        return np.full((size, size), np.nan) if weights is None else weights

    @cached_property
    def W_cyc(self) -> Float[np.ndarray, "dimension dimension"]:
        """W^cyc as a matrix; ``correction`` is the same with the gradient that is left."""
        return self.dense(self.correction)

    @cached_property
    def lipschitz(self) -> float:
        """L = 2 sqrt(T_max) |E|^4 (Eq. 23)."""
        size = 1.0 if self.embeddings is None else float(np.linalg.norm(self.embeddings, 2))
        return 2 * float(np.sqrt(max(self.data.longest_input, 1))) * size**4

    @cached_property
    def lipschitz_tight(self) -> float:
        """mean_i (1/4) max_ab |e_a - e_b|^2 |xbar_i|^2, which bounds the Hessian as well."""
        E, total = self.embeddings, 0.0
        shares = np.exp(self.log_shares(self.realizable))
        for sample, weight in zip(self.realizable.samples, shares, strict=True):
            tokens = sorted(set(sample.tokens))
            if E is None:
                total += weight * (0.5 if len(tokens) > 1 else 0.0)
                continue
            x = E[tokens]
            squares = np.sum((x[:, None] - x[None]) ** 2, axis=2)
            total += weight * float(squares.max()) / 4 * float(E[sample.query] @ E[sample.query])
        return total

    def broken(self, *codes: str) -> list[Problem]:
        """The problems with one of these codes."""
        return [problem for problem in self.problems if problem.code in codes]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every assumption of the paper that the data breaks, with the sample at fault."""
        return self._problems

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        return shortened(
            (
                labels_out_of_reach(self.data),
                cycles(self.realizable, self.graphs),
                embedding_problems(self.embeddings, self.orthonormal),
                limit_problems(self.margin.status),
                start_problems(self.initial_weights),
            )
        )
