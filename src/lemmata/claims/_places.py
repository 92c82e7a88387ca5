"""What judgements of all kinds share: sizes, places, and the words for them."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ._comparisons import Comparison
from ._frame import Frame, Grid
from ._verdict import Judgement, Status

DEVIATIONS = 4.0
"""A value within so many standard errors of the bound decides nothing."""


TINY = float(np.finfo(float).tiny)


def difference_of(left: Grid, right: Grid) -> Grid:
    """left - right; two infinities of the same sign are equal."""
    with np.errstate(invalid="ignore"):
        return np.where(left == right, 0.0, left - right)


def allowance(at: Frame, sides: dict[str, Grid]) -> Grid:
    """The rounding error of both sides: relative, times what it is relative to."""
    rounding = sides.get("rounding", np.broadcast_to(at.rounding, sides["left"].shape))
    size = sides.get("size", np.maximum(np.abs(sides["left"]), np.abs(sides["right"])))
    return np.where(np.isfinite(size), rounding * np.where(np.isfinite(size), size, 0.0), 0.0)


def chance(sides: dict[str, Grid]) -> Grid:
    """What chance alone may do to an average."""
    return DEVIATIONS * sides["error"] if "error" in sides else np.zeros(sides["left"].shape)


def lowest(values: Float[np.ndarray, "..."]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmin(values)), values.shape)
    return int(row), int(column)


def scores_of(
    reach: Grid, sides: dict[str, Grid], broken: Bool[np.ndarray, "cases places"]
) -> Float[np.ndarray, "cases"]:
    """The least reach of each case, relative to what rounding is; NaN where nothing is said."""
    size = sides.get("size", np.maximum(np.abs(sides["left"]), np.abs(sides["right"])))
    size = np.where(np.isfinite(size) & (size > 0), size, 1.0)
    relative = np.clip(reach / size, -1e300, 1e300)
    relative = np.where(broken, np.minimum(relative, -TINY), np.maximum(relative, 0.0))
    least = np.where(np.isfinite(reach) | broken, relative, np.inf).min(axis=1)
    return np.where(np.isfinite(least), least, np.nan)


def place_of(at: Frame, sides: dict[str, Grid], row: int, column: int) -> dict[str, Any]:
    numbers = {name: float(sides[name][row, column]) for name in ("left", "right")}
    return at.place(row, column, **numbers)


def says(part: str, text: str) -> str:
    return f"{part}: {text}" if part else text


def fails_on(part: str, at: Frame, row: int, column: int) -> str:
    when = f" at t = {at.place(row, column)['t']}" if len(at.places) > 1 else ""
    return f"{part} fails on {at.names[row]}{when}".lstrip()


def nothing(comparison: Comparison) -> Judgement:
    reason = says(comparison.part, "there is no case that it speaks of")
    return Judgement(comparison.part, Status.INAPPLICABLE, reason)
