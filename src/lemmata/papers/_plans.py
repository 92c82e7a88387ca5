"""Plan files of any paper: JSON, checked once, at the boundary.

A file holds one plan, an object, or ``{"plans": [...]}`` of such objects. What a plan may say is
up to the paper; a key with the value null counts as left out. ``options`` of training may stand in
the file of any setting.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lemmata._errors import InputError, unknown_name

MadeT = TypeVar("MadeT")

MOST_PLANS = 1_000
LONGEST_NAME = 80


@dataclass(frozen=True)
class Entry:
    """One plan as it stands in a file.

    Attributes:
        said: what it says, by its keys.
        where: how messages call the place.
        name: its own name, or its number.
    """

    said: dict[str, Any]
    where: str
    name: str

    def require(self, key: str, shape: str) -> Any:
        """What must be said; ``shape`` reminds of what a plan looks like."""
        if key not in self.said:
            raise InputError(f'{self.where}: "{key}" is missing; {shape}')
        return self.said[key]


def read_entries(file: Path, *, setting: str, shape: str, keys: tuple[str, ...]) -> list[Entry]:
    """The plans of a file; ``shape`` says what is expected, ``keys`` what a plan may say."""
    found = _list(_parse(file, setting, shape), str(file), shape)
    if len(found) == 1:
        return [_entry(found[0], str(file), "plan", shape, keys)]
    entries = [
        _entry(value, f"{file}, plan {i}", f"plan {i}", shape, keys)
        for i, value in enumerate(found)
    ]
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{file}: two plans are called '{name}'; give each a name of its own")
    return entries


def _parse(file: Path, setting: str, shape: str) -> Any:
    if file.suffix != ".json":
        raise InputError(
            f"{file}: unknown format '{file.suffix}'; the {setting} setting reads plans from "
            f".json: {shape}"
        )
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise InputError(f"{file}: the file is empty; {shape}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON ({error})") from error


def _list(document: Any, where: str, shape: str) -> list[Any]:
    if not isinstance(document, dict):
        raise InputError(f"{where}: {shape}")
    if "plans" not in document:
        return [document]
    found = document["plans"]
    if not isinstance(found, list) or not found:
        raise InputError(f'{where}: "plans" must be a list with at least one plan')
    if len(document) > 1:
        other = next(key for key in document if key != "plans")
        raise InputError(f'{where}: {other!r} stands beside "plans"; it belongs into each plan')
    if len(found) > MOST_PLANS:
        raise InputError(f"{where}: {len(found):,} plans (at most {MOST_PLANS:,}); split the file")
    return found


def _entry(value: Any, where: str, usual: str, shape: str, keys: tuple[str, ...]) -> Entry:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {shape}")
    check_keys(value, (*keys, "options"), where)
    said = {key: item for key, item in value.items() if item is not None}
    return Entry(said, where, _name(said.get("name", usual), where))


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{where}: name must be a text that can be printed; got {value!r}")
    if len(value) > LONGEST_NAME:
        raise InputError(f"{where}: the name is longer than {LONGEST_NAME} characters")
    return value


def check_keys(entry: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse a key that is not known, with the nearest one that is."""
    for key in entry:
        if key not in known:
            raise InputError(f"{where}: {unknown_name('key', key, known)}")


def whole(value: Any, name: str, where: str, *, zero: bool = False) -> int:
    """A whole number, positive or, if ``zero`` is allowed, not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < (0 if zero else 1):
        kind = "whole number that is not negative" if zero else "positive whole number"
        raise InputError(f"{where}: {name} must be a {kind}; got {_shown(value)}")
    return value


def number(value: Any, name: str, where: str, *, zero: bool = False) -> float:
    """A finite number, positive or, if ``zero`` is allowed, not negative."""
    try:
        found = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or found < 0 or (found == 0 and not zero):
        kind = "number that is not negative" if zero else "positive number"
        raise InputError(f"{where}: {name} must be a {kind}; got {_shown(value)}")
    return found


def _shown(value: Any) -> str:
    """A value in a message; texts in quotes, as in the file."""
    return (repr(value) if isinstance(value, str) else str(value))[:40]


def choice(value: Any, name: str, where: str, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if value not in choices:
        raise InputError(f"{where}: {name} is one of {', '.join(choices)}; got {value!r}")
    return value


def check_size(value: int, name: str, where: str, most: int) -> None:
    """Refuse what is too large."""
    if value > most:
        raise InputError(f"{where}: {name} = {value:,} is too large (at most {most:,})")


def made_at(where: str, make: Callable[..., MadeT], *values: Any) -> MadeT:
    """Make something, and say where if it cannot be made."""
    try:
        return make(*values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
