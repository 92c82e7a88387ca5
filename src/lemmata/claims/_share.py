"""Judging probabilities from samples, with a confidence interval."""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from lemmata._errors import StatementError
from lemmata.settings import Evidence

from ._comparisons import Share
from ._frame import Frame, Grid, frame
from ._places import lowest, nothing, says
from ._verdict import Judgement, Status

DOUBT = 1e-3
"""The chance that a confidence interval misses the truth."""

WHOLE = 1e-6
"""A count may be so far from a whole number: it may have been computed."""


def judge_share(comparison: Share, evidence: Evidence[Any]) -> Judgement:
    names = ("successes", "trials", "bound")
    at, grids = frame(comparison, evidence, **{name: getattr(comparison, name) for name in names})
    hits, trials, bound = _counted(comparison, at, *(grids[name] for name in names))
    if not hits.size or not (trials > 0).any():
        return nothing(comparison)
    low, high = _interval(hits, trials)
    sign = 1.0 if comparison.sense == ">=" else -1.0
    certain, possible = (low, high) if sign > 0 else (high, low)
    sure, open_, seen = (
        np.where(trials > 0, sign * (share - bound), np.inf)
        for share in (certain, possible, hits / np.maximum(trials, 1))
    )
    row, column = lowest(seen)
    if (open_ < 0).any():
        status = Status.FAILS
        row, column = lowest(open_)
    elif (sure < 0).any():
        status = Status.UNDECIDED
    else:
        status = Status.HOLDS
    share = hits[row, column] / trials[row, column]
    place = at.place(row, column, left=float(share), right=float(bound[row, column]))
    reason = says(
        comparison.part,
        f"{hits[row, column]:.0f} of {trials[row, column]:.0f} on {at.names[row]}, so the chance "
        f"is between {low[row, column]:.4g} and {high[row, column]:.4g}; stated is "
        f"{bound[row, column]:.4g}",
    )
    width = float((high - low).max() / 2)
    margin = float(sign * (share - bound[row, column]))
    scores = open_.min(axis=1)
    return Judgement(
        comparison.part,
        status,
        reason,
        margin,
        witness=place,
        resolution=width,
        case=row,
        scores=np.where(np.isfinite(scores), scores, np.nan),
    )


def _counted(
    comparison: Share, at: Frame, hits: Grid, trials: Grid, bound: Grid
) -> tuple[Grid, Grid, Grid]:
    """Whole numbers of successes and trials; none of either where one of the three is not known."""
    known = ~(np.isnan(hits) | np.isnan(trials) | np.isnan(bound))
    hits, trials, bound = (np.where(known, grid, 0.0) for grid in (hits, trials, bound))
    whole = np.maximum(_fraction(hits), _fraction(trials)) <= WHOLE
    possible = whole & (hits >= 0) & (hits <= trials + WHOLE)
    if not possible.all():
        row, column = lowest(possible.astype(float))
        raise StatementError(
            f"{comparison.part or 'the share'}: {hits[row, column]:.6g} successes in "
            f"{trials[row, column]:.6g} trials on {at.names[row]}; a share is of whole numbers, "
            "and of no more successes than trials"
        )
    return np.rint(hits), np.rint(trials), bound


def _fraction(grid: Grid) -> Grid:
    """How far numbers are from whole ones; an infinite one is far from all."""
    finite = np.isfinite(grid)
    return np.where(finite, np.abs(grid - np.rint(np.where(finite, grid, 0.0))), np.inf)


def _interval(hits: Grid, trials: Grid) -> tuple[Grid, Grid]:
    """Clopper and Pearson's interval for a probability."""
    few = np.maximum(trials, 1)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), few - hits + 1, DOUBT / 2), 0.0)
    high = np.where(hits < few, betaincinv(hits + 1, np.maximum(few - hits, 1), 1 - DOUBT / 2), 1.0)
    return low, high
