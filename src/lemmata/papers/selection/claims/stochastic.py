"""Lemma E.7 and the proof of Theorem E.6: the two-scalar dynamics with random encodings."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lemmata.claims import (
    Bench,
    Comparison,
    Identity,
    Silence,
    at_least,
    at_most,
    equal,
    repaired,
    statements,
)
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import STOCHASTIC, Descent
from ..experiments.plans import numbers_of
from ..setting import RESTRICTED, Plan, Task

PROOF = "Appendix E.3, proof of Theorem E.6"

claim = partial(statements("selection"), hypotheses=(RESTRICTED,), on=STOCHASTIC)

ONE_STEP = 64 * float(np.finfo(float).eps)
"""Rounding of one step, relative to alpha or C."""

INTERPOLATION = 1e-11
"""Of alpha after one step over the tabulated attention: 3.3e-12 was measured.

Hermite cubics interpolate 1 - q s_+ and the sum of squares outside the subset separately, so that
between the points of the table the second is the square of the first over T - q only nearly.
"""


def uniform_attention(bench: Bench) -> Comparison:
    """Attention that looks nowhere, and alpha = 1/2: one step of the gradient of the loss."""
    plan = Plan("T=20 q=2 d=1, uniform attention, alpha = 1/2", Task(20, 2, 1), 0.05, 1e-3)
    columns = numbers_of([plan])
    T, q, alpha = columns["T"], columns["q"], np.array([[0.5]])
    u = 1 - q / T
    slope = (1 - u) * (1 - alpha + alpha * u) / q - alpha * u**2 / (T - q)
    columns |= {"alpha": alpha, "missed": u, "next_alpha": alpha + plan.rate * slope}
    return update_of_alpha(Evidence((plan,), columns=columns), sign=1.0)


@claim(
    "lemma-e.7",
    "Appendix E.3",
    "alpha(t+1) = alpha + eta s (1 - q alpha s + alpha (1 - q s)^2 / ((T-q) s)), s the mean "
    "attention on a chosen position.",
    hypotheses=(),
    kind="misprint",
    counterexample=uniform_attention,
    sign=1.0,
    versions=[repaired("The same with a minus sign before the last term.", sign=-1.0)],
)
def update_of_alpha(evidence: Evidence[Any], sign: float) -> Identity:
    T, q, alpha, u = evidence.T, evidence.q, evidence.alpha, evidence.missed
    s = (1 - u) / q
    printed = evidence.rate * (s * (1 - q * alpha * s) + sign * alpha * u**2 / (T - q))
    return equal(
        evidence.next_alpha - alpha,
        printed,
        rounding=INTERPOLATION / np.abs(printed),
        part="update of alpha",
        cases=evidence.cases,
    )


def base_increment(case: Descent) -> np.ndarray:
    """eta (d alpha / d_e) E[s_+ (1 - q s_+)] K: the growth of C if all gaps were 1."""
    T, q, d = case.task.T, case.task.q, case.task.d
    alpha, mean = case["alpha"], (1 - case["missed"]) / q
    K = 1 - q * alpha * (T * mean - 1) / (T - q)
    moments = np.array([_chosen_times_missed(case.gaps, q, C) for C in case["C"]])
    return case.plan.rate * d * alpha / case.inertia * K * moments


def _chosen_times_missed(gaps: np.ndarray, q: int, C: float) -> float:
    weights = np.exp(-C * gaps).sum(axis=1)
    return float((weights / (q + weights) ** 2).mean())


def by_isometry(case: Descent) -> tuple[float, float]:
    """(1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta)."""
    delta = case.delta
    return (1 - 3 * delta) / (1 - 2 * delta), (1 - delta) / (1 - 2 * delta)


def by_inner_products(case: Descent) -> tuple[float, float]:
    """1 - g and 1 + g, g the largest |<e_i, e_y>| off y, from the family itself."""
    largest = float(np.abs(1 - case.gaps).max())
    return 1 - largest, 1 + largest


@claim(
    "lemma-e.7/concentration",
    "Appendix E.3",
    "C grows by between (1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta) times "
    "eta (d alpha/d_e) E[s_+ (1 - q s_+)] (1 - q alpha (T s - 1)/(T-q)).",
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
) -> list[Comparison]:
    """Where the base is positive; a small increment of C is a difference of larger numbers."""
    base = evidence.each(base_increment)
    base = np.where(base > 0, base, np.nan)
    turned = evidence.next_C - evidence.C
    low, high = evidence.each(factors).T[:, :, None]
    rounding = ONE_STEP * evidence.next_C / base
    return [
        at_least(turned, low * base, rounding=rounding, size=base, part="lower bound"),
        at_most(turned, high * base, rounding=rounding, size=base, part="upper bound"),
    ]


@claim(
    "theorem-e.6/power",
    PROOF,
    "q^a / ((T-q)^a + q^a) >= (q/T)^a with a = 2 delta/(1 - 3 delta).",
    hypotheses=(),
    kind="constant",
)
def power(evidence: Evidence[Descent]) -> Comparison:
    T, q, delta = evidence.T, evidence.q, evidence.each(lambda case: case.delta)
    a = 2 * delta / (1 - 3 * delta)
    return at_least(q**a / ((T - q) ** a + q**a), (q / T) ** a, part="share")


@claim("theorem-e.6/concentration", PROOF, "C never decreases.")
def concentration(evidence: Evidence[Descent]) -> Comparison:
    return at_least(evidence.next_C, evidence.C, rounding=ONE_STEP, part="C(t+1) >= C(t)")


def ih2_top(evidence: Evidence[Descent], u: np.ndarray) -> np.ndarray:
    """(1 + (1 - d_e/(8 T d)) r) alpha*."""
    T, q = evidence.T, evidence.q
    share = 1 - evidence.inertia / (8 * T * evidence.d)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(theory.ceiling(u, T, q, share))


def narrow(evidence: Evidence[Descent]) -> Evidence[Descent]:
    """Plans with d_e <= T d."""
    return evidence.where(lambda case: case.inertia <= case.task.T * case.task.d)


NO_NARROW = Silence("no plan has d_e <= T d", applies=False, part="d_e <= T d")


@claim(
    "theorem-e.6/ih2",
    PROOF,
    "(IH2): in Phase II alpha stays between 1 - kappa/10 and (1 + (1 - d_e/(8Td)) r) alpha*.",
    kind="hypothesis",
    versions=[
        repaired("The same where d_e <= T d, as the end of the proof supposes.", only_narrow=True)
    ],
)
def ih2(evidence: Evidence[Descent], only_narrow: bool = False) -> list[Comparison]:
    """From the end of Phase I on."""
    runs = narrow(evidence) if only_narrow else evidence
    if not len(runs):
        return [NO_NARROW]
    alpha = np.where(runs.phase == 2, runs.alpha, np.nan)
    how: dict[str, Any] = {"rounding": ONE_STEP, "cases": runs.cases}
    return [
        at_least(alpha, 1 - 0.1 * runs.kappa, part="lower end", **how),
        at_most(alpha, ih2_top(runs, runs.missed), part="upper end", **how),
    ]


@claim(
    "theorem-e.6/s3",
    PROOF,
    "(S3) and the band above it: one step from inside (IH2) ends inside (IH2), where d_e <= T d "
    "and s >= 1/sqrt(Tq).",
)
def s3(evidence: Evidence[Descent]) -> Comparison:
    runs = narrow(evidence)
    if not len(runs):
        return NO_NARROW
    u, top = runs.missed, ih2_top(runs, runs.missed)
    inside = (u <= 1 - np.sqrt(runs.q / runs.T)) & (runs.alpha <= top)
    return at_most(
        np.where(inside, runs.next_alpha, np.nan),
        ih2_top(runs, runs.next_missed),
        rounding=ONE_STEP,
        part="alpha after a step",
        cases=runs.cases,
    )


def at_first_stage(case: Descent) -> np.ndarray:
    """q s_+ of every encoding and subset at C = (1-2 delta)/(1-3 delta) log((T-q)/q)."""
    T, q, delta = case.task.T, case.task.q, case.delta
    C = (1 - 2 * delta) / (1 - 3 * delta) * np.log((T - q) / q)
    weights = np.exp(-C * case.gaps).sum(axis=1)
    return q / (q + weights)


@claim(
    "theorem-e.6/first-stage",
    PROOF,
    "At C = (1-2 delta)/(1-3 delta) log((T-q)/q) all s_+ are at most 1/(2q).",
    kind="misprint",
    compare=at_most,
    versions=[repaired("There all s_+ are at least 1/(2q).", compare=at_least)],
)
def first_stage(evidence: Evidence[Descent], compare: Callable[..., Comparison]) -> Comparison:
    attention = evidence.each(at_first_stage)
    return compare(attention, 0.5, part="q s_+", places=np.arange(attention.shape[1]))
