"""Appendix C.1 and C.2: the risk of the log loss, its gradient and its curvature."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, fact
from lemmata.papers.mechanics.claims._terms import (
    ASSUMPTION_2,
    ASSUMPTION_4,
    at_most_zero,
    claim,
    judge,
    over,
    with_ties,
)
from lemmata.papers.mechanics.evidence import Structures
from lemmata.papers.mechanics.experiments import (
    SAMPLE,
    witness,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

LOG_LOSS = (ASSUMPTION_2,)


@claim(
    "equation-17",
    "Appendix C.1, Eq. (17)",
    "With C E^T = I the score of a token is 1 for the label and 0 otherwise.",
    assumes=(ASSUMPTION_4,),
    on=SAMPLE,
    sharpened="1 for every token",
)
def equation_17(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """With C = pinv(E)^T, over the tokens of every sample."""

    def errors(dataset: "Dataset") -> list[float]:
        head = np.linalg.pinv(dataset.E).T
        found = [
            abs(float(head[s.label] @ dataset.E[x]) - float(x == s.label or sharpened))
            for s in dataset.data.samples
            for x in s.tokens
        ]
        return [max(found) / float(np.linalg.cond(dataset.E))]

    return [at_most_zero(evidence, "scores", over(evidence, errors), 1e-12)]


@claim(
    "equation-18",
    "Appendix C.1, Eq. (18)",
    "The risk of the log loss is the mean of −log Σ_{O_i} s_it.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="the risk is 1.001 times that",
)
def equation_18(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Position by position against the log-domain risk of distinct tokens."""
    from lemmata.papers.mechanics._points import At, random_weights, softmax_of

    def errors(dataset: "Dataset") -> list[float]:
        found = []
        for W in random_weights(dataset)[:8]:
            losses = []
            for s in dataset.realizable.samples:
                weights = softmax_of(dataset, list(s.tokens), s.query, W)
                mass = sum(w for w, x in zip(weights, s.tokens, strict=True) if x == s.label)
                losses.append(-s.count * np.log(mass))
            plain = sum(losses) / dataset.realizable.total * (1.001 if sharpened else 1.0)
            found.append(abs(plain / At(dataset, W).risk - 1))
        return found

    return [at_most_zero(evidence, "relative difference", over(evidence, errors), 1e-9)]


def _differences(dataset: "Dataset", weights: np.ndarray) -> np.ndarray:
    """The gradient of the risk by central differences."""
    from lemmata.papers.mechanics._points import At

    step = 1e-5
    found = np.zeros_like(weights)
    for index in np.ndindex(*weights.shape):
        shift = np.zeros_like(weights)
        shift[index] = step
        up, down = At(dataset, weights + shift).risk, At(dataset, weights - shift).risk
        found[index] = (up - down) / (2 * step)
    return found


def _gradient_errors(evidence: Structures, of_label: bool, factor: float) -> np.ndarray:
    from lemmata.papers.mechanics._points import At, random_weights

    def errors(dataset: "Dataset") -> list[float]:
        found = []
        for W in random_weights(dataset)[:2]:
            numeric = _differences(dataset, W)
            formula = np.zeros_like(W) if of_label else factor * At(dataset, W).gradient()
            found.append(
                float(np.linalg.norm(formula - numeric) / (1e-3 + np.linalg.norm(numeric)))
            )
        return found

    small = Structures(tuple(d for d in evidence.datasets if d.E.shape[1] <= 12))
    return over(small, errors)


@claim(
    "equation-19",
    "Appendix C.1, Eq. (19) as printed",
    "∇L(W) = (1/n) Σ_i Σ_{t ∈ O_i} s_it (x_it − e_yi) x̄_i^T.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="∇L(W) = 0",
)
def equation_19(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """On O_i x_it is e_yi, so the printed sum is 0; the gradient is not."""
    errors = _gradient_errors(evidence, True, 1.0)
    return [at_most_zero(evidence, "relative error", errors, 1e-6)]


@claim(
    "equation-19/repaired",
    "ours: Eq. (19) over the complement of O_i, as the proof of Lemma 6 has it",
    "∇L(W) = (1/n) Σ_i Σ_{t ∉ O_i} s_it (x_it − e_yi) x̄_i^T.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="1.001 times that",
)
def equation_19_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Against central differences of the risk."""
    errors = _gradient_errors(evidence, False, 1.001 if sharpened else 1.0)
    return [at_most_zero(evidence, "relative error", errors, 1e-6)]


def _repeated_token(bench: Bench) -> Sequence[Judgement]:
    """Eight copies of one token: |X D x̄| = √8 |D| while |E|² |D| = |D|."""
    from lemmata.papers.mechanics._counterexamples import named

    dataset = named("eight-copies", 2, [[0] * 8], [0])
    X, D = dataset.E[[0] * 8], np.array([[1.0, 0.0], [0.0, 0.0]])
    left = float(np.linalg.norm(X @ D @ dataset.E[0]))
    right = float(np.linalg.norm(dataset.E, 2) ** 2 * np.linalg.norm(D))
    reason = f"for X = eight copies of e_0 and D = e_0 e_0^T the sides are {left:.4f} and {right:g}"
    return [
        fact("‖X D x̄‖ ≤ ‖E‖² ‖D‖", left <= right, reason, witness(dataset, left=left, right=right))
    ]


def _softmax_steps(dataset: "Dataset") -> list[tuple[float, float]]:
    """‖s − ṡ‖ over samples and pairs of W, with ‖E‖² ‖W − Ẇ‖."""
    from lemmata.papers.mechanics._points import random_weights, softmax_of

    found = []
    matrices = random_weights(dataset)
    size = float(np.linalg.norm(dataset.E, 2)) ** 2
    for W, noise in zip(matrices, matrices[::-1], strict=True):
        for scale in (1e-3, 0.3):
            other = W + scale * noise
            for s in dataset.realizable.samples:
                here = softmax_of(dataset, list(s.tokens), s.query, W)
                there = softmax_of(dataset, list(s.tokens), s.query, other)
                move = size * scale * float(np.linalg.norm(noise))
                found.append((float(np.linalg.norm(here - there)), move))
    return found


@claim(
    "equation-21",
    "Appendix C.1, Eq. (21)",
    "‖s − ṡ‖ ≤ ‖X (W − Ẇ) x̄‖ ≤ ‖E‖² ‖W − Ẇ‖.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="‖s − ṡ‖ ≤ 10⁻⁴ ‖E‖² ‖W − Ẇ‖",
    counterexample=_repeated_token,
)
def equation_21(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The second inequality fails for repeated tokens; the ends of the chain are right."""
    return _softmax_judgements(evidence, 1e-4 if sharpened else 1.0)


@claim(
    "equation-21/repaired",
    "ours: without the middle, and with the best constant",
    "‖s − ṡ‖ ≤ (1/2) ‖E‖² ‖W − Ẇ‖.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="‖s − ṡ‖ ≤ 10⁻⁴ ‖E‖² ‖W − Ẇ‖",
)
def equation_21_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Over random pairs of weights."""
    return _softmax_judgements(evidence, 1e-4 if sharpened else 0.5)


def _softmax_judgements(evidence: Structures, constant: float) -> Sequence[Judgement]:
    def slack(dataset: "Dataset") -> list[float]:
        return [constant * move - change for change, move in _softmax_steps(dataset)]

    return [
        judge(
            at_least, evidence, "change of attention", over(evidence, slack), 0.0, tolerance=1e-14
        )
    ]


def curvature_below(evidence: Structures, constant: str, factor: float) -> Judgement:
    """The largest eigenvalue of the Hessian at random W and at 0, against a constant."""
    from lemmata.papers.mechanics._points import At, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        bound = getattr(dataset, constant) * factor
        basis = np.concatenate([dataset.bound_basis, dataset.free_basis])
        if not len(basis):
            return [np.nan]
        zero = np.zeros_like(dataset.target)
        return [
            bound - float(np.linalg.eigvalsh(At(dataset, W).hessian(basis))[-1])
            for W in (zero, *random_weights(dataset))
        ]

    return judge(
        at_least, evidence, "largest curvature", over(evidence, slack), 0.0, tolerance=1e-12
    )


def _gradient_steps(dataset: "Dataset") -> list[tuple[float, float, float]]:
    """For pairs W, Ẇ: ‖∇L − ∇L̇‖, the sum over samples of (20), and ‖W − Ẇ‖."""
    from lemmata.papers.mechanics._points import At, random_weights, softmax_of

    size = float(np.linalg.norm(dataset.E, 2)) ** 2
    matrices = random_weights(dataset)
    found = []
    for W, noise in zip(matrices, matrices[::-1], strict=True):
        other = W + 0.1 * noise
        total = 0.0
        for s in dataset.realizable.samples:
            here = softmax_of(dataset, list(s.tokens), s.query, W)
            there = softmax_of(dataset, list(s.tokens), s.query, other)
            total += s.count * np.sqrt(len(s.tokens)) * float(np.linalg.norm(here - there))
        change = float(np.linalg.norm(At(dataset, W).gradient() - At(dataset, other).gradient()))
        move = 0.1 * float(np.linalg.norm(noise))
        found.append((change, 2 * size * total / dataset.realizable.total, move))
    return found


@claim(
    "equation-20",
    "Appendix C.1, Eq. (20)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ (2‖E‖²/n) Σ_i √T_i ‖s_i − ṡ_i‖.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="a hundredth of that",
)
def equation_20(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Over random pairs of weights."""
    factor = 0.01 if sharpened else 1.0

    def slack(dataset: "Dataset") -> list[float]:
        return [factor * bound - change for change, bound, _ in _gradient_steps(dataset)]

    return [judge(at_least, evidence, "change", over(evidence, slack), 0.0, tolerance=1e-13)]


@claim(
    "equation-22",
    "Appendix C.1, Eq. (22)",
    "‖∇L(W) − ∇L(Ẇ)‖ ≤ 2 √T_max ‖E‖⁴ ‖W − Ẇ‖.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="a hundredth of that",
)
def equation_22(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Over random pairs of weights."""
    factor = 0.01 if sharpened else 1.0

    def slack(dataset: "Dataset") -> list[float]:
        bound = factor * dataset.lipschitz
        return [bound * move - change for change, _, move in _gradient_steps(dataset)]

    return [judge(at_least, evidence, "change", over(evidence, slack), 0.0, tolerance=1e-13)]


@claim(
    "equation-23",
    "Appendix C.1, Eq. (23)",
    "∇L is Lipschitz with L = 2 √T_max ‖E‖⁴: no curvature exceeds it.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="with L / 100",
)
def equation_23(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """By the largest eigenvalue of the Hessian."""
    return [curvature_below(evidence, "lipschitz", 0.01 if sharpened else 1.0)]


@claim(
    "equation-24",
    "Appendix C.2, Eq. (24)",
    "u^T ∇²ℓ(v) u = [(Σ z)(Σ u² z) − (Σ u z)²]/(Σ z)² ≥ 0, z_k = m_k e^{v_k}.",
    assumes=(),
    on=SAMPLE,
    sharpened="≥ 0.5",
)
def equation_24(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """As a variance, at random u and v; absent tokens have z = 0, which the proof forgets."""
    from lemmata.papers.mechanics._points import generator_for

    def values(dataset: "Dataset") -> list[float]:
        draw = generator_for(dataset, "convexity")
        found = []
        for s in dataset.realizable.samples:
            counts = np.array([s.tokens.count(k) for k in range(dataset.K)], dtype=float)
            z = counts * np.exp(3 * draw.standard_normal(dataset.K))
            u = draw.standard_normal(dataset.K)
            p = z / z.sum()
            found.append(float(p @ (u - p @ u) ** 2))
        return found

    least = 0.5 if sharpened else 0.0
    return [judge(at_least, evidence, "curvature", over(evidence, values), least)]


@claim(
    "equation-25",
    "Appendix C.2, Eq. (25)",
    "No segment in S_cyc has the risk of its points equal to the average of its ends.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="the gap exceeds 1",
)
def equation_25(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The gap at the middle of random segments, on datasets with ties."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def gaps(dataset: "Dataset") -> list[float]:
        found = []
        matrices = random_weights(dataset)[:6]
        for first, second in pairwise(matrices):
            a, b = (project(dataset.tied_basis, W) for W in (first, second))
            ends = (At(dataset, a).risk + At(dataset, b).risk) / 2
            found.append(ends - At(dataset, (a + b) / 2).risk)
        return found

    some = with_ties(evidence)
    if not len(some):
        return [Judgement("gap", Status.UNDECIDED, "no dataset has ties")]
    return [judge(at_least, some, "gap", over(some, gaps), float(sharpened), strict=True)]


@claim(
    "equation-26",
    "Appendix C.2, Eq. (26)",
    "A direction of S_cyc without curvature in any sample gives tied tokens equal logits, so it is "
    "0.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="the curvature exceeds 1",
)
def equation_26(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The least curvature of the cyclic subdata's risk over unit directions of S_cyc, at W = 0."""

    def least(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        masses = np.exp(reduced.log_masses(np.zeros(reduced.cells)))
        hessian = reduced.hessian(masses, dataset.design(dataset.tied_basis))
        return [float(np.linalg.eigvalsh(hessian)[0])]

    some = with_ties(evidence)
    if not len(some):
        return [Judgement("curvature", Status.UNDECIDED, "no dataset has ties")]
    return [judge(at_least, some, "curvature", over(some, least), float(sharpened), strict=True)]


@claim(
    "lemma-3",
    "Section 5, Lemma 3",
    "The risk of the log loss is convex, and strictly convex on S_cyc.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="it is 1-strongly convex on S_cyc",
)
def lemma_3(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The smallest eigenvalues of the Hessian; it is the covariance of the tokens under s."""
    from lemmata.papers.mechanics._points import At, random_weights

    def everywhere(dataset: "Dataset") -> list[float]:
        basis = np.concatenate([dataset.bound_basis, dataset.free_basis])
        if not len(basis):
            return [0.0]
        matrices = random_weights(dataset)
        return [float(np.linalg.eigvalsh(At(dataset, W).hessian(basis))[0]) for W in matrices]

    def tied(dataset: "Dataset") -> list[float]:
        draw = random_weights(dataset)[:6]
        return [
            float(np.linalg.eigvalsh(At(dataset, W).hessian(dataset.tied_basis))[0]) for W in draw
        ]

    curvature = over(evidence, everywhere)
    parts = [judge(at_least, evidence, "curvature", curvature, 0.0, tolerance=1e-13)]
    least = 1.0 if sharpened else 0.0
    some = with_ties(evidence)
    if len(some):
        inside = over(some, tied)
        parts.append(judge(at_least, some, "curvature on S_cyc", inside, least, strict=True))
    return parts
