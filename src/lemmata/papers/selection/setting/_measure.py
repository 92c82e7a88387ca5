"""The encodings of a plan, measured as Definition A.1 has it, in seconds whatever their size.

Where there are too many sets to go through, a value is a certified lower bound: that of sets which
were looked at. This is enough to refute the RIP, and not to confirm it.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..theory import NEEDED_DELTA
from ._encodings import (
    Encodings,
    expected_draws,
    inner_products,
    near_orthogonal,
    orthogonal,
    welch_bound,
)
from ._isometry import bounded_isometry, orthogonality
from ._plan import Plan
from ._task import Task

MOST_NUMBERS = 2_000_000
"""Inner products that are looked at."""


@dataclass(frozen=True)
class Measured:
    """How far encodings are from orthonormal.

    Attributes:
        coherence: the largest |<e_i, e_j>|.
        isometry: the largest deviation of ||E v||^2 from 1, over unit q-sparse v.
        orthogonality: the largest <E v, E v'> over unit v, v' with disjoint supports of q and 2q.
        off_subset: the largest |<e_i, e_y>| over subsets y and positions i outside.
        rival: the largest <e_i, e_y> of these; from 1 on attention cannot single out that subset.
        isometry_exact, orthogonality_exact, off_subset_exact: whether that is exact; otherwise it
            is a lower bound.
        unit_norm: whether all encodings have length 1.
        floor: what the orthogonality of any unit vectors of this size is at least.
        least_d_e: the least d_e for which that floor is below 1/10.
        draws: draws that rejection is expected to need, for random encodings.
    """

    coherence: float
    isometry: float
    orthogonality: float
    off_subset: float
    rival: float = 0.0
    isometry_exact: bool = True
    orthogonality_exact: bool = True
    off_subset_exact: bool = True
    unit_norm: bool = True
    floor: float | None = None
    least_d_e: int | None = None
    draws: float | None = None

    @property
    def delta(self) -> float:
        """The least delta for the (q, delta)-RIP, or a lower bound on it."""
        return max(self.isometry, self.orthogonality)

    @property
    def exact(self) -> bool:
        """Whether ``delta`` is exact."""
        return self.isometry_exact and self.orthogonality_exact

    @property
    def below_tenth(self) -> bool | None:
        """Whether delta < 1/10; None if that is open."""
        if self.delta >= NEEDED_DELTA:
            return False
        return True if self.exact else None


def measure(plan: Plan) -> Measured:
    """The encodings of a plan; of random ones, a draw."""
    T, q, d_e = plan.task.T, plan.task.q, plan.d_e
    if d_e is None:
        return Measured(0.0, 0.0, 0.0, 0.0)
    E = plan.encodings
    if E is None:
        E = near_orthogonal(d_e, T, plan.threshold, plan.training.seed)
    elif orthogonal(E):
        stretch = float(np.abs(np.sum(E**2, axis=0) - 1).max())
        unit = stretch < 1e-12
        floor = orthogonality_floor(d_e, T, q) if unit else None
        least = least_dimensions(T, q)
        return Measured(0.0, stretch, 0.0, 0.0, unit_norm=unit, floor=floor, least_d_e=least)
    gram, draw = E.T @ E, np.random.default_rng(plan.training.seed)
    unit = bool(np.abs(np.diag(gram) - 1).max() < 1e-12)
    spread, every_spread = bounded_isometry(gram, q, draw)
    turn, _, every_turn = orthogonality(gram, q, draw)
    off, rival, every_off = _off_subset(E, q, draw)
    return Measured(
        coherence=float(np.abs(gram - np.diag(np.diag(gram))).max()),
        isometry=spread,
        orthogonality=turn,
        off_subset=off,
        rival=rival,
        isometry_exact=every_spread,
        orthogonality_exact=every_turn,
        off_subset_exact=every_off,
        unit_norm=unit,
        floor=orthogonality_floor(d_e, T, q) if unit else None,
        least_d_e=least_dimensions(T, q),
        draws=expected_draws(d_e, T, plan.threshold) if plan.kind == "random" else None,
    )


def orthogonality_floor(d_e: int, T: int, q: int) -> float:
    """What the orthogonality of T unit vectors in d_e dimensions is at least.

    Inner products have a mean square of at least Welch's bound squared; so do those of some block
    of at most q and 2q positions, whose norm is at least its Frobenius norm over the root of its
    rank.
    """
    return math.sqrt(min(2 * q, T - 1)) * welch_bound(d_e, T)


def least_dimensions(T: int, q: int) -> int:
    """The least d_e for which that floor is below 1/10."""
    ratio = min(2 * q, T - 1) / NEEDED_DELTA**2
    return math.floor(T * ratio / (ratio + T - 1)) + 1


def _off_subset(E: Encodings, q: int, draw: np.random.Generator) -> tuple[float, float, bool]:
    """The largest |<e_i, e_y>| and <e_i, e_y> outside y, and whether for all subsets."""
    task = Task(E.shape[1], q, 1)
    every = task.subset_count * task.T <= MOST_NUMBERS
    count = max(100, min(20_000, MOST_NUMBERS // task.T))
    y = task.all_subsets() if every else task.draw_subsets(count, draw)
    g = inner_products(E, y)
    np.put_along_axis(g, y, -np.inf, axis=1)
    rival = float(g.max())
    return max(rival, -float(g[np.isfinite(g)].min())), rival, every
