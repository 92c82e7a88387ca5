"""Identities, facts, shares and silences on made-up evidence."""

import numpy as np
import pytest
from mpmath import betainc, findroot
from oracles.made_up import evidence

from lemmata._errors import StatementError
from lemmata.claims import (
    Fact,
    Silence,
    Status,
    equal,
    judge,
    mean_of,
    share_at_least,
    share_at_most,
)

EPS = float(np.finfo(float).eps)
NAN = np.nan


def test_a_value_unknown_on_one_side_does_not_hide_a_difference_elsewhere() -> None:
    judged = judge(equal([[1.0, NAN]], [[2.0, 1.0]]), evidence())
    assert judged.status is Status.FAILS
    assert judged.witness == {"dataset": "a", "t": 0, "left": 1.0, "right": 2.0}


def test_known_together_nowhere() -> None:
    assert judge(equal([[1.0, NAN]], [[NAN, 1.0]]), evidence()).status is Status.UNDECIDED
    none = judge(equal(np.zeros((0, 2)), 0.0, part="rows"), evidence(0))
    assert none.status is Status.INAPPLICABLE
    assert none.reason == "rows: there is no case that it speaks of"


def test_rounding_is_relative() -> None:
    for size in (1e-150, 1.0, 1e150):
        assert judge(equal([[size]], size * (1 + 50 * EPS)), evidence()).status is Status.HOLDS
        assert judge(equal([[size]], size * (1 + 90 * EPS)), evidence()).status is Status.FAILS


def test_sixty_four_roundings_are_allowed() -> None:
    assert judge(equal([[1 + 64 * EPS]], 1.0), evidence()).status is Status.HOLDS
    assert judge(equal([[1 + 65 * EPS]], 1.0), evidence()).status is Status.FAILS


def test_every_case_is_judged_by_its_own_rounding() -> None:
    left, right = [[1.0], [1.0]], [[1 + 1e-6], [1 + 1e-6]]
    judged = judge(equal(left, right, rounding=[[1e-3], [1e-9]]), evidence(2))
    assert judged.status is Status.FAILS
    assert judged.witness is not None
    assert judged.witness["dataset"] == "b"


def test_margin_is_what_is_left_of_the_allowance_at_the_worst_place() -> None:
    judged = judge(equal([[1.0, 2.0]], [[1.0, 2.25]], rounding=0.25), evidence())
    assert judged.status is Status.HOLDS
    assert judged.margin == pytest.approx(0.25)
    judged = judge(equal([[1.0, 2.0]], [[1.0, 3.0]], rounding=0.25), evidence())
    assert judged.margin == pytest.approx(0.75 - 1)
    assert judged.witness is not None
    assert judged.witness["right"] == 3.0


def test_resolution_is_the_smallest_change_that_would_have_shown() -> None:
    judged = judge(equal([[1.0, 100.0]], [[1.0, 100.0]], rounding=1e-6, size=10.0), evidence())
    assert judged.resolution == pytest.approx(1e-6)
    own_size = judge(equal([[1.0, 100.0]], [[1.0, 100.0]], rounding=[[1e-3, 1e-5]]), evidence())
    assert own_size.resolution == pytest.approx(1e-5)
    off = judge(equal([[1.0]], [[1.0005]], rounding=1e-3), evidence())
    assert off.resolution == pytest.approx((1.0005e-3 + 5e-4) / 1.0005)


def test_zero_on_both_sides_shows_no_wrong_factor() -> None:
    judged = judge(equal([[0.0, 0.0]], 0.0), evidence())
    assert judged.status is Status.UNDECIDED
    assert judge(equal([[0.0, 1e-12]], 0.0, rounding=1e-9, size=1.0), evidence()).status == "holds"
    assert judge(equal([[0.0, 1e-8]], 0.0, rounding=1e-9, size=1.0), evidence()).status == "fails"


def test_equal_infinities_agree_and_different_ones_do_not() -> None:
    assert judge(equal([[np.inf, 1.0]], [[np.inf, 1.0]]), evidence()).status is Status.HOLDS
    assert judge(equal([[np.inf, 1.0]], [[-np.inf, 1.0]]), evidence()).status is Status.FAILS
    assert judge(equal([[np.inf, 1.0]], [[3.0, 1.0]]), evidence()).status is Status.FAILS


def test_averages_agree_within_four_standard_errors() -> None:
    assert judge(equal([[1.3]], 1.0, error=0.1), evidence()).status is Status.HOLDS
    assert judge(equal([[1.5]], 1.0, error=0.1), evidence()).status is Status.FAILS
    assert judge(equal([[1.0]], 1.0, error=0.3), evidence()).status is Status.UNDECIDED


def test_mean_and_standard_error() -> None:
    draws = np.array([[1.0, 4.0], [3.0, 4.0], [5.0, 4.0]])
    mean, error = mean_of(draws)
    assert mean == pytest.approx([3.0, 4.0])
    assert error == pytest.approx([2 / np.sqrt(3), 0.0])
    assert np.isinf(mean_of([[1.0]])[1]).all()
    pair, error = mean_of([[1.0, 3.0]], axis=1)
    assert (pair.tolist(), error.tolist()) == ([2.0], [pytest.approx(1.0)])


def test_facts() -> None:
    assert judge(Fact(True, "so"), evidence()).status is Status.HOLDS
    judged = judge(Fact(False, "not so", witness={"n": 3}, margin=-1.0, case=0), evidence())
    assert (judged.status, judged.reason, judged.margin) == (Status.FAILS, "not so", -1.0)
    assert (judged.witness, judged.case) == ({"n": 3}, 0)
    assert judge(Fact(True, "so", checked=0), evidence()).status is Status.UNDECIDED


def test_silences() -> None:
    assert judge(Silence("too short"), evidence()).status is Status.UNDECIDED
    assert judge(Silence("no ties", applies=False), evidence()).status is Status.INAPPLICABLE


@pytest.mark.parametrize(
    ("hits", "trials", "status"),
    [
        (99, 100, Status.UNDECIDED),
        (990, 1000, Status.HOLDS),
        (900, 1000, Status.FAILS),
        (100, 100, Status.UNDECIDED),
        (200, 200, Status.HOLDS),
        (0, 3, Status.FAILS),
    ],
)
def test_a_share_is_judged_with_its_confidence_interval(
    hits: int, trials: int, status: Status
) -> None:
    judged = judge(share_at_least([hits], [trials], 0.95), evidence())
    assert judged.status is status
    assert judged.margin == pytest.approx(hits / trials - 0.95)
    mirrored = judge(share_at_most([trials - hits], [trials], 0.05), evidence())
    assert mirrored.status is status


def test_the_interval_is_clopper_and_pearsons() -> None:
    """Its ends are where the tails of the binomial law are 1/2000."""
    judged = judge(share_at_least([[7]], [[20]], 0.0), evidence())
    low = findroot(lambda p: betainc(7, 14, 0, p, regularized=True) - 5e-4, 0.08)
    high = findroot(lambda p: betainc(8, 13, p, 1, regularized=True) - 5e-4, 0.72)
    assert judged.resolution == pytest.approx(float(high - low) / 2, rel=1e-9)
    assert f"between {float(low):.4g} and {float(high):.4g}" in judged.reason


def test_the_interval_at_its_ends() -> None:
    """None of n: up to 1 - a^(1/n), where a is the tail; one of n: from 1 - (1 - a)^(1/n) on."""
    n, a = 20, 5e-4
    for hits, low, high in (
        (0, 0.0, 1 - a ** (1 / n)),
        (1, 1 - (1 - a) ** (1 / n), None),
        (n - 1, None, (1 - a) ** (1 / n)),
        (n, a ** (1 / n), 1.0),
    ):
        reason = judge(share_at_least([[hits]], [[n]], 0.0), evidence()).reason
        between = reason.split("between ")[1].split(";")[0].split(" and ")
        assert low is None or float(between[0]) == pytest.approx(low, rel=1e-3)
        assert high is None or float(between[1]) == pytest.approx(high, rel=1e-3)


@pytest.mark.parametrize("n", [1, 20, 10**6])
def test_all_and_none_never_speak_against_a_chance_of_one_and_of_zero(n: int) -> None:
    assert judge(share_at_least([[n]], [[n]], 1.0), evidence()).status is Status.UNDECIDED
    assert judge(share_at_most([[0]], [[n]], 0.0), evidence()).status is Status.UNDECIDED


def test_the_worst_share_speaks() -> None:
    judged = judge(share_at_least([[990], [700]], 1000, 0.9), evidence(2))
    assert judged.status is Status.FAILS
    assert judged.witness == {"dataset": "b", "t": 0, "left": 0.7, "right": 0.9}
    assert judge(share_at_least([[0]], [[0]], 0.9), evidence()).status is Status.INAPPLICABLE


@pytest.mark.parametrize(
    ("hits", "trials", "told"),
    [
        (5, 3, "5 successes in 3 trials on a"),
        (-1, 3, "-1 successes in 3 trials"),
        (2.5, 3, "2.5 successes in 3 trials"),
        (2, 3.5, "2 successes in 3.5 trials"),
        (1, 0, "1 successes in 0 trials"),
        (1, np.inf, "1 successes in inf trials"),
    ],
)
def test_a_share_is_one_of_counts(hits: float, trials: float, told: str) -> None:
    with pytest.raises(StatementError, match=f"the share: {told}"):
        judge(share_at_least(hits, trials, 0.5), evidence())


def test_nothing_is_said_of_a_share_that_is_not_known() -> None:
    for unknown in ((np.nan, 3, 0.5), (1, np.nan, 0.5), (1, 3, np.nan)):
        assert judge(share_at_least(*unknown), evidence()).status is Status.INAPPLICABLE
    judged = judge(share_at_least([1, np.nan], 3, 0.01), evidence(2))
    assert (judged.status, judged.case) == (Status.UNDECIDED, 0)
    assert judged.resolution is not None
    assert np.isfinite(judged.resolution)
    computed = judge(share_at_least(0.1 * 3 / 0.1, 3, 0.01), evidence())
    assert "3 of 3" in computed.reason
