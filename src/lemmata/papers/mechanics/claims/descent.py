"""Section 5 and Appendix C: gradient descent on the log loss."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lemmata.claims import Bench, Judgement, Status, at_least, equal, fact
from lemmata.papers.mechanics.claims._terms import (
    ASSUMPTION_2,
    ASSUMPTION_4,
    EPS,
    EXACT,
    GLOBAL,
    at_most_zero,
    claim,
    judge,
    over,
    positive,
    vanishing,
    with_ties,
)
from lemmata.papers.mechanics.experiments import (
    DESCENT,
    LONG_DESCENT,
    PATHS,
    SAMPLE,
    STEPS,
    Curves,
    Steps,
    Structures,
    Trained,
    witness,
)

if TYPE_CHECKING:
    from lemmata.papers.mechanics.setting import Dataset

LOG_LOSS = (ASSUMPTION_2,)

LARGE = 20.0
"""‖W‖ / ‖W^mm‖ from which on weights count as large."""


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


@claim(
    "lemma-5",
    "Appendix C.3, Lemma 5",
    "With η ≤ 1/L, L(W(τ+1)) − L(W(τ)) ≤ −(η/2) ‖∇L(W(τ))‖².",
    assumes=LOG_LOSS,
    on=DESCENT,
    sharpened="≤ −(1.1 η) ‖∇L(W(τ))‖²",
)
def lemma_5(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Every step of a run at η = 1/L."""
    loss = np.exp(evidence["log_loss"])
    square = np.exp(2 * evidence["log_gradient_norm"])
    factor = 1.1 if sharpened else 0.5
    slack = loss[:, :-1] - loss[:, 1:] - factor * evidence.eta * square[:, :-1]
    return [
        at_least(
            "descent",
            slack,
            np.zeros_like(slack),
            steps=evidence.steps[:-1],
            names=evidence.names,
            tolerance=8 * EPS * (1 + loss[:, :-1]),
        )
    ]


@claim(
    "lemma-6",
    "Appendix C.3, Lemma 6",
    "⟨∇L(W), W^mm⟩ < 0 at every finite W.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="⟨∇L(W), W^mm⟩ < −1",
)
def lemma_6(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """At random W, from the masses off R_i alone, which the rest would drown."""
    from lemmata.papers.mechanics._points import At, random_weights

    def down(dataset: "Dataset") -> list[float]:
        off = ~dataset.risk.tied
        return [
            -float(np.sum(At(dataset, W).gradient(off) * dataset.target))
            for W in random_weights(dataset)
        ]

    least = 1.0 if sharpened else 0.0
    return [judge(at_least, evidence, "−⟨∇L, W^mm⟩", over(evidence, down), least, strict=True)]


@claim(
    "lemma-6/proof",
    "Appendix C.3, proof of Lemma 6",
    "x̄_i^T (W^mm)^T (x_it − e_yi) = −1 for t ∉ R_i.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= −2",
)
def lemma_6_proof(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """A token far below the label has a margin larger than 1: ≤ −1 is meant."""
    from lemmata.margin import pair_rows

    def errors(dataset: "Dataset") -> list[float]:
        margins = pair_rows(dataset.strict_pairs, dataset.E) @ dataset.target.ravel()
        return [float(np.abs(margins - 1 - sharpened).max())]

    return [at_most_zero(evidence, "margins", over(evidence, errors), 1e-9)]


@claim(
    "theorem-4",
    "Appendix C.3, Theorem 4",
    "No finite W has ∇L(W) = 0, and gradient descent with η ≤ 1/L has ‖W(τ)‖ → ∞.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="‖W(τ)‖ stays below 5",
)
def theorem_4(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The gradient never vanishes, and the norm gains about ‖W^mm‖ per e-fold of time."""
    norms = evidence["free_norm"]
    if sharpened:
        return [judge(at_least, evidence, "‖W‖", -norms, -5.0)]
    late = int(np.searchsorted(evidence.steps, evidence.steps[-1] / 10, side="right")) - 1
    folds = float(np.log(evidence.steps[-1] / max(evidence.steps[late], 1)))
    if folds < 1:
        return [Judgement("growth", Status.UNDECIDED, "the run is too short to see growth")]
    growth = (norms[:, -1] - norms[:, late]) / folds
    expected = evidence.each(lambda d: d.norm)[:, 0]
    ratio = growth / expected
    smallest = float(evidence["log_gradient_norm"].min())
    return [
        fact("∇L ≠ 0", smallest > -np.inf, f"log ‖∇L‖ is at least {smallest:.4g} along the runs"),
        fact(
            "growth per e-fold over ‖W^mm‖",
            bool((ratio > 0.5).all()),
            f"between {ratio.min():.4f} and {ratio.max():.4f} over the last decade",
            {"smallest": float(ratio.min()), "largest": float(ratio.max())},
        ),
    ]


@claim(
    "lemma-7",
    "Appendix C.4, Lemma 7",
    "W^cyc is unique and finite.",
    assumes=LOG_LOSS,
    on=SAMPLE,
    sharpened="its norm is below 10⁻³",
)
def lemma_7(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The gradient of L̄ vanishes there and its Hessian on S_cyc is positive definite."""
    from lemmata.papers.mechanics._points import At

    def curvature(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        masses = reduced.log_masses(At(dataset, dataset.dense(dataset.correction)).logits)
        hessian = reduced.hessian(np.exp(masses), dataset.design(dataset.tied_basis))
        return [float(np.linalg.eigvalsh(hessian)[0])]

    norms = [dataset.correction.norm for dataset in evidence.datasets]
    bound = 1e-3 if sharpened else np.inf
    reason = f"norms between {min(norms):.4g} and {max(norms):.4g}"
    parts = [fact("finite", max(norms) < bound, reason)]
    some = with_ties(evidence)
    if len(some):
        parts.append(positive(some, "curvature at W^cyc", over(some, curvature)))
    return parts


def _large_steps(bench: Bench) -> Sequence[Judgement]:
    """Constant steps on both sides of 2/λ, with λ the curvature at the limit."""
    from lemmata.papers.mechanics._counterexamples import cycle_above_last
    from lemmata.papers.mechanics._points import At
    from lemmata.papers.mechanics.setting import Training

    dataset = cycle_above_last()
    limit = dataset.dense(dataset.correction) + 50 * dataset.target
    top = float(np.linalg.eigvalsh(At(dataset, limit).hessian(dataset.tied_basis))[-1])
    ends = {}
    for eta in (4.0, 5.0, 50.0):
        how = Training(algorithm="gd", rate=eta, steps=20_000, record=(19_999, 20_000))
        run = how.run([dataset])
        ends[f"eta = {eta:g}"] = {
            "distance": [float(v) for v in run["cyclic_distance"][0]],
            "correlation": float(1 - run["one_minus_correlation"][0, -1]),
        }
    stuck, settled = min(ends["eta = 5"]["distance"]), ends["eta = 4"]["distance"][-1]
    reason = (
        f"on cycle-above-last λ = {top:.4f}; with η = 5 > 2/λ = {2 / top:.2f} the distance to "
        f"W^cyc alternates and stays above {stuck:.2f}, with η = 4 it is {settled:.1e}"
    )
    turned = ends["eta = 50"]["correlation"]
    again = f"with η = 50 the correlation with W^mm ends at {turned:.4f}"
    return [
        fact("(3) for every constant step", stuck < 1e-3, reason, witness(dataset, **ends)),
        fact("(2) for every constant step", turned > 0.99, again, witness(dataset, **ends)),
    ]


def _limits_of_descent(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """1 − corr falls like C/ln² t, so that its product with ln² t settles; the distance falls."""
    t, gap = evidence.steps, evidence["one_minus_correlation"]
    gap = 2 - gap if sharpened else gap
    late = int(np.searchsorted(t, t[-1] / 100, side="right")) - 1
    scale = (np.log(t[-1]) / np.log(max(t[late], 2))) ** 2
    settled = gap[:, -1] < EXACT
    faster = np.where(settled, np.inf, gap[:, late] / np.where(settled, 1.0, gap[:, -1]))
    expected = float(scale)
    worst = int(np.argmin(faster))
    reason = (
        f"1 − corr fell by a factor of at least {faster[worst]:.3f} over the last two decades "
        f"({expected:.3f} for 1/ln² t); it ends at {gap[:, -1].min():.4f} to {gap[:, -1].max():.4f}"
    )
    table = {"dataset": evidence.names[worst], "factor": float(faster[worst]), "1/ln² t": expected}
    return [
        fact("(2)", bool((faster > 1 + 0.5 * (expected - 1)).all()), reason, table),
        vanishing("(3) ‖Π W(τ) − W^cyc‖", t, evidence["cyclic_distance"], evidence.names, 1e-2),
    ]


@claim(
    "theorem-3",
    "Section 5, Theorem 3; Eqs. (2) and (3)",
    "From any W(0), with any constant step size, gradient descent on the log loss has "
    "W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖ and Π_{S_cyc}(W(τ)) → W^cyc.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="W(τ)/‖W(τ)‖ → −W^mm/‖W^mm‖",
    counterexample=_large_steps,
)
def theorem_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The proof needs η ≤ 1/L, and a large constant step breaks (3), then (2)."""
    return _limits_of_descent(evidence, sharpened)


@claim(
    "equation-2",
    "Section 5, Eq. (2)",
    "With any constant step size W(τ)/‖W(τ)‖ → W^mm/‖W^mm‖.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ −W^mm/‖W^mm‖",
    counterexample=lambda bench: _large_steps(bench)[1:],
)
def equation_2(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Much larger steps than those that break (3) break (2) as well."""
    return _limits_of_descent(evidence, sharpened)[:1]


@claim(
    "equation-3",
    "Section 5, Eq. (3)",
    "With any constant step size Π_{S_cyc}(W(τ)) → W^cyc.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ 0.9 W^cyc",
    counterexample=lambda bench: _large_steps(bench)[:1],
)
def equation_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """It holds for steps below 2/λ."""
    distance = evidence["cyclic_distance"]
    if sharpened:
        distance = distance + 0.1 * evidence.each(lambda d: d.correction.norm)
    return [vanishing("‖Π W(τ) − W^cyc‖", evidence.steps, distance, evidence.names, 1e-2)]


@claim(
    "theorem-3/repaired",
    "ours: Theorem 3 with η ≤ 1/L",
    "With η ≤ 1/L both limits hold: 1 − corr ~ C/ln² τ and ‖Π W(τ) − W^cyc‖ ~ C/τ.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="W(τ)/‖W(τ)‖ → −W^mm/‖W^mm‖",
)
def theorem_3_repaired(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """No run of plain descent gets near correlation 1; ``own/block`` does."""
    return _limits_of_descent(evidence, sharpened)


@claim(
    "equation-28",
    "Appendix C.4, Eq. (28)",
    "L(W) ≤ L(R W^mm + W^∥) + ⟨Π_⊥ ∇L(W), W^⊥ − R W^mm⟩ with R = ‖W^⊥‖.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="with 1.1 times the inner product and no L(W) on the left",
)
def equation_28(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Convexity; R W^mm/‖W^mm‖ is meant, but it holds for any point."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        found = []
        for W in random_weights(dataset):
            inside = project(dataset.tied_basis, W)
            free = W - inside
            goal = float(np.linalg.norm(free)) * dataset.target
            gradient = At(dataset, W).gradient()
            product = float(
                np.sum((gradient - project(dataset.tied_basis, gradient)) * (free - goal))
            )
            left = 0.0 if sharpened else At(dataset, W).risk
            right = At(dataset, goal + inside).risk
            found.append(right + (-1.1 if sharpened else 1.0) * product - left)
        return found

    return [judge(at_least, evidence, "convexity", over(evidence, slack), 0.0, tolerance=1e-10)]


@claim(
    "equation-29",
    "Appendix C.4, Eq. (29)",
    "Once ‖W^⊥‖ is large, −⟨Π_⊥ ∇L(W), W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L(W), W^⊥⟩/‖W^⊥‖.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="with 1 more on the left",
)
def equation_29(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """On the path −Π_⊥ ∇L is parallel to W^⊥, so the right side is the larger one at every R."""
    from lemmata.papers.mechanics._points import At, project

    rows = []
    for dataset, curve in zip(evidence.datasets, evidence.curves, strict=True):
        row = []
        for W in curve.weights:
            off = At(dataset, W).gradient(~dataset.risk.tied)
            size = float(np.linalg.norm(off))
            if size < 1e-290 or np.linalg.norm(W) < LARGE * dataset.norm:
                row.append(np.nan)
                continue
            down = -(off - project(dataset.bound_basis, off)) / size
            down /= np.linalg.norm(down)
            free = W - project(dataset.bound_basis, W)
            left = float(np.sum(down * dataset.target)) / dataset.norm
            right = float(np.sum(down * free)) / float(np.linalg.norm(free))
            row.append(left - right - sharpened)
        rows.append(row)
    return [
        judge(at_least, evidence, "(29), relative to ‖Π_⊥ ∇L‖", np.array(rows), 0.0, tolerance=1e-9)
    ]


@claim(
    "equation-29/repaired",
    "ours: with the factor 1 + ε that the standard proof has",
    "For every ε > 0, once ‖W^⊥‖ is large, −(1 + ε)⟨Π_⊥ ∇L, W^mm⟩/‖W^mm‖ ≥ −⟨Π_⊥ ∇L, W^⊥⟩/‖W^⊥‖.",
    assumes=GLOBAL,
    on=PATHS,
    sharpened="with ε = −0.1",
)
def equation_29_repaired(evidence: Curves, sharpened: bool) -> Sequence[Judgement]:
    """ε = 0.01 at the end of the path, where (29) itself is off by a part in a million."""
    from lemmata.papers.mechanics._points import At, project

    factor = 0.9 if sharpened else 1.01
    rows = []
    for dataset, curve in zip(evidence.datasets, evidence.curves, strict=True):
        late = [W for W in curve.weights if 60 < np.linalg.norm(W) / dataset.norm < 600]
        row = []
        for W in late[:4]:
            off = At(dataset, W).gradient(~dataset.risk.tied)
            down = -(off - project(dataset.bound_basis, off))
            down /= np.linalg.norm(down)
            free = W - project(dataset.bound_basis, W)
            left = factor * float(np.sum(down * dataset.target)) / dataset.norm
            row.append(left - float(np.sum(down * free)) / float(np.linalg.norm(free)))
        rows.append([*row, *[np.nan] * (4 - len(row))])
    grid = np.array(rows)
    steps = np.arange(grid.shape[1])
    return [
        at_least("(29) with 1 + ε", grid, np.zeros_like(grid), steps=steps, names=evidence.names)
    ]


def _link(evidence: Steps, left: str, right: str, sharpened: bool) -> Sequence[Judgement]:
    """One inequality of the chain, step by step; sharpened, its right side is raised by 0.01."""
    sides = evidence.chain()
    steps = np.arange(sides[left].shape[1])
    raised = sides[right] + 0.01 * sharpened
    return [
        at_least("slack", sides[left], raised, steps=steps, names=evidence.names, tolerance=1e-12)
    ]


@claim(
    "equation-30",
    "Appendix C.4, Eq. (30)",
    "⟨ΔW^⊥, W^⊥⟩/‖W^⊥‖ ≥ Δ(‖W^⊥‖²)/(2‖W^⊥‖) − ‖ΔW^⊥‖² along descent, once ‖W^⊥‖ > 1/2.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right",
)
def equation_30(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """The link after the one that fails, (29)."""
    return _link(evidence, "along", "squares", sharpened)


@claim(
    "equation-31",
    "Appendix C.4, Eq. (31)",
    "Δ(‖W^⊥‖²)/(2‖W^⊥‖) ≥ Δ‖W^⊥‖.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right",
)
def equation_31(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """(a² − b²)/2b ≥ a − b."""
    return _link(evidence, "squares", "norms", sharpened)


@claim(
    "equation-32",
    "Appendix C.4, Eq. (32)",
    "‖ΔW^⊥‖ ≤ ‖ΔW‖.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right of the chain",
)
def equation_32(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """A projection."""
    return _link(evidence, "norms", "whole", sharpened)


@claim(
    "equation-33",
    "Appendix C.4, Eq. (33)",
    "−‖ΔW‖² ≥ 2η ΔL along gradient descent with η ≤ 1/L.",
    assumes=GLOBAL,
    on=STEPS,
    sharpened="with 0.01 more on the right of the chain",
)
def equation_33(evidence: Steps, sharpened: bool) -> Sequence[Judgement]:
    """Lemma 5."""
    return _link(evidence, "whole", "risk", sharpened)


@claim(
    "equation-35",
    "Appendix C.4, Eq. (35)",
    "L(W) ≤ L(R W^mm + W^cyc + W') + ⟨∇L(W), W^∥ − W^cyc⟩, where W = R W^mm + W^∥ + W'.",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="with −⟨∇L(W), W^∥ − W^cyc⟩",
)
def equation_35(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Convexity again."""
    from lemmata.papers.mechanics._points import At, project, random_weights

    def slack(dataset: "Dataset") -> list[float]:
        finite = dataset.dense(dataset.correction)
        found = []
        for W in random_weights(dataset):
            move = project(dataset.tied_basis, W) - finite
            product = float(np.sum(At(dataset, W).gradient() * move)) * (-1 if sharpened else 1)
            found.append(At(dataset, W - move).risk + product - At(dataset, W).risk)
        return found

    return [judge(at_least, evidence, "convexity", over(evidence, slack), 0.0, tolerance=1e-10)]


@claim(
    "theorem-3/last-display",
    "Appendix C.4, last display",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = L̄(W^∥).",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= 2 L̄(W^∥)",
)
def last_display(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """The display before it has the factor |I|/n, which is lost here."""
    return [_display(evidence, 2.0 if sharpened else 1.0, False)]


@claim(
    "theorem-3/last-display-repaired",
    "ours: with the factor |I|/n",
    "lim_{R→∞} L(R W^mm + W^∥ + W') = (|I|/n) L̄(W^∥).",
    assumes=GLOBAL,
    on=SAMPLE,
    sharpened="= 2 (|I|/n) L̄(W^∥)",
)
def last_display_repaired(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """At R = 60 plus the size of the rest."""
    return [_display(evidence, 2.0 if sharpened else 1.0, True)]


def _display(evidence: Structures, factor: float, share: bool) -> Judgement:
    from lemmata.papers.mechanics._points import At, project, random_weights

    def errors(dataset: "Dataset") -> list[float]:
        reduced = dataset.risk.tied_only()
        if not len(reduced.weight):
            return [np.nan]
        part = dataset.cyclic.total / dataset.realizable.total if share else 1.0
        found = []
        for W in random_weights(dataset)[:4]:
            inside = project(dataset.tied_basis, W)
            spread = float(np.ptp(At(dataset, W).logits))
            whole = At(dataset, (60 + spread) * dataset.target + W).risk
            limit = factor * part * reduced.value(At(dataset, inside).logits)
            found.append(abs(whole - limit))
        return found

    values = over(evidence, errors)
    return judge(equal, evidence, "difference", values, 0.0, tolerance=1e-9)


@claim(
    "equation-34",
    "Appendix C.4, Eq. (34)",
    "corr(W^⊥(τ), W^mm) → 1 along gradient descent.",
    assumes=GLOBAL,
    on=LONG_DESCENT,
    sharpened="→ −1",
)
def equation_34(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """W^⊥ has all of W but its part in S_cyc, which stays bounded: see Theorem 3."""
    return _limits_of_descent(evidence, sharpened)[:1]
