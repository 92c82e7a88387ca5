"""Certificates: right ones pass, corrupted ones do not."""

from fractions import Fraction

import numpy as np
import pytest

from lemmata.margin import check_infeasibility, check_optimality
from lemmata.margin._certificate import distance_bound

THIRD = Fraction(1, 3)
EDGES = [(0, 1), (0, 2)]
VALUES = {0: 2 * THIRD, 1: -THIRD, 2: -THIRD}
MULTIPLIERS = {(0, 1): THIRD, (0, 2): THIRD}


def test_a_right_certificate_passes():
    check_optimality(VALUES, MULTIPLIERS, EDGES)


def test_a_right_weighted_certificate_passes():
    # min u_0^2 + (3/2) u_1^2 with u_0 - u_1 >= 1: u = (3/5, -2/5), multiplier 6/5
    values = {0: Fraction(3, 5), 1: Fraction(-2, 5)}
    check_optimality(values, {(0, 1): Fraction(6, 5)}, [(0, 1)], {0: 2, 1: 3})
    with pytest.raises(ArithmeticError, match="stationary"):
        check_optimality(values, {(0, 1): Fraction(6, 5)}, [(0, 1)], {0: 3, 1: 2})


@pytest.mark.parametrize(
    ("values", "multipliers", "complaint"),
    [
        (VALUES | {1: Fraction(0)}, MULTIPLIERS, "margin 2/3 < 1"),
        (VALUES, MULTIPLIERS | {(0, 1): -THIRD}, "multiplier -1/3 < 0"),
        (VALUES | {0: Fraction(1)}, MULTIPLIERS, "slack"),
        (VALUES, MULTIPLIERS | {(0, 1): THIRD + Fraction(1, 10**40)}, "not stationary"),
        ({x: v + Fraction(1, 10**40) for x, v in VALUES.items()}, MULTIPLIERS, "not stationary"),
        (VALUES | {3: Fraction(1)}, MULTIPLIERS, "node 3 is not stationary"),
    ],
)
def test_corrupted_certificates_are_rejected(values, multipliers, complaint):
    with pytest.raises(ArithmeticError, match=complaint):
        check_optimality(values, multipliers, EDGES)


def test_a_feasible_but_longer_solution_is_rejected():
    with pytest.raises(ArithmeticError):
        check_optimality({0: Fraction(1), 1: Fraction(0)}, {(0, 1): Fraction(1, 2)}, [(0, 1)])


def test_a_missing_multiplier_is_zero():
    with pytest.raises(ArithmeticError, match="stationary"):
        check_optimality(VALUES, {(0, 1): THIRD}, EDGES)


def test_a_cycle_proves_infeasibility():
    check_infeasibility({(0, 1): THIRD, (1, 2): THIRD, (2, 0): THIRD})


@pytest.mark.parametrize(
    "farkas",
    [
        {},
        {(0, 1): Fraction(1)},
        {(0, 1): Fraction(1), (1, 0): Fraction(1)},
        {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 3), (1, 2): Fraction(1, 6)},
        {
            (0, 1): Fraction(1),
            (1, 0): Fraction(1),
            (2, 3): Fraction(-1, 2),
            (3, 2): Fraction(-1, 2),
        },
        {
            (0, 1): Fraction(2),
            (1, 0): Fraction(2),
            (2, 3): Fraction(-3, 2),
            (3, 2): Fraction(-3, 2),
        },
    ],
)
def test_corrupted_proofs_of_infeasibility_are_rejected(farkas):
    with pytest.raises(ArithmeticError):
        check_infeasibility(farkas)


def test_distance_bound_is_infinite_without_feasibility():
    rows = np.array([[1.0, 0.0]])
    inside, outside = np.array([1.0, 0.0]), np.array([0.5, 0.0])
    assert distance_bound(inside, np.array([1.0]), rows) < 1e-14
    assert distance_bound(outside, np.array([1.0]), rows) == np.inf
    assert distance_bound(inside, np.array([-1e-3]), rows) == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_distance_bound_covers_any_feasible_pair(seed):
    # min |w|^2 / 2 with w_1 >= 1 has the solution e_1
    generator = np.random.default_rng(seed)
    rows = np.eye(3)[:1]
    w = np.array([1 + generator.exponential(), *generator.standard_normal(2)])
    bound = distance_bound(w, generator.exponential(size=1), rows)
    assert np.linalg.norm(w - [1, 0, 0]) <= bound


def test_distance_bound_where_half_the_gap_would_not_cover_the_distance():
    # min w^2 / 2 with w >= 1 from w = 6 with y = 3.5: the optimum is 5 away
    bound = distance_bound(np.array([6.0]), np.array([3.5]), np.eye(1))
    assert 5 <= bound == pytest.approx(np.sqrt(41.25), rel=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_distance_bound_is_the_root_of_twice_the_gap_between_primal_and_dual(seed):
    generator = np.random.default_rng([1, seed])
    rows, y = generator.uniform(0, 1, (4, 3)), generator.exponential(size=4)
    w = generator.uniform(3, 5, 3) / rows.sum(axis=1).min()
    A, u, v = ([Fraction(float(x)) for x in array.ravel()] for array in (rows, w, y))
    pulled = [sum(A[3 * i + j] * v[i] for i in range(4)) for j in range(3)]
    primal = sum(x * x for x in u) / 2
    dual = sum(v) - sum(x * x for x in pulled) / 2
    assert distance_bound(w, y, rows) == pytest.approx(float(2 * (primal - dual)) ** 0.5, rel=1e-12)


def test_distance_bound_of_an_exact_pair_covers_the_rounding():
    rows = np.ones((3, 4))
    bound = distance_bound(np.full(4, 0.25), np.array([0.25, 0.0, 0.0]), rows)
    assert bound == pytest.approx(6 * np.finfo(float).eps, rel=1e-12)
