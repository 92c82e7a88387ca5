"""The tasks and transformers that statements are checked on."""

from dataclasses import replace
from typing import TYPE_CHECKING

from lemmata.old_claims import Bench
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan, Task


class OfTask:
    """A case about a task, which lends it its name and its problems."""

    task: "Task"

    @property
    def name(self) -> str:
        """The task's name."""
        return self.task.name

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The task's problems."""
        return self.task.problems


class OfPlan:
    """A case about a plan, which lends it its name, task and problems."""

    plan: "Plan"

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def task(self) -> "Task":
        """The plan's task."""
        return self.plan.task

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The plan's problems."""
        return self.plan.problems


SIZES = (
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
)
"""N, K, d, m, tau and H: more tokens than basic tasks and fewer, H = N and more, N = 1."""

GAUSSIAN_SIZES = (
    (2, 3, 20, 2, 0.1, 2),
    (3, 8, 10, 2, 0.1, 6),
    (4, 10, 30, 3, 0.1, 8),
    (6, 8, 100, 3, 0.1, 6),
)


def plans(bench: Bench) -> "list[Plan]":
    """The user's plans, or ours with tokens of unit norm."""
    if bench.instances is not None:
        return list(bench.instances)
    return _drawn(SIZES, bench.seed, unit=True)


def gaussian_plans(bench: Bench) -> "list[Plan]":
    """The user's plans, or ours with tokens as the experiments draw them."""
    if bench.instances is not None:
        return list(bench.instances)
    return _drawn(GAUSSIAN_SIZES, bench.seed, unit=False)


def _drawn(
    sizes: tuple[tuple[int, int, int, int, float, int], ...], seed: int, *, unit: bool
) -> "list[Plan]":
    from lemmata.papers.context.setting import Plan, draw_task

    kind = "" if unit else ", Gaussian tokens"
    return [
        Plan(
            draw_task(
                N,
                K,
                d,
                m,
                tau,
                seed=seed,
                unit=unit,
                name=f"N={N} K={K} d={d} m={m} tau={tau:g} H={H}{kind}",
            ),
            heads=H,
            seed=seed + 10,
        )
        for N, K, d, m, tau, H in sizes
    ]


def rescaled(plan: "Plan", factor: float) -> "Plan":
    """The same problem in other units: Z times the factor, tau times its square."""
    task = plan.task
    other = replace(
        task,
        representations=factor * task.representations,
        tau=factor**2 * task.tau,
        name=f"{task.name}, Z times {factor:g}",
    )
    return replace(plan, task=other)
