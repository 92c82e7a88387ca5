"""Strict edges, condensations and mutual selection against the transitive closure."""

from hypothesis import given
from hypothesis import strategies as st
from oracles import graphs

from lemmata.tokens import PriorityGraph, TokenData, priority_graphs

TOKENS = st.integers(0, 6)
EDGES = st.sets(st.tuples(TOKENS, TOKENS).filter(lambda edge: edge[0] != edge[1]), max_size=14)


def graph_of(edges: set[tuple[int, int]]) -> PriorityGraph:
    return PriorityGraph(0, tuple(range(7)), dict.fromkeys(edges, 0))


def mates(token: int, edges: set[tuple[int, int]]) -> frozenset[int]:
    return next(c for c in graphs.components(range(7), edges) if token in c)


@given(EDGES)
def test_component_numbers_are_equal_for_tied_tokens_alone(edges):
    number = graph_of(edges).component_of
    assert set(number) == set(range(7))
    for a in range(7):
        assert {b for b in range(7) if number[b] == number[a]} == mates(a, edges)
    assert all(number[a] < number[b] for a, b in edges if number[a] != number[b])


@given(EDGES)
def test_strict_edges_are_those_whose_loser_does_not_reach_the_winner(edges):
    reach = graphs.closure(range(7), edges)
    found = graph_of(edges).strict_edges
    assert set(found) == {(a, b) for a, b in edges if (b, a) not in reach}
    assert found == sorted(set(found))


@given(EDGES)
def test_the_condensation_joins_the_first_tokens_of_components(edges):
    first = {x: min(mates(x, edges)) for x in range(7)}
    found, sizes, depth = graph_of(edges).condensation()
    assert found == sorted({(first[a], first[b]) for a, b in edges if first[a] != first[b]})
    assert sizes == {first[x]: len(mates(x, edges)) for x in range(7)}
    assert depth == {
        first[x]: graphs.chain_above(mates(x, edges), range(7), edges) for x in range(7)
    }
    assert not graphs.has_cycle(sizes, found)


def test_mutual_selection_ties_the_selected_tokens():
    data = TokenData.from_samples([("abcd", "a", 1, ""), ("bd", "b", 1, "")])
    alone = priority_graphs(data, [{0, 1}, {3}])[3]
    both = priority_graphs(data, [{0, 1}, {3}], mutual=True)[3]
    assert alone.edges == [(0, 2), (0, 3), (1, 2), (1, 3), (3, 1)]
    assert both.edges == [(0, 1), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3), (3, 1)]
    assert alone.components == [[0], [1, 3], [2]]
    assert both.components == [[0, 1, 3], [2]]
    assert both.strict_edges == [(0, 2), (1, 2)]


def test_mutual_selection_of_one_token_or_of_absent_ones_changes_nothing():
    data = TokenData.from_samples([("abc", "a", 1, ""), ("bac", "a", 1, "")], "abcd")
    for selected in ([{0}, {1}], [{3}, set()], [{0, 3}, {1}]):
        assert priority_graphs(data, selected) == priority_graphs(data, selected, mutual=True)
