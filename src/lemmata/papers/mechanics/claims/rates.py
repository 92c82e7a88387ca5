"""Findings of ours about how fast, and by which algorithm, the limits are reached."""

import numpy as np

from lemmata.claims import Comparisons, Limit, Silence, at_most, equal, tends_to
from lemmata.papers.mechanics.claims._shared import EXACT, GLOBAL, claim, local_slopes
from lemmata.papers.mechanics.experiments import (
    BLOCK,
    FLOWS,
    LONG_DESCENT,
    LONG_NORMALIZED,
    ORBIT,
    PATHS,
    Followed,
)
from lemmata.papers.mechanics.setting import ACYCLIC_DATA, NONZERO, REALIZABLE, Dataset
from lemmata.settings import Evidence, Grid

FIRST_ORDER = 0.1
"""An orbit of normalized descent is known to first order in η: to this share of it."""


def _turning(evidence: Evidence) -> Evidence:
    """The cases whose direction is not exact: only there is a rate to see."""
    turns = evidence.one_minus_correlation[:, -1] > EXACT
    return evidence.select([int(i) for i in np.flatnonzero(turns)])


def _growth(evidence: Evidence, norm: Grid, sizes: Grid) -> Limit:
    """The growth of a norm per e-fold of time, over ‖W^mm‖, tends to 1 (like 1/ln² t)."""
    assert evidence.steps is not None
    late = np.asarray(evidence.steps, dtype=float)[1:]
    slopes = local_slopes(np.log(late), norm[:, 1:]) / sizes
    trend = 1 / np.log(np.maximum(late[1:], 2.0)) ** 2
    part = "growth per e-fold over ‖W^mm‖"
    return tends_to(slopes, 1.0, trend=trend, places=late[1:], part=part)


@claim(
    "own/normalized-rate",
    "ours; docs/mechanics.md",
    "On acyclic data normalized descent has 1 − corr ~ C/(ηt)².",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, NONZERO),
    on=LONG_NORMALIZED,
)
def normalized_rate(evidence: Evidence[Dataset]) -> Comparisons:
    """The slope of log(1 − corr) against log t; that of C/(t + c)² is −2 up to 1/t."""
    some = _turning(evidence)
    assert some.steps is not None
    t = some.steps[1:].astype(float)
    slopes = local_slopes(np.log(t), np.log(some.one_minus_correlation[:, 1:]))
    places, cases = t[1:], some.cases
    return tends_to(slopes, -2.0, trend=1 / places, places=places, part="slope", cases=cases)


@claim(
    "own/path-rate",
    "ours; docs/mechanics.md",
    "On the regularization path 1 − corr ~ C/R².",
    hypotheses=GLOBAL,
    on=PATHS,
)
def path_rate(evidence: Evidence[Followed]) -> Comparisons:
    """The slope of log(1 − corr) against log R; that of C/(R + c)² is −2 up to 1/R."""
    some = _turning(evidence)
    assert some.steps is not None
    slopes = local_slopes(np.log(some.norm), np.log(some.one_minus_correlation))
    trend, places = 1 / some.norm[:, 1:], some.steps[1:]
    return tends_to(slopes, -2.0, trend=trend, places=places, part="slope", cases=some.cases)


@claim(
    "own/orbit",
    "ours; docs/mechanics.md",
    "On cyclic data normalized descent with step η ends on a period-two orbit of radius η/2 around "
    "W^cyc, and the rest grows by ‖W^mm‖ per e-fold of time, as plain descent with η = 2/λ does.",
    hypotheses=GLOBAL,
    on=ORBIT,
)
def orbit(evidence: Evidence[Dataset]) -> Comparisons:
    """Distances and midpoints at the end, to first order in η; and growth."""
    distance = evidence.cyclic_distance[:, -1:]
    if not (distance > 0).all():
        return Silence("a run starts at W^cyc exactly, by symmetry, and never leaves it")
    midpoint = evidence.midpoint_distance[:, -1:]
    return [
        equal(distance, evidence.rate / 2, rounding=FIRST_ORDER, part="distance"),
        at_most(midpoint, FIRST_ORDER * evidence.rate, part="midpoint of two iterates"),
        _growth(evidence, evidence.free_norm, evidence.each(lambda d: d.norm)),
    ]


@claim(
    "own/descent-rate",
    "ours; docs/mechanics.md",
    "Plain descent has W = W^mm ln t + O(1), so 1 − corr ~ C/(ln t + c)²: (1 − corr)^{-1/2} is "
    "linear in ln t, and no run that can be waited for gets near correlation 1.",
    hypotheses=GLOBAL,
    on=LONG_DESCENT,
)
def descent_rate(evidence: Evidence[Dataset]) -> Comparisons:
    """A line through the last two decades, to 3 %; and the growth of ‖W‖."""
    some = _turning(evidence)
    assert some.steps is not None
    late = some.steps >= some.steps[-1] / 100
    x = np.log(some.steps[late])
    y = some.one_minus_correlation[:, late] ** -0.5
    lines = np.array([np.polyval(np.polyfit(x, row, 1), x) for row in y])
    return [
        equal(y, lines, rounding=0.03, places=some.steps[late], part="line", cases=some.cases),
        _growth(evidence, evidence.free_norm, evidence.each(lambda d: d.norm)),
    ]


@claim(
    "own/block",
    "ours; docs/mechanics.md",
    "Plain descent inside S_cyc and normalized descent outside reach both limits of Theorem 3: "
    "1 − corr < 10⁻⁵ and a distance to W^cyc below 10⁻⁸ in 20,000 steps.",
    hypotheses=GLOBAL,
    on=BLOCK,
)
def block(evidence: Evidence[Dataset]) -> Comparisons:
    """At the end, on every dataset."""
    gaps, distance = evidence.one_minus_correlation[:, -1:], evidence.cyclic_distance[:, -1:]
    return [
        at_most(gaps, 1e-5, strict=True, part="1 − corr"),
        at_most(distance, 1e-8, strict=True, part="distance"),
    ]


@claim(
    "own/flow",
    "ours",
    "Gradient flow has the limits of Theorem 3: ‖Π W − W^cyc‖ ~ C/t and growth of ‖W^mm‖ per "
    "e-fold of time.",
    hypotheses=GLOBAL,
    on=FLOWS,
)
def flow(evidence: Evidence[Followed]) -> Comparisons:
    """Over the last decades of time."""
    assert evidence.steps is not None
    trend = 1 / np.maximum(evidence.steps, 1.0)
    return [
        _growth(evidence, evidence.norm, evidence.each(lambda case: case.instance.norm)),
        tends_to(evidence.cyclic_distance, 0.0, trend=trend, part="distance to W^cyc"),
    ]
