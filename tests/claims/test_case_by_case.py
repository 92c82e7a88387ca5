"""Checks of one case: their sides become rows, and silent cases are left out."""

from dataclasses import dataclass

import numpy as np

from lemmata.claims import Comparisons, Inequality, Silence, at_most, case_by_case, equal
from lemmata.settings import Evidence
from lemmata.tokens import Problem


@dataclass(frozen=True)
class Row:
    name: str
    numbers: tuple[float, ...]
    problems: tuple[Problem, ...] = ()


@case_by_case
def falling(row: Row, bound: float) -> Comparisons:
    if not row.numbers:
        return Silence(f"{row.name} is empty", applies=False)
    return at_most(row.numbers, bound, size=1.0, part="numbers", places=range(len(row.numbers)))


SHORT, LONG, EMPTY = Row("short", (1.0,)), Row("long", (3.0, 2.0)), Row("empty", ())


def test_sides_are_stacked_and_silent_cases_left_out():
    found = falling(Evidence((SHORT, EMPTY, LONG)), bound=4.0)
    assert isinstance(found, Inequality)
    np.testing.assert_array_equal(found.left, [[1.0, np.nan], [3.0, 2.0]])
    np.testing.assert_array_equal(found.right, [[4.0], [4.0]])
    assert found.baseline is None
    assert (found.part, found.sense) == ("numbers", "<=")
    assert found.cases == [SHORT, LONG]
    assert list(found.places) == [0, 1]


def test_if_all_cases_are_silent_so_is_the_whole():
    (found,) = falling(Evidence((EMPTY,)), bound=4.0)
    assert (found.reason, found.applies) == ("empty is empty", False)


def test_several_parts_stay_in_order():
    @case_by_case
    def parts(row: Row) -> Comparisons:
        return [equal(number, 0.0, part=str(i)) for i, number in enumerate(row.numbers)]

    found = parts(Evidence((LONG, LONG)))
    assert [(one.part, one.left.tolist()) for one in found] == [
        ("0", [[3.0], [3.0]]),
        ("1", [[2.0], [2.0]]),
    ]
