"""Section 5.1 and Appendix B: the feed-forward layer goes to W_ov*."""

from collections.abc import Sequence

import numpy as np

from lemmata.old_claims import Judgement, Status, at_least, equal
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.claims._terms import (
    ASSUMPTION_2,
    CHOICE,
    ORDERS,
    SINGLE_VALUED,
    STAGE_1,
    at_points,
    claim,
    in_stage_1,
    later,
    rounding,
)
from lemmata.papers.convergence.experiments import (
    LONG_STAGE_1,
    RANDOM_POINTS,
    TRAINING,
    Points,
    Trained,
)

AT_POINTS = (SINGLE_VALUED, ORDERS, ASSUMPTION_2, CHOICE)


def _norm_bounds(e: Trained, sharpened: bool) -> list[Judgement]:
    """t eta_0 >= ||W_ov(t)|| >= t eta_0 / (2 ||W_ov*||), for a start at zero."""
    reach = e.steps1 * e.eta0
    slack = rounding(e.steps1, reach)
    norm = e.stage1("norm")
    lower = 1.01 * reach if sharpened else reach / (2 * e.norm_ov)
    return [
        in_stage_1(
            e, "norm, lower", norm, later(e.steps1, 1, lower), baseline=0.0, tolerance=slack
        ),
        in_stage_1(e, "norm, upper", -norm, -reach, tolerance=slack),
    ]


def _cosine_bound(e: Trained, sharpened: bool, constant: int) -> Judgement:
    bound = theory.value_cosine_bound(
        np.maximum(e.steps1, 1), e.eta0, e.norm_ov, e.K, -constant if sharpened else constant
    )
    starts = [
        theory.first_step(
            lambda t, d=d, eta=eta: theory.value_cosine_bound(t, eta, d.norm_ov, d.K, constant),
            0.0,
            np.e,
        )
        for d, eta in zip(e.datasets, e.eta0[:, 0], strict=True)
    ]
    return in_stage_1(
        e,
        "direction",
        1 - e.stage1("one_minus_correlation"),
        later(e.steps1, 2, bound),
        baseline=0.0,
        informative_from=starts,
        tolerance=1e-15,
    )


def _loss_rate(e: Trained, sharpened: bool) -> Judgement:
    """log L_0 <= log c - eta_0 t / (4 ||W_ov*||), with the smallest c that covers t <= T/2."""
    rate = e.eta0 / e.norm_ov * (2.0 if sharpened else 0.25)
    excess = e.stage1("log_loss") + rate * e.steps1
    half = e.steps1 <= e.steps1[-1] / 2
    constant = excess[:, half].max(axis=1, keepdims=True)
    judged = in_stage_1(
        e, "loss", -e.stage1("log_loss"), rate * e.steps1 - constant, tolerance=1e-9
    )
    if judged.witness is not None:
        judged.witness["constant"] = float(np.exp(constant.max()))
    return judged


@claim(
    "proposition-1",
    "Section 5.1",
    "For t ≥ 2: tη₀/(2‖W_ov*‖) ≤ ‖W_ov(t)‖ ≤ tη₀, cos(W_ov(t), W_ov*) ≥ 1 − 5‖W_ov*‖³ log(2|V|) "
    "log t/(tη₀), and L₀ = O(exp(−η₀t/(4‖W_ov*‖))).",
    assumes=(*STAGE_1, ORDERS),
    on=TRAINING,
    sharpened="‖W_ov(t)‖ ≥ 1.01 tη₀, the cosine exceeds 1, the loss falls twice as fast as it does",
)
def proposition_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The body's version, with the constant 5."""
    return [
        *_norm_bounds(evidence, sharpened),
        _cosine_bound(evidence, sharpened, 5),
        _loss_rate(evidence, sharpened),
    ]


@claim(
    "proposition-1/appendix",
    "Appendix B, Proposition 3",
    "As Proposition 1 without the loss, with 12 in the place of 5.",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="‖W_ov(t)‖ ≥ 1.01 tη₀ and the cosine exceeds 1",
)
def proposition_1_appendix(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The appendix's version, with the constant 12."""
    return [*_norm_bounds(evidence, sharpened), _cosine_bound(evidence, sharpened, 12)]


@claim(
    "proposition-3",
    "Appendix B",
    "The restatement of Proposition 1 in the appendix: norms, and the cosine with constant 12.",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="‖W_ov(t)‖ ≥ 1.01 tη₀ and the cosine exceeds 1",
)
def proposition_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Listed under its own number too."""
    return proposition_1_appendix.check(evidence, sharpened)


@claim(
    "lemma-1",
    "Appendix B",
    "tη₀ + ‖W_ov(0)‖ ≥ ‖W_ov(t)‖ ≥ tη₀/(2‖W_ov*‖) − ‖W_ov(0)‖.",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="‖W_ov(t)‖ ≥ 1.01 tη₀",
)
def lemma_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """Along Algorithm 1, which starts at zero."""
    return _norm_bounds(evidence, sharpened)


@claim(
    "lemma-1/step",
    "Appendix B, proof of Lemma 1",
    "⟨−∇L₀/‖∇L₀‖, W_ov*⟩ ≥ 1/2 at every W_ov.",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="the inner product exceeds ‖W_ov*‖",
)
def lemma_1_step(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """At random points; the sharp constant is 1/√2."""
    bound = evidence.each(lambda d: 1.01 * d.norm_ov if sharpened else 0.5)
    measured = evidence.series["value_descent"]
    return [
        at_points(
            at_least,
            evidence,
            "descent",
            measured,
            np.broadcast_to(bound, measured.shape),
            baseline=0.0,
            tolerance=1e-13,
        )
    ]


@claim(
    "lemma-2",
    "Appendix B",
    "⟨W/‖W‖, ∇L₀⟩ ≥ (1 + 2‖W_ov*‖ log(2|V|)/‖W‖) ⟨W_ov*/‖W_ov*‖, ∇L₀⟩ for W = W_ov(t), t ≥ 1.",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="the left-hand side exceeds ‖∇L₀‖",
)
def lemma_2(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """At random W, where it is not trivial; both sides divided by ‖∇L₀‖."""
    series = evidence.series
    norm = evidence.each(lambda d: d.norm_ov)
    size = evidence.each(lambda d: d.K)
    factor = 1 + 2 * norm * np.log(2 * size) / series["value_norm"]
    bound = np.full_like(factor, 1.01) if sharpened else -factor * series["value_descent"] / norm
    return [
        at_points(
            at_least,
            evidence,
            "alignment",
            -series["value_descent_on_itself"],
            bound,
            baseline=-1.0,
            tolerance=1e-12,
        )
    ]


@claim(
    "lemma-3",
    "Appendix C.1",
    "From a start at zero, all wrong tokens of a column have the same logit, at every t.",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="n(x) has that logit too",
)
def lemma_3(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """The largest spread over all columns; it is zero to the last bit."""
    spread = evidence.stage1("largest_margin" if sharpened else "wrong_spread")
    return [in_stage_1(evidence, "equal logits", -spread, np.zeros_like(spread))]


def _corollary_hypothesis(e: Trained) -> Judgement | None:
    needed = [
        theory.corollary_1_steps(float(eta), d.norm_ov, d.K)
        for d, eta in zip(e.datasets, e.eta0[:, 0], strict=True)
    ]
    if max(needed) <= e.T:
        return None
    return Judgement(
        "hypothesis",
        Status.INAPPLICABLE,
        f"T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀ is not met: it asks for T ≥ {max(needed):.4g}, "
        f"and T = {e.T}",
        informative_from=max(needed),
        witness={"assumption": "T >= 384 |W_ov*|^5 log(2|V|) log T / eta0", "needed": max(needed)},
    )


def _margins(e: Trained) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    delta = e.T * e.eta0 / (4 * e.norm_ov**2)
    return delta, e.stage1("smallest_margin")[:, -1:], e.stage1("largest_margin")[:, -1:]


@claim(
    "corollary-1",
    "Appendix C.1",
    "If T ≥ 384‖W_ov*‖⁵ log(2|V|) log T/η₀, every margin of W_ov(T) lies in (Δ, 3Δ) for Δ = "
    "Tη₀/(4‖W_ov*‖²), and wrong tokens tie.",
    assumes=STAGE_1,
    on=LONG_STAGE_1,
    sharpened="the margins lie below Δ",
)
def corollary_1(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """At T. The margin is Tη₀/‖W_ov*‖ = 4‖W_ov*‖Δ, and 4‖W_ov*‖ ≥ 4 > 3."""
    unmet = _corollary_hypothesis(evidence)
    if unmet is not None and not sharpened:
        return [unmet]
    delta, smallest, largest = _margins(evidence)
    how = {"steps": evidence.steps1[-1:], "names": evidence.names, "strict": True}
    upper = delta if sharpened else 3 * delta
    spread = evidence.stage1("wrong_spread")[:, -1:]
    return [
        at_least("above Δ", smallest, delta, baseline=0.0, **how),
        at_least("below 3Δ", -largest, -upper, **how),
        equal(
            "wrong tokens tie",
            spread,
            np.zeros_like(spread),
            steps=how["steps"],
            names=evidence.names,
            tolerance=0.0,
        ),
    ]


@claim(
    "corollary-1/lower",
    "Appendix C.1",
    "The half of Corollary 1 that is true: every margin of W_ov(T) exceeds Δ.",
    assumes=STAGE_1,
    on=LONG_STAGE_1,
    sharpened="every margin exceeds 5‖W_ov*‖Δ",
)
def corollary_1_lower(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """At T."""
    unmet = _corollary_hypothesis(evidence)
    if unmet is not None and not sharpened:
        return [unmet]
    delta, smallest, _ = _margins(evidence)
    bound = 5 * evidence.norm_ov * delta if sharpened else delta
    return [
        at_least(
            "above Δ",
            smallest,
            bound,
            steps=evidence.steps1[-1:],
            names=evidence.names,
            baseline=0.0,
            strict=True,
        )
    ]


@claim(
    "section-c.1/equal-margins",
    "Appendix C.1, after Corollary 1",
    "The simplification that all margins of W_ov(T) equal Tη₀/(4‖W_ov*‖²).",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="they equal twice that",
)
def equal_margins(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """They are equal indeed, but 4‖W_ov*‖ times larger than it says."""
    delta, smallest, largest = _margins(evidence)
    how = {"steps": evidence.steps1[-1:], "names": evidence.names}
    tolerance = rounding(evidence.steps1[-1:], largest)
    return [
        equal("all equal", largest, smallest, tolerance=tolerance, **how),
        equal("value", smallest, delta * (1 + sharpened), tolerance=tolerance, **how),
    ]


@claim(
    "equation-5",
    "Appendix A, Eq. (5)",
    "Column x of ∇L₀ is softmax(W_ov x) − e_{n(x)}.",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="times 1 + 1e-6",
)
def equation_5(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """Projected on random directions, against complex-step derivatives of L₀."""
    left = evidence.series["equation_5"] * (1 + 1e-6 * sharpened)
    return [
        at_points(
            equal,
            evidence,
            "gradient",
            left,
            evidence.series["derivative_5"],
            tolerance=1e-12,
        )
    ]


@claim(
    "equation-7",
    "Appendix B, Eq. (7)",
    "Each update of stage 1 moves W_ov by exactly η₀ against the gradient.",
    assumes=STAGE_1,
    on=TRAINING,
    sharpened="by 1.001 η₀",
)
def equation_7(evidence: Trained, sharpened: bool) -> Sequence[Judgement]:
    """‖W(t+1)‖² = ‖W(t)‖² + 2η₀⟨W(t), −g/‖g‖⟩ + η₀² along the run."""
    norm, along = evidence.stage1("norm"), evidence.stage1("descent_on_weights")
    eta = evidence.eta0 * (1.001 if sharpened else 1)
    return [replay("update", norm, along, eta, evidence.steps1, evidence.names)]


def replay(
    part: str,
    norm: np.ndarray,
    along: np.ndarray,
    eta: np.ndarray,
    steps: np.ndarray,
    names: list[str],
) -> Judgement:
    """Compare each norm with the one that the update rule gives from the step before."""
    follows = np.diff(steps) == 1
    if not follows.any():
        return Judgement(part, Status.UNDECIDED, "no two consecutive steps were recorded")
    before, after = norm[:, :-1][:, follows], norm[:, 1:][:, follows]
    projected = np.where(before == 0, 0.0, before * along[:, :-1][:, follows])
    expected = np.sqrt(before**2 + 2 * eta * projected + eta**2)
    return equal(
        part,
        after,
        expected,
        steps=steps[1:][follows],
        names=names,
        tolerance=1e-13 * (1 + after),
    )


@claim(
    "equation-8",
    "Appendix B, Eq. (8)",
    "⟨W_ov*, ∇L₀⟩ ≤ −Σ_x (1 − T₀(x)_{n(x)}).",
    assumes=AT_POINTS,
    on=RANDOM_POINTS,
    sharpened="with 1.001 times the right-hand side",
)
def equation_8(evidence: Points, sharpened: bool) -> Sequence[Judgement]:
    """As logarithms of the two negatives. It is an equality, since all margins of W_ov* are 1."""
    series = evidence.series
    with np.errstate(divide="ignore"):
        left = series["value_log_gradient"] + np.log(series["value_descent"])
    right = series["log_miss"] + np.log(1.001) * sharpened
    return [
        at_points(
            at_least,
            evidence,
            "projection",
            left,
            right,
            tolerance=1e-11 * (1 + np.abs(right)),
        )
    ]
