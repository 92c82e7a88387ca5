"""How plans vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from lemmata.settings import AbstractSpace, Balls, Scope

from ._extremes import (
    EPSILON,
    draw_near_theorem,
    draw_with_law,
    extreme_plans,
    small_plans,
)
from ._family import FAMILIES, dressed, encoded, plain
from ._plan import OnlineChoices, Plan, usual_rate
from ._plan_training import LARGEST_ALPHA, PlanTraining
from ._replay import replay
from ._task import Task

TALL = 16
"""Encodings in more dimensions are halved, and not shortened by one."""


class PlanSpace(AbstractSpace[Plan]):
    """Sizes, the step size, the loss to reach, and encodings."""

    limits: ClassVar = {"T": 12, "q": 3, "d": 3}

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Plan]]:
        return small_plans(*(limits.get(name, self.limits[name]) for name in ("T", "q", "d")))

    def extremes(self) -> Iterator[Plan]:
        return extreme_plans()

    def draw(self, generator: np.random.Generator) -> Plan:
        kind = generator.random()
        if kind < 0.2:
            return draw_near_theorem(generator) if kind < 0.1 else draw_with_law(generator)
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
        return dressed(plan, kind, generator) or plan

    def vary(self, instance: Plan, generator: np.random.Generator) -> Plan:
        what = generator.choice(["T", "q", "d", "eta", "eps", "encodings", "query"])
        task = instance.task
        if what == "eta":
            factor = 10 ** generator.normal(0, 0.4)
            return replace(instance, rate=_short(instance.rate * factor))
        if what == "eps":
            factor = 10 ** generator.normal(0, generator.choice([0.01, 0.1, 1.0]))
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
        return self._dress(plain(instance, task), generator)

    def _vary_encodings(self, instance: Plan, generator: np.random.Generator) -> Plan:
        if instance.encodings is None or generator.random() < 0.3:
            return self._dress(plain(instance, instance.task), generator)
        noise = 10 ** generator.uniform(-3, 0) * generator.standard_normal(instance.encodings.shape)
        moved = np.round(instance.encodings + noise, 3)
        return encoded(instance, moved) or instance

    def simpler(self, instance: Plan) -> Iterator[Plan]:
        task = instance.task
        if instance.training != OnlineChoices():
            yield replace(instance, training=OnlineChoices())
        if instance.kind != "one-hot":
            yield plain(instance, task)
        for T, q, d in _smaller(task):
            smaller = Task(T, q, d)
            if instance.encodings is None:
                yield replace(instance, task=smaller)
                if d < task.d:
                    yield replace(instance, task=smaller, rate=usual_rate(smaller, instance.d_e))
            else:
                for E in _fewer(instance.encodings, T):
                    made = encoded(plain(instance, smaller), E)
                    if made is not None:
                        yield made
        for rate in (usual_rate(task, instance.d_e), 1.0, 0.5, 2.0, *_rounder(instance.rate)):
            yield replace(instance, rate=rate)
        for epsilon in (EPSILON, *_rounder(instance.epsilon)):
            yield replace(instance, epsilon=epsilon)
        if instance.encodings is not None:
            for digits in (0, 1, 2):
                made = encoded(instance, np.round(instance.encodings, digits))
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

    def equivalents(self, instance: Plan) -> Iterator[Plan]:
        """Given encodings with positions or coordinates in another order."""
        if instance.encodings is not None:
            yield replace(instance, encodings=instance.encodings[:, ::-1].copy())
            yield replace(instance, encodings=-instance.encodings[::-1].copy())

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Numbers of steps, and every step of the first ones; eta is the plan's."""
        return (
            {},
            {"steps": 10},
            {"steps": 60, "record": tuple(range(61))},
            {"steps": 1_000},
            {"record": (0, 1, 2, 3, 4, 5)},
            {"steps": 100_000},
        )

    def replay(
        self, instance: Plan, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        said = {name: value for name, value in options.items() if value is not None}
        average = said.pop("average", None)
        training = PlanTraining(**said)
        if training.algorithm != "gd" or (average is not None and instance.kind == "random"):
            return None
        average = average or ("inside" if instance.kind == "random" else "outside")
        rate = training.step_size(instance)
        return replay(training.of(instance), rate, LARGEST_ALPHA, steps, average)


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
    if len(E) > TALL:
        yield kept[: len(E) // 2] * np.sqrt(len(E) / (len(E) // 2))
    elif len(E) > 1:
        yield from (np.delete(kept, i, axis=0) for i in range(len(E)))


def _rounder(value: float) -> Iterator[float]:
    """Rounder numbers nearby: a power of ten, and fewer digits."""
    yield 10.0 ** round(np.log10(value))
    for digits in (0, 1, 2):
        yield float(f"{value:.{digits}e}")


def _short(value: float) -> float:
    """With three digits."""
    return float(f"{value:.2e}")
