"""Descent just below and just above the largest stable step size."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context.experiments.plans import OfPlan, plans

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan

STEPS = (300, 600)
AWAY = 0.02
MOST_NUMBERS = 20_000
"""N H K of a plan."""


@dataclass(frozen=True, eq=False)
class Edge(OfPlan):
    """A plan at the edge of stability.

    Attributes:
        below, above: the gaps after 300 and 600 steps two per cent below the edge, and above it.
        factor: the edge over the theory's eta_w; NaN where there is none.
    """

    plan: "Plan"
    below: tuple[float, float]
    above: tuple[float, float]
    factor: float


def _gaps(plan: "Plan", rate: float) -> tuple[float, float]:
    """The gaps after 300 and 600 steps on w alone: Z-bar delta_k obeys a linear recursion."""
    task, attention = plan.task, plan.frozen.attention
    B = np.einsum("ij,jhk->kih", task.root, attention)
    squares = rate / task.K * B @ B.transpose(0, 2, 1)
    away = -(task.root @ task.target).T[:, :, None]
    found = []
    for step in range(1, STEPS[-1] + 1):
        away = away - squares @ away
        if step in STEPS:
            found.append(float(np.sum(away**2)) / (2 * task.K))
    return found[0], found[1]


def _edges(bench: Bench) -> Cases[Edge]:
    small = [p for p in plans(bench) if p.task.N * p.heads * p.task.K <= MOST_NUMBERS]
    edges = [(plan, plan.frozen.largest_stable_rate) for plan in small]
    return Cases(
        tuple(
            Edge(
                plan,
                below=_gaps(plan, (1 - AWAY) * edge),
                above=_gaps(plan, (1 + AWAY) * edge),
                factor=edge / float(plan.rates.w) if plan.frozen.zeta > 0 else float("nan"),
            )
            for plan, edge in edges
        )
    )


STABILITY: Experiment[Cases[Edge]] = Experiment(
    "stability", "600 steps two per cent below and above the edge, 13 tasks", _edges
)
