"""Plans that an adversary goes through: small ones whole, and every parameter at its extremes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from lemmata.settings import Scope

from ._encodings import walsh
from ._family import ADDING, FAMILIES, adding, all_signs, all_whole, dressed, family, independent
from ._plan import Plan, largest_epsilon, largest_rate, usual_rate
from ._task import Task

EPSILON = 1e-3
"""The loss to reach, within the hypotheses of small tasks."""

RATES = (1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0)
"""Step sizes of scopes; descent is stable below about 2q."""

FEW_RATES = (0.05, 0.5, 2.0)

EXTREMES: dict[str, tuple[Any, ...]] = {
    "T": (2, 3, 4, 9, 33, 200, 5_000, 100_000),
    "q": (1, 2, 3, 8, 30, "T/4", "T-1"),
    "d": (1, 2, 5, 30, 1_000, 100_000, "T", "10T"),
    "eta": (1e-6, 1e-3, 0.05, 0.3, 1.0, 3.0, 10.0, 1e3, "usual", "q/2", "1.9q", "2.1q"),
    "eps": (1e-12, 1e-6, 0.1, 1e3, "largest"),
}
"""Both ends of every parameter, and where hypotheses and stability end; with d of the size of T or
more C moves as fast as alpha.
"""

BASES = (
    {"T": 3, "q": 1, "d": 1, "eta": 1.0, "eps": EPSILON},
    {"T": 9, "q": 2, "d": 1, "eta": "usual", "eps": EPSILON},
    {"T": 40, "q": 3, "d": 5, "eta": "usual", "eps": EPSILON},
)
"""Plans at which extremes are tried."""

ENCODED = ((3, 1, 1), (4, 2, 1), (9, 2, 1), (9, 2, 5))
"""T, q and d of plans with encodings of their own, among extremes."""

TALLEST = 4
"""Positions of whole-number encodings that are gone through."""

SIGNS = ((2, 4), (3, 9), (4, 4))
"""Positions of sign encodings that are gone through, and the most dimensions."""

NEARLY_ORTHOGONAL = (
    (9, 2, 1, 16),
    (9, 2, 1, 64),
    (9, 2, 1, 256),
    (13, 3, 2, 256),
    (256, 2, 1, 256),
)
"""T, q, d and d_e of plans within the hypotheses of Theorem 3.3, with steps up to the largest."""

LAWS = (
    *((2, 1, 1, 2, 0.5), (2, 1, 2, 3, 0.5), (3, 1, 2, 4, 0.5), (3, 2, 1, 4, 0.5)),
    *((4, 2, 3, 4, 0.5), (3, 2, 2, 3, 0.5), (3, 1, 1, 5, 0.7), (4, 1, 1, 4, 0.5)),
    *((3, 2, 1, 6, 0.4), (4, 2, 1, 5, 0.3), (6, 2, 1, 64, 0.5), (9, 2, 1, 64, 0.5)),
    (20, 3, 1, 40, 0.3),
)
"""T, q, d, d_e and the threshold of plans with random encodings, small enough for all of them at
first."""


def small_plans(T: int, q: int, d: int) -> list[Scope[Plan]]:
    """All plans up to these sizes, by the kind of their encodings."""
    size = f"T <= {T}, q <= {q}, d <= {d}, eta in a grid"
    few = f"T <= {min(T, TALLEST)}, q <= {q}, d <= {d}, eta in a grid"
    tasks, limits = list(_tasks(T, q, d)), {"T": T, "q": q, "d": d}
    return [
        _scope(f"one-hot, {size}", limits, lambda: _one_hot(tasks)),
        _scope(f"signs, {_says_signs(T)}, q <= {q}", limits, lambda: _signs(T, q)),
        _scope(f"orthogonal signs, {size}", limits, lambda: _orthogonal(tasks)),
        *(
            _scope(
                f"encodings in {{-1, 0, 1}}^{d_e}, {few}",
                limits,
                lambda d_e=d_e: _whole_numbers(tasks, d_e),
            )
            for d_e in (1, 2, 3)
        ),
    ]


def extreme_plans() -> Iterator[Plan]:
    """Plans of Theorem 3.3, pairs of parameters with one-hot encodings, encodings of every kind."""
    yield from _nearly_orthogonal()
    for number, (T, q, d, d_e, threshold) in enumerate(LAWS):
        task = Task(T, q, d)
        yield Plan(f"random {number}", task, usual_rate(task, d_e), EPSILON, d_e, threshold)
    seen: set[Any] = set()
    for base, (first, second) in product(BASES, combinations(EXTREMES, 2)):
        for a, b in product(EXTREMES[first], EXTREMES[second]):
            plan = _plan({**base, first: a, second: b})
            if plan is not None and _key(plan) not in seen:
                seen.add(_key(plan))
                yield replace(plan, name=f"extreme {len(seen)}")
    for number, (sizes, kind, large) in enumerate(product(ENCODED, FAMILIES, (False, True))):
        task = Task(*sizes)
        plan = Plan(f"{kind} {number}", task, 1.0, EPSILON)
        plan = dressed(plan, kind, np.random.default_rng(number))
        if plan is not None:
            small = min(usual_rate(task, None), usual_rate(task, plan.d_e))
            yield replace(plan, rate=1.0 if large else small)


def _nearly_orthogonal() -> Iterator[Plan]:
    """Orthogonal sign vectors, and the same with the last one a little along two others."""
    for (T, q, d, d_e), even in product(NEARLY_ORTHOGONAL, (True, False)):
        task, E = Task(T, q, d), walsh((d_e - 1).bit_length())[:, :T] / np.sqrt(d_e)
        if not even:
            E = adding(E, *ADDING[-1])
        most = largest_rate(task, d_e)
        rates = dict.fromkeys((most, most / 10, q / 2, 1.9 * q, 2.1 * q, 3.0 * q))
        for rate, share in product(rates, (0.9, 0.01)):
            name = f"{'orthogonal' if even else 'nearly orthogonal'} T={T} eta={rate:g} {share:g}"
            if rate <= most and not (T > 100 and not even):
                epsilon = share * largest_epsilon(task)
                yield Plan(name, task, rate, epsilon, d_e, encodings=E)


def draw_near_theorem(generator: np.random.Generator) -> Plan:
    """Orthogonal signs, with a step size and a loss to reach within Theorem 3.3."""
    q, d = int(generator.integers(2, 5)), int(generator.integers(1, 4))
    T = int(generator.integers(4 * q + 1, 65))
    signs = walsh((T - 1).bit_length())[:, :T]
    E = np.tile(signs, (int(generator.integers(1, 5)), 1))
    task, d_e = Task(T, q, d), len(E)
    rate = largest_rate(task, d_e) * 10 ** generator.uniform(-1, 0)
    epsilon = largest_epsilon(task) * 10 ** generator.uniform(-1.5, -0.05)
    return Plan("drawn", task, rate, epsilon, d_e, encodings=E / np.sqrt(d_e))


def draw_with_law(generator: np.random.Generator) -> Plan:
    """Random signs that are so few that an expectation over them can be taken whole."""
    T = int(generator.integers(2, 5))
    q, d = int(generator.integers(1, T)), int(generator.integers(1, 4))
    d_e = int(generator.integers(2, 16 // T + 1))
    threshold = float(generator.choice([0.3, 0.5, 0.7]))
    rate = 10 ** generator.uniform(-2, 1)
    return Plan("drawn", Task(T, q, d), rate, EPSILON, d_e, threshold)


def _scope(
    says: str, limits: Mapping[str, int], instances: Callable[[], Iterator[Plan]]
) -> Scope[Plan]:
    def named() -> Iterator[Plan]:
        for number, plan in enumerate(instances(), start=1):
            yield replace(plan, name=f"plan {number}")

    return Scope(says, dict(limits), named)


def _tasks(T: int, q: int, d: int) -> Iterator[Task]:
    """Every task within the sizes, the smallest first."""
    for longest, chosen, wide in product(range(2, T + 1), range(1, q + 1), range(1, d + 1)):
        if chosen < longest:
            yield Task(longest, chosen, wide)


def _one_hot(tasks: Sequence[Task]) -> Iterator[Plan]:
    for task in tasks:
        for rate in dict.fromkeys((*RATES, usual_rate(task, None))):
            yield Plan("plan", task, rate, EPSILON)


def _orthogonal(tasks: Sequence[Task]) -> Iterator[Plan]:
    """In four and in sixteen dimensions, where the entries are exact."""
    for d_e, task in product((4, 16), tasks):
        E = family("orthogonal", task.T, d_e, np.random.default_rng(0))
        if E is not None and len(E) == d_e:
            for rate in FEW_RATES:
                yield Plan("plan", task, rate, EPSILON, d_e, encodings=E)


def _says_signs(T: int) -> str:
    return ", ".join(f"d_e <= {most} for T = {size}" for size, most in SIGNS if size <= T)


def _signs(T: int, q: int) -> Iterator[Plan]:
    """One step size: they are for statements about encodings."""
    for size, most in SIGNS:
        for d_e, chosen in product(range(2, most + 1), range(1, min(q, size - 1) + 1)):
            task = Task(size, chosen, 1)
            if size > T or chosen > d_e:
                continue
            for E in all_signs(size, d_e):
                if independent(E, task):
                    yield Plan("plan", task, usual_rate(task, d_e), EPSILON, d_e, encodings=E)


def _whole_numbers(tasks: Sequence[Task], d_e: int) -> Iterator[Plan]:
    for task in tasks:
        if task.T <= TALLEST and task.q <= d_e:
            for E in all_whole(task.T, d_e):
                if independent(E, task):
                    for rate in FEW_RATES:
                        yield Plan("plan", task, rate, EPSILON, d_e, encodings=E)


def _plan(said: Mapping[str, Any]) -> Plan | None:
    """A plan with one-hot encodings from numbers, and words for those that depend on others."""
    T = said["T"]
    d = {"T": T, "10T": 10 * T}.get(said["d"], said["d"])
    q = {"T/4": max(-(-T // 4) - 1, 1), "T-1": T - 1}.get(said["q"], said["q"])
    if q >= T:
        return None
    task = Task(T, q, d)
    words = {"usual": usual_rate(task, None), "q/2": q / 2, "1.9q": 1.9 * q, "2.1q": 2.1 * q}
    eps = 0.999 * largest_epsilon(task) if said["eps"] == "largest" else said["eps"]
    return Plan("extreme", task, float(words.get(said["eta"], said["eta"])), eps)


def _key(plan: Plan) -> Any:
    return plan.task, plan.rate, plan.epsilon
