"""The inequalities in the proof of Theorem D.4, on a grid of states."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from lemmata.old_claims import Cases, Judgement, each, fact
from lemmata.papers.selection import theory
from lemmata.papers.selection.claims._terms import SPARSE, claim
from lemmata.papers.selection.experiments.states import STATES, StateGrid

PROOF = "Appendix D.2, proof of Theorem D.4"

CANCELLED = 1e-9
"""Rounding of the squared bound over the increment of C.

At r = 1 the two are equal, and both have a factor 1 - gamma, a difference that is down to 1/(8d):
they agree to 3e-13 for d = 20 and to 1e-10 for d = 10,000. Where r is small, gamma itself cancels
and is good to 2e-16 / r only; there the grid has the two far apart.
"""


def scaled_room(case: StateGrid, share: float) -> np.ndarray:
    """How far alpha is below the upper end of (IH1) after a step, in units of r alpha*."""
    T, q = case.task.T, case.task.q
    _, alpha, u = case.after
    top = np.asarray(theory.ceiling(u, T, q, share))
    unit = np.asarray(theory.overshoot(u, T, q)) * np.asarray(theory.best_alpha(u, T, q))
    return (top - alpha) / unit


def band(case: StateGrid, low: float | None, high: float) -> np.ndarray:
    """States with gamma in a band."""
    T, q = case.task.T, case.task.q
    gamma = np.asarray(theory.gamma(case.alpha, case.u[:, None], T, q))
    inside = gamma <= high * (1 + 1e-12)
    return inside if low is None else inside & (gamma >= low * (1 - 1e-12))


@claim(
    "theorem-d.4/s1",
    PROOF,
    "(S1): from gamma <= 1 - 1/(4d) one step leads to gamma <= 1 - 1/(8d).",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="to gamma <= 1 - 1/(2d)",
)
def s1(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    def room(case: StateGrid) -> np.ndarray:
        d = case.task.d
        share = 1 - 1 / ((2 if sharpened else 8) * d)
        return np.where(band(case, None, 1 - 1 / (4 * d)), scaled_room(case, share), np.nan)

    return [each(evidence, "gamma after a step", room, lambda case: 0.0)]


@claim(
    "theorem-d.4/s2",
    PROOF,
    "(S2): with gamma <= 1 - 1/(4d), the upper end of (IH1) after a step is at least "
    "(1 + (1 - 1/(4d)) r) alpha* before it.",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="at least the upper end of (IH1) before it",
)
def s2(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    def room(case: StateGrid) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        u = case.u[:, None]
        before = theory.ceiling(u, T, q, 1 - 1 / ((8 if sharpened else 4) * d))
        unit = np.asarray(theory.overshoot(u, T, q)) * np.asarray(theory.best_alpha(u, T, q))
        after = theory.ceiling(case.after[2], T, q, 1 - 1 / (8 * d))
        return np.where(band(case, None, 1 - 1 / (4 * d)), (after - before) / unit, np.nan)

    return [each(evidence, "upper end", room, lambda case: 0.0)]


@claim(
    "theorem-d.4/last-band",
    PROOF,
    "From gamma between 1 - 1/(4d) and 1 - 1/(8d) one step leads to gamma <= 1 - 1/(8d).",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="to gamma <= 1 - 1/(4d)",
)
def last_band(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    def room(case: StateGrid) -> np.ndarray:
        d = case.task.d
        inside = band(case, 1 - 1 / (4 * d), 1 - 1 / (8 * d))
        share = 1 - 1 / ((4 if sharpened else 8) * d)
        return np.where(inside, scaled_room(case, share), np.nan)

    return [each(evidence, "gamma after a step", room, lambda case: 0.0)]


@claim(
    "theorem-d.4/increment",
    PROOF,
    "C grows by at most eta d / (4 q T) in a step once s_+ >= 1/sqrt(Tq).",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="by at most 0.95 of that",
)
def increment(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    def share(case: StateGrid) -> np.ndarray:
        task = case.task
        return case.after[0] * 4 * task.q * task.T / (case.rate * task.d)

    most = 0.95 if sharpened else 1.0
    return [each(evidence, "share of the bound", lambda case: most, share, tolerance=1e-12)]


def squared_bound(case: StateGrid) -> tuple[np.ndarray, np.ndarray]:
    """gamma, and (1 - gamma^2) d (T-q) s^2 u^2 / ((T-1) D^2) over the increment of C per eta."""
    T, q, d = case.task.T, case.task.q, case.task.d
    u = case.u[:, None]
    gamma = np.asarray(theory.gamma(case.alpha, u, T, q))
    s, D = theory.chosen(u, q), theory.denominator(u, T, q)
    bound = (1 - gamma**2) * d * (T - q) * s**2 * u**2 / ((T - 1) * D**2)
    return gamma, bound / (case.after[0] / case.rate)


@claim(
    "theorem-d.4/squared-bound",
    PROOF,
    "C grows by at most eta (1 - gamma^2) d (T-q) s_+^2 (1 - q s_+)^2 / ((T-1) D^2) in a step.",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="by at most half of that",
)
def squared(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    factor = 0.5 if sharpened else 1.0
    found = each(
        evidence,
        "bound over increment",
        lambda case: factor * squared_bound(case)[1],
        lambda case: 1.0,
        tolerance=CANCELLED,
    )
    return [with_state(found, evidence)]


def with_state(found: Judgement, evidence: Cases[StateGrid]) -> Judgement:
    """Put the state itself into the witness: u, alpha and gamma."""
    assert found.witness is not None
    case = evidence.cases[evidence.names.index(found.witness["dataset"])]
    row, column = divmod(found.witness["t"], case.alpha.shape[1])
    u, alpha = float(case.u[row]), float(case.alpha[row, column])
    gamma = float(theory.gamma(alpha, u, case.task.T, case.task.q))
    state = {"task": case.name, "1 - q s_+": u, "alpha": alpha, "gamma": gamma}
    reason = f"{found.reason} (1 - q s_+ = {u:.4g}, gamma = {gamma:.4g})"
    return replace(found, reason=reason, witness=found.witness | state)


@claim(
    "theorem-d.4/squared-bound/repaired",
    PROOF,
    "The same for gamma >= 0.",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="by at most half of that",
)
def squared_repaired(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    factor = 0.5 if sharpened else 1.0

    def ratio(case: StateGrid) -> np.ndarray:
        gamma, share = squared_bound(case)
        return np.where(gamma >= 0, factor * share, np.nan)

    return [each(evidence, "bound over increment", ratio, lambda case: 1.0, tolerance=CANCELLED)]


@claim(
    "theorem-d.4/reversed-step",
    PROOF,
    "(T-q) s_+^2 / D >= 1/q, which turns one lower bound on the growth of C into the next.",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="twice that",
)
def reversed_step(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    worst = []
    for case in evidence:
        T, q = case.task.T, case.task.q
        s = Fraction(1, 2 * q)
        D = T * q * s**2 - 2 * q * s + 1
        left, right = (T - q) * s**2 / D, Fraction(2 if sharpened else 1, q)
        worst.append((left - right, case.name, left, right))
    gap, name, left, right = min(worst)
    reason = f"at s_+ = 1/(2q) on {name}: {left} against {right}, in fractions"
    witness = {"task": name, "s_+": "1/(2q)", "left": str(left), "right": str(right)}
    return [fact("(T-q) s^2 / D", bool(gap >= 0), reason, witness, float(gap))]


def best_losses(T: int, q: int, d: int, s: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The loss at alpha*, and the two formulas for it, in fractions."""
    u = 1 - q * s
    D = T * q * s**2 - 2 * q * s + 1
    alpha = (T - q) * s / D
    loss = Fraction(d, 2) * ((1 - q * alpha * s) ** 2 / q + alpha**2 * u**2 / (T - q))
    return loss, Fraction(d * T) * u**2 / (2 * q * (T - q)), Fraction(d) * u**2 / (2 * q * D)


def judge_best_loss(evidence: Cases[StateGrid], formula: int, factor: int) -> list[Judgement]:
    """Compare the loss at alpha* with a formula at s_+ = 3/(4q), exactly."""
    for case in evidence:
        T, q, d = case.task.T, case.task.q, case.task.d
        found = best_losses(T, q, d, Fraction(3, 4 * q))
        if found[0] != factor * found[formula]:
            reason = f"{case.name}, s_+ = 3/(4q): the loss is {found[0]}, the formula gives "
            reason += f"{factor * found[formula]}"
            witness = {"task": case.name, "s_+": "3/(4q)", "loss": str(found[0])}
            return [fact("L(alpha*)", False, reason, witness | {"formula": str(found[formula])})]
    return [fact("L(alpha*)", True, f"equal in fractions on {len(evidence)} tasks, s_+ = 3/(4q)")]


@claim(
    "theorem-d.4/best-loss",
    PROOF,
    "L(alpha*) = d T (1 - q s_+)^2 / (2 q (T-q)).",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="twice that",
)
def best_loss(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    return judge_best_loss(evidence, 1, 2 if sharpened else 1)


@claim(
    "theorem-d.4/best-loss/repaired",
    PROOF,
    "L(alpha*) = d (1 - q s_+)^2 / (2 q D), which is smaller.",
    assumes=(SPARSE,),
    on=STATES,
    sharpened="twice that",
)
def best_loss_repaired(evidence: Cases[StateGrid], sharpened: bool) -> list[Judgement]:
    return judge_best_loss(evidence, 2, 2 if sharpened else 1)
