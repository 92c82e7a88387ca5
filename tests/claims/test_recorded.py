"""Columns know their steps, whatever is cut out of them or computed from them."""

from typing import Any

import numpy as np
import pytest
from oracles.made_up import evidence

from lemmata.claims import Status, at_most, judge
from lemmata.settings._recorded import Recorded, steps_of

STEPS = np.array([0, 1, 10, 100, 1000])
NORM = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 2.0, 2.0, 2.0, 9.0]])


@pytest.fixture
def run() -> Any:
    return evidence(2, STEPS, norm=NORM, loss=-NORM, rate=[[0.1], [0.2]]).recorded()


PARTS = {
    "all": (lambda run: run.norm, STEPS),
    "later": (lambda run: run.norm[:, 1:], STEPS[1:]),
    "earlier": (lambda run: run.norm[:, :-2], STEPS[:-2]),
    "every second": (lambda run: run.norm[:, ::2], STEPS[::2]),
    "chosen": (lambda run: run.norm[:, run.steps >= 10], STEPS[2:]),
    "the last": (lambda run: run.norm[:, -1], STEPS[-1:]),
    "differences": (lambda run: np.diff(run.norm), STEPS[1:]),
    "neighbours": (lambda run: run.norm[:, :-1] - run.loss[:, 1:], STEPS[1:]),
    "scaled": (lambda run: 2 * np.exp(run.norm[:, 2:]) / run.rate, STEPS[2:]),
    "sums": (lambda run: np.cumsum(run.norm, axis=1), STEPS),
    "one case": (lambda run: run.norm[:1, 3:], STEPS[3:]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_know_their_steps(run: Any, name: str) -> None:
    part, steps = PARTS[name]
    made = part(run)
    np.testing.assert_array_equal(made.steps, steps)
    plain = part(evidence(2, STEPS, norm=NORM, loss=-NORM, rate=[[0.1], [0.2]]))
    np.testing.assert_array_equal(made, plain)


def test_an_average_belongs_to_no_step(run: Any) -> None:
    assert getattr(run.norm.mean(axis=1), "steps", None) is None
    assert getattr(run.norm.T, "steps", None) is None
    assert run.rate.shape == (2, 1)
    assert not isinstance(run.rate, Recorded)
    assert steps_of([run.norm, 3.0], 4) is None


def test_a_witness_names_the_step(run: Any) -> None:
    for left, t in ((run.norm[:, 2:], 1000), (run.norm[:1, 2:], 100), (np.diff(run.norm), 1000)):
        rows = evidence(len(left), STEPS)
        bound = np.where(np.asarray(left) == np.asarray(left)[-1].max(), 0.0, 10.0)
        bound = bound if t == 1000 else np.array([[10.0, 0.0, 10.0]])
        witness = judge(at_most(left, bound), rows).witness
        assert witness is not None
        assert witness["t"] == t
    last = judge(at_most(run.norm[:, -1], 6.0), run).witness
    assert last is not None
    assert last == {"dataset": "b", "t": 1000, "left": 9.0, "right": 6.0}


@pytest.mark.parametrize(("roundings", "status"), [(1060, Status.HOLDS), (1068, Status.FAILS)])
def test_what_is_cut_out_keeps_one_rounding_a_step(
    run: Any, roundings: int, status: Status
) -> None:
    """The last of 1000 steps may be off by 1000 roundings and 64."""
    bound = NORM[:, -1] * (1 - roundings * np.finfo(float).eps)
    assert judge(at_most(run.norm[:, -1], bound), run).status is status
