"""What we found beside the paper: true rates, the true limit of the step size, the true ratio."""

from collections.abc import Callable

import numpy as np

from lemmata.claims import Comparison, Silence, at_least, at_most, repaired, statements, tends_to
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import ONE_HOT, STOCHASTIC, Descent
from ..experiments.ensembles import LONGER, THREE_SIGNS, Floor, ThirdVectors
from ..experiments.long_descents import LATE, LENGTHS, STEP_SIZES, LongRun
from ..experiments.plans import ORTHOGONAL, STABLE
from ..setting import RESTRICTED, SMALL_STEP, SPARSE, STOCHASTIC_STEP
from ._exponents import fitted_exponents

LAWS = (STABLE, ORTHOGONAL)
"""Under which late training follows laws."""

claim = statements("selection", hypotheses=LAWS, on=LATE)

SMALL, SMALLER = 0.1, 0.02
"""Laws for late training are judged once 1 - q s_+ is below this; that of a curve which turns on
its way once it is below the second."""


def once_late(evidence: Evidence[LongRun], values: np.ndarray, small: float = SMALL) -> np.ndarray:
    """The values of runs that end late enough; nothing is said of others.

    A first step that is far too long for C can leave less attention outside than the law says for
    that time; the run has to wait for the law then.
    """
    assert evidence.steps is not None
    inertia, end = evidence.inertia, evidence.missed[:, -1:]
    time = 2 * evidence.rate * evidence.d * evidence.steps[-1]
    ahead = end**2 * time < inertia * (evidence.T - evidence.q) / 4
    return np.where((end <= small) & ~ahead, values, np.nan)


def late_share(evidence: Evidence[LongRun]) -> np.ndarray:
    """4 eta t L / inertia: 1 in the end if training converges as it should."""
    assert evidence.steps is not None
    return evidence.loss / theory.late_loss(evidence.steps, evidence.rate, evidence.inertia)


@claim(
    "own/late-loss",
    "beside Theorem 3.1",
    "For eta < 2q, L(t) -> (T-1)/(4 eta t) with one-hot encodings and d_e/(4 eta t) with "
    "orthogonal random ones: neither d nor q matters, and only the first power of T.",
)
def late_loss(evidence: Evidence[LongRun]) -> Comparison:
    return tends_to(once_late(evidence, late_share(evidence)), 1.0, part="4 eta t L / (T-1)")


@claim(
    "own/late-concentration",
    "beside Theorem 3.1",
    "For eta < 2q, C(t) - [log((T-q)/q) + log(2 eta d t/((T-1)(T-q)))/2] -> 0, with d_e for T-1 if "
    "encodings are random and orthogonal.",
)
def late_concentration(evidence: Evidence[LongRun]) -> Comparison:
    T, q, d = evidence.T, evidence.q, evidence.d
    time = evidence.steps * (T - 1) / evidence.inertia
    law = theory.late_concentration(time, T, q, d, evidence.rate)
    return tends_to(once_late(evidence, evidence.C - law), 0.0, part="difference")


@claim(
    "own/late-alpha",
    "beside Theorem 3.1",
    "For eta < 2q, (alpha - 1)/(1 - q s_+) -> 1.",
)
def late_alpha(evidence: Evidence[LongRun]) -> Comparison:
    ratio = (evidence.alpha - 1) / evidence.missed
    return tends_to(once_late(evidence, ratio), 1.0, part="ratio")


def power_of_t(evidence: Evidence[LongRun]) -> Comparison:
    """The power with which 1 - q s_+ falls over the last decade, which tells 1 from 1/2."""
    assert evidence.steps is not None
    late = np.asarray(evidence.steps >= evidence.steps[-1] / 10)
    steps, missed = evidence.steps[late].astype(float)[:, None], evidence.missed[:, late]
    fits = [fitted_exponents(row[:, None], {"t": steps}) for row in missed]
    powers, errors = (np.array([fit[side] for fit in fits]) for side in (0, 1))
    return at_most(once_late(evidence, powers), -1.0, error=errors, part="power of t", places=[0])


def square_root(evidence: Evidence[LongRun]) -> Comparison:
    """sqrt(t) (1 - q s_+) over its limit; what is left of the way is a power of 1 - q s_+."""
    assert evidence.steps is not None
    scale = np.sqrt(evidence.inertia * (evidence.T - evidence.q) / (2 * evidence.rate * evidence.d))
    ratio = np.sqrt(evidence.steps) * evidence.missed / scale
    late = once_late(evidence, ratio, SMALLER)
    return tends_to(late, 1.0, trend=evidence.missed, part="ratio")


@claim(
    "section-3.1/rate",
    "Section 3.1",
    "s_+ converges to 1/q at the rate O(1/t).",
    kind="substance",
    compare=power_of_t,
    versions=[
        repaired(
            "1/q - s_+ falls like 1/sqrt(t): for eta < 2q, sqrt(t) (1 - q s_+) -> "
            "sqrt((T-1)(T-q)/(2 eta d)), and the loss, its square, like 1/t.",
            compare=square_root,
        )
    ],
)
def rate_of_attention(
    evidence: Evidence[LongRun], compare: Callable[[Evidence[LongRun]], Comparison]
) -> Comparison:
    return compare(evidence)


@claim(
    "own/escape/stochastic",
    "beside Theorem 3.3",
    "With random encodings and eta < 2q, s_+ reaches 1/(2q) after between 1 and "
    "1 + log(T) (2q/T + d/d_e) times d_e T/(eta d) steps.",
    hypotheses=(SPARSE, STOCHASTIC_STEP, RESTRICTED, STABLE),
    on=STOCHASTIC,
)
@claim(
    "own/escape",
    "beside Theorem 3.1",
    "With one-hot encodings s_+ reaches 1/(2q) after between 1 and 1 + log(T) (2q/T + d/(T-1)) "
    "times (T-1) T/(eta d) steps: T^2/(eta d) for long sequences.",
    hypotheses=(SPARSE, SMALL_STEP),
    on=ONE_HOT,
)
def escape(evidence: Evidence[Descent]) -> list[Comparison]:
    """The time to leave the plateau.

    For T >> q, d half of it is spent near s_+ = 1/T, where alpha = T s_+, and half at the end,
    where alpha = 1/(q s_+).
    """
    halved = np.where(evidence.halved >= 0, evidence.halved, np.nan)
    T, q, d, inertia = evidence.T, evidence.q, evidence.d, evidence.inertia
    unit = inertia * T / (evidence.rate * d)
    return [
        at_least(halved, unit, part="not earlier"),
        at_most(halved, (1 + np.log(T) * (2 * q / T + d / inertia)) * unit, part="not later"),
    ]


STUCK = 0.04
"""Training that stalls leaves more than this share of attention off the subset."""


@claim(
    "own/step-limit",
    "beside Theorems 3.1 and 3.3",
    "Training from zero converges at the rate inertia/(4 eta t) for eta up to 1.9 q and stalls "
    "from 2.2 q on, for d from 2 to 20, one-hot and orthogonal encodings: the limit is eta < 2q.",
    on=STEP_SIZES,
    hypotheses=(),
)
def step_limit(evidence: Evidence[LongRun]) -> list[Comparison]:
    """If eta d is far larger than the inertia, C overshoots at first: the law sets in late."""
    small = evidence.where(lambda case: case.rate < 2 * case.task.q)
    large = evidence.where(lambda case: case.rate > 2 * case.task.q)
    return [
        tends_to(late_share(small), 1.0, part="small steps", cases=small.cases),
        at_least(large.missed, STUCK, part="large steps", cases=large.cases),
    ]


@claim(
    "own/length-ratio",
    "beside Corollary 3.6",
    "With orthogonal encodings L(T2)/L(T1) -> (T1-q) [(rho-1)^2/q + rho^2/(T2-q)] along training "
    "at T1, rho = (T2-q)/(T1-q): it grows like T1, not like (T2/T1)^2.",
    on=LENGTHS,
)
def length_ratio(evidence: Evidence[LongRun]) -> Comparison:
    """At T2 = 2 T1; both losses are powers of 1 - q s_+, and so is what is left of the way."""
    ratio = evidence.each(lambda case: case.loss_at(2 * case.task.T) / case.loss)
    limit = theory.length_ratio(evidence.T, 2 * evidence.T, evidence.q)
    return tends_to(once_late(evidence, ratio), limit, trend=evidence.missed, part="ratio")


def larger_subsets(case: LongRun) -> list[int]:
    """Subset sizes from q + 1 to 4q below T/4."""
    return [q for q in range(case.task.q + 1, 4 * case.task.q + 1) if q < case.task.T / 4]


@claim(
    "own/other-subsets",
    "beside Corollary E.9",
    "Along training at q < T/4 with orthogonal encodings the loss at other subset sizes q2 up to "
    "4q goes to zero as well.",
    on=LENGTHS,
)
def other_subsets(evidence: Evidence[LongRun]) -> list[Comparison]:
    """One row for each plan and q2, from the smallest up."""
    late = once_late(evidence, np.ones((len(evidence), 1)))[:, 0]
    rows = [
        (case, q)
        for case, known in zip(evidence, late, strict=True)
        for q in (larger_subsets(case) if known == 1 else [])
    ]
    if not rows:
        reason = "no run that has come far enough has a larger q2 < T/4 to look at"
        return [Silence(reason, applies=False, part="larger subsets")]
    losses = np.stack([case.loss_at(case.task.T, q) for case, q in rows])
    return [tends_to(losses, 0.0, part="loss", cases=[case for case, _ in rows])]


@claim(
    "own/exchangeable",
    "beside Lemma E.14",
    "Rejecting one vector at a time is not the law of Definition 2.5: in 6 dimensions with inner "
    "products within 1/3, how many third vectors fit depends on the first two.",
    on=THREE_SIGNS,
    hypotheses=(),
)
def exchangeable(evidence: Evidence[ThirdVectors]) -> Comparison:
    most, fewest = (
        evidence.each(lambda case, end=end: end(case.counts)) for end in (np.max, np.min)
    )
    return at_least(most, fewest, strict=True, part="third vectors that fit")


@claim(
    "own/welch",
    "beside Appendix F",
    "No encodings of unit length with d_e = 170 have the (3, 1/10)-RIP for T >= 250: the mean "
    "squared inner product alone forces delta > 1/10.",
    on=LONGER,
    hypotheses=(),
)
def welch(evidence: Evidence[Floor]) -> Comparison:
    floors = evidence.each(lambda case: case.least)
    return at_least(floors, theory.NEEDED_DELTA, strict=True, part="delta")
