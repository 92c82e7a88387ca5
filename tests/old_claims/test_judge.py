"""The verdict semantics, on numbers small enough to judge by eye."""

import numpy as np
import pytest

from lemmata.old_claims import Judgement, Status, at_least, combine, equal

STEPS = np.array([0, 1, 2])
ONE, TWO = ["small"], ["small", "large"]


def rows(*values: list[float]) -> np.ndarray:
    return np.array(values, dtype=float)


def test_a_true_and_informative_bound_holds_with_its_smallest_margin():
    found = at_least(
        "x", rows([3.0, 2.5, 4.0]), rows([1.0, 2.0, 3.0]), steps=STEPS, names=ONE, baseline=0.0
    )
    assert found.status is Status.HOLDS
    assert found.margin == 0.5
    assert found.witness is not None
    assert found.witness["t"] == 1


def test_a_violation_fails_with_the_first_step_of_the_first_dataset():
    measured = rows([1.0, 0.5, 0.0], [0.0, 0.0, 0.0])
    found = at_least("x", measured, np.full((2, 3), 0.6), steps=STEPS, names=TWO)
    assert found.status is Status.FAILS
    assert found.witness == {"dataset": "small", "t": 1, "left": 0.5, "right": 0.6}
    assert found.margin == -0.6


def test_a_bound_below_the_baseline_is_vacuous_and_says_when_it_would_not_be():
    found = at_least(
        "x",
        rows([1.0, 1.0, 1.0]),
        rows([-9.0, -5.0, -2.0]),
        steps=STEPS,
        names=ONE,
        baseline=0.0,
        informative_from=[17.0],
    )
    assert found.status is Status.VACUOUS
    assert found.informative_from == 17.0


def test_one_silent_dataset_is_enough_to_be_vacuous():
    bound = rows([0.5, 0.5, 0.5], [-1.0, -1.0, -1.0])
    found = at_least(
        "x",
        np.ones((2, 3)),
        bound,
        steps=STEPS,
        names=TWO,
        baseline=0.0,
        informative_from=[1.0, 40.0],
    )
    assert found.status is Status.VACUOUS
    assert found.informative_from == 40.0
    assert "1 of 2 datasets" in found.reason


def test_a_false_bound_fails_even_where_it_is_below_the_baseline():
    found = at_least("x", rows([-3.0]), rows([-2.0]), steps=STEPS[:1], names=ONE, baseline=0.0)
    assert found.status is Status.FAILS


def test_a_statement_about_later_steps_is_undecided_in_a_short_run():
    found = at_least(
        "x", rows([1.0, 1, 1]), rows([0.0, 0, 0]), steps=STEPS, names=ONE, from_step=np.array([9.0])
    )
    assert found.status is Status.UNDECIDED
    assert found.informative_from == 9.0


def test_nan_means_that_the_statement_does_not_speak_there():
    found = at_least("x", rows([np.nan, 1, 1]), rows([5.0, 0, 0]), steps=STEPS, names=ONE)
    assert found.status is Status.HOLDS


def test_strict_inequalities_exclude_equality():
    same = rows([1.0, 1.0, 1.0])
    assert at_least("x", same, same, steps=STEPS, names=ONE).status is Status.HOLDS
    assert at_least("x", same, same, steps=STEPS, names=ONE, strict=True).status is Status.FAILS


@pytest.mark.parametrize(("error", "status"), [(1e-13, Status.HOLDS), (1e-11, Status.FAILS)])
def test_identities_are_judged_against_the_rounding_error(error: float, status: Status):
    left = rows([1.0, 2.0, 3.0])
    found = equal("x", left, left + error, steps=STEPS, names=ONE, tolerance=1e-12)
    assert found.status is status


def test_a_statement_is_as_good_as_its_worst_part():
    parts = [Judgement("a", Status.HOLDS, "", 0.5), Judgement("b", Status.VACUOUS, "", 2.0)]
    assert combine(parts).part == "b"
    assert combine([*parts, Judgement("c", Status.FAILS, "")]).part == "c"
    assert combine([*parts, Judgement("d", Status.INAPPLICABLE, "")]).part == "d"
    assert combine([Judgement("e", Status.HOLDS, "", 3.0), parts[0]]).part == "e"
