"""What we found beside the paper: true rates, the true limit of the step size, the true ratio."""

from collections.abc import Callable
from itertools import product

import numpy as np

from lemmata.old_claims import Cases, Judgement, Status, each, fact
from lemmata.papers.selection import theory
from lemmata.papers.selection.claims._terms import RESTRICTED, SMALL_LOSS, SMALL_STEP, SPARSE, claim
from lemmata.papers.selection.experiments.descents import ONE_HOT, STOCHASTIC, Descent
from lemmata.papers.selection.experiments.late import (
    LATE,
    LENGTHS,
    STEP_SIZES,
    LongRun,
)
from lemmata.papers.selection.experiments.matrices import ENUMERATION, Enumeration

SMALL = 0.1
"""Laws for late training are judged once 1 - q s_+ is below this."""


def early(evidence: Cases[LongRun]) -> list[Judgement]:
    """What to say where a run is too short to be late."""
    short = [case.name for case in evidence if case.missed[-1] > SMALL]
    if not short:
        return []
    reason = f"1 - q s_+ is still above {SMALL:g} at the end on {', '.join(short)}"
    return [Judgement("late training", Status.UNDECIDED, reason)]


def approaches(
    evidence: Cases[LongRun], share: Callable[[LongRun], np.ndarray], limit: float, part: str
) -> list[Judgement]:
    """Whether a ratio goes to its limit: within 1 % at the end, and nearer by the record."""
    ends = np.array([share(case)[-1] for case in evidence])
    errors = np.stack([np.abs(share(case) - limit) for case in evidence])
    nearer = bool((np.diff(errors[:, -3:], axis=1) <= 0).all())
    worst = int(np.argmax(np.abs(ends - limit)))
    reason = f"{part} ends between {ends.min():.5f} and {ends.max():.5f}, "
    reason += "nearer with every record" if nearer else "but not nearer with every record"
    witness = {"case": evidence.names[worst], "value": float(ends[worst]), "limit": limit}
    good = nearer and bool(np.abs(ends - limit).max() <= 0.01)
    return [fact(part, good, reason, witness)]


@claim(
    "own/late-loss",
    "beside Theorem 3.1",
    "L(t) -> (T-1)/(4 eta t) with one-hot encodings and d_e/(4 eta t) with orthogonal random ones: "
    "neither d nor q matters, and only the first power of T.",
    assumes=(),
    on=LATE,
    sharpened="(T-1)/(4.1 eta t)",
)
def late_loss(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    if early(evidence):
        return early(evidence)

    def share(case: LongRun) -> np.ndarray:
        return case.loss / np.asarray(theory.late_loss(case.steps, case.rate, case.inertia))

    return approaches(evidence, share, 1 / 1.025 if sharpened else 1.0, "4 eta t L / (T-1)")


@claim(
    "own/late-concentration",
    "beside Theorem 3.1",
    "C(t) - [log((T-q)/q) + log(2 eta d t/((T-1)(T-q)))/2] -> 0, with d_e for T-1 if encodings are "
    "random.",
    assumes=(),
    on=LATE,
    sharpened="without the 2",
)
def late_concentration(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    if early(evidence):
        return early(evidence)

    def gap(case: LongRun) -> np.ndarray:
        T, q, d = case.task.T, case.task.q, case.task.d
        time = case.steps * (T - 1) / case.inertia / (2 if sharpened else 1)
        return case.C - np.asarray(theory.late_concentration(time, T, q, d, case.rate))

    ends = np.array([gap(case)[-1] for case in evidence])
    sizes = np.array([case.missed[-1] for case in evidence])
    reason = f"the difference ends between {ends.min():.5f} and {ends.max():.5f}, of the order of "
    reason += f"1 - q s_+ ({sizes.min():.4f} to {sizes.max():.4f})"
    return [fact("difference", bool((np.abs(ends) <= 3 * sizes).all()), reason)]


@claim(
    "own/late-alpha",
    "beside Theorem 3.1",
    "(alpha - 1)/(1 - q s_+) -> 1.",
    assumes=(),
    on=LATE,
    sharpened="-> 1.1",
)
def late_alpha(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    if early(evidence):
        return early(evidence)

    def share(case: LongRun) -> np.ndarray:
        return (case.alpha - 1) / case.missed

    ends = np.array([share(case)[-1] for case in evidence])
    sizes = np.array([case.missed[-1] for case in evidence])
    limit = 1.1 if sharpened else 1.0
    reason = f"the ratio ends between {ends.min():.5f} and {ends.max():.5f}"
    return [fact("ratio", bool((np.abs(ends - limit) <= 3 * sizes).all()), reason)]


@claim(
    "own/escape",
    "beside Theorem 3.1",
    "s_+ reaches 1/(2q) after between 1 and 2 times (T-1) T/(eta d) steps with one-hot encodings.",
    assumes=(SPARSE, SMALL_LOSS, SMALL_STEP),
    on=ONE_HOT,
    sharpened="between 1.3 and 1.5 times",
)
def escape(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return escaped(evidence, (1.3, 1.5) if sharpened else (1.0, 2.0))


@claim(
    "own/escape/stochastic",
    "beside Theorem 3.3",
    "s_+ reaches 1/(2q) after between 1 and 2 times d_e T/(eta d) steps with random encodings.",
    assumes=(SPARSE, RESTRICTED),
    on=STOCHASTIC,
    sharpened="between 1.3 and 1.35 times",
)
def escape_stochastic(evidence: Cases[Descent], sharpened: bool) -> list[Judgement]:
    return escaped(evidence, (1.3, 1.35) if sharpened else (1.0, 2.0))


def escaped(evidence: Cases[Descent], between: tuple[float, float]) -> list[Judgement]:
    """The time to leave the plateau, in units of inertia T / (eta d)."""

    def share(case: Descent) -> float:
        unit = case.inertia * case.task.T / (case.plan.rate * case.task.d)
        return case.halved / unit if case.halved >= 0 else np.nan

    return [
        each(evidence, "not earlier", share, lambda case: between[0]),
        each(evidence, "not later", lambda case: between[1], share),
    ]


def final_share(case: LongRun) -> float:
    """4 eta t L / inertia at the end: 1 if training converges as it should."""
    return float(4 * case.rate * case.steps[-1] * case.loss[-1] / case.inertia)


def step_groups(evidence: Cases[LongRun]) -> tuple[list[LongRun], list[LongRun]]:
    """Runs with eta < 2q and with eta > 2q."""
    small = [case for case in evidence if case.rate < 2 * case.task.q]
    large = [case for case in evidence if case.rate > 2 * case.task.q]
    return small, large


@claim(
    "own/step-limit",
    "beside Theorems 3.1 and 3.3",
    "Training from zero converges at the rate inertia/(4 eta t) for eta up to 1.9 q and stalls "
    "from 2.2 q on, whatever d, T and d_e are: the limit is eta < 2q.",
    assumes=(),
    on=STEP_SIZES,
    sharpened="it converges at 2.2 q and 3 q too",
)
def step_limit(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    small, large = step_groups(evidence)
    shares = [np.array([final_share(case) for case in group]) for group in (small, large)]
    reason = (
        f"4 eta t L / inertia ends at {shares[0].min():.3f} to {shares[0].max():.3f} for eta <= "
    )
    reason += f"1.9 q, and at {shares[1].min():.3g} to {shares[1].max():.3g} for eta >= 2.2 q"
    converge = bool((np.abs(shares[0] - 1) < 0.1).all())
    missed = np.array([case.missed[-1] for case in large])
    stays = f"there 1 - q s_+ stays at {missed.min():.4f} to {missed.max():.4f}"
    if sharpened:
        return [fact("large steps", bool((np.abs(shares[1] - 1) < 0.1).all()), reason)]
    stuck = bool((missed > 0.04).all())
    return [
        fact("small steps", converge, reason),
        fact("large steps", stuck, f"{reason}; {stays}"),
    ]


@claim(
    "own/length-ratio",
    "beside Corollary 3.6",
    "With orthogonal encodings L(T2)/L(T1) -> (T1-q) [(rho-1)^2/q + rho^2/(T2-q)] along training "
    "at T1, rho = (T2-q)/(T1-q): it grows like T1, not like (T2/T1)^2.",
    assumes=(),
    on=LENGTHS,
    sharpened="-> (T2/T1)^2",
)
def length_ratio(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    if early(evidence):
        return early(evidence)
    found = []
    for case in evidence:
        T, q = case.task.T, case.task.q
        limit = 4.0 if sharpened else float(theory.length_ratio(T, 2 * T, q))
        ratio = case.loss_at(2 * T) / case.loss
        found.append((extrapolate(case.missed[-3:], ratio[-3:]) / limit, ratio[-1], limit, T))
    shares = np.array([share for share, *_ in found])
    listed = ", ".join(f"T1 = {T}: {end:.4g}, limit {limit:.4g}" for _, end, limit, T in found)
    reason = (
        f"T2 = 2 T1, after 3 million steps {listed}; extrapolated to 1 - q s_+ = 0 the ratio is "
    )
    reason += f"{shares.min():.4f} to {shares.max():.4f} of the limit"
    return [fact("limit", bool((np.abs(shares - 1) <= 0.05).all()), reason)]


def extrapolate(x: np.ndarray, y: np.ndarray) -> float:
    """The value at 0 of the parabola through three points."""
    return float(np.polynomial.polynomial.Polynomial.fit(x, y, 2)(0.0))


@claim(
    "own/other-subsets",
    "beside Corollary E.9",
    "Along training at q the loss at other subset sizes q2 up to 4q goes to zero as well.",
    assumes=(),
    on=LENGTHS,
    sharpened="it is below that at q",
)
def other_subsets(evidence: Cases[LongRun], sharpened: bool) -> list[Judgement]:
    few = [case for case in evidence if larger_subsets(case)]
    if not few:
        reason = "no plan has a larger q2 < T/4 to look at"
        return [Judgement("larger subsets", Status.INAPPLICABLE, reason)]

    def falls(case: LongRun) -> np.ndarray:
        rows = np.stack([case.loss_at(case.task.T, q) for q in larger_subsets(case)])
        if sharpened:
            return case.loss[None, :] - rows
        return rows[:, :-1] - rows[:, 1:]

    return [each(few, "fall of the loss", falls, lambda case: 0.0)]


def larger_subsets(case: LongRun) -> list[int]:
    """Subset sizes from q + 1 to 4q below T/4."""
    return [q for q in range(case.task.q + 1, 4 * case.task.q + 1) if q < case.task.T / 4]


@claim(
    "own/exchangeable",
    "beside Lemma E.14",
    "Rejecting one vector at a time is not the law of Definition 2.5: in 6 dimensions with inner "
    "products within 1/3, how many third vectors fit depends on the first two.",
    assumes=(),
    on=ENUMERATION,
    sharpened="it does not depend on them",
)
def exchangeable(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    vectors = np.array(list(product((1, -1), repeat=6)))
    fits = np.abs(vectors @ vectors.T) <= 2
    counts = {int((fits[0] & fits[j]).sum()) for j in np.flatnonzero(fits[0])}
    reason = f"of the 64 sign vectors {' or '.join(map(str, sorted(counts)))} fit"
    return [fact("compatible third vectors", (len(counts) > 1) != sharpened, reason)]


@claim(
    "own/welch",
    "beside Appendix F",
    "No encodings of unit length with d_e = 170 have the (3, 1/10)-RIP for T >= 250: the mean "
    "squared inner product alone forces delta > 1/10.",
    assumes=(),
    on=ENUMERATION,
    sharpened="for T >= 200",
)
def welch(evidence: Cases[Enumeration], sharpened: bool) -> list[Judgement]:
    from lemmata.papers.selection.setting._measure import orthogonality_floor

    lengths = (200, 250, 300, 400) if sharpened else (250, 300, 400)
    least = {T: orthogonality_floor(170, T, 3) for T in lengths}
    listed = ", ".join(f"{value:.4f} (T = {T})" for T, value in least.items())
    witness = {f"T = {T}": value for T, value in least.items()}
    above = min(least.values()) > theory.NEEDED_DELTA
    return [fact("delta", above, f"delta is at least {listed}", witness)]
