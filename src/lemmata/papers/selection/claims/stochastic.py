"""Lemma E.7 and the proof of Theorem E.6: the two-scalar dynamics with random encodings."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lemmata.old_claims import Bench, Cases, Judgement, Status, along, each, fact, same
from lemmata.papers.selection import theory
from lemmata.papers.selection.claims._terms import RESTRICTED, claim
from lemmata.papers.selection.experiments.descents import STOCHASTIC, Descent

PROOF = "Appendix E.3, proof of Theorem E.6"

ROUNDING = 1e-12
"""Rounding of one step."""

INTERPOLATION = 1e-11
"""Of one step over the tabulated attention: 3.3e-12 was measured.

Hermite cubics interpolate 1 - q s_+ and the sum of squares outside the subset separately, so that
between the points of the table the second is the square of the first over T - q only nearly.
"""

Level = Callable[[Descent], float]


def printed_alpha(case: Descent) -> np.ndarray:
    """The update of alpha that Lemma E.7 prints."""
    T, q = case.task.T, case.task.q
    alpha, s = case["alpha"], (1 - case["missed"]) / q
    return alpha + case.plan.rate * (
        s * (1 - q * alpha * s) + alpha * case["missed"] ** 2 / (T - q)
    )


def alpha_witness(bench: Bench) -> list[Judgement]:
    """T = 20, q = 2, uniform attention and alpha = 1/2, in fractions."""
    T, q, alpha, s = 20, 2, Fraction(1, 2), Fraction(1, 20)
    spread = alpha * (1 - q * s) ** 2 / (T - q)
    printed, exact = s * (1 - q * alpha * s) + spread, s * (1 - q * alpha * s) - spread
    reason = (
        f"T = 20, q = 2, attention uniform, alpha = 1/2: the printed update is {printed} eta, the "
    )
    reason += f"gradient of the loss gives {exact} eta"
    witness = {
        "T": T,
        "q": q,
        "alpha": "1/2",
        "s": "1/20",
        "left": str(exact),
        "right": str(printed),
    }
    return [fact("update of alpha", printed == exact, reason, witness)]


@claim(
    "lemma-e.7",
    "Appendix E.3",
    "alpha(t+1) = alpha + eta s (1 - q alpha s + alpha (1 - q s)^2 / ((T-q) s)), s the mean "
    "attention on a chosen position.",
    assumes=(),
    on=STOCHASTIC,
    sharpened="with twice the step size",
    counterexample=alpha_witness,
)
def lemma_e7(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def update(case: Descent) -> np.ndarray:
        return case["alpha"] + (2 if sharpened else 1) * (printed_alpha(case) - case["alpha"])

    return [same(evidence, "alpha", lambda case: case["next_alpha"], update, ROUNDING)]


@claim(
    "lemma-e.7/repaired",
    "Appendix E.3",
    "The same with a minus sign before the last term.",
    assumes=(),
    on=STOCHASTIC,
    sharpened="with twice the step size",
)
def lemma_e7_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def update(case: Descent) -> np.ndarray:
        T, q, alpha = case.task.T, case.task.q, case["alpha"]
        twice = 2 * case.plan.rate * alpha * case["missed"] ** 2 / (T - q)
        change = printed_alpha(case) - twice - alpha
        return alpha + (2 if sharpened else 1) * change

    return [same(evidence, "alpha", lambda case: case["next_alpha"], update, INTERPOLATION)]


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


def c_bounds(evidence: Cases[Descent], low: Level, high: Level) -> list[Judgement]:
    """The growth of C over its base, where alpha > 0."""

    def ratio(case: Descent) -> np.ndarray:
        base = base_increment(case)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(base > 0, (case["next_C"] - case["C"]) / base, np.nan)

    def level(value: Level) -> Callable[[Descent], np.ndarray]:
        return lambda case: np.full(len(case.steps), value(case))

    # A small increment of C is a difference of numbers of order ten.
    rounding = 1e-6
    return [
        along(evidence, "lower bound", ratio, level(low), tolerance=rounding),
        along(evidence, "upper bound", level(high), ratio, tolerance=rounding),
    ]


def _delta(case: Descent) -> float:
    assert case.isometry is not None
    return case.isometry.delta


def _largest(case: Descent) -> float:
    """g_max, from the family itself."""
    return float(np.abs(1 - case.gaps).max())


@claim(
    "lemma-e.7/concentration",
    "Appendix E.3",
    "C grows by between (1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta) times "
    "eta (d alpha/d_e) E[s_+ (1 - q s_+)] (1 - q alpha (T s - 1)/(T-q)).",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="between 1.02 and 1.05 times that",
)
def lemma_e7_concentration(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    if sharpened:
        return c_bounds(evidence, lambda case: 1.02, lambda case: 1.05)
    return c_bounds(
        evidence,
        lambda case: (1 - 3 * _delta(case)) / (1 - 2 * _delta(case)),
        lambda case: (1 - _delta(case)) / (1 - 2 * _delta(case)),
    )


@claim(
    "lemma-e.7/concentration/repaired",
    "Appendix E.3",
    "The same with 1 - g and 1 + g, g the largest |<e_i, e_y>| off y: any encodings.",
    assumes=(),
    on=STOCHASTIC,
    sharpened="between 1.02 and 1.05 times that",
)
def lemma_e7_concentration_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    if sharpened:
        return c_bounds(evidence, lambda case: 1.02, lambda case: 1.05)
    return c_bounds(evidence, lambda case: 1 - _largest(case), lambda case: 1 + _largest(case))


@claim(
    "theorem-e.6/power",
    PROOF,
    "q^a / ((T-q)^a + q^a) >= (q/T)^a with a = 2 delta/(1 - 3 delta).",
    assumes=(),
    on=STOCHASTIC,
    sharpened="twice that",
)
def power(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def sides(case: Descent) -> tuple[float, float]:
        T, q = case.task.T, case.task.q
        a = 2 * _delta(case) / (1 - 3 * _delta(case))
        return q**a / ((T - q) ** a + q**a), (2 if sharpened else 1) * (q / T) ** a

    return [each(evidence, "share", lambda case: sides(case)[0], lambda case: sides(case)[1])]


@claim(
    "theorem-e.6/concentration",
    PROOF,
    "C never decreases.",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="it grows by at least eta/(8 T^2) in every step",
)
def concentration(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    def least(case: Descent) -> np.ndarray:
        size = case.plan.rate / (8 * case.task.T**2) if sharpened else 0.0
        return np.full(len(case.steps), size)

    change = lambda case: case["next_C"] - case["C"]  # noqa: E731
    return [along(evidence, "C(t+1) >= C(t)", change, least, tolerance=1e-14)]


def ih2_top(case: Descent, divisor: int, u: np.ndarray) -> np.ndarray:
    """(1 + (1 - d_e/(divisor T d)) r) alpha*."""
    T, q, d = case.task.T, case.task.q, case.task.d
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(theory.ceiling(u, T, q, 1 - case.inertia / (divisor * T * d)))


def judge_ih2(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    """(IH2) from the end of Phase I on."""

    def top(case: Descent) -> np.ndarray:
        T, q = case.task.T, case.task.q
        u = case["missed"]
        high = np.asarray(theory.best_alpha(u, T, q)) if sharpened else ih2_top(case, 8, u)
        return np.where(case.phase == 2, high, np.nan)

    def low(case: Descent) -> np.ndarray:
        return np.where(case.phase == 2, 1 - 0.1 * case.kappa, np.nan)

    return [
        along(evidence, "lower end", lambda case: case["alpha"], low, tolerance=1e-14),
        along(evidence, "upper end", top, lambda case: case["alpha"], tolerance=1e-14),
    ]


@claim(
    "theorem-e.6/ih2",
    PROOF,
    "(IH2): in Phase II alpha stays between 1 - kappa/10 and (1 + (1 - d_e/(8Td)) r) alpha*.",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="between 1 - kappa/10 and alpha*",
)
def ih2(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return judge_ih2(evidence, sharpened)


@claim(
    "theorem-e.6/ih2/repaired",
    PROOF,
    "The same where d_e <= T d, as the end of the proof supposes.",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="between 1 - kappa/10 and alpha*",
)
def ih2_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return judge_ih2(_narrow(evidence), sharpened) if len(_narrow(evidence)) else _no_narrow()


def _narrow(evidence: Cases[Descent]) -> Cases[Descent]:
    few = (case for case in evidence if case.inertia <= case.task.T * case.task.d)
    return Cases(tuple(few))


def _no_narrow() -> list[Judgement]:
    reason = "no plan has d_e <= T d"
    return [Judgement("d_e <= T d", Status.INAPPLICABLE, reason)]


@claim(
    "theorem-e.6/s3",
    PROOF,
    "(S3) and the band above it: one step from inside (IH2) ends inside (IH2), where d_e <= T d "
    "and s >= 1/sqrt(Tq).",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="ends below alpha*",
)
def s3(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    if not len(_narrow(evidence)):
        return _no_narrow()

    def room(case: Descent) -> np.ndarray:
        T, q = case.task.T, case.task.q
        u, later = case["missed"], case["next_missed"]
        inside = (u <= 1 - np.sqrt(q / T)) & (case["alpha"] <= ih2_top(case, 8, u))
        top = np.asarray(theory.best_alpha(later, T, q)) if sharpened else ih2_top(case, 8, later)
        return np.where(inside, top - case["next_alpha"], np.nan)

    return [along(_narrow(evidence), "room", room, lambda case: np.zeros(len(case.steps)))]


@claim(
    "theorem-e.6/first-stage",
    PROOF,
    "At C = (1-2 delta)/(1-3 delta) log((T-q)/q) all s_+ are at most 1/(2q).",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="at most 1/(4q)",
)
def first_stage(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    most = 0.25 if sharpened else 0.5
    return [each(evidence, "q s_+", lambda case: most, at_first_stage)]


@claim(
    "theorem-e.6/first-stage/repaired",
    PROOF,
    "There all s_+ are at least 1/(2q).",
    assumes=(RESTRICTED,),
    on=STOCHASTIC,
    sharpened="at least 3/(4q)",
)
def first_stage_repaired(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    least = 0.75 if sharpened else 0.5
    return [each(evidence, "q s_+", at_first_stage, lambda case: least)]


def at_first_stage(case: Descent) -> np.ndarray:
    """q s_+ of every encoding and subset at the end of the first stage."""
    T, q = case.task.T, case.task.q
    C = (1 - 2 * _delta(case)) / (1 - 3 * _delta(case)) * np.log((T - q) / q)
    weights = np.exp(-C * case.gaps).sum(axis=1)
    return q / (q + weights)
