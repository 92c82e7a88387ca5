"""Functions of NumPy on balls: what they give contains the true value, or they refuse."""

import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from lemmata.search._balls import BallRun, CannotTellError, as_balls, ball, known_by, midpoints

NUMBERS = np.array([[0.25, 1.5, 3.0, 0.75]])


@pytest.fixture
def balls() -> np.ndarray:
    return as_balls(np.array([[arb(x) for x in NUMBERS[0]]], dtype=object))


ONE_BY_ONE = {
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "sqrt": mpmath.sqrt,
    "square": lambda x: x * x,
    "tanh": mpmath.tanh,
    "cosh": mpmath.cosh,
    "sinh": mpmath.sinh,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "arctan": mpmath.atan,
    "sign": mpmath.sign,
    "abs": abs,
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_function_contains_the_true_value(balls: np.ndarray, name: str) -> None:
    with mpmath.workdps(60):
        for value, number in zip(
            np.asarray(getattr(np, name)(balls)).ravel(), NUMBERS.ravel(), strict=True
        ):
            true = ONE_BY_ONE[name](mpmath.mpf(number))
            assert abs(mpmath.mpf(str(value.mid().str(40, radius=False))) - true) < 1e-14
            assert float(value.rad()) < 1e-13


WHOLE = {
    "max": lambda x: np.max(x, axis=1),
    "min of all": lambda x: x.min(),
    "running maximum": lambda x: np.maximum.accumulate(x, axis=1),
    "sums": lambda x: np.cumsum(x, axis=1),
    "mean": lambda x: np.mean(x, axis=1),
    "differences": lambda x: np.diff(x, axis=1),
    "choice": lambda x: np.where(x > 1, x, 0.0),
    "joined": lambda x: np.concatenate([x, 2 * x], axis=1),
    "larger": lambda x: np.maximum(x, 0.8),
    "sums of exponentials": lambda x: np.logaddexp(x, 2 * x),
    "smaller": lambda x: np.minimum(x, 0.8),
    "all numbers": lambda x: x.sum() + np.sum(2 * x, axis=None) * np.ones(1),
    "quotients": lambda x: 1 / x + np.true_divide(x, 3),
    "powers": lambda x: x**2 + x**0.5 + 2.0**x,
    "with an array": lambda x: np.arange(4) * x / np.array([1.0, 2.0, 4.0, 8.0]),
    "turned": lambda x: np.roll(x, 1, axis=1) - x,
    "scaled": lambda x: np.float64(1.5) * x[:, 1:],
}


@pytest.mark.parametrize("name", WHOLE)
def test_arrays_of_balls_do_what_arrays_of_numbers_do(balls: np.ndarray, name: str) -> None:
    expected = WHOLE[name](NUMBERS)
    found = np.atleast_1d(as_balls(np.atleast_1d(WHOLE[name](balls))))
    np.testing.assert_allclose(midpoints(found), np.atleast_1d(expected), rtol=1e-14)


def test_what_would_compare_in_secret_is_refused(balls: np.ndarray) -> None:
    for function in (np.sort, np.median, np.argmax, np.std):
        with pytest.raises(TypeError, match="not written for balls"):
            function(balls)


def test_wide_balls_cannot_be_compared() -> None:
    wide = as_balls(np.array([arb(1, 0.5), arb(3)], dtype=object))
    assert (wide > 0).all()
    with pytest.raises(CannotTellError):
        _ = wide > 1
    assert not (as_balls(np.array([arb("nan")], dtype=object)) > 1).any()
    larger = np.maximum(wide, 1.2)
    assert larger[0].item().contains(arb(1.2))
    assert larger[0].item().contains(arb(1.5))


def test_equality_of_wide_balls_cannot_be_told() -> None:
    wide = as_balls(np.array([arb(0, 0.5), arb(3)], dtype=object))
    for compare in (np.equal, np.not_equal):
        with pytest.raises(CannotTellError):
            compare(wide, 0.25)
    np.testing.assert_array_equal(wide == 2, [False, False])
    np.testing.assert_array_equal(wide[1:] == 3, [True])
    np.testing.assert_array_equal(wide[1:] != 3, [False])
    assert not (wide[1:] > np.nan).any()
    assert not (wide[1:] <= np.nan).any()
    unknown = as_balls(np.array([arb("nan")], dtype=object))
    assert not (unknown == 1).any()
    assert (unknown != 1).all()


@pytest.mark.parametrize(
    ("compare", "below", "same", "above"),
    [
        (np.less, True, False, False),
        (np.less_equal, True, True, False),
        (np.greater, False, False, True),
        (np.greater_equal, False, True, True),
    ],
)
def test_comparisons(compare: Any, below: bool, same: bool, above: bool) -> None:
    three = as_balls(np.array([arb(1), arb(2), arb(3)], dtype=object))
    np.testing.assert_array_equal(compare(three, 2), [below, same, above])
    wide = as_balls(np.array([arb(1.5, 0.5)], dtype=object))
    np.testing.assert_array_equal(compare(wide, 3), [below])
    np.testing.assert_array_equal(compare(wide, 0.5), [above])
    with pytest.raises(CannotTellError):
        compare(wide, 1.75)


def test_a_single_ball_is_compared_like_many(balls: np.ndarray) -> None:
    wide = as_balls(np.array([arb(1, 0.5), arb(3)], dtype=object))
    with pytest.raises(CannotTellError):
        _ = wide[0] > 1
    with pytest.raises(CannotTellError):
        _ = 2 * wide[0] - wide[1] > -1
    with pytest.raises(CannotTellError):
        max(wide[0], 1.2)
    with pytest.raises(CannotTellError):
        _ = wide.max(axis=0) - wide.sum() > -1
    assert max(wide) == 3
    assert balls[0, 1] == 1.5
    assert balls.max() == 3


def test_balls_are_no_numbers_and_no_truth_values(balls: np.ndarray) -> None:
    assert float(balls[0, 1]) == 1.5
    assert float(as_balls(arb(7))) == 7
    for value in (arb(1, 0.5), arb(1) / 3, arb("nan")):
        with pytest.raises(TypeError, match="not one number"):
            float(as_balls(value))
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(balls[0, 0])
    for function in (np.any, np.all, np.logical_not, lambda x: np.logical_or(x, x)):
        with pytest.raises(TypeError, match="not written for balls"):
            function(balls)
    with pytest.raises(TypeError, match="not written for balls"):
        np.where(balls, 1.0, 2.0)
    for method in ("argmax", "argmin", "sort", "argsort", "nonzero"):
        with pytest.raises(TypeError, match="not written for balls"):
            getattr(balls, method)()


def test_the_larger_of_two_where_one_may_be_unknown() -> None:
    first = as_balls(np.array([arb("nan"), arb(2), arb(5)], dtype=object))
    second = np.array([1.0, np.nan, 4.0])
    np.testing.assert_array_equal(midpoints(np.fmax(first, second)), [1.0, 2.0, 5.0])
    np.testing.assert_array_equal(midpoints(np.fmin(first, second)), [1.0, 2.0, 4.0])
    assert np.isnan(midpoints(np.maximum(first, second))[:2]).all()
    np.testing.assert_array_equal(np.isnan(first), [True, False, False])
    np.testing.assert_array_equal(np.isfinite(first), [False, True, True])
    np.testing.assert_array_equal(np.sign(first[1:] - 3), [-1, 1])


def test_numbers_as_balls() -> None:
    old = ctx.prec
    try:
        ctx.prec = 200
        assert (3 * ball(Fraction(1, 3))).contains(arb(1))
        assert float(ball(Fraction(1, 3)).rad()) < 1e-55
        assert ball(True) == 1
        assert ball(np.int64(7)) == 7
        third = known_by(1 / 3)
        assert third.contains(arb(1) / 3)
        assert 0 < float(third.rad()) < 1e-12
        assert known_by(2.0).is_exact()
        assert known_by(Fraction(1, 3)).contains(arb(1) / 3)
        assert float(known_by(Fraction(1, 3)).rad()) < 1e-55
        assert float(known_by(-0.5).rad()) == pytest.approx(0.5 * 2.0**-40, rel=1e-6)
        assert known_by(np.nan).is_nan()
        assert known_by(np.inf) == arb("inf")
    finally:
        ctx.prec = old


def test_truth_values_stay_what_they_are_unless_there_are_balls_among_them() -> None:
    assert as_balls(np.array([True, False], dtype=object)).dtype == bool
    mixed = as_balls(np.array([True, arb(2)], dtype=object))
    np.testing.assert_array_equal(midpoints(mixed), [1.0, 2.0])
    assert as_balls(3) == 3


def test_a_run_of_balls_has_the_interface_of_evidence() -> None:
    instance = SimpleNamespace(name="one", problems=(), size=0.1)
    columns = {"norm": np.array([arb(0), arb(1.5)], dtype=object)}
    run = BallRun(instance, np.array([0, 5]), columns, {})
    assert len(run) == 1
    assert [case.name for case in run] == ["one"]
    assert run.norm.shape == (1, 2)
    assert run.each(lambda case: case.size)[0, 0].item().contains(arb(1) / 10)
    assert [float(step) for step in run.records] == [0.0, 5.0]
    with pytest.raises(AttributeError, match="loss is not known in ball arithmetic"):
        _ = run.loss
    evidence = run.rounded()
    np.testing.assert_array_equal(evidence.norm, [[0.0, 1.5]])
    np.testing.assert_array_equal(evidence.records, [0.0, 5.0])


@dataclass(frozen=True)
class Pair:
    """Two numbers, a matrix, and something inside."""

    name: str
    a: float
    b: float
    matrix: np.ndarray
    inner: "Pair | None" = None

    def scaled(self, factor: float) -> float:
        return factor * self.a


def pair_run(**enclosed: Any) -> BallRun:
    inner = Pair("inner", 0.1, 7.0, np.eye(2))
    return BallRun(Pair("one", 0.1, 0.3, np.full((2, 2), 0.1), inner), None, {}, enclosed)


def test_numbers_of_an_instance_are_balls_wherever_they_stand() -> None:
    (case,) = pair_run().cases
    tenth = arb(1) / 10
    for value in (case.a, case.matrix[0, 1], case.inner.a, case.scaled(1.0)):
        number = ball(np.asarray(value, dtype=object).item())
        assert number.contains(tenth)
        assert 0 < number.rad() < 1e-12
    assert case.inner.b.item() == 7  # whole numbers are exact
    assert case.inner.b.item().is_exact()
    assert case.name == "one"


@dataclass(frozen=True)
class Sizes:
    """Whole numbers."""

    name: str
    q: int
    T: int


NEARLY_ALL = Sizes("nearly all", 49_996, 49_997)

QUOTIENTS = {
    "a quotient": lambda case: 1 - case.q / case.T,
    "a difference first": lambda case: (case.T - case.q) / case.T,
    "by a root of NumPy": lambda case: 1 - np.sqrt(case.q / case.T) ** 2,
    "by a root of floats": lambda case: 1 - math.sqrt(case.q) / math.sqrt(case.T) * 0.5 - 0.5,
    "a negative power": lambda case: case.T**-1,
}


@pytest.mark.parametrize("how", QUOTIENTS)
def test_quotients_of_whole_numbers_are_no_more_exact_than_they_are(how: str) -> None:
    """``1 - q / T`` is taken in floating point by whoever writes it, and cancels."""
    run = BallRun(NEARLY_ALL, None, {}, {})
    found = ball(run.each(QUOTIENTS[how]).item())
    q, T = Fraction(NEARLY_ALL.q), Fraction(NEARLY_ALL.T)
    root = mpmath.mp.clone()
    root.dps = 40
    true = {"by a root of floats": (1 - root.sqrt(root.mpf(49_996) / 49_997)) / 2}
    exact = true.get(how, root.mpf((1 - q / T).numerator) / (1 - q / T).denominator)
    assert found.overlaps(arb(str(exact)))
    assert found.rad() < 1e-9


def test_whole_numbers_stay_whole_as_long_as_they_can() -> None:
    run = BallRun(NEARLY_ALL, None, {}, {})
    for value, exact in (
        (lambda case: case.T * case.T - case.q % 7, 49_997**2 - 49_996 % 7),
        (lambda case: -case.T // 2 + abs(case.q), -49_997 // 2 + 49_996),
        (lambda case: [case.T**2, len(range(case.q))][0], 49_997**2),
    ):
        found = ball(run.each(value).item())
        assert found.is_exact()
        assert found == exact


def test_what_is_enclosed_is_taken_instead() -> None:
    third = arb(1) / 3
    (case,) = pair_run(a=third, matrix=np.array([[third]], dtype=object)).cases
    assert case.a.item() is third
    assert case.matrix[0, 0].item() is third


def test_a_ball_is_never_taken_for_its_middle() -> None:
    """``math.sqrt`` and conversions to floats would forget the radius."""
    (case,) = pair_run().cases
    with pytest.raises(TypeError, match="not one number"):
        math.sqrt(case.a)
    with pytest.raises(CannotTellError):
        _ = case.a > 0.1
    assert case.a > 0.05
    assert max(case.a, 0.2) == 0.2


def test_numbers_that_cancel_are_known_only_as_well_as_their_terms() -> None:
    """0.1 + 0.2 - 0.3 is 5.6e-17 in floating point, and the ball around it must hold 0."""
    run = pair_run()
    for total in (
        run.each(lambda case: case.a + 0.2 - case.b),
        run.each(lambda case: math.fsum([case.a, 0.2, -case.b])),  # not written for balls
    ):
        assert total[0, 0].item().contains(0)
        assert float(total[0, 0].item().rad()) < 1e-11
    kept = run.each(lambda case: math.sqrt(case.a))[0, 0].item()
    assert kept.contains((arb(1) / 10).sqrt())
    assert float(kept.rad()) < 1e-11
