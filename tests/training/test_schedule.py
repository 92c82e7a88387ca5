"""When to record."""

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.training import every, log_spaced, record_steps


def test_every_step():
    assert every(3).tolist() == [0, 1, 2, 3]
    assert every(0).tolist() == [0]


@pytest.mark.parametrize("total", [0, 1, 2, 10, 900, 10**6])
def test_log_spaced_steps(total):
    steps = log_spaced(total)
    assert (steps[0], steps[-1]) == (0, total)
    assert np.all(np.diff(steps) > 0)
    assert len(steps) <= 62
    assert steps.dtype == np.int64
    if total >= 900:
        assert len(steps) > 40
        late = steps[steps > 100].astype(float)
        ratios = late[1:] / late[:-1]
        assert ratios.max() / ratios.min() < 1.05


def test_log_spaced_takes_a_count():
    assert log_spaced(1000, 4).tolist() == [0, 1, 10, 100, 1000]


def test_sixty_steps_are_the_rounded_powers():
    powers = {round(10 ** (9 * i / 59)) for i in range(60)}
    assert log_spaced(10**9).tolist() == sorted({0, *powers})


def test_named_steps_are_sorted_and_unique():
    assert record_steps([5, 1, 5, 0], 7).tolist() == [0, 1, 5]
    assert record_steps(iter((2, 1)), 2).tolist() == [1, 2]
    assert record_steps([], 4).tolist() == [4]


@pytest.mark.parametrize(
    ("wanted", "total", "message"),
    [
        ([-1, 3], 5, "steps 0 to 5; got -1 to 3"),
        ([6], 5, "steps 0 to 5; got 6 to 6"),
        ([], -1, "must not be negative; got -1"),
    ],
)
def test_impossible_steps_are_refused_in_words(wanted, total, message):
    with pytest.raises(InputError, match=message):
        record_steps(wanted, total)
