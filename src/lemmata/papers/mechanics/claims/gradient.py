"""Appendix C.1 and C.2: the risk of the log loss, its gradient and its curvature."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from lemmata.claims import Bench, Comparisons, Version, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import named
from ..experiments import (
    SAMPLE,
    At,
    generator_for,
    project,
    random_points,
    random_weights,
    softmax_of,
)
from ..setting import REALIZABLE, Dataset
from ._shared import Numbers, at_points, sides, with_ties

claim = statements("mechanics", on=SAMPLE, hypotheses=(REALIZABLE,))

WIDEST = 12
"""The gradient is computed entry by entry up to this dimension."""


@claim(
    "equation-18",
    "Appendix C.1, Eq. (18)",
    "The risk of the log loss is the mean of −log Σ_{O_i} s_it.",
)
@at_points(equal, "size", "rounding", part="risk")
def equation_18(dataset: Dataset) -> Numbers:
    """Position by position against the log-domain risk of distinct tokens."""
    for at in random_points(dataset)[:8]:
        yield _plain_risk(dataset, at.weights), at.risk, 1 + at.risk, at.rounding


def _plain_risk(dataset: Dataset, weights: np.ndarray) -> Any:
    """As Eq. (18) writes it; also at complex weights, close to real ones."""
    total, samples = 0.0, dataset.realizable.samples
    for s, weight in zip(samples, dataset.risk.weight, strict=True):
        logits = dataset.E[list(s.tokens)] @ weights @ dataset.E[s.query]
        powers = np.exp(logits - logits.real.max())
        label = np.array(s.tokens) == s.label
        total -= weight * np.log(powers[label].sum() / powers.sum())
    return total


def _small(evidence: Evidence[Dataset]) -> Evidence[Dataset]:
    return evidence.where(lambda dataset: dataset.E.shape[1] <= WIDEST)


@claim(
    "equation-19",
    "Appendix C.1, Eq. (19) as printed",
    "∇L(W) = (1/n) Σ_i Σ_{t ∈ O_i} s_it (x_it − e_yi) x̄_i^T.",
    kind="misprint",
    versions=[
        Version(
            "repaired",
            where="ours: Eq. (19) over the complement of O_i, as the proof of Lemma 6 has it",
            statement="∇L(W) = (1/n) Σ_i Σ_{t ∉ O_i} s_it (x_it − e_yi) x̄_i^T.",
            parameters={"over": "others"},
        )
    ],
)
@at_points(equal, "size", "rounding", part="∇L", only=_small)
def equation_19(dataset: Dataset, over: Literal["label", "others"] = "label") -> Numbers:
    """By complex steps; on O_i x_it is e_yi, so the printed sum is 0, and the gradient is not."""
    for at in random_points(dataset)[:2]:
        gradient, step = at.gradient(), np.zeros(at.weights.shape, dtype=complex)
        formula = gradient if over == "others" else np.zeros_like(gradient)
        size = at.gradient_size
        for index in np.ndindex(*step.shape):
            step[index] = 1e-30j
            slope = float(np.imag(_plain_risk(dataset, at.weights + step))) / 1e-30
            step[index] = 0
            yield float(formula[index]), slope, size, at.rounding


@claim(
    "equation-21",
    "Appendix C.1, Eq. (21)",
    "‖s − ṡ‖ ≤ ‖X (W − Ẇ) x̄‖ ≤ ‖E‖² ‖W − Ẇ‖.",
    kind="constant",
    versions=[
        Version(
            "repaired",
            where="ours: without the middle, and with the best constant",
            statement="‖s − ṡ‖ ≤ (1/2) ‖E‖² ‖W − Ẇ‖.",
            parameters={"constant": 0.5, "middle": False},
        )
    ],
)
def equation_21(
    evidence: Evidence[Dataset], constant: float = 1.0, middle: bool = True
) -> Comparisons:
    """The second inequality fails for repeated tokens; the ends of the chain are right."""
    ends = _attention_changes(evidence, constant=constant)
    return [ends, _stretch(evidence)] if middle else ends


@at_points(at_most, size=1.0, part="change of attention")
def _attention_changes(dataset: Dataset, constant: float) -> Numbers:
    matrices = random_weights(dataset)
    size = float(np.linalg.norm(dataset.E, 2)) ** 2
    for W, noise in zip(matrices, matrices[::-1], strict=True):
        for scale in (1e-3, 0.3):
            move = size * scale * float(np.linalg.norm(noise))
            for s in dataset.realizable.samples:
                here = softmax_of(dataset, s.tokens, s.query, W)
                there = softmax_of(dataset, s.tokens, s.query, W + scale * noise)
                yield float(np.linalg.norm(here - there)), constant * move


@at_points(at_most, part="‖X D x̄‖ ≤ ‖E‖² ‖D‖ for the worst D")
def _stretch(dataset: Dataset) -> Numbers:
    """The most that ‖X D x̄‖/‖D‖ can be is ‖X‖ ‖x̄‖; copies of one token make ‖X‖ as large as √T."""
    size = float(np.linalg.norm(dataset.E, 2)) ** 2
    for s in dataset.realizable.samples:
        X = dataset.E[list(s.tokens)]
        yield float(np.linalg.norm(X, 2) * np.linalg.norm(dataset.E[s.query])), size


@claim(
    "equation-20",
    "Appendix C.1, Eq. (20)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ (2‖E‖²/n) Σ_i √T_i ‖s_i − ṡ_i‖.",
    by="attention",
)
@claim(
    "equation-22",
    "Appendix C.1, Eq. (22)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ 2 √T_max ‖E‖⁴ ‖W − Ẇ‖.",
    by="weights",
)
@at_points(at_most, "size", part="change")
def gradient_changes(dataset: Dataset, by: Literal["attention", "weights"]) -> Numbers:
    """Over random pairs of weights."""
    matrices = random_weights(dataset)
    for W, noise in zip(matrices, matrices[::-1], strict=True):
        other = W + 0.1 * noise
        slope, moved = At(dataset, W).gradient(), At(dataset, other).gradient()
        bound = dataset.lipschitz * 0.1 * float(np.linalg.norm(noise))
        if by == "attention":
            bound = _attention_bound(dataset, W, other)
        yield float(np.linalg.norm(slope - moved)), bound, float(np.linalg.norm(slope))


def _attention_bound(dataset: Dataset, W: np.ndarray, other: np.ndarray) -> float:
    """The right side of (20)."""
    size = float(np.linalg.norm(dataset.E, 2)) ** 2
    total, samples = 0.0, dataset.realizable.samples
    for s, weight in zip(samples, dataset.risk.weight, strict=True):
        here = softmax_of(dataset, s.tokens, s.query, W)
        there = softmax_of(dataset, s.tokens, s.query, other)
        total += weight * np.sqrt(len(s.tokens)) * float(np.linalg.norm(here - there))
    return 2 * size * total


def _pairs_basis(dataset: Dataset) -> np.ndarray:
    """A basis of the span of all pairs, outside of which the risk does not change."""
    return np.concatenate([dataset.bound_basis, dataset.free_basis])


def _two_tokens(bench: Bench) -> Comparisons:
    """One sample with two tokens: the Hessian at 0 attains the constant."""
    dataset = named("two-tokens", 2, [[0, 1]], [0])
    top = At(dataset, np.zeros((2, 2))).curvature_roots(dataset.free_basis)[0] ** 2
    return equal(top, dataset.lipschitz_tight, part="attained", cases=[dataset])


@claim(
    "equation-23",
    "Appendix C.1, Eq. (23)",
    "∇L is Lipschitz with L = 2 √T_max ‖E‖⁴: no curvature exceeds it.",
)
@claim(
    "own/tight-lipschitz",
    "ours; docs/mechanics.md",
    "∇L is Lipschitz with mean_i (1/4) max_{a,b ∈ X_i} ‖e_a − e_b‖² ‖x̄_i‖², which does not grow "
    "with T and is attained.",
    counterexample=_two_tokens,
    constant="lipschitz_tight",
)
@at_points(at_most, "rounding", "size", part="largest curvature")
def equation_23(
    dataset: Dataset, constant: Literal["lipschitz", "lipschitz_tight"] = "lipschitz"
) -> Numbers:
    """By the largest eigenvalue of the Hessian, at random W and at 0.

    It is a mean over samples, and rounds like the largest of them, however rare that is.
    """
    basis = _pairs_basis(dataset)
    points = [At(dataset, np.zeros_like(dataset.target)), *random_points(dataset)]
    for at in points if len(basis) else ():
        top = float(at.curvature_roots(basis)[0] ** 2)
        yield top, getattr(dataset, constant), at.rounding, dataset.lipschitz


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
        roots = At(dataset, W).curvature_roots(dataset.tied_basis, reduced)
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
    design = dataset.design(_pairs_basis(dataset))
    terms = float(np.sum(design**2, axis=1).max(initial=0.0))
    for at in random_points(dataset) if design.size else ():
        yield np.linalg.eigvalsh(dataset.risk.hessian(at.masses, design))[0], 0.0, terms


@at_points(
    at_least, "size", strict=True, part="root of the least curvature on S_cyc", only=with_ties
)
def _strictly_convex(dataset: Dataset) -> Numbers:
    for at in random_points(dataset)[:6]:
        roots = at.curvature_roots(dataset.tied_basis)
        yield roots[-1], 0.0, roots[0]


@claim(
    "own/strict-convexity",
    "ours",
    "The risk of the log loss is strictly convex on the span of all pairs, not only on S_cyc.",
)
@at_points(at_least, "size", strict=True, part="root of the least curvature")
def strict_convexity(dataset: Dataset) -> Numbers:
    """The square root of the Hessian has full rank there, at moderate W."""
    basis = _pairs_basis(dataset)
    for W in random_weights(dataset)[:2] if len(basis) else ():
        roots = At(dataset, 0.3 * W).curvature_roots(basis)
        yield roots[-1], 0.0, roots[0]
