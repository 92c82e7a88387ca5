"""Appendices A and C: Algorithm 1, the gradient of the attention layer, and the lemmas."""

from dataclasses import replace

import numpy as np

from lemmata.claims import Bench, Comparison, Version, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from .. import theory
from ..counterexamples import skewed, stuck
from ..experiments import (
    ANY_STEPS,
    LARGE_STEPS,
    PRINTED,
    RANDOM_POINTS,
    TRAINED_MODELS,
    TRAINING,
    UPDATES,
    WITHOUT_ASSUMPTION_3,
    followed,
)
from ..setting import (
    ASSUMPTION_2,
    AT_POINTS,
    CHOICE,
    PREIMAGE,
    REALIZABLE,
    SINGLE_VALUED,
    STAGE_2,
    STANDING,
    VALUES_FROM_ZERO,
    ZERO_START,
    Dataset,
    TwoStage,
)
from ._facts import on_its_own
from ._training import EPS, largest_inverse_frequency, norm_bounds, optimal_mass

claim = statements("convergence", on=TRAINING, hypotheses=STAGE_2)
anywhere = statements("convergence", on=PRINTED, hypotheses=AT_POINTS)
"""For statements about any weights, off the trajectory."""


@anywhere(
    "lemma-4",
    "Appendix C.1",
    "With equal margins Δ, ⟨∇L, W'⟩ = Δ Σ π [(T_y − 1) Σ_{l∈l(n)} φ_l (x_l − x̄) + Σ_{l∉l(n)} "
    "T_{n(x_l)} φ_l (x_l − x̄)]ᵀ W' x_q.",
    hypotheses=(*AT_POINTS, PREIMAGE),
)
def lemma_4(evidence: Evidence[Dataset]) -> Comparison:
    """At random W and W', against complex-step derivatives of L."""
    return equal(evidence.formula_4, evidence.slope_4, part="projection", size=evidence.terms_4)


@claim(
    "lemma-5",
    "Appendix C.2",
    "From a start at zero the attention weight of an optimal token never decreases: φ_l(t) ≥ "
    "φ_l(0) ≥ 1/L_max.",
    on=ANY_STEPS,
    versions=[
        Version(
            "without-assumption-3",
            where="Appendix C.2, without Assumption 3",
            statement="Lemma 5 for prefix-closed data without Assumption 3 (ours; where data is "
            "not prefix-closed it takes Assumption 3).",
            hypotheses=(*STANDING, ASSUMPTION_2, CHOICE, ZERO_START),
            on=WITHOUT_ASSUMPTION_3,
        )
    ],
)
def lemma_5(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Every step, in log-odds.

    A gain is a difference of log-odds of this size, which no earlier step enters.
    """
    size = 1 + np.abs(evidence.smallest_log_odds) + evidence.norm
    return [
        at_least(evidence.smallest_gain, 0.0, part="never decreases", size=size, rounding=64 * EPS),
        at_least(evidence.smallest_growth, 0.0, part="above its start", size=size),
        at_least(evidence.smallest_weight, 1 / evidence.L, part="above 1/L", baseline=0.0),
    ]


_FROM_ANYWHERE = (*(h for h in STAGE_2 if h is not ZERO_START), VALUES_FROM_ZERO)


def _stuck(bench: Bench) -> list[Comparison]:
    """Attention swings between two tokens, and W_kq stays where it is."""
    training = TwoStage(rate=0.5, steps=1_200, record="log")
    alone = followed(stuck(), training)
    return on_its_own(alone, lemma_6(alone))


@claim(
    "lemma-6",
    "Appendix C.3",
    "tη + ‖W_kq(0)‖ ≥ ‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) − ‖W_kq(0)‖ for any W_kq(0), because "
    "cos(−∇L, W_kq*) ≥ min_n φ₊/(2‖W_kq*‖) ≥ 1/(2L‖W_kq*‖).",
    hypotheses=_FROM_ANYWHERE,
    on=ANY_STEPS,
    kind="hypothesis",
    counterexample=_stuck,
    versions=[
        Version(
            "repaired",
            statement="Lemma 6 for W_kq(0) = 0, where Lemma 5 gives min_n φ₊ ≥ 1/L: tη ≥ "
            "‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) and cos(−∇L, W_kq*) ≥ min_n φ₊/(2‖W_kq*‖).",
            hypotheses=STAGE_2,
        )
    ],
)
def lemma_6(evidence: Evidence[Dataset]) -> list[Comparison]:
    """From another start attention can swing for long between tokens that are not optimal."""
    mass = optimal_mass(evidence.smallest_log_odds)
    bound = mass / (2 * evidence.norm_kq)
    return [
        *norm_bounds(evidence, evidence.rate, 2 * evidence.L * evidence.norm_kq),
        at_least(evidence.descent_on_target, bound, part="cosine", baseline=0.0, size=1.0),
    ]


@anywhere(
    "lemma-6/step",
    "Appendix C.3, proof of Lemma 6",
    "cos(−∇L, W_kq*) ≥ min_n φ₊/(2‖W_kq*‖) at every W_kq, when the margins of W_ov are equal.",
    hypotheses=(*STANDING, ASSUMPTION_2, CHOICE),
    on=RANDOM_POINTS,
)
def lemma_6_step(evidence: Evidence[Dataset]) -> Comparison:
    """At random points, off the trajectory; a cosine adds up products of size up to 1."""
    norm = evidence.each(lambda d: d.norm_kq)
    return at_least(
        evidence.attention_descent / norm,
        evidence.smallest_weight / (2 * norm),
        part="cosine",
        baseline=0.0,
        size=1.0,
    )


def _rare(bench: Bench) -> list[Comparison]:
    """With one input that is rare enough, W_kq keeps its first direction for long."""
    training = TwoStage(rate=100.0, steps=80)
    alone = followed(skewed(-1e4), training)
    comparison = replace(
        lemma_7(alone),
        part="by the letter (in practice it holds: this takes 10^4342 sentences), the alignment",
    )
    return on_its_own(alone, comparison)


@claim(
    "lemma-7",
    "Appendix C.4",
    "For t ≥ t₀ = ⌈8L‖W_kq*‖²/η⌉: ⟨∇L, W(t)⟩ ≥ (1 + α_t) ⟨∇L, W_kq*⟩ ‖W(t)‖/‖W_kq*‖, α_t = "
    "4NL²‖W_kq*‖²(1 + log(2L‖W(t)‖))/‖W(t)‖.",
    on=LARGE_STEPS,
    kind="constant",
    counterexample=_rare,
    versions=[
        Version(
            "repaired",
            statement="Lemma 7 with 1/min π in the place of N, as its proof needs (it uses Nπ ≥ 1)"
            ".",
            parameters={"rarest": True},
        )
    ],
)
def lemma_7(evidence: Evidence[Dataset], rarest: bool = False) -> Comparison:
    """Read as a lower bound on cos(−∇L, W_kq*): at least cos(−∇L, W(t))/(1 + α_t).

    By the letter it is false, because it knows nothing of the frequencies; in practice α_t is so
    large that it excludes little.
    """
    norm = np.where(evidence.records > 0, evidence.norm, np.nan)
    N = evidence.each(largest_inverse_frequency) if rarest else evidence.N
    alpha = theory.lemma_7_alpha(norm, evidence.norm_kq, N, evidence.L)
    return at_least(
        evidence.descent_on_target,
        evidence.descent_on_weights / (1 + alpha),
        part="alignment",
        baseline=0.0,
        from_step=theory.lemma_7_start(evidence.rate, evidence.norm_kq, evidence.L),
    )


@claim(
    "lemma-7/step",
    "Appendix C.4, proof of Lemma 7",
    "Some input has weight φ₋ ≥ exp(−‖W(t)‖/‖W_kq*‖) on its non-optimal tokens.",
    on=LARGE_STEPS,
    kind="constant",
)
def lemma_7_step(evidence: Evidence[Dataset]) -> Comparison:
    """As logarithms. The factor φ_{l*} of Eq. (11) was lost; {abab, ba} shows it."""
    return at_least(
        -np.logaddexp(0.0, evidence.smallest_log_odds),
        -evidence.norm / evidence.norm_kq,
        part="log φ₋",
        from_step=theory.lemma_7_start(evidence.rate, evidence.norm_kq, evidence.L),
    )


@anywhere(
    "equation-6",
    "Appendix A, Eq. (6)",
    "∇L with respect to W_kq is Σ π X(diag φ − φφᵀ)Xᵀ W_ovᵀ(T − e_y) x_qᵀ.",
)
def equation_6(evidence: Evidence[Dataset]) -> Comparison:
    """Projected on random directions, against complex-step derivatives of L."""
    return equal(evidence.formula_6, evidence.slope_6, part="gradient", size=evidence.terms_6)


@claim(
    "equation-9",
    "Appendix C.1, Eq. (9)",
    "φ_l is the exponential of x_lᵀW_kq x_q, divided by the sum over the input.",
    hypotheses=(SINGLE_VALUED, PREIMAGE, CHOICE),
    on=TRAINED_MODELS,
)
def equation_9(evidence: Evidence[Dataset]) -> Comparison:
    """The recorded smallest optimal weight against the definition, at the last step."""
    recorded = evidence.smallest_weight[:, -1:]
    logits = evidence.norm[:, -1:] * evidence.each(lambda dataset: dataset.largest_logit)
    return equal(
        recorded,
        evidence.final_smallest_weight,
        part="smallest optimal weight",
        size=recorded * (1 + logits),
        places=evidence.records[-1:],
    )


@claim(
    "equation-10",
    "Appendix C.1, Eq. (10)",
    "Each update of stage 2 moves W_kq by exactly η against the gradient.",
    hypotheses=(REALIZABLE, CHOICE),
    on=UPDATES,
)
def equation_10(evidence: Evidence[Dataset]) -> Comparison:
    """The matrix after an update, against Eq. (6) as printed; realizable data has a gradient."""
    return equal(evidence.apart_2, 0.0, part="update", size=evidence.size_2)


@claim(
    "algorithm-1",
    "Section 4.2, Algorithm 1",
    "Both stages start at zero and move by η₀ and by η against their gradients.",
    hypotheses=(REALIZABLE, CHOICE, ZERO_START),
    on=UPDATES,
)
def algorithm_1(evidence: Evidence[Dataset]) -> list[Comparison]:
    """The starts, and the two update rules as in Eqs. (7) and (10)."""
    return [
        *(
            equal(start, 0.0, part="start", size=1.0)
            for start in (evidence.start_1, evidence.start_2)
        ),
        equal(evidence.apart_1, 0.0, part="update of stage 1", size=evidence.size_1),
        equal(evidence.apart_2, 0.0, part="update of stage 2", size=evidence.size_2),
    ]


@anywhere(
    "equation-11",
    "Appendix C.4, Eq. (11)",
    "If x_lᵀWx_q ≤ x_l'ᵀWx_q − C for some l', then φ_l ≤ e^{−C}.",
)
def equation_11(evidence: Evidence[Dataset]) -> Comparison:
    """The largest φ_l e^C over all inputs and pairs, at random W."""
    ratio = np.exp(evidence.weight_ratio)
    return at_most(ratio, 1.0, part="φ_l e^C", size=1 + evidence.largest_logit)


@claim(
    "equation-13",
    "Appendix C.6, Eq. (13)",
    "Optimal tokens lead by at least ‖W(t)‖/‖W_kq*‖ − 2‖W(t)‖·‖W(t)/‖W(t)‖ − W_kq*/‖W_kq*‖‖.",
)
def equation_13(evidence: Evidence[Dataset]) -> Comparison:
    """The smallest lead over all comparable pairs."""
    distance = np.sqrt(2 * evidence.one_minus_correlation)
    return at_least(
        evidence.smallest_margin,
        evidence.norm / evidence.norm_kq - 2 * evidence.norm * distance,
        part="lead",
        baseline=-np.sqrt(2) * evidence.norm,
        from_step=1,
        size=evidence.norm,
    )
