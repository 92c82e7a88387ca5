"""Sections 5.2 and 5.3: Theorems 1 and 2, the footnote, and the sketch of the proof."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lemmata.old_claims import Bench, Judgement, Status, at_least, fact
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.claims._terms import (
    STAGE_2,
    claim,
    in_stage_2,
    later,
)
from lemmata.papers.convergence.claims.stage2 import norm_bounds, smallest_weight
from lemmata.papers.convergence.experiments import (
    LARGE_STEPS,
    TRAINING,
    Trained,
)


def _cosine_bound(e: Trained, N: np.ndarray, sharpened: bool) -> Judgement:
    """Theorem 1's rate, with N or what replaces it."""
    bound = theory.attention_cosine_bound(np.maximum(e.steps2, 1), e.eta, e.norm_kq, N, e.L)
    if sharpened:
        bound = 2.01 - bound
    starts = [
        theory.first_step(
            lambda t, d=d, eta=eta, n=n: theory.attention_cosine_bound(
                t, eta, d.norm_kq, n, d.L_max
            ),
            0.0,
            np.e**2,
        )
        for d, eta, n in zip(e.datasets, e.eta[:, 0], N[:, 0], strict=True)
    ]
    return in_stage_2(
        e,
        "direction",
        1 - e.stage2("one_minus_correlation"),
        later(e.steps2, 2, bound),
        baseline=0.0,
        informative_from=starts,
        tolerance=1e-15,
    )


def _frequency_gap(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.convergence._counterexamples import skewed_frequencies

    found = skewed_frequencies()
    broken = found["turn"] < 1e-15 and found["cosine"] < found["bound"]
    return [
        fact(
            "direction, skewed frequencies",
            not broken,
            f"on {{aba, bab}} with log π([b a]) = {found['log_frequency']:.0e} the iterates are "
            f"tηu for one fixed u: at t = {found['t']:.0e} the cosine is {found['cosine']:.4f}, "
            f"below the bound {found['bound']:.4f}; in its range the bound is otherwise vacuous",
            {"dataset": "aba, bab"} | found,
            found["cosine"] - found["bound"],
        )
    ]


@claim(
    "theorem-1",
    "Section 5.2",
    "For η < O(1), t ≥ 2: tη/(2‖W_kq*‖) ≤ ‖W_kq(t)‖ ≤ tη and cos(W_kq(t), W_kq*) ≥ 1 − 54 N L⁴ "
    "‖W_kq*‖⁴ log²t/(tη).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="‖W_kq(t)‖ ≥ 1.01 tη, and the cosine exceeds 1",
    counterexample=_frequency_gap,
)
def theorem_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The body's version. It knows nothing of the frequencies π, and must."""
    return [
        *norm_bounds(evidence, 2 * evidence.norm_kq, sharpened),
        _cosine_bound(evidence, evidence.N, sharpened),
    ]


@claim(
    "theorem-1/appendix",
    "Appendix C.5, with Lemma 6",
    "As Theorem 1, with the weaker norm bound tη/(2L‖W_kq*‖) that the appendix proves.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="‖W_kq(t)‖ ≥ 1.01 tη, and the cosine exceeds 1",
    counterexample=_frequency_gap,
)
def theorem_1_appendix(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The appendix loses a factor L_max in the norm."""
    return [
        *norm_bounds(evidence, 2 * evidence.L * evidence.norm_kq, sharpened),
        _cosine_bound(evidence, evidence.N, sharpened),
    ]


@claim(
    "theorem-1/repaired",
    "Section 5.2, repaired",
    "Theorem 1 with 1/min π in the place of N, as the proof of Lemma 7 needs.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="‖W_kq(t)‖ ≥ 1.01 tη, and the cosine exceeds 1",
)
def theorem_1_repaired(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """1/min π is at least N."""
    rarest = evidence.each(lambda d: 1 / d.data.frequencies.min())
    return [
        *norm_bounds(evidence, 2 * evidence.norm_kq, sharpened),
        _cosine_bound(evidence, rarest, sharpened),
    ]


def _weight_bound(e: Trained, sharpened: bool) -> Judgement:
    bound = theory.attention_weight_bound(e.steps2, e.eta, e.norm_kq, e.L)
    starts = [
        theory.weight_bound_starts(float(eta), d.norm_kq, d.L_max)
        for d, eta in zip(e.datasets, e.eta[:, 0], strict=True)
    ]
    return in_stage_2(
        e,
        "optimal weight",
        smallest_weight(e),
        np.ones_like(bound) if sharpened else bound,
        baseline=np.broadcast_to(1 / (e.L - 1), bound.shape),
        informative_from=starts,
        tolerance=1e-15,
    )


def _loss_bound(e: Trained, sharpened: bool) -> Judgement:
    C0 = theory.C0(e.eta0, e.norm_ov)
    bound = theory.log_loss_bound(e.steps2, e.T, C0, e.eta, e.norm_kq, e.K, e.L)
    if sharpened:
        floors = [
            theory.loss_floor(e.T, float(eta0), d.K)
            for d, eta0 in zip(e.datasets, e.eta0[:, 0], strict=True)
        ]
        bound = np.array(floors)[:, None] - np.log(2) + np.zeros_like(bound)
    starts = [
        theory.loss_bound_starts(e.T, float(c), float(eta), d.norm_kq, d.K, d.L_max)
        for d, c, eta in zip(e.datasets, C0[:, 0], e.eta[:, 0], strict=True)
    ]
    judged = in_stage_2(
        e,
        "log-loss",
        -e.stage2("log_loss"),
        -bound,
        baseline=np.broadcast_to(-np.log(np.log(e.K)), bound.shape),
        informative_from=starts,
        tolerance=1e-9,
    )
    if judged.status is Status.VACUOUS and not np.isfinite(starts).all():
        needed = ((np.log(e.K) - np.log(np.log(e.K))) / C0)[~np.isfinite(starts)]
        reason = f"{judged.reason}; where at no t, it takes T > {needed.max():.4g}, not {e.T}"
        return replace(judged, reason=reason)
    return judged


@claim(
    "theorem-2",
    "Section 5.2",
    "min_n φ₊ ≥ 1/(1 + L exp(−C₁t)) and L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))), with C₀ = "
    "η₀/(4‖W_ov*‖²), C₁ = η/(4L‖W_kq*‖²).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="φ₊ ≥ 1, and the loss is half its infimum",
)
def theorem_2(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """At every t, far below the thresholds that the theorem asks for."""
    return [_weight_bound(evidence, sharpened), _loss_bound(evidence, sharpened)]


@claim(
    "equation-4",
    "Section 5.2, Eq. (4)",
    "L(θ(t)) ≤ |V| exp(−TC₀(1 − 2L/(L + exp(C₁t)))).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="the loss is half its infimum",
)
def equation_4(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The loss bound of Theorem 2 on its own."""
    return [_loss_bound(evidence, sharpened)]


@claim(
    "theorem-2/threshold",
    "Appendix C.6",
    "t ≥ 1696 N L⁴‖W_kq*‖⁶ log²t/η makes the right-hand side of Eq. (13) at most −C₁t.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="1600 is enough",
)
def theorem_2_threshold(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The step needs √2·√(54/c) ≤ 1/4, that is c ≥ 2·54·16 = 1728, in whole numbers."""
    needed = 2 * 54 * 16
    given = 1600 if sharpened else 1696
    return [
        fact(
            "constant",
            given >= needed,
            f"the step needs a constant of at least 2·54·16 = {needed}; {given} is given",
            {"needed": needed, "given": given},
        )
    ]


@claim(
    "theorem-2/epsilon",
    "Appendix C.6",
    "t ≥ 4L‖W_kq*‖/η · log(L/ε) gives 1/(1 + L exp(−C₁t)) ≥ 1/(1 + ε).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="half of that t is enough",
)
def theorem_2_epsilon(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """At ε = 1/100. A square is missing: it takes ‖W_kq*‖², which is larger when ‖W_kq*‖ > 1."""
    epsilon = 0.01
    n, L, eta = evidence.norm_kq, evidence.L, evidence.eta
    t = 4 * L * n / eta * np.log(L / epsilon) * (0.5 if sharpened else 1)
    reached = theory.attention_weight_bound(t, eta, n, L)
    return [
        at_least(
            "weight at that t",
            reached,
            np.full_like(reached, 1 / (1 + epsilon)),
            steps=np.zeros(1, dtype=int),
            names=evidence.names,
            tolerance=1e-13,
        )
    ]


@claim(
    "footnote-3",
    "Section 5.2, footnote 3",
    "For fixed W_ov(T) the minimum of the loss is |V| exp(−TC₀).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="it is twice that",
)
def footnote_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Is the loss ever below its minimum? As logarithms."""
    least = np.log(evidence.K) - evidence.T * theory.C0(evidence.eta0, evidence.norm_ov)
    least = least + np.log(2) * sharpened
    return [in_stage_2(evidence, "minimum", evidence.stage2("log_loss"), least, tolerance=1e-9)]


@claim(
    "sketch-step-1",
    "Section 5.3, step 1",
    "The total weight of the optimal tokens of every input is at least 1/L_max.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="it is 1",
)
def sketch_step_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Lemma 5 as the sketch uses it."""
    bound = np.ones_like(evidence.L) if sharpened else 1 / evidence.L
    weight = smallest_weight(evidence)
    return [in_stage_2(evidence, "optimal weight", weight, bound, baseline=0.0)]


@claim(
    "sketch-step-2",
    "Section 5.3, step 2",
    "The cosine between −∇L and W_kq* is larger than the smallest optimal weight min_n φ₊.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="the cosine exceeds 1",
)
def sketch_step_2(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Lemma 6 proves it only with another factor 1/(2‖W_kq*‖)."""
    bound = np.full_like(evidence.L, 1.01) if sharpened else smallest_weight(evidence)
    measured = evidence.stage2("descent_on_target")
    return [
        in_stage_2(evidence, "cosine", measured, bound, baseline=0.0, tolerance=1e-13, strict=True)
    ]


@claim(
    "sketch-step-3",
    "Section 5.3, step 3",
    "For some constant C: ⟨∇L, W(t)⟩ ≥ (1 + C log‖W(t)‖/‖W(t)‖) ⟨∇L, W_kq*⟩ ‖W(t)‖/‖W_kq*‖.",
    assumes=STAGE_2,
    on=LARGE_STEPS,
    sharpened="cos(−∇L, W_kq*) exceeds 1",
)
def sketch_step_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """With the smallest C that covers the first half, once ‖W‖ > e; Lemma 7 gives the constant."""
    norm = evidence.stage2("norm")
    weights, target = evidence.stage2("descent_on_weights"), evidence.stage2("descent_on_target")
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = (weights / target - 1) * norm / np.log(norm)
    effective = np.where(norm > np.e, effective, np.nan)
    middle = effective.shape[1] // 2
    first = np.nanmax(effective[:, :middle], axis=1, keepdims=True)
    constant = np.maximum(first, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = weights / (1 + constant * np.log(norm) / norm)
    bound = np.where(norm > np.e, bound, np.nan)
    if sharpened:
        bound = np.full_like(bound, 1.01)
    return [in_stage_2(evidence, "alignment", target, bound, baseline=0.0, tolerance=1e-12)]
