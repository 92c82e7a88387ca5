"""Trends: every law that is known, the error of an extrapolation, and when a curve settles."""

import numpy as np
import pytest
from oracles.made_up import evidence

from lemmata.claims import Status, judge, tends_to
from lemmata.claims._trends import Trend, _moved_and_stands, _settles, fit_trend

T = np.geomspace(4.0, 1e4, 60)

KNOWN = {
    **{f"t^-{p:g}": T**-p for p in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)},
    **{f"(log t)^-{p:g}": np.log(T) ** -p for p in (1.0, 2.0, 3.0)},
    **{f"exp(-{r / 1e4:.2g} t)": np.exp(-r * T / 1e4) for r in (1.0, 3.0, 10.0, 30.0, 100.0)},
}


def fit(curve: np.ndarray, **options: np.ndarray | None) -> Trend:
    given = {"trend": None, "rounding": 1e-16, "height": np.nanmax(curve), "size": None} | options
    trend = fit_trend(T, curve, **given)  # pyright: ignore[reportArgumentType]
    assert trend is not None
    return trend


@pytest.mark.parametrize("law", KNOWN)
def test_a_curve_that_follows_a_law_is_extrapolated_by_it(law: str) -> None:
    shape = KNOWN[law] / KNOWN[law].max()
    trend = fit(0.7 + 5 * shape)
    assert trend.law == law
    assert trend.offset == pytest.approx(0.7, abs=1e-9)
    assert trend.last == 0.7 + 5 * shape[-1]
    assert trend.size == pytest.approx(5.7)


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_a_stated_law_of_any_size_is_the_same_law(size: float) -> None:
    trend = fit(0.7 + 5 * KNOWN["t^-2"], trend=size * KNOWN["t^-2"])
    assert trend.offset == pytest.approx(0.7, abs=1e-9)


def test_a_stated_law_that_is_zero_leaves_the_average_of_the_end() -> None:
    curve = 2 + KNOWN["t^-1"]
    trend = fit(curve, trend=np.zeros(len(T)))
    assert trend.offset == pytest.approx(curve[T >= 1e4 / 4].mean(), rel=1e-12)


def test_no_extrapolation_is_trusted_beyond_a_tenth_of_what_is_left() -> None:
    trend = fit(2 + 3 * KNOWN["t^-1"])
    assert trend.error == pytest.approx(0.1 * trend.last)
    assert trend.resolution == pytest.approx(trend.error / trend.size)


def test_the_error_covers_the_residual_and_laws_that_fit_as_well() -> None:
    wave = 1e-3 * np.sin(np.arange(len(T)))
    assert 2e-3 < fit(KNOWN["t^-1"] + wave).error < 2e-2
    between = KNOWN["t^-1"] + KNOWN["t^-1.5"]
    assert fit(between).error > 3 * abs(fit(between).offset)


def test_the_error_is_what_both_windows_and_twice_the_residual_say() -> None:
    """Least squares for a law that is stated; the end is 0, so that no modesty is added."""
    law = KNOWN["t^-0.5"]
    curve = 3 * law + 1e-2 * (-1.0) ** np.arange(len(T))
    curve -= curve[-1]

    def line(part: np.ndarray) -> tuple[float, float]:
        x, y = law[part], curve[part]
        slope = np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2)
        offset = y.mean() - slope * x.mean()
        return offset, np.sqrt(np.mean((y - offset - slope * x) ** 2))

    (whole, residual), (late, _) = line(T >= 1e4 / 16), line(T >= 1e4 / 4)
    trend = fit(curve, trend=law)
    assert trend.offset == pytest.approx(late, rel=1e-9)
    assert trend.error == pytest.approx(abs(whole - late) + 2 * residual, rel=1e-9)


def test_a_size_of_its_own_says_what_the_whole_way_is() -> None:
    assert fit(KNOWN["t^-1"], size=np.full(len(T), 8.0)).size == 8.0


def test_a_curve_below_rounding_has_arrived() -> None:
    trend = fit(np.where(T > 100, 1e-18, 1.0))
    assert (trend.offset, trend.settles, trend.law) == (0.0, True, "reached, up to rounding")
    assert trend.error == pytest.approx(1e-16)


def test_only_the_end_counts() -> None:
    """A sixteenth of the run is looked at; before it, anything may happen."""
    curve = 0.5 + KNOWN["t^-1"]
    wild = np.where(T < 1e4 / 16.5, np.sin(T), curve)
    assert fit(wild).offset == pytest.approx(0.5, abs=1e-9)
    wild = np.where(T < 1e4 / 10, 1 + np.sin(T), curve)
    assert abs(fit(wild).offset - 0.5) > 1e-9


def test_records_before_the_second_step_and_unknown_ones_do_not_count() -> None:
    t = np.array([0.0, 1.0, *np.geomspace(2, 100, 6)])
    d = np.array([9.0, 9.0, *(1 / t[2:])])
    assert fit_trend(t, d, trend=None, rounding=1e-16, height=1.0, size=None) is not None
    d[4] = np.nan
    assert fit_trend(t, d, trend=None, rounding=1e-16, height=1.0, size=None) is None


def curve_with(early: float, middle: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Values a quarter and half way through, and at the end."""
    return np.array([1.0, 2.0, 4.0]), np.array([early, middle, end])


@pytest.mark.parametrize(
    ("values", "offset", "settles"),
    [
        ((8.0, 4.0, 3.0), 2.0, False),  # the last change is more than a quarter of the end
        ((8.0, 5.0, 4.0), 2.0, True),  # a quarter exactly, and a third of the change before
        ((5.0, 4.5, 4.1), 2.0, False),  # 0.4 after 0.5: not clearly slower
        ((5.0, 4.5, 4.2), 2.5, True),  # 0.3 after 0.5
        ((5.0, 4.5, 4.2), 2.0, False),  # 2.2 are left to the limit: it is nearer to the target
        ((4.02, 4.01, 4.0), 4.0, True),  # as fast as before, but flat: within a hundredth
        ((4.02, 4.01, 3.995), 4.0, False),  # flat, but faster than before
        ((4.4, 4.2, 4.0), 4.0, False),
    ],
)
def test_when_a_curve_settles(
    values: tuple[float, float, float], offset: float, settles: bool
) -> None:
    t, d = curve_with(*values)
    assert _settles(t, d, offset, 0.0) is settles


@pytest.mark.parametrize(
    ("early", "late", "stands"),
    [
        (2.1, 0.19, True),  # of 2: all of it before a quarter of the run, less since
        (-2.1, -0.19, True),
        (1.9, 0.0, False),  # it has not gone as far as is left
        (2.5, 0.21, False),  # it still moves
    ],
)
def test_when_a_curve_that_waits_has_moved_and_stands(
    early: float, late: float, stands: bool
) -> None:
    t, offset = np.array([1.0, 7.0, 8.0, 16.0, 32.0]), 2.0
    d = np.array([np.nan, 3 + early, 3 + late, 3.0, 3.0])
    assert _moved_and_stands(t, d, offset) is stands
    assert _moved_and_stands(t, -d, -offset) is stands
    d[1] = 3.0  # all the way is gone since a quarter
    assert _moved_and_stands(t, d, offset) is False


def test_changes_below_rounding_are_none() -> None:
    t, d = curve_with(4.0, 4.0 + 1e-12, 4.0 - 1e-12)
    assert not _settles(t, d, 0.0, 0.0)
    assert _settles(t, d, 4.0, 1e-11)


def test_among_curves_that_hold_the_worst_resolved_speaks() -> None:
    curves = np.stack([T**-2.0, T**-0.5, T**-1.0])
    judged = judge(tends_to(curves, 0.0), evidence(3, T))
    assert judged.status is Status.HOLDS
    assert judged.case == 1
    assert judged.resolution == pytest.approx(fit(curves[1]).resolution)
    assert judged.reason.startswith("it tends to what is stated: on b it ends 0.01 away")


def test_among_wrong_limits_the_one_furthest_off_speaks() -> None:
    curves = np.stack([0.3 + T**-1.0, 0.6 + T**-1.0, 0.4 + T**-1.0])
    judged = judge(tends_to(curves, 0.0), evidence(3, T))
    assert judged.status is Status.FAILS
    assert judged.case == 1
    assert judged.scores is not None
    assert (judged.scores < 0).all()
    assert judged.scores[1] == judged.scores.min()


def test_among_unclear_limits_the_coarsest_speaks() -> None:
    moving = np.stack([np.exp(-T / 1e6), np.exp(-T / 1e5), np.exp(-T / 1e7)])
    judged = judge(tends_to(moving, 0.0), evidence(3, T))
    assert judged.status is Status.UNDECIDED
    assert judged.reason.startswith("the run is too short to tell the limit: on ")


def test_one_curve_too_short_leaves_everything_open() -> None:
    curves = np.stack([T**-1.0, np.where(T < 9e3, np.nan, T**-1.0)])
    judged = judge(tends_to(curves, 0.0, part="loss"), evidence(2, T))
    assert judged.reason == "loss: the run is too short to see a trend on b"
    assert judged.scores is not None
    assert np.isnan(judged.scores[1])


def test_what_cannot_fall_below_its_target_has_no_limit_below_it() -> None:
    """It falls faster at last than any law that is known: it would end below."""
    late = 1 / T - 0.9 / T[-1] * (T / T[-1]) ** 0.5
    assert (late > 0).all()
    assert fit(late).offset < -fit(late).error
    assert fit(late, above=True).offset == 0.0
    assert fit(0.5 + KNOWN["t^-1"], above=True).offset == pytest.approx(0.5)
