"""Section 3.2 and Figure 3: what a prompt of about m examples is good for."""

from collections.abc import Callable

import numpy as np

from lemmata.claims import Comparisons, Silence, at_least, at_most, case_by_case, equal, statements
from lemmata.settings import Evidence

from ..experiments.ridge import FIGURE_SWEEPS, SWEEPS, Sweep
from ..setting import NOISE

claim = statements("context", on=SWEEPS, hypotheses=(NOISE,))

TEXT = "Section 3.2, the list after (25)"


def _no_length(why: str) -> Silence:
    return Silence(why, applies=False, part="lengths")


@claim(
    "figure-3/minimum",
    "Section 4, Figure 3",
    "The distance of the transformer's ridge regression from the paper's best one is least at "
    "N = m, where it is zero.",
)
def figure_3_minimum(evidence: Evidence[Sweep]) -> Comparisons:
    """Trivially: at N = m the two problems are the same."""
    having = evidence.where(lambda s: s.task.m in s.lengths)
    if not len(having):
        return _no_length("no prompt has N = m examples")
    there = having.each(lambda s: s.gaps[s.lengths == s.task.m])
    elsewhere = having.each(lambda s: np.where(s.lengths == s.task.m, np.nan, s.gaps))
    largest = having.each(lambda s: s.gaps.max())
    zero = equal(there, 0.0, size=largest, part="at N = m", cases=having.cases)
    if np.isnan(elsewhere).all():
        return zero
    places = max((sweep.lengths for sweep in having), key=len)
    least = at_least(elsewhere, there, part="elsewhere", cases=having.cases, places=places)
    return [zero, least]


@claim(
    "section-3.2/closer",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the closer the transformer's choice is to the best possible one.",
    kind="substance",
    part="distance",
    values=lambda sweep: sweep.gaps,
)
@claim(
    "section-3.2/better",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the better the transformer predicts.",
    kind="substance",
    part="risk",
    values=lambda sweep: sweep.risks(1.0),
)
@case_by_case
def falls_towards_m(sweep: Sweep, part: str, values: Callable[[Sweep], np.ndarray]) -> Comparisons:
    """From each length to the next one on the way to m, from both sides.

    The risk is E(prediction - lambda'z)^2 over queries; it falls with N all along.
    """
    numbers = values(sweep)
    below, above = sweep.lengths < sweep.task.m, sweep.lengths > sweep.task.m
    following, before = np.append(numbers[1:], np.nan), np.append(np.nan, numbers[:-1])
    nearer = np.where(below, following, np.where(above, before, np.nan))
    return at_least(numbers, nearer, part=part, places=sweep.lengths)


@claim(
    "section-3.2/best",
    "Section 3.2, (23) to (25)",
    "The best prediction one could hope for is ridge regression with the regularizer N tau: on "
    "average over the tasks of Assumption 1 that with m tau has no smaller risk.",
    kind="substance",
)
@case_by_case
def section_32_best(sweep: Sweep) -> Comparisons:
    """In truth its risk is smaller for every N but m."""
    part = "risk with m tau against that with N tau"
    return at_least(sweep.risks(1.0), sweep.risks(None), part=part, places=sweep.lengths)


@claim(
    "section-3.2/noise",
    TEXT,
    "For N > m the transformer's predictions contain more of the noise in the labels than those of "
    "the best choice.",
)
@case_by_case
def section_32_noise(sweep: Sweep) -> Comparisons:
    """The variance of predictions for the queries over the noise, in units of tau ||lambda||^2."""
    meant = sweep.lengths > sweep.task.m
    if not meant.any():
        return _no_length("no prompt has more than m examples")
    ours, best = (np.where(meant, sweep.noise(share), np.nan) for share in (1.0, None))
    return at_least(ours, best, baseline=0.0, part="noise in predictions", places=sweep.lengths)


@claim(
    "section-3.2/underfit",
    TEXT,
    "For N < m the transformer chooses coefficients of a smaller norm than the best choice.",
    what="norm",
    longer=False,
)
@claim(
    "section-3.2/overfit",
    TEXT,
    "For N > m the transformer fits the labels in the prompt closer than the best choice does.",
    what="misfit",
    longer=True,
)
@case_by_case
def fits_differently(sweep: Sweep, what: str, longer: bool) -> Comparisons:
    """For every length the prompt that comes closest to the contrary."""
    meant = sweep.lengths > sweep.task.m if longer else sweep.lengths < sweep.task.m
    if not meant.any():
        return _no_length("no prompt has such a length")
    ours, best = sweep.fits[what], sweep.fits[f"best_{what}"]
    worst = np.arange(len(sweep.lengths)), np.argmax(ours - best, axis=1)
    left, right = (np.where(meant, side[worst], np.nan) for side in (ours, best))
    size = sweep.fits[f"size of {what}"][worst]
    return at_most(left, right, size=size, part=what, places=sweep.lengths)


@claim(
    "own/ridge-level",
    "Section 3.2",
    "m tau is the regularizer with the least risk, for every N and every law with "
    "E lambda lambda' = I.",
)
@case_by_case
def own_ridge_level(sweep: Sweep) -> Comparisons:
    """Against regularizers from a quarter to four times as large."""
    risk = sweep.risks(1.0)
    return [
        at_least(sweep.risks(x), risk, part=f"risk with {x:g} m tau", places=sweep.lengths)
        for x in (0.25, 0.9, 1.1, 4.0)
    ]


@claim(
    "own/best-is-worse",
    "Section 3.2, Figure 3",
    "The risk with N tau exceeds that with m tau by exactly K / (K - N) times the distance that "
    "Figure 3 shows.",
)
@case_by_case
def own_best_is_worse(sweep: Sweep) -> Comparisons:
    """The risk is over queries alone, the distance over all tokens."""
    K = sweep.task.K
    stated = sweep.risks(1.0) + K / (K - sweep.lengths) * sweep.gaps
    return equal(sweep.risks(None), stated, part="risk", places=sweep.lengths)


@claim(
    "own/peaks",
    "Figure 3",
    "The distance to the best choice is not monotone: it has a peak on either side of N = m.",
    on=FIGURE_SWEEPS,
)
@case_by_case
def own_peaks(sweep: Sweep) -> Comparisons:
    """The largest distance on either side is larger than the one at the end."""
    below = sweep.lengths < sweep.task.m
    return [
        at_least(sweep.gaps[side].max(), sweep.gaps[end], strict=True, part=part)
        for part, side, end in (("below m", below, 0), ("above m", ~below, -1))
    ]
