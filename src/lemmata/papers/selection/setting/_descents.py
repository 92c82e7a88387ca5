"""The recursions of many plans side by side: few shapes, so that few programs are compiled.

One-hot plans of all sizes share one shape. Given encodings enter by their gaps 1 - <e_i, e_y>:
equal ones are counted instead of repeated, and what is left is padded to one of a few shapes.
Larger families, and random ones, are tabulated.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._encodings import gaps_outside, inner_products, orthogonal
from ._family import MOST_SUBSETS
from ._forecast import two_scalars
from ._plan import Plan
from ._two_scalars import AbstractAttention, Moments, OneHotAttention, Scalar, TwoScalars

SHAPES = ((1, 1), (4, 4), (16, 4))
"""Kinds of subsets and different gaps in one, up to which nothing is interpolated."""

LANES = (8, 64)
"""Plans that descend side by side in one compiled call."""

DIGITS = 14
"""Gaps that agree to so many digits are the same."""


class CountedAttention(AbstractAttention):
    """Given encodings, with equal rows of gaps and equal gaps of a row counted.

    Attributes:
        gaps: 1 - <e_i, e_y>, one row for each kind of subset.
        counts: how many positions have each; 0 for padding.
        chances: the share of each row among all subsets; 0 for padding.
        q: the size of the subset.
    """

    gaps: Float[Array, "*batch rows columns"]
    counts: Float[Array, "*batch rows columns"]
    chances: Float[Array, "*batch rows"]
    q: Scalar

    def moments(self, C: Scalar) -> Moments:
        logits = -C * self.gaps
        # Others can outweigh the subset where some inner product exceeds 1, or C is negative.
        top = jnp.maximum(jnp.max(jnp.where(self.counts > 0, logits, 0.0), axis=1), 0.0)
        weights = jnp.where(self.counts > 0, jnp.exp(logits - top[:, None]), 0.0)
        chosen = self.q * jnp.exp(-top)
        total = chosen + jnp.sum(self.counts * weights, axis=1)
        single = weights / total[:, None]
        S = self.counts * single
        u, lag = jnp.sum(S, axis=1), jnp.sum(S * self.gaps, axis=1)
        slope = -(chosen / total) * lag
        missed, d_missed = self._mean(u), self._mean(slope)
        bend = jnp.sum(S * single * (lag[:, None] - self.gaps), axis=1)
        return Moments(
            missed,
            self._mean((u - missed) ** 2),
            self._mean(jnp.sum(S * single, axis=1)),
            d_missed,
            2 * self._mean((u - missed) * (slope - d_missed)),
            2 * self._mean(bend),
            self._mean(chosen / total),
        )

    def _mean(self, values: Float[Array, "rows"]) -> Scalar:
        """Over all subsets; a sum, since products with a matrix are slow at this size."""
        return jnp.sum(self.chances * values)


Counted = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Gaps, counts and chances as in ``CountedAttention``, padded."""


def descents(plans: Sequence[Plan]) -> Iterator[tuple[list[int], TwoScalars]]:
    """Batches of one shape each, and which plans they are; the last one may be repeated."""
    one_hot, counted, tabulated = [], defaultdict(list), defaultdict(list)
    for i, plan in enumerate(plans):
        if plan.kind == "one-hot":
            one_hot.append(i)
        elif (gaps := count_gaps(plan)) is not None:
            counted[gaps[0].shape].append((i, gaps))
        else:
            table = two_scalars(plan, groups=1)
            tabulated[jax.tree.leaves(table.attention)[-1].shape].append((i, table))
    if one_hot:
        tasks = [plans[i].task for i in one_hot]
        sizes = (_column([task.T for task in tasks]), _column([task.q for task in tasks]))
        yield one_hot, _batch([plans[i] for i in one_hot], OneHotAttention(*sizes))
    for members in counted.values():
        places, leaves = zip(*members, strict=True)
        gaps, counts, chances = (_lanes(np.stack(parts)) for parts in zip(*leaves, strict=True))
        q = _column([plans[i].task.q for i in places])
        attention = CountedAttention(gaps, counts, chances, q)
        yield list(places), _batch([plans[i] for i in places], attention)
    for members in tabulated.values():
        places, tables = zip(*members, strict=True)
        yield (
            list(places),
            jax.tree.map(lambda *parts: _lanes(np.concatenate(parts)), *tables),
        )


def _batch(plans: Sequence[Plan], attention: AbstractAttention) -> TwoScalars:
    return TwoScalars(
        attention,
        d=_column([plan.task.d for plan in plans]),
        q=_column([plan.task.q for plan in plans]),
        inertia=_column([plan.inertia for plan in plans]),
        rate=_column([plan.rate for plan in plans]),
    )


def _column(values: Sequence[float | int]) -> Float[Array, "lanes"]:
    return _lanes(np.array(values, dtype=float))


def _lanes(leaf: Float[np.ndarray, "plans ..."]) -> Float[Array, "lanes ..."]:
    """Some plans more than asked for, so that batches of all sizes share a few programs."""
    many = len(leaf)
    lanes = next((size for size in LANES if many <= size), LANES[-1] * -(-many // LANES[-1]))
    return jax.device_put(leaf[np.minimum(np.arange(lanes), many - 1)])


def count_gaps(plan: Plan) -> Counted | None:
    """The gaps of given encodings, counted and padded; None where there are too many."""
    task = plan.task
    if plan.encodings is None:
        return None
    if orthogonal(plan.encodings):
        return np.ones((1, 1)), np.full((1, 1), 1.0 * (task.T - task.q)), np.ones(1)
    if task.subset_count > MOST_SUBSETS:
        return None
    y = task.all_subsets()
    rows = gaps_outside(inner_products(plan.encodings, y), y)
    kinds, times = np.unique(np.sort(_rounded(rows), axis=1), axis=0, return_counts=True)
    pairs = [np.unique(row, return_counts=True) for row in kinds]
    size = (len(kinds), max(len(values) for values, _ in pairs))
    shape = next((shape for shape in SHAPES if size[0] <= shape[0] and size[1] <= shape[1]), None)
    if shape is None:
        return None
    gaps, counts, chances = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
    for i, (values, many) in enumerate(pairs):
        gaps[i, : len(values)], counts[i, : len(values)] = values, many
    chances[: len(kinds)] = times / times.sum()
    return gaps, counts, chances


def _rounded(gaps: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    mantissa, exponent = np.frexp(gaps)
    return np.ldexp(np.round(mantissa, DIGITS), exponent)
