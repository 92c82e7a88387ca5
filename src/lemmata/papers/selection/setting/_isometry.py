"""Restricted isometry and orthogonality of encodings (Definition A.1), measured.

Isometry is exact over all q-subsets. Orthogonality is exact where all pairs of sets can be gone
through, and otherwise a certified lower bound: the value of an explicit pair of sparse vectors.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from ._encodings import Encodings, inner_products, orthogonal
from ._task import Task

Gram = Float[np.ndarray, "T T"]
Supports = tuple[tuple[int, ...], tuple[int, ...]]

MOST_PAIRS = 200_000
"""Pairs of sets gone through for exact orthogonality."""

LONGEST_TRIPLES = 500
"""Up to this T all triples are gone through."""

MOST_SETS = 200_000
"""Sets of another size that are gone through."""

CHUNK = 200_000
STARTS = 64

REMEMBERED = 64
"""Encodings whose measures are kept."""


@dataclass(frozen=True)
class Isometry:
    """How far encodings are from orthonormal, as a model with subsets of size q sees them.

    Attributes:
        coherence: the largest |<e_i, e_j>|.
        isometry: the largest deviation of ||E v||^2 from 1, over unit q-sparse v.
        orthogonality: the largest <E v, E v'> over unit v, v' with disjoint supports of at most
            q and 2q positions.
        off_subset: the largest |<e_i, e_y>| over y and i outside y, over the subsets looked at.
        exact: whether ``isometry`` and ``orthogonality`` are exact; otherwise lower bounds.
        sets: the pair of supports at which it is attained.
    """

    coherence: float
    isometry: float
    orthogonality: float
    off_subset: float
    exact: bool
    sets: Supports

    @property
    def delta(self) -> float:
        """The least delta for which the encodings have the (q, delta)-RIP; see ``exact``."""
        return max(self.isometry, self.orthogonality)


def measure_isometry(E: Encodings, q: int, *, subsets: int = 20_000, seed: int = 0) -> Isometry:
    """Measure the encodings; ``subsets`` random ones stand for all where there are more.

    The last ones that were measured are remembered: plans often share their encodings.
    """
    if orthogonal(E):
        stretch = float(np.abs(np.sum(E**2, axis=0) - 1).max())
        return Isometry(0.0, stretch, 0.0, 0.0, True, ((), ()))
    return _measured(np.ascontiguousarray(E).tobytes(), E.shape, q, subsets, seed)


@lru_cache(maxsize=REMEMBERED)
def _measured(entries: bytes, shape: tuple[int, ...], q: int, subsets: int, seed: int) -> Isometry:
    E = np.frombuffer(entries).reshape(shape)
    gram = E.T @ E
    draw = np.random.default_rng(seed)
    y = Task(len(gram), q, 1).some_subsets(subsets, draw)
    g = inner_products(E, y)
    np.put_along_axis(g, y, 0.0, axis=1)
    spread, every_set = bounded_isometry(gram, q, draw)
    value, sets, every_pair = orthogonality(gram, q, draw)
    return Isometry(
        coherence=float(np.abs(gram - np.diag(np.diag(gram))).max()),
        isometry=spread,
        orthogonality=value,
        off_subset=float(np.abs(g).max()),
        exact=every_set and every_pair,
        sets=sets,
    )


def isometry(gram: Gram, q: int) -> float:
    """The largest ||E_S' E_S - I|| over all sets S of q positions."""
    error = gram - np.eye(len(gram))
    unit = np.abs(np.diag(error)).max() < 1e-12
    if unit and q == 2:
        return float(np.abs(error).max())
    if unit and q == 3:
        return max(float(np.max(_three(error, i))) for i in range(len(gram) - 2))
    largest = 0.0
    for sets in _chunks(len(gram), q):
        blocks = error[sets[:, :, None], sets[:, None, :]]
        largest = max(largest, float(np.abs(np.linalg.eigvalsh(blocks)).max()))
    return largest


def bounded_isometry(gram: Gram, q: int, draw: np.random.Generator) -> tuple[float, bool]:
    """The same, or a lower bound from random sets where there are too many, and which it is."""
    task, error = Task(len(gram), q, 1), gram - np.eye(len(gram))
    unit = bool(np.abs(np.diag(error)).max() < 1e-12)
    closed = unit and (q == 2 or (q == 3 and task.T <= LONGEST_TRIPLES))
    if closed or task.subset_count <= MOST_SETS:
        return isometry(gram, q), True
    sets = task.draw_subsets(max(100, min(20_000, 10 * MOST_SETS // q**2)), draw)
    blocks = error[sets[:, :, None], sets[:, None, :]]
    seen = float(np.abs(np.linalg.eigvalsh(blocks)).max())
    return max(seen, float(np.abs(error).max())), False


def _three(error: Gram, i: int) -> Float[np.ndarray, "pairs"]:
    """The norms of all 3 x 3 blocks with zero diagonal whose first position is i.

    The eigenvalues are the roots of z^3 - p z - 2abc, whose largest size has a closed form.
    """
    later = np.arange(i + 1, len(error))
    rows, columns = np.triu_indices(len(later), 1)
    a, b = error[i, later[rows]], error[i, later[columns]]
    c = error[later[rows], later[columns]]
    third = (a * a + b * b + c * c) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(third > 0, np.abs(a * b * c) / third**1.5, 0.0)
    return 2 * np.sqrt(third) * np.cos(np.arccos(np.minimum(angle, 1.0)) / 3)


def _chunks(T: int, q: int) -> Iterator[Int[np.ndarray, "sets q"]]:
    every = Task(T, q, 1).all_subsets()
    for start in range(0, len(every), CHUNK):
        yield every[start : start + CHUNK]


def orthogonality(gram: Gram, q: int, draw: np.random.Generator) -> tuple[float, Supports, bool]:
    """The largest ||E_S' E_S'|| over disjoint S, S' of at most q and 2q positions, and where."""
    T = len(gram)
    sizes = [(q, 2 * q)]
    if 3 * q > T:
        sizes = [(size, T - size) for size in range(max(1, T - 2 * q), min(q, T - 1) + 1)]
    pairs = sum(math.comb(T, first) * math.comb(T - first, second) for first, second in sizes)
    exact = pairs <= MOST_PAIRS
    found: list[tuple[float, Supports]] = [(0.0, ((), ()))]
    for first, second in sizes:
        if exact:
            found.append(_all_pairs(gram, first, second))
        else:
            found += [_climb(gram, first, second, draw) for _ in range(STARTS)]
    value, sets = max(found, key=lambda pair: pair[0])
    return value, sets, exact


def _all_pairs(gram: Gram, first: int, second: int) -> tuple[float, Supports]:
    best, sets = -1.0, ((), ())
    for S in combinations(range(len(gram)), first):
        rest = np.setdiff1d(np.arange(len(gram)), S)
        others = rest[np.array(list(combinations(range(len(rest)), second)))]
        norms = np.linalg.norm(gram[np.array(S)[:, None], others[:, None, :]], 2, axis=(1, 2))
        at = int(np.argmax(norms))
        if norms[at] > best:
            best, sets = float(norms[at]), (S, tuple(int(i) for i in others[at]))
    return best, sets


def _climb(
    gram: Gram, first: int, second: int, draw: np.random.Generator
) -> tuple[float, Supports]:
    """Alternate: the best 2q positions for a sparse vector, then the best q for the other."""
    T = len(gram)
    v = np.zeros(T)
    v[draw.choice(T, first, replace=False)] = 1.0
    value, sets = 0.0, ((), ())
    while True:
        w = _strongest(gram @ v, v, second)
        v = _strongest(gram @ w, w, first)
        S, others = np.flatnonzero(v), np.flatnonzero(w)
        if not (len(S) and len(others)):
            return value, sets
        left, singular, _ = np.linalg.svd(gram[np.ix_(S, others)])
        if singular[0] <= value * (1 + 1e-12):
            return value, sets
        value = float(singular[0])
        sets = (tuple(int(i) for i in S), tuple(int(i) for i in others))
        v[S] = left[:, 0]


def _strongest(
    field: Float[np.ndarray, "T"], other: Float[np.ndarray, "T"], size: int
) -> Float[np.ndarray, "T"]:
    """The field on its ``size`` largest positions outside the support of the other vector."""
    strength = np.where(other != 0, -1.0, np.abs(field))
    keep = np.argpartition(-strength, size - 1)[:size]
    chosen = np.zeros_like(field)
    chosen[keep] = field[keep]
    return chosen / max(float(np.linalg.norm(chosen)), 1e-300)
