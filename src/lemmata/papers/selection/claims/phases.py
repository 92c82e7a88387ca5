"""The proof of Theorem D.4 along descents: its phases, its hypothesis and its rates."""

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, along, each, fact
from lemmata.papers.selection import theory
from lemmata.papers.selection.claims._terms import SMALL_LOSS, SMALL_STEP, SPARSE, claim
from lemmata.papers.selection.experiments.descents import ONE_HOT, Descent

HYPOTHESES = (SPARSE, SMALL_LOSS, SMALL_STEP)
PROOF = "Appendix D.2, proof of Theorem D.4"

ROUNDING = 8 * np.finfo(float).eps


def turned(case: Descent) -> np.ndarray:
    """The increment of C."""
    return case["next_C"] - case["C"]


def in_phase(case: Descent, phase: int, values: np.ndarray) -> np.ndarray:
    """The values of one phase; NaN elsewhere."""
    return np.where(case.phase == phase, values, np.nan)


@claim(
    "theorem-d.4/concentration",
    PROOF,
    "C never decreases.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="it grows by at least eta/(8 T^2) in every step",
)
def concentration(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def least(case: Descent) -> np.ndarray:
        size = case.plan.rate / (8 * case.task.T**2) if sharpened else 0.0
        return np.full(len(case.steps), size)

    return [along(evidence, "C(t+1) >= C(t)", turned, least, tolerance=ROUNDING)]


@claim(
    "theorem-d.4/growth",
    PROOF,
    "Phase I: alpha does not decrease until it reaches 1 - kappa/10.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="nor after that",
)
def growth(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def change(case: Descent) -> np.ndarray:
        grown = case["next_alpha"] - case["alpha"]
        return grown if sharpened else in_phase(case, 1, grown)

    return [
        along(evidence, "alpha", change, lambda case: np.zeros(len(case.steps)), tolerance=ROUNDING)
    ]


@claim(
    "theorem-d.4/phase-1",
    PROOF,
    "Phase I takes O(T log(d/epsilon) / eta) steps; by the contraction (1 - eta/T)^t of the proof "
    "at most (T/eta) ln(10/kappa) + 1.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="at most T / eta",
)
def phase_1(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def bound(case: Descent) -> float:
        once = case.task.T / case.plan.rate
        return once if sharpened else once * np.log(10 / case.kappa) + 1

    return [each(evidence, "length", bound, lambda case: float(case.grown))]


@claim(
    "theorem-d.4/ih1",
    PROOF,
    "(IH1): in Phase II alpha stays between 1 - kappa/10 and (1 + (1 - 1/(8d)) r) alpha*.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="between 1 and alpha*",
)
def ih1(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def low(case: Descent) -> np.ndarray:
        return in_phase(case, 2, np.full(len(case.steps), 1 - 0.1 * case.kappa))

    def high(case: Descent) -> np.ndarray:
        task = case.task
        share = 0.0 if sharpened else 1 - 1 / (8 * task.d)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.asarray(theory.ceiling(case["missed"], task.T, task.q, share))
        return in_phase(case, 2, top)

    return [
        along(evidence, "lower end", lambda case: case["alpha"], low, tolerance=ROUNDING),
        along(evidence, "upper end", high, lambda case: case["alpha"], tolerance=ROUNDING),
    ]


@claim(
    "theorem-d.4/below-best",
    PROOF,
    "While s_+ < 1/sqrt(Tq), alpha stays below alpha*, also one step later.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="below 0.99 alpha*",
)
def below_best(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def room(case: Descent) -> np.ndarray:
        T, q = case.task.T, case.task.q
        early = case["missed"] > 1 - np.sqrt(q / T)
        best = (0.99 if sharpened else 1.0) * np.asarray(
            theory.best_alpha(case["next_missed"], T, q)
        )
        return np.where(early, best - case["next_alpha"], np.nan)

    return [
        along(evidence, "alpha < alpha*", room, lambda case: np.zeros(len(case.steps)), strict=True)
    ]


def printed_growth(case: Descent) -> np.ndarray:
    """(1/8) (1 - q s_+)^2 / (q (T-1) D), the lower bound printed for all t, times eta."""
    T, q = case.task.T, case.task.q
    u = case["missed"]
    return case.plan.rate * u**2 / (8 * q * (T - 1) * np.asarray(theory.denominator(u, T, q)))


@claim(
    "theorem-d.4/growth-of-c",
    PROOF,
    "C grows by at least (eta/8) (1 - q s_+)^2 / (q (T-1) D) in every step.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="by ten times that",
)
def growth_of_c(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 10.0 if sharpened else 1.0
    return [
        along(evidence, "increment", turned, lambda case: factor * printed_growth(case)),
    ]


@claim(
    "theorem-d.4/growth-in-phase-1",
    PROOF,
    "In Phase I, C grows by at least eta d s_+ (1 - q s_+)^2 / (2 (T-1) D) in a step.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="by ten times that",
)
def growth_in_phase_1(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 10.0 if sharpened else 1.0

    def bound(case: Descent) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        u = case["missed"]
        D = np.asarray(theory.denominator(u, T, q))
        least = case.plan.rate * d * (1 - u) / q * u**2 / (2 * (T - 1) * D)
        return in_phase(case, 1, factor * least)

    return [along(evidence, "increment", turned, bound)]


@claim(
    "theorem-d.4/stage-1",
    PROOF,
    "From Phase II on and while s_+ < 1/(2q), C grows by at least eta / (8 T^2) in a step.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="by a hundred times that",
)
def stage_1(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 100.0 if sharpened else 1.0

    def share(case: Descent) -> np.ndarray:
        here = (case["missed"] > 0.5) & (case.phase == 2)
        return np.where(here, turned(case) * 8 * case.task.T**2 / case.plan.rate, np.nan)

    return [
        along(evidence, "share of the bound", share, lambda case: np.full(len(case.steps), factor))
    ]


@claim(
    "theorem-d.4/stage-2",
    PROOF,
    "From s_+ = 1/(2q) on and while s_+ < (1 - kappa)/q, C grows by at least "
    "eta q epsilon / (8 d (T-1) T) in a step.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="by two thousand times that",
)
def stage_2(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 2000.0 if sharpened else 1.0

    def share(case: Descent) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        here = (case["missed"] <= 0.5) & (case["missed"] > case.kappa)
        least = case.plan.rate * q * case.plan.epsilon / (8 * d * (T - 1) * T)
        return np.where(here, turned(case) / least, np.nan)

    return [
        along(evidence, "share of the bound", share, lambda case: np.full(len(case.steps), factor))
    ]


def loss_at(case: Descent, C: float) -> float:
    """The least loss over alpha at C."""
    T, q, d = case.task.T, case.task.q, case.task.d
    u = theory.missed(C, T, q)
    return float(np.asarray(theory.two_level_loss(theory.best_alpha(u, T, q), u, T, q, d)))


def small_example(bench: Bench) -> list[Judgement]:
    """The smallest of the tasks: at the printed C even the best alpha leaves a large loss."""
    T, q, d, epsilon = 20, 2, 1, 5e-4
    C = float(theory.concentration_printed(T, q, d, epsilon))
    u = theory.missed(C, T, q)
    loss = float(np.asarray(theory.two_level_loss(theory.best_alpha(u, T, q), u, T, q, d)))
    needed = float(theory.concentration_needed(T, q, d, epsilon))
    reason = (
        f"T = {T}, q = {q}, d = {d}, epsilon = {epsilon:g}: the printed C = {C:.4f} leaves a loss "
    )
    reason += f"of {loss:.4g} at the best alpha; C = {needed:.4f} is needed"
    witness = {"T": T, "q": q, "d": d, "epsilon": epsilon, "C": C, "loss": loss, "needed": needed}
    return [fact("loss at the printed C", bool(loss <= epsilon), reason, witness)]


@claim(
    "theorem-d.4/threshold",
    PROOF,
    "C >= log(q^-1 sqrt(dT / (q (T-q) epsilon))) is enough for the second stage to end with "
    "L <= epsilon.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="half of that C is enough",
    counterexample=small_example,
)
def threshold(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def loss(case: Descent) -> float:
        task = case.task
        C = theory.concentration_printed(task.T, task.q, task.d, case.plan.epsilon)
        return loss_at(case, float(C) * (0.5 if sharpened else 1.0))

    return [each(evidence, "loss", lambda case: case.plan.epsilon, loss)]


@claim(
    "theorem-d.4/threshold/repaired",
    PROOF,
    "With the factor (T-q) in the logarithm it is enough: C >= log((T-q) (1-kappa) / (q kappa)).",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="half of that C is enough",
)
def threshold_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def loss(case: Descent) -> float:
        task = case.task
        C = theory.concentration_needed(task.T, task.q, task.d, case.plan.epsilon)
        return loss_at(case, float(C) * (0.5 if sharpened else 1.0))

    return [each(evidence, "loss", lambda case: case.plan.epsilon, loss)]


@claim(
    "theorem-d.4/final-loss",
    PROOF,
    "If s_+ >= (1 - kappa)/q and alpha is in the interval of (IH1), then L <= epsilon.",
    assumes=HYPOTHESES,
    on=ONE_HOT,
    sharpened="L <= epsilon / 5",
)
def final_loss(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    factor = 0.2 if sharpened else 1.0

    def share(case: Descent) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        u = case.kappa * np.geomspace(1, 1e-6, 200)
        low = np.full_like(u, 1 - 0.1 * case.kappa)
        high = np.asarray(theory.ceiling(u, T, q, 1 - 1 / (8 * d)))
        ends = np.stack([theory.two_level_loss(alpha, u, T, q, d) for alpha in (low, high)])
        return ends / case.plan.epsilon

    return [each(evidence, "loss over epsilon", lambda case: factor, share)]
