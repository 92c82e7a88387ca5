"""What does not move while a plan is trained, in fractions: A, L*, E y y' in and out of domain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from jaxtyping import Float

from lemmata.settings import as_balls

from ._task import Task


@dataclass(frozen=True)
class Fixed:
    """The numbers of a task, taken as what they are in float64, as balls.

    Attributes:
        tokens, prompt: one column a token; the prompt is the first columns.
        gram: Z'Z + m tau I, which is E y y' in domain.
        elsewhere: E y y' under lambda ~ N(1, 4 I).
        target: A.
        minimum: L*.
    """

    tokens: arb_mat
    prompt: arb_mat
    gram: arb_mat
    elsewhere: arb_mat
    target: arb_mat
    minimum: arb

    @property
    def N(self) -> int:
        """The examples in a prompt."""
        return self.target.nrows()

    @property
    def K(self) -> int:
        """The size of the dictionary."""
        return self.target.ncols()


def fixed(task: Task) -> Fixed:
    """Solved without rounding, and rounded once, to balls."""
    (m, K), N = task.representations.shape, task.N
    features, ridge = _fractions(task.representations), m * _fraction(task.tau)
    Z, queries = _columns(features, range(N)), _columns(features, range(N, K))
    Zt, one = Z.transpose(), _identity(N)
    gram = Zt * Z + ridge * one
    target, minimum = one, fmpq(0)
    if N < K:
        solved = _ridge_map(Z, gram, ridge) * queries
        missed = queries.transpose() * (queries - Z * solved)
        target = _side_by_side(one, solved)
        minimum = sum((missed[k, k] + ridge for k in range(K - N)), fmpq(0)) / (2 * K)
    moment = fmpq_mat([[fmpq(5 if i == j else 1) for j in range(m)] for i in range(m)])
    return Fixed(
        tokens=as_balls(task.tokens),
        prompt=as_balls(task.prompt),
        gram=arb_mat(gram),
        elsewhere=arb_mat(Zt * moment * Z + 5 * ridge * one),
        target=arb_mat(target),
        minimum=arb(minimum),
    )


def _ridge_map(Z: fmpq_mat, gram: fmpq_mat, ridge: fmpq) -> fmpq_mat:
    """(Z'Z + m tau I)^-1 Z'; without noise the pseudoinverse, from Z as a product of full rank."""
    if ridge:
        return gram.solve(Z.transpose())
    reduced, rank = Z.rref()
    if not rank:
        return fmpq_mat(Z.ncols(), Z.nrows())
    rows = [[reduced[i, j] for j in range(Z.ncols())] for i in range(rank)]
    left = _columns(Z, [next(j for j, entry in enumerate(row) if entry) for row in rows])
    right = fmpq_mat(rows)
    inner = (right * right.transpose()).inv() * (left.transpose() * left).inv()
    return right.transpose() * inner * left.transpose()


def _fraction(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def _fractions(values: Float[np.ndarray, "rows columns"]) -> fmpq_mat:
    return fmpq_mat([[_fraction(value) for value in row] for row in values])


def _columns(matrix: fmpq_mat, chosen: Iterable[int]) -> fmpq_mat:
    kept: Sequence[int] = list(chosen)
    if not kept:
        return fmpq_mat(matrix.nrows(), 0)
    return fmpq_mat([[matrix[i, j] for j in kept] for i in range(matrix.nrows())])


def _side_by_side(left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    return fmpq_mat(
        [
            [part[i, j] for part in (left, right) for j in range(part.ncols())]
            for i in range(left.nrows())
        ]
    )


def _identity(size: int) -> fmpq_mat:
    return fmpq_mat([[fmpq(int(i == j)) for j in range(size)] for i in range(size)])
