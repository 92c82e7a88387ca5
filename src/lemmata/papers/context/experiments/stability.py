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
        steps: how many.
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
        below, above: how far apart two runs from different w are at the end, relative to the
            start, just below the edge and just above it.
        factor: the edge over the theory's eta_w; NaN where zeta_0 is not known.
    """

    plan: Plan
    below: float
    above: float
    factor: float


def _spread(plan: Plan, rate: float, steps: int) -> float:
    """The difference of two runs is Z-bar (A-hat - A-hat'), and obeys a linear recursion."""
    B = plan.frozen.scores
    squares = rate / plan.task.K * B @ B.transpose(0, 2, 1)
    apart = B @ np.random.default_rng(plan.seed).standard_normal((plan.task.K, plan.heads, 1))
    first = np.linalg.norm(apart)
    for _ in range(steps):
        apart = apart - squares @ apart
    return float(np.linalg.norm(apart) / first)


def descend_at_the_edge(
    experiment: Experiment[Evidence[Edge]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Edge]:
    """How two runs of descent on w come together or apart, with attention as at the start."""
    training: NearEdge = experiment.training
    edges = []
    for plan in plans:
        if plan.task.N * plan.heads * plan.task.K > MOST_NUMBERS:
            continue
        edge = plan.frozen.largest_stable_rate
        below, above = (
            _spread(plan, share * edge, training.steps)
            for share in (1 - training.away, 1 + training.away)
        )
        known = plan.frozen.resolved and plan.task.tau > 0
        factor = edge / float(plan.rates.w) if known else float("nan")
        edges.append(Edge(plan, below, above, factor))
    return Evidence(tuple(edges))


STABILITY = Experiment(PLANS, descend_at_the_edge, NearEdge())
