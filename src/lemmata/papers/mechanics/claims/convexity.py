"""Appendix C.2: the curvature of the risk of the log loss."""

from itertools import pairwise
from typing import Literal

import numpy as np

from lemmata.claims import Comparisons, at_least, equal, repaired, statements
from lemmata.margin import pair_rows, span_basis
from lemmata.settings import Evidence

from ..experiments import EVEN, SAMPLE, At, generator_for, project, random_points, random_weights
from ..setting import REALIZABLE, Dataset
from ._shared import Numbers, at_points, pairs_basis, sides, with_ties

claim = statements("mechanics", on=SAMPLE, hypotheses=(REALIZABLE,))

SECOND = 1e-4
"""A step of second differences, whose error is of the order of its square."""


@claim(
    "equation-24",
    "Appendix C.2, Eq. (24)",
    "u^T ∇²ℓ(v) u = [(Σ z)(Σ u² z) − (Σ u z)²]/(Σ z)² ≥ 0, z_k = m_k e^{v_k}.",
    hypotheses=(),
)
def equation_24(evidence: Evidence[Dataset]) -> Comparisons:
    """As a variance, at random u and v; absent tokens have z = 0, which the proof forgets."""

    def values(dataset: Dataset) -> Numbers:
        draw = generator_for(dataset, "convexity")
        for s in dataset.realizable.samples:
            counts = np.array([s.tokens.count(k) for k in range(dataset.K)], dtype=float)
            z = counts * np.exp(3 * draw.standard_normal(dataset.K))
            u = draw.standard_normal(dataset.K)
            p = z / z.sum()
            printed = (z.sum() * (u**2 @ z) - (u @ z) ** 2) / z.sum() ** 2
            yield printed, p @ (u - p @ u) ** 2, u**2 @ p

    printed, variance, size = sides(evidence, values, 3)
    return [
        equal(printed, variance, size=size, part="as a variance"),
        at_least(printed, 0.0, size=size, part="≥ 0"),
    ]


@claim(
    "equation-25",
    "Appendix C.2, Eq. (25)",
    "No segment in S_cyc has the risk of its points equal to the average of its ends.",
)
@at_points(at_least, strict=True, part="average of the ends, and the middle", only=with_ties)
def equation_25(dataset: Dataset) -> Numbers:
    """At the middle of random segments, on datasets with ties."""
    for ends in pairwise(random_weights(dataset)[:6]):
        a, b = (project(dataset.tied_basis, W) for W in ends)
        average = (At(dataset, a).risk + At(dataset, b).risk) / 2
        yield average, At(dataset, (a + b) / 2).risk


@claim(
    "equation-26",
    "Appendix C.2, Eq. (26)",
    "A direction of S_cyc without curvature in any sample gives tied tokens equal logits, so it is "
    "0.",
)
@at_points(at_least, "size", strict=True, part="root of the least curvature", only=with_ties)
def equation_26(dataset: Dataset) -> Numbers:
    """The least curvature of the cyclic subdata's risk over unit directions of S_cyc, at some W."""
    reduced = dataset.risk.tied_only()
    for W in (np.zeros_like(dataset.target), *(0.3 * W for W in random_weights(dataset)[:3])):
        roots = At(dataset, W).curvature_roots(dataset.tied_basis, reduced, EVEN)
        yield roots[-1], 0.0, roots[0]


@claim(
    "lemma-3",
    "Section 5, Lemma 3",
    "The risk of the log loss is convex, and strictly convex on S_cyc.",
)
def lemma_3(evidence: Evidence[Dataset]) -> Comparisons:
    """By Hessians, as differences of terms; their square roots on S_cyc have full rank."""
    parts = [_convex(evidence)]
    return [*parts, _strictly_convex(evidence)] if len(with_ties(evidence)) else parts


@at_points(at_least, "size", part="curvature")
def _convex(dataset: Dataset) -> Numbers:
    design = dataset.design(pairs_basis(dataset))
    terms = float(np.sum(design**2, axis=1).max(initial=0.0))
    for at in random_points(dataset) if design.size else ():
        yield np.linalg.eigvalsh(dataset.risk.hessian(at.masses, design))[0], 0.0, terms


@at_points(
    at_least, "size", strict=True, part="root of the least curvature on S_cyc", only=with_ties
)
def _strictly_convex(dataset: Dataset) -> Numbers:
    for at in random_points(dataset)[:6]:
        roots = at.curvature_roots(dataset.tied_basis, faintest=EVEN)
        yield roots[-1], 0.0, roots[0]


@claim(
    "own/strict-convexity",
    "ours",
    "The risk of the log loss is strictly convex on the span of all pairs, not only on S_cyc.",
)
@at_points(at_least, "size", strict=True, part="root of the least curvature")
def strict_convexity(dataset: Dataset) -> Numbers:
    """The square root of the Hessian has full rank there, at moderate W."""
    basis = pairs_basis(dataset)
    for W in random_weights(dataset)[:2] if len(basis) else ():
        roots = At(dataset, 0.3 * W).curvature_roots(basis, faintest=EVEN)
        yield roots[-1], 0.0, roots[0]


def _terms(dataset: Dataset, number: int, purpose: str) -> tuple[np.ndarray, np.ndarray, int]:
    """m_k and random logits v of a sample, and its label."""
    sample, draw = dataset.realizable.samples[number], generator_for(dataset, purpose)
    counts = np.array([sample.tokens.count(k) for k in range(dataset.K)], dtype=float)
    return counts, 2 * draw.standard_normal(dataset.K), sample.label


@claim(
    "lemma-3/hessian",
    "Appendix C.2, proof of Lemma 3",
    "The Hessian of the loss in v is [(1^T z) diag(z) − z z^T] / (1^T z)².",
)
@at_points(equal, size=1.0, rounding=100 * SECOND**2, part="entries")
def lemma_3_hessian(dataset: Dataset) -> Numbers:
    """Against second derivatives: a complex step in one token, a difference in the other."""

    def slope(v: np.ndarray, k: int) -> float:
        moved = v.astype(complex)
        moved[k] += 1e-30j
        powers = counts * np.exp(moved)
        return float(np.imag(np.log(powers.sum()) - np.log(powers[label]))) / 1e-30

    for number in range(min(len(dataset.realizable.samples), 2)):
        counts, v, label = _terms(dataset, number, "hessian")
        z = counts * np.exp(v)
        printed = (z.sum() * np.diag(z) - np.outer(z, z)) / z.sum() ** 2
        for j in range(dataset.K):
            step = SECOND * np.eye(dataset.K)[j]
            for k in range(dataset.K):
                second = (slope(v + step, k) - slope(v - step, k)) / (2 * SECOND)
                yield printed[j, k], second


@claim(
    "lemma-3/equality",
    "Appendix C.2, after Eq. (24)",
    "All z_k are positive, so that u^T ∇²ℓ(v) u = 0 for constant u only.",
    kind="misprint",
    over="all",
    versions=[
        repaired(
            "u^T ∇²ℓ(v) u = 0 only for u that are constant on the tokens of the sequence.",
            where="ours: z_k = 0 for tokens that are not there",
            over="present",
        )
    ],
)
@at_points(at_least, strict=True, part="u^T ∇²ℓ u for a u that is not constant")
def lemma_3_equality(dataset: Dataset, over: Literal["all", "present"] = "all") -> Numbers:
    """u is 1 at one token and 0 at the others: of the vocabulary, or of the sequence."""
    for number in range(len(dataset.realizable.samples)):
        counts, v, _ = _terms(dataset, number, "equality")
        p = counts * np.exp(v)
        p /= p.sum()
        for k in range(dataset.K):
            if dataset.K > 1 and (over == "all" or (counts[k] and (counts > 0).sum() > 1)):
                yield p[k] * (p.sum() - p[k]), 0.0


@claim(
    "lemma-3/one-component",
    "Appendix C.2, proof of Lemma 3",
    "For W in S_cyc, the part in the span of one component alone gives its tokens the same "
    "differences of logits.",
)
@at_points(equal, "size", part="differences of logits", only=with_ties)
def one_component(dataset: Dataset) -> Numbers:
    """Random W in S_cyc: the differences lie in that span, whatever the embeddings are."""
    for W in random_weights(dataset)[:2]:
        inside = project(dataset.tied_basis, W).ravel()
        for query, graph in dataset.graphs.items():
            for tied in graph.components:
                if len(tied) < 2:
                    continue
                rows = pair_rows([(query, edge) for edge in pairwise(tied)], dataset.E)
                basis = span_basis(rows)
                alone = (basis @ inside) @ basis
                size = float(np.linalg.norm(rows) * np.linalg.norm(inside))
                for row in rows:
                    yield float(row @ alone), float(row @ inside), size
