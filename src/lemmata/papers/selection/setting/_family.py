"""Encodings of many kinds, for an adversary: orthogonal ones, random ones, and hostile ones."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np

from lemmata._errors import InputError

from ._encodings import Encodings, inner_products, orthogonal, walsh
from ._plan import Plan
from ._task import Task

FAMILIES = (
    "orthogonal",
    "scaled",
    "signs",
    "gaussian",
    "close",
    "opposed",
    "tilted",
    "dependent",
    "misleading",
    "parallel",
    "adding",
)
"""Orthogonal signs; unit vectors of other lengths; random signs and numbers; vectors near one
another; a simplex, whose inner products are negative; unit vectors that are a little off; the last
vector nearly the sum of two others, or four times that; vectors along one line; and unit vectors of
which the last is a little along two others, whose small inner products add up."""

ADDING = ((10, 49, 51), (20, 199, 201), (40, 799, 801))
"""a, b, c with 2 a^2 + b^2 = c^2: along two unit vectors, along a third, and the length."""

LONGEST = 12
"""The most positions that are given encodings of these kinds."""

MOST_SUBSETS = 5_000
"""Up to so many are gone through one by one."""


def family(kind: str, T: int, d_e: int, generator: np.random.Generator) -> Encodings | None:
    """T encodings of a kind in about d_e dimensions; None if there are none of this size."""
    units = np.eye(max(T, d_e))[:, :T]
    if kind == "orthogonal":
        doublings = (max(T, d_e) - 1).bit_length()
        return walsh(doublings)[:, :T] / np.sqrt(2.0**doublings)
    if kind == "scaled":
        return float(generator.choice([0.1, 0.5, 2.0, 10.0])) * units
    if kind == "signs":
        return generator.choice([-1.0, 1.0], (d_e, T)) / np.sqrt(d_e)
    if kind == "gaussian":
        return np.round(generator.standard_normal((d_e, T)), 2)
    if kind == "close":
        return 1.0 + float(generator.choice([0.1, 1.0])) * units
    if kind == "opposed":
        return units - 0.9 / T
    if kind == "tilted":
        most = float(generator.choice([0.005, 0.02, 0.05]))
        return units + np.round(most * generator.standard_normal(units.shape), 3)
    if kind == "parallel":
        return np.vstack([np.arange(1.0, T + 1), np.eye(max(d_e - 1, 1), T)])
    if T < 3:
        return None
    if kind == "adding":
        return adding(units, *ADDING[int(generator.integers(len(ADDING)))])
    E = units.copy()
    E[:, -1] = (1.0 if kind == "dependent" else 4.0) * (E[:, 0] + E[:, 1]) + 0.1 * E[:, -1]
    return E


def adding(E: Encodings, a: int, b: int, c: int) -> Encodings:
    """The last of orthonormal vectors turned towards the first two, its length kept."""
    turned = E.copy()
    turned[:, -1] = (a * (E[:, 0] + E[:, 1]) + b * E[:, -1]) / c
    return turned


def independent(E: Encodings, task: Task) -> bool:
    """Whether e_y exists for every subset, and no two positions are the same."""
    if not E.any(axis=0).all():
        return False
    if orthogonal(E):
        return True
    if task.subset_count > MOST_SUBSETS:
        return False
    if len({column.tobytes() for column in (E + 0.0).T}) < task.T:
        return False
    try:
        inner_products(E, task.all_subsets())
    except InputError:
        return False
    return True


def all_signs(T: int, d_e: int) -> Iterator[Encodings]:
    """T sign vectors of unit length, up to flips and switches of coordinates."""
    patterns = [(1, *signs) for signs in product((1, -1), repeat=T - 1)]
    for chosen in combinations_with_replacement(patterns, d_e):
        yield np.array(chosen) / np.sqrt(d_e)


@cache
def all_whole(T: int, d_e: int) -> tuple[Encodings, ...]:
    """T different vectors of -1, 0 and 1, up to order and to flips and switches of coordinates."""
    vectors = np.array([v for v in product((1, 0, -1), repeat=d_e) if any(v)])
    number = {tuple(v): i for i, v in enumerate(vectors.tolist())}
    sets = np.array(list(combinations(range(len(vectors)), T)), dtype=int).reshape(-1, T)
    powers = len(vectors) ** np.arange(T)[::-1]
    first = np.full(len(sets), True)
    for order, signs in product(permutations(range(d_e)), product((1, -1), repeat=d_e)):
        moved = np.array([number[tuple(v)] for v in (vectors[:, order] * np.array(signs)).tolist()])
        first &= sets @ powers <= np.sort(moved[sets], axis=1) @ powers
    return tuple(vectors[chosen].T.astype(float) for chosen in sets[first])


def plain(plan: Plan, task: Task) -> Plan:
    """With one-hot encodings."""
    return replace(plan, task=task, d_e=None, threshold=1.0, encodings=None)


def dressed(plan: Plan, kind: str, generator: np.random.Generator) -> Plan | None:
    """With encodings of a kind; None if there are none of this size."""
    T, q = plan.task.T, plan.task.q
    if T > LONGEST:
        return None
    E = family(kind, T, max(q, T + int(generator.integers(-1, 3))), generator)
    return None if E is None else encoded(plan, E)


def encoded(plan: Plan, E: np.ndarray) -> Plan | None:
    """With these encodings, unless a file with them would be refused."""
    d_e = E.shape[0]
    if plan.task.q > d_e or E.shape[1] != plan.task.T or not independent(E, plan.task):
        return None
    return replace(plan, d_e=d_e, threshold=1.0, encodings=E)
