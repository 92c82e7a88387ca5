"""A dataset with everything that the paper reads off it: graphs, ties, and the two limits."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.margin import (
    GeneralizedMargin,
    MaxMargin,
    Pair,
    Status,
    embedded_max_margin,
    generalized_max_margin,
    max_margin,
    pair_rows,
    span_basis,
)
from lemmata.margin._subspace import remove
from lemmata.tokens import (
    Instance,
    PriorityGraph,
    Problem,
    Sample,
    Token,
    TokenData,
    cyclic_subdata,
    orthonormality_error,
    priority_graphs,
)
from lemmata.training import Minimum, Risk, minimise, minimise_logits

ORTHONORMAL = 1e-9
"""Embeddings whose Gram matrix is this close to the identity count as orthonormal."""

SMALLEST = 1e-60
"""Embeddings of this size and its inverse still have products within floating point."""

MOST_PROBLEMS = 1_000
"""Problems of one kind that are listed one by one."""

Basis = Float[np.ndarray, "rank variables"]


@dataclass(frozen=True)
class Correction:
    """W^cyc, the finite limit inside the space of ties (Definition 3).

    Attributes:
        entries: by (token, query), for orthonormal embeddings.
        matrix: for general embeddings.
        gradient_norm: of the risk of the cyclic subdata; 0 would be exact.
    """

    norm: float
    gradient_norm: float
    entries: dict[tuple[int, int], float]
    matrix: Float[np.ndarray, "dimension dimension"] | None = None


@dataclass(frozen=True)
class Dataset:
    """Training data, its token-priority graphs, and the limits that they define.

    Attributes:
        name: how reports call it.
        data: the distinct samples.
        embeddings: one row a token; None for an orthonormal family, where nothing depends on
            which one it is.
        initial_weights: W(0); None for zero.
    """

    name: str
    data: TokenData
    embeddings: Float[np.ndarray, "tokens dimension"] | None = None
    initial_weights: Float[np.ndarray, "dimension dimension"] | None = None

    @classmethod
    def from_samples(
        cls,
        name: str,
        sequences: Sequence[Sequence[Token]],
        labels: Sequence[Token],
        embeddings: Float[np.ndarray, "tokens dimension"] | None = None,
        initial_weights: Float[np.ndarray, "dimension dimension"] | None = None,
    ) -> "Dataset":
        """Sequences with their next tokens; with embeddings, token i is row i."""
        rows = [
            (sequence, label, 1, f"sequence {i}")
            for i, (sequence, label) in enumerate(zip(sequences, labels, strict=True))
        ]
        vocabulary = None if embeddings is None else range(len(embeddings))
        return cls(name, TokenData.from_samples(rows, vocabulary), embeddings, initial_weights)

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
        if embeddings is not None and orthonormality_error(embeddings) > ORTHONORMAL:
            return cls(name, instance.data, embeddings, start)
        return cls(name, instance.data, None if start is None else embeddings, start)

    @cached_property
    def realizable(self) -> TokenData:
        """The samples whose label occurs in them; the others have no gradient (Section 3.3)."""
        kept = tuple(sample for sample in self.data.samples if sample.label in sample.tokens)
        return replace(self.data, samples=kept)

    @cached_property
    def graphs(self) -> dict[int, PriorityGraph]:
        """The token-priority graphs of the realizable samples, one per last token."""
        data = self.realizable
        return priority_graphs(data, [frozenset({sample.label}) for sample in data.samples])

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
        index: dict[tuple[int, int], int] = {}
        for sample in self.realizable.samples:
            for token in sorted(set(sample.tokens)):
                index.setdefault((token, sample.query), len(index))
        return index

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
        return Risk.of(self.realizable, self.cells, self.bound_tokens)

    @cached_property
    def cyclic_risk(self) -> Risk:
        """The risk of the cyclic subdata; samples that are the same once reduced count together."""
        merged: Counter[tuple[int, tuple[int, ...], int]] = Counter()
        for sample in self.cyclic.samples:
            merged[sample.query, tuple(sorted(sample.tokens)), sample.label] += sample.count
        samples = tuple(
            Sample(tokens, label, count, asked_by=query)
            for (query, tokens, label), count in merged.items()
        )
        data = TokenData(self.data.vocabulary, samples)
        return Risk.of(data, self.cells, [frozenset(sample.tokens) for sample in samples])

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
        tokens = self.E[[token for token, _ in self.cells]]
        queries = self.E[[query for _, query in self.cells]]
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
            return self._by_cell(minimise_logits(reduced))
        directions = basis()
        found = minimise(reduced, self.design(directions))
        matrix = (found.point @ directions).reshape(2 * (self.E.shape[1],))
        return Correction(float(np.linalg.norm(matrix)), found.gradient_norm, {}, matrix)

    def _by_cell(self, found: Minimum) -> Correction:
        """The entries of tied tokens; orthonormal embeddings have one variable a cell."""
        entries: dict[tuple[int, int], float] = {}
        for query, graph in self.graphs.items():
            for component in graph.components:
                if len(component) > 1:
                    cells = [(token, query) for token in component]
                    values = found.point[[self.cells[cell] for cell in cells]].tolist()
                    entries.update(zip(cells, values, strict=True))
        norm = float(np.sqrt(sum(value * value for value in entries.values())))
        return Correction(norm, found.gradient_norm, entries)

    def dense(self, correction: Correction) -> Float[np.ndarray, "dimension dimension"]:
        """A finite limit as a matrix."""
        if correction.matrix is not None:
            return correction.matrix
        matrix = np.zeros((self.K, self.K))
        for cell, value in correction.entries.items():
            matrix[cell] = value
        return matrix

    @cached_property
    def lipschitz(self) -> float:
        """L = 2 sqrt(T_max) |E|^4 (Eq. 23)."""
        size = 1.0 if self.embeddings is None else float(np.linalg.norm(self.embeddings, 2))
        return 2 * float(np.sqrt(max(self.data.longest_input, 1))) * size**4

    @cached_property
    def lipschitz_tight(self) -> float:
        """mean_i (1/4) max_ab |e_a - e_b|^2 |xbar_i|^2, which bounds the Hessian as well."""
        E, total = self.embeddings, 0.0
        for sample, weight in zip(
            self.realizable.samples, self.realizable.frequencies, strict=True
        ):
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

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Every assumption of the paper that the data breaks, with the sample at fault."""
        return tuple(
            problem
            for kind in (
                self._unrealizable(),
                self._cycles(),
                self._embedding_problems(),
                self._limit_problems(),
            )
            for problem in _shorten(kind)
        )

    def _unrealizable(self) -> list[Problem]:
        name = self.data.name
        return [
            Problem(
                "label_not_in_sequence",
                sample.source,
                f"the label {name(sample.label)!r} does not occur in its sequence: Assumption 2 is "
                "broken, and with the identity head attention learns nothing from this sample",
            )
            for sample in self.data.samples
            if sample.label not in sample.tokens
        ]

    def _cycles(self) -> list[Problem]:
        name, samples = self.data.name, self.realizable.samples
        found = []
        for query, graph in self.graphs.items():
            walk = graph.cycle()
            if walk is not None:
                sources = dict.fromkeys(samples[graph.evidence[e]].source for e in pairwise(walk))
                found.append(
                    Problem(
                        "cyclic",
                        f"last token {name(query)}; {', '.join(sources)}",
                        f"{' beats '.join(map(name, walk))}: these tokens are tied, so the data is "
                        "not acyclic (Definition 2) and W^cyc decides between them",
                    )
                )
        return found

    def _embedding_problems(self) -> list[Problem]:
        if self.embeddings is None:
            return []
        rank = int(np.linalg.matrix_rank(self.embeddings))
        found = []
        if rank < self.K:
            message = (
                f"the {self.K} embeddings span {rank} dimensions only, so no head has C E^T = I: "
                "Assumption 4 is broken"
            )
            found.append(Problem("embeddings_dependent", "embeddings", message))
        if not self.orthonormal:
            message = "the embeddings are not orthonormal, so the columns of W do not decouple"
            found.append(Problem("embeddings_not_orthonormal", "embeddings", message))
        return found

    def _limit_problems(self) -> list[Problem]:
        found = []
        if self.margin.status is Status.INFEASIBLE:
            message = (
                "Graph-SVM is infeasible: the embeddings cannot give every label a larger logit "
                "than the tokens it beats"
            )
            found.append(Problem("infeasible", "embeddings", message))
        if self.margin.status is Status.ZERO:
            message = "no token strictly beats another: W^mm is 0 and training stays finite"
            found.append(Problem("max_margin_zero", "all samples", message))
        return found


def _shorten(problems: list[Problem]) -> list[Problem]:
    """The first of many problems of one kind, and how many more there are."""
    if len(problems) <= MOST_PROBLEMS:
        return problems
    more = Counter(problem.code for problem in problems[MOST_PROBLEMS:])
    return problems[:MOST_PROBLEMS] + [
        Problem(code, "further samples", f"and {count:,} more like these")
        for code, count in more.items()
    ]
