"""Options of training that are no numbers where only numbers can be meant."""

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.settings import Option, check_options, check_rate, real_number, whole_number

OPTIONS = (
    whole_number("steps", "how many"),
    real_number("epsilon", "small"),
    Option("start", "", ""),
)


@pytest.mark.parametrize("value", ["a", "5", 2.5, True, np.nan, np.inf, [5], {}])
def test_a_count_is_a_whole_number(value: object) -> None:
    with pytest.raises(InputError, match="steps takes a whole number; got"):
        check_options("tiny", OPTIONS, {"steps": value})


@pytest.mark.parametrize("value", ["a", True, [0.5]])
def test_a_size_is_a_number(value: object) -> None:
    with pytest.raises(InputError, match="epsilon takes a number; got"):
        check_options("tiny", OPTIONS, {"epsilon": value})


@pytest.mark.parametrize("value", [5, 5.0, np.int64(5), None])
def test_whatever_counts_is_a_count(value: object) -> None:
    check_options("tiny", OPTIONS, {"steps": value, "epsilon": np.float32(0.5), "start": [[1.0]]})


def test_step_sizes() -> None:
    for value in (1e-300, 1, 1e60):
        check_rate(value)
    for value in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="the step size must be a positive number"):
            check_rate(value)
    with pytest.raises(InputError, match="a stage 1 step size of 1e\\+300 is too large"):
        check_rate(1e300, "stage 1 step size")
