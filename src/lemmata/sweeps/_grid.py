"""Grids: values as typed, ``4..32..4`` or ``1e-3..1e3..x10`` or ``gd,ngd``, and their points."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any

from lemmata._errors import InputError

MOST_TASKS = 1_000_000
"""Points times seeds; whoever wants more wants something else."""

EXAMPLES = "K=4..32..4, eta=1e-3..1e3..x10 or d=1,2,5"


def read_axis(text: str) -> tuple[str, list[str]]:
    """The name and the values of ``NAME=VALUES``, each value as text.

    Examples:
        >>> read_axis("K=4..10..2,20")
        ('K', ['4', '6', '8', '10', '20'])
        >>> read_axis("eta=1e-2..10..x10")
        ('eta', ['0.01', '0.1', '1', '10'])
    """
    name, equals, values = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--over takes {EXAMPLES}; got '{text}'")
    found = [value for part in values.split(",") for value in _values(part.strip(), text)]
    twice = {value for value in found if found.count(value) > 1} if len(found) < 1000 else set()
    if twice:
        raise InputError(f"'{text}' has {min(twice)} twice")
    return name.strip(), found


def _values(part: str, text: str) -> list[str]:
    """A word, a number, or a range with its ends."""
    if not part:
        raise InputError(f"'{text}' has no value where one is expected; write {EXAMPLES}")
    ends = part.split("..")
    if len(ends) == 1:
        return [part]
    if len(ends) > 3:
        raise InputError(f"'{part}' is no range; write FIRST..LAST..STEP, as in {EXAMPLES}")
    geometric = len(ends) == 3 and ends[2].startswith("x")
    first, last = _number(ends[0], part), _number(ends[1], part)
    step = _number(ends[2].removeprefix("x"), part) if len(ends) == 3 else Decimal(1)
    return _geometric(first, last, step, part) if geometric else _even(first, last, step, part)


def _number(text: str, part: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite():
        raise InputError(f"'{text}' in '{part}' is not a finite number")
    return value


def _even(first: Decimal, last: Decimal, step: Decimal, part: str) -> list[str]:
    if step == 0 or (last - first) * step < 0:
        raise InputError(f"'{part}' never gets from {first} to {last}: its step is {step}")
    count = int((last - first) / step) + 1
    _check_count(count, part)
    return [_text(first + k * step) for k in range(count)]


def _geometric(first: Decimal, last: Decimal, factor: Decimal, part: str) -> list[str]:
    away = factor > 0 and factor != 1 and first * last > 0
    if not away or (abs(last) - abs(first)) * (factor - 1) < 0:
        raise InputError(f"'{part}' never gets from {first} to {last} by factors of {factor}")
    count = int(math.log(last / first) / math.log(factor) + 1e-9) + 1
    _check_count(count, part)
    return [_text(first * factor**k) for k in range(count)]


def _check_count(count: int, part: str) -> None:
    if count > MOST_TASKS:
        raise InputError(f"'{part}' has {count:,} values; a sweep has at most {MOST_TASKS:,} tasks")


def _text(value: Decimal) -> str:
    """Without the zeros at the end, and in a form that ``int`` reads if it is whole."""
    whole = value == value.to_integral_value() and abs(value) < 10**15
    return str(int(value)) if whole else f"{value.normalize():g}"


def points_of(axes: Mapping[str, Sequence[Any]], together: bool) -> list[dict[str, Any]]:
    """All combinations of the values, or with ``together`` the first of each, the second, ..."""
    names, columns = list(axes), list(axes.values())
    for name, values in axes.items():
        if not values:
            raise InputError(f"there are no values of {name}")
    lengths = {len(values) for values in columns}
    if together and len(lengths) > 1:
        shown = ", ".join(f"{name} has {len(values)}" for name, values in axes.items())
        raise InputError(
            f"--zip walks through values together, so there must be equally many: {shown}"
        )
    total = len(columns[0]) if together and columns else math.prod(map(len, columns))
    if total > MOST_TASKS:
        raise InputError(f"the grid has {total:,} points; a sweep has at most {MOST_TASKS:,} tasks")
    rows = zip(*columns, strict=True) if together and columns else product(*columns)
    return [dict(zip(names, row, strict=True)) for row in rows]
