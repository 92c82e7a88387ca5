"""Max-margin programs by other means: every active set in exact fractions, and CVXPY."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import cvxpy
import numpy as np

Edge = tuple[int, int]
Vector = list[Fraction]


def solve_exactly(matrix: Sequence[Sequence[Fraction]], right: Vector) -> Vector | None:
    """Gauss-Jordan elimination; None if the matrix is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i and rows[r][i]:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    """The inner product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def least_norm_by_active_sets(
    rows: Sequence[Sequence[Fraction]], sizes: Sequence[int] | None = None
) -> Vector | None:
    """min (1/2) sum_i m_i w_i^2 subject to rows . w >= 1, by trying every active set.

    On the active set w = M^-1 A^T y with A w = 1; the set is right if y >= 0 and the other rows
    hold. The program is strictly convex, so the first hit is the solution. None: infeasible.
    """
    width = len(rows[0])
    mass = list(sizes or [1] * width)
    scaled = [[value / m for value, m in zip(row, mass, strict=True)] for row in rows]
    for count in range(1, min(len(rows), width) + 1):
        for chosen in combinations(range(len(rows)), count):
            gram = [[dot(rows[i], scaled[j]) for j in chosen] for i in chosen]
            y = solve_exactly(gram, [Fraction(1)] * count)
            if y is None or min(y) < 0:
                continue
            w = [dot(y, [scaled[i][k] for i in chosen]) for k in range(width)]
            if all(dot(row, w) >= 1 for row in rows):
                return w
    return None


def edge_rows(edges: Sequence[Edge], nodes: Sequence[int]) -> list[Vector]:
    """u_a - u_b for each edge."""
    return [[Fraction((x == a) - (x == b)) for x in nodes] for a, b in edges]


def embedded_rows(edges: Mapping[int, Sequence[Edge]], embeddings: np.ndarray) -> np.ndarray:
    """(e_a - e_b) e_q^T flattened, for each edge of each query; fractions stay fractions."""
    return np.array(
        [
            np.outer(embeddings[a] - embeddings[b], embeddings[q]).ravel()
            for q, pairs in edges.items()
            for a, b in pairs
        ]
    )


def clarabel(rows: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray | None:
    """The same program by an interior-point method; None if it finds it infeasible."""
    w = cvxpy.Variable(rows.shape[1])
    weight = np.ones(rows.shape[1]) if mass is None else mass
    program = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(cvxpy.multiply(np.sqrt(weight), w))), [rows @ w >= 1]
    )
    program.solve(solver=cvxpy.CLARABEL)
    return w.value
