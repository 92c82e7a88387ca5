"""Plan files: JSON, checked once, at the boundary.

A file holds one plan, an object with T, q and d, or ``{"plans": [...]}`` of such objects. What
else a plan may say is in ``KEYS``; what its ``training`` may say, in ``TRAINING_KEYS``. Encodings
are a list of rows, one row a position, or ``walsh`` for orthogonal vectors of signs.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers._plans import (
    Entry,
    check_keys,
    check_size,
    choice,
    made_at,
    number,
    read_entries,
    whole,
)
from lemmata.tokens import as_matrix, read_embeddings

from ._encodings import check_threshold, walsh_encodings
from ._plan import (
    MOST_HEADS,
    WALSH,
    OnlineChoices,
    Plan,
    Positions,
    Query,
    largest_epsilon,
    usual_rate,
)
from ._task import Task

Rows = Float[np.ndarray, "T d_e"]

KEYS = ("T", "q", "d", "name", "eta", "eps", "d_e", "threshold", "encodings", "training")
TRAINING_KEYS = tuple(choice.name for choice in fields(OnlineChoices) if choice.name != "rate")
CHOICES = {"encodings": get_args(Positions), "x_query": get_args(Query)}

MOST = {
    "samples": 1_000_000,
    "change": 2**62,
    "seed": 2**32 - 1,
    "factors": 10_000,
    "queries": 1_000_000,
    "heads": MOST_HEADS,
}

LARGEST = 100_000
"""The largest T, q or d: more is a slip of the pen."""

LONGEST_ENCODED = 2_000
"""The largest T whose encodings are measured."""

MOST_ENTRIES = 20_000_000
"""The largest T d_e."""

SHAPE = 'expected {"T": ..., "q": ..., "d": ...}, or {"plans": [...]} of such objects'


def read_plans(file: Path, embeddings: Path | None = None) -> list[Plan]:
    """The plans of a file, with encodings from a file of their own if given."""
    entries = read_entries(file, setting="selection", shape=SHAPE, keys=KEYS)
    plans = [_plan(entry) for entry in entries]
    if embeddings is None:
        return plans
    rows = read_embeddings(embeddings)
    return [_encoded(plan, rows, str(embeddings)) for plan in plans]


def _plan(entry: Entry) -> Plan:
    said, where = entry.said, entry.where
    task = _task(entry)
    eta = number(said["eta"], "eta", where) if "eta" in said else None
    eps = number(said.get("eps", largest_epsilon(task) / 2), "eps", where)
    d_e = whole(said["d_e"], "d_e", where) if "d_e" in said else None
    threshold = number(said.get("threshold", 1.0), "threshold", where, zero=True)
    if "threshold" in said and (d_e is None or "encodings" in said):
        raise InputError(
            f'{where}: "threshold" is for random encodings, which need "d_e" and no "encodings"'
        )
    _check_size(task, d_e, where)
    if d_e is not None:
        _check_dimensions(task.q, d_e, where)
    if d_e is not None and "encodings" not in said:
        made_at(where, check_threshold, d_e, task.T, threshold)
    training = _training(said.get("training", {}), eta, task.d, d_e, where)
    rate = usual_rate(task, d_e) if eta is None else eta
    plan = Plan(entry.name, task, rate, eps, d_e, threshold, training=training)
    if "encodings" not in said:
        return plan
    return _encoded(plan, _rows(said["encodings"], plan, where), where)


def _rows(said: Any, plan: Plan, where: str) -> Rows:
    """Encodings as a plan file has them: a row a position, or the name of orthogonal ones."""
    if said != WALSH:
        return as_matrix(said, f"{where}, encodings")
    columns = None if plan.d_e is None else walsh_encodings(plan.d_e, plan.task.T)
    if columns is None:
        raise InputError(
            f'{where}: "encodings": "{WALSH}" needs a "d_e" that is a power of two, at least T = '
            f"{plan.task.T}, or a multiple of one; got {plan.d_e}"
        )
    return columns.T


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
    rate = usual_rate(plan.task, d_e) if stated is None else stated
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


def _task(entry: Entry) -> Task:
    where = entry.where
    sizes = [entry.require(key, SHAPE) for key in ("T", "q", "d")]
    T, q, d = (whole(size, key, where) for size, key in zip(sizes, ("T", "q", "d"), strict=True))
    task = made_at(where, Task, T, q, d)
    task.require_rest(where)
    _check_size(task, None, where)
    return task


def _training(entry: Any, eta: float | None, d: int, d_e: int | None, where: str) -> OnlineChoices:
    where = f"{where}, training"
    if not isinstance(entry, dict):
        raise InputError(f'{where}: expected an object such as {{"samples": 256}}')
    check_keys(entry, TRAINING_KEYS, where)
    found: dict[str, Any] = {"rate": eta}
    for key, value in entry.items():
        if key in CHOICES:
            found[key] = choice(value, key, where, CHOICES[key])
        elif key == "tests":
            found[key] = _tests(value, d, d_e, where)
        elif key in ("initial", "later_rate"):
            found[key] = number(value, key, where, zero=True)
        else:
            found[key] = whole(value, key, where, zero=key in ("seed", "change"))
            check_size(found[key], key, where, MOST[key])
    return OnlineChoices(**found)


def _tests(value: Any, d: int, d_e: int | None, where: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list) or not all(isinstance(p, list) and len(p) == 2 for p in value):
        raise InputError(f"{where}: tests is a list of pairs [T, q]; got {str(value)[:80]}")
    for T, q in value:
        place = f"{where}, test {[T, q]}"
        _check_size(_task(Entry({"T": T, "q": q, "d": d}, place, "test")), d_e, place)
    return tuple((T, q) for T, q in value)


def _check_size(task: Task, d_e: int | None, where: str) -> None:
    for name, value in (("T", task.T), ("d", task.d), ("d_e", d_e or 0)):
        check_size(value, name, where, LARGEST)
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
