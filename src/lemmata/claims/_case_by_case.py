"""Checks of one case at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from lemmata.settings import Case, Evidence, as_rows

from ._claim import Comparisons, as_list
from ._comparisons import Comparison, Silence

SIDES = (
    *("left", "right", "baseline", "rounding", "size", "error"),
    *("curve", "target", "trend", "successes", "trials", "bound"),
)
"""The fields of comparisons that are grids."""


def case_by_case(check: Callable[..., Comparisons]) -> Callable[..., Comparisons]:
    """A check of evidence from one of a single case, whose sides become rows of grids.

    Cases of which it says nothing are left out; if all are silent, so is the whole.
    """

    @wraps(check)
    def check_all(evidence: Evidence[Any], **parameters: Any) -> Comparisons:
        found = [(as_list(check(case, **parameters)), case) for case in evidence]
        spoken = [(parts, case) for parts, case in found if not isinstance(parts[0], Silence)]
        if not spoken:
            return found[0][0]
        cases = [case for _, case in spoken]
        by_part = zip(*(parts for parts, _ in spoken), strict=True)
        stacked = [_stacked(rows, cases) for rows in by_part]
        return stacked[0] if len(stacked) == 1 else stacked

    return check_all


def _stacked(rows: Sequence[Comparison], cases: Sequence[Case]) -> Comparison:
    """The same comparison of several cases as one; places are those of the longest row."""
    sides = {
        name: as_rows([getattr(row, name) for row in rows])
        for name in SIDES
        if getattr(rows[0], name, None) is not None
    }
    places = rows[0].places
    if places is not None:
        places = max((row.places for row in rows), key=len)
    return replace(rows[0], cases=cases, places=places, **sides)
