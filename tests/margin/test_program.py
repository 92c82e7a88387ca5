"""Max-margin over all queries: Example 1 by hand, zero programs, and cycles."""

from fractions import Fraction

import numpy as np
import pytest
from oracles import graphs

from lemmata.margin import Status, max_margin
from lemmata.margin._program import _condense
from lemmata.papers.convergence.setting import Dataset, example_1
from lemmata.tokens import PriorityGraph


def graph(query: int, *edges: tuple[int, int]) -> PriorityGraph:
    nodes = tuple(sorted({x for edge in edges for x in edge}))
    return PriorityGraph(query, nodes, dict.fromkeys(edges, 0))


def test_example_1_exactly():
    found = example_1().attention_margin
    expected = {
        "S": {"S": "1/2", "P": "-1/2"},
        "V": {"V": "1/2", "S": "-1/2"},
        "O": {"O": "2/3", "S": "-1/3", "V": "-1/3"},
        "P": {"O": "1/2", "P": "-1/2"},
    }
    assert found.status is Status.SOLVED
    assert found.norm_squared_exact == Fraction(13, 6)
    assert found.norm == pytest.approx(1.4719601443879744, rel=1e-15)
    assert found.error_bound == 0
    assert found.entries == {
        ("SVOP".index(x), "SVOP".index(q)): Fraction(value)
        for q, column in expected.items()
        for x, value in column.items()
    }
    dense = np.zeros((4, 4))
    for cell, value in found.entries.items():
        dense[cell] = float(value)
    np.testing.assert_array_equal(found.weights, dense)


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_feed_forward_solution_has_squared_norm_one_less_than_the_vocabulary(size):
    pairs = [[x, (x + 1) % size] for x in range(size)]
    found = Dataset.from_sentences("pairs", pairs).value_margin
    following = np.roll(np.eye(size), 1, axis=0)
    assert found.norm_squared_exact == size - 1
    np.testing.assert_allclose(found.weights, following - 1 / size, rtol=1e-15)


def test_golden_norms(case):
    dataset = Dataset(case.name, case.data)
    facts = case.facts["W_kq_star"]
    found = dataset.attention_margin
    assert found.norm_squared_exact == Fraction(facts["norm_squared"])
    assert found.norm == pytest.approx(facts["norm"], rel=1e-15)
    assert np.sum(found.weights**2) == pytest.approx(float(Fraction(facts["norm_squared"])))
    assert found.entries == {
        tuple(dataset.encode(cell.split("|"))): Fraction(value)
        for cell, value in facts["entries"].items()
    }


def test_no_constraint_means_zero():
    found = max_margin({0: graph(0), 1: PriorityGraph(1, (0, 1), {})}, 2)
    assert found.status is Status.ZERO
    assert found.norm_squared_exact == 0
    np.testing.assert_array_equal(found.weights, np.zeros((2, 2)))


@pytest.mark.parametrize(
    "edges", [[(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 3), (3, 1), (3, 0)], [(2, 1), (1, 3), (3, 2)]]
)
def test_a_cycle_makes_the_program_infeasible_and_proves_it(edges):
    found = max_margin({0: graph(0, (0, 1)), 2: graph(2, *edges)}, 4)
    assert found.status is Status.INFEASIBLE
    assert found.weights is found.norm is None
    ((query, farkas),) = found.multipliers.items()
    assert query == 2
    assert set(farkas) <= set(edges)
    assert sum(farkas.values()) == 1
    assert min(farkas.values()) >= 0
    for node in range(4):
        into = sum(weight for (_, b), weight in farkas.items() if b == node)
        assert sum(weight for (a, _), weight in farkas.items() if a == node) == into


def test_the_fast_solver_starts_from_values_that_keep_every_margin():
    edges = [(0, 1), (1, 0), (1, 2), (2, 3), (0, 3), (4, 3)]
    column = _condense(graph(0, *edges))
    assert column.edges == [(0, 2), (0, 3), (2, 3), (4, 3)]
    assert column.sizes == {0: 2, 2: 1, 3: 1, 4: 1}
    assert min(column.start[a] - column.start[b] for a, b in column.edges) == 1


def test_infeasible_exactly_when_some_graph_has_a_cycle():
    generator = np.random.default_rng(3)
    statuses = []
    for _ in range(60):
        pairs = {tuple(map(int, generator.choice(5, 2, replace=False))) for _ in range(5)}
        cyclic = graphs.has_cycle(range(5), pairs)
        status = max_margin({0: graph(0, *pairs)}, 5).status
        assert (status is Status.INFEASIBLE) is cyclic
        statuses.append(status)
    assert {Status.INFEASIBLE, Status.SOLVED} == set(statuses)
