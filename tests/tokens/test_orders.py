"""Partial orders, roles, and every broken assumption with the sentence at fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import structure
from oracles.golden import GOLDEN

from lemmata.tokens import PartialOrders, Problem, Role, TokenData, find_collocation, partial_orders


def orders_of(data: TokenData) -> PartialOrders:
    return partial_orders(data, find_collocation(data))


def problems_of(*rows: tuple[str, str]) -> list[Problem]:
    """The problems of sentences (one string) or samples (an input and a label)."""
    pairs = [(x, y, 1, f"sample {i}") for i, (x, y) in enumerate(rows)]
    return list(orders_of(TokenData.from_samples(pairs)).problems)


def only(problems: list[Problem], code: str) -> Problem:
    (found,) = [problem for problem in problems if problem.code == code]
    return found


def codes(data: TokenData) -> set[str]:
    return {problem.code for problem in orders_of(data).problems}


def test_golden_orders_and_types(case):
    data = case.from_sentences or case.data
    orders = orders_of(data)
    for query in range(data.size):
        name = data.name(query)
        graph = orders.graphs[query]
        shown = {f"{data.name(a)} > {data.name(b)}" for a, b in graph.edges}
        assert shown == set(case.facts["orders"][name])
        for role, members in case.facts["types"][name].items():
            assert {data.name(x) for x in orders.having(query, Role(role))} == set(members)


def test_golden_selected_positions(case):
    orders = orders_of(case.data)
    for sample, row in zip(case.data.samples, case.facts["inputs"], strict=True):
        chosen = orders.selected(sample)
        positions = [i for i, x in enumerate(sample.tokens, start=1) if x in chosen]
        assert positions == row["optimal_positions"]


def test_golden_assumptions(case):
    found = codes(case.from_sentences or case.data)
    reasons = {code for code, _ in case.facts["reasons"]}
    assert found == reasons
    assert ("not_prefix_closed" in found) is not case.facts["prefix_closed"]
    assert ("assumption_3" in found) is not case.facts["assumption3"]
    assert (not found - {"not_prefix_closed", "assumption_3"}) is case.facts["assumption1"]


@pytest.mark.parametrize("name", sorted(GOLDEN["invalid"]))
def test_golden_invalid_data(name):
    facts = GOLDEN["invalid"][name]
    data = TokenData.from_sentences(facts["sentences"])
    assert codes(data) == set(facts["codes"])
    assert ("assumption_3" not in codes(data)) is facts["assumption3"]
    shown = [p.where.split(" (")[0] for p in orders_of(data).problems]
    for code, reason in facts["reasons"]:
        if code == "preimage_not_in_sentence":
            assert reason.split(" but")[0] in shown


def test_golden_data_without_assumption_3():
    facts = GOLDEN["lemma5_without_assumption3"]
    rows = [("a", "b"), ("b", "c"), ("c", "a"), ("a" + "b" * 6 + "c" * 30, "b"), ("abbc", "b")]
    found = problems_of(*rows)
    assert {p.code for p in found} == {"assumption_3", "not_prefix_closed"}
    assert facts["assumption3"] is facts["prefix_closed"] is False


def test_ambiguous_label_shows_both_samples():
    problem = only(problems_of(("ab", "a"), ("ab", "b"), ("a", "b"), ("b", "a")), "ambiguous_label")
    assert problem.where == "[a b] -> a (sample 0); [a b] -> b (sample 1)"


def test_collocation_problems_are_passed_on():
    found = {p.code for p in problems_of(("a", "b"), ("a", "c"), ("d", "b"), ("b", "b"))}
    assert {"collocation_conflict", "collocation_missing", "collocation_not_injective"} <= found


def test_missing_preimage_says_which_token_is_missing():
    rows = ("a", "b"), ("b", "c"), ("c", "a"), ("ab", "a")
    problem = only(problems_of(*rows), "preimage_not_in_sentence")
    assert problem.where == "[a b] -> a (sample 3)"
    assert "n^-1(a) = c is not in the input" in problem.message


def test_preimage_that_does_not_exist():
    problem = problems_of(("a", "b"), ("b", "b"), ("ab", "a"))[-1]
    assert problem.code == "preimage_not_in_sentence"
    assert "n^-1(a) does not exist" in problem.message


def test_confused_token_shows_who_is_above_and_below():
    rows = ("a", "b"), ("b", "c"), ("c", "a"), ("bc", "c"), ("abc", "b")
    problem = only(problems_of(*rows), "confused_token")
    assert "a > b > c" in problem.message
    assert "query c" in problem.message
    assert problem.where == "[a b c] -> b (sample 4); [b c] -> c (sample 3)"


def test_cycle_shows_the_sample_of_each_step():
    rows = ("a", "b"), ("b", "a"), ("ab", "a"), ("bab", "b"), ("ba", "b")
    problem = only(problems_of(*rows), "order_not_well_defined")
    assert "query b: a > b > a" in problem.message
    assert problem.where == "[b a b] -> b (sample 3); [a b] -> a (sample 2)"


def test_open_prefix_names_the_longest_missing_one():
    rows = ("a", "b"), ("b", "c"), ("c", "a"), ("abca", "a")
    problem = only(problems_of(*rows), "not_prefix_closed")
    assert problem.where == "[a b c a] -> a (sample 3)"
    assert "prefix [a b c] -> a" in problem.message


def test_assumption_3_names_the_token_and_both_counts():
    rows = ("a", "b"), ("b", "a"), ("bab", "a"), ("aab", "a"), ("aabb", "a")
    problem = only(problems_of(*rows), "assumption_3")
    assert problem.where == "[a a b] -> a (sample 3)"
    assert "a occurs 2 times" in problem.message
    assert "only 1" in problem.message


def test_all_selected_tokens_count_together():
    # n(a) = n(b) = c: two optimal positions against two of d keep Assumption 3, against three not
    pairs = ("a", "c"), ("b", "c"), ("c", "d"), ("d", "a")
    found = problems_of(*pairs, ("abdd", "c"), ("abddd", "c"))
    problem = only(found, "assumption_3")
    assert problem.where == "[a b d d d] -> c (sample 5)"
    assert "d occurs 3 times but the optimal token only 2" in problem.message


@given(
    st.one_of(st.permutations(range(4)), st.lists(st.integers(0, 3), min_size=4, max_size=4)),
    st.lists(
        st.tuples(st.lists(st.integers(0, 3), min_size=2, max_size=5), st.integers(0, 3)),
        max_size=6,
        unique_by=lambda pair: tuple(pair[0]),
    ),
)
def test_random_samples_against_the_definitions(following, extra):
    n = dict(enumerate(following))
    pairs = [((x,), n[x]) for x in n] + [(tuple(x), y) for x, y in extra]
    orders = orders_of(TokenData.from_samples([(x, y, 1, "") for x, y in pairs], range(4)))
    found = {problem.code for problem in orders.problems}
    for q in range(4):
        order = structure.beats(pairs, n, q)
        assert set(orders.graphs[q].edges) == order
        assert set(orders.having(q, Role.OPTIMAL)) == structure.optimal(pairs, n, q)
        assert set(orders.having(q, Role.CONFUSED)) == structure.confused(pairs, n, q)
        touched = {x for edge in order for x in edge}
        assert set(orders.having(q, Role.NON_COMPARABLE)) == set(range(4)) - touched
    closed = all((x[:i], x[i]) in pairs for x, _ in pairs for i in range(1, len(x)))
    assert ("confused_token" in found) is any(structure.confused(pairs, n, q) for q in n)
    assert ("preimage_not_in_sentence" not in found) is structure.keeps_preimages(pairs, n)
    assert ("assumption_3" not in found) is structure.keeps_assumption_3(pairs, n)
    assert ("not_prefix_closed" not in found) is closed
