"""Lemma E.7 and the proof of Theorem E.6: the two-scalar dynamics with random encodings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from lemmata.claims import (
    Bench,
    Comparison,
    Identity,
    Inequality,
    Silence,
    at_least,
    at_most,
    equal,
    repaired,
    statements,
)
from lemmata.settings import Evidence

from .. import theory
from ..counterexamples import plan_of, three_vectors, with_more_positions
from ..experiments.descents import NARROW, NARROW_DESCENTS, STALLED, STOCHASTIC, Descent
from ..experiments.encodings import ENCODINGS, Ensemble
from ..experiments.matrices import STOCHASTIC_MATRICES, FullDescent
from ..experiments.plans import STABLE, Descending
from ..setting import (
    FITS,
    RESTRICTED,
    SMALL_LOSS,
    SPARSE,
    STOCHASTIC_STEP,
    Plan,
    ball_delta,
    ball_subsets,
)

PROOF = "Appendix E.3, proof of Theorem E.6"

HYPOTHESES = (SPARSE, SMALL_LOSS, STOCHASTIC_STEP, RESTRICTED)
"""Of Theorem E.6; that d_e is of the order of q log T / delta^2 says nothing of a single plan."""

STABLE_TOO = (*HYPOTHESES, STABLE)

claim = statements("selection", hypotheses=HYPOTHESES, on=STOCHASTIC)

ONE_STEP = 64 * float(np.finfo(float).eps)
"""Rounding of one step, relative to alpha or C."""

INTERPOLATION = 1e-6
"""Of the growth of C, relative: it is the slope of attention between points of a table."""


def second_step(plan: Plan, options: Mapping[str, Any]) -> Comparison:
    """The second step in fractions: C is still zero, and attention 1/T."""
    T, q, rate, s = plan.T, plan.q, Fraction(plan.rate), Fraction(1, plan.T)
    alpha = rate * s
    descends = rate * (q * s / q - alpha * T * s**2)
    printed = rate * (s * (1 - q * alpha * s) + alpha * (1 - q * s) ** 2 / (T - q))
    return equal([descends], [printed])


@claim(
    "lemma-e.7",
    "Appendix E.3",
    "alpha(t+1) = alpha + eta s (1 - q alpha s + alpha (1 - q s)^2 / ((T-q) s)), s the mean "
    "attention on a chosen position.",
    hypotheses=(FITS,),
    on=STOCHASTIC_MATRICES,
    kind="misprint",
    exact=second_step,
    sign=1.0,
    versions=[repaired("The same with a minus sign before the last term.", sign=-1.0)],
)
def update_of_alpha(evidence: Evidence[FullDescent], sign: float) -> Identity:
    """Along descent on whole matrices over all sign matrices, expectation inside."""
    inside = evidence.where(lambda case: case.average == "inside")
    alpha, s = inside.each(lambda case: case.alpha), inside.each(lambda case: case.chosen)
    T, q = (inside.each(lambda case, name=name: getattr(case.task, name)) for name in ("T", "q"))
    grows = s * (1 - q * alpha * s) + sign * alpha * (1 - q * s) ** 2 / (T - q)
    return equal(
        inside.each(lambda case: case.next_alpha - case.alpha),
        inside.each(lambda case: case.rate) * grows,
        rounding=1e-12,
        size=inside.each(lambda case: case.sizes[0]),
        part="update of alpha",
        cases=inside.cases,
        places=np.arange(alpha.shape[1]),
    )


def base_increment(case: Descent, sign: int = 1) -> np.ndarray:
    """eta (d alpha / d_e) E[s_+ (1 - q s_+)] K: the growth of C if all gaps were 1.

    Where K has this sign; NaN elsewhere.
    """
    T, q, d = case.task.T, case.task.q, case.task.d
    alpha, mean = case["alpha"], (1 - case["missed"]) / q
    K = 1 - q * alpha * (T * mean - 1) / (T - q)
    moments = [
        shares(case.gaps, q, C).sum(axis=1).mean() if sign * k > 0 else np.nan
        for C, k in zip(case["C"], K, strict=True)
    ]
    return case.plan.rate * d * alpha / case.inertia * K * np.array(moments)


def shares(gaps: np.ndarray, q: int, C: float) -> np.ndarray:
    """s_+ times the attention on each position outside, for every encoding and subset."""
    weights = np.exp(-C * gaps)
    return weights / (q + weights.sum(axis=1, keepdims=True)) ** 2


def by_isometry(case: Descent) -> tuple[Any, Any]:
    """By the delta of a family's worst encoding."""
    return theory.gap_bounds(case.delta)


def by_inner_products(case: Descent) -> tuple[float, float]:
    """1 - g and 1 + g, g the largest |<e_i, e_y>| off y, from the family itself."""
    largest = float(np.abs(1 - case.gaps).max())
    return 1 - largest, 1 + largest


LATER = np.array([1.0, 10.0, 50.0, 75.0, 100.0, 200.0])
"""Values that C comes to if training converges, the last one after some e^400 steps."""


def later_growth(case: Descent) -> np.ndarray:
    """The growth of C at these values over what it would be if all gaps were 1."""
    found = [shares(case.gaps, case.task.q, C) for C in LATER]
    return np.array([(share * case.gaps).sum() / share.sum() for share in found])


def later_growth_in_balls(plan: Plan, options: Mapping[str, Any]) -> list[Comparison]:
    """The same, with inner products in fractions."""
    subsets, delta, factors = ball_subsets(plan), ball_delta(plan), []
    for C in LATER:
        above = below = arb(0)
        for subset in subsets or ():
            weights = [(1 - g, many * (C * (g - 1)).exp()) for g, many in subset.others]
            total = plan.q + sum((weight for _, weight in weights), arb(0))
            for gap, weight in weights:
                above += subset.chance * gap * weight / total**2
                below += subset.chance * weight / total**2
        factors.append(above / below)
    low, high = (1 - 3 * delta) / (1 - 2 * delta), (1 - delta) / (1 - 2 * delta)
    return [at_least(factors, low), at_most(factors, high)]


def far_along(bench: Bench) -> list[Comparison]:
    """Ten sign vectors with delta = sqrt(2)/16, and all they become by flips and switches.

    The closest position, with <e_i, e_y> = 1/8, decides once C is above 75; so it is for the law
    of all encodings with that delta, the limit of the factor being 1 - max <e_i, e_y>.
    """
    plan = plan_of("10 sign vectors in 256 dimensions", with_more_positions(three_vectors(32)), 2)
    short = replace(STOCHASTIC, training=Descending(10))
    evidence = Bench(instances=[plan]).evidence(short)
    return [replace(one, cases=[plan]) for one in growth_of_c(evidence, by_isometry)[2:]]


@claim(
    "lemma-e.7/concentration",
    "Appendix E.3",
    "C grows by between (1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta) times "
    "eta (d alpha/d_e) E[s_+ (1 - q s_+)] (1 - q alpha (T s - 1)/(T-q)), for all t. It does "
    "not once C has become very large, C > 75 in the smallest example.",
    kind="constant",
    counterexample=far_along,
    exact=later_growth_in_balls,
    factors=by_isometry,
    versions=[
        repaired(
            "The same with 1 - g and 1 + g, g the largest |<e_i, e_y>| off y: any encodings.",
            hypotheses=(),
            factors=by_inner_products,
        )
    ],
)
def growth_of_c(
    evidence: Evidence[Descent], factors: Callable[[Descent], tuple[float, float]]
) -> list[Inequality]:
    """Where the base is positive; a small increment of C is a difference of larger numbers.

    Training that converges passes every C, at which the factor is known without running so long.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # runs that diverge
        base = evidence.each(base_increment)
        base = np.where(base > 0, base, np.nan)  # neither if alpha < 0
        turned = evidence.next_C - evidence.C
        rounding = INTERPOLATION + ONE_STEP * evidence.next_C / base
        later = np.where(evidence.rate < 2 * evidence.q, evidence.each(later_growth), np.nan)
    low, high = evidence.each(factors).T[:, :, None]
    then: dict[str, Any] = {"size": 1.0, "places": LATER}
    return [
        at_least(turned, low * base, rounding=rounding, size=base, part="lower bound"),
        at_most(turned, high * base, rounding=rounding, size=base, part="upper bound"),
        at_least(later, low, part="lower bound, by C", **then),
        at_most(later, high, part="upper bound, by C", **then),
    ]


@claim(
    "theorem-e.6/power",
    PROOF,
    "q^a / ((T-q)^a + q^a) >= (q/T)^a with a = 2 delta/(1 - 3 delta).",
    hypotheses=(),
    on=ENCODINGS,
    kind="constant",
)
def power(evidence: Evidence[Ensemble]) -> Comparison:
    T, q = (evidence.each(lambda case, k=k: getattr(case.task, k)) for k in ("T", "q"))
    delta = evidence.each(lambda case: case.worst.delta if case.worst.delta < 1 / 3 else np.nan)
    a = 2 * delta / (1 - 3 * delta)
    return at_least(q**a / ((T - q) ** a + q**a), (q / T) ** a, part="share")


def stalled(check: Callable[..., Any], **parameters: Any) -> Callable[[Bench], Any]:
    """The same asserted about plans within the hypotheses whose step size is above 2q."""
    return lambda bench: check(bench.evidence(STALLED), **parameters)


def c_grows(evidence: Evidence[Descent]) -> Comparison:
    """C(t+1) >= C(t)."""
    return at_least(
        evidence.next_C,
        evidence.C,
        rounding=ONE_STEP,
        part="C(t+1) >= C(t)",
        cases=evidence.cases,
        places=evidence.steps,
    )


@claim(
    "theorem-e.6/concentration",
    PROOF,
    "C never decreases.",
    kind="hypothesis",
    counterexample=stalled(c_grows),
    versions=[repaired("The same for eta < 2q.", hypotheses=STABLE_TOO)],
)
def concentration(evidence: Evidence[Descent]) -> Comparison:
    return c_grows(evidence)


def ih2_top(evidence: Evidence[Descent], u: np.ndarray) -> np.ndarray:
    """(1 + (1 - d_e/(8 T d)) r) alpha*."""
    T, q = evidence.T, evidence.q
    share = 1 - evidence.inertia / (8 * T * evidence.d)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(theory.ceiling(u, T, q, share))


def narrow(evidence: Evidence[Descent]) -> np.ndarray:
    """Where d_e <= T d."""
    return np.asarray(evidence.inertia <= evidence.T * evidence.d)


NO_NARROW = Silence("no plan has d_e <= T d", applies=False, part="d_e <= T d")


@claim(
    "theorem-e.6/ih2",
    PROOF,
    "(IH2): in Phase II alpha stays between 1 - kappa/10 and (1 + (1 - d_e/(8Td)) r) alpha*.",
    kind="hypothesis",
    versions=[
        repaired(
            "The same where eta < 2q and d_e <= T d, as the end of the proof supposes.",
            hypotheses=STABLE_TOO,
            on=NARROW_DESCENTS,
            only_narrow=True,
        )
    ],
)
def ih2(evidence: Evidence[Descent], only_narrow: bool = False) -> list[Comparison]:
    """From the end of Phase I on."""
    looked_at = narrow(evidence) | (not only_narrow)
    if not looked_at.any():
        return [NO_NARROW]
    alpha = np.where(looked_at & (evidence.phase == 2), evidence.alpha, np.nan)
    top = ih2_top(evidence, evidence.missed)
    return [
        at_least(alpha, 1 - evidence.kappa / 10, rounding=ONE_STEP, part="lower end"),
        at_most(alpha, top, rounding=ONE_STEP, part="upper end"),
    ]


def leaves_not(evidence: Evidence[Descent]) -> Comparison:
    """One step from inside (IH2) with s >= 1/sqrt(Tq), along descents with d_e <= T d."""
    if not narrow(evidence).any():
        return NO_NARROW
    u, top = evidence.missed, ih2_top(evidence, evidence.missed)
    inside = (u <= 1 - np.sqrt(evidence.q / evidence.T)) & (evidence.alpha <= top)
    return at_most(
        np.where(narrow(evidence) & inside, evidence.next_alpha, np.nan),
        ih2_top(evidence, evidence.next_missed),
        rounding=ONE_STEP,
        part="alpha after a step",
        cases=evidence.cases,
        places=evidence.steps,
    )


@claim(
    "theorem-e.6/s3",
    PROOF,
    "(S3) and the band above it: along descent one step from inside (IH2) ends inside (IH2), where "
    "d_e <= T d and s >= 1/sqrt(Tq).",
    on=NARROW,
    kind="hypothesis",
    counterexample=stalled(leaves_not),
    versions=[repaired("The same for eta < 2q.", hypotheses=STABLE_TOO)],
)
def s3(evidence: Evidence[Descent]) -> Comparison:
    return leaves_not(evidence)


def at_first_stage(case: Descent) -> np.ndarray:
    """q s_+ of every encoding and subset at C = (1-2 delta)/(1-3 delta) log((T-q)/q)."""
    T, q = case.task.T, case.task.q
    C = np.log((T - q) / q) / theory.gap_bounds(case.delta)[0]
    weights = np.exp(-C * case.gaps).sum(axis=1)
    return q / (q + weights)


def at_first_stage_in_balls(plan: Plan, options: Mapping[str, Any]) -> Comparison:
    """The same, with inner products in fractions."""
    subsets, q, delta = ball_subsets(plan), plan.q, ball_delta(plan)
    C = (1 - 2 * delta) / (1 - 3 * delta) * (arb(plan.T - q) / q).log()
    weights = [
        sum((many * (C * (inner - 1)).exp() for inner, many in subset.others), arb(0))
        for subset in subsets or ()
    ]
    return at_most([q / (q + weight) for weight in weights], arb(0.5))


@claim(
    "theorem-e.6/first-stage",
    PROOF,
    "At C = (1-2 delta)/(1-3 delta) log((T-q)/q) all s_+ are at most 1/(2q).",
    kind="misprint",
    exact=at_first_stage_in_balls,
    compare=at_most,
    versions=[repaired("There all s_+ are at least 1/(2q).", compare=at_least)],
)
def first_stage(evidence: Evidence[Descent], compare: Callable[..., Comparison]) -> Comparison:
    attention = evidence.each(at_first_stage)
    return compare(attention, 0.5, part="q s_+", places=np.arange(attention.shape[1]))
