"""How plans vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from lemmata.settings import AbstractSpace, Balls, Scope

from ._family import FAMILIES, all_whole, family, independent
from ._plan import OnlineChoices, Plan, usual_rate
from ._plan_training import LARGEST_ALPHA, PlanTraining
from ._replay import replay
from ._task import Task

EPSILON = 1e-3
"""The loss to reach, within the hypotheses of small tasks."""

RATES = (1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0)
"""Step sizes of scopes; descent is stable below about 2q."""

FEW_RATES = (0.05, 0.5, 2.0)

EXTREMES: dict[str, tuple[Any, ...]] = {
    "T": (2, 3, 4, 9, 33, 200, 5_000, 100_000),
    "q": (1, 2, 3, 8, 30, "T/4", "T-1"),
    "d": (1, 2, 5, 30, 1_000, 100_000),
    "eta": (1e-6, 1e-3, 0.05, 0.3, 1.0, 3.0, 10.0, 1e3, "usual", "q/2", "1.9q", "2.1q"),
    "eps": (1e-12, 1e-6, 0.1, 1e3),
}
"""Both ends of every parameter, and where hypotheses and stability end."""

BASES = (
    {"T": 3, "q": 1, "d": 1, "eta": 1.0, "eps": EPSILON},
    {"T": 9, "q": 2, "d": 1, "eta": "usual", "eps": EPSILON},
    {"T": 40, "q": 3, "d": 5, "eta": "usual", "eps": EPSILON},
)
"""Plans at which extremes are tried."""

ENCODED = ((3, 1), (4, 2), (9, 2))
"""T and q of plans with encodings of their own, among extremes."""

TALLEST = 4
"""Positions of whole-number encodings that are gone through."""


class PlanSpace(AbstractSpace[Plan]):
    """Sizes, the step size, the loss to reach, and encodings."""

    limits: ClassVar = {"T": 12, "q": 3, "d": 3}

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Plan]]:
        T, q, d = (limits.get(name, self.limits[name]) for name in ("T", "q", "d"))
        size = f"T <= {T}, q <= {q}, d <= {d}"
        few = f"T <= {min(T, TALLEST)}, q <= {q}, d <= {d}"
        tasks = list(_tasks(T, q, d))
        return [
            _scope(f"one-hot, {size}", limits, lambda: _plans(tasks, RATES)),
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

    def extremes(self) -> Iterator[Plan]:
        """Parameters in pairs with one-hot encodings, then encodings of every kind."""
        seen: set[Any] = set()
        for base, (first, second) in product(BASES, combinations(EXTREMES, 2)):
            for a, b in product(EXTREMES[first], EXTREMES[second]):
                plan = _plan({**base, first: a, second: b})
                if plan is not None and _key(plan) not in seen:
                    seen.add(_key(plan))
                    yield replace(plan, name=f"extreme {len(seen)}")
        encoded = product(ENCODED, FAMILIES, ("usual", 1.0))
        for number, ((T, q), kind, eta) in enumerate(encoded):
            plain = _plan({"T": T, "q": q, "d": 1, "eta": 0.05, "eps": EPSILON})
            assert plain is not None
            dressed = _dressed(plain, kind, np.random.default_rng(number))
            if dressed is not None:
                rate = usual_rate(dressed.task, dressed.d_e) if eta == "usual" else float(eta)
                yield replace(dressed, name=f"{kind} {number}", rate=rate)
        for T, q, d_e in ((6, 2, 64), (9, 2, 64)):
            yield Plan(f"random {T}", Task(T, q, 1), 0.05, EPSILON, d_e, 0.5)

    def draw(self, generator: np.random.Generator) -> Plan:
        q = int(generator.integers(1, 5))
        T = q + int(np.ceil(3 * q * 10 ** generator.uniform(-1.5, 1)))
        d = int(10 ** generator.uniform(0, 1.5))
        rate = 10 ** generator.uniform(-3, 1.5)
        if generator.random() < 0.5:
            rate = min(rate, usual_rate(Task(T, q, d), None))
        plan = Plan("drawn", Task(T, q, d), _short(rate), EPSILON)
        return self._dress(plan, generator) if generator.random() < 0.25 else plan

    def _dress(self, plan: Plan, generator: np.random.Generator) -> Plan:
        """With encodings of a kind, if there are some of this size."""
        kind = FAMILIES[int(generator.integers(len(FAMILIES)))]
        return _dressed(plan, kind, generator) or plan

    def vary(self, instance: Plan, generator: np.random.Generator) -> Plan:
        what = generator.choice(["T", "q", "d", "eta", "eps", "encodings", "query"])
        task = instance.task
        if what == "eta":
            factor = 10 ** generator.normal(0, 0.4)
            return replace(instance, rate=_short(instance.rate * factor))
        if what == "eps":
            factor = 10 ** generator.normal(0, 1.0)
            return replace(instance, epsilon=_short(instance.epsilon * factor))
        if what == "query":
            x_query = ("zero", "fixed", "random")[int(generator.integers(3))]
            return replace(instance, training=replace(instance.training, x_query=x_query))
        if what == "encodings":
            return self._vary_encodings(instance, generator)
        factor = 10 ** generator.normal(0, 0.2)
        size = max(1, round(getattr(task, str(what)) * factor) + int(generator.integers(-1, 2)))
        return self._resized(instance, str(what), size, generator)

    def _resized(
        self, instance: Plan, what: str, size: int, generator: np.random.Generator
    ) -> Plan:
        """With another T, q or d; encodings are made anew where they no longer fit."""
        sizes = {name: getattr(instance.task, name) for name in ("T", "q", "d")} | {what: size}
        T, q = max(sizes["T"], 2), sizes["q"]
        task = Task(T, min(q, T - 1), sizes["d"])
        if instance.kind == "one-hot" or what == "d":
            return replace(instance, task=task)
        return self._dress(_plain(instance, task), generator)

    def _vary_encodings(self, instance: Plan, generator: np.random.Generator) -> Plan:
        if instance.encodings is None or generator.random() < 0.3:
            return self._dress(_plain(instance, instance.task), generator)
        noise = 10 ** generator.uniform(-3, 0) * generator.standard_normal(instance.encodings.shape)
        moved = np.round(instance.encodings + noise, 3)
        return _encoded(instance, moved) or instance

    def simpler(self, instance: Plan) -> Iterator[Plan]:
        task = instance.task
        if instance.training != OnlineChoices():
            yield replace(instance, training=OnlineChoices())
        if instance.kind != "one-hot":
            yield _plain(instance, task)
        for T, q, d in _smaller(task):
            smaller = Task(T, q, d)
            if instance.encodings is None:
                yield replace(instance, task=smaller)
                if d < task.d:
                    yield replace(instance, task=smaller, rate=usual_rate(smaller, instance.d_e))
            else:
                for E in _fewer(instance.encodings, T):
                    made = _encoded(_plain(instance, smaller), E)
                    if made is not None:
                        yield made
        for rate in (usual_rate(task, instance.d_e), 1.0, 0.5, 2.0, *_rounder(instance.rate)):
            yield replace(instance, rate=rate)
        for epsilon in (EPSILON, *_rounder(instance.epsilon)):
            yield replace(instance, epsilon=epsilon)
        if instance.encodings is not None:
            for digits in (0, 1, 2):
                made = _encoded(instance, np.round(instance.encodings, digits))
                if made is not None:
                    yield made

    def size(self, instance: Plan) -> tuple[float | int, ...]:
        """Whether encodings are given, T, q, d, d_e, and what there is to type."""
        task, given = instance.task, instance.kind != "one-hot"
        usual = (usual_rate(task, instance.d_e), EPSILON)
        said = zip((instance.rate, instance.epsilon), usual, strict=True)
        numbers = [value for value, common in said if value != common]
        if instance.encodings is not None:
            numbers += [x for x in instance.encodings.ravel().tolist() if x]
        digits = sum(len(f"{x:.17g}") for x in numbers)
        choices = len(instance.training.document())
        return (int(given), task.T, task.q, task.d, instance.d_e or 0, digits, choices)

    def degenerate(self, instance: Plan) -> str | None:
        if instance.task.q == instance.task.T:
            return "every position is chosen, so that nothing is selected"
        return None

    def changes(self, instance: Plan) -> Iterator[tuple[str, Plan]]:
        task, said = instance.task, instance.training
        yield "the loss to reach", replace(instance, epsilon=instance.epsilon / 2)
        query = "fixed" if said.x_query == "zero" else "zero"
        yield "x_query", replace(instance, training=replace(said, x_query=query))
        yield "the step size by a factor of 2", replace(instance, rate=instance.rate / 2)
        yield "the dimension d", replace(instance, task=replace(task, d=task.d + 1))
        if instance.encodings is None:
            yield "one position more", replace(instance, task=replace(task, T=task.T + 1))
        if instance.kind == "one-hot" and task.T <= 64:
            own = replace(instance, d_e=task.T, encodings=np.eye(task.T))
            yield "whether the unit vectors are called one-hot or given", own

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Numbers of steps, and every step of the first ones; eta is the plan's."""
        return (
            {},
            {"steps": 10},
            {"steps": 60, "record": tuple(range(61))},
            {"steps": 1_000},
            {"record": (0, 1, 2, 3, 4, 5)},
        )

    def replay(
        self, instance: Plan, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        said = {name: value for name, value in options.items() if value is not None}
        training = PlanTraining(**said)
        if training.algorithm != "gd":
            return None
        return replay(training.of(instance), training.step_size(instance), LARGEST_ALPHA, steps)


def _scope(says: str, limits: Mapping[str, int], instances: Any) -> Scope[Plan]:
    def named() -> Iterator[Plan]:
        for number, plan in enumerate(instances(), start=1):
            yield replace(plan, name=f"plan {number}")

    return Scope(says, dict(limits), named)


def _tasks(T: int, q: int, d: int) -> Iterator[Task]:
    """Every task within the sizes, the smallest first."""
    for longest, chosen, wide in product(range(2, T + 1), range(1, q + 1), range(1, d + 1)):
        if chosen < longest:
            yield Task(longest, chosen, wide)


def _plans(tasks: Sequence[Task], rates: Sequence[float]) -> Iterator[Plan]:
    for task, rate in product(tasks, rates):
        yield Plan("plan", task, rate, EPSILON)
        if rate == rates[0] and usual_rate(task, None) not in rates:
            yield Plan("plan", task, usual_rate(task, None), EPSILON)


def _orthogonal(tasks: Sequence[Task]) -> Iterator[Plan]:
    """In four and in sixteen dimensions, where the entries are exact."""
    for d_e, task in product((4, 16), tasks):
        E = family("orthogonal", task.T, d_e, np.random.default_rng(0))
        if E is not None and len(E) == d_e:
            for rate in FEW_RATES:
                yield Plan("plan", task, rate, EPSILON, d_e, encodings=E)


def _whole_numbers(tasks: Sequence[Task], d_e: int) -> Iterator[Plan]:
    for task in tasks:
        if task.T <= TALLEST and task.q <= d_e:
            for E in all_whole(task.T, d_e):
                if independent(E, task):
                    for rate in FEW_RATES:
                        yield Plan("plan", task, rate, EPSILON, d_e, encodings=E)


def _plan(said: Mapping[str, Any]) -> Plan | None:
    """A plan with one-hot encodings from numbers, and words for those that depend on others."""
    T, d = said["T"], said["d"]
    q = {"T/4": max(-(-T // 4) - 1, 1), "T-1": T - 1}.get(said["q"], said["q"])
    if q >= T:
        return None
    task = Task(T, q, d)
    words = {"usual": usual_rate(task, None), "q/2": q / 2, "1.9q": 1.9 * q, "2.1q": 2.1 * q}
    return Plan("extreme", task, float(words.get(said["eta"], said["eta"])), said["eps"])


def _key(plan: Plan) -> Any:
    return plan.task, plan.rate, plan.epsilon


def _plain(plan: Plan, task: Task) -> Plan:
    """With one-hot encodings."""
    return replace(plan, task=task, d_e=None, threshold=1.0, encodings=None)


def _dressed(plan: Plan, kind: str, generator: np.random.Generator) -> Plan | None:
    """With encodings of a kind; None if there are none of this size."""
    T, q = plan.task.T, plan.task.q
    if T > 12:
        return None
    E = family(kind, T, max(q, T + int(generator.integers(-1, 3))), generator)
    return None if E is None else _encoded(plan, E)


def _encoded(plan: Plan, E: np.ndarray) -> Plan | None:
    """With these encodings, unless a file with them would be refused."""
    d_e = E.shape[0]
    if plan.task.q > d_e or E.shape[1] != plan.task.T or not independent(E, plan.task):
        return None
    return replace(plan, d_e=d_e, threshold=1.0, encodings=E)


def _smaller(task: Task) -> Iterator[tuple[int, int, int]]:
    """Fewer positions, smaller subsets, fewer dimensions."""
    T, q, d = task.T, task.q, task.d
    sizes = product(
        sorted({T, q + 1, 4 * q + 1, T // 2, T - 1}),
        sorted({q, 1, 2, q // 2, q - 1}),
        sorted({d, 1, d // 2, d - 1}),
    )
    for fewer, chosen, narrow in sizes:
        smaller = (
            fewer <= T and chosen <= q and narrow <= d and (fewer, chosen, narrow) != (T, q, d)
        )
        if smaller and 1 <= chosen < fewer and narrow >= 1:
            yield fewer, chosen, narrow


def _fewer(E: np.ndarray, T: int) -> Iterator[np.ndarray]:
    """So many of the positions, and without one dimension."""
    kept = E[:, :T]
    yield kept
    if E.shape[1] - T == 1:
        yield from (np.delete(E, i, axis=1) for i in range(T))
    if len(E) > 1:
        yield from (np.delete(kept, i, axis=0) for i in range(len(E)))


def _rounder(value: float) -> Iterator[float]:
    """Rounder numbers nearby: a power of ten, and fewer digits."""
    yield 10.0 ** round(np.log10(value))
    for digits in (0, 1, 2):
        yield float(f"{value:.{digits}e}")


def _short(value: float) -> float:
    """With three digits."""
    return float(f"{value:.2e}")
