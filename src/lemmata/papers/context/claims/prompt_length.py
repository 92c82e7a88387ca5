"""Section 3.2 and Figure 3: what a prompt of about m examples is good for."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from lemmata.claims import Comparison, Comparisons, Silence, at_least, at_most, equal, statements
from lemmata.settings import Evidence

from ..experiments.ridge import FIGURE_SWEEPS, SWEEPS, Sweep
from ..setting import NOISE

claim = statements("context")

TEXT = "Section 3.2, the list after (25)"


def _no_length(why: str) -> Silence:
    return Silence(why, applies=False, part="lengths")


def _lengths(evidence: Evidence[Sweep]) -> Int[np.ndarray, "lengths"]:
    """The prompt lengths N of the longest sweep; shorter ones have the first of them."""
    return max((sweep.lengths for sweep in evidence), key=len)


@claim(
    "figure-3/minimum",
    "Section 4, Figure 3",
    "The distance of the transformer's ridge regression from the paper's best one is least at "
    "N = m, where it is zero.",
    hypotheses=(NOISE,),
    on=SWEEPS,
)
def figure_3_minimum(evidence: Evidence[Sweep]) -> Comparisons:
    """Trivially: at N = m the two problems are the same."""
    having = evidence.where(lambda s: s.task.m in s.lengths)
    if not len(having):
        return _no_length("no prompt has N = m examples")
    there = having.each(lambda s: s.gaps[s.lengths == s.task.m])
    elsewhere = having.each(lambda s: np.where(s.lengths == s.task.m, np.nan, s.gaps))
    comparisons: list[Comparison] = [
        equal(
            there,
            0.0,
            size=having.each(lambda s: s.gaps.max()),
            part="at N = m",
            cases=having.cases,
        )
    ]
    if not np.isnan(elsewhere).all():
        comparisons.append(
            at_least(
                elsewhere, there, part="elsewhere", cases=having.cases, places=_lengths(having)
            )
        )
    return comparisons


def _distance(sweep: Sweep) -> Float[np.ndarray, "lengths"]:
    return sweep.gaps


def _risk(sweep: Sweep) -> Float[np.ndarray, "lengths"]:
    return sweep.risks(1.0)


@claim(
    "section-3.2/closer",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the closer the transformer's choice is to the best possible one.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    kind="substance",
    part="distance",
    values=_distance,
)
@claim(
    "section-3.2/better",
    f"{TEXT}; Figure 3",
    "The closer N is to m, the better the transformer predicts.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    kind="substance",
    part="risk",
    values=_risk,
)
def falls_towards_m(
    evidence: Evidence[Sweep], part: str, values: Callable[[Sweep], np.ndarray]
) -> Comparisons:
    """From each length to the next one on the way to m, from both sides.

    The risk is E(prediction - lambda'z)^2 over queries; it falls with N all along.
    """

    def nearer(sweep: Sweep) -> np.ndarray:
        numbers = values(sweep)
        below, above = sweep.lengths < sweep.task.m, sweep.lengths > sweep.task.m
        following, before = np.append(numbers[1:], np.nan), np.append(np.nan, numbers[:-1])
        return np.where(below, following, np.where(above, before, np.nan))

    return at_least(
        evidence.each(values), evidence.each(nearer), part=part, places=_lengths(evidence)
    )


@claim(
    "section-3.2/best",
    "Section 3.2, (23) to (25)",
    "The best prediction one could hope for is ridge regression with the regularizer N tau.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    kind="substance",
)
@claim(
    "section-3.2/noise",
    TEXT,
    "For N > m it captures noise, and predicts worse than the best choice.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    kind="substance",
    beyond_m=True,
)
def no_better_than_best(evidence: Evidence[Sweep], beyond_m: bool = False) -> Comparisons:
    """The risk with m tau is at least that with N tau; in truth it is less for every N but m."""
    if beyond_m and not any((s.lengths > s.task.m).any() for s in evidence):
        return _no_length("no prompt has more than m examples")

    def ours(sweep: Sweep) -> np.ndarray:
        return np.where((sweep.lengths > sweep.task.m) | (not beyond_m), sweep.risks(1.0), np.nan)

    return at_least(
        evidence.each(ours),
        evidence.each(lambda s: s.risks(None)),
        part="risk with m tau against that with N tau",
        places=_lengths(evidence),
    )


@claim(
    "section-3.2/underfit",
    TEXT,
    "For N < m the transformer chooses coefficients of a smaller norm than the best choice.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    what="norm",
    longer=False,
)
@claim(
    "section-3.2/overfit",
    TEXT,
    "For N > m the transformer fits the labels in the prompt closer than the best choice does.",
    hypotheses=(NOISE,),
    on=SWEEPS,
    what="misfit",
    longer=True,
)
def fits_differently(evidence: Evidence[Sweep], what: str, longer: bool) -> Comparisons:
    """For every length the prompt that comes closest to the contrary."""

    def meant(sweep: Sweep) -> Bool[np.ndarray, "lengths"]:
        return sweep.lengths > sweep.task.m if longer else sweep.lengths < sweep.task.m

    if not any(meant(sweep).any() for sweep in evidence):
        return _no_length("no prompt has such a length")

    def at_worst(sweep: Sweep, which: str) -> Float[np.ndarray, "lengths"]:
        excess = sweep.fits[what] - sweep.fits[f"best_{what}"]
        rows = np.arange(len(sweep.lengths))
        return np.where(meant(sweep), sweep.fits[which][rows, np.argmax(excess, axis=1)], np.nan)

    return at_most(
        evidence.each(lambda s: at_worst(s, what)),
        evidence.each(lambda s: at_worst(s, f"best_{what}")),
        part=what,
        places=_lengths(evidence),
    )


@claim(
    "own/ridge-level",
    "Section 3.2",
    "m tau is the regularizer with the least risk, for every N and every law with "
    "E lambda lambda' = I.",
    hypotheses=(NOISE,),
    on=SWEEPS,
)
def own_ridge_level(evidence: Evidence[Sweep]) -> Comparisons:
    """Against regularizers from a quarter to four times as large."""
    return [
        at_least(
            evidence.each(lambda s, share=share: s.risks(share)),
            evidence.each(_risk),
            part=f"risk with {share:g} m tau",
            places=_lengths(evidence),
        )
        for share in (0.25, 0.9, 1.1, 4.0)
    ]


@claim(
    "own/best-is-worse",
    "Section 3.2, Figure 3",
    "The risk with N tau exceeds that with m tau by exactly K / (K - N) times the distance that "
    "Figure 3 shows.",
    hypotheses=(NOISE,),
    on=SWEEPS,
)
def own_best_is_worse(evidence: Evidence[Sweep]) -> Comparisons:
    """The risk is over queries alone, the distance over all tokens."""
    return equal(
        evidence.each(lambda s: s.risks(None)),
        evidence.each(lambda s: s.risks(1.0) + s.task.K / (s.task.K - s.lengths) * s.gaps),
        part="risk",
        places=_lengths(evidence),
    )


@claim(
    "own/peaks",
    "Figure 3",
    "The distance to the best choice is not monotone: it has a peak on either side of N = m.",
    hypotheses=(NOISE,),
    on=FIGURE_SWEEPS,
)
def own_peaks(evidence: Evidence[Sweep]) -> Comparisons:
    """The largest distance on either side is larger than the one at the end."""
    return [
        at_least(
            evidence.each(lambda s, below=below: s.gaps[(s.lengths < s.task.m) == below].max()),
            evidence.each(lambda s, end=end: s.gaps[end]),
            strict=True,
            part=part,
        )
        for part, below, end in (("below m", True, 0), ("above m", False, -1))
    ]
