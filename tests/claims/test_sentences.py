"""What the judge says, word for word, and the scores of single cases."""

import dataclasses

import numpy as np
import pytest
from oracles.made_up import Thing, evidence

from lemmata._errors import InputError
from lemmata.claims import (
    Bench,
    Comparison,
    Fact,
    Judgement,
    Own,
    Silence,
    Status,
    Support,
    Tightness,
    Verdict,
    at_least,
    at_most,
    equal,
    judge,
    share_at_least,
    share_at_most,
)
from lemmata.claims._trends import Trend

TWO = evidence(2, [1, 10, 100])

SENTENCES = {
    "norm fails on b at t = 10: 1 is not above 2": at_least(
        [[3.0, 3.0, 3.0], [3.0, 1.0, 3.0]], 2.0, part="norm"
    ),
    "fails on a at t = 1: 3 is not below 2": at_most([[3.0, 1.0, 1.0], [1.0, 1.0, 1.0]], 2.0),
    "fails on b: 3 is not below 2": at_most([1.0, 3.0], 2.0),
    "norm: smallest margin 1, on b; the bound could be 1.5 times as strong": at_least(
        [4.0, 3.0], 2.0, part="norm"
    ),
    "smallest margin 1, on b at t = 100; the bound could be 1.5 times as strong": at_least(
        [[4.0, 4.0, 4.0], [4.0, 4.0, 3.0]], 2.0
    ),
    "smallest margin 0, on a; the bound is attained": at_least([2.0, 3.0], 2.0),
    "smallest margin 1, on a; the bound could be 1 stronger": at_least([1.0, 3.0], [0.0, -1.0]),
    "the bound excludes nothing on 1 of 2 cases (it is at most 1)": at_least(
        [3.0, 3.0], [-1.0, 1.0], baseline=0.0
    ),
    "the bound excludes nothing on 2 of 2 cases (it is at least 4); it would from t = 7 (a) to 9 "
    "(b)": at_most([3.0, 3.0], [4.0, 5.0], baseline=3.5, informative_from=[7.0, 9.0]),
    "the bound excludes nothing on 2 of 2 cases (it is at least 4), and would at no t": at_most(
        [3.0, 3.0], [4.0, 5.0], baseline=3.5, informative_from=[np.inf, np.inf]
    ),
    "x: 3 ± 1 against 2 on a is too near to tell": at_least(
        [3.0, 9.0], 2.0, error=[1.0, 1.0], part="x"
    ),
    "part fails on b at t = 10: 2 is not 1": equal(
        [[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]], 1.0, part="part"
    ),
    "the sides agree to within 0; a change by 1.4e-14 of one side would have been noticed": equal(
        [5.0, 5.0], 5.0
    ),
    "the sides agree, but no wrong factor would have shown": equal([0.0, 0.0], 0.0),
    "2 of 10 on b, so the chance is between 0.003363 and 0.7437; stated is 0.9": share_at_least(
        [10, 2], 10, 0.9
    ),
    "part: too little": Silence("too little", part="part"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences(sentence: str) -> None:
    assert judge(SENTENCES[sentence], TWO).reason == sentence


def test_one_case_alone_is_named() -> None:
    judged = judge(at_most(3.0, 4.0, baseline=3.5), evidence(1))
    assert judged.reason == "the bound excludes nothing on a (it is at least 4)"


def test_scores_are_relative_and_negative_where_broken() -> None:
    judged = judge(at_least([4.0, 1.0], 2.0), TWO)
    np.testing.assert_allclose(judged.scores, [0.5, -0.5], atol=1e-12)
    judged = judge(at_most([4.0, 1.0], 2.0), TWO)
    np.testing.assert_allclose(judged.scores, [-0.5, 0.5], atol=1e-12)


def test_scores_take_the_worst_record_and_skip_what_is_unknown() -> None:
    left = [[4.0, 2.5, 8.0], [np.nan, np.nan, np.nan]]
    judged = judge(at_least(left, 2.0), TWO)
    np.testing.assert_allclose(judged.scores, [0.2, np.nan], atol=1e-12)


def test_within_rounding_nothing_is_broken() -> None:
    judged = judge(at_least([2.0 * (1 - 1e-15), 3.0], 2.0), TWO)
    assert judged.scores is not None
    assert judged.scores[0] == 0
    strict = judge(at_least([2.0 * (1 - 1e-12), 3.0], 2.0, strict=True), TWO)
    assert strict.scores is not None
    assert strict.scores[0] < 0


def test_scores_of_identities() -> None:
    judged = judge(equal([1.0, 2.0], 1.0), TWO)
    assert judged.scores is not None
    np.testing.assert_allclose(judged.scores, [0.0, -0.5], atol=1e-12)


def test_scores_of_shares_are_those_of_the_favourable_end() -> None:
    judged = judge(share_at_most([20, 0], 20, 0.5), TWO)
    low = 0.0005 ** (1 / 20)
    np.testing.assert_allclose(judged.scores, [0.5 - low, 0.5], rtol=1e-9)
    assert judged.status is Status.FAILS
    none = judge(share_at_least([3, 0], [3, 0], 0.1), TWO)
    assert none.scores is not None
    assert np.isnan(none.scores[1])


def test_an_untried_row_does_not_speak() -> None:
    judged = judge(share_at_least([0, 50], [0, 50], 0.5), TWO)
    assert judged.case == 1
    assert judged.status is Status.HOLDS


@pytest.mark.parametrize(
    "value",
    [
        Judgement("", Status.HOLDS, ""),
        Support(1, 0, None, 0),
        Tightness(None, 0.0, "a", 0.0),
        Verdict("a", Status.HOLDS, "", "", "", ""),
        Trend(0.0, 0.0, 0.0, 0.0, "", True),
        Comparison(),
        Fact(True, ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_do_not_change(value: object) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, dataclasses.fields(value)[0].name, None)  # pyright: ignore


def test_own_instances_in_words() -> None:
    def says(count: int) -> str:
        return Own(tuple(Thing("abcdefgh"[i]) for i in range(count))).says

    assert says(3) == "your data: a, b, c"
    assert says(4) == "your data: a, b, c and 1 more"


def test_a_bench_starts_at_seed_0() -> None:
    assert (Bench().seed, Bench().scale) == (0, "quick")


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        (at_least(np.zeros((2, 3)), np.zeros((2, 4))), "the comparison: the shapes do not fit, "),
        (at_least(np.zeros((3, 3)), 0.0, part="x"), "x: "),
        (at_least(np.zeros(5), 0.0), "the comparison: a list of 5 numbers is neither one a case "),
        (at_least(np.zeros(5), np.zeros((2, 4))), "nor one a record (4)"),
        (at_least(np.zeros(5), 0.0), "nor one a record (3)"),
        (at_least(np.zeros((1, 1, 1)), 0.0), "the comparison: left has 3 dimensions"),
        (at_least(np.zeros((1, 1, 1)), 0.0, part="x"), "x: left has 3 dimensions"),
    ],
)
def test_shapes_that_do_not_fit_are_named(comparison: Comparison, text: str) -> None:
    with pytest.raises(InputError) as error:
        judge(comparison, TWO)
    assert text in str(error.value)


def test_along_training_places_are_steps_else_numbers() -> None:
    judged = judge(at_least([[1.0, 2.0, 0.0]] * 2, 1.0), TWO)
    assert judged.witness is not None
    assert judged.witness["t"] == 100
    other = judge(at_least([[1.0, 2.0, 0.0, 3.0]] * 2, 1.0), TWO)
    assert other.witness is not None
    assert other.witness["t"] == 2
