"""Max-margin for general embeddings: one quadratic program in the Frobenius norm."""

from collections.abc import Mapping
from ctypes import c_int

import daqp
import numpy as np
from jaxtyping import Float
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
    scale = float(np.linalg.norm(rows, axis=1).max()) or 1.0
    farkas = _farkas(rows / scale)
    if farkas is not None:
        return MaxMargin(Status.INFEASIBLE, None, multipliers=_by_query(index, farkas))
    point, multipliers = _solve(rows / scale)
    solution, multipliers = _stretch(point / scale, rows), multipliers / scale**2
    bound = distance_bound(solution, multipliers, rows)
    return MaxMargin(
        Status.SOLVED,
        solution.reshape(dimension, dimension),
        error_bound=bound,
        multipliers=_by_query(index, multipliers),
    )


def _farkas(rows: Float[np.ndarray, "constraints variables"]) -> np.ndarray | None:
    """y >= 0 with A^T y = 0 and sum 1, or None if the constraints can be met.

    The least-squares problem |A^T y|^2 + (sum y - 1)^2 has residual 0 iff such a y exists;
    otherwise its residual r gives the separating direction, with margin |r|^2 > 0.
    """
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        return np.eye(len(rows))[empty[0]]
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    target = np.append(np.zeros(rows.shape[1]), 1.0)
    y, residual = nnls(stacked, target)
    return y / y.sum() if residual < 1e-10 else None


def _solve(
    rows: Float[np.ndarray, "constraints variables"],
) -> tuple[np.ndarray, np.ndarray]:
    """An optimal w up to rounding and multipliers y >= 0, from the dual active-set method."""
    count, variables = rows.shape
    point, _, _, info = daqp.solve(
        np.eye(variables),
        np.zeros(variables),
        np.ascontiguousarray(rows),
        np.full(count, 1e30),
        np.ones(count),
        np.zeros(count, dtype=c_int),
    )
    multipliers = np.maximum(-np.asarray(info["lam"]), 0.0)
    return np.asarray(point), multipliers


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
