"""The collocation n, and the three ways in which it can fail to be one."""

from hypothesis import given
from hypothesis import strategies as st

from lemmata.tokens import TokenData, find_collocation


def by_name(data: TokenData) -> dict[str, str]:
    following = find_collocation(data).following
    return {data.name(x): data.name(y) for x, y in following.items()}


def problems(sentences: list[str]) -> list[tuple[str, str]]:
    found = find_collocation(TokenData.from_sentences(sentences))
    return [(problem.code, problem.where) for problem in found.problems]


def test_golden_collocations(case):
    assert by_name(case.data) == case.facts["collocation"]
    if case.from_sentences:
        assert by_name(case.from_sentences) == case.facts["collocation"]


@given(st.lists(st.text("abcd", min_size=2, max_size=4), min_size=1, max_size=8))
def test_collocation_against_its_definition(sentences):
    data = TokenData.from_sentences(sentences)
    after = {x: {s[1] for s in sentences if s[0] == x} for x in data.vocabulary}
    single = {x: min(ys) for x, ys in after.items() if len(ys) == 1}
    shared = [y for y in single.values() if list(single.values()).count(y) > 1]
    codes = [problem.code for problem in find_collocation(data).problems]
    assert by_name(data) == single
    assert codes.count("collocation_conflict") == sum(len(ys) > 1 for ys in after.values())
    assert codes.count("collocation_missing") == sum(not ys for ys in after.values())
    assert codes.count("collocation_not_injective") == len(set(shared))


def test_conflict_names_both_sentences():
    assert problems(["ab", "ac", "bc", "ca"]) == [
        ("collocation_conflict", "[a] -> b (sentence 1); [a] -> c (sentence 2)")
    ]


def test_missing_continuation_names_the_token():
    assert problems(["ab"]) == [("collocation_missing", "token b")]


def test_shared_continuation_names_all_sentences():
    assert problems(["ac", "bc", "ca"]) == [
        ("collocation_not_injective", "[a] -> c (sentence 1); [b] -> c (sentence 2)")
    ]


def test_preimages_and_undefined_tokens():
    found = find_collocation(TokenData.from_sentences(["ac", "bc"]))
    assert found.preimages(1) == [0, 2]
    assert (found.of(0), found.of(1)) == (1, None)
