"""Numbers moved by a hair, and matrices of balls."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from flint import arb

from lemmata.settings import Nudged, Whole, as_balls, dot
from lemmata.settings._nudged import NUDGE, nudged


@dataclass(frozen=True)
class Inner:
    length: float


@dataclass(frozen=True)
class Known:
    """A case with numbers of all sorts."""

    size: float
    count: int
    table: np.ndarray
    name: str
    good: bool
    inner: Inner
    letters: tuple[str, ...] = ("a", "b")

    def scaled(self, by: float) -> float:
        return by * self.size


KNOWN = Known(2.5, 3, np.array([[1.0, -4.0], [0.0, 1e9]]), "a", True, Inner(0.5))


def moved(found: Any, number: Any) -> None:
    """By a hair, and no more."""
    apart = np.abs(np.asarray(found) - number)
    assert (apart <= NUDGE * np.abs(number)).all()
    assert (apart > 1e-6 * NUDGE * np.abs(number))[np.asarray(number) != 0].all()


def test_every_number_of_an_instance_is_moved_and_all_that_is_exact_stays() -> None:
    found: Any = Nudged(KNOWN, np.random.default_rng(0))
    moved(found.size, 2.5)
    once, again = found.size, found.size
    assert once != again
    moved(found.table, KNOWN.table)
    there = KNOWN.table != 0
    assert len(set(found.table[there] / KNOWN.table[there])) == 3
    moved(found.inner.length, 0.5)
    moved(found.scaled(4.0), 10.0)
    assert (found.name, found.good, found.letters) == ("a", True, ("a", "b"))
    assert nudged([], np.random.default_rng(0)) == []
    several = nudged([1.0, 2.0], np.random.default_rng(0))
    moved(several, np.array([1.0, 2.0]))
    assert found.count == 3


def seven() -> Any:
    return nudged(7, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("add", 9),
        ("sub", 5),
        ("mul", 14),
        ("floordiv", 3),
        ("mod", 1),
    ],
)
def test_whole_numbers_are_exact_as_long_as_they_can_be(name: str, value: int) -> None:
    made = getattr(operator, name)(seven(), 2)
    assert (made, type(made)) == (value, Whole)
    moved(float(made), value)


def test_whole_numbers_on_the_right_and_powers() -> None:
    for made, value in (
        (2 + seven(), 9),
        (2 - seven(), -5),
        (2 * seven(), 14),
        (-seven(), -7),
        (abs(-seven()), 7),
        (seven() ** 2, 49),
        (seven() ** 0, 1),
        (pow(seven(), 2, 10), 9),
    ):
        assert (made, type(made)) == (value, Whole)


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (lambda: seven() / 2, 3.5),
        (lambda: 2 / seven(), 2 / 7),
        (lambda: seven() ** -1, 1 / 7),
        (lambda: seven() ** 0.5, 7**0.5),
        (lambda: float(seven()), 7.0),
    ],
)
def test_what_is_not_whole_is_moved(made: Callable[[], float], value: float) -> None:
    assert made() != value
    assert made() == pytest.approx(value, rel=2 * NUDGE)


def test_matrices_as_balls() -> None:
    values = np.array([[0.1, -2.0, 3.0], [4.0, 0.0, 1e-30]])
    exact = as_balls(values)
    assert (exact.nrows(), exact.ncols()) == (2, 3)
    for i, j in np.ndindex(values.shape):
        assert exact[i, j].is_exact()
        assert float(exact[i, j]) == values[i, j]
    wide = as_balls(values, 0.25)
    assert arb(0.34) in wide[0, 0]
    assert arb(0.36) not in wide[0, 0]
    assert arb(0.25) in wide[1, 1]
    assert float(dot(as_balls(values[:, :2]), as_balls(np.array([[1.0, 2.0], [3.0, 4.0]])))) == (
        0.1 - 4.0 + 12.0
    )
