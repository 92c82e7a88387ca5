"""Max-margin for general embeddings: exact active sets, CVXPY, Farkas by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from oracles import quadratic
from oracles.deadline import within
from scipy.optimize import linprog

from lemmata.margin import MaxMargin, Status, embedded_max_margin, max_margin
from lemmata.margin._rational import solve_in_fractions
from lemmata.tokens import PriorityGraph, random_orthonormal_embeddings

Facts = dict[int, list[tuple[int, int]]]

FRACTIONS = [(1, 0, 32, 1), (1, 0, 33, 0), (8, 0, 3, 1), (8, 1, 3, 0)]
"""Copies of four pairs, more of these, dimensions: and whether that is 32 at most of both."""


def solve(facts: Facts, embeddings: np.ndarray) -> MaxMargin:
    tokens = tuple(range(len(embeddings)))
    graphs = {q: PriorityGraph(q, tokens, dict.fromkeys(e, 0)) for q, e in facts.items()}
    with within(3):
        return embedded_max_margin(graphs, embeddings)


def random_facts(generator: np.random.Generator, size: int) -> Facts:
    facts = {}
    for query in range(size):
        order = generator.permutation(size)
        pairs = [(int(order[i]), int(order[j])) for i, j in combinations(range(size), 2)]
        facts[query] = [pair for pair in pairs if generator.random() < 0.5]
    facts[0] = facts[0] or [(0, 1)]
    return facts


def exact_solution(facts: Facts, embeddings: np.ndarray) -> list[Fraction] | None:
    exact = np.array([[Fraction(float(x)) for x in row] for row in embeddings])
    return quadratic.least_norm_by_active_sets(quadratic.embedded_rows(facts, exact).tolist())


def assert_certified(found: MaxMargin, facts: Facts, embeddings: np.ndarray) -> None:
    """Margins of at least 1, multipliers >= 0, and W in their span up to the error bound."""
    rows = quadratic.embedded_rows(facts, embeddings)
    y = np.array([found.multipliers[q][edge] for q, edges in facts.items() for edge in edges])
    assert (rows @ found.weights.ravel()).min() >= 1 - 1e-9
    assert y.min() >= 0
    rounding = 8 * np.finfo(float).eps * np.linalg.norm(np.abs(rows).T @ y)
    apart = np.linalg.norm(rows.T @ y - found.weights.ravel())
    assert apart <= found.error_bound + rounding


@pytest.mark.parametrize("seed", range(15))
def test_random_embeddings_agree_with_clarabel(seed):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(3, 7))
    embeddings = generator.standard_normal((size, size + int(generator.integers(0, 3))))
    facts = random_facts(generator, size)
    found = solve(facts, embeddings)
    expected = quadratic.clarabel(quadratic.embedded_rows(facts, embeddings))
    assert found.status is Status.SOLVED
    assert_certified(found, facts, embeddings)
    np.testing.assert_allclose(found.weights.ravel(), expected, atol=1e-4 * found.norm)
    assert found.error_bound < 1e-5 * found.norm


@pytest.mark.parametrize("seed", range(25))
def test_error_bound_covers_the_distance_to_the_exact_solution(seed):
    generator = np.random.default_rng([1, seed])
    size, dimension = int(generator.integers(2, 5)), int(generator.integers(1, 4))
    embeddings = generator.integers(-4, 5, (size, dimension)) / 2.0
    chosen = [(q, a, b) for q in range(2) for a, b in combinations(range(size), 2)]
    facts: Facts = {0: [], 1: []}
    for i in generator.permutation(len(chosen))[:7]:
        q, a, b = chosen[i]
        facts[q].append((a, b) if generator.random() < 0.7 else (b, a))
    expected = exact_solution(facts, embeddings)
    found = solve(facts, embeddings)
    assert (found.status is Status.INFEASIBLE) is (expected is None)
    if expected is not None:
        weights = [Fraction(float(x)) for x in found.weights.ravel()]
        distance = sum((a - b) ** 2 for a, b in zip(weights, expected, strict=True))
        assert distance <= Fraction(found.error_bound) ** 2
        assert found.error_bound < 1e-4 * (1 + found.norm)


@pytest.mark.parametrize("dimension", [4, 6])
def test_orthonormal_embeddings_give_the_exact_solution(dimension):
    generator = np.random.default_rng(dimension)
    E = random_orthonormal_embeddings(4, dimension, generator)
    facts = random_facts(generator, 4)
    found = solve(facts, E)
    graphs = {q: PriorityGraph(q, (0, 1, 2, 3), dict.fromkeys(e, 0)) for q, e in facts.items()}
    exact = max_margin(graphs, 4)
    np.testing.assert_allclose(found.weights, E.T @ exact.weights @ E, atol=1e-9)
    assert np.linalg.norm(found.weights - E.T @ exact.weights @ E) <= found.error_bound + 1e-14
    assert found.norm == pytest.approx(exact.norm, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 0.02, 1.0, 1e3])
def test_scaling_the_embeddings_scales_the_solution(scale):
    generator = np.random.default_rng(5)
    E = generator.standard_normal((4, 4))
    facts = random_facts(generator, 4)
    expected = quadratic.clarabel(quadratic.embedded_rows(facts, E)) / scale**2
    found = solve(facts, scale * E)
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found.weights.ravel(), expected, atol=1e-4 * found.norm)
    assert found.error_bound < 1e-4 * found.norm


def test_one_constraint_by_hand():
    # (e_0 - e_1) W e_0 >= 1 in one dimension: -0.00007 * 0.0006 * W >= 1
    found = solve({0: [(0, 1)]}, np.array([[6e-4], [6.7e-4]]))
    np.testing.assert_allclose(found.weights, [[1 / (-7e-5 * 6e-4)]], rtol=1e-9)
    assert found.error_bound < 1e-6 * found.norm


def test_a_hundred_random_programs_end_as_they_should():
    generator = np.random.default_rng(1)
    ends = []
    for _ in range(100):
        size = int(generator.integers(3, 7))
        embeddings = generator.standard_normal((size, int(generator.integers(2, 7))))
        facts = random_facts(generator, size)
        found = solve(facts, embeddings)
        rows = quadratic.embedded_rows(facts, embeddings)
        free = [(None, None)] * rows.shape[1]
        program = linprog(
            np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=free
        )
        assert found.status is (Status.SOLVED if program.status == 0 else Status.INFEASIBLE)
        if program.status == 0:
            assert_certified(found, facts, embeddings)
            assert found.error_bound < 1e-5 * found.norm
        else:
            assert_farkas(found, embeddings)
        ends.append(found.status)
    assert 10 < ends.count(Status.SOLVED) < 90


@pytest.mark.parametrize("difference", [1e-3, 1e-5, 1e-6, 1e-7])
def test_nearly_equal_embeddings_are_told_apart(difference):
    E = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, difference]])
    facts = {0: [(2, 0), (1, 0)], 1: [(0, 2), (1, 0)]}
    expected = np.array(exact_solution(facts, E), dtype=float).reshape(2, 2)
    found = solve(facts, E)
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-6 * found.norm)
    assert found.error_bound < 1e-4 * found.norm


@pytest.mark.parametrize("difference", [1e-3, 1e-4, 1e-5, 1e-6])
def test_a_solved_program_has_a_certificate_that_says_something(difference):
    # e_0 > e_1 > e_2 with e_0 and e_2 almost equal: two constraints that nearly contradict
    E = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, difference]])
    facts = {0: [(0, 1), (1, 2)]}
    found = solve(facts, E)
    expected = np.array(exact_solution(facts, E), dtype=float).reshape(2, 2)
    assert found.status is Status.SOLVED
    distance = np.linalg.norm(found.weights - expected)
    assert distance <= found.error_bound < 1e-2 * found.norm


def nearly_opposite(seed: int) -> np.ndarray:
    """Four constraints, two of which almost contradict each other."""
    generator = np.random.default_rng([7, seed])
    rows = generator.standard_normal((4, 3))
    rows[1] = 10.0 ** -generator.integers(3, 7) * generator.standard_normal(3) - rows[0]
    return rows


def nearly_opposite_of_all_lengths(seed: int) -> np.ndarray:
    """The same with a third that almost repeats the first, and lengths from 0.01 to 100."""
    generator = np.random.default_rng([8, seed])
    rows = generator.standard_normal((4, 3))
    size = 10.0 ** -generator.integers(3, 7)
    rows[1] = size * generator.standard_normal(3) - rows[0]
    rows[2] = size * generator.standard_normal(3) + rows[0]
    return rows * 10.0 ** generator.uniform(-2, 2, (4, 1))


@pytest.mark.parametrize(
    ("draw", "seeds"),
    [(nearly_opposite, range(16)), (nearly_opposite_of_all_lengths, range(10, 20))],
)
def test_nearly_opposite_constraints_are_solved_to_their_certificate(draw, seeds):
    # query 0 has embedding e_1 and token 1 embedding 0: the rows are the others' embeddings
    solved = 0
    for seed in seeds:
        rows = draw(seed)
        expected = quadratic.least_norm_by_active_sets([[*map(Fraction, row)] for row in rows])
        E = np.vstack([np.eye(3)[0], np.zeros(3), rows])
        found = solve({0: [(token, 1) for token in range(2, 6)]}, E)
        assert (found.status is Status.SOLVED) is (expected is not None)
        if expected is not None:
            W = np.outer(np.array(expected, dtype=float), E[0])
            assert np.linalg.norm(found.weights - W) <= found.error_bound < 1e-2 * found.norm
            solved += 1
    assert solved > 5


@pytest.mark.parametrize(("copies", "extra", "dimension", "asked"), FRACTIONS)
def test_fractions_are_left_to_few_pairs_in_few_dimensions(
    copies, extra, dimension, asked, monkeypatch
):
    """Their time grows fast with both; more of either keep what floating point certifies."""
    calls = []

    def in_fractions(*program):
        calls.append(program)
        return solve_in_fractions(*program)

    monkeypatch.setattr("lemmata.margin._embedded.solve_in_fractions", in_fractions)
    rows = nearly_opposite_of_all_lengths(13)
    rows = np.vstack([*[rows] * copies, rows[:extra]])
    E = np.pad(np.vstack([np.eye(3)[0], np.zeros(3), rows]), ((0, 0), (0, dimension - 3)))
    found = solve({0: [(token, 1) for token in range(2, 2 + len(rows))]}, E)
    assert found.status is Status.SOLVED
    assert len(calls) == asked
    assert found.error_bound < (1e-15 if asked else 1e-3) * found.norm


def assert_farkas(found: MaxMargin, embeddings: np.ndarray) -> None:
    total = np.zeros((embeddings.shape[1],) * 2)
    weight = 0.0
    for q, edges in found.multipliers.items():
        for (a, b), value in edges.items():
            assert value >= 0
            weight += value
            total += value * np.outer(embeddings[a] - embeddings[b], embeddings[q])
    assert weight == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(total, 0, atol=1e-9)


def test_a_cycle_is_infeasible_with_proof():
    E = np.random.default_rng(0).standard_normal((3, 3))
    found = solve({0: [(0, 1)], 2: [(0, 1), (1, 2), (2, 0)]}, E)
    assert found.status is Status.INFEASIBLE
    assert found.weights is found.norm is None
    assert_farkas(found, E)


@pytest.mark.parametrize("seed", range(6))
def test_more_tokens_than_dimensions_can_be_infeasible_with_proof(seed):
    # e_1 lies between e_0 and e_2, so it cannot lose to both under one query
    generator = np.random.default_rng(seed)
    E = generator.standard_normal((4, 2))
    share = generator.uniform(0.2, 0.8)
    E[1] = share * E[0] + (1 - share) * E[2]
    found = solve({3: [(0, 1), (2, 1)], 0: [(3, 1)]}, E)
    assert found.status is Status.INFEASIBLE
    assert_farkas(found, E)


def test_one_token_between_two_others_can_win_over_one():
    E = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    assert solve({0: [(0, 1), (1, 2)]}, E).status is Status.SOLVED


def test_a_query_embedded_at_zero_is_infeasible():
    found = solve({0: [(1, 2)]}, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert found.status is Status.INFEASIBLE


def test_no_edges_give_zero_in_the_space_of_the_embeddings():
    found = solve({0: []}, np.ones((2, 3)))
    assert found.status is Status.ZERO
    np.testing.assert_array_equal(found.weights, np.zeros((3, 3)))
