"""Max-margin in the nuclear norm: what factored weights W = K Q^T are thought to prefer.

||W||_* is the least (||K||^2 + ||Q||^2) / 2 over all factors of W, so that weight decay on the
factors is the nuclear norm of their product. The solution need not be unique; its norm is.
"""

from collections.abc import Iterator, Sequence
from ctypes import c_int
from dataclasses import dataclass

import daqp
import numpy as np
from jaxtyping import Float

from ._embedded import max_margin_of_pairs, pair_rows
from ._program import Status
from ._rational import Pair
from ._subspace import remove, span_basis

Embeddings = Float[np.ndarray, "tokens dimension"]
Matrix = Float[np.ndarray, "rows columns"]
Multipliers = Float[np.ndarray, "pairs"]

MOST_ROUNDS, LOOK = 4_000, 10
"""Rounds of the solver, and after how many it looks at the gap."""

CLOSE = 1e-8
"""The relative gap between both bounds at which it stops."""

SMALLEST = 1e-300


@dataclass(frozen=True)
class NuclearMargin:
    """A feasible W, and a lower bound on the nuclear norm of every feasible one.

    Attributes:
        status: as that of the program in the Frobenius norm, which has the same constraints.
        weights: W; None if the constraints contradict each other.
        norm: ||W||_*.
        lower: no feasible W is below; it follows from the dual point alone.
        dual: y >= 0 of the pairs and z of the tied pairs; for every feasible W, sum(y) <=
            <A^T y + B^T z, W> <= ||A^T y + B^T z||_op ||W||_*.
    """

    status: Status
    weights: Matrix | None = None
    norm: float = float("nan")
    lower: float = float("nan")
    dual: tuple[Multipliers, Float[np.ndarray, "ties"]] = (np.zeros(0), np.zeros(0))

    @property
    def gap(self) -> float:
        """How far the norm may be from the least one, relative to it."""
        return self.norm / self.lower - 1 if self.lower > 0 else 0.0


def nuclear_norm(weights: Matrix) -> float:
    """The sum of the singular values."""
    return float(np.linalg.svd(weights, compute_uv=False).sum())


def nuclear_lower_bound(
    pairs: Sequence[Pair],
    tied: Sequence[Pair],
    embeddings: Embeddings,
    dual: tuple[Multipliers, Float[np.ndarray, "ties"]],
) -> float:
    """What a dual point proves: sum(y) / ||A^T y + B^T z||_op, whoever found it."""
    y, z = np.maximum(dual[0], 0.0), dual[1]
    combined = y @ pair_rows(pairs, embeddings) + z @ pair_rows(tied, embeddings)
    d = embeddings.shape[1]
    return float(y.sum() / np.linalg.norm(combined.reshape(d, d), 2))


def nuclear_max_margin(
    pairs: Sequence[Pair], tied: Sequence[Pair], embeddings: Embeddings
) -> NuclearMargin:
    """The least ||W||_* with a margin of 1 on the pairs and of 0 on the tied pairs.

    The best feasible point and the best dual point of the solver, whatever it is, certify each
    other.
    """
    plain = max_margin_of_pairs(pairs, tied, embeddings)
    if plain.weights is None:
        return NuclearMargin(plain.status)
    if plain.status is Status.ZERO:
        return NuclearMargin(plain.status, plain.weights, 0.0, 0.0)
    rows, knots = pair_rows(pairs, embeddings), pair_rows(tied, embeddings)
    W, upper = plain.weights, nuclear_norm(plain.weights)
    y, pull, lower = np.zeros(len(rows)), np.zeros_like(W), 0.0
    for point, multipliers, slope in _alternate(rows, span_basis(knots), plain.weights):
        margin = float((rows @ point.ravel()).min())
        norm = nuclear_norm(point) / margin if margin > 0 else np.inf
        bound = float(multipliers.sum() / np.linalg.norm(slope, 2))
        if norm < upper:
            W, upper = point / margin, norm
        if bound > lower:
            y, pull, lower = multipliers, slope, bound
        if upper / max(lower, SMALLEST) - 1 < CLOSE:
            break
    z = np.linalg.lstsq(knots.T, pull.ravel() - y @ rows, rcond=None)[0]
    proved = nuclear_lower_bound(pairs, tied, embeddings, (y, z))
    return NuclearMargin(Status.SOLVED, W, nuclear_norm(W), proved, (y, z))


def _alternate(
    rows: Float[np.ndarray, "pairs variables"],
    ties: Float[np.ndarray, "rank variables"],
    start: Matrix,
) -> Iterator[tuple[Matrix, Multipliers, Matrix]]:
    """Alternating directions: a W on the constraints, and a copy whose singular values shrink.

    Yields every so often W, the multipliers y of the constraints at W, and A^T y + B^T z.
    """
    free = remove(rows, ties)
    copy, lag = start, np.zeros_like(start)
    stiffness = 10 / float(np.linalg.norm(start, 2))
    for number in range(MOST_ROUNDS):
        wanted = copy - lag
        W, y = _nearest(remove(wanted.reshape(1, -1), ties)[0], free)
        W = W.reshape(start.shape)
        if number % LOOK == LOOK - 1:
            yield W, y, W - wanted
        before, copy = copy, _shrunk(W + lag, 1 / stiffness)
        lag = lag + W - copy
        apart, moved = np.linalg.norm(W - copy), np.linalg.norm(copy - before)
        if number % LOOK == 0 and not moved / 10 < apart < 10 * moved:
            change = 2.0 if apart > moved else 0.5
            stiffness, lag = stiffness * change, lag / change


def _nearest(
    point: Float[np.ndarray, "variables"], rows: Float[np.ndarray, "pairs variables"]
) -> tuple[np.ndarray, Multipliers]:
    """The nearest point with margins of at least 1, and its multipliers."""
    count, variables = rows.shape
    lengths = np.linalg.norm(rows, axis=1)
    found, _, _, info = daqp.solve(
        np.eye(variables),
        -point,
        np.ascontiguousarray(rows / lengths[:, None]),
        np.full(count, 1e30),
        1 / lengths,
        np.zeros(count, dtype=c_int),
        primal_tol=1e-13,
        eps_prox=0.0,
    )
    return np.asarray(found), np.maximum(-np.asarray(info["lam"]), 0.0) / lengths


def _shrunk(matrix: Matrix, by: float) -> Matrix:
    """The matrix with smaller singular values."""
    u, sizes, v = np.linalg.svd(matrix, full_matrices=False)
    return (u * np.maximum(sizes - by, 0.0)) @ v
