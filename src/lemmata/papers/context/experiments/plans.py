"""The tasks and transformers that statements are checked on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..setting import Plan, Task, draw_task

Size = tuple[int, int, int, int, float]
"""N, K, d, m and tau."""


def describe_size(size: Size) -> str:
    """The numbers of a task with their names."""
    N, K, d, m, tau = size
    return f"N={N} K={K} d={d} m={m} tau={tau:g}"


class OfPlan:
    """A case about a plan, which lends it its name, task and problems."""

    plan: Plan

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def instance(self) -> Plan:
        """The plan, for a witness."""
        return self.plan

    @property
    def task(self) -> Task:
        """The plan's task."""
        return self.plan.task

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The plan's problems."""
        return self.plan.problems


class OfTask(OfPlan):
    """A case about the task of a plan; what is wrong with its transformer does not matter."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The task's problems."""
        return self.task.problems


@dataclass(frozen=True)
class DrawnPlans(AbstractInstances):
    """Plans with random tokens and representations.

    Attributes:
        sizes: N, K, d, m, tau and H.
        unit: whether tokens have norm 1, as the theory asks, or are Gaussian, as the experiments
            draw them.
        scale: beta, of Q at the start.
    """

    sizes: tuple[tuple[int, int, int, int, float, int], ...]
    unit: bool = True
    scale: float = 1.0

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        return [self._plan(size, heads, seed) for *size, heads in self.sizes]

    def _plan(self, size: Sequence, heads: int, seed: int) -> Plan:
        name = f"{describe_size(tuple(size))} H={heads}" + ("" if self.unit else GAUSSIAN)
        name += "" if self.scale == 1 else f" beta={self.scale:g}"
        task = draw_task(*size, seed=seed, unit=self.unit, name=name)
        return Plan(task, heads=heads, seed=seed + 10, scale=self.scale)

    @property
    def says(self) -> str:
        start = "" if self.scale == 1 else f", beta = {self.scale:g}"
        return f"{len(self.sizes)} tasks with {'unit' if self.unit else 'Gaussian'} tokens{start}"


@dataclass(frozen=True)
class Dictionary(AbstractInstances):
    """Tasks with tokens of each kind, of one size to be quick and another for the paper.

    Section 4 gives all numbers but tau.

    Attributes:
        tokens: the kinds.
        quick, paper: the sizes.
        tasks: how many there are of each kind, to be quick; the paper has one.
    """

    tokens: tuple[str, ...] = ("unit", "Gaussian")
    quick: Size = (6, 20, 30, 4, 0.01)
    paper: Size = (30, 200, 100, 20, 0.01)
    tasks: int = 1

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        size, count = (self.paper, 1) if scale == "paper" else (self.quick, self.tasks)
        tasks = (
            (own, draw_task(*size, seed=own, unit=kind == "unit"))
            for kind in self.tokens
            for own in range(seed, seed + count)
        )
        return [Plan(task, heads=task.N, seed=own + 1) for own, task in tasks]

    @property
    def says(self) -> str:
        count = f", {self.tasks} tasks" if self.tasks > 1 else ""
        return (
            f"{' and '.join(self.tokens)} tokens, {describe_size(self.quick)}{count} "
            f"({describe_size(self.paper)} at paper scale)"
        )


def common(rows: Sequence[np.ndarray]) -> np.ndarray | None:
    """The steps or lengths that all cases have, if they have the same."""
    return rows[0] if len({tuple(row) for row in rows}) == 1 else None


GAUSSIAN = ", Gaussian tokens"

PLANS = DrawnPlans(
    (
        (2, 4, 4, 2, 0.5, 2),
        (2, 4, 4, 2, 0.5, 4),
        (3, 8, 4, 2, 0.1, 3),
        (3, 8, 4, 2, 0.1, 4),
        (3, 8, 4, 2, 0.1, 6),
        (3, 8, 4, 2, 0.1, 12),
        (4, 10, 6, 3, 0.1, 8),
        (4, 10, 6, 3, 0.1, 16),
        (6, 12, 8, 5, 0.1, 12),
        (6, 12, 8, 5, 1.0, 12),
        (5, 6, 5, 5, 0.3, 10),
        (2, 5, 3, 6, 0.2, 5),
        (1, 3, 2, 1, 0.2, 1),
        (4, 4, 5, 2, 0.1, 6),
    )
)
"""More tokens than basic tasks and fewer, H = N and more, N = 1, N close to K and N = K."""

GAUSSIAN_PLANS = DrawnPlans(
    ((2, 3, 20, 2, 0.1, 2), (3, 8, 10, 2, 0.1, 6), (4, 10, 30, 3, 0.1, 8), (6, 8, 100, 3, 0.1, 6)),
    unit=False,
)


def rescaled(plan: Plan, factor: float) -> Plan:
    """The same problem in other units: Z times the factor, tau times its square."""
    task = plan.task
    other = replace(
        task,
        representations=factor * task.representations,
        tau=factor**2 * task.tau,
        name=f"{task.name}, Z times {factor:g}",
    )
    return replace(plan, task=other)


@dataclass(frozen=True)
class InOtherUnits(AbstractInstances):
    """Plans in units from a hundredth to a hundredfold."""

    plans: AbstractInstances = PLANS
    factors: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        plans = self.plans.draw(seed, scale)
        return [rescaled(plan, factor) for plan in plans for factor in self.factors]

    @property
    def says(self) -> str:
        return f"{self.plans.says}, Z times {', '.join(f'{f:g}' for f in self.factors)}"


def look_at(
    experiment: Experiment[Evidence[Plan]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Plan]:
    """Nothing is trained."""
    return Evidence(tuple(plans))


AS_THEY_ARE = Experiment(PLANS, look_at)
SCALES = Experiment(InOtherUnits(), look_at)
"""Other units leave descent as it is, but not every bound."""
