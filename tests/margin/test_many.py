"""The solver for many graphs at once: exact KKT on many families, and when it gives up."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import quadratic
from oracles.graph_svm import assert_exact_kkt
from oracles.recorded import MECHANICS

from lemmata.margin import Status, max_margin, separate
from lemmata.margin._many import LARGEST_FLOW, WeightedGraph, separate_all
from lemmata.tokens import PriorityGraph

Edge = tuple[int, int]


def heights(nodes: list[int], edges: list[Edge]) -> dict[int, int]:
    """Minus the longest chain above each node, by relaxing every edge as often as needed."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for a, b in edges:
            depth[b] = max(depth[b], depth[a] + 1)
    return {node: -level for node, level in depth.items()}


def weighted(edges: list[Edge], sizes: dict[int, int] | None = None) -> WeightedGraph:
    edges = sorted(set(edges))
    nodes = sorted({x for edge in edges for x in edge} | set(sizes or {}))
    return WeightedGraph(edges, sizes or {}, heights(nodes, edges))


def random_order(generator: np.random.Generator, count: int, degree: float) -> list[Edge]:
    """Each pair along a random order with the same probability."""
    order = generator.permutation(count).tolist()
    pairs = list(combinations(order, 2))
    chosen = generator.random(len(pairs)) < degree / max(count - 1, 1) * 2
    return [pair for pair, here in zip(pairs, chosen, strict=True) if here] or pairs[:1]


def stars(generator: np.random.Generator, count: int, length: int) -> list[Edge]:
    """As priority graphs come about: the best token of a random sequence beats the others."""
    found = []
    for _ in range(2 * count):
        tokens = np.append(generator.choice(count - 1, length, replace=False) + 1, 0).tolist()
        found += [(max(tokens), token) for token in tokens if token != max(tokens)]
    return found


def contracted(generator: np.random.Generator) -> tuple[list[Edge], dict[int, int]]:
    edges = random_order(generator, 25, 3.0)
    return edges, {x: int(generator.integers(1, 8)) for x in range(25)}


def families(generator: np.random.Generator) -> dict[str, WeightedGraph]:
    shuffled = generator.permutation(60).tolist()
    return {
        "sparse": weighted(random_order(generator, 60, 1.2)),
        "degree 3": weighted(random_order(generator, 50, 3.0)),
        "dense": weighted(random_order(generator, 24, 12.0)),
        "path": weighted(list(pairwise(shuffled))),
        "two paths": weighted([*pairwise(shuffled[:40]), *pairwise(shuffled[25:])]),
        "star": weighted([(0, x) for x in range(1, 40)]),
        "star upwards": weighted([(x, 0) for x in range(1, 40)]),
        "priority": weighted(stars(generator, 40, 5)),
        "contracted": weighted(*contracted(generator)),
        "isolated nodes": weighted([(3, 5)], dict.fromkeys(range(8), 2)),
        "heavy": weighted(random_order(generator, 12, 3.0), {x: 1000 + x for x in range(12)}),
    }


@pytest.mark.parametrize("seed", range(3))
def test_every_family_is_solved_exactly_all_at_once(seed):
    generator = np.random.default_rng(seed)
    family = [graph for _ in range(4) for graph in families(generator).values()]
    for graph, found in zip(family, separate_all(family), strict=True):
        assert found is not None
        assert set(found.values) == set(graph.start)
        assert_exact_kkt(found.values, found.multipliers, graph.edges, graph.sizes)


def test_hundreds_of_small_graphs_agree_with_the_solver_for_one():
    generator = np.random.default_rng(11)
    family = []
    for number in range(300):
        edges = random_order(generator, int(generator.integers(2, 11)), generator.uniform(0.5, 3))
        sizes = {x: int(generator.integers(1, 6)) for x in range(11)} if number % 2 else {}
        nodes = {x for edge in edges for x in edge}
        family.append(weighted(edges, {x: m for x, m in sizes.items() if x in nodes}))
    for graph, found in zip(family, separate_all(family), strict=True):
        assert found is not None
        assert found.values == separate(graph.edges, graph.sizes).values


@settings(max_examples=30)
@given(
    st.lists(st.booleans(), min_size=6, max_size=6).filter(any),
    st.tuples(*[st.integers(1, 9)] * 4),
)
def test_small_weighted_graphs_agree_with_brute_force(chosen, mass):
    pairs = list(combinations(range(4), 2))
    edges = [pair for pair, here in zip(pairs, chosen, strict=True) if here]
    nodes = sorted({x for edge in edges for x in edge})
    (found,) = separate_all([weighted(edges, {x: mass[x] for x in nodes})])
    rows = quadratic.edge_rows(edges, nodes)
    expected = quadratic.least_norm_by_active_sets(rows, [mass[x] for x in nodes])
    assert found is not None
    assert [found.values[x] for x in nodes] == expected


@pytest.mark.parametrize("facts", MECHANICS["dag_qp"], ids=lambda facts: facts["name"])
def test_golden_fractions(facts):
    edges = [tuple(edge) for edge in facts["edges"]]
    sizes = dict(enumerate(facts["weights"]))
    (found,) = separate_all([weighted(edges, sizes)])
    expected = dict(enumerate(map(Fraction, facts["u"])))
    assert found is not None
    assert found.values == separate(edges, sizes).values == expected
    squared = sum(m * expected[x] ** 2 for x, m in sizes.items())
    assert squared == Fraction(facts["norm_sq"])
    assert float(squared) == facts["norm_sq_float"]


def test_a_bipartite_graph_whose_closed_form_is_wrong():
    # every winner over 3, but only 0 over 4: the formula by counts does not apply
    facts = MECHANICS["counterexamples"][4]
    (found,) = separate_all([weighted([(0, 3), (1, 3), (2, 3), (0, 4)])])
    assert found is not None
    assert [found.values[x] for x in range(5)] == list(map(Fraction, facts["true"]))


HUGE = 2 * LARGEST_FLOW + 1


def test_a_flow_that_does_not_fit_is_left_to_others_and_spoils_nothing():
    edges = [(0, 1), (1, 2), (0, 3)]
    sizes = {0: HUGE, 1: 5, 2: 3, 3: 7}
    usual = weighted([(4, 1), (1, 2), (4, 3)])
    before, none, after = separate_all([usual, weighted(edges, sizes), usual])
    assert none is None
    assert before == after
    assert before is not None
    assert_exact_kkt(before.values, before.multipliers, usual.edges, usual.sizes)


def test_graphs_that_fill_the_flow_solver_together_are_taken_in_turns():
    # each fits alone; four of them do not fit together
    sizes = {0: 1, 1: LARGEST_FLOW // 2}
    family = [weighted([(0, 1)], sizes)] * 6 + [weighted([(0, 1), (0, 2)])]
    for graph, found in zip(family, separate_all(family), strict=True):
        assert found is not None
        assert_exact_kkt(found.values, found.multipliers, graph.edges, graph.sizes)


def test_a_start_that_breaks_a_margin_is_not_taken_for_a_solution():
    # both values go to 0, where nothing is left to send but the margin is 0
    upside_down = WeightedGraph([(0, 1)], {}, {0: 0, 1: 5})
    usual = weighted([(0, 1)])
    none, found = separate_all([upside_down, usual])
    assert none is None
    assert found is not None
    assert found.values == {0: Fraction(1, 2), 1: Fraction(-1, 2)}


def priority(query: int, edges: list[Edge]) -> PriorityGraph:
    nodes = tuple(sorted({x for edge in edges for x in edge}))
    return PriorityGraph(query, nodes, dict.fromkeys(edges, 0))


def test_the_program_is_right_where_the_fast_solver_gives_up(monkeypatch):
    monkeypatch.setattr("lemmata.margin._many.LARGEST_FLOW", 40)
    monkeypatch.setattr("lemmata.margin._program.MANY_EDGES", 0)
    generator = np.random.default_rng(5)
    graphs = {q: priority(q, random_order(generator, 12, 2.0)) for q in range(8)}
    condensed = [graph.condensation() for graph in graphs.values()]
    fast = separate_all(
        [WeightedGraph(e, m, {x: -level for x, level in d.items()}) for e, m, d in condensed]
    )
    assert None in fast
    assert any(fast)
    found = max_margin(graphs, 12)
    assert found.status is Status.SOLVED
    for query, graph in graphs.items():
        values = {x: found.entries[x, query] for x in graph.nodes}
        assert_exact_kkt(values, found.multipliers[query], graph.edges, {})


def test_the_program_gives_the_same_answer_by_either_solver(monkeypatch):
    generator = np.random.default_rng(6)
    graphs = {q: priority(q, random_order(generator, 14, 2.5)) for q in range(10)}
    slow = max_margin(graphs, 14)
    monkeypatch.setattr("lemmata.margin._program.MANY_EDGES", 0)
    fast = max_margin(graphs, 14)
    assert slow.entries == fast.entries
    assert slow.norm_squared_exact == fast.norm_squared_exact


def test_a_large_priority_graph_in_one_go():
    generator = np.random.default_rng(7)
    graph = weighted(stars(generator, 600, 6))
    assert len(graph.edges) > 5_000
    (found,) = separate_all([graph])
    assert found is not None
    assert_exact_kkt(found.values, found.multipliers, graph.edges, graph.sizes)
