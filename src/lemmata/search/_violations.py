"""Comparisons whose sides are balls: what is certainly broken, and what certainly is not."""

from collections.abc import Sequence

import numpy as np
from flint import arb

from lemmata.claims import Comparison, Identity, Inequality, Limit, Share

from ._balls import ball


def can_be_proved_wrong(comparison: Comparison) -> bool:
    """Whether a violation can be certain: neither by chance, nor extrapolated."""
    chance = isinstance(comparison, Share) or getattr(comparison, "error", None) is not None
    return not chance and not isinstance(comparison, Limit)


def at_most_broken_by(comparison: Comparison, gap: float, steps: np.ndarray | None) -> bool:
    """Whether balls exclude a violation of this size everywhere that it speaks of."""
    if not isinstance(comparison, Inequality | Identity):
        return False
    pairs = _pairs(comparison, steps)
    known = [a.is_finite() and b.is_finite() for a, b in pairs]
    if not any(known) or not all(known[known.index(True) :]):
        return False  # lost to wide balls
    both = isinstance(comparison, Identity)
    differences = [sign_of(comparison) * (a - b) for a, b in _known(pairs)]
    return all(d > -gap and (not both or d < gap) for d in differences)


def violated(comparison: Comparison, steps: np.ndarray | None = None) -> bool:
    """Whether the comparison is certainly broken somewhere that it speaks of."""
    if not isinstance(comparison, Inequality | Identity) or not can_be_proved_wrong(comparison):
        return False
    pairs = _known(_pairs(comparison, steps))
    if isinstance(comparison, Identity):
        return any(not a.overlaps(b) for a, b in pairs)
    differences = [sign_of(comparison) * (a - b) for a, b in pairs]
    strict = comparison.sense in (">", "<")
    return any(d < 0 or (strict and d <= 0) for d in differences)


def sign_of(comparison: Inequality | Identity) -> int:
    """That of the difference of the sides where an inequality holds."""
    return -1 if getattr(comparison, "sense", ">=") in ("<=", "<") else 1


def _pairs(
    comparison: Inequality | Identity, steps: np.ndarray | None = None
) -> list[tuple[arb, arb]]:
    """Both sides as balls, place by place, wherever the comparison speaks."""
    grids = (
        np.atleast_2d(np.asarray(side, dtype=object))
        for side in (comparison.left, comparison.right)
    )
    sides = np.broadcast_arrays(*grids)
    start = getattr(comparison, "from_step", None)
    if start is not None:
        places = steps if comparison.places is None else np.ravel(comparison.places)
        assert places is not None, "a statement about later steps says which its places are"
        later = [ball(place) >= ball(np.max(start)) for place in places]
        sides = [side[:, later[: side.shape[1]]] for side in sides]
    return [(ball(a), ball(b)) for a, b in zip(*(side.ravel() for side in sides), strict=True)]


def _known(pairs: Sequence[tuple[arb, arb]]) -> list[tuple[arb, arb]]:
    return [(a, b) for a, b in pairs if a.is_finite() and b.is_finite()]
