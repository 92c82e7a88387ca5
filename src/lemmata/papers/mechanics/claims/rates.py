"""Findings of ours about how fast, and by which algorithm, the limits are reached."""

from typing import Any

import numpy as np

from lemmata.claims import Comparisons, Identity, Silence, at_most, equal, statements, tends_to
from lemmata.margin import pair_rows
from lemmata.settings import Evidence, Grid

from ..experiments import BLOCK, FLOWS, LONG_DESCENT, LONG_NORMALIZED, ORBIT, PATHS, TIMES, Followed
from ..setting import ACYCLIC_DATA, NONZERO, REALIZABLE, Dataset
from ._shared import EXACT, GLOBAL

claim = statements("mechanics", hypotheses=GLOBAL)

TENTH = 0.1
"""Orbits to first order in η, and growth by the end of a run, are known to this share."""

ASYMPTOTIC = "it is about t → ∞ or R → ∞: no finite run breaks it"

EXPONENT = 0.25
"""Rates are powers of t or R: halves can be told apart by the end of a run."""


def _turning(evidence: Evidence[Any]) -> Evidence[Any]:
    """The cases whose direction is not exact: only there is a rate to see."""
    turns = evidence.one_minus_correlation[:, -1] > EXACT
    return evidence.select([int(i) for i in np.flatnonzero(turns)])


def _exponent(some: Evidence[Any], x: Grid, expected: float) -> Comparisons:
    """The slope of log(1 − corr) against log x over the last decade, with its standard error."""
    if not len(some):
        return Silence("the direction is exact: there is no rate to see")
    fits = []
    for row, gaps in zip(x, some.one_minus_correlation, strict=True):
        late = row >= row[-1] / 10
        fit, cover = np.polyfit(np.log(row[late]), np.log(gaps[late]), 1, cov=True)
        fits.append((fit[0], np.sqrt(cover[0, 0])))
    slopes, errors = np.array(fits).T[:, :, None]
    return equal(
        slopes,
        expected,
        rounding=EXPONENT / abs(expected),
        error=errors,
        part="slope over the last decade",
        cases=some.cases,
    )


def _growth(
    evidence: Evidence[Any], norm: np.ndarray, sizes: np.ndarray, factor: float
) -> Identity:
    """The growth of a norm per e-fold, over the last ``factor`` of time, is ‖W^mm‖."""
    late = int(np.searchsorted(evidence.records, evidence.records[-1] / factor, side="right")) - 1
    folds = np.log(evidence.records[-1] / evidence.records[late])
    growth = (norm[:, -1:] - norm[:, late : late + 1]) / folds
    return equal(growth, sizes, rounding=TENTH, part="growth per e-fold", cases=evidence.cases)


@claim(
    "own/normalized-rate",
    "ours; docs/mechanics.md",
    "On acyclic data normalized descent has 1 − corr ~ C/(ηt)².",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, NONZERO),
    on=LONG_NORMALIZED,
    unbreakable=ASYMPTOTIC,
)
def normalized_rate(evidence: Evidence[Dataset]) -> Comparisons:
    """By the number of steps."""
    some = _turning(evidence)
    steps = np.asarray(some.records, dtype=float)
    return _exponent(some, np.broadcast_to(steps, (len(some), len(steps))), -2.0)


@claim(
    "own/path-rate",
    "ours; docs/mechanics.md",
    "On the regularization path 1 − corr ~ C/R².",
    on=PATHS,
    unbreakable=ASYMPTOTIC,
)
def path_rate(evidence: Evidence[Followed]) -> Comparisons:
    """By the radius."""
    some = _turning(evidence)
    return _exponent(some, some.norm, -2.0)


@claim(
    "own/orbit",
    "ours; docs/mechanics.md",
    "On cyclic data normalized descent with step η ends on a period-two orbit of radius η/2 around "
    "W^cyc, and the rest grows by ‖W^mm‖ per e-fold of time, as plain descent with η = 2/λ does.",
    on=ORBIT,
    unbreakable=ASYMPTOTIC,
)
def orbit(evidence: Evidence[Dataset]) -> Comparisons:
    """Distances and midpoints at the end, to first order in η; and growth."""
    distance = evidence.cyclic_distance[:, -1:]
    if not (distance > 0).all():
        return Silence("a run starts at W^cyc exactly, by symmetry, and never leaves it")
    midpoint = evidence.midpoint_distance[:, -1:]
    return [
        equal(distance, evidence.rate / 2, rounding=TENTH, part="distance"),
        at_most(midpoint, TENTH * evidence.rate, part="midpoint of two iterates"),
        _growth(evidence, evidence.free_norm, evidence.each(lambda d: d.norm), 3.0),
    ]


@claim(
    "own/descent-rate",
    "ours; docs/mechanics.md",
    "Plain descent has W = W^mm ln t + O(1), so 1 − corr ~ C/(ln t + c)²: (1 − corr)^{-1/2} is "
    "linear in ln t, and no run that can be waited for gets near correlation 1.",
    on=LONG_DESCENT,
    unbreakable=ASYMPTOTIC,
)
def descent_rate(evidence: Evidence[Dataset]) -> Comparisons:
    """A line through the last two decades, to 3 %."""
    some = _turning(evidence)
    if not len(some):
        return Silence("the direction is exact: there is no rate to see")
    late = some.records >= some.records[-1] / 100
    x = np.log(some.records[late])
    y = some.one_minus_correlation[:, late] ** -0.5
    lines = np.array([np.polyval(np.polyfit(x, row, 1), x) for row in y])
    return equal(y, lines, rounding=0.03, places=some.records[late], part="line", cases=some.cases)


@claim(
    "own/block",
    "ours; docs/mechanics.md",
    "Plain descent inside S_cyc and normalized descent outside reach both limits of Theorem 3: "
    "1 − corr < 10⁻⁵ and a distance to W^cyc below 10⁻⁸ in 20,000 steps.",
    on=BLOCK,
)
def block(evidence: Evidence[Dataset]) -> Comparisons:
    """At the end, on every dataset."""
    gaps, distance = evidence.one_minus_correlation[:, -1:], evidence.cyclic_distance[:, -1:]
    return [
        at_most(gaps, 1e-5, strict=True, part="1 − corr"),
        at_most(distance, 1e-8, strict=True, part="distance"),
    ]


SMALL_START = 5.0
"""Logits at W(0) that flow has forgotten by then."""

SOON = 1e4
"""Time in which a sample of the least frequency has been seen so often shows where flow goes."""


def _soon(case: Followed) -> bool:
    """Whether W(0) is small, and the rarest sample has had the time to matter."""
    dataset = case.instance
    start = dataset.initial_weights
    if start is not None and np.abs(dataset.E @ start @ dataset.E.T).max() > SMALL_START:
        return False
    lengths = np.sum(pair_rows(dataset.pairs, dataset.E) ** 2, axis=1)
    rarest = float(dataset.realizable.frequencies.min())
    return bool(TIMES[-1] * rarest * float(lengths.min()) >= SOON)


@claim(
    "own/flow",
    "ours",
    "Gradient flow has the limits of Theorem 3: ‖Π W − W^cyc‖ ~ C/t and growth of ‖W^mm‖ per "
    "e-fold of time.",
    on=FLOWS,
)
def flow(evidence: Evidence[Followed]) -> Comparisons:
    """Over the last decades of time, where no sample is too rare to be seen by then."""
    some = evidence.where(_soon)
    if not len(some):
        return Silence("a sample is too rare, or W(0) too large, to see the limit in this time")
    trend = 1 / np.maximum(some.records, 1.0)
    return [
        _growth(some, some.norm, some.each(lambda case: case.instance.norm), 100.0),
        tends_to(
            some.cyclic_distance,
            0.0,
            trend=trend,
            size=some.norm[:, -1:],
            part="distance to W^cyc",
            cases=some.cases,
        ),
    ]
