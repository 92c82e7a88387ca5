"""Plan files: JSON, checked once, at the boundary.

A file holds one plan, an object with T, q and d, or ``{"plans": [...]}`` of such objects. What
else a plan may say is in ``KEYS``; what its ``training`` may say, in ``TRAINING_KEYS``. Encodings
are a list of rows, one row a position.
"""

import json
import math
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers.selection.setting._encodings import check_threshold
from lemmata.papers.selection.setting._plan import (
    OnlineChoices,
    Plan,
    largest_epsilon,
    largest_rate,
)
from lemmata.papers.selection.setting._task import Task
from lemmata.tokens import read_embeddings
from lemmata.tokens._embeddings import as_matrix

Rows = Float[np.ndarray, "T d_e"]

KEYS = ("T", "q", "d", "name", "eta", "eps", "d_e", "threshold", "encodings", "training")
TRAINING_KEYS = tuple(choice.name for choice in fields(OnlineChoices) if choice.name != "rate")
CHOICES = {"encodings": ("stochastic", "fixed"), "x_query": ("zero", "fixed", "random")}

MOST = {"samples": 1_000_000, "change": 2**62, "seed": 2**32 - 1}
MOST_PLANS = 1_000
LONGEST_NAME = 80

LARGEST = 100_000
"""The largest T, q or d: more is a slip of the pen."""

LONGEST_ENCODED = 2_000
"""The largest T whose encodings are measured."""

MOST_ENTRIES = 20_000_000
"""The largest T d_e."""

SHAPE = 'expected {"T": ..., "q": ..., "d": ...}, or {"plans": [...]} of such objects'


def read(file: Path, embeddings: Path | None = None) -> list[Plan]:
    """The plans of a file, with encodings from a file of their own if given."""
    entries = _entries(_parse(file), str(file))
    rows = None if embeddings is None else (read_embeddings(embeddings), str(embeddings))
    plans = []
    for i, entry in enumerate(entries):
        many = len(entries) > 1
        plans.append(_plan(entry, f"{file}, plan {i}" if many else str(file), i if many else None))
        if rows is not None:
            plans[i] = _encoded(plans[i], *rows)
    names = [plan.name for plan in plans]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{file}: two plans are called '{name}'; give each a name of its own")
    return plans


def _parse(file: Path) -> Any:
    if file.suffix != ".json":
        raise InputError(
            f"{file}: unknown format '{file.suffix}'; the selection setting reads plans from "
            f".json: {SHAPE}"
        )
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise InputError(f"{file}: the file is empty; {SHAPE}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON ({error})") from error


def _entries(document: Any, where: str) -> list[Any]:
    if not isinstance(document, dict):
        raise InputError(f"{where}: {SHAPE}")
    if "plans" not in document:
        return [document]
    entries = document["plans"]
    if not isinstance(entries, list) or not entries:
        raise InputError(f'{where}: "plans" must be a list with at least one plan')
    if len(document) > 1:
        other = next(key for key in document if key != "plans")
        raise InputError(f'{where}: {other!r} stands beside "plans"; it belongs into each plan')
    if len(entries) > MOST_PLANS:
        raise InputError(
            f"{where}: {len(entries):,} plans (at most {MOST_PLANS:,}); split the file"
        )
    return entries


def _plan(entry: Any, where: str, index: int | None) -> Plan:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: {SHAPE}")
    _check_keys(entry, KEYS, where)
    said = {key: value for key, value in entry.items() if value is not None}
    task = _task(said, where)
    name = _name(said.get("name", "plan" if index is None else f"plan {index}"), where)
    eta = _number(said["eta"], "eta", where) if "eta" in said else None
    eps = _number(said.get("eps", largest_epsilon(task) / 2), "eps", where)
    d_e = _whole(said["d_e"], "d_e", where) if "d_e" in said else None
    threshold = _number(said.get("threshold", 1.0), "threshold", where, zero=True)
    if "threshold" in said and (d_e is None or "encodings" in said):
        raise InputError(
            f'{where}: "threshold" is for random encodings, which need "d_e" and no "encodings"'
        )
    _check_size(task, d_e, where)
    if d_e is not None:
        _check_dimensions(task.q, d_e, where)
    if d_e is not None and "encodings" not in said:
        _at(where, check_threshold, d_e, task.T, threshold)
    training = _training(said.get("training", {}), eta, task.d, d_e, where)
    rate = _usual_rate(task, d_e) if eta is None else eta
    plan = Plan(name, task, rate, eps, d_e, threshold, training=training)
    if "encodings" not in said:
        return plan
    return _encoded(plan, as_matrix(said["encodings"], f"{where}, encodings"), where)


def _usual_rate(task: Task, d_e: int | None) -> float:
    """The largest eta that a theorem allows; Section 4's eta = 1 if that is smaller."""
    return min(1.0, largest_rate(task, d_e))


def _encoded(plan: Plan, rows: Rows, where: str) -> Plan:
    """The plan with these encodings, one row a position."""
    T, d_e = plan.task.T, rows.shape[1]
    if plan.kind == "given":
        raise InputError(f"{where}: the plan '{plan.name}' has encodings of its own; drop one")
    if plan.d_e not in (None, d_e) or plan.threshold < 1:
        raise InputError(
            f"{where}: encodings in {d_e} dimensions, but the plan '{plan.name}' asks for random "
            f'ones in {plan.d_e}; leave out "d_e" and "threshold"'
        )
    if len(rows) != T:
        raise InputError(
            f"{where}: {len(rows)} rows of encodings, but the plan '{plan.name}' has T = {T} "
            "positions; position i owns row i"
        )
    _check_size(plan.task, d_e, where)
    _check_dimensions(plan.task.q, d_e, where)
    _check_rows(rows, where)
    stated = plan.training.rate
    rate = _usual_rate(plan.task, d_e) if stated is None else stated
    return replace(plan, rate=rate, d_e=d_e, encodings=np.ascontiguousarray(rows.T))


def _check_dimensions(q: int, d_e: int, where: str) -> None:
    if q > d_e:
        raise InputError(
            f"{where}: q = {q} encodings are linearly dependent in d_e = {d_e} dimensions; use "
            "more dimensions or a smaller q"
        )


def _check_rows(rows: Rows, where: str) -> None:
    """A position needs an encoding that is not zero, and that no other position has."""
    zero = np.flatnonzero(~rows.any(axis=1))
    if len(zero):
        raise InputError(
            f"{where}: position {zero[0]} has the encoding 0; it cannot be attended to"
        )
    seen: dict[bytes, int] = {}
    for i, row in enumerate(rows + 0.0):
        first = seen.setdefault(row.tobytes(), i)
        if first != i:
            raise InputError(
                f"{where}: positions {first} and {i} have the same encoding, so no model can tell "
                "them apart"
            )


def _task(entry: dict[str, Any], where: str) -> Task:
    for key in ("T", "q", "d"):
        if key not in entry:
            raise InputError(f'{where}: "{key}" is missing; {SHAPE}')
    task = _at(where, Task, *(_whole(entry[key], key, where) for key in ("T", "q", "d")))
    if task.q == task.T:
        raise InputError(f"{where}: q = T = {task.T} leaves no position to ignore; choose q < T")
    _check_size(task, None, where)
    return task


def _training(entry: Any, eta: float | None, d: int, d_e: int | None, where: str) -> OnlineChoices:
    where = f"{where}, training"
    if not isinstance(entry, dict):
        raise InputError(f'{where}: expected an object such as {{"samples": 256}}')
    _check_keys(entry, TRAINING_KEYS, where)
    found: dict[str, Any] = {"rate": eta}
    for key, value in entry.items():
        if key in CHOICES:
            found[key] = _choice(value, key, where)
        elif key == "tests":
            found[key] = _tests(value, d, d_e, where)
        elif key in ("initial", "later_rate"):
            found[key] = _number(value, key, where, zero=True)
        else:
            found[key] = _whole(value, key, where, zero=key in ("seed", "change"))
            if found[key] > MOST[key]:
                raise InputError(f"{where}: {key} = {value:,} is too large (at most {MOST[key]:,})")
    return OnlineChoices(**found)


def _choice(value: Any, key: str, where: str) -> str:
    if value not in CHOICES[key]:
        raise InputError(f"{where}: {key} is one of {', '.join(CHOICES[key])}; got {value!r}")
    return value


def _tests(value: Any, d: int, d_e: int | None, where: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list) or not all(isinstance(p, list) and len(p) == 2 for p in value):
        raise InputError(f"{where}: tests is a list of pairs [T, q]; got {str(value)[:80]}")
    for T, q in value:
        place = f"{where}, test {[T, q]}"
        _check_size(_task({"T": T, "q": q, "d": d}, place), d_e, place)
    return tuple((T, q) for T, q in value)


def _check_size(task: Task, d_e: int | None, where: str) -> None:
    for name, value in (("T", task.T), ("d", task.d), ("d_e", d_e or 0)):
        if value > LARGEST:
            raise InputError(f"{where}: {name} = {value:,} is too large (at most {LARGEST:,})")
    if d_e is not None and task.T > LONGEST_ENCODED:
        raise InputError(
            f"{where}: T = {task.T:,} is too large to measure encodings (at most "
            f"{LONGEST_ENCODED:,}); one-hot encodings, without d_e, go further"
        )
    if d_e is not None and task.T * d_e > MOST_ENTRIES:
        raise InputError(
            f"{where}: encodings with T d_e = {task.T * d_e:,} entries are too large (at most "
            f"{MOST_ENTRIES:,})"
        )


def _check_keys(entry: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in known:
            close = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'? " if close else ""
            raise InputError(f"{where}: unknown key '{key}'; {hint}(known: {', '.join(known)})")


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{where}: name must be a text that can be printed; got {value!r}")
    if len(value) > LONGEST_NAME:
        raise InputError(f"{where}: the name is longer than {LONGEST_NAME} characters")
    return value


def _whole(value: Any, name: str, where: str, *, zero: bool = False) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < (0 if zero else 1):
        kind = "whole number that is not negative" if zero else "positive whole number"
        raise InputError(f"{where}: {name} must be a {kind}; got {str(value)[:40]}")
    return value


def _number(value: Any, name: str, where: str, *, zero: bool = False) -> float:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "number that is not negative" if zero else "positive number"
        raise InputError(f"{where}: {name} must be a {kind}; got {str(value)[:40]}")
    return number


def _at(where: str, make: Any, *values: Any) -> Any:
    """Make something, and say where if it cannot be made."""
    try:
        return make(*values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
