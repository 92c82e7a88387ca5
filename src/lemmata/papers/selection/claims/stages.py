"""The phases and stages in the proofs of Theorems D.4 and E.6, along descents, and Section 3.1."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from lemmata.claims import Comparison, Silence, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import (
    NARROW_DESCENTS,
    NARROW_STAGES,
    ONE_HOT,
    STALLED,
    STOCHASTIC,
    Descent,
)
from ..experiments.states import STATES, StateGrid
from ..experiments.steps import NARROW, STEPS, StepGrid
from ..setting import SPARSE, Plan
from . import phases, stochastic
from ._exponents import grows_like, spans
from .phases import ROUNDING, in_phase
from .stochastic import INTERPOLATION, NO_NARROW, ONE_STEP, by_isometry, narrow, shares

claim = statements("selection", on=STATES, hypotheses=(SPARSE,))
one_hot = statements("selection", on=ONE_HOT, hypotheses=phases.HYPOTHESES)
random = statements("selection", on=STOCHASTIC, hypotheses=stochastic.HYPOTHESES)


@one_hot(
    "theorem-d.4/growth-of-alpha",
    phases.PROOF,
    "In Phase I alpha grows by at least 0.1 eta kappa/T in a step (printed with n for eta).",
)
@random(
    "theorem-e.6/growth-of-alpha",
    stochastic.PROOF,
    "In Phase I alpha grows by at least 0.1 eta kappa/T in a step.",
)
def growth_of_alpha(evidence: Evidence[Descent]) -> Comparison:
    least = evidence.alpha + 0.1 * evidence.rate * evidence.kappa / evidence.T
    return at_least(
        in_phase(evidence, 1, evidence.next_alpha), least, rounding=ROUNDING, part="alpha(t+1)"
    )


@random(
    "theorem-e.6/phase-1",
    stochastic.PROOF,
    "Phase I takes O(T log(d/epsilon)/eta) steps; by the contraction (1 - eta/T)^t of the proof at "
    "most (T/eta) ln(10/kappa) + 1.",
)
def phase_1(evidence: Evidence[Descent]) -> Comparison:
    return phases.phase_1(evidence)


def grows_by(evidence: Evidence[Descent], least: Any, here: Any) -> Comparison:
    """The increment of C, a difference of two numbers and the slope of a table, is at least this.

    Attention 1 - u on the subset is good to a rounding over q/T at first.
    """
    with np.errstate(invalid="ignore", divide="ignore"):  # runs that diverge
        turned = np.where(here, evidence.next_C - evidence.C, np.nan)
        rounding = ONE_STEP / (1 - evidence.missed)
    return at_least(
        turned,
        least * (1 - INTERPOLATION),
        rounding=rounding,
        size=np.maximum(evidence.next_C, np.abs(least)),
        part="Delta C",
    )


def spread(case: Descent) -> np.ndarray:
    """E[s_+ (1 - q s_+)] over the family, at each record; one-hot: s_+ (1 - q s_+)."""
    if not case.gaps.size:
        return case["missed"] * (1 - case["missed"]) / case.task.q
    with np.errstate(over="ignore", invalid="ignore"):  # runs that diverge
        return np.array([shares(case.gaps, case.task.q, C).sum(axis=1).mean() for C in case["C"]])


def first_bound(evidence: Evidence[Descent]) -> Any:
    """eta d T E[s_+ (1 - q s_+)] (1 - q s)/(inertia (T-q)): with alpha, the growth in Phase I."""
    T, each = evidence.T, evidence.rate * evidence.d * evidence.each(spread) * evidence.missed
    return each * T / (evidence.inertia * (T - evidence.q))


def growth_at_zero(plan: Plan, options: Mapping[str, Any]) -> Comparison:
    """At t = 0 in fractions: attention is 1/T everywhere, and C stands still as alpha is 0."""
    T, q, s = plan.T, plan.q, Fraction(1, plan.T)
    bound = Fraction(plan.rate) * plan.d * s * (1 - q * s) ** 2 * T / (plan.inertia * (T - q))
    return at_least([Fraction(0)], [Fraction(7, 16) * bound])


@one_hot(
    "theorem-d.4/first-growth-in-phase-1",
    phases.PROOF,
    "In Phase I, C grows by at least eta alpha d T s_+ (1 - q s_+)^2/((T-1)(T-q)) in a step.",
    least=lambda evidence: evidence.alpha * first_bound(evidence),
)
@random(
    "theorem-e.6/growth-in-phase-1",
    stochastic.PROOF,
    "In Phase I, C grows by at least 7 eta d T E[s_+ (1 - q s_+)] (1 - q s)/(16 d_e (T-q)) in a "
    "step, as alpha > 1/2.",
    kind="hypothesis",
    exact=growth_at_zero,
    least=lambda evidence: 7 / 16 * first_bound(evidence),
    versions=[
        repaired(
            "In Phase I, C grows by at least 7 eta alpha d T E[s_+ (1 - q s_+)] (1 - q s)/"
            "(8 d_e (T-q)), the first display of Phase I: alpha starts at 0, not above 1/2.",
            least=lambda evidence: 7 / 8 * evidence.alpha * first_bound(evidence),
        )
    ],
)
def first_growth(
    evidence: Evidence[Descent], least: Callable[[Evidence[Descent]], Any]
) -> Comparison:
    return grows_by(evidence, least(evidence), evidence.phase == 1)


@one_hot(
    "theorem-d.4/stage-1-in-phase-1",
    phases.PROOF,
    "While s_+ < 1/(2q), C grows by at least eta/(8 T^2) in a step, from the start.",
    kind="hypothesis",
    least=0.0,
    versions=[
        repaired("The same once alpha >= 1/(2d): at t = 0 both alpha and C stand still.", least=0.5)
    ],
)
def stage_1(evidence: Evidence[Descent], least: float) -> Comparison:
    here = (evidence.missed > 0.5) & (evidence.alpha * evidence.d >= least)
    return grows_by(evidence, evidence.rate / (8 * evidence.T**2), here)


def in_first_stage(evidence: Evidence[Descent]) -> Any:
    """C <= (1-2 delta)/(1-3 delta) log((T-q)/q)."""
    most = np.log((evidence.T - evidence.q) / evidence.q) / theory.gap_bounds(evidence.delta)[0]
    return most >= evidence.C


def printed_power(evidence: Evidence[Descent]) -> Any:
    """(q/T)^(4 delta/(1 - 3 delta)), which is not below the square of 1 - q s_+."""
    return (evidence.q / evidence.T) ** (4 * evidence.delta / (1 - 3 * evidence.delta))


def true_power(evidence: Evidence[Descent]) -> Any:
    """(q^a/((T-q)^a + q^a))^2 with a = 2 delta/(1 - 3 delta), before the last step to it."""
    a = 2 * evidence.delta / (1 - 3 * evidence.delta)
    return 1 / (((evidence.T - evidence.q) / evidence.q) ** a + 1) ** 2


@random(
    "theorem-e.6/stage-1-in-phase-1",
    stochastic.PROOF,
    "In the first stage and Phase I, C grows by at least 7 eta d (q/T)^(4 delta/(1-3 delta))/"
    "(16 d_e (T-q)) in a step.",
    kind="hypothesis",
    share=lambda evidence: 7 / 16 * printed_power(evidence),
    versions=[
        repaired(
            "The same with 7 alpha/8 for 7/16, and with the square of q^a/((T-q)^a + q^a), "
            "a = 2 delta/(1-3 delta), for the power of q/T.",
            share=lambda evidence: 7 / 8 * evidence.alpha * true_power(evidence),
        )
    ],
)
def stage_1_in_phase_1(evidence: Evidence[Descent], share: Any) -> Comparison:
    each = evidence.rate * evidence.d / (evidence.inertia * (evidence.T - evidence.q))
    here = in_first_stage(evidence) & (evidence.phase == 1)
    return grows_by(evidence, share(evidence) * each, here)


def in_phase_2(evidence: Evidence[Descent], least: Any, here: Any, any_width: bool) -> Comparison:
    """The growth of C in Phase II; ``any_width`` also where d_e > T d."""
    looked_at = narrow(evidence) | any_width
    if not looked_at.any():
        return NO_NARROW
    return grows_by(evidence, least, here & looked_at & (evidence.phase == 2))


@random(
    "theorem-e.6/stage-1",
    stochastic.PROOF,
    "In the first stage and Phase II, C grows by at least 7 eta (q/T)^(4 delta/(1-3 delta))/"
    "(64 T (T-q)) in a step.",
    kind="hypothesis",
    power=printed_power,
    any_width=True,
    versions=[
        repaired(
            "The same for d_e <= T d, with the square of q^a/((T-q)^a + q^a), "
            "a = 2 delta/(1-3 delta), for the power of q/T.",
            on=NARROW_DESCENTS,
            power=true_power,
            any_width=False,
        )
    ],
)
def stage_1_in_phase_2(evidence: Evidence[Descent], power: Any, any_width: bool) -> Comparison:
    each = 7 * evidence.rate / (64 * evidence.T * (evidence.T - evidence.q))
    return in_phase_2(evidence, each * power(evidence), in_first_stage(evidence), any_width)


@random(
    "theorem-e.6/stage-2",
    stochastic.PROOF,
    "In the second stage, while s < (1 - kappa)/q, C grows by at least 7 eta q epsilon/(128 d T^2) "
    "in a step.",
    kind="hypothesis",
    any_width=True,
    versions=[
        repaired(
            "The same for d_e <= T d and eta < 2q.",
            hypotheses=stochastic.STABLE_TOO,
            on=NARROW_STAGES,
            any_width=False,
        )
    ],
)
def stage_2(evidence: Evidence[Descent], any_width: bool) -> Comparison:
    least = 7 * evidence.rate * evidence.q * evidence.epsilon / (128 * evidence.d * evidence.T**2)
    here = ~in_first_stage(evidence) & (evidence.missed > evidence.kappa)
    return in_phase_2(evidence, least, here, any_width)


@claim(
    "theorem-e.6/stage-2-constant",
    stochastic.PROOF,
    "(T-q)/(64 (2q)^2 T (T/q - 1)^2) >= 1/(128 T (T-q)), from the second line to the third.",
    kind="constant",
    constant=128,
    versions=[repaired("The same with 256 for 128.", constant=256)],
)
def stage_2_constant(evidence: Evidence[StateGrid], constant: int) -> Comparison:
    T, q = evidence.T, evidence.q
    second = (T - q) / (64 * (2 * q) ** 2 * T * (T / q - 1) ** 2)
    return at_least(second, 1 / (constant * T * (T - q)), part="second line")


@claim(
    "theorem-e.6/smaller-bound",
    stochastic.PROOF,
    "Of the two bounds on the growth of C in the first stage that of Phase II is the smaller one.",
    hypotheses=stochastic.HYPOTHESES,
    on=STEPS,
    kind="hypothesis",
    versions=[
        repaired(
            "The same for d_e <= T d; the paper's T >> d_e is not among its hypotheses.",
            hypotheses=(*stochastic.HYPOTHESES, NARROW),
        )
    ],
)
def smaller_bound(evidence: Evidence[StepGrid]) -> Comparison:
    return at_most(1 / (64 * evidence.T), evidence.d / (16 * evidence.inertia), part="Phase II")


@random(
    "theorem-e.6/second-stage",
    stochastic.PROOF,
    "At C = (1-2 delta)/(1-3 delta) log((T-q)/(q kappa)) mean attention s is at least "
    "(1 - kappa)/q.",
)
def second_stage(evidence: Evidence[Descent]) -> Comparison:
    numbers = (evidence.T, evidence.q, evidence.d, evidence.epsilon, evidence.delta)
    C = theory.concentration_reached(*numbers)

    def missed(case: Descent, C: float) -> float:
        others = np.exp(-C * case.gaps).sum(axis=1)
        return float((others / (case.task.q + others)).mean())

    found = [missed(case, float(at)) for case, at in zip(evidence, np.ravel(C), strict=True)]
    return at_most(np.array(found)[:, None], evidence.kappa, part="1 - q s")


@claim(
    "theorem-d.4/end-of-stage-1",
    phases.PROOF,
    "s_+ = 1/(2q) at C = log((T-q)/q).",
)
def end_of_stage_1(evidence: Evidence[StateGrid]) -> Comparison:
    T, q = evidence.T, evidence.q
    return equal(theory.missed(np.log((T - q) / q), T, q), 0.5, part="1 - q s_+")


@claim(
    "theorem-d.4/best-alpha-early",
    phases.PROOF,
    "alpha*(t+1) > alpha*(t) while s_+(t) < 1/sqrt(Tq).",
    kind="hypothesis",
    crossing=True,
    versions=[
        repaired(
            "The same while s_+(t+1) <= 1/sqrt(Tq): the step that crosses it may end lower.",
            crossing=False,
        )
    ],
)
def best_alpha_early(evidence: Evidence[StateGrid], crossing: bool) -> Comparison:
    """From s_+ just below 1/sqrt(Tq), with alpha = 1 and one step of the largest size."""
    T, q, d = evidence.T, evidence.q, evidence.d
    turning = 1 - np.sqrt(q / T)
    u = 1 - (1 - turning) * (1 - np.geomspace(0.3, 1e-7, 60))
    turn = evidence.rate * d * u**2 * (1 - u) * T / ((T - 1) * q * (T - q))
    others = q * u / (1 - u) * np.exp(-turn)
    next_u = others / (q + others)
    later = np.where(crossing | (next_u >= turning), theory.best_alpha(next_u, T, q), np.nan)
    return at_least(later, theory.best_alpha(u, T, q), part="alpha*(t+1)")


def reversed_bounds(evidence: Evidence[Descent], exchanged: bool = False) -> list[Comparison]:
    """The two bounds of Lemma E.7 where 1 - q alpha (T s - 1)/(T-q) < 0."""
    base = evidence.each(lambda case: stochastic.base_increment(case, -1))
    if np.isnan(base).all():
        return [Silence("the growth of C is nowhere negative", applies=False, part="bounds")]
    low, high = evidence.each(by_isometry).T[:, :, None]
    if exchanged:
        low, high = high, low
    turned = evidence.next_C - evidence.C
    how: dict[str, Any] = {
        "rounding": INTERPOLATION + ONE_STEP * np.abs(evidence.next_C / base),
        "size": np.abs(base),
        "cases": evidence.cases,
        "places": evidence.steps,
    }
    return [
        at_least(turned, low * base, part="lower bound", **how),
        at_most(turned, high * base, part="upper bound", **how),
    ]


@claim(
    "lemma-e.7/where-c-falls",
    "Appendix E.3",
    "The two bounds on the growth of C hold for all t, also where 1 - q alpha (T s - 1)/(T-q) < 0.",
    hypotheses=stochastic.HYPOTHESES,
    on=STALLED,
    kind="hypothesis",
    versions=[repaired("There the two bounds change places.", exchanged=True)],
)
def where_c_falls(evidence: Evidence[Descent], exchanged: bool = False) -> list[Comparison]:
    """Along plans that stall; the lower bound is above the upper one there."""
    return reversed_bounds(evidence, exchanged)


@one_hot(
    "section-3.1/alpha",
    "Section 3.1",
    "alpha does not grow monotonically: it rises above 1, and has fallen by the time that "
    "1 - q s_+ is below 1/10.",
)
def not_monotone(evidence: Evidence[Descent]) -> list[Comparison]:
    """Of runs that come so far."""
    end, last = evidence.missed[:, -1:], evidence.alpha[:, -1:]
    peak = np.where(end < 0.1, evidence.alpha.max(axis=1, keepdims=True), np.nan)
    if np.isnan(peak).all():
        return [Silence("no run comes so far", part="alpha")]
    once: dict[str, Any] = {"strict": True, "places": [0]}
    return [
        at_least(peak, 1.0, part="largest alpha", **once),
        at_least(peak, last, part="largest alpha against the last", **once),
    ]


@one_hot(
    "section-3.1/linear-growth",
    "Section 3.1",
    "In the first stage, until s_+ = 1/(2q), C grows at a linear rate: the increments of Phase II "
    "differ by no more than a factor that does not depend on T/q.",
    kind="substance",
    unbreakable="it is about how a ratio grows with T/q",
    power=0.0,
    versions=[
        repaired(
            "Increments grow with C by a factor of order T/q, and each is at least eta/(8 T^2).",
            power=1.0,
        )
    ],
)
def linear_growth(evidence: Evidence[Descent], power: float) -> Comparison:
    """The largest increment over the smallest, as a power of T/q."""
    here = (evidence.missed > 0.5) & (evidence.phase == 2)
    long = here.any(axis=1)
    sizes = (evidence.T / evidence.q)[long]
    if not spans(sizes):
        return Silence("one length cannot tell how a ratio grows with it", part="growth")
    turned = np.where(here, evidence.next_C - evidence.C, np.nan)[long]
    ratio = np.nanmax(turned, axis=1, keepdims=True) / np.nanmin(turned, axis=1, keepdims=True)
    return grows_like("largest increment over smallest", ratio, {"T/q": (sizes, power)})
