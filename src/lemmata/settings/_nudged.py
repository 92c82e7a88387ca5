"""Instances whose numbers are a little off: what a statement makes of them tells its rounding."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

NUDGE = 2.0**-40
"""Numbers are moved by up to this share of themselves: far more than rounding, far less than
anything that a statement could mean."""


class Nudged:
    """An instance, every number of which is moved by a hair of its own whenever it is asked for."""

    def __init__(self, instance: Any, generator: np.random.Generator) -> None:
        self._instance, self._generator = instance, generator

    def __getattr__(self, name: str) -> Any:
        return nudged(getattr(self._instance, name), self._generator)


def nudged(value: Any, generator: np.random.Generator) -> Any:
    """The value with its floating-point numbers moved; all that is exact stays as it is."""

    def move(number: Any) -> Any:
        return number * (1 + NUDGE * generator.uniform(-1, 1, np.shape(number)))

    return with_numbers(value, move, lambda inner: Nudged(inner, generator))


def with_numbers(value: Any, change: Callable[[Any], Any], wrap: Callable[[Any], Any]) -> Any:
    """The value with its floating-point numbers and arrays changed, wherever they stand in it.

    Values with attributes are wrapped, and functions give changed results.
    """
    floats = isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)
    if floats or isinstance(value, float | np.floating):
        return change(value)
    if isinstance(value, list | tuple) and value and not isinstance(value[0], int | str):
        return [with_numbers(part, change, wrap) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return wrap(value)
    if callable(value) and not isinstance(value, type):
        return lambda *given, **named: with_numbers(value(*given, **named), change, wrap)
    return value
