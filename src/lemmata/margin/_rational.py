"""The program for general embeddings in fractions, where floating point cannot certify it.

With A the constraints, non-negative least squares on |A^T y|^2 + (sum y - 1)^2 decides it: the
minimum is 0 exactly if the program is infeasible, and otherwise A^T y / (1 - sum y) is its
solution. In fractions the active-set method of Lawson and Hanson ends, and it needs A A^T alone.
"""

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat
from jaxtyping import Float

from ._exact import Edge

Pair = tuple[int, Edge]
"""A query with a (winner, loser) edge of its graph."""

Matrix = Float[np.ndarray, "tokens dimension"]


def solve_in_fractions(
    pairs: Sequence[Pair], tied: Sequence[Pair], embeddings: Matrix
) -> tuple[Float[np.ndarray, "dimension dimension"] | None, Float[np.ndarray, "pairs"]]:
    """W, each entry rounded once, and the multipliers; no W and Farkas weights if there is none."""
    E = [[_fraction(x) for x in row] for row in embeddings]
    inner = [[sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0)) for b in E] for a in E]

    def product(one: Pair, other: Pair) -> fmpq:
        (q, (a, b)), (p, (c, d)) = one, other
        return (inner[a][c] - inner[a][d] - inner[b][c] + inner[b][d]) * inner[q][p]

    def gram(left: Sequence[Pair], right: Sequence[Pair]) -> fmpq_mat:
        entries = [product(one, other) for one in left for other in right]
        return fmpq_mat(len(left), len(right), entries)

    basis = _independent(gram(tied, tied), tied)
    table, across = gram(pairs, pairs), gram(basis, pairs)
    pull = gram(basis, basis).solve(across) if basis else across
    shares = _least_squares(table - across.transpose() * pull)
    total = sum(shares, fmpq(0))
    if total == 1:
        return None, np.array([float(share) for share in shares])
    multipliers = [share / (1 - total) for share in shares]
    ties = pull * fmpq_mat(len(pairs), 1, multipliers)
    weights = [*multipliers, *(-ties[i, 0] for i in range(len(basis)))]
    matrix = _combination([*pairs, *basis], weights, E)
    return matrix, np.array([float(multiplier) for multiplier in multipliers])


def _fraction(number: float) -> fmpq:
    return fmpq(*float(number).as_integer_ratio())


def _independent(gram: fmpq_mat, tied: Sequence[Pair]) -> list[Pair]:
    """Tied pairs that span what all of them do: the pivots of their table of inner products."""
    reduced, rank = gram.rref()
    columns = range(gram.ncols())
    return [tied[next(j for j in columns if reduced[i, j] != 0)] for i in range(rank)]


def _least_squares(gram: fmpq_mat) -> list[fmpq]:
    """y >= 0 that minimises y.G y + (sum y - 1)^2."""
    count = gram.nrows()
    y = [fmpq(0)] * count
    active: list[int] = []
    while True:
        pulls = gram * fmpq_mat(count, 1, y)
        missing = 1 - sum(y, fmpq(0))
        slopes = {j: missing - pulls[j, 0] for j in range(count) if j not in active}
        best = max(slopes, key=lambda j: slopes[j], default=None)
        if best is None or slopes[best] <= 0:
            return y
        active.append(best)
        while active:
            goal = _unconstrained(gram, active)
            short = [j for j in active if goal[j] <= 0]
            if not short:
                y = [goal.get(j, fmpq(0)) for j in range(count)]
                break
            step = min(y[j] / (y[j] - goal[j]) for j in short)
            for j in active:
                y[j] += step * (goal[j] - y[j])
            active = [j for j in active if y[j] > 0]


def _unconstrained(gram: fmpq_mat, active: list[int]) -> dict[int, fmpq]:
    size = len(active)
    entries = [gram[i, j] + 1 for i in active for j in active]
    solution = fmpq_mat(size, size, entries).solve(fmpq_mat(size, 1, [fmpq(1)] * size))
    return {j: solution[i, 0] for i, j in enumerate(active)}


def _combination(
    pairs: Sequence[Pair], weights: Sequence[fmpq], E: Sequence[Sequence[fmpq]]
) -> Float[np.ndarray, "dimension dimension"]:
    """The sum of weight (e_a - e_b) e_q^T over pairs a > b under q."""
    dimension = range(len(E[0]))
    total = [[fmpq(0) for _ in dimension] for _ in dimension]
    for (q, (a, b)), weight in zip(pairs, weights, strict=True):
        for i in dimension:
            up = weight * (E[a][i] - E[b][i])
            for j in dimension:
                total[i][j] += up * E[q][j]
    return np.array([[float(x) for x in row] for row in total])
