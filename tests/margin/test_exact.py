"""The exact program on one graph: against brute force, CVXPY, stored fractions, and its KKT."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import quadratic

from lemmata.margin import Potentials, separate
from lemmata.tokens import find_collocation, partial_orders

SMALL_SIZES = st.integers(2, 4)


def random_dag(generator: np.random.Generator, size: int) -> list[tuple[int, int]]:
    """Edges along a random order of the nodes, at least one."""
    order = generator.permutation(size)
    density = generator.uniform(0.15, 0.9)
    pairs = [(int(order[i]), int(order[j])) for i, j in combinations(range(size), 2)]
    return [pair for pair in pairs if generator.random() < density] or pairs[:1]


def assert_kkt(found: Potentials, edges: list[tuple[int, int]], sizes: dict[int, int]) -> None:
    """Feasible, signed, complementary and stationary, in exact arithmetic."""
    assert all(isinstance(value, Fraction) for value in found.values.values())
    assert set(found.multipliers) == set(edges)
    for (a, b), multiplier in found.multipliers.items():
        slack = found.values[a] - found.values[b] - 1
        assert slack >= 0
        assert multiplier >= 0
        assert slack == 0 or multiplier == 0
    for node, value in found.values.items():
        out = sum(m for (a, _), m in found.multipliers.items() if a == node)
        into = sum(m for (_, b), m in found.multipliers.items() if b == node)
        assert out - into == sizes.get(node, 1) * value


@pytest.mark.parametrize("seed", range(12))
def test_random_dags_satisfy_kkt_and_agree_with_clarabel(seed):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 16))
    edges = random_dag(generator, size)
    nodes = sorted({x for edge in edges for x in edge})
    sizes = {x: int(generator.integers(1, 6)) for x in nodes} if seed % 2 else {}
    found = separate(edges, sizes)
    assert_kkt(found, edges, sizes)
    rows = np.array(quadratic.edge_rows(edges, nodes), dtype=float)
    mass = np.array([sizes.get(x, 1) for x in nodes], dtype=float)
    values = [float(found.values[x]) for x in nodes]
    np.testing.assert_allclose(values, quadratic.clarabel(rows, mass), atol=2e-4)


def test_hundreds_of_random_dags_satisfy_kkt():
    for seed in range(300):
        generator = np.random.default_rng([3, seed])
        edges = random_dag(generator, int(generator.integers(3, 14)))
        sizes = {x: int(generator.integers(1, 6)) for x in range(14)} if seed % 2 else {}
        assert_kkt(separate(edges, sizes or None), edges, sizes)


@pytest.mark.parametrize("seed", range(5))
def test_larger_random_dags_satisfy_kkt(seed):
    generator = np.random.default_rng([7, seed])
    edges = random_dag(generator, 30)
    assert_kkt(separate(edges), edges, {})


@pytest.mark.parametrize(
    ("edges", "sizes"),
    [
        ([(4, 2), (4, 5), (1, 3), (1, 5), (3, 5), (0, 5)], {1: 4, 2: 2, 3: 4, 4: 4}),
        ([(7, 3), (7, 4), (0, 3), (8, 3), (1, 4), (3, 4), (2, 4), (2, 5)], {}),
        ([(7, 2), (7, 4), (0, 1), (0, 4), (8, 5), (3, 1), (3, 4), (5, 4)], {}),
        ([(2, 0), (3, 0), (0, 5), (1, 5), (1, 4)], {0: 9, 1: 2, 5: 7}),
    ],
)
def test_graphs_whose_blocks_meet_and_part_again(edges, sizes):
    nodes = sorted({x for edge in edges for x in edge})
    found = separate(edges, sizes)
    assert_kkt(found, edges, sizes)
    rows = np.array(quadratic.edge_rows(edges, nodes), dtype=float)
    mass = np.array([sizes.get(x, 1) for x in nodes], dtype=float)
    values = [float(found.values[x]) for x in nodes]
    np.testing.assert_allclose(values, quadratic.clarabel(rows, mass), atol=2e-4)


def test_every_graph_on_four_nodes_agrees_with_brute_force():
    pairs = list(combinations(range(4), 2))
    for chosen in product([False, True], repeat=len(pairs)):
        edges = [pair for pair, here in zip(pairs, chosen, strict=True) if here]
        if edges:
            nodes = sorted({x for edge in edges for x in edge})
            rows = quadratic.edge_rows(edges, nodes)
            found = separate(edges)
            assert [found.values[x] for x in nodes] == quadratic.least_norm_by_active_sets(rows)


@given(st.lists(st.booleans(), min_size=6, max_size=6).filter(any), st.tuples(*[SMALL_SIZES] * 4))
def test_weighted_graphs_agree_with_brute_force(chosen, mass):
    pairs = list(combinations(range(4), 2))
    edges = [pair for pair, here in zip(pairs, chosen, strict=True) if here]
    nodes = sorted({x for edge in edges for x in edge})
    expected = quadratic.least_norm_by_active_sets(
        quadratic.edge_rows(edges, nodes), [mass[x] for x in nodes]
    )
    found = separate(edges, dict(enumerate(mass)))
    assert [found.values[x] for x in nodes] == expected


def test_golden_fractions_and_multipliers(case):
    data = case.data
    orders = partial_orders(data, find_collocation(data))
    entries, multipliers, squared = {}, {}, Fraction(0)
    for query, graph in orders.graphs.items():
        q = data.name(query)
        found = separate(graph.edges)
        for x, value in found.values.items():
            entries[f"{data.name(x)}|{q}"] = str(value)
            squared += value**2
        for (a, b), value in found.multipliers.items():
            multipliers[f"{data.name(a)}>{data.name(b)}|{q}"] = str(value)
    assert entries == case.facts["W_kq_star"]["entries"]
    assert multipliers == case.facts["W_kq_star"]["multipliers"]
    assert str(squared) == case.facts["W_kq_star"]["norm_squared"]


def test_a_star_a_chain_and_a_complete_bipartite_graph():
    star = separate([(0, 1), (0, 2), (0, 3)]).values
    assert star == {0: Fraction(3, 4), **dict.fromkeys((1, 2, 3), Fraction(-1, 4))}
    chain = separate([(0, 1), (1, 2), (0, 2)])
    assert chain.values == {0: 1, 1: 0, 2: -1}
    assert chain.multipliers[0, 2] == 0
    both = separate([(a, b) for a in (0, 1) for b in (2, 3, 4)]).values
    assert both == {
        **dict.fromkeys((0, 1), Fraction(3, 5)),
        **dict.fromkeys((2, 3, 4), -both[0] / 3 * 2),
    }


def test_no_edges_and_repeated_edges():
    assert separate([]) == Potentials({}, {})
    assert separate([(0, 1), (0, 1)]) == separate([(0, 1)])


@pytest.mark.parametrize("edges", [[(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0), (3, 0)], [(0, 0)]])
def test_cycles_are_refused(edges):
    with pytest.raises(ValueError, match="cycle"):
        separate(edges)
