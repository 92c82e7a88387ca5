"""Encodings that break statements as printed, checked in whole numbers and fractions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Int

from lemmata.settings import Example

from .setting import Plan, Task, walsh, walsh_encodings

Signs = Int[np.ndarray, "d_e T"]


def plan_of(name: str, signs: Signs, q: int) -> Plan:
    """A plan with these signs, scaled to unit length, as its encodings; d and eta are 1."""
    d_e, T = signs.shape
    E = signs / np.sqrt(d_e)
    return Plan(name, Task(T, q, 1), 1.0, 1e-3, d_e=d_e, encodings=E)


def three_vectors(d_e: int) -> Signs:
    """Three sign vectors with inner products 0, 2 and 2; d_e is a multiple of four.

    For the subset of the first two, <e_3, e_y> is 4/d_e: the two small inner products add up,
    while delta only grows like the root of the sum of their squares.
    """
    quarter = d_e // 4
    counts = (quarter + 1, quarter, quarter, quarter - 1)
    patterns = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    pairs = [pattern for pattern, count in zip(patterns, counts, strict=True) for _ in range(count)]
    first, second = np.array(pairs).T
    return np.stack([first, second, np.ones(d_e, dtype=int)], axis=1)


def with_more_positions(signs: Signs) -> Int[np.ndarray, "eight_d_e T_plus_7"]:
    """Seven more positions, orthogonal to all others, in eight times as many dimensions."""
    old = np.kron(signs, np.ones((8, 1), dtype=int))
    new = np.kron(np.ones((len(signs), 1), dtype=int), walsh(3)[:, 1:])
    return np.concatenate([old, new], axis=1)


def walsh_plan(task: Task, d_e: int, *, rate: float = 1.0, epsilon: float = 1e-3) -> Plan:
    """A plan with orthogonal sign vectors; d_e is a power of two, at least T, or a multiple.

    Inner products of sign vectors with d_e entries, d_e even, are multiples of 2/d_e. With delta
    below that the (q, delta)-RIP leaves exactly the orthogonal encodings, for which the recursion
    is that of one-hot encodings with d_e for T - 1.
    """
    name = f"T={task.T} q={task.q} d={task.d} d_e={d_e} eta={rate:g}, orthogonal"
    return Plan(name, task, rate, epsilon, d_e=d_e, encodings=walsh_encodings(d_e, task.T))


def stalled_plans() -> list[Plan]:
    """Plans within the hypotheses of Theorem 3.3 that do not converge, as eta > 2q.

    The first is the smallest; the second has random encodings with delta < 1/10 and a d_e of the
    order of q log T / delta^2; the third has d_e <= T d, as the end of the proof of Theorem E.6
    supposes.
    """
    return [
        walsh_plan(Task(9, 2, 1), 48, rate=6.0),
        Plan("T=16 q=2 d=20 d_e=4000 eta=8", Task(16, 2, 20), 8.0, 0.05, d_e=4_000),
        walsh_plan(Task(256, 2, 1), 256, rate=6.4, epsilon=4e-3),
    ]


@dataclass(frozen=True)
class ExactEncodings:
    """Sign encodings with their Gram matrix in fractions."""

    signs: Signs
    q: int

    @property
    def T(self) -> int:
        """How many positions."""
        return self.signs.shape[1]

    @cached_property
    def gram(self) -> list[list[Fraction]]:
        """Inner products of the unit vectors."""
        inner = (self.signs.T @ self.signs).tolist()
        return [[Fraction(value, len(self.signs)) for value in row] for row in inner]

    def inner(self, i: int, y: Sequence[int]) -> Fraction:
        """<e_i, e_y>."""
        gram = self.gram
        coefficients = solve([[gram[a][b] for b in y] for a in y], [Fraction(1)] * len(y))
        return sum((gram[i][a] * c for a, c in zip(y, coefficients, strict=True)), Fraction(0))

    @property
    def coherence(self) -> Fraction:
        """The largest |<e_i, e_j>|."""
        return max(abs(self.gram[i][j]) for i, j in combinations(range(self.T), 2))

    def off_subset(self) -> Iterator[Fraction]:
        """|<e_i, e_y>| for all subsets and all positions outside."""
        for y in combinations(range(self.T), self.q):
            yield from (abs(self.inner(i, y)) for i in range(self.T) if i not in y)

    def delta_at_most(self, bound_squared: Fraction) -> bool:
        """Whether delta^2 <= bound_squared, over all sets, by factorization in fractions."""
        return all(_is_positive(block) for block in self._blocks(bound_squared))

    def _blocks(self, square: Fraction) -> Iterator[list[list[Fraction]]]:
        gram, T = self.gram, self.T
        for S in combinations(range(T), min(self.q, T)):
            error = [[gram[a][b] - (a == b) for b in S] for a in S]
            yield _minus_square(square, error)
            rest = [i for i in range(T) if i not in S]
            for others in combinations(rest, min(2 * self.q, len(rest))):
                yield _minus_square(square, [[gram[a][b] for b in others] for a in S])


def _minus_square(square: Fraction, M: list[list[Fraction]]) -> list[list[Fraction]]:
    """square * I - M M'."""
    return [
        [
            square * (a == b) - sum((x * y for x, y in zip(M[a], M[b], strict=True)), Fraction(0))
            for b in range(len(M))
        ]
        for a in range(len(M))
    ]


def _is_positive(M: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by symmetric elimination."""
    M = [row[:] for row in M]
    for k in range(len(M)):
        if M[k][k] < 0:
            return False
        if M[k][k] == 0:
            if any(M[k][j] != 0 for j in range(k, len(M))):
                return False
            continue
        for i in range(k + 1, len(M)):
            factor = M[i][k] / M[k][k]
            M[i] = [x - factor * y for x, y in zip(M[i], M[k], strict=True)]
    return True


def solve(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """A x = b for a positive definite A, in fractions."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for k in range(len(rows)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


TESTS = [[5, 2], [10, 2], [40, 2], [80, 2], [160, 2]]

EXAMPLES = (
    Example.of(
        "pick 2 of 20",
        "The task of Theorem 3.1 at a small size. The tests are other lengths: what is learnt at "
        "T = 20 is used there.",
        {"T": 20, "q": 2, "d": 1, "eta": 0.5, "eps": 0.001, "training": {"tests": TESTS}},
    ),
    Example.of(
        "positions as random signs",
        "Encodings in 128 dimensions that are drawn anew at each step, as in Theorem 3.3.",
        {"T": 20, "q": 2, "d": 2, "eta": 0.5, "eps": 0.01, "d_e": 128},
    ),
    Example.of(
        "a step too large",
        "It meets what Theorem 3.3 asks for, but eta > 2q: it does not converge.",
        {**stalled_plans()[0].document(), "name": "eta = 6 > 2q"},
    ),
)
"""Plans to begin with, and one that breaks a statement."""
