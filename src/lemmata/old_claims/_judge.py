"""The three ways a statement is judged: an inequality, an identity, a fact."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata.old_claims._verdict import Judgement, Status

Grid = Float[np.ndarray, "instances records"]


def at_least(
    part: str,
    measured: Grid,
    bound: Grid,
    *,
    steps: Num[np.ndarray, "records"],
    names: Sequence[str],
    baseline: float | np.ndarray = -np.inf,
    informative_from: Sequence[float] | None = None,
    tolerance: float | np.ndarray = 0.0,
    strict: bool = False,
    from_step: Float[np.ndarray, "instances"] | None = None,
) -> Judgement:
    """Judge measured >= bound, for every instance (rows) and recorded step (columns).

    A NaN on either side means that the statement does not speak there.

    Args:
        part: the name of the inequality.
        measured, bound: the two sides.
        steps: the step number of each column.
        names: the name of each row.
        baseline: what is known without the statement. A bound that never exceeds it on some
            instance is vacuous: it has no support there.
        informative_from: the first t from which the bound of each instance exceeds it.
        tolerance: the rounding error of the two sides, and nothing else.
        strict: judge measured > bound instead.
        from_step: the statement speaks of later steps only, instance by instance.
    """
    speaks = ~(np.isnan(measured) | np.isnan(bound))
    if from_step is not None:
        speaks &= steps[None, :] >= from_step[:, None]
    if not speaks.any():
        first = None if from_step is None else float(np.min(from_step))
        reason = f"{part}: the run is too short, the statement speaks of later steps only"
        return Judgement(part, Status.UNDECIDED, reason, informative_from=first)
    with np.errstate(invalid="ignore"):
        gap = np.where(speaks, measured - bound, np.inf) + 0.0
    gap = np.where(np.isnan(gap), 0.0, gap)
    broken = gap <= -np.asarray(tolerance) if strict else gap < -np.asarray(tolerance)
    broken &= speaks
    closest = np.unravel_index(int(np.argmin(gap)), gap.shape)
    margin = float(gap[closest])
    if broken.any():
        row = int(np.argmax(broken.any(axis=1)))
        place = _place((row, int(np.argmax(broken[row]))), measured, bound, steps, names)
        reason = (
            f"{part} fails on {place['dataset']} at t = {place['t']}: "
            f"{place['left']:.6g} against {place['right']:.6g}"
        )
        return Judgement(part, Status.FAILS, reason, margin, witness=place)
    place = _place((int(closest[0]), int(closest[1])), measured, bound, steps, names)
    silent = np.asarray(~np.any(speaks & (bound > np.asarray(baseline)), axis=1))
    if silent.any():
        reason, first = _silence(part, silent, bound[speaks].max(), names, informative_from)
        return Judgement(part, Status.VACUOUS, reason, margin, first, place)
    reason = f"{part}: smallest margin {margin:.4g}, on {place['dataset']} at t = {place['t']}"
    return Judgement(part, Status.HOLDS, reason, margin, witness=place)


def _silence(
    part: str,
    silent: np.ndarray,
    largest: float,
    names: Sequence[str],
    informative_from: Sequence[float] | None,
) -> tuple[str, float | None]:
    """Say where a bound excludes nothing, and from when on it would."""
    count, total = int(silent.sum()), len(silent)
    where = f"on {count} of {total} datasets" if total > 1 else f"on {names[0]}"
    reason = f"{part}: the bound excludes nothing {where} (it is at most {largest:.4g})"
    if informative_from is None:
        return reason, None
    starts = sorted(
        (start, name)
        for start, name, quiet in zip(informative_from, names, silent, strict=True)
        if quiet and np.isfinite(start)
    )
    if not starts:
        return f"{reason}, and would at no t", None
    (first, name), (last, other) = starts[0], starts[-1]
    reason += f"; it would from t = {first:.6g}"
    if last > first:
        reason += f" ({name}) to {last:.6g} ({other})"
    return reason, first


def equal(
    part: str,
    left: Grid,
    right: Grid,
    *,
    steps: Num[np.ndarray, "records"],
    names: Sequence[str],
    tolerance: float | np.ndarray,
) -> Judgement:
    """Judge left == right up to the rounding error of the two sides."""
    known = ~(np.isnan(left) | np.isnan(right))
    if not known.any():
        return Judgement(part, Status.UNDECIDED, f"{part}: neither side is known anywhere")
    error = np.where(known, np.abs(left - right), 0.0)
    excess = error - np.asarray(tolerance)
    row, column = np.unravel_index(np.argmax(excess), excess.shape)
    place = _place((int(row), int(column)), left, right, steps, names)
    failed = excess[row, column] > 0
    verb = "differ by up to" if failed else "agree to within"
    return Judgement(
        part,
        Status.FAILS if failed else Status.HOLDS,
        f"{part}: the sides {verb} {error.max():.3g}",
        float(-error.max()),
        witness=place,
    )


def fact(
    part: str,
    holds: bool,
    reason: str,
    witness: dict[str, Any] | None = None,
    margin: float | None = None,
) -> Judgement:
    """Judge something that is simply true or false of the instances looked at."""
    return Judgement(part, Status.HOLDS if holds else Status.FAILS, reason, margin, None, witness)


def _place(
    at: tuple[int, int], left: Grid, right: Grid, steps: np.ndarray, names: Sequence[str]
) -> dict[str, Any]:
    return {
        "dataset": names[at[0]],
        "t": float(steps[at[1]]) if steps.dtype.kind == "f" else int(steps[at[1]]),
        "left": float(left[at]),
        "right": float(right[at]),
    }
