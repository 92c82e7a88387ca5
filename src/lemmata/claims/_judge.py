"""The three ways a statement is judged: an inequality, an identity, a fact."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata.claims._verdict import Judgement, Status

Grid = Float[np.ndarray, "instances records"]


def at_least(
    part: str,
    measured: Grid,
    bound: Grid,
    *,
    steps: Num[np.ndarray, "records"],
    names: Sequence[str],
    baseline: float | Grid = -np.inf,
    informative_from: float | None = None,
    tolerance: float | Grid = 0.0,
    strict: bool = False,
    from_step: Float[np.ndarray, "instances"] | None = None,
) -> Judgement:
    """Judge measured >= bound, for every instance (rows) and recorded step (columns).

    Args:
        part: the name of the inequality.
        measured, bound: the two sides.
        steps: the step number of each column.
        names: the name of each row.
        baseline: what is known without the statement; a bound that never exceeds it is vacuous.
        informative_from: for a vacuous bound, the first t from which it would exceed it.
        tolerance: the rounding error of the two sides, and nothing else.
        strict: judge measured > bound instead.
        from_step: the statement speaks of later steps only, instance by instance.
    """
    speaks = np.ones(measured.shape, dtype=bool)
    if from_step is not None:
        speaks = steps[None, :] >= from_step[:, None]
    speaks &= ~(np.isnan(measured) | np.isnan(bound))
    if not speaks.any():
        return Judgement(
            part,
            Status.UNDECIDED,
            "the run is too short: the statement speaks of later steps only",
            informative_from=None if from_step is None else float(np.min(from_step)),
        )
    with np.errstate(invalid="ignore"):
        gap = np.where(speaks, measured - bound, np.inf)
    gap = np.where(np.isnan(gap), 0.0, gap)
    broken = (gap <= -np.asarray(tolerance)) if strict else (gap < -np.asarray(tolerance))
    broken = np.broadcast_to(broken, gap.shape) & speaks
    row, column = np.unravel_index(np.argmin(gap), gap.shape)
    if broken.any():
        columns = np.argmax(broken.any(axis=0))
        first = int(np.argmax(broken[:, columns])), int(columns)
        return Judgement(
            part,
            Status.FAILS,
            f"{part} fails on {names[first[0]]} at t = {steps[first[1]]}: "
            f"{measured[first]:.6g} against {bound[first]:.6g}",
            float(gap[row, column]),
            witness=_place(first, measured, bound, steps, names),
        )
    place = _place((int(row), int(column)), measured, bound, steps, names)
    informative = speaks & (bound > np.asarray(baseline))
    if not informative.any():
        later = f"; it would from t = {informative_from:.4g}" if informative_from else ""
        return Judgement(
            part,
            Status.VACUOUS,
            f"{part}: the bound is at most {np.max(bound[speaks]):.4g} and excludes nothing{later}",
            float(gap[row, column]),
            informative_from,
            place,
        )
    return Judgement(
        part,
        Status.HOLDS,
        f"{part}: smallest margin {gap[row, column]:.4g}, on {names[row]} at t = {steps[column]}",
        float(gap[row, column]),
        witness=place,
    )


def equal(
    part: str,
    left: Grid,
    right: Grid,
    *,
    steps: Num[np.ndarray, "records"],
    names: Sequence[str],
    tolerance: float | Grid,
) -> Judgement:
    """Judge left == right up to the rounding error of the two sides."""
    known = ~(np.isnan(left) | np.isnan(right))
    error = np.where(known, np.abs(left - right), 0.0)
    excess = error - np.asarray(tolerance)
    row, column = np.unravel_index(np.argmax(excess), excess.shape)
    place = _place((int(row), int(column)), left, right, steps, names)
    failed = excess[row, column] > 0
    verb = "differ" if failed else "agree"
    return Judgement(
        part,
        Status.FAILS if failed else Status.HOLDS,
        f"{part}: the sides {verb} by at most {error.max():.3g}",
        float(-error.max()),
        witness=place,
    )


def fact(part: str, holds: bool, reason: str, witness: dict[str, Any] | None = None) -> Judgement:
    """Judge something that is simply true or false of the instances looked at."""
    return Judgement(part, Status.HOLDS if holds else Status.FAILS, reason, witness=witness)


def _place(
    at: tuple[int, int], left: Grid, right: Grid, steps: np.ndarray, names: Sequence[str]
) -> dict[str, Any]:
    return {
        "dataset": names[at[0]],
        "t": float(steps[at[1]]) if steps.dtype.kind == "f" else int(steps[at[1]]),
        "left": float(left[at]),
        "right": float(right[at]),
    }
