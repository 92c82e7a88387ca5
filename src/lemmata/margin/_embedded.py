"""Max-margin for general embeddings: one quadratic program in the Frobenius norm."""

from collections.abc import Mapping
from ctypes import c_int

import daqp
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import nnls

from lemmata.margin._certificate import distance_bound
from lemmata.margin._exact import Edge
from lemmata.margin._program import MaxMargin, Status
from lemmata.tokens import PriorityGraph


def embedded_max_margin(
    graphs: Mapping[int, PriorityGraph], embeddings: Float[np.ndarray, "tokens dimension"]
) -> MaxMargin:
    """min ||W|| subject to (e_a - e_b)^T W e_q >= 1 for every edge a > b under q.

    ``weights`` of the result is W itself, dimension by dimension. The program is infeasible
    exactly when some y >= 0 with sum 1 has A^T y = 0 (Farkas); non-negative least squares
    decides that, and its y is the certificate.
    """
    index = [(query, edge) for query, graph in graphs.items() for edge in graph.edges]
    dimension = embeddings.shape[1]
    if not index:
        return MaxMargin(Status.ZERO, np.zeros((dimension, dimension)))
    rows = np.stack(
        [np.outer(embeddings[a] - embeddings[b], embeddings[q]).ravel() for q, (a, b) in index]
    )
    shares, farkas = _farkas(rows)
    if farkas is not None:
        return MaxMargin(Status.INFEASIBLE, None, multipliers=_by_query(index, farkas))
    candidates = [_solve(rows)]
    candidates += [_polish(rows, active) for active in (candidates[0][1] > 0, shares > 0)]
    certified = [
        (distance_bound(stretched, multipliers, rows), stretched, multipliers)
        for point, multipliers in candidates
        for stretched in [_stretch(point, rows)]
    ]
    bound, solution, multipliers = min(certified, key=lambda found: found[0])
    return MaxMargin(
        Status.SOLVED,
        solution.reshape(dimension, dimension),
        error_bound=bound,
        multipliers=_by_query(index, multipliers),
    )


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
    y = shares / lengths
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


def _by_query(
    index: list[tuple[int, Edge]], multipliers: np.ndarray
) -> dict[int, dict[Edge, float]]:
    table: dict[int, dict[Edge, float]] = {}
    for (query, edge), value in zip(index, multipliers, strict=True):
        table.setdefault(query, {})[edge] = float(value)
    return table
