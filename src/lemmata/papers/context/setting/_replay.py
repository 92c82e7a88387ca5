"""Gradient descent again, in ball arithmetic: head by head, token by token, as the paper writes.

It shares no code with training. What does not move (A, L*, Z'Z + m tau I) is computed in fractions;
every other number is a ball that contains the true value, so that what it says of the sign of a
difference is proved. The motion of Q and the distance from A are kept as such, so that neither
is a difference of numbers that agree in most digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb_mat, arb, arb_mat, fmpq, fmpq_mat
from jaxtyping import Float, Int

from lemmata.settings import Balls

from ._plan import Plan
from ._plan_training import BLOWN_UP, PlanTraining
from ._task import Task

COLUMNS = ("gap", "loss", "guarantee", "in_domain", "out_of_domain", "moved_Q")


@dataclass(frozen=True)
class Exact:
    """What does not move.

    Attributes:
        tokens: one column a token; the prompt is the first columns.
        gram: Z'Z + m tau I, which is E y y' in domain.
        elsewhere: E y y' under N(1, 4 I).
        target: A.
        minimum: L*.
    """

    tokens: arb_mat
    prompt: arb_mat
    gram: arb_mat
    elsewhere: arb_mat
    target: arb_mat
    minimum: arb


@dataclass(frozen=True)
class Point:
    """Weights, attention there, and what is left to learn.

    Attributes:
        moved: how far each Q_h is from its start.
        w: one row a head.
        attention: s^h_k, one N x K matrix a head.
        away: A-hat - A.
        slope: the derivative of the loss in A-hat.
        gap: L - L*.
    """

    moved: list[arb_mat]
    w: list[list[arb]]
    attention: list[arb_mat]
    away: arb_mat
    slope: arb_mat
    gap: arb


def replay(plan: Plan, training: PlanTraining, steps: Int[np.ndarray, "records"]) -> Balls | None:
    """The columns at the recorded steps, for gradient descent on the population loss."""
    if training.algorithm != "gd":
        return None
    exact = _exact(plan.task)
    start = [_matrix(Q) for Q in np.asarray(plan.start.Q).transpose(1, 0, 2)]
    eta_Q, eta_w = (arb(rate) for rate in training.rates(plan))
    limit, length = arb(BLOWN_UP * plan.task.initial_gap), _norm(start)
    d, K = plan.task.d, plan.task.K
    at = _point(exact, start, [arb_mat(d, d) for _ in start], [[arb(0)] * K for _ in start])
    shrink = arb("nan")
    if training.by_theory:
        shrink = 1 - eta_w * _least_eigenvalue(exact, at.attention) / (2 * K)
    first, stopped, records = at.gap, False, []
    for step in range(int(steps[-1]) + 1):
        if step and not stopped:
            after = _step(exact, start, at, eta_Q, eta_w)
            if after.gap <= limit:
                at = after
            elif after.gap > limit:
                stopped = True
            else:
                return _too_wide(records, len(steps), eta_w)
        if step in steps:
            guarantee = first * shrink**step
            other = _inner(at.away, exact.elsewhere * at.away) / K
            moved = _norm(at.moved) / length
            records.append((at.gap, at.gap + exact.minimum, guarantee, 2 * at.gap, other, moved))
    return _columns(records, eta_w)


def _columns(records: Sequence[Sequence[arb]], rate: arb) -> Balls:
    columns = dict(zip(COLUMNS, np.array(records, dtype=object).T, strict=True))
    return {**columns, "rate": np.array([rate], dtype=object)}


def _too_wide(records: list[tuple[arb, ...]], count: int, rate: arb) -> Balls:
    """Nothing is known from here on: the balls do not tell whether training has diverged."""
    unknown = (arb("nan"),) * len(COLUMNS)
    return _columns([*records, *[unknown] * (count - len(records))], rate)


def _exact(task: Task) -> Exact:
    """In fractions: the numbers of a task are taken as what they are in float64."""
    (m, K), N = task.representations.shape, task.N
    features, tau = _fractions(task.representations), _fraction(task.tau)
    Z = _columns_of(features, range(N))
    Zt, ridge = Z.transpose(), m * tau
    identity = _scaled_identity(N, fmpq(1))
    gram = Zt * Z + _scaled_identity(N, ridge)
    target, minimum = _together(identity, fmpq_mat(N, K - N)), fmpq(0)
    if N < K:
        queries = _columns_of(features, range(N, K))
        solved = _ridge_map(Z, gram, ridge) * queries
        target = _together(identity, solved)
        missed = queries.transpose() * (queries - Z * solved)
        minimum = sum((missed[k, k] + ridge for k in range(K - N)), fmpq(0)) / (2 * K)
    moment = fmpq_mat(m, m, [fmpq(5 if i == j else 1) for i in range(m) for j in range(m)])
    tokens = _matrix(task.tokens)
    return Exact(
        tokens=tokens,
        prompt=_matrix(task.tokens[:, :N]),
        gram=arb_mat(gram),
        elsewhere=arb_mat(Zt * moment * Z + _scaled_identity(N, 5 * ridge)),
        target=arb_mat(target),
        minimum=arb(minimum),
    )


def _ridge_map(Z: fmpq_mat, gram: fmpq_mat, ridge: fmpq) -> fmpq_mat:
    """(Z'Z + m tau I)^-1 Z'; without noise the pseudoinverse of Z, by its rank."""
    if ridge:
        return gram.solve(Z.transpose())
    reduced, rank = Z.rref()
    rows = [[reduced[i, j] for j in range(Z.ncols())] for i in range(rank)]
    if not rank:
        return fmpq_mat(Z.ncols(), Z.nrows())
    right = fmpq_mat(rows)
    left = _columns_of(Z, [next(j for j, entry in enumerate(row) if entry) for row in rows])
    inner = (right * right.transpose()).inv() * (left.transpose() * left).inv()
    return right.transpose() * inner * left.transpose()


def _point(exact: Exact, start: list[arb_mat], moved: list[arb_mat], w: list[list[arb]]) -> Point:
    """Attention, A-hat - A and the loss at these weights."""
    attention = [_softmax(exact, Q + change) for Q, change in zip(start, moved, strict=True)]
    N, K = exact.target.nrows(), exact.target.ncols()
    away = -exact.target
    for n in range(N):
        for k in range(K):
            away[n, k] += sum(
                (s[n, k] * row[k] for s, row in zip(attention, w, strict=True)), arb(0)
            )
    weighted = exact.gram * away
    return Point(moved, w, attention, away, weighted / K, _inner(away, weighted) / (2 * K))


def _softmax(exact: Exact, Q: arb_mat) -> arb_mat:
    """softmax(V'Q v_k), one column a token."""
    logits = exact.prompt.transpose() * (Q * exact.tokens)
    N, K = logits.nrows(), logits.ncols()
    for k in range(K):
        powers = [(logits[n, k] - logits[0, k]).exp() if n else arb(1) for n in range(N)]
        total = sum(powers, arb(0))
        for n in range(N):
            logits[n, k] = powers[n] / total
    return logits


def _step(exact: Exact, start: list[arb_mat], at: Point, eta_Q: arb, eta_w: arb) -> Point:
    """One step of (10)."""
    N, K = exact.target.nrows(), exact.target.ncols()
    moved, w = [], []
    for change, row, s in zip(at.moved, at.w, at.attention, strict=True):
        pull = [sum((s[n, k] * at.slope[n, k] for n in range(N)), arb(0)) for k in range(K)]
        logits = arb_mat(N, K)
        for n in range(N):
            for k in range(K):
                others = (s[i, k] * (at.slope[n, k] - at.slope[i, k]) for i in range(N) if i != n)
                logits[n, k] = row[k] * s[n, k] * sum(others, arb(0))
        moved.append(change - exact.prompt * logits * exact.tokens.transpose() * eta_Q)
        w.append([old - eta_w * by for old, by in zip(row, pull, strict=True)])
    return _point(exact, start, moved, w)


def _least_eigenvalue(exact: Exact, attention: list[arb_mat]) -> arb:
    """zeta_0: B_k B_k' has the eigenvalues of (Z'Z + m tau I) C_k C_k'."""
    N, K = exact.target.nrows(), exact.target.ncols()
    least = arb("inf")
    for k in range(K):
        C = arb_mat([[s[n, k] for s in attention] for n in range(N)])
        product = exact.gram * C * C.transpose()
        values = [product[0, 0]] if N == 1 else [value.real for value in _eigenvalues(product)]
        for value in values:
            least = least.min(value)
    return least


def _eigenvalues(matrix: arb_mat) -> list:
    return acb_mat(matrix).eig(multiple=True)


def _fraction(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def _fractions(values: Float[np.ndarray, "rows columns"]) -> fmpq_mat:
    return fmpq_mat([[_fraction(value) for value in row] for row in values])


def _columns_of(matrix: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    return fmpq_mat([[matrix[i, j] for j in chosen] for i in range(matrix.nrows())])


def _together(left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    """Two matrices side by side."""
    rows = range(left.nrows())
    return fmpq_mat([[m[i, j] for m in (left, right) for j in range(m.ncols())] for i in rows])


def _scaled_identity(size: int, value: fmpq) -> fmpq_mat:
    return fmpq_mat([[value if i == j else fmpq(0) for j in range(size)] for i in range(size)])


def _matrix(values: Float[np.ndarray, "rows columns"]) -> arb_mat:
    return arb_mat([[arb(float(value)) for value in row] for row in values])


def _inner(a: arb_mat, b: arb_mat) -> arb:
    return sum((x * y for x, y in zip(a.entries(), b.entries(), strict=True)), arb(0))


def _norm(matrices: list[arb_mat]) -> arb:
    return sum((_inner(matrix, matrix) for matrix in matrices), arb(0)).sqrt()
