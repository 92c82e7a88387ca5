"""Descent just below and just above the largest stable step size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Plan
from .plans import PLANS, OfPlan

MOST_NUMBERS = 20_000
"""N H K of a plan."""


@dataclass(frozen=True)
class NearEdge:
    """Descent on w alone, with step sizes on both sides of the edge.

    Attributes:
        steps: how many; looked at after half of them, and at the end.
        away: how far from the edge, relative to it.
    """

    steps: int = 600
    away: float = 0.02

    @property
    def says(self) -> str:
        """What is run."""
        return f"{self.steps:,} steps {100 * self.away:g} % below and above the edge"


@dataclass(frozen=True, eq=False)
class Edge(OfPlan):
    """A plan at the edge of stability.

    Attributes:
        below, above: the gaps halfway and at the end, just below the edge and just above it.
        factor: the edge over the theory's eta_w; NaN where zeta_0 is not known.
    """

    plan: Plan
    below: tuple[float, float]
    above: tuple[float, float]
    factor: float


def _gaps(plan: Plan, rate: float, steps: int) -> tuple[float, float]:
    """The gaps halfway and at the end: Z-bar delta_k obeys a linear recursion."""
    task, attention = plan.task, plan.frozen.attention
    B = np.einsum("ij,jhk->kih", task.root, attention)
    squares = rate / task.K * B @ B.transpose(0, 2, 1)
    away = -(task.root @ task.target).T[:, :, None]
    gaps = []
    for _ in range(steps):
        away = away - squares @ away
        gaps.append(float(np.sum(away**2)) / (2 * task.K))
    return gaps[max(steps // 2, 1) - 1], gaps[-1]


def descend_at_the_edge(
    experiment: Experiment[Evidence[Edge]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Edge]:
    """The gaps of descent on w with attention as at the start."""
    training: NearEdge = experiment.training
    edges = []
    for plan in plans:
        if plan.task.N * plan.heads * plan.task.K > MOST_NUMBERS:
            continue
        edge = plan.frozen.largest_stable_rate
        below, above = (
            _gaps(plan, share * edge, training.steps)
            for share in (1 - training.away, 1 + training.away)
        )
        factor = edge / float(plan.rates.w) if plan.frozen.resolved else float("nan")
        edges.append(Edge(plan, below, above, factor))
    return Evidence(tuple(edges))


STABILITY = Experiment(PLANS, descend_at_the_edge, NearEdge())
