"""Appendix C.1: the risk of the log loss, its gradient, and how fast that changes."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy.special import softmax

from lemmata.claims import Bench, Comparisons, Version, at_most, equal, statements
from lemmata.settings import Evidence

from ..counterexamples import named
from ..experiments import (
    SAMPLE,
    At,
    generator_for,
    random_points,
    random_weights,
    softmax_of,
)
from ..setting import REALIZABLE, Dataset
from ._shared import Numbers, at_points, pairs_basis

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
    basis = pairs_basis(dataset)
    points = [At(dataset, np.zeros_like(dataset.target)), *random_points(dataset)]
    for at in points if len(basis) else ():
        top = float(at.curvature_roots(basis)[0] ** 2)
        yield top, getattr(dataset, constant), at.rounding, dataset.lipschitz


@claim(
    "equation-20/signed",
    "Appendix C.1, first line of Eq. (20) as printed",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ (1/n) Σ_i Σ_{t ∉ O_i} (s_it − ṡ_it) ‖(x_it − e_yi) x̄_i^T‖.",
    kind="misprint",
    versions=[
        Version(
            "repaired",
            where="ours: with absolute values, as its third line has them",
            statement="‖∇L(W) − ∇L(Ẇ)‖ ≤ (1/n) Σ_i Σ_{t ∉ O_i} |s_it − ṡ_it| ‖(x_it − e_yi) "
            "x̄_i^T‖.",
            parameters={"signed": False},
        )
    ],
)
@at_points(at_most, "size", part="change")
def equation_20_signed(dataset: Dataset, signed: bool = True) -> Numbers:
    """Both orders of each pair of weights, so that one of them has a negative right side."""
    matrices, risk = random_weights(dataset), dataset.risk
    cells = np.array(list(dataset.cells), dtype=int).reshape(-1, 2)[risk.cell]
    apart = dataset.E[cells[:, 0]] - dataset.E[cells[risk.label, 0]][risk.sample]
    lengths = np.linalg.norm(apart, axis=1) * np.linalg.norm(dataset.E[cells[:, 1]], axis=1)
    for pair in pairwise(matrices):
        for one, other in (pair, pair[::-1]):
            here, there = At(dataset, one), At(dataset, other)
            moved = (here.masses - there.masses) * risk.weight[risk.sample]
            moved = moved if signed else np.abs(moved)
            change = float(np.linalg.norm(here.gradient() - there.gradient()))
            yield change, float(np.sum(moved * lengths)), here.gradient_size + there.gradient_size


@claim(
    "equation-21/contraction",
    "Appendix C.1, Eq. (21), first step",
    "‖softmax(a) − softmax(b)‖ ≤ ‖a − b‖; half of it is enough.",
    hypotheses=(),
)
@at_points(at_most, "size", part="‖softmax(a) − softmax(b)‖, and ‖a − b‖/2")
def contraction(dataset: Dataset) -> Numbers:
    """Logits of the length of each sequence, near and far apart; two equal ones attain 1/2."""
    draw = generator_for(dataset, "contraction")
    for s in dataset.realizable.samples:
        for scale in (1e-3, 0.3, 5.0):
            a, move = draw.standard_normal((2, len(s.tokens)))
            here, there = softmax(a), softmax(a + scale * move)
            length = float(np.linalg.norm(here - there))
            yield length, scale * float(np.linalg.norm(move)) / 2, float(np.linalg.norm(here))
