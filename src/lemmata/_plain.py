"""Results as plain values, ready for JSON."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

_AS_IT_IS = frozenset({str, int, bool, type(None)})
"""Most of what a large answer consists of."""


def plain(value: Any) -> Any:
    """The same value in dictionaries, lists, text, numbers and None only, ready for JSON.

    A number that is not finite becomes None, a fraction its text, an enumeration member its
    value, a set a sorted list, a dataclass what its ``repr`` shows.

    Examples:
        >>> plain({"norm": Fraction(13, 6), "rows": np.array([1.0, np.nan]), (0, 1): True})
        {'norm': '13/6', 'rows': [1.0, None], '0,1': True}
    """
    if type(value) in _AS_IT_IS:
        return value
    if type(value) is list and all(type(item) is str for item in value):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Fraction):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = [f.name for f in dataclasses.fields(value) if f.repr]
        return {name: plain(getattr(value, name)) for name in shown}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((plain(item) for item in value), key=lambda item: (str(type(item)), item))
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if isinstance(value, np.generic) or hasattr(value, "__array__"):
        return plain(np.asarray(value).tolist())
    raise TypeError(f"cannot write a {type(value).__name__} as JSON: {value!r}")


def _key(key: Any) -> str:
    """A dictionary key as text; a pair of tokens becomes ``a,b``."""
    if isinstance(key, tuple):
        return ",".join(map(_key, key))
    return str(plain(key))
