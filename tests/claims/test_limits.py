"""Limits on curves whose limit is known."""

from typing import Any

import numpy as np
import pytest
from oracles.made_up import evidence

from lemmata._errors import StatementError
from lemmata.claims import Limit, Status, judge, tends_to
from lemmata.claims._trends import Trend

T = np.unique(np.rint(np.geomspace(1, 1e5, 80)))
LAWS = {
    "1/t": 1 / T,
    "3/t^2": 3 / T**2,
    "1/sqrt(t)": T**-0.5,
    "exponential": np.exp(-T / 1e3),
    "1/log^2": 1 / np.log(T + 1) ** 2,
}


@pytest.mark.parametrize("law", LAWS)
def test_a_curve_that_tends_to_its_target(law: str) -> None:
    judged = judge(tends_to(7 + LAWS[law][None], 7.0), evidence(1, T))
    assert judged.status is Status.HOLDS, judged.reason
    assert judged.resolution is not None
    assert judged.resolution < 0.1


@pytest.mark.parametrize("law", ["1/t", "3/t^2", "1/sqrt(t)", "exponential"])
def test_a_curve_that_tends_to_something_else(law: str) -> None:
    judged = judge(tends_to(7.3 + LAWS[law][None], 7.0), evidence(1, T))
    assert judged.status is Status.FAILS, judged.reason
    assert judged.witness is not None
    assert judged.witness["extrapolated"] == pytest.approx(0.3, rel=0.05)
    assert judged.margin is not None
    assert judged.margin < 0


def test_a_small_wrong_target_is_rejected_when_the_run_is_long_enough() -> None:
    curve = 1 / T[None]
    assert judge(tends_to(curve, 0.0), evidence(1, T)).status is Status.HOLDS
    assert judge(tends_to(curve, -1e-4), evidence(1, T)).status is Status.FAILS


def test_a_stalled_curve_has_no_limit_at_zero() -> None:
    stalled = np.maximum(1 / T, 5e-3)[None]
    assert judge(tends_to(stalled, 0.0), evidence(1, T)).status is Status.FAILS


def test_a_curve_that_never_moves_settles_where_it_is() -> None:
    """The target is 0 unless it is said, and what stands still elsewhere fails."""
    still = np.full((1, len(T)), 0.5)
    assert judge(tends_to(still), evidence(1, T)).status is Status.FAILS
    assert judge(tends_to(still, 0.5), evidence(1, T)).status is Status.HOLDS
    assert judge(Limit(1 / T[None]), evidence(1, T)).status is Status.HOLDS
    assert judge(tends_to(1 / T[None]), evidence(1, T)).status is Status.HOLDS


@pytest.mark.parametrize("curve", [np.ones(3), [1, 2, 3], 1.0])
def test_the_ends_of_curves_are_no_curves(curve: Any) -> None:
    with pytest.raises(StatementError, match="a limit is one of a curve, with one row a case"):
        judge(tends_to(curve, 1.0), evidence(3, T))
    with pytest.raises(StatementError, match="tends_to: a limit is one of a curve"):
        judge(tends_to(curve, np.inf), evidence(3))


def test_a_run_of_one_record_is_too_short_for_a_limit() -> None:
    judged = judge(tends_to(np.ones(3), 1.0), evidence(3, np.array([0])))
    assert judged.status is Status.UNDECIDED
    alone = judge(tends_to(LAWS["1/t"], 0.0), evidence(3, T))  # one curve for all
    assert alone.status is Status.HOLDS


def test_a_curve_that_waits_refutes_nothing_before_it_has_moved() -> None:
    """A saddle looks like a limit: the way there is short, and the way on has not begun."""
    saddle = 0.97 + 0.03 / T[None]
    assert judge(tends_to(saddle), evidence(1, T)).status is Status.FAILS
    judged = judge(tends_to(saddle, waits=True), evidence(1, T))
    assert judged.status is Status.UNDECIDED
    assert "too short" in judged.reason
    assert judge(tends_to(0.9 + saddle, 0.9, waits=True), evidence(1, T)).status is judged.status
    arrived = 0.3 + 0.7 / T[None]
    assert judge(tends_to(arrived, waits=True), evidence(1, T)).status is Status.FAILS


def test_the_top_of_a_hump_is_no_limit_of_a_curve_that_waits() -> None:
    """It stands still for a moment: since a quarter of the run it moved half of what is left."""
    hump = 1.085 - 0.5 * np.exp(-T[None] / 1e4) - 1e-7 * T[None]
    assert judge(tends_to(hump, 1.0), evidence(1, T)).status is Status.FAILS
    assert judge(tends_to(hump, 1.0, waits=True), evidence(1, T)).status is Status.UNDECIDED


def test_rounding_is_relative_to_the_curve_and_not_to_its_distance() -> None:
    """A quotient that is 1 up to its last bits tends to 1."""
    bits = np.finfo(float).eps * np.array([0.0, 1.0, 2.0, 3.0])[np.arange(len(T)) % 4]
    bits[-8:] = 3 * np.finfo(float).eps
    judged = judge(tends_to((1 + bits)[None], 1.0), evidence(1, T))
    assert judged.status is Status.HOLDS
    assert judged.resolution is not None
    assert judged.resolution < 1e-9


def test_a_slow_way_is_not_refuted_by_a_law_that_bends_too_soon() -> None:
    """(log t + 4)^-2 goes to 0; a power of log t that fits it ends up elsewhere."""
    t = np.unique(np.rint(np.geomspace(1, 4_000, 60)))
    for shift in (1.0, 2.0, 4.0):
        curve = 1 / (np.log(t) + shift)[None] ** 2
        assert judge(tends_to(curve, 0.0), evidence(1, t)).status is not Status.FAILS


def test_a_short_run_decides_nothing() -> None:
    slow = np.exp(-T / 1e7)[None]
    assert judge(tends_to(slow, 0.0), evidence(1, T)).status is Status.UNDECIDED
    few = evidence(1, [1, 2, 3, 4])
    judged = judge(tends_to([[1.0, 0.5, 0.3, 0.25]], 0.0), few)
    assert judged.status is Status.UNDECIDED
    assert "too short" in judged.reason


def test_a_logarithmic_way_to_another_limit_is_not_refuted_by_force() -> None:
    """1/log t is still far away and slow: no verdict either way is sound."""
    judged = judge(tends_to(1 / np.log(T + 20)[None] - 0.05, 0.0), evidence(1, T))
    assert judged.status is Status.UNDECIDED


def test_a_curve_that_still_moves_refutes_nothing() -> None:
    """It bends so that a power law overshoots the target; the run just ends too early."""
    late = T <= 4_000
    curve = 1 / (1 + (T[late] / 3_000) ** 2)
    judged = judge(tends_to(curve[None], 0.0), evidence(1, T[late]))
    assert judged.status is Status.UNDECIDED


def test_the_law_that_theory_gives_is_used() -> None:
    law = 1 / np.log(T + 5)
    curve = 2 * law[None]
    judged = judge(tends_to(curve, 0.0, trend=law), evidence(1, T))
    assert judged.status is Status.HOLDS
    assert "as stated" in judged.reason


def test_growth_without_bound() -> None:
    assert judge(tends_to(T[None] ** 0.7, np.inf), evidence(1, T)).status is Status.HOLDS
    assert judge(tends_to(-(T[None] ** 0.7), -np.inf), evidence(1, T)).status is Status.HOLDS
    bounded = 3 - 1 / T[None]
    assert judge(tends_to(bounded, np.inf), evidence(1, T)).status is Status.FAILS


def test_reached_up_to_rounding() -> None:
    curve = np.where(T > 1e3, 1e-17, 1 / T)[None]
    judged = judge(tends_to(curve, 0.0), evidence(1, T))
    assert judged.status is Status.HOLDS
    assert "reached" in judged.reason


def test_the_worst_curve_speaks() -> None:
    curves = np.stack([1 / T, 0.2 + 1 / T])
    judged = judge(tends_to(curves, 0.0), evidence(2, T))
    assert judged.status is Status.FAILS
    assert judged.witness is not None
    assert judged.witness["dataset"] == "b"
    assert judged.case == 1


def test_every_curve_has_its_own_target() -> None:
    curves = np.stack([1 / T, 4 - 1 / T])
    assert judge(tends_to(curves, [0.0, 4.0]), evidence(2, T)).status is Status.HOLDS
    assert judge(tends_to(curves, [4.0, 0.0]), evidence(2, T)).status is Status.FAILS


def test_noise_is_part_of_the_error() -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, len(T))
    judged = judge(tends_to((1 / T + noise)[None], 0.0), evidence(1, T))
    assert judged.status in (Status.HOLDS, Status.UNDECIDED)
    far = judge(tends_to((0.5 + 1 / T + noise / 10)[None], 0.0), evidence(1, T))
    assert far.status is Status.FAILS


def test_a_limit_that_is_known_to_a_tenth_of_the_way_is_known() -> None:
    """Noise that alternates is as large as its residual, twice which is the error."""
    for noise, status in ((0.012, Status.HOLDS), (0.03, Status.UNDECIDED)):
        curve = 1 / T + noise * (-1.0) ** np.arange(len(T))
        judged = judge(tends_to(curve[None], 0.0), evidence(1, T))
        assert judged.resolution is not None
        assert 0.05 < judged.resolution < 0.2
        assert judged.status is status, judged.resolution


def test_no_case_is_inapplicable() -> None:
    assert judge(tends_to(np.zeros((0, 80)), 0.0), evidence(0, T)).status is Status.INAPPLICABLE


@pytest.mark.parametrize(
    ("errors", "status"),
    [(0.9, Status.HOLDS), (1.1, Status.UNDECIDED), (1.9, Status.UNDECIDED), (2.1, Status.FAILS)],
)
def test_a_limit_is_wrong_by_twice_its_error(
    errors: float, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    trend = Trend(errors * 1e-3, 1e-3, 1.0, errors * 1e-3, "made up", True)
    monkeypatch.setattr("lemmata.claims._limit.fit_trend", lambda *_, **__: trend)
    found = judge(tends_to(np.ones((1, 9)), 1.0), evidence(1, np.arange(1, 10)))
    assert found.status is status
