"""The paper's assumptions, and a short way to state a claim."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata.claims import Assumption, Judgement, at_least, equal, statements

claim = statements("selection")

SPARSE = Assumption("2 <= q < T/4", "the subset is small", frozenset({"q_out_of_range"}))
SMALL_LOSS = Assumption(
    "epsilon in (0, dT / (100 (T-q) q))", "the loss to reach is small", frozenset({"large_epsilon"})
)
SMALL_STEP = Assumption("eta <= 1 / (20 d^2)", "the step size is small", frozenset({"large_step"}))
STOCHASTIC_STEP = Assumption(
    "eta <= d_e^2 / (40 d^2 T)", "the step size is small", frozenset({"large_stochastic_step"})
)
RESTRICTED = Assumption(
    "(q, delta)-RIP with delta < 1/10",
    "the encodings are nearly orthonormal, as Definition A.1 has it",
    frozenset({"no_isometry"}),
)
CONVERGES = Assumption(
    "training does not diverge", "the loss stays finite", frozenset({"diverged"})
)


def along(
    cases: Iterable[Any],
    part: str,
    measured: Callable[[Any], Any],
    bound: Callable[[Any], Any],
    **how: Any,
) -> Judgement:
    """Judge measured >= bound along recorded descents; NaN where the statement is silent."""
    rows = list(cases)
    steps = rows[0].steps
    return at_least(
        part, *_sides(rows, measured, bound, len(steps)), steps=steps, names=_names(rows), **how
    )


def each(
    cases: Iterable[Any],
    part: str,
    measured: Callable[[Any], Any],
    bound: Callable[[Any], Any],
    **how: Any,
) -> Judgement:
    """Judge measured >= bound, one number or one row of numbers a case."""
    rows = list(cases)
    left, right = _sides(rows, measured, bound, None)
    return at_least(part, left, right, steps=np.arange(left.shape[1]), names=_names(rows), **how)


def same(
    cases: Iterable[Any],
    part: str,
    left: Callable[[Any], Any],
    right: Callable[[Any], Any],
    tolerance: float,
) -> Judgement:
    """Judge left == right, one number or one row of numbers a case."""
    rows = list(cases)
    one, other = _sides(rows, left, right, None)
    steps = np.arange(one.shape[1])
    return equal(part, one, other, steps=steps, names=_names(rows), tolerance=tolerance)


def softmax(logits: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Along the last axis; with NumPy alone, so that listing claims does not load SciPy."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _names(rows: list[Any]) -> list[str]:
    return [row.name for row in rows]


def _sides(
    rows: list[Any],
    left: Callable[[Any], Any],
    right: Callable[[Any], Any],
    length: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Both sides as matrices, rows of different lengths filled up with NaN."""
    pairs = [
        np.broadcast_arrays(*(np.ravel(np.asarray(f(row), dtype=float)) for f in (left, right)))
        for row in rows
    ]
    wide = max(len(one) for one, _ in pairs) if length is None else length
    sides = np.full((2, len(rows), wide), np.nan)
    for i, pair in enumerate(pairs):
        for side, values in enumerate(pair):
            sides[side, i, : values.size if length is None else length] = values.ravel()
    return sides[0], sides[1]
