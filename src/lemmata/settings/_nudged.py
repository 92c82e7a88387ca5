"""Instances whose numbers are a little off: what a statement makes of them tells its rounding.

Whole numbers are exact, but their quotients and roots are not: they take part as `Whole`.
"""

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

    return with_numbers(
        value,
        move,
        lambda inner: Nudged(inner, generator),
        lambda number: Whole(number, lambda exact: move(float(exact))),
    )


class Whole(int):
    """A whole number that is one as long as it can be, and else what ``inexact`` makes of it.

    Sums, differences and products are of the same kind. A quotient, a power that is no whole
    number, and what turns it into a float begin with the inexact number.
    """

    inexact: Callable[[int], Any]

    def __new__(cls, number: int, inexact: Callable[[int], Any]) -> "Whole":
        whole = super().__new__(cls, number)
        whole.inexact = inexact
        return whole

    def __truediv__(self, other: Any) -> Any:
        return self.inexact(int(self)) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.inexact(int(self))

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if isinstance(exponent, int) and exponent >= 0:
            return Whole(pow(int(self), int(exponent), modulus), self.inexact)
        return self.inexact(int(self)) ** exponent

    def __float__(self) -> float:
        return float(self.inexact(int(self)))


def _of_the_same_kind(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operation(self: Whole, *others: Any) -> Any:
        result = plain(self, *others)
        return Whole(result, self.inexact) if isinstance(result, int) else result

    return operation


for _name in ("add", "sub", "mul", "floordiv", "mod", "radd", "rsub", "rmul", "neg", "abs"):
    setattr(Whole, f"__{_name}__", _of_the_same_kind(f"__{_name}__"))


def with_numbers(
    value: Any,
    change: Callable[[Any], Any],
    wrap: Callable[[Any], Any],
    whole: Callable[[int], Any],
) -> Any:
    """The value with its floating-point numbers and arrays changed, wherever they stand in it.

    Whole numbers become ``whole``, values with attributes are wrapped, and functions give changed
    results.
    """
    floats = isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)
    if floats or isinstance(value, float | np.floating):
        return change(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return whole(int(value))
    if isinstance(value, list | tuple) and value and not isinstance(value[0], int | str):
        return [with_numbers(part, change, wrap, whole) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return wrap(value)
    if callable(value) and not isinstance(value, type):
        return lambda *given, **named: with_numbers(value(*given, **named), change, wrap, whole)
    return value
