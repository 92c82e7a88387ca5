"""Judging identities: do the sides agree, and what difference would have been noticed?"""

from typing import Any

import numpy as np

from lemmata.settings import Evidence

from ._comparisons import Identity
from ._frame import frame
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
from ._verdict import Judgement, Status


def judge_identity(comparison: Identity, evidence: Evidence[Any]) -> Judgement:
    names = ("left", "right", "rounding", "size", "error")
    at, sides = frame(comparison, evidence, **{name: getattr(comparison, name) for name in names})
    left, right = sides["left"], sides["right"]
    if not left.size:
        return nothing(comparison)
    known = ~(np.isnan(left) | np.isnan(right))
    if not known.any():
        reason = says(comparison.part, "the two sides are known together nowhere")
        return Judgement(comparison.part, Status.UNDECIDED, reason)
    difference = np.where(known, np.abs(difference_of(left, right)), 0.0)
    allowed = allowance(at, sides) + chance(sides)
    spare = np.where(known, allowed - difference, np.inf)
    row, column = lowest(spare)
    place, margin = place_of(at, sides, row, column), float(spare[row, column])
    scores = scores_of(spare, sides, spare < 0)
    if margin < 0:
        reason = (
            f"{fails_on(comparison.part, at, row, column)}: {place['left']:.10g} is not "
            f"{place['right']:.10g}"
        )
        return Judgement(
            comparison.part, Status.FAILS, reason, margin, witness=place, case=row, scores=scores
        )
    size = sides.get("size", np.maximum(np.abs(left), np.abs(right)))
    usable = known & (size > 0) & np.isfinite(size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        seen = np.where(usable, (allowed + difference) / np.where(usable, size, 1.0), np.inf)
    resolution = float(seen.min())
    if not resolution < 1:
        reason = says(comparison.part, "the sides agree, but no wrong factor would have shown")
        return Judgement(
            comparison.part,
            Status.UNDECIDED,
            reason,
            margin,
            witness=place,
            case=row,
            scores=scores,
        )
    reason = says(
        comparison.part,
        f"the sides agree to within {difference.max():.3g}; a change by {resolution:.2g} of one "
        "side would have been noticed",
    )
    return Judgement(
        comparison.part, Status.HOLDS, reason, margin, None, place, None, resolution, row, scores
    )
