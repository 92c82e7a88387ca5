"""Distinct inputs, their counts and frequencies."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmata.tokens import TokenData

SENTENCES = st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=6)


@given(SENTENCES)
def test_sentences_are_counted_as_their_prefixes(sentences):
    data = TokenData.from_sentences(sentences)
    expected = Counter((s[:i], s[i]) for s in sentences for i in range(1, len(s)))
    found = {("".join(map(data.name, s.tokens)), data.name(s.label)): s.count for s in data.samples}
    assert found == expected
    assert data.total == expected.total()
    assert data.longest_input == max((len(x) for x, _ in expected), default=0)
    np.testing.assert_array_equal(
        data.frequencies * max(data.total, 1), [s.count for s in data.samples]
    )


def test_golden_inputs_counts_and_lengths(case):
    data = case.from_sentences or case.data
    found = {
        " ".join(map(data.name, s.tokens)): (data.name(s.label), s.count) for s in data.samples
    }
    assert found == {r["X"]: (r["next"], r["count"]) for r in case.facts["inputs"]}
    assert len(data.samples) == case.facts["N"]
    assert data.total == case.facts["D0"]
    assert data.longest_input == case.facts["longest_input"] == case.facts["L_max"] - 1
    assert data.frequencies.sum() == pytest.approx(1, abs=1e-15)


def test_tokens_are_numbered_by_first_appearance_or_as_told():
    assert TokenData.from_sentences(["ba", "ac"]).vocabulary == ("b", "a", "c")
    data = TokenData.from_sentences(["ba"], "abc")
    assert (data.vocabulary, data.samples[0].tokens) == (("a", "b", "c"), (1,))


def test_equal_inputs_with_different_labels_stay_apart():
    data = TokenData.from_samples([("ab", "a", 2, "x"), ("ab", "b", 3, "y"), ("ab", "a", 5, "z")])
    assert [(s.label, s.count, s.source) for s in data.samples] == [(0, 7, "x"), (1, 3, "y")]
    np.testing.assert_allclose(data.frequencies, [0.7, 0.3], rtol=1e-15)


def test_a_sample_is_shown_with_its_sentence():
    data = TokenData.from_sentences([["the", "cat", "sat"]])
    assert data.show(data.samples[1]) == "[the cat] -> sat (sentence 1)"


def test_the_query_is_the_last_token():
    data = TokenData.from_sentences(["abcb"])
    assert [s.query for s in data.samples] == [0, 1, 2]
