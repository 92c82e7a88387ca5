"""The proof of Theorem D.4 along descents: its phases, its hypothesis and its rates."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.claims import Bench, Comparison, Inequality, at_least, at_most, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import ONE_HOT, Descent
from ..experiments.plans import numbers_of
from ..experiments.settled import SETTLED, Settled
from ..setting import SMALL_LOSS, SMALL_STEP, SPARSE, Plan, Task

HYPOTHESES = (SPARSE, SMALL_LOSS, SMALL_STEP)
PROOF = "Appendix D.2, proof of Theorem D.4"

claim = statements("selection", hypotheses=HYPOTHESES, on=ONE_HOT)

ROUNDING = 8 * np.finfo(float).eps
"""Of one step, relative to alpha or C."""


def in_phase(evidence: Evidence[Descent], phase: int, values: np.ndarray) -> np.ndarray:
    """The values of one phase; NaN elsewhere."""
    return np.where(evidence.phase == phase, values, np.nan)


def grows_by(evidence: Evidence[Descent], least: np.ndarray, here: Any = True) -> Inequality:
    """The increment of C, a difference of two numbers, is at least this where it is looked at.

    The bounds know s_+ as 1 - u, which is good to a rounding over q/T at first.
    """
    turned = np.where(here, evidence.next_C - evidence.C, np.nan)
    rounding = ROUNDING / (1 - evidence.missed)
    return at_least(turned, least, rounding=rounding, size=evidence.next_C, part="increment")


@claim("theorem-d.4/concentration", PROOF, "C never decreases.")
def concentration(evidence: Evidence[Descent]) -> Comparison:
    return at_least(evidence.next_C, evidence.C, rounding=ROUNDING, part="C(t+1) >= C(t)")


@claim(
    "theorem-d.4/growth", PROOF, "Phase I: alpha does not decrease until it reaches 1 - kappa/10."
)
def growth(evidence: Evidence[Descent]) -> Comparison:
    before = in_phase(evidence, 1, evidence.alpha)
    return at_least(evidence.next_alpha, before, rounding=ROUNDING, part="alpha")


@claim(
    "theorem-d.4/phase-1",
    PROOF,
    "Phase I takes O(T log(d/epsilon) / eta) steps; by the contraction (1 - eta/T)^t of the proof "
    "at most (T/eta) ln(10/kappa) + 1.",
)
def phase_1(evidence: Evidence[Descent]) -> Comparison:
    grown = np.where(evidence.grown >= 0, evidence.grown, np.nan)
    bound = evidence.T / evidence.rate * np.log(10 / evidence.kappa) + 1
    return at_most(grown, bound, part="length")


@claim(
    "theorem-d.4/ih1",
    PROOF,
    "(IH1): in Phase II alpha stays between 1 - kappa/10 and (1 + (1 - 1/(8d)) r) alpha*.",
)
def ih1(evidence: Evidence[Descent]) -> list[Comparison]:
    alpha = in_phase(evidence, 2, evidence.alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = theory.ceiling(evidence.missed, evidence.T, evidence.q, 1 - 1 / (8 * evidence.d))
    return [
        at_least(alpha, 1 - 0.1 * evidence.kappa, rounding=ROUNDING, part="lower end"),
        at_most(alpha, top, rounding=ROUNDING, part="upper end"),
    ]


@claim(
    "theorem-d.4/below-best",
    PROOF,
    "While s_+ < 1/sqrt(Tq), alpha stays below alpha*, also one step later.",
)
def below_best(evidence: Evidence[Descent]) -> Comparison:
    T, q = evidence.T, evidence.q
    early = evidence.missed > 1 - np.sqrt(q / T)
    best = np.where(early, theory.best_alpha(evidence.next_missed, T, q), np.nan)
    return at_most(evidence.next_alpha, best, strict=True, rounding=ROUNDING, part="alpha < alpha*")


def after_start(evidence: Evidence[Descent]) -> np.ndarray:
    """Records from t = 1 on: at t = 0 everything is zero."""
    assert evidence.steps is not None
    return evidence.steps >= 1


def by_reversed_step(evidence: Evidence[Descent]) -> tuple[np.ndarray, np.ndarray]:
    """(eta/8) u^2 / (q (T-1) D), from the first step on."""
    T, q, u = evidence.T, evidence.q, evidence.missed
    least = evidence.rate * u**2 / (8 * q * (T - 1) * theory.denominator(u, T, q))
    return least, after_start(evidence)


def before_reversed_step(evidence: Evidence[Descent]) -> tuple[np.ndarray, np.ndarray]:
    """(eta/8) (T-q) s_+^2 u^2 / ((T-1) D^2), in Phase II."""
    T, q, u = evidence.T, evidence.q, evidence.missed
    s, D = theory.chosen(u, q), theory.denominator(u, T, q)
    return evidence.rate * (T - q) * s**2 * u**2 / (8 * (T - 1) * D**2), evidence.phase == 2


def without_alpha(evidence: Evidence[Descent]) -> tuple[np.ndarray, np.ndarray]:
    """eta d s_+ u^2 / (2 (T-1) D), in Phase I from the first step on."""
    least, here = with_alpha(evidence)
    return least / (2 * np.where(here, evidence.alpha, 1.0)), here


def with_alpha(evidence: Evidence[Descent]) -> tuple[np.ndarray, np.ndarray]:
    """eta d alpha s_+ u^2 / ((T-1) D), likewise."""
    T, q, d, u = evidence.T, evidence.q, evidence.d, evidence.missed
    D = theory.denominator(u, T, q)
    least = evidence.rate * d * evidence.alpha * theory.chosen(u, q) * u**2 / ((T - 1) * D)
    return least, (evidence.phase == 1) & after_start(evidence)


@claim(
    "theorem-d.4/growth-in-phase-1",
    PROOF,
    "In Phase I, C grows by at least eta d s_+ (1 - q s_+)^2 / (2 (T-1) D) in a step t >= 1.",
    kind="hypothesis",
    bound=without_alpha,
    versions=[
        repaired(
            "In Phase I, C grows by at least eta d alpha s_+ (1 - q s_+)^2 / ((T-1) D): the "
            "printed bound needs alpha >= 1/2, and alpha starts at 0.",
            bound=with_alpha,
        )
    ],
)
@claim(
    "theorem-d.4/growth-of-c",
    PROOF,
    "C grows by at least (eta/8) (1 - q s_+)^2 / (q (T-1) D) in every step t >= 1.",
    kind="substance",
    bound=by_reversed_step,
    versions=[
        repaired(
            "In Phase II, C grows by at least (eta/8) (T-q) s_+^2 (1 - q s_+)^2 / ((T-1) D^2).",
            bound=before_reversed_step,
        )
    ],
)
def growth_of_c(
    evidence: Evidence[Descent],
    bound: Callable[[Evidence[Descent]], tuple[np.ndarray, np.ndarray]],
) -> Comparison:
    """By the bound that is printed before a step in the wrong direction, and by that after it."""
    least, here = bound(evidence)
    return grows_by(evidence, least, here)


@claim(
    "theorem-d.4/stage-1",
    PROOF,
    "From Phase II on and while s_+ < 1/(2q), C grows by at least eta / (8 T^2) in a step.",
)
def stage_1(evidence: Evidence[Descent]) -> Comparison:
    here = (evidence.missed > 0.5) & (evidence.phase == 2)
    return grows_by(evidence, evidence.rate / (8 * evidence.T**2), here)


@claim(
    "theorem-d.4/stage-2",
    PROOF,
    "From s_+ = 1/(2q) on and while s_+ < (1 - kappa)/q, C grows by at least "
    "eta q epsilon / (8 d (T-1) T) in a step.",
)
def stage_2(evidence: Evidence[Descent]) -> Comparison:
    T, q, d = evidence.T, evidence.q, evidence.d
    here = (evidence.missed <= 0.5) & (evidence.missed > evidence.kappa)
    return grows_by(evidence, evidence.rate * q * evidence.epsilon / (8 * d * (T - 1) * T), here)


def small_example(bench: Bench) -> Comparison:
    """At the printed C even the best alpha leaves a large loss."""
    plan = Plan("T=20 q=2 d=1 eps=0.0005", Task(20, 2, 1), rate=0.05, epsilon=5e-4)
    evidence = Evidence((plan,), columns=numbers_of([plan]))
    return threshold(evidence, theory.concentration_printed)


@claim(
    "theorem-d.4/threshold",
    PROOF,
    "C >= log(q^-1 sqrt(dT / (q (T-q) epsilon))) is enough for the second stage to end with "
    "L <= epsilon.",
    hypotheses=(SPARSE, SMALL_LOSS),
    on=SETTLED,
    kind="constant",
    counterexample=small_example,
    concentration=theory.concentration_printed,
    versions=[
        repaired(
            "With the factor (T-q) in the logarithm it is enough: "
            "C >= log((T-q) (1-kappa) / (q kappa)).",
            concentration=theory.concentration_needed,
        )
    ],
)
def threshold(evidence: Evidence[Any], concentration: Callable[..., Any]) -> Inequality:
    """The least loss over alpha at that C."""
    T, q, d = evidence.T, evidence.q, evidence.d
    u = theory.missed(concentration(T, q, d, evidence.epsilon), T, q)
    loss = theory.two_level_loss(theory.best_alpha(u, T, q), u, T, q, d)
    return at_most(loss, evidence.epsilon, part="loss", cases=evidence.cases)


@claim(
    "theorem-d.4/final-loss",
    PROOF,
    "If s_+ >= (1 - kappa)/q and alpha is in the interval of (IH1), then L <= epsilon.",
    hypotheses=(SPARSE, SMALL_LOSS),
    on=SETTLED,
)
def final_loss(evidence: Evidence[Settled]) -> list[Comparison]:
    """At both ends of the interval, for 1 - q s_+ from kappa down."""
    T, q, d = evidence.T, evidence.q, evidence.d
    shares, kappa = np.geomspace(1, 1e-6, 200), theory.kappa(T, q, d, evidence.epsilon)
    u = kappa * shares
    ends = {
        "lower end": 1 - 0.1 * kappa,
        "upper end": theory.ceiling(u, T, q, 1 - 1 / (8 * d)),
    }
    return [
        at_most(
            theory.two_level_loss(alpha, u, T, q, d), evidence.epsilon, part=part, places=shares
        )
        for part, alpha in ends.items()
    ]
