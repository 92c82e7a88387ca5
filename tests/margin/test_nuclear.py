"""Max-margin in the nuclear norm, against a conic solver and against its own certificate."""

import cvxpy
import numpy as np
import pytest

from lemmata.margin import (
    Status,
    nuclear_lower_bound,
    nuclear_max_margin,
    nuclear_norm,
    pair_rows,
)

DRAW = np.random.default_rng(5)
E = DRAW.standard_normal((6, 5))
PAIRS = [(0, (1, 2)), (0, (1, 3)), (4, (2, 0)), (4, (3, 5)), (5, (0, 1)), (5, (2, 4))]
TIED = [(0, (4, 5)), (5, (1, 3))]
CHAIN = [*PAIRS, (0, (2, 3)), (4, (2, 3)), (4, (0, 5))]
"""Some follow from others, so that their margins are 2 or more."""


def conic(pairs: list, tied: list) -> float:
    W = cvxpy.Variable((5, 5))
    flat = cvxpy.vec(W, order="C")
    limits = [pair_rows(pairs, E) @ flat >= 1]
    limits += [pair_rows(tied, E) @ flat == 0] if tied else []
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)), limits)
    program.solve(solver=cvxpy.CLARABEL)
    return float(program.value)


@pytest.mark.parametrize("tied", [[], TIED])
@pytest.mark.parametrize("pairs", [PAIRS, CHAIN])
def test_the_least_nuclear_norm_is_that_of_a_conic_solver(pairs: list, tied: list) -> None:
    found = nuclear_max_margin(pairs, tied, E)
    assert found.weights is not None
    assert found.norm == pytest.approx(conic(pairs, tied), rel=1e-6)
    assert (pair_rows(pairs, E) @ found.weights.ravel()).min() >= 1 - 1e-12
    if tied:
        assert np.abs(pair_rows(tied, E) @ found.weights.ravel()).max() < 1e-10
    assert 0 <= found.gap < 1e-7
    assert found.lower == nuclear_lower_bound(pairs, tied, E, found.dual)


def test_any_multipliers_give_a_lower_bound() -> None:
    least = nuclear_max_margin(PAIRS, TIED, E).norm
    for _ in range(20):
        dual = DRAW.exponential(size=len(PAIRS)), DRAW.standard_normal(len(TIED))
        assert nuclear_lower_bound(PAIRS, TIED, E, dual) <= least


def test_one_query_makes_it_the_frobenius_norm() -> None:
    pairs = [(0, pair) for _, pair in PAIRS[:4]]
    found = nuclear_max_margin(pairs, [], E)
    assert found.weights is not None
    assert found.norm == pytest.approx(np.linalg.norm(found.weights), rel=1e-7)
    assert nuclear_norm(np.diag([3.0, -4.0])) == pytest.approx(7)


def test_nothing_to_separate_and_contradictions() -> None:
    assert nuclear_max_margin([], TIED, E).norm == 0
    assert nuclear_max_margin([(0, (1, 2)), (0, (2, 1))], [], E).status is Status.INFEASIBLE
