"""Judging limits: by the trend at the end of a run, extrapolated where that is sound."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.settings import Evidence

from ._comparisons import Limit
from ._frame import Frame, Grid, frame
from ._places import nothing, says
from ._trends import Trend, fit_trend
from ._verdict import Judgement, Status

COARSE = 0.1
"""A limit that is known no better than to this share of the way to it is not known."""


CLEARLY = 2.0
"""A limit is wrong if it is off by so many times its error; up to there it is not known."""


def judge_limit(comparison: Limit, evidence: Evidence[Any]) -> Judgement:
    names = ("curve", "target", "trend", "rounding", "size")
    sides = {name: getattr(comparison, name) for name in names}
    if np.ndim(comparison.target) == 0 and np.isinf(comparison.target):
        with np.errstate(divide="ignore"):
            sides |= {"curve": 1 / (np.sign(comparison.target) * np.asarray(comparison.curve))}
        sides["target"] = 0.0
    at, grids = frame(comparison, evidence, **sides)
    if not grids["curve"].size:
        return nothing(comparison)
    trends = [
        fit_trend(
            np.asarray(at.places, dtype=float),
            grids["curve"][row] - grids["target"][row],
            trend=grids["trend"][row] if "trend" in grids else None,
            rounding=float(np.max(grids["rounding"][row] if "rounding" in grids else at.rounding)),
            height=_height(grids, row),
            size=grids["size"][row] if "size" in grids else None,
            waits=comparison.waits,
            above=comparison.above,
        )
        for row in range(len(at.names))
    ]
    return _limit(comparison, at, trends)


def _height(grids: Mapping[str, Grid], row: int) -> float:
    """What the rounding of a distance is relative to: the curve and the target, or a given size."""
    sides = [grids[name][row] for name in (("size",) if "size" in grids else ("curve", "target"))]
    return float(max(np.abs(side[np.isfinite(side)]).max(initial=0.0) for side in sides))


def _limit(comparison: Limit, at: Frame, trends: Sequence[Trend | None]) -> Judgement:
    short = [name for name, trend in zip(at.names, trends, strict=True) if trend is None]
    scores = np.array([_score(trend) for trend in trends])
    if short:
        reason = says(comparison.part, f"the run is too short to see a trend on {short[0]}")
        return Judgement(comparison.part, Status.UNDECIDED, reason, scores=scores)
    known = [trend for trend in trends if trend is not None]
    spare = [trend.error - abs(trend.offset) for trend in known]
    wrong = [i for i, trend in enumerate(known) if _score(trend) < 0]
    coarse = [i for i, trend in enumerate(known) if spare[i] < 0 or not trend.resolution <= COARSE]
    if wrong:
        row = max(wrong, key=lambda i: abs(known[i].offset) / known[i].size)
        status, what = Status.FAILS, "it tends to something else"
    elif coarse:
        row = max(coarse, key=lambda i: known[i].resolution)
        status, what = Status.UNDECIDED, "the run is too short to tell the limit"
    else:
        row = max(range(len(known)), key=lambda i: known[i].resolution)
        status, what = Status.HOLDS, "it tends to what is stated"
    trend = known[row]
    reason = says(
        comparison.part,
        f"{what}: on {at.names[row]} it ends {trend.last:.4g} away and extrapolates ({trend.law}) "
        f"to {trend.offset:.3g} ± {trend.error:.2g}",
    )
    witness = at.place(row, -1) | {
        "left": trend.last,
        "right": 0.0,
        "extrapolated": trend.offset,
        "error": trend.error,
    }
    resolution = max(trend.resolution for trend in known)
    return Judgement(
        comparison.part,
        status,
        reason,
        spare[row],
        witness=witness,
        resolution=resolution,
        case=row,
        scores=scores,
    )


def _score(trend: Trend | None) -> float:
    """How far the limit is from being wrong, relative to the whole way; NaN without a trend."""
    if trend is None:
        return float("nan")
    spare = (CLEARLY * trend.error - abs(trend.offset)) / (trend.size or 1.0)
    return spare if trend.settles else max(spare, 0.0)
