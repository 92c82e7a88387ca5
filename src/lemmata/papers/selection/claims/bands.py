"""The inequalities in the proof of Theorem D.4, on a grid of states."""

from typing import Any

import numpy as np

from lemmata.claims import Comparison, at_least, at_most, equal, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.states import STATES, StateGrid
from ..setting import SPARSE

PROOF = "Appendix D.2, proof of Theorem D.4"

claim = statements("selection", hypotheses=(SPARSE,), on=STATES)

EPS = float(np.finfo(float).eps)


def gamma_of(evidence: Evidence[StateGrid]) -> np.ndarray:
    """gamma before the step."""
    return np.asarray(theory.gamma(evidence.alpha, evidence.u, evidence.T, evidence.q))


def after_a_step(evidence: Evidence[StateGrid], here: np.ndarray) -> Comparison:
    """gamma <= 1 - 1/(8d) one step after these states.

    gamma is a difference over r, and good to a few roundings over r.
    """
    T, q = evidence.T, evidence.q
    gamma = theory.gamma(evidence.next_alpha, evidence.next_u, T, q)
    return at_most(
        np.where(here, gamma, np.nan),
        1 - 1 / (8 * evidence.d),
        rounding=8 * EPS / theory.overshoot(evidence.next_u, T, q),
        size=1.0,
        part="gamma after a step",
    )


@claim(
    "theorem-d.4/s1", PROOF, "(S1): from gamma <= 1 - 1/(4d) one step leads to gamma <= 1 - 1/(8d)."
)
def s1(evidence: Evidence[StateGrid]) -> Comparison:
    return after_a_step(evidence, gamma_of(evidence) <= 1 - 1 / (4 * evidence.d))


@claim(
    "theorem-d.4/last-band",
    PROOF,
    "From gamma between 1 - 1/(4d) and 1 - 1/(8d) one step leads to gamma <= 1 - 1/(8d).",
)
def last_band(evidence: Evidence[StateGrid]) -> Comparison:
    return after_a_step(evidence, gamma_of(evidence) >= 1 - 1 / (4 * evidence.d))


@claim(
    "theorem-d.4/s2",
    PROOF,
    "(S2): with gamma <= 1 - 1/(4d), the upper end of (IH1) after a step is at least "
    "(1 + (1 - 1/(4d)) r) alpha* before it.",
)
def s2(evidence: Evidence[StateGrid]) -> Comparison:
    T, q, d = evidence.T, evidence.q, evidence.d
    before = theory.ceiling(evidence.u, T, q, 1 - 1 / (4 * d))
    after = theory.ceiling(evidence.next_u, T, q, 1 - 1 / (8 * d))
    inside = gamma_of(evidence) <= 1 - 1 / (4 * d)
    return at_least(np.where(inside, after, np.nan), before, part="upper end")


@claim(
    "theorem-d.4/increment",
    PROOF,
    "C grows by at most eta d / (4 q T) in a step once s_+ >= 1/sqrt(Tq).",
)
def increment(evidence: Evidence[StateGrid]) -> Comparison:
    bound = evidence.rate * evidence.d / (4 * evidence.q * evidence.T)
    return at_most(evidence.turn, bound, part="increment")


@claim(
    "theorem-d.4/squared-bound",
    PROOF,
    "C grows by at most eta (1 - gamma^2) d (T-q) s_+^2 (1 - q s_+)^2 / ((T-1) D^2) in a step.",
    kind="hypothesis",
    least=-np.inf,
    versions=[repaired("The same for gamma >= 0.", least=0.0)],
)
def squared_bound(evidence: Evidence[StateGrid], least: float) -> Comparison:
    """Both sides have a factor 1 - gamma, in which gamma is good to a rounding over r only."""
    T, q, d, u = evidence.T, evidence.q, evidence.d, evidence.u
    gamma = gamma_of(evidence)
    s, D = theory.chosen(u, q), theory.denominator(u, T, q)
    bound = evidence.rate * (1 - gamma**2) * d * (T - q) * s**2 * u**2 / ((T - 1) * D**2)
    # The increment has a factor 1 - q alpha (T s - 1) / (T-q), in which terms of size alpha cancel.
    unit = evidence.rate * d * evidence.alpha * u * (1 - u) / (q * (T - 1))
    left = np.abs(evidence.turn) / unit
    lost = 1 + 1 / (theory.overshoot(u, T, q) * np.abs(1 - gamma)) + (1 + evidence.alpha) / left
    return at_most(
        np.where(gamma >= least, evidence.turn, np.nan),
        bound,
        rounding=16 * EPS * lost,
        part="increment",
    )


@claim(
    "theorem-d.4/reversed-step",
    PROOF,
    "(T-q) s_+^2 / D >= 1/q, which turns one lower bound on the growth of C into the next.",
    kind="substance",
)
def reversed_step(evidence: Evidence[StateGrid]) -> Comparison:
    """At s_+ = 1/(2q)."""
    T, q = evidence.T, evidence.q
    left = (T - q) / (2 * q) ** 2 / theory.denominator(0.5, T, q)
    return at_least(left, 1 / q, part="(T-q) s^2 / D")


def printed_best_loss(T: Any, q: Any, d: Any, u: float) -> Any:
    """d T (1 - q s_+)^2 / (2 q (T-q))."""
    return d * T * u**2 / (2 * q * (T - q))


def true_best_loss(T: Any, q: Any, d: Any, u: float) -> Any:
    """d (1 - q s_+)^2 / (2 q D)."""
    return d * u**2 / (2 * q * theory.denominator(u, T, q))


@claim(
    "theorem-d.4/best-loss",
    PROOF,
    "L(alpha*) = d T (1 - q s_+)^2 / (2 q (T-q)).",
    kind="constant",
    formula=printed_best_loss,
    versions=[
        repaired("L(alpha*) = d (1 - q s_+)^2 / (2 q D), which is smaller.", formula=true_best_loss)
    ],
)
def best_loss(evidence: Evidence[StateGrid], formula: Any) -> Comparison:
    """At s_+ = 3/(4q)."""
    T, q, d, u = evidence.T, evidence.q, evidence.d, 0.25
    loss = theory.two_level_loss(theory.best_alpha(u, T, q), u, T, q, d)
    return equal(loss, formula(T, q, d, u), part="L(alpha*)")
