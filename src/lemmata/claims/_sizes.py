"""How large the terms were that cancel in the sides of a comparison, measured.

A statement may say ``a - b == 0`` where ``a == b`` is meant; rounding is relative to ``a`` then,
which the sides do not show. They are computed again from numbers that are all a little off: how far
that moves them tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.settings import NUDGE, Evidence

from ._comparisons import Comparison, Identity, Inequality
from ._frame import Grid, frame
from ._places import difference_of

SEEDS = (1, 2)
"""Of the numbers that are off: a term that one of them happens to leave alone, the other moves."""


def with_sizes(
    compare: Callable[[Evidence[Any]], Sequence[Comparison]], evidence: Evidence[Any]
) -> list[Comparison]:
    """What is asserted about the evidence, with sizes wherever rounding could decide."""
    comparisons = list(compare(evidence))
    close = [_is_close(comparison, evidence) for comparison in comparisons]
    if not any(close):
        return comparisons
    others = []
    for seed in SEEDS:
        moved = evidence.nudged(seed)
        try:
            others.append([_sides(comparison, moved) for comparison in compare(moved)])
        except (InputError, ArithmeticError, LookupError, TypeError, ValueError):
            return comparisons  # it asks for more than numbers
    return [
        _sized(comparison, evidence, others, number) if near else comparison
        for number, (comparison, near) in enumerate(zip(comparisons, close, strict=True))
    ]


def _is_close(comparison: Comparison, evidence: Evidence[Any]) -> bool:
    """Whether a comparison that says nothing of sizes is not plainly true everywhere."""
    if not isinstance(comparison, Inequality | Identity) or comparison.size is not None:
        return False
    left, right = _sides(comparison, evidence)
    gap = difference_of(left, right)
    if isinstance(comparison, Identity):
        return bool(np.any(gap != 0))
    if comparison.sense in (">", "<"):
        return True
    return bool(np.any((gap if comparison.sense == ">=" else -gap) < 0))


def _sides(comparison: Comparison, evidence: Evidence[Any]) -> tuple[Grid, Grid]:
    if not isinstance(comparison, Inequality | Identity):
        nothing = np.zeros((0, 0))
        return nothing, nothing
    _, sides = frame(comparison, evidence, left=comparison.left, right=comparison.right)
    return sides["left"], sides["right"]


def _sized(
    comparison: Comparison,
    evidence: Evidence[Any],
    others: Sequence[Sequence[tuple[Grid, Grid]]],
    number: int,
) -> Comparison:
    """The comparison with the larger side as its size, or larger terms that cancel in it."""
    sides = _sides(comparison, evidence)
    size = np.maximum(*map(np.abs, sides))
    for other in others:
        moved = other[number] if number < len(other) else ()
        for side, off in zip(sides, moved, strict=False):
            if side.shape == off.shape:
                terms = np.abs(difference_of(off, side)) / NUDGE
                size = np.fmax(size, np.where(np.isfinite(terms), terms, 0.0))
    assert isinstance(comparison, Inequality | Identity)
    return replace(comparison, size=size)
