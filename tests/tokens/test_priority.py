"""Priority graphs against the transitive closure."""

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import graphs
from oracles.deadline import within

from lemmata.tokens import PriorityGraph, TokenData, priority_graphs

EDGES = st.integers(1, 6).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.sets(
            st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
                lambda edge: edge[0] != edge[1]
            )
        ),
    )
)


def graph_of(size: int, edges: set[tuple[int, int]]) -> PriorityGraph:
    return PriorityGraph(0, tuple(range(size)), dict.fromkeys(edges, 0))


@given(EDGES)
def test_components_are_the_classes_of_mutual_reach(drawn):
    size, edges = drawn
    found = graph_of(size, edges).components
    assert {frozenset(c) for c in found} == graphs.components(range(size), edges)
    assert sorted(x for c in found for x in c) == list(range(size))


@given(EDGES)
def test_winning_components_come_first(drawn):
    size, edges = drawn
    rank = {x: i for i, c in enumerate(graph_of(size, edges).components) for x in c}
    assert all(rank[a] <= rank[b] for a, b in graphs.closure(range(size), edges))


@given(EDGES)
def test_layers_count_the_longest_chain_above(drawn):
    size, edges = drawn
    layers = graph_of(size, edges).layers
    for depth, layer in enumerate(layers):
        for component in layer:
            assert depth == graphs.chain_above(frozenset(component), range(size), edges)
    assert all(layers)


def test_a_long_chain_and_a_short_one_to_the_same_loser():
    for a, b, c, d, e in permutations(range(5)):
        layers = graph_of(5, {(a, b), (b, c), (c, e), (d, e)}).layers
        assert layers == [sorted([[a], [d]]), [[b]], [[c]], [[e]]]


@given(EDGES)
def test_acyclic_and_cycle(drawn):
    size, edges = drawn
    graph = graph_of(size, edges)
    walk = graph.cycle()
    assert graph.acyclic is not graphs.has_cycle(range(size), edges)
    assert (walk is None) is graph.acyclic
    if walk is not None:
        first = next(c for c in graph.components if len(c) > 1)
        inside = {(a, b) for a, b in edges if a in first and b in first}
        assert walk[0] == walk[-1]
        assert set(pairwise(walk)) <= inside
        assert len(set(walk)) == len(walk) - 1 == graphs.shortest_cycle(first, inside)


def test_the_cycle_is_looked_for_where_the_winners_are():
    # 3 > 4 > 5 > 3 is above 0 <-> 1, which is shorter and comes first in the list of edges
    graph = graph_of(6, {(3, 4), (4, 5), (5, 3), (5, 0), (0, 1), (1, 0)})
    assert graph.cycle() == [3, 4, 5, 3]


def test_the_shortest_way_back_need_not_lead_through_the_first_token():
    for a, b, c, d, e in permutations(range(5)):
        # a ring of five with a short cut of three, and no two tokens that beat each other
        graph = graph_of(5, {(a, b), (b, c), (c, d), (d, e), (e, a), (d, b)})
        walk = graph.cycle()
        assert walk is not None
        assert set(pairwise(walk)) == {(b, c), (c, d), (d, b)}


def test_a_ring_with_many_ways_round():
    # ten places with four tokens each: a million walks of the shortest length
    rings = [range(4 * place, 4 * place + 4) for place in range(10)]
    edges = {(a, b) for here, there in pairwise([*rings, rings[0]]) for a in here for b in there}
    with within(3):
        walk = graph_of(40, edges).cycle()
    assert walk is not None
    assert len(walk) == 11
    assert edges.issuperset(pairwise(walk))


def test_a_graph_without_nodes():
    graph = PriorityGraph(0, (), {})
    assert (graph.components, graph.acyclic, graph.cycle(), graph.edges) == ([], True, None, [])


def test_selected_tokens_beat_the_rest_under_the_last_token():
    data = TokenData.from_samples([("abc", "a", 1, ""), ("bc", "a", 1, ""), ("cab", "a", 1, "")])
    found = priority_graphs(data, [{0}, {2}, {0, 1}])
    assert found[2].evidence == {(0, 1): 0, (0, 2): 0, (2, 1): 1}
    assert found[1].evidence == {(0, 2): 2, (1, 2): 2}
    assert {q: graph.nodes for q, graph in found.items()} == {1: (0, 1, 2), 2: (0, 1, 2)}


def test_selected_token_that_is_not_there_gives_nodes_and_no_edges():
    data = TokenData.from_samples([("ab", "c", 1, "")])
    (graph,) = priority_graphs(data, [{2}]).values()
    assert (graph.nodes, graph.edges) == ((0, 1), [])


def test_evidence_is_the_first_sample_that_says_so():
    data = TokenData.from_samples([("ab", "a", 1, ""), ("aab", "a", 1, ""), ("cb", "a", 1, "")])
    (graph,) = priority_graphs(data, [{0}, {0}, {2}]).values()
    assert graph.evidence == {(0, 1): 0, (2, 1): 2}


def test_one_set_of_selected_tokens_per_sample():
    data = TokenData.from_samples([("ab", "a", 1, "")])
    with pytest.raises(ValueError, match="zip"):
        priority_graphs(data, [])
