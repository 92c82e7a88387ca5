"""Theorem C.3: one layer of attention selects the tokens of a subset."""

from typing import Any

import numpy as np

from lemmata.claims import Bench, Comparison, Inequality, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from .. import theory
from ..experiments.construction import ENCODED, Encoded, as_evidence, encode
from ..experiments.plans import UNIT
from ..setting import FITS, GUIDING, PROPER, SEPARATED, Plan, Task, misled_encodings

claim = statements("selection", hypotheses=(FITS, SEPARATED, PROPER), on=ENCODED)

EPS = float(np.finfo(float).eps)


def up_to_one(evidence: Evidence[Encoded], bound: Any) -> np.ndarray:
    """The bound where ε ≤ 1; the proof does not speak of more."""
    return np.where(evidence.epsilon <= 1, bound, np.nan)


@claim(
    "theorem-c.3",
    "Appendix C.3, Theorem C.3",
    "With logits α⟨e_i, e_y⟩, α = ⌈2 log(2T)/ε⌉, one layer of attention is within ε ≤ 1 of STS_q "
    "for all subsets and all tokens of norm at most 1, as in the source that it cites.",
    hypotheses=(FITS, SEPARATED),
)
def theorem_c_3(evidence: Evidence[Encoded]) -> Comparison:
    """The largest error over the unit ball is ‖Y/q − S‖₁; predicting zero has error 1.

    An ε above 1 asks for less than predicting zero, and this α does not always give it.
    """
    error = evidence.each(lambda case: case.attention().worst_error.max())
    return at_most(error, up_to_one(evidence, evidence.epsilon), baseline=1.0, part="worst error")


@claim(
    "theorem-c.3/interval",
    "Appendix C.3, proof of Theorem C.3",
    "With that α the chosen positions have weights in [1/q, 1/q + ε/(2q)].",
    kind="misprint",
)
def theorem_c_3_interval(evidence: Evidence[Encoded]) -> Comparison:
    """The chosen positions have (1 - u)/q each, u the weight off the subset: 1/q for log u = -∞."""
    log_missed = evidence.each(lambda case: case.log_missed(float(case.scale)))
    return at_most(log_missed, -np.inf, part="log of the weight off the subset")


@claim(
    "theorem-c.3/gaussian",
    "Appendix C.3, Theorem C.3, and Section 2.1",
    "For Gaussian tokens, which are not bounded, the root mean square error is at most "
    "(ε/2)√(d(1+1/q)), for ε ≤ 1.",
    hypotheses=(FITS, SEPARATED),
)
def theorem_c_3_gaussian(evidence: Evidence[Encoded]) -> Comparison:
    """Exactly over tokens, for the worst subset; predicting zero has √(d/q)."""
    d, q = evidence.d, evidence.q
    return at_most(
        evidence.each(lambda case: np.sqrt(case.attention().mean_square(case.task.d).max())),
        up_to_one(evidence, evidence.epsilon / 2 * np.sqrt(d * (1 + 1 / q))),
        baseline=np.sqrt(d / q),
        part="root mean square error",
    )


@claim(
    "theorem-c.3/interval-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "With that α the chosen positions have weights in [1/q − ε/(2q), 1/q], for ε ≤ 1.",
    hypotheses=(FITS, SEPARATED),
)
def theorem_c_3_interval_repaired(evidence: Evidence[Encoded]) -> list[Comparison]:
    """The interval turned round; attention that looks nowhere has weights 1/T."""
    lowest = evidence.each(lambda case: case.attention().chosen.min())
    highest = evidence.each(lambda case: case.attention().chosen.max())
    least, _ = theory.weight_bounds(evidence.T, evidence.q, evidence.epsilon)
    return [
        at_least(lowest, up_to_one(evidence, least), baseline=1 / evidence.T, part="from below"),
        at_most(highest, 1 / evidence.q, part="from above"),
    ]


def log_deficit(evidence: Evidence[Encoded]) -> np.ndarray:
    """log(1/q − e^α / (q e^α + (T−q) e^{α/2})); N is read as T − q, the best case."""
    T, q = evidence.T, evidence.q
    others = np.log(T - q) - evidence.scale / 2
    return others - np.log(q) - np.logaddexp(np.log(q), others)


@claim(
    "theorem-c.3/lower-bound",
    "Appendix C.3, proof of Theorem C.3",
    "e^α/(q e^α + (T−q) e^{α/2}) ≥ 1/q − (T/q²) e^{−α}.",
    kind="constant",
)
def theorem_c_3_lower_bound(evidence: Evidence[Encoded]) -> Comparison:
    """By the logarithms of what both sides lack to 1/q."""
    printed = np.log(evidence.T / evidence.q**2) - evidence.scale
    return at_most(log_deficit(evidence), printed, part="the printed step, in logarithms")


@claim(
    "theorem-c.3/lower-bound-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "e^α/(q e^α + (T−q) e^{α/2}) ≥ 1/q − ((T−q)/q²) e^{−α/2} ≥ 1/q − ε/(2q) for ε ≤ 1.",
)
def theorem_c_3_lower_bound_repaired(evidence: Evidence[Encoded]) -> list[Comparison]:
    """By the logarithms of what each side lacks to 1/q."""
    T, q = evidence.T, evidence.q
    between = np.log((T - q) / q**2) - evidence.scale / 2
    wanted = up_to_one(evidence, np.log(evidence.epsilon / (2 * q)))
    return [
        at_most(log_deficit(evidence), between, part="first step, in logarithms"),
        at_most(between, wanted, part="second step, in logarithms"),
    ]


@claim(
    "theorem-c.3/off-subset",
    "Appendix C.3, proof of Theorem C.3",
    "With that α every other position has a weight of at most e^{−α/2}/q ≤ ε/(2T), for ε ≤ 1.",
)
def theorem_c_3_off_subset(evidence: Evidence[Encoded]) -> list[Comparison]:
    """Both steps; attention that looks nowhere has weights 1/T."""
    _, most = theory.weight_bounds(evidence.T, evidence.q, evidence.epsilon)
    middle = np.exp(-evidence.scale / 2) / evidence.q
    return [
        at_most(
            evidence.each(lambda case: case.attention().others.max()),
            middle,
            baseline=1 / evidence.T,
            # An exponential magnifies the rounding of its exponent.
            rounding=(64 + evidence.scale) * EPS,
            part="largest weight",
        ),
        at_most(middle, up_to_one(evidence, most), part="ε/(2T)"),
    ]


def misled(bench: Bench) -> Comparison:
    """Six sign vectors with δ = 1/4, one of which looks more chosen than the five chosen ones."""
    E = misled_encodings()
    plan = Plan("six vectors, q=5", Task(6, 5, 1), 1.0, 0.5, d_e=len(E), encodings=E)
    return pairwise(as_evidence([encode(plan)]))


@claim(
    "theorem-c.3/pairwise-repaired",
    "Appendix C.3, proof of Theorem C.3",
    "If |⟨e_i, e_j⟩| ≤ δ < 1/(q−1) for all pairs of unit vectors, then |⟨e_i, e_y⟩| ≤ "
    "qδ/(1−(q−1)δ) off the subset; three vectors with q = 2 attain it.",
    hypotheses=(FITS, UNIT),
    adds_up=True,
)
@claim(
    "theorem-c.3/pairwise",
    "Appendix C.3, proof of Theorem C.3",
    "If |⟨e_i, e_j⟩| ≤ δ < 1/2 for all pairs, then |⟨e_i, e_y⟩| ≤ δ/(1−2δ) off the subset.",
    hypotheses=(FITS, UNIT),
    kind="constant",
    counterexample=misled,
)
def pairwise(evidence: Evidence[Encoded], adds_up: bool = False) -> Inequality:
    """q small inner products add up; the proof picks encodings by this and by no more.

    (E_yᵀE_y)⁻¹1 has entries that add up to at most q/(1−(q−1)δ) in absolute value.
    """
    q, delta = evidence.q, evidence.coherence
    left = 1 - (q - 1) * delta if adds_up else 1 - 2 * delta
    bound = (q if adds_up else 1) * delta / np.where(left > 0, left, np.nan)
    return at_most(evidence.closest, bound, size=1.0, part="|⟨e_i, e_y⟩|", cases=evidence.cases)


@claim(
    "own/least-scale",
    "ours, next to Theorem C.3",
    "If ⟨e_i, e_y⟩ ≤ g < 1 off the subset, α = log((2−ε)(T−q)/(qε))/(1−g) gives a worst error of "
    "at most ε, and exactly ε if g is attained everywhere; the printed α is of order log(T)/ε.",
    hypotheses=(FITS, GUIDING, PROPER),
)
def least_scale(evidence: Evidence[Encoded]) -> list[Comparison]:
    """On all encodings; attained by one-hot ones, whose inner products off the subset are 0."""

    def error(case: Encoded) -> float:
        scale = theory.least_scale(case.task.T, case.task.q, case.epsilon, case.closest)
        return float(case.attention(scale).worst_error.max())

    bound = at_most(
        evidence.each(error),
        evidence.epsilon,
        baseline=1.0,
        # The error is a sum of T differences between numbers of order 1.
        rounding=(64 + evidence.T) * EPS,
        size=1.0,
        part="worst error",
    )
    even = evidence.where(lambda case: case.coherence == 0 and case.epsilon < 1)
    if not len(even):
        return [bound]
    rounding = (64 + even.T) * EPS / even.epsilon
    how = {"rounding": rounding, "part": "attained", "cases": even.cases}
    return [bound, equal(even.each(error), even.epsilon, **how)]
