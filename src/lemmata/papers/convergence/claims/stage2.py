"""Appendices A and C: Algorithm 1, the gradient of the attention layer, and the lemmas."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Judgement, at_least, equal
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.claims._terms import (
    ASSUMPTION_2,
    CHOICE,
    COLLOCATION,
    ORDERS,
    PREIMAGE,
    SINGLE_VALUED,
    STAGE_2,
    ZERO_START,
    at_points,
    claim,
    in_stage_2,
    later,
    rounding,
)
from lemmata.papers.convergence.claims.stage1 import AT_POINTS, equation_7, replay
from lemmata.papers.convergence.experiments import (
    LARGE_STEPS,
    RANDOM_POINTS,
    TRAINING,
    WITHOUT_ASSUMPTION_3,
    Points,
    Trained,
)


def smallest_weight(e: Trained) -> np.ndarray:
    """min over inputs of phi_+, from log-odds that do not saturate."""
    return 1 / (1 + np.exp(-np.minimum(e.stage2("smallest_log_odds"), 700.0)))


def norm_bounds(e: Trained, divisor: np.ndarray, sharpened: bool) -> list[Judgement]:
    """t eta >= ||W_kq(t)|| >= t eta / divisor."""
    reach = e.steps2 * e.eta
    slack = rounding(e.steps2, reach)
    norm = e.stage2("norm")
    lower = 1.01 * reach if sharpened else reach / divisor
    return [
        in_stage_2(
            e, "norm, lower", norm, later(e.steps2, 1, lower), baseline=0.0, tolerance=slack
        ),
        in_stage_2(e, "norm, upper", -norm, -reach, tolerance=slack),
    ]


@claim(
    "lemma-4",
    "Appendix C.1",
    "With equal margins Δ, ⟨∇L, W'⟩ = Δ Σ π [(T_y − 1) Σ_{l∈l(n)} φ_l (x_l − x̄) + Σ_{l∉l(n)} "
    "T_{n(x_l)} φ_l (x_l − x̄)]ᵀ W' x_q.",
    assumes=(*AT_POINTS, PREIMAGE),
    on=RANDOM_POINTS,
    sharpened="times 1 + 1e-6",
)
def lemma_4(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """At random W and W', against complex-step derivatives of L."""
    left = evidence.series["lemma_4"] * (1 + 1e-6 * sharpened)
    return [
        at_points(
            equal,
            evidence,
            "projection",
            left,
            evidence.series["derivative_4"],
            tolerance=1e-13,
        )
    ]


def _monotone(e: Trained, sharpened: bool) -> list[Judgement]:
    """No step lowers an optimal weight, so it stays above its start and above 1/L_max."""
    speed = 2 * e.eta if sharpened else np.zeros_like(e.eta)
    size = 1e-14 * (10 + np.abs(e.stage2("smallest_log_odds")) + e.stage2("norm"))
    return [
        in_stage_2(e, "never decreases", e.stage2("smallest_gain"), speed, tolerance=size),
        in_stage_2(e, "above its start", e.stage2("smallest_growth"), 0.0, tolerance=1e-12),
        in_stage_2(
            e, "above 1/L", e.stage2("smallest_weight"), 1 / e.L, baseline=0.0, tolerance=1e-15
        ),
    ]


@claim(
    "lemma-5",
    "Appendix C.2",
    "From a start at zero the attention weight of an optimal token never decreases: φ_l(t) ≥ "
    "φ_l(0) ≥ 1/L_max.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="its log-odds rise by 2η at every step",
)
def lemma_5(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Every step, in log-odds; the proof uses Assumptions 1 and 3."""
    return _monotone(evidence, sharpened)


@claim(
    "lemma-5/without-assumption-3",
    "Appendix C.2, without Assumption 3",
    "Lemma 5 for data that only satisfy Assumption 1.",
    assumes=(COLLOCATION, ORDERS, PREIMAGE, ASSUMPTION_2, CHOICE, ZERO_START),
    on=WITHOUT_ASSUMPTION_3,
    sharpened="its log-odds rise by 2η at every step",
)
def lemma_5_without_assumption_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """One frequent input dominated by non-optimal tokens is enough to break it."""
    return _monotone(evidence, sharpened)


@claim(
    "lemma-6",
    "Appendix C.3",
    "tη + ‖W_kq(0)‖ ≥ ‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) − ‖W_kq(0)‖, because cos(−∇L, W_kq*) ≥ "
    "min_n φ₊/(2‖W_kq*‖) ≥ 1/(2L‖W_kq*‖).",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="‖W_kq(t)‖ ≥ 1.01 tη, and the cosine exceeds 1",
)
def lemma_6(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Along Algorithm 1, which starts at zero."""
    bound = smallest_weight(evidence) / (2 * evidence.norm_kq)
    if sharpened:
        bound = np.full_like(bound, 1.01)
    return [
        *norm_bounds(evidence, 2 * evidence.L * evidence.norm_kq, sharpened),
        in_stage_2(
            evidence,
            "cosine",
            evidence.stage2("descent_on_target"),
            bound,
            baseline=0.0,
            tolerance=1e-13,
        ),
    ]


@claim(
    "lemma-6/step",
    "Appendix C.3, proof of Lemma 6",
    "cos(−∇L, W_kq*) ≥ min_n φ₊/(2‖W_kq*‖) at every W_kq, when the margins of W_ov are equal.",
    assumes=(*AT_POINTS, COLLOCATION, ORDERS, PREIMAGE),
    on=RANDOM_POINTS,
    sharpened="the cosine exceeds 1",
)
def lemma_6_step(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """At random points, off the trajectory."""
    norm = evidence.each(lambda d: d.norm_kq)
    bound = evidence.series["smallest_weight"] / (2 * norm)
    if sharpened:
        bound = np.full_like(bound, 1.01)
    return [
        at_points(
            at_least,
            evidence,
            "cosine",
            evidence.series["attention_descent"] / norm,
            bound,
            baseline=0.0,
            tolerance=1e-13,
        )
    ]


@claim(
    "lemma-7",
    "Appendix C.4",
    "For t ≥ t₀ = ⌈8L‖W_kq*‖²/η⌉: ⟨∇L, W(t)⟩ ≥ (1 + α_t) ⟨∇L, W_kq*⟩ ‖W(t)‖/‖W_kq*‖, α_t = "
    "4NL²‖W_kq*‖²(1 + log(2L‖W(t)‖))/‖W(t)‖.",
    assumes=STAGE_2,
    on=LARGE_STEPS,
    sharpened="cos(−∇L, W_kq*) exceeds 1",
)
def lemma_7(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Read as a lower bound on cos(−∇L, W_kq*): at least cos(−∇L, W(t))/(1 + α_t)."""
    norm = np.where(evidence.steps2 > 0, evidence.stage2("norm"), np.nan)
    alpha = theory.lemma_7_alpha(norm, evidence.norm_kq, evidence.N, evidence.L)
    bound = evidence.stage2("descent_on_weights") / (1 + alpha)
    if sharpened:
        bound = np.full_like(bound, 1.01)
    start = theory.lemma_7_start(evidence.eta, evidence.norm_kq, evidence.L)[:, 0]
    return [
        in_stage_2(
            evidence,
            "alignment",
            evidence.stage2("descent_on_target"),
            bound,
            baseline=0.0,
            tolerance=1e-13,
            from_step=start,
        )
    ]


@claim(
    "lemma-7/step",
    "Appendix C.4, proof of Lemma 7",
    "Some input has weight φ₋ ≥ exp(−‖W(t)‖/‖W_kq*‖) on its non-optimal tokens.",
    assumes=STAGE_2,
    on=LARGE_STEPS,
    sharpened="some input has φ₋ = 1",
)
def lemma_7_step(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """As logarithms. The factor φ_{l*} of Eq. (11) was lost; {abab, ba} shows it."""
    odds = evidence.stage2("smallest_log_odds")
    share = -np.logaddexp(0.0, odds)
    bound = -evidence.stage2("norm") / evidence.norm_kq * (0 if sharpened else 1)
    start = theory.lemma_7_start(evidence.eta, evidence.norm_kq, evidence.L)[:, 0]
    return [in_stage_2(evidence, "log φ₋", share, bound, tolerance=1e-12, from_step=start)]


@claim(
    "equation-6",
    "Appendix A, Eq. (6)",
    "∇L with respect to W_kq is Σ π X(diag φ − φφᵀ)Xᵀ W_ovᵀ(T − e_y) x_qᵀ.",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="times 1 + 1e-6",
)
def equation_6(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """Projected on random directions, against complex-step derivatives of L."""
    left = evidence.series["equation_6"] * (1 + 1e-6 * sharpened)
    return [
        at_points(
            equal,
            evidence,
            "gradient",
            left,
            evidence.series["derivative_6"],
            tolerance=1e-13,
        )
    ]


@claim(
    "equation-9",
    "Appendix C.1, Eq. (9)",
    "φ_l is the exponential of x_lᵀW_kq x_q, divided by the sum over the input.",
    assumes=(SINGLE_VALUED, PREIMAGE, CHOICE),
    on=TRAINING,
    sharpened="the smallest optimal weight is 1 + 1e-6 times that",
)
def equation_9(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The recorded smallest optimal weight against the definition, at the last step."""
    run = evidence.trained
    found = []
    for i, dataset in enumerate(run.datasets):
        W = run.key_query(i)
        weights = []
        for sample in dataset.data.samples:
            tokens = np.array(sample.tokens)
            phi = np.exp(W[tokens, sample.query] - W[tokens, sample.query].max())
            chosen = np.isin(tokens, list(dataset.orders.selected(sample)))
            weights += list((phi / phi.sum())[chosen])
        found.append([min(weights)])
    measured = evidence.stage2("smallest_weight")[:, -1:] * (1 + 1e-6 * sharpened)
    return [
        equal(
            "smallest optimal weight",
            measured,
            np.array(found),
            steps=evidence.steps2[-1:],
            names=evidence.names,
            tolerance=1e-12,
        )
    ]


@claim(
    "equation-10",
    "Appendix C.1, Eq. (10)",
    "Each update of stage 2 moves W_kq by exactly η against the gradient.",
    assumes=(SINGLE_VALUED, CHOICE),
    on=TRAINING,
    sharpened="by 1.001 η",
)
def equation_10(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """‖W(t+1)‖² = ‖W(t)‖² + 2η⟨W(t), −g/‖g‖⟩ + η² along the run."""
    norm, along = evidence.stage2("norm"), evidence.stage2("descent_on_weights")
    eta = evidence.eta * (1.001 if sharpened else 1)
    return [replay("update", norm, along, eta, evidence.steps2, evidence.names)]


@claim(
    "algorithm-1",
    "Section 4.2, Algorithm 1",
    "Both stages start at zero and move by η₀ and by η against their gradients.",
    assumes=(SINGLE_VALUED, CHOICE, ZERO_START),
    on=TRAINING,
    sharpened="by 1.001 η₀ and 1.001 η",
)
def algorithm_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The starts, and the two update rules as in Eqs. (7) and (10)."""
    return [
        _at_zero(evidence, "start of W_ov", evidence.stage1("norm"), evidence.steps1),
        _at_zero(evidence, "start of W_kq", evidence.stage2("norm"), evidence.steps2),
        *equation_7.check(evidence, sharpened),
        *equation_10.check(evidence, sharpened),
    ]


def _at_zero(e: Trained, part: str, norm: np.ndarray, steps: np.ndarray) -> Judgement:
    """The norm at step 0."""
    start = np.where(steps[None, :] == 0, norm, 0.0)
    zero = np.zeros_like(start)
    return equal(part, start, zero, steps=steps, names=e.names, tolerance=0.0)


@claim(
    "equation-11",
    "Appendix C.4, Eq. (11)",
    "If x_lᵀWx_q ≤ x_l'ᵀWx_q − C for some l', then φ_l ≤ e^{−C}.",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="φ_l ≤ e^{−C}/2",
)
def equation_11(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """The largest log φ_l + C over all inputs and pairs, at random W."""
    worst = evidence.series["weight_ratio"]
    return [
        at_points(
            at_least,
            evidence,
            "log-weight",
            -worst,
            np.full_like(worst, np.log(2) * sharpened),
            tolerance=1e-12,
        )
    ]


@claim(
    "equation-13",
    "Appendix C.6, Eq. (13)",
    "Optimal tokens lead by at least ‖W(t)‖/‖W_kq*‖ − 2‖W(t)‖·‖W(t)/‖W(t)‖ − W_kq*/‖W_kq*‖‖.",
    assumes=STAGE_2,
    on=TRAINING,
    sharpened="by ‖W(t)‖/‖W_kq*‖ · 3",
)
def equation_13(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The smallest lead over all comparable pairs."""
    norm = evidence.stage2("norm")
    distance = np.sqrt(2 * evidence.stage2("one_minus_correlation"))
    bound = norm / evidence.norm_kq - 2 * norm * distance
    if sharpened:
        bound = 3 * norm / evidence.norm_kq
    return [
        in_stage_2(
            evidence,
            "lead",
            evidence.stage2("smallest_margin"),
            later(evidence.steps2, 1, bound),
            baseline=-np.sqrt(2) * norm,
            tolerance=1e-12 * (1 + norm),
        )
    ]
