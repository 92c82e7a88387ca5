"""The judge: what a comparison is worth on the evidence. The only place that knows verdicts.

It also measures what a check can tell: the tightness of an inequality, the resolution of an
identity or a limit, the confidence interval of a share. A check that could not have failed decides
nothing.
"""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import betaincinv

from lemmata.claims._comparisons import (
    Comparison,
    Fact,
    Identity,
    Inequality,
    Limit,
    Share,
    Silence,
)
from lemmata.claims._frame import Frame, Grid, frame
from lemmata.claims._trends import Trend, fit_trend
from lemmata.claims._verdict import Judgement, Status, Tightness
from lemmata.settings import Evidence

DEVIATIONS = 4.0
"""A value within so many standard errors of the bound decides nothing."""

DOUBT = 1e-3
"""The chance that a confidence interval misses the truth."""

COARSE = 0.1
"""A limit that is known no better than to this share of the way to it is not known."""


@singledispatch
def judge(comparison: Comparison, evidence: Evidence[Any]) -> Judgement:
    """What the comparison is worth on the evidence."""
    raise TypeError(f"a {type(comparison).__name__} is no comparison")


@judge.register
def _(comparison: Silence, evidence: Evidence[Any]) -> Judgement:
    status = Status.UNDECIDED if comparison.applies else Status.INAPPLICABLE
    return Judgement(comparison.part, status, _says(comparison.part, comparison.reason))


@judge.register
def _(comparison: Fact, evidence: Evidence[Any]) -> Judgement:
    if not comparison.checked:
        return Judgement(comparison.part, Status.UNDECIDED, "there was nothing to look at")
    return Judgement(
        comparison.part,
        Status.HOLDS if comparison.holds else Status.FAILS,
        comparison.reason,
        comparison.margin,
        witness=comparison.witness,
        case=comparison.case,
    )


@judge.register
def _(comparison: Inequality, evidence: Evidence[Any]) -> Judgement:
    at, sides = frame(
        comparison,
        evidence,
        **{
            name: getattr(comparison, name)
            for name in ("left", "right", "baseline", "rounding", "size", "error")
        },
    )
    if not sides["left"].size:
        return _nothing(comparison)
    sign = 1.0 if comparison.sense in (">=", ">") else -1.0
    left, right = sides["left"], sides["right"]
    speaks = _speaks(comparison, at, left, right)
    if not speaks.any():
        return _too_early(comparison)
    gap = np.where(speaks, sign * _difference(left, right), np.inf)
    allowed = _allowance(at, sides) + _chance(sides)
    reach = gap + allowed
    broken = speaks & ((reach < 0) | ((reach <= 0) & (comparison.sense in (">", "<"))))
    if broken.any():
        return _violated(comparison, at, sides, gap, np.where(broken, reach, np.inf))
    open_ = speaks & _unclear(comparison, gap, allowed, _chance(sides))
    if open_.any():
        return _unclear_judgement(comparison, at, sides, gap, np.where(open_, gap, np.inf))
    return _upheld(comparison, at, sides, np.where(speaks, np.maximum(gap, 0.0), np.inf), sign)


def _speaks(comparison: Inequality, at: Frame, left: Grid, right: Grid) -> Bool[np.ndarray, "..."]:
    speaks = ~(np.isnan(left) | np.isnan(right))
    if comparison.from_step is not None:
        start = np.broadcast_to(np.ravel(comparison.from_step), len(at.names))
        speaks = speaks & (at.places[None, :] >= start[:, None])
    return speaks


def _difference(left: Grid, right: Grid) -> Grid:
    """left - right; two infinities of the same sign are equal."""
    with np.errstate(invalid="ignore"):
        return np.where(left == right, 0.0, left - right)


def _allowance(at: Frame, sides: dict[str, Grid]) -> Grid:
    """The rounding error of both sides: relative, times what it is relative to."""
    rounding = sides.get("rounding", np.broadcast_to(at.rounding, sides["left"].shape))
    size = sides.get("size", np.maximum(np.abs(sides["left"]), np.abs(sides["right"])))
    return np.where(np.isfinite(size), rounding * np.where(np.isfinite(size), size, 0.0), 0.0)


def _chance(sides: dict[str, Grid]) -> Grid:
    """What chance alone may do to an average."""
    return DEVIATIONS * sides["error"] if "error" in sides else np.zeros(sides["left"].shape)


def _unclear(comparison: Inequality, gap: Grid, allowed: Grid, chance: Grid) -> Grid:
    """Too near to tell: within the error of an average, or at a strict bound within rounding."""
    unclear = (gap <= chance) & (chance > 0)
    if comparison.sense in (">", "<"):
        unclear |= gap <= allowed
    return unclear


def _violated(
    comparison: Inequality, at: Frame, sides: dict[str, Grid], gap: Grid, reach: Grid
) -> Judgement:
    row, column = _lowest(reach)
    place = _place(at, sides, row, column)
    against = "not above" if comparison.sense in (">=", ">") else "not below"
    reason = (
        f"{_fails_on(comparison.part, at, row, column)}: {place['left']:.6g} is {against} "
        f"{place['right']:.6g}"
    )
    return Judgement(
        comparison.part, Status.FAILS, reason, float(gap[row, column]), witness=place, case=row
    )


def _unclear_judgement(
    comparison: Inequality, at: Frame, sides: dict[str, Grid], gap: Grid, reach: Grid
) -> Judgement:
    row, column = _lowest(reach)
    place = _place(at, sides, row, column)
    error = sides["error"][row, column] if "error" in sides else None
    bars = "" if error is None else f" ± {error:.2g}"
    reason = _says(
        comparison.part,
        f"{place['left']:.6g}{bars} against {place['right']:.6g} on {at.names[row]} is too near "
        "to tell",
    )
    return Judgement(
        comparison.part,
        Status.UNDECIDED,
        reason,
        float(gap[row, column]),
        witness=place,
        case=row,
    )


def _upheld(
    comparison: Inequality, at: Frame, sides: dict[str, Grid], gap: Grid, sign: float
) -> Judgement:
    """It is true everywhere: is it informative, and how tight?"""
    right = sides["right"]
    speaks = ~np.isnan(sides["left"]) & ~np.isnan(right)
    if comparison.from_step is not None:
        speaks &= _speaks(comparison, at, sides["left"], right)
    baseline = sides.get("baseline", np.full(right.shape, -sign * np.inf))
    beyond = speaks & ((sign * right > sign * baseline) | ("baseline" not in sides))
    row, column = _lowest(gap)
    margin, place = float(gap[row, column]), _place(at, sides, row, column)
    silent = np.asarray(~np.any(beyond, axis=1))
    if silent.any():
        reason, first = _silence(comparison, at, silent, right[speaks], sign)
        return Judgement(comparison.part, Status.VACUOUS, reason, margin, first, place, case=row)
    tightness = _tightness(at, sides, np.where(beyond, gap, np.inf), sign)
    if not np.isfinite(tightness.amount):
        reason = _says(comparison.part, "no sharper bound could have failed")
        return Judgement(comparison.part, Status.UNDECIDED, reason, witness=place, case=row)
    where = f"on {place['dataset']}" + (f" at t = {place['t']}" if len(at.places) > 1 else "")
    reason = _says(comparison.part, f"smallest margin {margin:.4g}, {where}; {_sharper(tightness)}")
    return Judgement(
        comparison.part, Status.HOLDS, reason, margin, None, place, tightness, case=row
    )


def _tightness(at: Frame, sides: dict[str, Grid], gap: Grid, sign: float) -> Tightness:
    """The factor is a ratio of sides that have one sign; the amount is the least gap."""
    left, right = sides["left"], sides["right"]
    inside = np.isfinite(gap)
    ratio = np.full(gap.shape, np.inf)
    same = inside & (left * right > 0) & np.isfinite(left) & np.isfinite(right)
    grows = sign * np.sign(right) > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        np.copyto(ratio, np.where(grows, left / right, right / left), where=same)
    mixed = inside & ~same & (right != 0)
    factor = None
    if same.any() and not mixed.any():
        row, column = _lowest(ratio)
        factor = max(float(ratio[row, column]), 1.0)
    else:
        row, column = _lowest(gap)
    place = at.place(row, column)
    return Tightness(factor, float(gap.min()), place["dataset"], float(place["t"]))


def _sharper(tightness: Tightness) -> str:
    if tightness.factor is not None:
        return f"the bound could be {tightness.factor:.4g} times as strong"
    return f"the bound could be {tightness.amount:.4g} stronger"


def _silence(
    comparison: Inequality, at: Frame, silent: np.ndarray, bounds: np.ndarray, sign: float
) -> tuple[str, float | None]:
    """Say where a bound excludes nothing, and from when on it would."""
    count, total = int(silent.sum()), len(silent)
    where = f"on {count} of {total} cases" if total > 1 else f"on {at.names[0]}"
    best = bounds.max() if sign > 0 else bounds.min()
    kind = "most" if sign > 0 else "least"
    reason = _says(
        comparison.part, f"the bound excludes nothing {where} (it is at {kind} {best:.4g})"
    )
    if comparison.informative_from is None:
        return reason, None
    starts = sorted(
        (float(start), name)
        for start, name, quiet in zip(comparison.informative_from, at.names, silent, strict=True)
        if quiet and np.isfinite(start)
    )
    if not starts:
        return f"{reason}, and would at no t", None
    (first, name), (last, other) = starts[0], starts[-1]
    reason += f"; it would from t = {first:.6g}"
    if last > first:
        reason += f" ({name}) to {last:.6g} ({other})"
    return reason, first


@judge.register
def _(comparison: Identity, evidence: Evidence[Any]) -> Judgement:
    names = ("left", "right", "rounding", "size", "error")
    at, sides = frame(comparison, evidence, **{name: getattr(comparison, name) for name in names})
    left, right = sides["left"], sides["right"]
    if not left.size:
        return _nothing(comparison)
    known = ~(np.isnan(left) | np.isnan(right))
    if not known.any():
        reason = _says(comparison.part, "the two sides are known together nowhere")
        return Judgement(comparison.part, Status.UNDECIDED, reason)
    difference = np.where(known, np.abs(_difference(left, right)), 0.0)
    allowed = _allowance(at, sides) + _chance(sides)
    spare = np.where(known, allowed - difference, np.inf)
    row, column = _lowest(spare)
    place, margin = _place(at, sides, row, column), float(spare[row, column])
    if margin < 0:
        reason = (
            f"{_fails_on(comparison.part, at, row, column)}: {place['left']:.10g} is not "
            f"{place['right']:.10g}"
        )
        return Judgement(comparison.part, Status.FAILS, reason, margin, witness=place, case=row)
    size = sides.get("size", np.maximum(np.abs(left), np.abs(right)))
    usable = known & (size > 0) & np.isfinite(size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        seen = np.where(usable, (allowed + difference) / np.where(usable, size, 1.0), np.inf)
    resolution = float(seen.min())
    if not resolution < 1:
        reason = _says(comparison.part, "the sides agree, but no wrong factor would have shown")
        return Judgement(comparison.part, Status.UNDECIDED, reason, margin, witness=place, case=row)
    reason = _says(
        comparison.part,
        f"the sides agree to within {difference.max():.3g}; a change by {resolution:.2g} of one "
        "side would have been noticed",
    )
    return Judgement(
        comparison.part, Status.HOLDS, reason, margin, None, place, None, resolution, row
    )


@judge.register
def _(comparison: Limit, evidence: Evidence[Any]) -> Judgement:
    names = ("curve", "target", "trend", "rounding", "size")
    sides = {name: getattr(comparison, name) for name in names}
    if np.ndim(comparison.target) == 0 and np.isinf(comparison.target):
        with np.errstate(divide="ignore"):
            sides |= {"curve": 1 / (np.sign(comparison.target) * np.asarray(comparison.curve))}
        sides["target"] = 0.0
    at, grids = frame(comparison, evidence, **sides)
    if not grids["curve"].size:
        return _nothing(comparison)
    trends = [
        fit_trend(
            np.asarray(at.places, dtype=float),
            grids["curve"][row] - grids["target"][row],
            trend=grids["trend"][row] if "trend" in grids else None,
            rounding=grids["rounding"][row] if "rounding" in grids else at.rounding,
            size=grids["size"][row] if "size" in grids else None,
        )
        for row in range(len(at.names))
    ]
    return _limit(comparison, at, trends)


def _limit(comparison: Limit, at: Frame, trends: Sequence[Trend | None]) -> Judgement:
    short = [name for name, trend in zip(at.names, trends, strict=True) if trend is None]
    if short:
        reason = _says(comparison.part, f"the run is too short to see a trend on {short[0]}")
        return Judgement(comparison.part, Status.UNDECIDED, reason)
    known = [trend for trend in trends if trend is not None]
    spare = [trend.error - abs(trend.offset) for trend in known]
    wrong = [i for i, left in enumerate(spare) if left < 0 and known[i].settles]
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
    reason = _says(
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
    )


@judge.register
def _(comparison: Share, evidence: Evidence[Any]) -> Judgement:
    names = ("successes", "trials", "bound")
    at, grids = frame(comparison, evidence, **{name: getattr(comparison, name) for name in names})
    hits, trials, bound = (grids[name] for name in names)
    if not hits.size or not (trials > 0).any():
        return _nothing(comparison)
    low, high = _interval(hits, trials)
    sign = 1.0 if comparison.sense == ">=" else -1.0
    certain, possible = (low, high) if sign > 0 else (high, low)
    sure, open_ = sign * (certain - bound), sign * (possible - bound)
    row, column = _lowest(
        np.where(trials > 0, sign * (hits / np.maximum(trials, 1) - bound), np.inf)
    )
    if (open_ < 0).any():
        status = Status.FAILS
        row, column = _lowest(open_)
    elif (sure < 0).any():
        status = Status.UNDECIDED
    else:
        status = Status.HOLDS
    share = hits[row, column] / trials[row, column]
    place = at.place(row, column, left=float(share), right=float(bound[row, column]))
    reason = _says(
        comparison.part,
        f"{hits[row, column]:.0f} of {trials[row, column]:.0f} on {at.names[row]}, so the chance "
        f"is between {low[row, column]:.4g} and {high[row, column]:.4g}; stated is "
        f"{bound[row, column]:.4g}",
    )
    width = float((high - low).max() / 2)
    margin = float(sign * (share - bound[row, column]))
    return Judgement(
        comparison.part, status, reason, margin, witness=place, resolution=width, case=row
    )


def _interval(hits: Grid, trials: Grid) -> tuple[Grid, Grid]:
    """Clopper and Pearson's interval for a probability."""
    few = np.maximum(trials, 1)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), few - hits + 1, DOUBT / 2), 0.0)
    high = np.where(hits < few, betaincinv(hits + 1, np.maximum(few - hits, 1), 1 - DOUBT / 2), 1.0)
    return low, high


def _lowest(values: Float[np.ndarray, "..."]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmin(values)), values.shape)
    return int(row), int(column)


def _place(at: Frame, sides: dict[str, Grid], row: int, column: int) -> dict[str, Any]:
    numbers = {name: float(sides[name][row, column]) for name in ("left", "right")}
    return at.place(row, column, **numbers)


def _says(part: str, text: str) -> str:
    return f"{part}: {text}" if part else text


def _fails_on(part: str, at: Frame, row: int, column: int) -> str:
    when = f" at t = {at.place(row, column)['t']}" if len(at.places) > 1 else ""
    return f"{part} fails on {at.names[row]}{when}".lstrip()


def _nothing(comparison: Comparison) -> Judgement:
    reason = _says(comparison.part, "there is no case that it speaks of")
    return Judgement(comparison.part, Status.INAPPLICABLE, reason)


def _too_early(comparison: Inequality) -> Judgement:
    if comparison.from_step is None:
        reason = _says(comparison.part, "the two sides are known together nowhere")
        return Judgement(comparison.part, Status.UNDECIDED, reason)
    first = float(np.min(comparison.from_step))
    reason = _says(
        comparison.part, "the run is too short, the statement speaks of later steps only"
    )
    return Judgement(comparison.part, Status.UNDECIDED, reason, informative_from=first)
