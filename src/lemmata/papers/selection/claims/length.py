"""Theorems 3.3 and E.6 and their corollaries: convergence, other lengths, one encoding for all."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lemmata.claims import Bench, Comparison, Silence, at_least, at_most, statements
from lemmata.settings import Evidence

from .. import theory
from ..counterexamples import plan_of
from ..experiments.descents import STOCHASTIC, Descent
from ..experiments.long_descents import LENGTHS, LongRun, long_runs
from ..setting import RESTRICTED, SMALL_LOSS, SPARSE, STOCHASTIC_STEP, Plan, Task, walsh

claim = statements("selection")

HYPOTHESES = (SPARSE, SMALL_LOSS, STOCHASTIC_STEP, RESTRICTED)

CONSTANT = 10.0
"""What the constants and logarithms of O~ may come to; 2.6 is the most that was seen."""


def stalled_plans() -> list[Plan]:
    """Plans within the hypotheses of Theorem 3.3 that do not converge, as eta > 2q.

    Inner products of sign vectors with d_e entries, d_e even, are multiples of 2/d_e. With delta
    below that the (q, delta)-RIP leaves exactly the orthogonal encodings, for which the recursion
    is that of one-hot encodings with d_e for T - 1.
    """
    signs = np.tile(walsh(4)[:, :9], (3, 1))
    short = plan_of("T=9 q=2 d=1 d_e=48 eta=6, orthogonal", signs, 2, rate=6.0, epsilon=1e-3)
    long = Plan("T=400 q=2 d=20 d_e=8000 eta=10", Task(400, 2, 20), 10.0, 5e-3, d_e=8_000)
    return [short, long]


def stall(bench: Bench) -> Comparison:
    """From step 200,000 on the loss repeats itself; the first plan should take 13,500 steps."""
    steps = np.array([*range(200_000, 400_000, 4_000), *range(399_900, 400_001)])
    runs = long_runs(stalled_plans(), steps, bench, "large steps")
    return at_most(
        runs.loss,
        runs.each(lambda run: run.plan.epsilon),
        part="loss from step 200,000 on",
        cases=runs.cases,
        places=steps,
    )


@claim(
    "theorem-e.6",
    "Appendix E.3",
    "The same with the exponent (2 - 2 delta)/(1 - 2 delta).",
    hypotheses=HYPOTHESES,
    on=STOCHASTIC,
    kind="hypothesis",
    counterexample=stall,
    exponent=lambda delta: (2 - 2 * delta) / (1 - 2 * delta),
)
@claim(
    "theorem-3.3",
    "Section 3.2",
    "With random encodings, delta < 1/10 and eta <= d_e^2/(40 d^2 T), training from zero reaches "
    "L <= epsilon within O~(T^(2 - 2 delta/(1-3 delta))/eta + T^2 d/(eta epsilon)) steps.",
    hypotheses=HYPOTHESES,
    on=STOCHASTIC,
    kind="hypothesis",
    counterexample=stall,
    exponent=lambda delta: 2 - 2 * delta / (1 - 3 * delta),
)
def reaches_epsilon(
    evidence: Evidence[Descent], exponent: Callable[[np.ndarray], np.ndarray]
) -> Comparison:
    """The exact time to epsilon; the constants and logarithms of O~ may come to ``CONSTANT``."""
    never = [case.name for case in evidence if case.reached < 0]
    if never:
        reason = f"epsilon is not reached within the steps allowed on {', '.join(never)}"
        return Silence(reason, part="time to epsilon")
    T, rate = evidence.T, evidence.rate
    delta = evidence.each(lambda case: case.delta)
    printed = T ** exponent(delta) / rate + T**2 * evidence.d / (rate * evidence.epsilon)
    return at_most(evidence.reached, CONSTANT * printed, part="time to epsilon")


@claim(
    "theorem-e.6/repaired",
    "Appendix E.3",
    "With eta < 2q as well, L <= epsilon within 2 (d_e T/(eta d) + d_e/(4 eta epsilon)) steps: d_e "
    "stands in the time, the second power of T does not.",
    hypotheses=(SPARSE, SMALL_LOSS, RESTRICTED),
    on=STOCHASTIC,
)
def theorem_e6_repaired(evidence: Evidence[Descent]) -> Comparison:
    runs = evidence.where(lambda case: case.plan.rate < 2 * case.task.q)
    time = runs.each(lambda case: case.reached if case.reached >= 0 else np.inf)
    d_e, rate = runs.inertia, runs.rate
    bound = 2 * (d_e * runs.T / (rate * runs.d) + d_e / (4 * rate * runs.epsilon))
    return at_most(time, bound, part="time to epsilon", cases=runs.cases)


def settled(evidence: Evidence[Descent]) -> np.ndarray:
    """Records at which C has reached the threshold of Corollary E.8."""
    T, q, d, epsilon = evidence.T, evidence.q, evidence.d, evidence.epsilon
    delta = evidence.each(lambda case: case.delta)
    return np.asarray(theory.concentration_reached(T, q, d, epsilon, delta)) <= evidence.C


def not_settled(evidence: Evidence[Descent]) -> list[Comparison]:
    """What to say where no run got as far as the corollaries speak of."""
    rows = zip(evidence.names, settled(evidence), strict=True)
    late = [name for name, reached in rows if not reached.any()]
    if not late:
        return []
    reason = f"C does not reach the threshold within the recorded steps on {', '.join(late)}"
    return [Silence(reason, part="threshold")]


@claim(
    "corollary-e.8",
    "Appendix E.3",
    "Once C >= (1-2 delta)/(1-3 delta) log((T-q)/(q kappa)), alpha is between 1 - kappa/10 and "
    "1 + 8 kappa/5.",
    hypotheses=HYPOTHESES,
    on=STOCHASTIC,
)
def corollary_e8(evidence: Evidence[Descent]) -> list[Comparison]:
    alpha = np.where(settled(evidence), evidence.alpha, np.nan)
    return not_settled(evidence) or [
        at_least(alpha, 1 - 0.1 * evidence.kappa, part="lower end"),
        at_most(alpha, 1 + 1.6 * evidence.kappa, part="upper end"),
    ]


@claim(
    "corollary-e.16",
    "Appendix E.6",
    "From then on the loss (3) with any one of the encodings, kept fixed, is at most epsilon.",
    hypotheses=HYPOTHESES,
    on=STOCHASTIC,
)
def corollary_e16(evidence: Evidence[Descent]) -> list[Comparison]:
    missing = not_settled(evidence)
    if missing:
        return missing
    first = settled(evidence).argmax(axis=1)
    losses = [single_losses(case, int(at)) for case, at in zip(evidence, first, strict=True)]
    largest = np.array([[row.max()] for row in losses])
    return [at_most(largest, evidence.epsilon, part="largest loss of an encoding and a subset")]


def single_losses(case: Descent, record: int) -> np.ndarray:
    """The loss of every single pair of an encoding and a subset at a record.

    The loss (3) with one encoding is an average of these over subsets, so that the largest bounds
    them all.
    """
    task, C, alpha = case.task, case["C"][record], case["alpha"][record]
    weights = np.exp(-C * case.gaps)
    total = task.q + weights.sum(axis=1)
    u, squares = weights.sum(axis=1) / total, ((weights / total[:, None]) ** 2).sum(axis=1)
    return 0.5 * task.d * ((1 - alpha + alpha * u) ** 2 / task.q + alpha**2 * squares)


@claim(
    "corollary-3.6",
    "Section 3.4",
    "When the training loss at length T1 is at most epsilon, the loss at length T2 is at most "
    "O(T2^2 epsilon / T1^2).",
    on=LENGTHS,
    kind="substance",
)
def corollary_36(evidence: Evidence[LongRun]) -> Comparison:
    """At T2 = 2 T1, with a constant of ``CONSTANT``; the one that is needed grows with T1."""
    longer = evidence.each(lambda case: case.loss_at(2 * case.task.T))
    return at_most(longer, CONSTANT * 4 * evidence.loss, part="loss at twice the length")


def settled_states(T1: int, q1: int, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """alpha across the interval of Corollary E.8, and C from its threshold on."""
    alpha = np.linspace(1 - 0.1 * kappa, 1 + 1.6 * kappa, 41)
    C = np.log((T1 - q1) / (q1 * kappa)) + np.array([0.0, 0.1, 1.0, 3.0, 10.0])
    return alpha[:, None], C[None, :]


def other_sizes() -> list[tuple[int, int, int, int]]:
    """T1, q1, T2, q2."""
    return [
        (T1, q1, int(grow * T1), int(more * q1))
        for q1 in (2, 3, 5)
        for T1 in (4 * q1 + 1, 50, 200, 1_000)
        for grow in (1, 1.25, 2, 4)
        for more in (1, 2, 4)
        if int(more * q1) < int(grow * T1) / 4
    ]


def other_losses(d: int = 5, shares: tuple[float, ...] = (0.9, 1e-3)) -> tuple[np.ndarray, ...]:
    """Grids of four numbers, one row a size and one column an epsilon.

    The largest L(T2, q2) / epsilon, the four terms over epsilon with epsilon in each, the same
    with the first term without it, and (T2/T1)^2.
    """
    rows = []
    for T1, q1, T2, q2 in other_sizes():
        for share in shares:
            epsilon = share * d * T1 / (100 * (T1 - q1) * q1)
            k = float(theory.kappa(T1, q1, d, epsilon))
            alpha, C = settled_states(T1, q1, k)
            u = np.asarray(theory.missed(C, T2, q2))
            loss = float(np.max(theory.two_level_loss(alpha, u, T2, q2, d))) / epsilon
            first = T2 * (T2 - q2) * q1**3 / (2 * q2**3 * T1 * (T1 - q1))
            rest = (T2 - q2) * q1**2 / (10 * q2**2 * T1) + 32 * q1 * (T1 - q1) / (25 * q2 * T1)
            rest += 3 * (T2 - q2) * q1**3 / (2 * q2**2 * T1 * (T1 - q1))
            rows.append((loss, first + rest, first / epsilon + rest, (T2 / T1) ** 2))
    return tuple(np.array(column).reshape(-1, len(shares)) for column in zip(*rows, strict=True))


def over_sizes(comparison: Comparison) -> Comparison:
    """The comparison with the sizes as its rows."""
    names = [f"T1={T1} q1={q1} T2={T2} q2={q2}" for T1, q1, T2, q2 in other_sizes()]
    return replace(comparison, cases=names)


@claim(
    "corollary-e.9",
    "Appendix E.4",
    "From the state of Corollary E.8 on, the loss at T2 >= T1 and q2 >= q1 is at most "
    "O(T2^2 epsilon / T1^2); a constant of 2 is enough on all sizes tried.",
    on=LENGTHS,
)
def corollary_e9(evidence: Evidence[LongRun]) -> Comparison:
    loss, _, _, square = other_losses()
    return over_sizes(at_most(loss, 2 * square, part="loss over epsilon"))


@claim(
    "corollary-e.9/four-terms",
    "Appendix E.4, proof",
    "The sum of four terms in the proof is O(T2^2 epsilon / T1^2): a constant of 10 is enough.",
    on=LENGTHS,
    kind="misprint",
)
def four_terms(evidence: Evidence[LongRun]) -> Comparison:
    """The first term lacks epsilon."""
    _, _, printed, square = other_losses()
    return over_sizes(at_most(printed, CONSTANT * square, part="the sum over epsilon"))


@claim(
    "corollary-e.9/four-terms/repaired",
    "Appendix E.4, proof",
    "With epsilon in the first term too, the sum bounds the loss at T2 and q2.",
    on=LENGTHS,
)
def four_terms_repaired(evidence: Evidence[LongRun]) -> Comparison:
    loss, repaired, _, _ = other_losses()
    return over_sizes(at_most(loss, repaired, part="loss over epsilon"))
