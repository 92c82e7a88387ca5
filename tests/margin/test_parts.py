"""The parts of the solver for general embeddings, each on its own."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import quadratic
from scipy.optimize import linprog

from lemmata.margin._embedded import _farkas, _polish, _solve, _stretch

EPS = np.finfo(float).eps


def feasible_rows(seed: int) -> np.ndarray:
    """Small whole numbers with a positive first entry, so that (large, 0, ...) is feasible."""
    generator = np.random.default_rng([5, seed])
    rows = generator.integers(-3, 4, (5, 4)).astype(float)
    rows[:, 0] = generator.integers(1, 4, 5)
    return rows


def exact(rows: np.ndarray) -> np.ndarray:
    table = [[Fraction(int(x)) for x in row] for row in rows]
    found = quadratic.least_norm_by_active_sets(table)
    assert found is not None
    return np.array(found, dtype=float)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e4])
@pytest.mark.parametrize("seed", range(6))
def test_the_active_set_method_gives_the_solution_and_its_multipliers(seed, scale):
    rows = feasible_rows(seed)
    lengths = scale * np.random.default_rng(seed).uniform(0.1, 10.0, 5)
    w = exact(rows)
    point, y = _solve(scale * rows)
    np.testing.assert_allclose(point, w / scale, atol=1e-11 / scale)
    assert y.min() >= 0
    np.testing.assert_allclose((scale * rows).T @ y, point, atol=1e-11 / scale)
    np.testing.assert_allclose(y * (scale * rows @ point - 1), 0, atol=1e-10 / scale**2)
    # rows of unequal lengths ask for unequal margins of their unit vectors
    point, y = _solve(rows * lengths[:, None])
    assert (rows * lengths[:, None] @ point).min() >= 1 - 1e-11
    np.testing.assert_allclose((rows * lengths[:, None]).T @ y, point, rtol=0, atol=1e-10 / scale)


def test_a_margin_that_is_missed_by_a_billionth_becomes_active():
    # the longest step, to (2, 0), leaves the second row a little short of its margin
    second = np.array([np.cos(0.1), np.sin(0.1)]) / (2 * np.cos(0.1) + 1e-9)
    rows = np.array([[0.5, 0.0], second])
    point, y = _solve(rows)
    assert (rows @ point).min() >= 1 - 1e-12
    assert y.min() > 0


@pytest.mark.parametrize("seed", range(6))
def test_polishing_the_right_active_set_is_exact_to_rounding(seed):
    rows = feasible_rows(seed)
    w = exact(rows)
    active = np.abs(rows @ w - 1) < 1e-9
    point, y = _polish(rows, active)
    np.testing.assert_allclose(point, w, rtol=0, atol=50 * EPS * np.linalg.norm(w))
    np.testing.assert_array_equal(y[~active], 0)
    np.testing.assert_allclose(rows.T @ y, w, atol=100 * EPS * np.linalg.norm(w))


def test_multipliers_of_a_wrong_active_set_are_not_negative():
    point, y = _polish(np.array([[1.0, 0.0], [2.0, 0.1]]), np.array([True, True]))
    np.testing.assert_allclose(point, [1, -10], rtol=1e-12)
    np.testing.assert_allclose(y, [201, 0], rtol=1e-12)


def test_a_point_is_stretched_to_the_margin_and_no_further():
    rows = np.array([[1.0, 1.0], [3.0, 0.0], [0.1, 0.7]])
    for seed in range(50):
        point = np.random.default_rng(seed).uniform(0.01, 5.0, 2)
        stretched = _stretch(point, rows)
        assert 1 <= (rows @ stretched).min() < 1 + 16 * EPS
        assert stretched[0] * point[1] == pytest.approx(stretched[1] * point[0], rel=1e-14)


def test_a_point_without_positive_margins_stays():
    for point in (np.array([0.0, 0.0]), np.array([1.0, -2.0])):
        np.testing.assert_array_equal(_stretch(point, np.eye(2)), point)


@pytest.mark.parametrize("seed", range(30))
def test_a_contradiction_is_found_exactly_when_a_linear_program_finds_none_better(seed):
    generator = np.random.default_rng([6, seed])
    rows = generator.integers(-3, 4, (4, 3)).astype(float)
    rows[rows.any(axis=1) == 0] = 1.0
    lengths = generator.uniform(0.1, 10.0, 4)
    free = [(None, None)] * 3
    feasible = linprog(np.zeros(3), A_ub=-rows, b_ub=-np.ones(4), bounds=free).status == 0
    shares, y = _farkas(rows * lengths[:, None])
    assert (y is None) is feasible
    assert shares.min() >= 0
    if y is not None:
        assert y.min() >= 0
        assert y.sum() == pytest.approx(1, rel=1e-14)
        np.testing.assert_allclose(y @ (rows * lengths[:, None]), 0, atol=1e-12)


@pytest.mark.parametrize("angle", [1e-2, 1e-5, 1e-8])
def test_rows_that_nearly_contradict_each_other_do_not(angle):
    assert _farkas(np.array([[1.0, 0.0], [-1.0, angle]]))[1] is None


def test_a_tiny_share_of_a_contradiction_is_kept():
    _, y = _farkas(np.array([[1.0, 0.0], [-1.0, 1e-9], [0.0, -1.0]]))
    assert y is not None
    np.testing.assert_allclose(y, [0.5, 0.5, 5e-10], rtol=1e-6)


def test_an_empty_row_contradicts_alone():
    shares, y = _farkas(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_array_equal(y, [0, 1, 0])
    np.testing.assert_array_equal(shares, [0, 1, 0])
