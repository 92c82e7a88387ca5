"""Instances whose numbers are a little off: what a statement makes of them tells its rounding."""

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
    if isinstance(value, float | np.floating):
        return value * (1 + NUDGE * generator.uniform(-1, 1))
    if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating):
        return value * (1 + NUDGE * generator.uniform(-1, 1, value.shape))
    if isinstance(value, list | tuple) and value and not isinstance(value[0], int | str):
        return [nudged(part, generator) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return Nudged(value, generator)
    if callable(value) and not isinstance(value, type):
        return lambda *given, **named: nudged(value(*given, **named), generator)
    return value
