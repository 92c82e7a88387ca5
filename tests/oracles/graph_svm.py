"""Graph-SVM by other means: Clarabel with equalities, exact KKT, and Farkas by least squares."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

import cvxpy
import numpy as np
from scipy.optimize import nnls

from lemmata.margin import MaxMargin

Edge = tuple[int, int]
Facts = Mapping[int, Sequence[Edge]]


def rows_of(facts: Facts, embeddings: np.ndarray) -> np.ndarray:
    """(e_a - e_b) e_q^T flattened, one row a fact; no rows if there are no facts."""
    size = embeddings.shape[1] ** 2
    rows = [
        np.outer(embeddings[a] - embeddings[b], embeddings[q]).ravel()
        for q, pairs in facts.items()
        for a, b in pairs
    ]
    return np.array(rows).reshape(-1, size)


def solved(found: MaxMargin) -> tuple[np.ndarray, float]:
    """W and its norm, of a program that has a solution."""
    assert found.weights is not None
    assert found.norm is not None
    return found.weights, found.norm


def graph_svm(margins: np.ndarray, ties: np.ndarray) -> np.ndarray | None:
    """min |w| with margins w >= 1 and ties w = 0; None if Clarabel finds it infeasible."""
    w = cvxpy.Variable(margins.shape[1])
    limits = [margins @ w >= 1]
    if len(ties):
        limits.append(ties @ w == 0)
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(w) / 2), limits)
    for tolerance in (1e-13, 1e-12, 1e-11):
        settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        with suppress(cvxpy.SolverError):
            program.solve(solver=cvxpy.CLARABEL, **settings)
            break
    return w.value


def assert_exact_kkt(
    values: Mapping[int, Fraction],
    multipliers: Mapping[Edge, Fraction | float],
    edges: Sequence[Edge],
    sizes: Mapping[int, int],
) -> None:
    """Margins kept, flow >= 0 on tight edges only, and out - in = m u, all in fractions."""
    leaving: dict[int, Fraction] = dict.fromkeys(values, Fraction(0))
    assert set(multipliers) <= set(edges)
    for a, b in edges:
        flow = Fraction(multipliers.get((a, b), 0))
        slack = Fraction(values[a]) - Fraction(values[b]) - 1
        assert slack >= 0, f"{a} > {b}"
        assert flow >= 0, f"{a} > {b}"
        assert slack == 0 or flow == 0, f"{a} > {b}"
        leaving[a] += flow
        leaving[b] -= flow
    for node, value in values.items():
        assert leaving[node] == sizes.get(node, 1) * Fraction(value), node


def nearest_contradiction(rows: np.ndarray, row: int) -> tuple[float, np.ndarray]:
    """Whether some y >= 0 with y[row] = 1 has A^T y = 0: the residual, and the y.

    Such a y exists exactly when the row vanishes on the whole cone {A w >= 0} (Farkas), that is,
    when it is not separable.
    """
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    others = np.delete(unit, row, axis=0)
    y, residual = nnls(others.T, -unit[row], maxiter=10_000)
    return float(residual), np.insert(y, row, 1.0)
