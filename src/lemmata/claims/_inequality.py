"""Judging inequalities: where they are violated, vacuous, unclear, or how tight they are."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from lemmata.settings import Evidence

from ._comparisons import Inequality
from ._frame import Frame, Grid, frame
from ._places import (
    allowance,
    chance,
    difference_of,
    fails_on,
    lowest,
    nothing,
    place_of,
    says,
    scores_of,
)
from ._verdict import Judgement, Status, Tightness

Mask = Bool[np.ndarray, "cases places"]


def judge_inequality(comparison: Inequality, evidence: Evidence[Any]) -> Judgement:
    at, sides = frame(
        comparison,
        evidence,
        **{
            name: getattr(comparison, name)
            for name in ("left", "right", "baseline", "rounding", "size", "error")
        },
    )
    if not sides["left"].size:
        return nothing(comparison)
    sign = 1.0 if comparison.sense in (">=", ">") else -1.0
    left, right = sides["left"], sides["right"]
    speaks = _speaks(comparison, at, left, right)
    if not speaks.any():
        return _too_early(comparison)
    gap = np.where(speaks, sign * difference_of(left, right), np.inf)
    allowed = allowance(at, sides) + chance(sides)
    reach = gap + allowed
    broken = speaks & ((reach < 0) | ((reach <= 0) & (comparison.sense in (">", "<"))))
    open_ = speaks & _unclear(comparison, gap, allowed, chance(sides))
    if broken.any():
        judgement = _violated(comparison, at, sides, gap, np.where(broken, reach, np.inf))
    elif open_.any():
        judgement = _unclear_judgement(comparison, at, sides, gap, np.where(open_, gap, np.inf))
    else:
        gap = np.where(speaks, np.maximum(gap, 0.0), np.inf)
        judgement = _upheld(comparison, at, sides, gap, sign)
    return replace(judgement, scores=scores_of(np.where(broken, reach, gap), sides, broken))


def _speaks(comparison: Inequality, at: Frame, left: Grid, right: Grid) -> Mask:
    speaks = ~(np.isnan(left) | np.isnan(right))
    if comparison.from_step is not None:
        start = np.broadcast_to(np.ravel(comparison.from_step), len(at.names))
        speaks = speaks & (at.places[None, :] >= start[:, None])
    return speaks


def _unclear(comparison: Inequality, gap: Grid, allowed: Grid, chance: Grid) -> Mask:
    """Too near to tell: within the error of an average, or at a strict bound within rounding."""
    unclear = (gap <= chance) & (chance > 0)
    if comparison.sense in (">", "<"):
        unclear |= gap <= allowed
    return unclear


def _violated(
    comparison: Inequality, at: Frame, sides: dict[str, Grid], gap: Grid, reach: Grid
) -> Judgement:
    row, column = lowest(reach)
    place = place_of(at, sides, row, column)
    against = "not above" if comparison.sense in (">=", ">") else "not below"
    reason = (
        f"{fails_on(comparison.part, at, row, column)}: {place['left']:.6g} is {against} "
        f"{place['right']:.6g}"
    )
    return Judgement(
        comparison.part, Status.FAILS, reason, float(gap[row, column]), witness=place, case=row
    )


def _unclear_judgement(
    comparison: Inequality, at: Frame, sides: dict[str, Grid], gap: Grid, reach: Grid
) -> Judgement:
    row, column = lowest(reach)
    place = place_of(at, sides, row, column)
    error = sides["error"][row, column] if "error" in sides else None
    bars = "" if error is None else f" ± {error:.2g}"
    reason = says(
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
    speaks = _speaks(comparison, at, sides["left"], right)
    baseline = sides.get("baseline", np.full(right.shape, -sign * np.inf))
    beyond = speaks & ((sign * right > sign * baseline) | ("baseline" not in sides))
    row, column = lowest(gap)
    margin, place = float(gap[row, column]), place_of(at, sides, row, column)
    silent = np.asarray(np.any(speaks, axis=1) & ~np.any(beyond, axis=1))
    if silent.any():
        reason, first = _silence(comparison, at, silent, right[speaks], sign)
        return Judgement(comparison.part, Status.VACUOUS, reason, margin, first, place, case=row)
    tightness = _tightness(at, sides, np.where(beyond, gap, np.inf), sign)
    if not np.isfinite(tightness.amount):
        reason = says(comparison.part, "no sharper bound could have failed")
        return Judgement(comparison.part, Status.UNDECIDED, reason, witness=place, case=row)
    where = f"on {place['dataset']}" + (f" at t = {place['t']}" if len(at.places) > 1 else "")
    reason = says(comparison.part, f"smallest margin {margin:.4g}, {where}; {_sharper(tightness)}")
    return Judgement(
        comparison.part, Status.HOLDS, reason, margin, None, place, tightness, case=row
    )


def _tightness(at: Frame, sides: dict[str, Grid], gap: Grid, sign: float) -> Tightness:
    """The factor is a ratio of sides that have one sign; the amount is the least gap.

    Where the left side is zero every bound of that sign holds, however strong.
    """
    left, right = sides["left"], sides["right"]
    inside = np.isfinite(gap)
    ratio = np.full(gap.shape, np.inf)
    same = inside & (np.sign(left) * np.sign(right) > 0) & np.isfinite(left) & np.isfinite(right)
    grows = sign * np.sign(right) > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        np.copyto(ratio, np.where(grows, left / right, right / left), where=same)
    mixed = inside & ~same & (right != 0) & (left != 0)
    factor = None
    if same.any() and not mixed.any():
        row, column = lowest(ratio)
        factor = max(float(ratio[row, column]), 1.0)
    else:
        row, column = lowest(gap)
    place = at.place(row, column)
    return Tightness(factor, float(gap.min()), place["dataset"], float(place["t"]))


def _sharper(tightness: Tightness) -> str:
    if tightness.attained:
        return "the bound is attained"
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
    reason = says(
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


def _too_early(comparison: Inequality) -> Judgement:
    if comparison.from_step is None:
        reason = says(comparison.part, "the two sides are known together nowhere")
        return Judgement(comparison.part, Status.UNDECIDED, reason)
    first = float(np.min(comparison.from_step))
    reason = says(comparison.part, "the run is too short, the statement speaks of later steps only")
    return Judgement(comparison.part, Status.UNDECIDED, reason, informative_from=first)
