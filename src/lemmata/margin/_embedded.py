"""Max-margin for general embeddings: one quadratic program in the Frobenius norm."""

from collections.abc import Mapping, Sequence
from ctypes import c_int
from itertools import pairwise

import daqp
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from lemmata.tokens import PriorityGraph

from ._certificate import distance_bound
from ._exact import Edge
from ._program import MaxMargin, Status
from ._rational import Pair, solve_in_fractions
from ._subspace import remove, span_basis

GOOD, FEW = 1e-6, 32
"""A relative error beyond the first is not left standing, if fractions of so many pairs are few."""


def embedded_max_margin(
    graphs: Mapping[int, PriorityGraph],
    embeddings: Float[np.ndarray, "tokens dimension"],
    *,
    ties: bool = False,
) -> MaxMargin:
    """min ||W|| subject to (e_a - e_b)^T W e_q >= 1 for every edge a > b under q.

    ``weights`` of the result is W itself, dimension by dimension. With ties the tokens of a
    component must have equal logits instead (Graph-SVM); the program is then solved orthogonally
    to the differences of tied tokens.
    """
    pairs = [
        (query, edge)
        for query, graph in graphs.items()
        for edge in (graph.strict_edges if ties else graph.edges)
    ]
    tied = [
        (query, edge)
        for query, graph in graphs.items()
        for component in (graph.components if ties else ())
        for edge in pairwise(component)
    ]
    return max_margin_of_pairs(pairs, tied, embeddings)


def pair_rows(
    pairs: Sequence[Pair], embeddings: Float[np.ndarray, "tokens dimension"]
) -> Float[np.ndarray, "pairs variables"]:
    """(e_a - e_b) e_q^T for each pair a > b under q, flattened."""
    if not pairs:
        return np.zeros((0, embeddings.shape[1] ** 2))
    query = embeddings[[q for q, _ in pairs]]
    difference = embeddings[[a for _, (a, _) in pairs]] - embeddings[[b for _, (_, b) in pairs]]
    return np.einsum("pd,pe->pde", difference, query).reshape(len(pairs), -1)


def max_margin_of_pairs(
    pairs: Sequence[Pair], tied: Sequence[Pair], embeddings: Float[np.ndarray, "tokens dimension"]
) -> MaxMargin:
    """The least W with a margin of 1 on the pairs and of 0 on the tied pairs.

    The program is infeasible exactly when some y >= 0 with sum 1 has A^T y = 0 (Farkas), up to
    the span of the ties; non-negative least squares decides that, and its y is the certificate.
    """
    dimension = embeddings.shape[1]
    if not pairs:
        return MaxMargin(Status.ZERO, np.zeros((dimension, dimension)))
    rows = remove(pair_rows(pairs, embeddings), span_basis(pair_rows(tied, embeddings)))
    shares, farkas = _farkas(rows)
    if farkas is not None:
        return MaxMargin(Status.INFEASIBLE, multipliers=_by_query(pairs, farkas))
    candidates = [_solve(rows)]
    candidates += [_polish(rows, active) for active in (candidates[0][1] > 0, shares > 0)]
    certified = [
        (distance_bound(stretched, multipliers, rows), stretched, multipliers)
        for point, multipliers in candidates
        for stretched in [_stretch(point, rows)]
    ]
    bound, solution, multipliers = min(certified, key=lambda found: found[0])
    few = len(pairs) + len(tied) <= FEW and dimension <= FEW
    if not np.isfinite(bound) or (few and bound > GOOD * np.linalg.norm(solution)):
        return _in_fractions(pairs, tied, embeddings)
    return MaxMargin(
        Status.SOLVED,
        solution.reshape(dimension, dimension),
        error_bound=bound,
        multipliers=_by_query(pairs, multipliers),
    )


def _in_fractions(
    pairs: Sequence[Pair], tied: Sequence[Pair], embeddings: Float[np.ndarray, "tokens dimension"]
) -> MaxMargin:
    """Nearly parallel or opposite constraints are told apart exactly."""
    matrix, multipliers = solve_in_fractions(pairs, tied, embeddings)
    table = _by_query(pairs, multipliers)
    if matrix is None:
        return MaxMargin(Status.INFEASIBLE, multipliers=table)
    bound = float(np.finfo(float).eps * np.linalg.norm(matrix))
    return MaxMargin(Status.SOLVED, matrix, error_bound=bound, multipliers=table)


def _farkas(
    rows: Float[np.ndarray, "constraints variables"],
) -> tuple[np.ndarray, np.ndarray | None]:
    """y >= 0 with A^T y = 0 and sum 1, or None if the constraints can be met.

    With the constraints scaled to length 1, the least-squares problem |A^T y|^2 + (sum y - 1)^2
    has residual 0 iff such a y exists; otherwise the residual is a separating direction, and the
    positive entries of the minimiser, which is returned first, are the active constraints.
    """
    lengths = np.linalg.norm(rows, axis=1)
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        alone = np.eye(len(rows))[empty[0]]
        return alone, alone
    stacked = np.vstack([(rows / lengths[:, None]).T, np.ones(len(rows))])
    target = np.append(np.zeros(rows.shape[1]), 1.0)
    shares, residual = nnls(stacked, target)
    y = np.where(shares > 1e-14 * shares.max(), shares, 0.0) / lengths
    return shares, (y / y.sum() if residual < 1e-10 else None)


def _solve(
    rows: Float[np.ndarray, "constraints variables"],
) -> tuple[np.ndarray, np.ndarray]:
    """An optimal w up to rounding and multipliers y >= 0, from the dual active-set method.

    It sees constraints of length 1 and a solution of about that size, whatever the embeddings.
    """
    count, variables = rows.shape
    lengths = np.linalg.norm(rows, axis=1)
    size = (1 / lengths).max()
    point, _, _, info = daqp.solve(
        np.eye(variables),
        np.zeros(variables),
        np.ascontiguousarray(rows / lengths[:, None]),
        np.full(count, 1e30),
        1 / lengths / size,
        np.zeros(count, dtype=c_int),
        primal_tol=1e-13,
        eps_prox=0.0,
    )
    multipliers = np.maximum(-np.asarray(info["lam"]), 0.0) * size / lengths
    return np.asarray(point) * size, multipliers


def _polish(
    rows: Float[np.ndarray, "constraints variables"], active: Bool[np.ndarray, "constraints"]
) -> tuple[np.ndarray, np.ndarray]:
    """The least-norm w with the active margins equal to 1, and its multipliers.

    Least squares on the rows themselves does not square their condition, as a solver that forms
    A A^T does; it is what tells nearly contradictory constraints apart.
    """
    chosen = rows[active]
    point = np.linalg.lstsq(chosen, np.ones(len(chosen)), rcond=None)[0]
    multipliers = np.zeros(len(rows))
    multipliers[active] = np.maximum(np.linalg.lstsq(chosen.T, point, rcond=None)[0], 0.0)
    return point, multipliers


def _stretch(
    point: Float[np.ndarray, "variables"], rows: Float[np.ndarray, "constraints variables"]
) -> Float[np.ndarray, "variables"]:
    """Scale a point with positive margins until every margin is at least 1 after rounding.

    A point whose margins are not positive is returned as it is; no bound will certify it.
    """
    margin = (rows @ point).min()
    if margin <= 0:
        return point
    extra = np.finfo(float).eps
    feasible = point / margin
    while (rows @ feasible).min() < 1:
        feasible = point / margin * (1 + extra)
        extra *= 2
    return feasible


def _by_query(index: Sequence[Pair], multipliers: np.ndarray) -> dict[int, dict[Edge, float]]:
    table: dict[int, dict[Edge, float]] = {}
    for (query, edge), value in zip(index, multipliers, strict=True):
        table.setdefault(query, {})[edge] = float(value)
    return table
