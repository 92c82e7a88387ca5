"""Inequalities on made-up evidence."""

import numpy as np
import pytest
from oracles.made_up import evidence

from lemmata._errors import InputError
from lemmata.claims import Status, at_least, at_most, judge

EPS = float(np.finfo(float).eps)
NAN = np.nan


def test_margin_and_witness_are_those_of_the_closest_place() -> None:
    left = [[5.0, 3.0, 9.0], [4.0, 7.0, 2.5]]
    judged = judge(at_least(left, 2.0), evidence(2, [1, 10, 100]))
    assert judged.status is Status.HOLDS
    assert judged.margin == 0.5
    assert judged.witness == {"dataset": "b", "t": 100, "left": 2.5, "right": 2.0}
    assert judged.case == 1


def test_margin_and_witness_are_those_of_the_most_violated_place() -> None:
    left = [[1.9, 3.0, 9.0], [4.0, 7.0, 0.5]]
    judged = judge(at_least(left, 2.0), evidence(2, [1, 10, 100]))
    assert judged.status is Status.FAILS
    assert judged.margin == -1.5
    assert judged.witness == {"dataset": "b", "t": 100, "left": 0.5, "right": 2.0}
    assert "b at t = 100" in judged.reason


def test_at_most_is_the_other_way_round() -> None:
    assert judge(at_most([[1.0, 2.0]], 2.0), evidence()).status is Status.HOLDS
    judged = judge(at_most([[1.0, 2.5]], 2.0), evidence())
    assert judged.status is Status.FAILS
    assert judged.margin == -0.5


@pytest.mark.parametrize(("excess", "status"), [(40, Status.HOLDS), (90, Status.FAILS)])
def test_rounding_is_allowed_for_relative_to_the_sides(excess: int, status: Status) -> None:
    for size in (1e-200, 1.0, 1e200):
        judged = judge(at_least([[size * (1 - excess * EPS)]], size), evidence())
        assert judged.status is status
    if status is Status.HOLDS:
        assert judged.margin == 0.0, "what is only rounding is no violation"


def test_along_training_every_step_may_round_once() -> None:
    off = 1 - 500 * EPS
    late, early = evidence(1, [1000, 2000]), evidence(1, [1, 2])
    assert judge(at_least([[off, off]], 1.0), late).status is Status.HOLDS
    assert judge(at_least([[off, off]], 1.0), early).status is Status.FAILS


def test_rounding_of_its_own_and_what_it_is_relative_to() -> None:
    assert judge(at_least([[-1e-9]], 0.0), evidence()).status is Status.FAILS
    allowed = at_least([[-1e-9]], 0.0, rounding=1e-12, size=1e4)
    assert judge(allowed, evidence()).status is Status.HOLDS
    assert judge(at_least([[-1e-7]], 0.0, rounding=1e-12, size=1e4), evidence()).status == "fails"


def test_every_case_has_its_own_rounding() -> None:
    left, rounding = [[1 - 1e-6], [1 - 1e-6]], [[1e-3], [1e-9]]
    judged = judge(at_least(left, 1.0, rounding=rounding), evidence(2))
    assert judged.status is Status.FAILS
    assert judged.witness is not None
    assert judged.witness["dataset"] == "b"


def test_a_strict_bound_is_not_met_by_equality() -> None:
    assert judge(at_least([[0.0]], 0.0, strict=True), evidence()).status is Status.FAILS
    assert judge(at_least([[0.0]], 0.0), evidence()).status is Status.HOLDS
    assert judge(at_least([[1e-300]], 0.0, strict=True), evidence()).status is Status.HOLDS
    assert judge(at_most([[1.0]], 1.0, strict=True, rounding=0.0), evidence()).status == "fails"


def test_a_strict_bound_within_rounding_cannot_be_told() -> None:
    judged = judge(at_least([[1 + EPS]], 1.0, strict=True), evidence())
    assert judged.status is Status.UNDECIDED
    assert "too near" in judged.reason


def test_nothing_is_said_where_a_side_is_not_known() -> None:
    judged = judge(at_least([[NAN, 3.0]], [[9.0, 1.0]]), evidence())
    assert judged.status is Status.HOLDS
    assert judged.margin == 2.0
    assert judge(at_least([[3.0, 3.0]], [[NAN, 9.0]]), evidence()).status is Status.FAILS


def test_unknown_everywhere_is_undecided() -> None:
    judged = judge(at_least([[NAN, 1.0]], [[1.0, NAN]]), evidence())
    assert judged.status is Status.UNDECIDED


def test_no_case_at_all_is_inapplicable() -> None:
    assert judge(at_least(np.zeros((0, 3)), 0.0), evidence(0)).status is Status.INAPPLICABLE


def test_a_statement_about_later_steps() -> None:
    left = [[-1.0, -1.0, 2.0]]
    steps = evidence(1, [1, 10, 100])
    assert judge(at_least(left, 1.0, from_step=100), steps).status is Status.HOLDS
    assert judge(at_least(left, 1.0, from_step=10), steps).status is Status.FAILS
    judged = judge(at_least(left, 1.0, from_step=[101]), steps)
    assert judged.status is Status.UNDECIDED
    assert judged.informative_from == 101


def test_every_case_starts_to_speak_at_its_own_step() -> None:
    left = [[-1.0, 2.0], [-1.0, 2.0]]
    judged = judge(at_least(left, 1.0, from_step=[10, 1]), evidence(2, [1, 10]))
    assert judged.status is Status.FAILS
    assert judged.witness is not None
    assert judged.witness["dataset"] == "b"


def test_equal_infinities_are_equal() -> None:
    assert judge(at_least([[np.inf, 2.0]], [[np.inf, 1.0]]), evidence()).margin == 0.0
    assert judge(at_least([[-np.inf]], [[-np.inf]]), evidence()).status is not Status.FAILS
    assert judge(at_least([[-np.inf]], [[1.0]]), evidence()).status is Status.FAILS
    assert judge(at_least([[1.0]], [[np.inf]]), evidence()).status is Status.FAILS


def test_a_bound_that_nothing_sharper_could_break_decides_nothing() -> None:
    judged = judge(at_least([[np.inf, np.inf]], 3.0), evidence())
    assert judged.status is Status.UNDECIDED
    assert "no sharper bound" in judged.reason


def test_vacuous_if_one_case_has_no_informative_bound() -> None:
    bound = [[-5.0, 0.5], [-5.0, -1.0]]
    judged = judge(at_least(np.ones((2, 2)), bound, baseline=0.0), evidence(2, [1, 2]))
    assert judged.status is Status.VACUOUS
    assert "on 1 of 2 cases" in judged.reason
    assert "at most 0.5" in judged.reason
    assert judge(at_least([[1.0, 1.0]], [[-5.0, 0.5]], baseline=0.0), evidence()).status == "holds"


def test_a_bound_equal_to_the_baseline_excludes_nothing() -> None:
    assert judge(at_least([[1.0]], 0.0, baseline=0.0), evidence()).status is Status.VACUOUS
    assert judge(at_most([[1.0]], 2.0, baseline=2.0), evidence()).status is Status.VACUOUS
    assert judge(at_most([[1.0]], 1.9, baseline=2.0), evidence()).status is Status.HOLDS
    assert judge(at_most([[1.0]], 2.1, baseline=2.0), evidence()).status is Status.VACUOUS


def test_a_bound_does_not_inform_where_the_statement_is_silent() -> None:
    judged = judge(at_least([[NAN, 1.0]], [[0.9, -1.0]], baseline=0.0), evidence())
    assert judged.status is Status.VACUOUS
    later = at_least([[1.0, 1.0]], [[0.9, -1.0]], baseline=0.0, from_step=2)
    assert judge(later, evidence(1, [1, 2])).status is Status.VACUOUS


def test_a_false_bound_fails_even_if_it_is_vacuous() -> None:
    assert judge(at_least([[-2.0]], -1.0, baseline=0.0), evidence()).status is Status.FAILS


def test_from_when_on_a_vacuous_bound_would_speak() -> None:
    comparison = at_least(np.ones((3, 1)), -1.0, baseline=0.0, informative_from=[50.0, np.inf, 7.0])
    judged = judge(comparison, evidence(3))
    assert judged.informative_from == 7.0
    assert "from t = 7 (c) to 50 (a)" in judged.reason
    never = at_least([[1.0]], -1.0, baseline=0.0, informative_from=[np.inf])
    assert "at no t" in judge(never, evidence()).reason


def test_tightness_is_the_factor_by_which_a_bound_could_be_sharper() -> None:
    left, right = [[10.0, 6.0], [8.0, 30.0]], [[2.0, 2.0], [1.0, 10.0]]
    judged = judge(at_least(left, right), evidence(2, [5, 6]))
    assert judged.tightness is not None
    assert judged.tightness.factor == 3.0
    assert (judged.tightness.dataset, judged.tightness.t) == ("a", 6)
    assert judged.tightness.amount == 4.0


def test_tightness_of_an_upper_bound() -> None:
    judged = judge(at_most([[0.1, 0.5]], [[1.0, 4.0]]), evidence())
    assert judged.tightness is not None
    assert judged.tightness.factor == pytest.approx(8.0)


def test_tightness_of_negative_sides() -> None:
    judged = judge(at_least([[-2.0, -3.0]], [[-8.0, -6.0]]), evidence())
    assert judged.tightness is not None
    assert judged.tightness.factor == pytest.approx(2.0)


def test_no_factor_between_sides_of_different_signs() -> None:
    judged = judge(at_least([[2.0, 3.0]], [[-1.0, 1.0]]), evidence())
    assert judged.tightness is not None
    assert judged.tightness.factor is None
    assert judged.tightness.amount == 2.0
    zero = judge(at_least([[2.0, 5.0]], 0.0), evidence()).tightness
    assert zero is not None
    assert (zero.factor, zero.amount) == (None, 2.0)


def test_tightness_counts_only_where_the_bound_informs() -> None:
    judged = judge(at_least([[1.0, 9.0]], [[-3.0, 3.0]], baseline=0.0), evidence())
    assert judged.tightness is not None
    assert judged.tightness.factor == 3.0


@pytest.mark.parametrize(
    ("value", "status"), [(1.5, Status.HOLDS), (1.3, Status.UNDECIDED), (0.7, Status.UNDECIDED)]
)
def test_an_average_within_four_standard_errors_decides_nothing(
    value: float, status: Status
) -> None:
    assert judge(at_least([[value]], 1.0, error=0.1), evidence()).status is status


def test_an_average_clearly_below_fails() -> None:
    assert judge(at_least([[0.5]], 1.0, error=0.1), evidence()).status is Status.FAILS
    assert judge(at_most([[0.5]], 1.0, error=0.1), evidence()).status is Status.HOLDS
    assert judge(at_most([[1.5]], 1.0, error=0.1), evidence()).status is Status.FAILS


def test_lists_are_one_number_a_case_or_one_a_record() -> None:
    two = evidence(2, [1, 10, 100])
    assert judge(at_least([3.0, 5.0], 4.0), two).margin == -1.0
    assert judge(at_least(np.ones((2, 3)), [0.5, 0.5, 2.0]), two).witness == {
        "dataset": "a",
        "t": 100,
        "left": 1.0,
        "right": 2.0,
    }
    assert judge(at_least(np.full((2, 3), 4.0), [3.0, 5.0]), two).witness["dataset"] == "b"  # pyright: ignore[reportOptionalSubscript]


def test_lists_alone_are_rows_of_records() -> None:
    two = evidence(2, [1, 10, 100])
    judged = judge(at_least([3.0, 5.0, -1.0], 0.0), two)
    assert judged.witness == {"dataset": "a", "t": 100, "left": -1.0, "right": 0.0}
    assert judge(at_least([5.0], [3.0, 4.0]), two).margin == 1.0
    longer = judge(at_least([[1.0]], [0.0, 2.0, 0.5]), evidence())
    assert longer.witness == {"dataset": "a", "t": 1, "left": 1.0, "right": 2.0}
    with pytest.raises(InputError, match=r"neither one a case \(2\) nor one a record \(1\)"):
        judge(at_least([[1.0], [1.0]], [0.0, 2.0, 0.5, 4.0]), two)


def test_differences_of_records_belong_to_the_earlier_step() -> None:
    judged = judge(at_least([[1.0, -1.0]], 0.0), evidence(1, [1, 10, 100]))
    assert judged.witness is not None
    assert judged.witness["t"] == 10


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="neither one a case"):
        judge(at_least([1.0, 2.0, 3.0, 4.0], 0.0), evidence(2, [1, 2, 3]))
    with pytest.raises(InputError, match="shapes do not fit"):
        judge(at_least(np.ones((2, 3)), np.ones((2, 4))), evidence(2))
    with pytest.raises(InputError, match="shapes do not fit"):
        judge(at_least(np.ones((3, 3)), 0.0), evidence(2))
    with pytest.raises(InputError, match="3 dimensions"):
        judge(at_least(np.ones((2, 2, 2)), 0.0), evidence(2))


def test_rows_and_places_of_its_own() -> None:
    comparison = at_least([[1.0], [-1.0]], 0.0, cases=["first", "second"], places=[7.5])
    judged = judge(comparison, evidence(5, [1, 2]))
    assert judged.witness == {"dataset": "second", "t": 7.5, "left": -1.0, "right": 0.0}
