"""Findings of ours about how fast, and by which algorithm, the limits are reached.

They are about what happens in the end: limits, which no finite run disproves.
"""

from typing import Any

import numpy as np

from lemmata.claims import Comparisons, Identity, Silence, equal, statements, tends_to
from lemmata.margin import pair_rows
from lemmata.settings import Evidence, Grid

from ..experiments import BLOCK, FLOWS, LONG_DESCENT, LONG_NORMALIZED, ORBIT, PATHS, TIMES, Followed
from ..setting import ACYCLIC_DATA, NONZERO, REALIZABLE, Dataset
from ._shared import EXACT, GLOBAL, SHORTEST, aligns, arrived, settled

claim = statements("mechanics", hypotheses=GLOBAL)

TENTH = 0.1
"""Orbits to first order in η, growth and slopes are known to this share."""

LARGE = 20.0
"""Weights count as large from so many times ‖W^mm‖ on."""

HALF_DECADE, DECADE = 10**0.5, 10.0
"""How much of the time before a record is looked at there."""

ASYMPTOTIC = "it is about the end of an endless run: no finite one breaks it"

NO_RATE = Silence("the direction is exact, or the run too short: there is no rate to see")


def _far(evidence: Evidence[Any]) -> np.ndarray:
    """Which cases are far enough out for every sample to matter, and far from W(0)."""

    def distance(case: Any) -> float:
        dataset: Dataset = getattr(case, "instance", case)
        skew = max(1.0, float(np.ptp(dataset.risk.log_weight)))
        start = 0.0 if dataset.initial_weights is None else np.linalg.norm(dataset.initial_weights)
        return LARGE * max(dataset.norm * skew, float(start))

    return evidence.norm[:, -1] >= evidence.each(distance)[:, 0]


def _turning(evidence: Evidence[Any], there: np.ndarray) -> Evidence[Any]:
    """Those of them whose direction is not exact: only there is a rate to see."""
    turns = evidence.one_minus_correlation[:, -1] > EXACT
    return evidence.select([int(i) for i in np.flatnonzero(turns & there)])


def _stays_off(evidence: Evidence[Any]) -> np.ndarray:
    """Where the part of W that is orthogonal to W^mm has not halved over the last decade.

    By symmetry it may vanish, like 1/t: with as many a as b after [a b c], and b after [b c].
    """
    off = evidence.norm * np.sqrt(evidence.one_minus_correlation)
    before = int(np.searchsorted(evidence.records, evidence.records[-1] / DECADE, side="right")) - 1
    return off[:, -1] >= off[:, before] / 2


def per_fold(values: Grid, x: np.ndarray, factor: float) -> Grid:
    """The growth of the values per e-fold of x, at each record over the last ``factor`` of x."""
    growth = np.full(np.broadcast_shapes(values.shape, x.shape), np.nan)
    values, x = (np.broadcast_to(grid, growth.shape) for grid in (values, x))
    for row, (ends, places) in enumerate(zip(values, x, strict=True)):
        before = np.searchsorted(places, places / factor, side="right") - 1
        seen = (before >= 0) & (places[before] > 0)
        here, there = np.flatnonzero(seen), before[seen]
        growth[row, here] = (ends[here] - ends[there]) / np.log(places[here] / places[there])
    return growth


def _falls_like_the_square(some: Evidence[Any], x: np.ndarray) -> Comparisons:
    """1 − corr falls like x^−2: its slope on logarithmic axes tends to −2."""
    if not len(some):
        return NO_RATE
    with np.errstate(divide="ignore"):
        slopes = per_fold(np.log(some.one_minus_correlation), x, DECADE)
    return _ends(some, slopes / -2, 1.0, "slope of log(1 − corr), over −2")


def _grows(evidence: Evidence[Any], norm: Grid, sizes: np.ndarray, factor: float) -> Identity:
    """A norm gains ‖W^mm‖ per e-fold of time in the end."""
    growth = per_fold(norm, np.asarray(evidence.records, dtype=float)[None], factor) / sizes
    return _ends(evidence, growth, 1.0, "growth per e-fold, over ‖W^mm‖")


def _ends(evidence: Evidence[Any], values: Grid, goal: float, part: str) -> Identity:
    """The values are what they should be at the end, as far as they do not move any more."""
    third = int(np.searchsorted(evidence.records, evidence.records[-1] / 3, side="right")) - 1
    moved = np.abs(values[:, -1:] - values[:, third : third + 1])
    exact = {"rounding": TENTH, "size": 1.0, "error": moved, "cases": evidence.cases}
    return equal(values[:, -1:], goal, part=part, **exact)


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
    some = _turning(evidence, _far(evidence))
    return _falls_like_the_square(some, np.asarray(some.records, dtype=float)[None])


@claim(
    "own/path-rate",
    "ours; docs/mechanics.md",
    "On the regularization path 1 − corr ~ C/R².",
    on=PATHS,
    unbreakable=ASYMPTOTIC,
)
def path_rate(evidence: Evidence[Followed]) -> Comparisons:
    """By the radius."""
    some = _turning(evidence, _far(evidence))
    return _falls_like_the_square(some, some.norm)


@claim(
    "own/orbit",
    "ours; docs/mechanics.md",
    "On cyclic data normalized descent with step η ends on a period-two orbit of radius η/2 around "
    "W^cyc, and the rest grows by ‖W^mm‖ per e-fold of time, as plain descent with η = 2/λ does.",
    on=ORBIT,
    unbreakable=ASYMPTOTIC,
)
def orbit(evidence: Evidence[Dataset]) -> Comparisons:
    """Distances and midpoints, to first order in η; and growth, where it has come to that."""
    distance = evidence.cyclic_distance
    there = arrived(evidence, evidence.free_norm, distance, normalized=True)[:, -1] > 0
    some = evidence.select([int(i) for i in np.flatnonzero(there)])
    if not len(some):
        return Silence("no run is that far; one that starts at W^cyc exactly never leaves it")
    return [
        _ends(some, 2 * some.cyclic_distance / some.rate, 1.0, "distance over η/2"),
        _ends(some, some.midpoint_distance / some.rate, 0.0, "midpoint of two iterates over η"),
        _grows(some, some.free_norm, some.each(lambda d: d.norm), 3.0),
    ]


@claim(
    "own/descent-rate",
    "ours; docs/mechanics.md",
    "Plain descent has W = W^mm ln t + O(1). Unless what is bounded there ends on the line of "
    "W^mm, 1 − corr ~ C/(ln t + c)²: (1 − corr)^{-1/2} is linear in ln t, and no run that can be "
    "waited for gets near correlation 1.",
    on=LONG_DESCENT,
)
def descent_rate(evidence: Evidence[Dataset]) -> Comparisons:
    """Its growth over a decade, against that over the decade before."""
    some = _turning(evidence, _stays_off(evidence))
    if not len(some):
        return NO_RATE
    steps = np.asarray(some.records, dtype=float)[None]
    growth = per_fold(some.one_minus_correlation**-0.5, steps, HALF_DECADE)
    with np.errstate(invalid="ignore", divide="ignore"):
        bends = per_fold(np.log(growth), steps, HALF_DECADE)
    bends = arrived(some, some.free_norm, bends)
    return tends_to(bends, 0.0, rounding=TENTH, size=1.0, part="bend", cases=some.cases)


@claim(
    "own/block",
    "ours; docs/mechanics.md",
    "Plain descent inside S_cyc and normalized descent outside reach both limits of Theorem 3.",
    on=BLOCK,
)
def block(evidence: Evidence[Dataset]) -> Comparisons:
    """1 − corr falls like a square, the distance exponentially."""
    rate = evidence.each(lambda d: 1 / max(d.lipschitz_tight, SHORTEST))
    gaps, distance = (
        settled(evidence, rate, column)
        for column in (evidence.one_minus_correlation, evidence.cyclic_distance)
    )
    gaps, size = np.where(_far(evidence)[:, None], gaps, np.nan), evidence.norm[:, -1:]
    return [
        aligns(gaps, part="1 − corr"),
        tends_to(distance, 0.0, size=size, part="distance to W^cyc"),
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
    rows = pair_rows(dataset.pairs, dataset.E) / dataset.largest_logit
    lengths = np.sum(rows**2, axis=1)
    rarest = float(dataset.risk.weight.min())
    return bool(TIMES[-1] * rarest * float(lengths.min()) >= SOON)


@claim(
    "own/flow",
    "ours",
    "Gradient flow has the limits of Theorem 3: ‖Π W − W^cyc‖ ~ C/t and growth of ‖W^mm‖ per "
    "e-fold of time.",
    on=FLOWS,
    unbreakable=ASYMPTOTIC,
)
def flow(evidence: Evidence[Followed]) -> Comparisons:
    """Over the last decades of time, where no sample is too rare to be seen by then."""
    some = evidence.where(_soon)
    if not len(some):
        return Silence("a sample is too rare, or W(0) too large, to see the limit in this time")
    trend = 1 / np.maximum(some.records, 1.0)
    return [
        _grows(some, some.norm, some.each(lambda case: case.instance.norm), 100.0),
        tends_to(
            some.cyclic_distance,
            0.0,
            trend=trend,
            size=some.norm[:, -1:],
            part="distance to W^cyc",
            cases=some.cases,
        ),
    ]
