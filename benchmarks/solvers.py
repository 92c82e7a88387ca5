"""Exact max-margin against an interior-point solver on the same graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

from benchmarks._rows import Row, timed
from lemmata.margin import max_margin
from lemmata.papers.convergence.setting import Dataset
from lemmata.tokens import PriorityGraph

TOLERANCES: dict[str, dict[str, Any]] = {
    "default tolerances": {},
    "tolerances 1e-13": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13},
}


def against_clarabel(kind: str, datasets: Sequence[Dataset]) -> list[Row]:
    """The programs of all these datasets, with and without tight tolerances."""
    programs = [(dataset.orders.graphs, dataset.K) for dataset in datasets]
    ours, exact = timed(lambda: [max_margin(*program).weights for program in programs])
    rows = []
    for label, options in TOLERANCES.items():
        seconds, found = timed(lambda how=options: [clarabel(*p, how) for p in programs])
        error = max(float(np.linalg.norm(a - b)) for a, b in zip(exact, found, strict=True))
        name = f"{len(datasets)} {kind} programs, exact"
        note = f"its ‖W − W*‖ is up to {error:.1e}"
        rows.append(Row(name, ours, f"CVXPY with Clarabel, {label}", seconds, note))
    return rows


def clarabel(
    graphs: Mapping[int, PriorityGraph], size: int, options: Mapping[str, Any]
) -> np.ndarray:
    """min ‖W‖²/2 with a margin of 1 on every edge, as one quadratic program."""
    edges = [(query, a, b) for query, graph in graphs.items() for a, b in graph.edges]
    row = np.repeat(np.arange(len(edges)), 2)
    column = np.array([token * size + query for query, a, b in edges for token in (a, b)])
    sign = np.tile([1.0, -1.0], len(edges))
    matrix = csr_array((sign, (row, column)), shape=(len(edges), size * size))
    W = cp.Variable(size * size)
    margins: Any = matrix @ W
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2), [margins >= 1])
    problem.solve(solver=cp.CLARABEL, **options)
    assert W.value is not None, problem.status
    return W.value.reshape(size, size)
