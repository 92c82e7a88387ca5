"""Theorems 3.3 and E.6 and their corollaries: convergence, other lengths, one encoding for all."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lemmata.claims import Comparison, Silence, at_least, at_most, repaired, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import STOCHASTIC, Descent
from ..experiments.long_descents import LENGTHS, LongRun
from ..experiments.plans import ORTHOGONAL
from ..experiments.settled import SETTLED, Settled
from ..setting import ISOMETRY, SMALL_LOSS, SPARSE, STOCHASTIC_STEP
from ._exponents import grows_like, spans
from .one_hot import reached_by
from .stochastic import HYPOTHESES, STABLE_TOO, stalled

claim = statements("selection", on=STOCHASTIC, hypotheses=HYPOTHESES)

AMPLE = 5.0
"""A loss above epsilon after so many times the printed time, constants and logarithms left out, is
one that comes back."""

ASYMPTOTIC = (
    "False for eta > 2q, which the hypotheses allow up to T of about 10^6: with q = 2, d = 1, "
    "delta = 1/10 and d_e = 5 q log T/delta^2 they leave eta <= 4.8 at T = 10^6 and 0.65 at 10^7, "
    "so that it is rescued as T -> infinity."
)


Exponent = Callable[[Any], Any]
"""Of T in the first term of the time, from delta."""


def by_theorem_e6(delta: Any) -> Any:
    """(2 - 2 delta)/(1 - 2 delta)."""
    return (2 - 2 * delta) / (1 - 2 * delta)


def by_theorem_33(delta: Any) -> Any:
    """2 - 2 delta/(1 - 3 delta)."""
    return 2 - 2 * delta / (1 - 3 * delta)


def printed_time(evidence: Evidence[Descent], exponent: Exponent) -> Any:
    """T^exponent/eta + T^2 d/(eta epsilon), without constants and logarithms."""
    T, rate = evidence.T, evidence.rate
    return T ** exponent(evidence.delta) / rate + T**2 * evidence.d / (rate * evidence.epsilon)


def much_later(evidence: Evidence[Descent], exponent: Exponent) -> np.ndarray:
    """Records at several times the printed time."""
    assert evidence.steps is not None
    return np.asarray(evidence.steps >= AMPLE * printed_time(evidence, exponent))


def stays_above(evidence: Evidence[Descent], exponent: Exponent = by_theorem_e6) -> Comparison:
    """L <= epsilon at several times the printed time, for steps of 2q and more."""
    large = much_later(evidence, exponent) & unstable(evidence)
    return at_most(
        np.where(large, evidence.loss, np.nan),
        evidence.epsilon,
        part=f"loss from {AMPLE:g} times the printed time on",
        cases=evidence.cases,
        places=evidence.steps,
    )


@claim(
    "theorem-e.6",
    "Appendix E.3",
    f"The same with the exponent (2 - 2 delta)/(1 - 2 delta). {ASYMPTOTIC}",
    kind="hypothesis",
    counterexample=stalled(stays_above),
    exponent=by_theorem_e6,
)
@claim(
    "theorem-3.3",
    "Section 3.2",
    "With random encodings, delta < 1/10 and eta <= d_e^2/(40 d^2 T), training from zero has "
    "L <= epsilon from O~(T^(2 - 2 delta/(1-3 delta))/eta + T^2 d/(eta epsilon)) steps on. "
    f"{ASYMPTOTIC}",
    kind="hypothesis",
    counterexample=stalled(stays_above, exponent=by_theorem_33),
    exponent=by_theorem_33,
)
def reaches_epsilon(evidence: Evidence[Descent], exponent: Exponent) -> list[Comparison]:
    """A few plans cannot tell what the constants of O~ are; one that stalls breaks any."""
    if unstable(evidence).any():
        return [stays_above(evidence, exponent)]
    times = np.where(evidence.reached >= 0, evidence.reached, np.inf)
    reason = (
        f"epsilon is reached after up to {(times / printed_time(evidence, exponent)).max():.3g} "
        "times the printed time without its constants and logarithms, which nobody knows"
    )
    return [Silence(reason, part="time to epsilon")]


@claim(
    "theorem-e.6/repaired",
    "Appendix E.3",
    "With eta < 2q as well, L <= epsilon from 2 (d_e T/(eta d) + d_e/(4 eta epsilon)) + "
    "(T/eta) ln(10/kappa) + 1 steps on: d_e stands in the time, the second power of T does not.",
    hypotheses=STABLE_TOO,
)
def theorem_e6_repaired(evidence: Evidence[Descent]) -> list[Comparison]:
    """When epsilon is reached, and all later records.

    The last term is Phase I: if d is far larger than d_e, C does not wait for alpha.
    """
    d_e, rate, T = evidence.inertia, evidence.rate, evidence.T
    phase_1 = T / rate * np.log(10 / evidence.kappa) + 1
    bound = 2 * (d_e * T / (rate * evidence.d) + d_e / (4 * rate * evidence.epsilon)) + phase_1
    return reached_by(evidence, bound)


def threshold(evidence: Evidence[Descent]) -> np.ndarray:
    """The C of Corollary E.8."""
    numbers = (evidence.T, evidence.q, evidence.d, evidence.epsilon, evidence.delta)
    return np.asarray(theory.concentration_reached(*numbers))


def unstable(evidence: Evidence[Descent]) -> np.ndarray:
    """Where the step size is 2q or more."""
    return np.asarray(evidence.rate >= 2 * evidence.q)


def settled(evidence: Evidence[Descent]) -> np.ndarray:
    """Records of small steps in Phase II at which C has got there.

    If d is far larger than d_e, C gets there long before alpha does.
    """
    there = (threshold(evidence) <= evidence.C) & (evidence.phase == 2)
    return np.asarray(there & ~unstable(evidence))


def not_settled(evidence: Evidence[Descent]) -> list[Comparison]:
    """What to say where stable runs did not get as far as the corollaries speak of."""
    short = ~unstable(evidence) & ~(threshold(evidence) <= evidence.C).any(axis=1, keepdims=True)
    if not short.any():
        return []
    late = [case.name for case, row in zip(evidence, short, strict=True) if row.any()]
    reason = f"C does not reach the threshold within the recorded steps on {', '.join(late)}"
    return [Silence(reason, part="threshold")]


def gets_there(evidence: Evidence[Descent]) -> Comparison:
    """C above the threshold at several times the printed time, for steps of 2q and more."""
    late = much_later(evidence, by_theorem_e6) & unstable(evidence)
    return at_least(
        np.where(late, evidence.C, np.nan),
        threshold(evidence),
        part=f"C from {AMPLE:g} times the printed time on",
        cases=evidence.cases,
        places=evidence.steps,
    )


@claim(
    "corollary-e.8",
    "Appendix E.3",
    "After the time of Theorem E.6, C >= (1-2 delta)/(1-3 delta) log((T-q)/(q kappa)) and alpha is "
    "between 1 - kappa/10 and 1 + 8 kappa/5. False for eta > 2q, as that theorem is.",
    kind="hypothesis",
    counterexample=stalled(gets_there),
    versions=[
        repaired(
            "The same for eta < 2q: C gets there, and in Phase II alpha is in that interval from "
            "then on.",
            hypotheses=STABLE_TOO,
        )
    ],
)
def corollary_e8(evidence: Evidence[Descent]) -> list[Comparison]:
    """For small steps, in the interval wherever C has got there."""
    small = ~unstable(evidence)
    alpha = np.where(small & (threshold(evidence) <= evidence.C), evidence.alpha, np.nan)
    interval = [
        at_least(alpha, 1 - evidence.kappa / 10, part="lower end"),
        at_most(alpha, 1 + 1.6 * evidence.kappa, part="upper end"),
    ]
    return _by_step(evidence, gets_there, interval)


def _by_step(
    evidence: Evidence[Descent],
    large: Callable[[Evidence[Descent]], Comparison],
    small: Sequence[Comparison],
) -> list[Comparison]:
    """What is said of steps of 2q and more, and of smaller ones, where there are such."""
    said = [large(evidence)] if unstable(evidence).any() else []
    return said if unstable(evidence).all() else [*said, *small, *not_settled(evidence)]


@claim(
    "corollary-e.16",
    "Appendix E.6",
    "After that time the loss (3) with any encodings of the RIP, kept fixed, is at most epsilon. "
    "False for eta > 2q, as Theorem E.6 is.",
    kind="hypothesis",
    counterexample=stalled(stays_above),
    versions=[
        repaired(
            "The same for eta < 2q, in Phase II from the threshold of Corollary E.8 on, for every "
            "pair of an encoding of the family and a subset.",
            hypotheses=STABLE_TOO,
        )
    ],
)
def corollary_e16(evidence: Evidence[Descent]) -> list[Comparison]:
    """At every record from then on; the loss with one encoding is a mean over subsets.

    For large steps already the loss (4), which is no more than some of these, comes back.
    """
    if unstable(evidence).all():
        return [stays_above(evidence)]
    late = ~unstable(evidence) & (threshold(evidence) <= evidence.C)
    largest = np.full(late.shape, np.nan)
    for row, case in enumerate(evidence):
        for record in np.flatnonzero(late[row]):
            largest[row, record] = single_losses(case, int(record)).max()
    small = [at_most(largest, evidence.epsilon, part="largest loss of an encoding and a subset")]
    return _by_step(evidence, stays_above, small)


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
    hypotheses=(SPARSE, STOCHASTIC_STEP, ORTHOGONAL),
    on=LENGTHS,
    kind="substance",
    unbreakable="it is about how a constant grows with T1",
)
def corollary_36(evidence: Evidence[LongRun]) -> Comparison:
    """With T2 = 2 T1 and epsilon the loss at the end: the constant that is needed grows with T1."""
    if not spans(evidence.T):
        return Silence("one length cannot tell how a constant grows with it", part="constant")
    longer = evidence.each(lambda case: case.loss_at(2 * case.task.T)[-1] / case.loss[-1])
    return grows_like("the constant at twice the length", longer / 4, {"T1": (evidence.T, 0.0)})


@claim(
    "corollary-e.9",
    "Appendix E.4",
    "From the state of Corollary E.8 on, the loss at T2 >= T1 and q2 >= q1 is at most "
    "O(T2^2 epsilon / T1^2); a constant of 1.3 is enough on all sizes tried, and does not grow.",
    hypotheses=(SPARSE, SMALL_LOSS, ISOMETRY),
    on=SETTLED,
)
def corollary_e9(evidence: Evidence[Settled]) -> list[Comparison]:
    needed = evidence.loss / evidence.square
    compared: list[Comparison] = [at_most(needed, 1.3, part="constant", cases=evidence.cases)]
    T, small = evidence.T, 1 / evidence.epsilon
    if spans(T) and spans(small):
        most = np.nanmax(needed, axis=1, keepdims=True)
        growth = grows_like("growth", most, {"T1": (T, LEVEL), "1/epsilon": (small, LEVEL)})
        compared.append(growth)
    return compared


LEVEL = 0.05
"""A power that is no growth: the constant settles at 1.28 for long sequences."""


@claim(
    "corollary-e.9/four-terms",
    "Appendix E.4, proof",
    "The sum of four terms in the proof is O(T2^2 epsilon / T1^2).",
    hypotheses=(SPARSE, SMALL_LOSS, ISOMETRY),
    on=SETTLED,
    kind="misprint",
    unbreakable="it is about how a constant grows with 1/epsilon",
)
def four_terms(evidence: Evidence[Settled]) -> Comparison:
    """The first term lacks epsilon, so that the sum does not vanish with it."""
    small = 1 / evidence.epsilon
    if not spans(small):
        return Silence("one epsilon cannot tell how a sum depends on it", part="growth")
    needed = (evidence.first / evidence.epsilon + evidence.rest) / evidence.square
    most = np.nanmax(needed, axis=1, keepdims=True)
    return grows_like("the sum over T2^2 epsilon / T1^2", most, {"1/epsilon": (small, 0.0)})


@claim(
    "corollary-e.9/four-terms/repaired",
    "Appendix E.4, proof",
    "With epsilon in the first term too, the sum bounds the loss at T2 and q2.",
    hypotheses=(SPARSE, SMALL_LOSS, ISOMETRY),
    on=SETTLED,
)
def four_terms_repaired(evidence: Evidence[Settled]) -> Comparison:
    return at_most(evidence.loss, evidence.first + evidence.rest, part="loss over epsilon")
