"""A dataset with the two limits that its graphs define, and what it breaks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.attention import Minimum, Risk, is_skewed, minimise, minimise_logits, normalized
from lemmata.margin import (
    GeneralizedMargin,
    MaxMargin,
    NuclearMargin,
    Status,
    embedded_max_margin,
    generalized_max_margin,
    max_margin,
    nuclear_max_margin,
    pair_rows,
    remove,
    span_basis,
)
from lemmata.tokens import Problem, Sample, TokenData

from ._correction import Correction, by_cell, in_span
from ._problems import (
    cycles,
    embedding_problems,
    labels_out_of_reach,
    limit_problems,
    shortened,
    start_problems,
)
from ._structure import Structure

Basis = Float[np.ndarray, "rank variables"]


@dataclass(frozen=True, repr=False)
class Dataset(Structure):
    """Training data, its token-priority graphs, and the limits that they define."""

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
    def nuclear(self) -> NuclearMargin:
        """The least nuclear norm under the constraints of Graph-SVM, for W = K Q^T."""
        return nuclear_max_margin(self.strict_pairs, self.tied_pairs, self.E)

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

    @property
    def feasible(self) -> bool:
        """Whether Graph-SVM has a solution."""
        return self.margin.status is not Status.INFEASIBLE

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

    @property
    def largest_logit(self) -> float:
        """That a matrix of norm 1 can give: the square of the longest embedding."""
        return float(np.max(np.sum(self.E**2, axis=1)))

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
