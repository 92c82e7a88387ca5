"""Section 5.1 and Appendix B: the feed-forward layer goes to W_ov*."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from lemmata.claims import Comparison, Silence, Version, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments import FIRST_STAGE, FROM_ANYWHERE, LONG_STAGE_1, PRINTED, RANDOM_POINTS, UPDATES
from ..setting import AT_POINTS, FIRST_LAYER, ORDERS, STAGE_1, Dataset
from ._training import EPS, norm_bounds

claim = statements("convergence", on=FIRST_STAGE, hypotheses=STAGE_1)
anywhere = statements("convergence", on=RANDOM_POINTS, hypotheses=AT_POINTS)
"""For statements about any weights, off the trajectory."""


@claim(
    "proposition-3",
    "Appendix B",
    "The restatement of Proposition 1 in the appendix: norms, and the cosine with constant 12.",
    constant=12,
    loss=False,
)
@claim(
    "proposition-1",
    "Section 5.1",
    "For t ≥ 2: tη₀/(2‖W_ov*‖) ≤ ‖W_ov(t)‖ ≤ tη₀, cos(W_ov(t), W_ov*) ≥ 1 − 5‖W_ov*‖³ log(2|V|) "
    "log t/(tη₀), and L₀ = O(exp(−η₀t/(4‖W_ov*‖))).",
    hypotheses=(*STAGE_1, ORDERS),
    constant=5,
    loss=True,
    versions=[
        Version(
            "appendix",
            where="Appendix B, Proposition 3",
            statement="As Proposition 1 without the loss, with 12 in the place of 5.",
            hypotheses=STAGE_1,
            parameters={"constant": 12, "loss": False},
        )
    ],
)
def proposition_1(evidence: Evidence[Dataset], constant: int, loss: bool) -> list[Comparison]:
    """Norm, direction and, in the body, the loss."""
    bounds = [
        *norm_bounds(evidence, evidence.value_rate, 2 * evidence.norm_ov),
        _direction(evidence, constant),
    ]
    return [*bounds, _loss_rate(evidence)] if loss else bounds


@claim(
    "lemma-1",
    "Appendix B",
    "tη₀ + ‖W_ov(0)‖ ≥ ‖W_ov(t)‖ ≥ tη₀/(2‖W_ov*‖) − ‖W_ov(0)‖ for any W_ov(0).",
    hypotheses=FIRST_LAYER,
    on=FROM_ANYWHERE,
)
def lemma_1(evidence: Evidence[Any]) -> list[Comparison]:
    """From random starts of several sizes; from zero it is part of Proposition 1."""
    return norm_bounds(evidence, evidence.value_rate, 2 * evidence.norm_ov)


def _direction(evidence: Evidence[Dataset], constant: int) -> Comparison:
    constants = np.hstack([evidence.value_rate, evidence.norm_ov, evidence.K])
    starts = [theory.value_bound_starts(*row, constant=constant) for row in constants]
    t = np.maximum(evidence.records, 1)
    return at_least(
        1 - evidence.one_minus_correlation,
        theory.value_cosine_bound(t, evidence.value_rate, evidence.norm_ov, evidence.K, constant),
        part="direction",
        baseline=0.0,
        informative_from=starts,
        from_step=2,
    )


def _loss_rate(evidence: Evidence[Dataset]) -> Comparison:
    """log L_0 <= log c - eta_0 t / (4 ||W_ov*||), with the smallest c that covers t <= T/2."""
    steps = evidence.records
    fall = evidence.value_rate / (4 * evidence.norm_ov) * steps
    excess = evidence.log_loss + fall
    constant = excess[:, steps <= steps[-1] / 2].max(axis=1, keepdims=True)
    size = np.abs(evidence.log_loss) + fall
    return at_most(evidence.log_loss, constant - fall, part="loss", size=size)


@anywhere(
    "lemma-1/step",
    "Appendix B, proof of Lemma 1",
    "⟨−∇L₀/‖∇L₀‖, W_ov*⟩ ≥ 1/2 at every W_ov.",
)
def lemma_1_step(evidence: Evidence[Dataset]) -> Comparison:
    """At random points; the sharp constant is 1/√2."""
    return at_least(evidence.value_descent, 0.5, part="descent", baseline=0.0)


@anywhere(
    "lemma-2",
    "Appendix B",
    "⟨W/‖W‖, ∇L₀⟩ ≥ (1 + 2‖W_ov*‖ log(2|V|)/‖W‖) ⟨W_ov*/‖W_ov*‖, ∇L₀⟩ for W = W_ov(t), t ≥ 1.",
)
def lemma_2(evidence: Evidence[Dataset]) -> Comparison:
    """At random W, where it is not trivial; both sides divided by ‖∇L₀‖."""
    norm, K = evidence.each(lambda d: d.norm_ov), evidence.each(lambda d: d.K)
    factor = 1 + 2 * norm * np.log(2 * K) / evidence.value_norm
    return at_least(
        -evidence.value_descent_on_itself,
        -factor * evidence.value_descent / norm,
        part="alignment",
        baseline=-1.0,
    )


@claim(
    "lemma-3",
    "Appendix C.1",
    "From a start at zero, all wrong tokens of a column have the same logit, at every t.",
)
def lemma_3(evidence: Evidence[Dataset]) -> Comparison:
    """The largest spread over all columns, next to the largest margin."""
    return equal(evidence.wrong_spread, 0.0, part="equal logits", size=evidence.largest_margin)


def _margin_in_balls(dataset: Dataset, options: Mapping[str, Any]) -> Comparison:
    """Tη₀/√(|V| − 1), which is what stage 1 gives from zero, against 3Tη₀/(4(|V| − 1))."""
    reach = arb(LONG_STAGE_1.training.stage1_steps) * arb(LONG_STAGE_1.training.stage1_rate)
    others = arb(dataset.K - 1)
    return at_most([[reach / others.sqrt()]], [[3 * reach / (4 * others)]])


@claim(
    "corollary-1",
    "Appendix C.1",
    "If T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀, every margin of W_ov(T) lies in (Δ, 3Δ) for Δ = "
    "Tη₀/(4‖W_ov*‖²), and wrong tokens tie.",
    on=LONG_STAGE_1,
    kind="constant",
    exact=_margin_in_balls,
    both=True,
    versions=[
        Version(
            "lower",
            statement="The half of Corollary 1 that is true: every margin of W_ov(T) exceeds Δ.",
            parameters={"both": False},
        )
    ],
)
def corollary_1(evidence: Evidence[Dataset], both: bool) -> list[Comparison]:
    """At T. The margin is Tη₀/‖W_ov*‖ = 4‖W_ov*‖Δ, and 4‖W_ov*‖ ≥ 4 > 3."""
    T = float(evidence.stage1_steps[0, 0])
    constants = np.hstack([evidence.value_rate, evidence.norm_ov, evidence.K])
    needed = np.array([[theory.corollary_1_steps(*row)] for row in constants])
    if (needed > T).all():
        reason = "T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀ is not met: it asks for"
        return [Silence(f"{reason} T ≥ {needed.min():.4g}, and T = {T:.0f}", applies=False)]
    delta, smallest, largest = (np.where(needed > T, np.nan, x) for x in _margins(evidence))
    lower = at_least(smallest, delta, part="above Δ", baseline=0.0, strict=True, places=[T])
    if not both:
        return [lower]
    spread = evidence.wrong_spread[:, -1:]
    return [
        lower,
        at_most(largest, 3 * delta, part="below 3Δ", strict=True, places=[T]),
        equal(spread, 0.0, part="wrong tokens tie", size=largest, places=[T]),
    ]


def _margins(evidence: Evidence[Dataset]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Δ, and the smallest and the largest margin at T."""
    delta = evidence.stage1_steps * theory.C0(evidence.value_rate, evidence.norm_ov)
    return delta, evidence.smallest_margin[:, -1:], evidence.largest_margin[:, -1:]


@claim(
    "section-c.1/equal-margins",
    "Appendix C.1, after Corollary 1",
    "Margins of W_ov(T) may be taken to be equal, since they are of the order of Δ = "
    "Tη₀/(4‖W_ov*‖²): they are equal, to 4‖W_ov*‖Δ.",
    on=replace(FIRST_STAGE, free=("stage1_rate", "stage1_steps")),
)
def equal_margins(evidence: Evidence[Dataset]) -> list[Comparison]:
    """The simplification of the paper is exact, with another Δ."""
    delta, smallest, largest = _margins(evidence)
    at = {"places": evidence.records[-1:], "rounding": (64 + evidence.records[-1]) * EPS}
    return [
        equal(largest, smallest, part="all equal", **at),
        equal(smallest, 4 * evidence.norm_ov * delta, part="value", **at),
    ]


@anywhere(
    "equation-5",
    "Appendix A, Eq. (5)",
    "Column x of ∇L₀ is softmax(W_ov x) − e_{n(x)}.",
    on=PRINTED,
)
def equation_5(evidence: Evidence[Dataset]) -> Comparison:
    """Projected on random directions, against complex-step derivatives of L₀."""
    return equal(evidence.formula_5, evidence.slope_5, part="gradient", size=evidence.terms_5)


@claim(
    "equation-7",
    "Appendix B, Eq. (7)",
    "Each update of stage 1 moves W_ov by exactly η₀ against the gradient.",
    on=UPDATES,
)
def equation_7(evidence: Evidence[Dataset]) -> Comparison:
    """The matrix after an update, against Eq. (5) as printed."""
    return equal(evidence.apart_1, 0.0, part="update", size=evidence.size_1)


@anywhere(
    "equation-8",
    "Appendix B, Eq. (8)",
    "⟨W_ov*, ∇L₀⟩ ≤ −Σ_x (1 − T₀(x)_{n(x)}).",
)
def equation_8(evidence: Evidence[Dataset]) -> Comparison:
    """As logarithms of the two negatives. It is an equality, since all margins of W_ov* are 1."""
    with np.errstate(divide="ignore"):
        descent = evidence.value_log_gradient + np.log(evidence.value_descent)
    size = 1 + np.abs(evidence.log_miss)
    return at_least(descent, evidence.log_miss, part="log-projection", size=size)
