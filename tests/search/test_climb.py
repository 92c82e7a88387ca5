"""What a climb does where there is no slope, and between the step sizes that are listed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from search_walks import Setting, Space, Walk, claim

import lemmata as lm
from lemmata.search import _attack as attacking
from lemmata.search._attack import _moved
from lemmata.search._hunt import Hunt


@dataclass
class Narrow(Space):
    """Only walks from 0 are drawn, and they move one place at a time."""

    def draw(self, generator: np.random.Generator) -> Walk:
        return Walk(0, 1)

    def vary(self, instance: Walk, generator: np.random.Generator) -> Walk:
        return Walk(instance.start + int(generator.integers(-1, 2)), 1)


def climbed(check: Any, trainings: list[dict[str, Any]], **training: Any) -> Hunt:
    setting = Setting()
    setting.space = Narrow()
    hunt = Hunt(claim(check, **training), setting.space, 0, np.inf, lambda line: None)
    attacking._climb(hunt, setting.space, trainings)
    return hunt


def test_it_drifts_where_a_statement_is_attained() -> None:
    """All walks from less than 5 on are 0 away from breaking it: each round may take one step."""

    def flat(run: Any) -> Any:
        start = run.x[:, :1]
        return lm.at_most(np.where(np.abs(start) < 5, 0.0, np.abs(start)), 0.0)

    hunt = climbed(flat, [{}])
    assert {abs(attempt.instance.start) for attempt in hunt.broken} >= {5}


def test_it_tries_step_sizes_between_those_that_are_listed() -> None:
    """Broken from 0.4 to 2 alone, of 0.1 and 5."""

    def gap(run: Any) -> Any:
        return lm.at_most(np.where((run.rate > 0.4) & (run.rate < 2), 1.0, 0.0), 0.0)

    hunt = climbed(gap, [{}, {"rate": 5.0}], steps=8)
    assert {0.4 < attempt.options["rate"] < 2 for attempt in hunt.broken} == {True}


def test_numbers_move_by_a_power_of_ten_at_most_and_can_be_typed() -> None:
    generator = np.random.default_rng(0)
    options = {"rate": 5.0, "steps": 100, "algorithm": "gd"}
    moved = [_moved(options, generator) for _ in range(200)]
    rates = [each["rate"] for each in moved]
    assert 0.5 <= min(rates) < 0.6
    assert 40 < max(rates) <= 50
    assert all(float(f"{rate:.2g}") == rate for rate in rates)
    assert all(each | {"rate": 5.0} == options for each in moved)


def test_nothing_is_moved_in_the_first_turn() -> None:
    seen = []

    def watched(run: Any) -> Any:
        seen.append(float(run.rate[0, 0]))
        return lm.at_most(run.x, 1e9)

    climbed(watched, [{"rate": 1.0}, {"rate": 2.0}])
    assert seen[0] == pytest.approx(1.0)
    assert {0.1 <= rate <= 20 for rate in seen} == {True}
    assert len(set(seen)) > 10
