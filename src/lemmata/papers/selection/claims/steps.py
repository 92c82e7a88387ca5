"""The induction for (IH1) and (IH2), display by display, on states and one step from each.

Both proofs leave out that their bounds on the growth of C need gamma >= 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.claims import Comparison, Inequality, at_least, at_most, equal, repaired
from lemmata.settings import Evidence

from .. import theory
from ._induction import EPS, NARROW_TOO, RANDOM, Check, Proof, Step, d4, e6, nonnegative
from .stochastic import STABLE_TOO


@d4("best-alpha", "alpha* >= 1 for s_+ between 1/T and 1/q, and it is largest at 1/sqrt(Tq).")
@e6(
    "best-alpha",
    "Mean attention s is at least 1/T on a chosen position, alpha* >= 1 for s between 1/T and 1/q, "
    "and it is largest at 1/sqrt(Tq).",
)
def best_alpha(evidence: Evidence[Any], proof: Proof) -> list[Comparison]:
    """On a grid of s, with its turning point."""
    T, q = evidence.T, evidence.q
    u = (1 - q / T) * np.linspace(0, 1, 101)
    found, most = theory.best_alpha(u, T, q), theory.best_alpha(1 - np.sqrt(q / T), T, q)
    compared: list[Comparison] = [
        at_least(found, 1.0, part="alpha* >= 1"),
        at_least(most, found, part="largest at 1/sqrt(Tq)"),
    ]
    if proof is RANDOM:
        compared.append(at_least((1 - evidence.u) / q, 1 / T, part="s >= 1/T"))
    return compared


@e6("increment-below-a-fifth", "With eta <= d_e^2/(40 d^2 T), Delta C < 1/5 inside (IH2).")
def below_a_fifth(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    return at_most(at.where(at.u > 0, at.turn), 0.2, strict=True, part="Delta C")


@e6(
    "expansion-condition",
    "The sum over positions off the subset of e^(-C (1 - g)) (1 - g) Delta C, g = <e_i, e_y>, is "
    "below 1/5.",
    kind="hypothesis",
    versions=[repaired("The same for eta < 2q.", hypotheses=STABLE_TOO)],
)
def expansion_condition(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    return at_most(at.where(at.u > 0, evidence.sum), 0.2, strict=True, part="sum")


@d4("expansion", "s_+(t+1) - s_+(t) <= (5/4) s_+ (1 - q s_+) Delta C.")
@e6("expansion", "s(t+1) - s(t) <= (45/32) s (1 - q s) Delta C for the mean attention s.")
def expansion(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    return at_most(at.moved, at.shift, rounding=at.rounding, part="growth of s_+")


@d4("star-decrement", "alpha*(t+1) >= (1 - 5 T q s_+^2 (1 - q s_+) Delta C/(4 D)) alpha*(t).")
@e6("star-decrement", "alpha*(t+1) >= (1 - T q s Delta s/D) alpha*(t).")
def star_decrement(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    return at_least(at.next_best, at.best * (1 - at.star_loss(at.put_in)), part="alpha*(t+1)")


def without_T(at: Step) -> Any:
    """The two terms before they are added: T is lost in the second."""
    return at.put_in / (at.q * at.s**2 * at.above) + at.put_in / (at.q * at.s * at.above**2)


@d4(
    "ratio-decrement",
    "r(t+1) >= r(t) - (5/4) s_+ (1 - q s_+) Delta C (2 T s_+ - 1)/(q s_+^2 (T s_+ - 1)^2).",
    loss=lambda at: at.ratio_loss(at.put_in),
)
@e6(
    "ratio-decrement",
    "r(t+1) >= r(t) - Delta s/(q s^2 (T s - 1)) - Delta s/(q s (T s - 1)^2).",
    kind="misprint",
    loss=without_T,
    versions=[
        repaired(
            "The same with T Delta s in the last term: r(t+1) >= r(t) - Delta s (2 T s - 1)/"
            "(q s^2 (T s - 1)^2), as the next line has it.",
            loss=lambda at: at.ratio_loss(at.put_in),
        )
    ],
)
def ratio_decrement(evidence: Evidence[Any], proof: Proof, loss: Check) -> Comparison:
    at = Step(evidence, proof)
    return at_least(at.next_r, at.r - loss(at), size=at.r, part="r(t+1)")


def upper_end_after(
    evidence: Evidence[Any], proof: Proof, factor: Check, misprinted: bool = False
) -> Inequality:
    """The upper end after a step, against that before it less both decrements.

    ``misprinted``: the share of the first part of the range without T in its denominator.
    """
    at = Step(evidence, proof)
    share = (1 - at.band / 4) * (at.T if misprinted else 1) + at.band / 8
    before = (1 + share * at.r) * at.best
    lost = factor(at) * at.star_loss(at.put_in) + at.ratio_loss(at.put_in)
    return at_least(at.next_top, before - lost * at.best, part="upper end")


T_RESTORED = "The same with T restored in the denominator 4dTq s (T s - 1)."


@d4(
    "star",
    "(*): the upper end of (IH1) after a step is at least (1 + (1 - 1/(4d)) r + r/(8d)) alpha* "
    "before it, less twice the decrement of alpha* and that of r.",
    factor=lambda at: 2.0,
)
@e6(
    "triple-star",
    "(***): the same for (IH2), with (4dT - d_e)/(4dq) for 1 - d_e/(4dT).",
    kind="misprint",
    factor=lambda at: 2.0,
    misprinted=True,
    versions=[repaired(T_RESTORED, hypotheses=NARROW_TOO, misprinted=False)],
)
@d4(
    "before-star",
    "The display before (*): the same with 1 + (1 - 1/(8d)) r(t+1) for the factor 2.",
    factor=lambda at: 1 + (1 - at.band / 8) * at.next_r,
)
@e6(
    "before-triple-star",
    "The display before (***): the same with 1 + (1 - d_e/(8dT)) r(t+1) for the factor 2.",
    kind="misprint",
    factor=lambda at: 1 + (1 - at.band / 8) * at.next_r,
    misprinted=True,
    versions=[repaired(T_RESTORED, hypotheses=NARROW_TOO, misprinted=False)],
)
def lower_bound(evidence: Evidence[Any], **how: Any) -> Comparison:
    return upper_end_after(evidence, **how)


@d4("hash", "(#): in the last band, the upper end of (IH1) falls by at most both decrements.")
@e6(
    "double-hash",
    "(##): in the last band, the upper end of (IH2) falls by at most both decrements.",
    hypotheses=NARROW_TOO,
)
def hash_bound(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    lost = 2 * at.star_loss(at.put_in) + at.ratio_loss(at.put_in)
    return at_least(at.where(at.high, at.next_top), at.top - lost * at.best, part="upper end")


@d4("ratio-at-most-one", "r <= 1 once s_+ >= 1/sqrt(Tq), with equality there.")
@e6("ratio-at-most-one", "r <= 1 once s >= 1/sqrt(Tq), with equality there.")
def ratio_at_most_one(evidence: Evidence[Any], proof: Proof) -> list[Comparison]:
    at = Step(evidence, proof)
    turning = theory.overshoot(1 - np.sqrt(at.q / at.T), at.T, at.q)
    near = 64 * EPS * (1 + 1 / at.above)
    return [
        at_most(at.r, 1.0, rounding=near, part="r(t)"),
        at_most(at.next_r, 1.0, rounding=near, part="r(t+1)"),
        equal(turning, 1.0, part="r at 1/sqrt(Tq)"),
    ]


def both_losses(at: Step) -> Any:
    """2 T q s Delta s/D + Delta s (2 T s - 1)/(q s^2 (T s - 1)^2)."""
    return 2 * at.star_loss(at.put_in) + at.ratio_loss(at.put_in)


def simpler_losses(at: Step) -> Any:
    """The same with q s (T s - 1) for D and 3 for (2 T s - 1)/(T s - 1): (**) and its twin."""
    first = 2 * at.T * at.q * at.s * at.shift / (at.q * at.s * at.above)
    return first + 3 * at.shift / (at.q * at.s**2 * at.above)


@d4(
    "needed-for-s2",
    "(1 - q s_+)/(8dq s_+ (T s_+ - 1)) is at least both decrements, and at least their bound (**), "
    "for gamma <= 1 - 1/(4d).",
)
@e6(
    "needed-for-s4",
    "d_e (1 - q s)/(8dTq s (T s - 1)) is at least both decrements, and at least their bound with "
    "45/16 and 135/32, for gamma <= 1 - d_e/(4dT).",
    kind="hypothesis",
    versions=[nonnegative()],
)
def needed(evidence: Evidence[Any], proof: Proof, lowest: float = -np.inf) -> list[Comparison]:
    """The band against the decrements; the bound on Delta C that is put in needs gamma >= 0."""
    at = Step(evidence, proof)
    here = at.low & (at.gamma >= lowest)
    return [
        at_most(at.where(here, lost(at)), at.band / 8 * at.r, part=part)
        for part, lost in (("decrements", both_losses), ("their bound", simpler_losses))
    ]


@d4("double-star", "(**): for T >= 4q both decrements are at most their simpler bound.")
@e6(
    "simpler-decrements",
    "For T >= 4q both decrements are at most 45 T q s^2 (1 - q s) Delta C/(16 q s (T s - 1)) + "
    "135 (1 - q s) Delta C/(32 q s (T s - 1)).",
)
def double_star(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    bound = simpler_losses(at)
    return at_most(both_losses(at), bound, rounding=at.rounding, part="decrements")


@e6(
    "decrements-in-numbers",
    "Both decrements, times s, are at most 405 eta d T (1 - q s)/(128 q^2 (T s - 1)(T-q) d_e) + "
    "1215 eta d (1 - q s)/(1024 q^2 (T s - 1) d_e), and that is below the band.",
    kind="hypothesis",
    versions=[nonnegative("The same for gamma >= 0.")],
)
def in_numbers(evidence: Evidence[Any], proof: Proof, lowest: float = -np.inf) -> list[Comparison]:
    """By (UP1) and (UP2); in between the paper loses eta, and has Delta C beside its own bound."""
    at = Step(evidence, proof)
    here = at.low & (at.gamma >= lowest)
    bound = at.unit * at.d / (at.q * at.inertia)
    bound = bound * (405 / 128 * at.T / (at.T - at.q) + 1215 / 1024)
    return [
        at_most(at.where(here, at.s * both_losses(at)), bound, part="decrements"),
        at_most(bound, at.band / 8 * at.s * at.r, part="bound"),
    ]


def lost_eta(at: Step) -> Any:
    """The first term of the third line as printed: without eta."""
    return with_eta(at) / at.rate


def with_eta(at: Step) -> Any:
    """405 eta d T (T-q) s^4 (1 - q s)^3/(128 (T s - 1) d_e D^2)."""
    return 405 / 128 * at.T * at.s**2 * at.u * at.growth / at.above


@e6(
    "lost-step-size",
    "405 d T (T-q) s^4 (1 - q s)^3/(128 (T s - 1) d_e D^2) is at most "
    "405 eta d T (1 - q s)/(128 q^2 (T s - 1)(T-q) d_e).",
    kind="misprint",
    left=lost_eta,
    versions=[repaired("The same with eta on the left.", left=with_eta)],
)
def lost_step_size(evidence: Evidence[Any], proof: Proof, left: Check) -> Comparison:
    at = Step(evidence, proof)
    bound = 405 / 128 * at.unit * at.d * at.T / (at.q * (at.T - at.q) * at.inertia)
    return at_most(left(at), bound, part="third line")


@d4(
    "increment-by-gamma",
    "Delta C = eta (1 - gamma)(1 + gamma r) alpha* d s_+ (1 - q s_+)^2/((T-1) D).",
    compare=equal,
)
@e6(
    "increment-by-gamma",
    "Delta C <= (9/8) eta (1 - gamma)(1 + gamma r) alpha* d s (1 - q s)^2/(d_e D).",
    compare=at_most,
)
def by_gamma(
    evidence: Evidence[Any], proof: Proof, compare: Callable[..., Comparison]
) -> Comparison:
    at = Step(evidence, proof)
    right = proof.excess * (1 - at.gamma) * (1 + at.gamma * at.r) * at.growth
    return compare(at.turn, right, rounding=at.rounding, part="Delta C")


@e6(
    "up1",
    "(UP1): Delta C <= eta (1 - gamma^2) 9d (T-q) s^2 (1 - q s)^2/(8 d_e D^2).",
    kind="hypothesis",
    versions=[repaired("The same for gamma >= 0.", lowest=0.0)],
)
def up1(evidence: Evidence[Any], proof: Proof, lowest: float = -np.inf) -> Comparison:
    at = Step(evidence, proof)
    bound = proof.excess * (1 - at.gamma**2) * at.growth
    turn = at.where(at.gamma >= lowest, at.turn)
    return at_most(turn, bound, rounding=at.rounding, part="Delta C")


@e6("up2", "(UP2): Delta C <= 9 eta d/(32 q d_e).")
def up2(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    bound = 9 * at.rate * at.d / (32 * at.q * at.inertia)
    return at_most(at.where(at.u > 0, at.turn), bound, part="Delta C")


@e6(
    "s4",
    "(S4): with gamma <= 1 - d_e/(4dT), the upper end of (IH2) after a step is at least "
    "(1 + (1 - d_e/(4dT)) r) alpha* before it.",
    kind="hypothesis",
    versions=[nonnegative()],
)
def s4(evidence: Evidence[Any], proof: Proof, lowest: float = -np.inf) -> Comparison:
    at = Step(evidence, proof)
    before = (1 + (1 - at.band / 4) * at.r) * at.best
    here = at.low & (at.gamma >= lowest)
    return at_least(at.where(here, at.next_top), before, part="upper end")


@e6(
    "s4-implies-s3",
    "From below alpha*(t) one step leads to below alpha*(t): alpha moves towards it and does not "
    "cross it.",
    kind="hypothesis",
    most=np.inf,
    versions=[repaired("The same for eta < q.", most=1.0)],
)
def no_crossing(evidence: Evidence[Any], proof: Proof, most: float) -> Comparison:
    """1 - eta s/alpha* > 0 needs eta < q alpha* as s -> 1/q."""
    at = Step(evidence, proof)
    here = (at.alpha < at.best) & (at.rate < most * at.q)
    return at_most(at.where(here, evidence.next_alpha), at.best, part="alpha(t+1)")


@e6(
    "below-best",
    "While s < 1/sqrt(Tq), alpha < alpha* stays so after a step.",
    kind="hypothesis",
    versions=[repaired("The same for eta < 2q.", hypotheses=STABLE_TOO)],
)
def below_best(evidence: Evidence[Any], proof: Proof) -> Comparison:
    """1 - eta s/alpha* > 0 is true for eta <= sqrt(Tq) only."""
    T, q = evidence.T, evidence.q
    early = (evidence.u > 1 - np.sqrt(q / T)) & (
        evidence.alpha < theory.best_alpha(evidence.u, T, q)
    )
    best = np.where(early, theory.best_alpha(evidence.next_u, T, q), np.nan)
    return at_most(evidence.next_alpha, best, part="alpha(t+1)")


@d4(
    "last-update",
    "In the last band alpha(t+1) is at most the upper end less (1 - 1/(4d)) eta (1 - q s_+)/"
    "(q (T s_+ - 1)).",
)
@e6(
    "last-update",
    "In the last band alpha(t+1) is at most the upper end less (1 - d_e/(4dT)) eta (1 - q s)/"
    "(q (T s - 1)).",
)
def last_update(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    bound = at.top - (1 - at.band / 4) * at.unit
    return at_most(at.where(at.high, evidence.next_alpha), bound, size=at.top, part="alpha(t+1)")


@d4(
    "better-increment",
    "In the last band Delta C <= (eta/2)(T-q) s_+^2 (1 - q s_+)^2/((T-1) D^2).",
)
@e6(
    "better-increment",
    "In the last band Delta C <= 9 eta (T-q) s^2 (1 - q s)^2/(16 T D^2), for d_e <= T d.",
    hypotheses=NARROW_TOO,
)
def better_increment(evidence: Evidence[Any], proof: Proof) -> Comparison:
    at = Step(evidence, proof)
    bound = proof.excess * at.band / 2 * at.growth
    return at_most(at.where(at.high, at.turn), bound, rounding=at.rounding, part="Delta C")


@d4(
    "terms-of-hash",
    "In the last band the two terms of (#) are at most 5/14 and 15/64 times eta (1 - q s_+)/"
    "(q (T s_+ - 1)), together less than 1 - 1/(4d).",
)
@e6(
    "terms-of-double-hash",
    "In the last band the two terms of (##) are at most 405/1024 and 1215/4096 times eta (1 - q s)/"
    "(q (T s - 1)), together less than 1 - d_e/(4dT), for d_e <= T d.",
    hypotheses=NARROW_TOO,
)
def terms_of_hash(evidence: Evidence[Any], proof: Proof) -> list[Comparison]:
    at = Step(evidence, proof)
    terms = (
        ("first term", 2 * at.star_loss(at.put_in), proof.first),
        ("second term", at.ratio_loss(at.put_in), proof.second),
    )
    together = at_most(proof.first + proof.second, 1 - at.band / 4, part="together")
    return [
        *(
            at_most(at.where(at.high, lost * at.best), share * at.unit, part=part)
            for part, lost, share in terms
        ),
        together,
    ]


@d4(
    "growth-in-phase-2",
    "Under (IH1), Delta C >= eta alpha s_+ (1 - q s_+)^2/((T-1) D).",
    kind="misprint",
    least=lambda at: at.rate * at.alpha * at.spread * at.u / (at.inertia * at.D),
    versions=[
        repaired(
            "The same with eta/8: the display has (d-1)/d where (IH1) has (8d-1)/(8d).",
            least=lambda at: at.rate * at.alpha * at.spread * at.u / (8 * at.inertia * at.D),
        )
    ],
)
@e6(
    "growth-in-phase-2",
    "Under (IH2), Delta C >= (7/64) eta alpha E[s_+ (1 - q s_+)] (1 - q s)/(T D): the factor "
    "1 - q alpha (T s - 1)/(T-q), printed without alpha, is at least d_e (1 - q s)/(8Td D).",
    least=lambda at: 7 / 64 * at.rate * at.alpha * at.spread * at.u / (at.T * at.D),
)
@e6(
    "growth-by-mean-attention",
    "Under (IH2), Delta C >= 7 eta (T-q) s E[s_+ (1 - q s_+)] (1 - q s)/(64 T D^2).",
    kind="hypothesis",
    least=lambda at: 7 / 64 * at.rate * at.best * at.spread * at.u / (at.T * at.D),
    versions=[nonnegative()],
)
def growth_in_phase_2(
    evidence: Evidence[Any], proof: Proof, least: Any, lowest: float = -np.inf
) -> Comparison:
    at = Step(evidence, proof)
    here = at.gamma >= lowest
    return at_least(at.where(here, at.turn), least(at), rounding=at.rounding, part="Delta C")
