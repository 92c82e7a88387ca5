"""What the tests rely on: a call with a wrong type or shape does not go through."""

from typing import cast

import numpy as np
import pytest
from checked_types import FIRST_CALLS, begin_test, checked
from jaxtyping import Float, TypeCheckError

from lemmata.tokens import Sample


@checked
def product(
    left: Float[np.ndarray, "n k"], right: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "n"]:
    return left @ right


@checked
def twice(number: int) -> int:
    return 2 * number


def test_axes_are_compared_with_each_other() -> None:
    assert product(np.ones((2, 3)), np.ones(3)).shape == (2,)
    with pytest.raises(TypeCheckError):
        product(np.ones((2, 3)), np.ones(2))


def test_functions_without_arrays_are_checked_too() -> None:
    assert twice(2) == 4
    with pytest.raises(TypeCheckError):
        twice(cast(int, "2"))


def test_the_package_is_imported_that_way() -> None:
    assert Sample((0, 1), 1).label == 1
    with pytest.raises(TypeCheckError):
        Sample((0, 1), cast(int, "no index"))


def test_first_calls_are_checked_in_every_test() -> None:
    for _ in range(FIRST_CALLS):
        twice(1)
    assert twice(cast(int, "1")) == cast(int, "11")
    begin_test()
    with pytest.raises(TypeCheckError):
        twice(cast(int, "1"))
