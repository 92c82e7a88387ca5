"""How large the terms are that cancel in a side, measured on made-up evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from oracles.made_up import evidence

from lemmata.claims import Comparison, Identity, Inequality, Status, at_least, at_most, equal, judge
from lemmata.claims import with_sizes as sized
from lemmata.settings import Evidence
from lemmata.tokens import Problem

NOISE = 2.0**-54


@dataclass(frozen=True)
class Known:
    """A case that knows numbers."""

    name: str
    length: float
    sides: np.ndarray
    problems: tuple[Problem, ...] = ()


def one(compare: Any, data: Evidence[Any]) -> Inequality | Identity:
    (comparison,) = sized(lambda run: [compare(run)], data)
    assert isinstance(comparison, Inequality | Identity)
    return comparison


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e12])
def test_sizes_are_those_of_the_terms(scale: float) -> None:
    data = evidence(a=[[3.0 * scale, 3 * scale]], b=[[3 * scale * (1 + NOISE * 8), 2 * scale]])
    comparison = one(lambda run: equal(run.a - run.b, 0.0), data)
    # two terms of 3, each moved by at most a hair: the sum of the sizes at most
    assert 0.3 * scale < comparison.size[0, 0] <= 6 * scale * (1 + 1e-9)
    assert judge(comparison, data).witness["t"] == 1  # 3 - 2 is no rounding


def test_rounding_of_terms_that_cancel_is_no_violation() -> None:
    data = evidence(a=[[0.1 + 0.2]], b=[[0.3]])
    for compare in (
        lambda run: equal(run.a - run.b, 0.0),
        lambda run: at_most(run.a - run.b, 0.0),
        lambda run: at_least(run.b - run.a, 0.0),
    ):
        assert judge(compare(data), data).status is Status.FAILS
        assert judge(one(compare, data), data).status is Status.HOLDS


def test_a_violation_of_a_millionth_stays_one() -> None:
    data = evidence(a=[[1.0 + 1e-6]], b=[[1.0]])
    assert judge(one(lambda run: equal(run.a - run.b, 0.0), data), data).status is Status.FAILS
    assert judge(one(lambda run: at_most(run.a - run.b, 0.0), data), data).status is Status.FAILS


def test_numbers_of_the_cases_count_too() -> None:
    sides = np.array([0.1, 0.2, 0.7])
    data = Evidence((Known("one", float(np.sum(sides**2)), sides),))
    compare = lambda run: equal(  # noqa: E731
        run.each(lambda case: case.length * (1 + 4e-16) - np.sum(case.sides**2)), 0.0
    )
    assert judge(compare(data), data).status is Status.FAILS
    assert judge(one(compare, data), data).status is Status.HOLDS
    wrong = lambda run: equal(run.each(lambda case: case.length - np.sum(case.sides)), 0.0)  # noqa: E731
    assert judge(one(wrong, data), data).status is Status.FAILS


def test_a_jump_hides_no_violation() -> None:
    """Moving the numbers flips the choice, by 1: a violation by a tenth of that still counts."""
    data = evidence(a=[[0.5]])
    compare = lambda run: at_most(np.where(run.a >= 0.5, 0.1, -0.9), 0.0)  # noqa: E731
    assert judge(one(compare, data), data).status is Status.FAILS


def test_what_is_plainly_true_is_evaluated_once() -> None:
    calls = []

    def compare(run: Evidence[Any]) -> Sequence[Comparison]:
        calls.append(run)
        return [at_most(run.a, 2.0)]

    (comparison,) = sized(compare, evidence(a=[[1.0]]))
    assert len(calls) == 1
    assert comparison.size is None


def test_a_size_that_is_given_stays() -> None:
    data = evidence(a=[[1.0]])
    assert one(lambda run: equal(run.a, 0.9, size=5.0), data).size == 5.0


def test_a_statement_that_asks_for_more_than_numbers_is_left_as_it_is() -> None:
    data = Evidence((Known("one", 1.0, np.ones(2)),))

    def compare(run: Evidence[Any]) -> Sequence[Comparison]:
        return [equal(run.each(lambda case: 2.0 if isinstance(case, Known) else {}[case]), 1.0)]

    (comparison,) = sized(compare, data)
    assert comparison.size is None


@dataclass(frozen=True)
class Counted:
    """A case that knows whole numbers."""

    name: str
    q: int
    T: int
    problems: tuple[Problem, ...] = ()


def test_quotients_of_whole_numbers_that_cancel_count() -> None:
    """1 - q/T is right to the rounding of 1, however small it is; other numbers are told apart."""
    case = Counted("nearly all", 49_996, 49_997)
    data = Evidence((case,), None, {"missed": np.array([[1 / 49_997]])})
    assert 1 - 49_996 / 49_997 != 1 / 49_997

    def missed(run: Evidence[Any], factor: float = 1.0) -> Comparison:
        return equal(factor * run.missed, run.each(lambda case: 1 - case.q / case.T))

    (same,) = sized(lambda run: [missed(run)], data)
    assert judge(same, data).status is Status.HOLDS
    (other,) = sized(lambda run: [missed(run, 1 + 1e-6)], data)
    assert judge(other, data).status is Status.FAILS
