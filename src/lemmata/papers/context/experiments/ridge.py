"""Ridge regression with the transformer's regularizer m tau and the paper's N tau, against N."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context.experiments.plans import OfTask

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Task

m, K, d, TAU = 100, 200, 10, 0.01
"""Of Figure 3; the paper does not say K, and d does not matter."""

DRAWS = 3
PROMPTS = 200


@dataclass(frozen=True, eq=False)
class Sweep(OfTask):
    """One dictionary with prompts of every length N.

    Attributes:
        task: the dictionary; its own N does not matter.
        lengths: the N looked at.
        seed: of the prompts drawn.
    """

    task: "Task"
    lengths: Int[np.ndarray, "lengths"]
    seed: int

    @property
    def steps(self) -> Int[np.ndarray, "lengths"]:
        """What the columns of the numbers below stand for."""
        return self.lengths

    @cached_property
    def tasks(self) -> "list[Task]":
        """The task for every N."""
        return [replace(self.task, N=int(N)) for N in self.lengths]

    @cached_property
    def gaps(self) -> Float[np.ndarray, "lengths"]:
        """E ||y* - y-best||^2 / K."""
        from lemmata.papers.context.setting import gap_to_best

        return np.array([gap_to_best(task) for task in self.tasks])

    def risks(self, share: float | None) -> Float[np.ndarray, "lengths"]:
        """The mean risk over queries, with regularizer share times m tau; None for N tau."""
        levels = [t.N * t.tau if share is None else share * t.ridge for t in self.tasks]
        pairs = zip(self.tasks, levels, strict=True)
        return np.array([task.query_risks(level).mean() for task, level in pairs])

    @cached_property
    def fits(self) -> dict[str, Float[np.ndarray, "lengths prompts"]]:
        """For drawn labels: the norms of both coefficient vectors, and both misfits."""
        from lemmata.papers.context.setting import draw_labels, ridge_coefficients, standard_law

        found: dict[str, list[np.ndarray]] = {name: [] for name in ("norm", "best_norm")}
        found |= {"misfit": [], "best_misfit": []}
        for task in self.tasks:
            rng = np.random.default_rng([self.seed, task.N])
            labels = draw_labels(task, standard_law(task.m), rng, PROMPTS)[:, : task.N]
            for prefix, level in (("", task.ridge), ("best_", task.N * task.tau)):
                coefficients = ridge_coefficients(task, labels, level)
                found[f"{prefix}norm"].append(np.linalg.norm(coefficients, axis=1))
                away = labels - coefficients @ task.Z
                found[f"{prefix}misfit"].append(np.linalg.norm(away, axis=1))
        return {name: np.array(rows) for name, rows in found.items()}


def _lengths(paper_scale: bool) -> Int[np.ndarray, "lengths"]:
    if paper_scale:
        return np.arange(50, 151)
    return np.union1d(np.arange(50, 151, 5), [99, 101])


def _sweeps(bench: Bench) -> Cases[Sweep]:
    from lemmata.papers.context.setting import draw_task

    if bench.instances is not None:
        own = [plan.task for plan in bench.instances if plan.task.K > 1]
        return Cases(tuple(Sweep(task, np.arange(1, min(task.K, 400)), bench.seed) for task in own))
    drawn = (
        draw_task(m, K, d, m, TAU, seed=bench.seed + i, name=f"m={m} K={K} tau={TAU:g}, draw {i}")
        for i in range(DRAWS)
    )
    return Cases(
        tuple(
            Sweep(task, _lengths(bench.paper_scale), bench.seed + i) for i, task in enumerate(drawn)
        )
    )


def _figure(bench: Bench) -> Cases[Sweep]:
    return Cases(()) if bench.instances is not None else bench.evidence(SWEEPS)


SWEEPS: Experiment[Cases[Sweep]] = Experiment(
    "sweeps", "three dictionaries with m = 100, K = 200, tau = 0.01; N from 50 to 150", _sweeps
)

FIGURE_SWEEPS: Experiment[Cases[Sweep]] = Experiment(
    "figure-sweeps", "the same, and nothing on users' plans", _figure
)
