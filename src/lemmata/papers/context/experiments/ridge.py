"""Ridge regression with the transformer's regularizer m tau and the paper's N tau, against N."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale
from lemmata.settings import Evidence

from ..setting import (
    Plan,
    Task,
    draw_labels,
    draw_task,
    gap_to_best,
    ridge_coefficients,
    standard_law,
)
from .plans import OfTask, Size, common, describe_size

PROMPTS = 200

SMALL = 100
"""Dictionaries up to this size are looked at for every N."""


@dataclass(frozen=True)
class Dictionaries(AbstractInstances):
    """Random dictionaries of one size; the paper does not say K, and d does not matter."""

    size: Size = (100, 200, 10, 100, 0.01)
    count: int = 3

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        _, K, _, m, tau = self.size
        tasks = (
            draw_task(*self.size, seed=seed + i, name=f"m={m} K={K} tau={tau:g}, draw {i}")
            for i in range(self.count)
        )
        return [Plan(task, heads=task.N) for task in tasks]

    @property
    def says(self) -> str:
        return f"{self.count} dictionaries with {describe_size(self.size)}"


@dataclass(frozen=True, eq=False)
class Sweep(OfTask):
    """One dictionary with prompts of every length N.

    Attributes:
        plan: the dictionary; its own N and heads do not matter.
        lengths: the N looked at.
        seed: of the prompts drawn.
    """

    plan: Plan
    lengths: Int[np.ndarray, "lengths"]
    seed: int

    @cached_property
    def tasks(self) -> list[Task]:
        """The task for every N."""
        return [replace(self.task, N=int(N)) for N in self.lengths]

    @cached_property
    def gaps(self) -> Float[np.ndarray, "lengths"]:
        """E ||y* - y-best||^2 / K."""
        return np.array([gap_to_best(task) for task in self.tasks])

    def risks(self, share: float | None) -> Float[np.ndarray, "lengths"]:
        """The mean risk over queries, with regularizer share times m tau; None for N tau."""
        return self._over_lengths(share, lambda task, level: task.query_risks(level).mean())

    def noise(self, share: float | None) -> Float[np.ndarray, "lengths"]:
        """How much of the labels' noise is in a prediction, on average over queries."""

        def variance(task: Task, level: float) -> float:
            return float(np.sum((task.ridge_map(level) @ task.Z_query) ** 2, axis=0).mean())

        return self._over_lengths(share, variance)

    def _over_lengths(
        self, share: float | None, value: Callable[[Task, float], float]
    ) -> Float[np.ndarray, "lengths"]:
        levels = [t.N * t.tau if share is None else share * t.ridge for t in self.tasks]
        return np.array([value(t, level) for t, level in zip(self.tasks, levels, strict=True)])

    @cached_property
    def fits(self) -> dict[str, Float[np.ndarray, "lengths prompts"]]:
        """For drawn labels: the norms of both coefficient vectors, both misfits, and the size of
        what is subtracted on the way, by which rounding is measured."""
        rows: dict[str, list[np.ndarray]] = defaultdict(list)
        for task in self.tasks:
            rng = np.random.default_rng([self.seed, task.N])
            labels = draw_labels(task, standard_law(task.m), rng, PROMPTS)[:, : task.N]
            for prefix, level in (("", task.ridge), ("best_", task.N * task.tau)):
                coefficients = ridge_coefficients(task, labels, level)
                rows[f"{prefix}norm"].append(np.linalg.norm(coefficients, axis=1))
                away = labels - coefficients @ task.Z
                rows[f"{prefix}misfit"].append(np.linalg.norm(away, axis=1))
            given, found = np.linalg.norm(labels, axis=1), rows["norm"][-1]
            rows["size of misfit"].append(given + task.sizes[0] * found)
            rows["size of norm"].append(found)
        return {name: np.array(row) for name, row in rows.items()}


def lengths_of(task: Task, scale: Scale) -> Int[np.ndarray, "lengths"]:
    """All N below K for a small dictionary, else those around m: a twentieth of m apart, or all."""
    if task.K <= SMALL:
        return np.arange(1, task.K)
    low, high = max(1, min(task.m, task.K) // 2), min(task.K - 1, 3 * task.m // 2)
    if scale == "paper":
        return np.arange(low, high + 1)
    spaced = np.arange(low, high + 1, max(1, task.m // 20))
    near = np.arange(task.m - 1, task.m + 2)
    return np.union1d(spaced, near[(near >= low) & (near <= high)])


def sweep_lengths(
    experiment: Experiment[Evidence[Sweep]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Sweep]:
    """Ridge regression with both regularizers for prompts of many lengths N."""
    sweeps = tuple(
        Sweep(plan, lengths_of(plan.task, experiment.scale), experiment.seed + i)
        for i, plan in enumerate(plans)
        if plan.task.K > 1
    )
    return Evidence(sweeps, common([sweep.lengths for sweep in sweeps]))


SWEEPS = Experiment(Dictionaries(), sweep_lengths)
FIGURE_SWEEPS = Experiment(Dictionaries(), sweep_lengths, own=True)
"""For what only the figure is said to show."""
