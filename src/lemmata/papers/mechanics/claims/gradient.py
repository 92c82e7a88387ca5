"""Appendix C.1 and C.2: the risk of the log loss, its gradient and its curvature."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from lemmata.claims import Bench, Comparisons, Version, at_least, at_most, equal
from lemmata.settings import Evidence

from ..counterexamples import named
from ..experiments import SAMPLE, At, generator_for, project, random_weights, softmax_of
from ..setting import REALIZABLE, Dataset
from ._shared import claim, sides, with_ties

WIDEST = 12
"""The gradient is computed entry by entry up to this dimension."""


@claim(
    "equation-18",
    "Appendix C.1, Eq. (18)",
    "The risk of the log loss is the mean of −log Σ_{O_i} s_it.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_18(evidence: Evidence[Dataset]) -> Comparisons:
    """Position by position against the log-domain risk of distinct tokens."""

    def risks(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        for W in random_weights(dataset)[:8]:
            at = At(dataset, W)
            yield _plain_risk(dataset, W), at.risk, at.rounding

    left, right, rounding = sides(evidence, risks, 3)
    return equal(left, right, size=1 + right, rounding=rounding, part="risk")


def _plain_risk(dataset: Dataset, weights: np.ndarray) -> Any:
    """As Eq. (18) writes it; also at complex weights, close to real ones."""
    total = 0.0
    for s in dataset.realizable.samples:
        logits = dataset.E[list(s.tokens)] @ weights @ dataset.E[s.query]
        powers = np.exp(logits - logits.real.max())
        label = np.array(s.tokens) == s.label
        total -= s.count * np.log(powers[label].sum() / powers.sum())
    return total / dataset.realizable.total


@claim(
    "equation-19",
    "Appendix C.1, Eq. (19) as printed",
    "∇L(W) = (1/n) Σ_i Σ_{t ∈ O_i} s_it (x_it − e_yi) x̄_i^T.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
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
def equation_19(
    evidence: Evidence[Dataset], over: Literal["label", "others"] = "label"
) -> Comparisons:
    """By complex steps; on O_i x_it is e_yi, so the printed sum is 0, and the gradient is not."""

    def gradients(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        for W in random_weights(dataset)[:2]:
            at, step = At(dataset, W), np.zeros(W.shape, dtype=complex)
            formula = at.gradient() if over == "others" else np.zeros_like(W)
            size = float(np.linalg.norm(at.gradient()))
            for index in np.ndindex(*W.shape):
                step[index] = 1e-30j
                slope = float(np.imag(_plain_risk(dataset, W + step))) / 1e-30
                step[index] = 0
                yield float(formula[index]), slope, size, at.rounding

    small = evidence.where(lambda dataset: dataset.E.shape[1] <= WIDEST)
    left, right, size, rounding = sides(small, gradients, 4)
    return equal(left, right, size=size, rounding=rounding, part="∇L", cases=small.cases)


def _eight_copies(bench: Bench) -> Comparisons:
    """Eight copies of one token: ‖X D x̄‖ = √8 ‖D‖ while ‖E‖² ‖D‖ = ‖D‖."""
    dataset = named("eight-copies", 2, [[0] * 8], [0])
    X, D = dataset.E[[0] * 8], np.array([[1.0, 0.0], [0.0, 0.0]])
    left = np.linalg.norm(X @ D @ dataset.E[0])
    right = np.linalg.norm(dataset.E, 2) ** 2 * np.linalg.norm(D)
    return at_most(left, right, part="‖X D x̄‖ ≤ ‖E‖² ‖D‖", cases=[dataset])


@claim(
    "equation-21",
    "Appendix C.1, Eq. (21)",
    "‖s − ṡ‖ ≤ ‖X (W − Ẇ) x̄‖ ≤ ‖E‖² ‖W − Ẇ‖.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
    kind="constant",
    counterexample=_eight_copies,
    versions=[
        Version(
            "repaired",
            where="ours: without the middle, and with the best constant",
            statement="‖s − ṡ‖ ≤ (1/2) ‖E‖² ‖W − Ẇ‖.",
            parameters={"constant": 0.5},
        )
    ],
)
def equation_21(evidence: Evidence[Dataset], constant: float = 1.0) -> Comparisons:
    """The second inequality fails for repeated tokens; the ends of the chain are right."""

    def steps(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        matrices = random_weights(dataset)
        size = float(np.linalg.norm(dataset.E, 2)) ** 2
        for W, noise in zip(matrices, matrices[::-1], strict=True):
            for scale in (1e-3, 0.3):
                move = size * scale * float(np.linalg.norm(noise))
                for s in dataset.realizable.samples:
                    here, there = (
                        softmax_of(dataset, list(s.tokens), s.query, V)
                        for V in (W, W + scale * noise)
                    )
                    yield float(np.linalg.norm(here - there)), constant * move

    change, bound = sides(evidence, steps)
    return at_most(change, bound, size=1.0, part="change of attention")


def _gradient_steps(evidence: Evidence[Dataset]) -> tuple[np.ndarray, ...]:
    """For pairs W, Ẇ: ‖∇L − ∇L̇‖, the right sides of (20) and (22), and ‖∇L‖."""

    def steps(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        size = float(np.linalg.norm(dataset.E, 2)) ** 2
        matrices = random_weights(dataset)
        for W, noise in zip(matrices, matrices[::-1], strict=True):
            other = W + 0.1 * noise
            total = 0.0
            for s in dataset.realizable.samples:
                here = softmax_of(dataset, list(s.tokens), s.query, W)
                there = softmax_of(dataset, list(s.tokens), s.query, other)
                total += s.count * np.sqrt(len(s.tokens)) * float(np.linalg.norm(here - there))
            slope, moved = At(dataset, W).gradient(), At(dataset, other).gradient()
            yield (
                float(np.linalg.norm(slope - moved)),
                2 * size * total / dataset.realizable.total,
                dataset.lipschitz * 0.1 * float(np.linalg.norm(noise)),
                float(np.linalg.norm(slope)),
            )

    return sides(evidence, steps, 4)


@claim(
    "equation-20",
    "Appendix C.1, Eq. (20)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ (2‖E‖²/n) Σ_i √T_i ‖s_i − ṡ_i‖.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_20(evidence: Evidence[Dataset]) -> Comparisons:
    """Over random pairs of weights."""
    change, bound, _, size = _gradient_steps(evidence)
    return at_most(change, bound, size=size, part="change")


@claim(
    "equation-22",
    "Appendix C.1, Eq. (22)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ 2 √T_max ‖E‖⁴ ‖W − Ẇ‖.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_22(evidence: Evidence[Dataset]) -> Comparisons:
    """Over random pairs of weights."""
    change, _, bound, size = _gradient_steps(evidence)
    return at_most(change, bound, size=size, part="change")


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
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
@claim(
    "own/tight-lipschitz",
    "ours; docs/mechanics.md",
    "∇L is Lipschitz with mean_i (1/4) max_{a,b ∈ X_i} ‖e_a − e_b‖² ‖x̄_i‖², which does not grow "
    "with T and is attained.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
    counterexample=_two_tokens,
    constant="lipschitz_tight",
)
def equation_23(
    evidence: Evidence[Dataset], constant: Literal["lipschitz", "lipschitz_tight"] = "lipschitz"
) -> Comparisons:
    """By the largest eigenvalue of the Hessian, at random W and at 0."""

    def curvatures(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        basis = _pairs_basis(dataset)
        for W in (np.zeros_like(dataset.target), *random_weights(dataset)):
            if len(basis):
                at = At(dataset, W)
                top = float(at.curvature_roots(basis)[0] ** 2)
                yield top, getattr(dataset, constant), at.rounding

    top, bound, rounding = sides(evidence, curvatures, 3)
    return at_most(top, bound, rounding=rounding, part="largest curvature")


@claim(
    "equation-24",
    "Appendix C.2, Eq. (24)",
    "u^T ∇²ℓ(v) u = [(Σ z)(Σ u² z) − (Σ u z)²]/(Σ z)² ≥ 0, z_k = m_k e^{v_k}.",
    on=SAMPLE,
)
def equation_24(evidence: Evidence[Dataset]) -> Comparisons:
    """As a variance, at random u and v; absent tokens have z = 0, which the proof forgets."""

    def values(dataset: Dataset) -> Iterator[tuple[float, ...]]:
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
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_25(evidence: Evidence[Dataset]) -> Comparisons:
    """At the middle of random segments, on datasets with ties."""

    def risks(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        for ends in pairwise(random_weights(dataset)[:6]):
            a, b = (project(dataset.tied_basis, W) for W in ends)
            average = (At(dataset, a).risk + At(dataset, b).risk) / 2
            yield average, At(dataset, (a + b) / 2).risk

    some = with_ties(evidence)
    average, middle = sides(some, risks)
    part = "average of the ends, and the middle"
    return at_least(average, middle, strict=True, part=part, cases=some.cases)


@claim(
    "equation-26",
    "Appendix C.2, Eq. (26)",
    "A direction of S_cyc without curvature in any sample gives tied tokens equal logits, so it is "
    "0.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def equation_26(evidence: Evidence[Dataset]) -> Comparisons:
    """The least curvature of the cyclic subdata's risk over unit directions of S_cyc, at W = 0."""

    def curvature(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        at = At(dataset, np.zeros_like(dataset.target))
        roots = at.curvature_roots(dataset.tied_basis, dataset.risk.tied_only())
        yield roots[-1], roots[0]

    some = with_ties(evidence)
    least, size = sides(some, curvature)
    part = "root of the least curvature"
    return at_least(least, 0.0, strict=True, size=size, part=part, cases=some.cases)


@claim(
    "lemma-3",
    "Section 5, Lemma 3",
    "The risk of the log loss is convex, and strictly convex on S_cyc.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def lemma_3(evidence: Evidence[Dataset]) -> Comparisons:
    """By Hessians, as differences of terms; their square roots on S_cyc have full rank."""

    def everywhere(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        design = dataset.design(_pairs_basis(dataset))
        terms = float(np.sum(design**2, axis=1).max(initial=0.0))
        for W in random_weights(dataset) if design.size else ():
            hessian = dataset.risk.hessian(At(dataset, W).masses, design)
            yield np.linalg.eigvalsh(hessian)[0], terms

    def tied(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        for W in random_weights(dataset)[:6]:
            roots = At(dataset, W).curvature_roots(dataset.tied_basis)
            yield roots[-1], roots[0]

    least, terms = sides(evidence, everywhere)
    parts = [at_least(least, 0.0, size=terms, part="curvature")]
    some = with_ties(evidence)
    if len(some):
        least, largest = sides(some, tied)
        part = "root of the least curvature on S_cyc"
        parts.append(at_least(least, 0.0, strict=True, size=largest, part=part, cases=some.cases))
    return parts


@claim(
    "own/strict-convexity",
    "ours",
    "The risk of the log loss is strictly convex on the span of all pairs, not only on S_cyc.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
def strict_convexity(evidence: Evidence[Dataset]) -> Comparisons:
    """The square root of the Hessian has full rank there, at moderate W."""

    def curvature(dataset: Dataset) -> Iterator[tuple[float, ...]]:
        basis = _pairs_basis(dataset)
        for W in random_weights(dataset)[:2] if len(basis) else ():
            roots = At(dataset, 0.3 * W).curvature_roots(basis)
            yield roots[-1], roots[0]

    least, largest = sides(evidence, curvature)
    return at_least(least, 0.0, strict=True, size=largest, part="root of the least curvature")
