"""How the guaranteed rate depends on heads, on the dictionary, and on the tokens' norms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale, Several
from lemmata.settings import Evidence
from lemmata.tokens import Problem

from ..counterexamples import one_hot_tokens, two_equal_tokens
from ..setting import Plan, draw_task, exact_eigenvalue
from ..theory import best_rate, smoothness_simplified, theory_rates
from .plans import GAUSSIAN_PLANS, PLANS, OfPlan, Size, describe_size


@dataclass(frozen=True)
class Tasks(AbstractInstances):
    """Random tasks of one size, with as many heads as examples."""

    size: Size = (8, 80, 16, 4, 0.1)
    count: int = 12

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        return [self._plan(own) for own in range(seed, seed + self.count)]

    def _plan(self, seed: int) -> Plan:
        task = draw_task(*self.size, seed=seed, name=f"task {seed}")
        return Plan(task, heads=task.N, seed=seed + 100)

    @property
    def says(self) -> str:
        return f"{self.count} random tasks with {describe_size(self.size)}"


@dataclass(frozen=True, eq=False)
class Growth(OfPlan):
    """A plan, with more heads and with fewer tokens.

    The heads of a plan are among those of every plan with more of them.
    """

    plan: Plan

    @property
    def heads(self) -> tuple[int, ...]:
        """H and up to eight times as many."""
        return tuple(self.plan.heads * times for times in (1, 2, 4, 8))

    @property
    def sizes(self) -> tuple[int, ...]:
        """From the examples alone to the whole dictionary."""
        sizes = np.geomspace(self.task.N, self.task.K, 5)
        return tuple(int(K) for K in np.unique(np.rint(sizes)))

    @cached_property
    def rates_by_heads(self) -> Float[np.ndarray, "heads"]:
        """The rate that (18) guarantees with the least gamma and L of (17)."""
        plans = (replace(self.plan, heads=H) for H in self.heads)
        rates = (theory_rates(plan.constants, bound=smoothness_simplified) for plan in plans)
        return np.array([float(rate.guaranteed) for rate in rates])

    def rates_by_size(self, best: bool) -> Float[np.ndarray, "sizes"]:
        """The same with fewer tokens, or the best rate: its supremum over gamma."""
        constants = [self._with(K).constants for K in self.sizes]
        if best:
            return np.array([float(best_rate(c)) for c in constants])
        rates = (theory_rates(c, bound=smoothness_simplified) for c in constants)
        return np.array([float(rate.guaranteed) for rate in rates])

    def _with(self, K: int) -> Plan:
        """The first tokens alone."""
        task = self.task
        tokens, representations = task.tokens[:, :K], task.representations[:, :K]
        smaller = replace(task, tokens=tokens, representations=representations)
        return replace(self.plan, task=smaller)


def grow(
    experiment: Experiment[Evidence[Growth]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Growth]:
    """The rates that Theorem 1 guarantees with more heads, and with fewer tokens."""
    return Evidence(tuple(Growth(plan) for plan in plans))


GROWTH = Experiment(Tasks(), grow)


@dataclass(frozen=True, eq=False)
class Start(OfPlan):
    """A plan at its initialization.

    ``few_heads`` is the same with one head fewer than examples, and ``eigenvalues`` are the least
    and the largest of B_k B_k' for tokens k, in as many digits as they need.
    """

    plan: Plan
    exact: bool

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The plan's problems; zeta_0 is known where it was computed in high precision."""
        known = {"zeta_unresolved"} if self.exact else set()
        return tuple(p for p in self.plan.problems if p.code not in known)

    @cached_property
    def few_heads(self) -> Plan:
        """One head fewer than examples, if that leaves any."""
        return replace(self.plan, heads=max(self.plan.task.N - 1, 1))

    @cached_property
    def eigenvalues(self) -> list[tuple[Any, Any]]:
        """For every token, or for those of the smallest rank where digits are many."""
        sizes = self.plan.frozen.sizes**2
        if not self.exact:
            return [(float(row[-1]), float(row[0])) for row in sizes]
        Q, ranks = (
            np.asarray(self.plan.start.Q),
            np.sum(sizes > RESOLUTION**2 * sizes[:, :1], axis=1),
        )
        chosen = np.argsort(ranks, kind="stable")[:MOST_TOKENS]
        return [exact_eigenvalue(self.plan.task, Q, int(k)) for k in chosen]


MOST_TOKENS = 12
"""In high precision."""

RESOLUTION = 1e-12
"""Singular values below this part of the largest are rounding error."""

MOST_WORK = 40_000
"""N H d: more takes too long in high precision."""


MOST_SPREAD = 500.0
"""Of logits: attention that is e^-500 squares to 1e-434, which hundreds of digits tell from 0."""


def initialize(
    experiment: Experiment[Evidence[Start]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Start]:
    """The singular values of every B_k at the start, in more digits where float64 has too few."""

    def exact(plan: Plan) -> bool:
        small = plan.task.N * plan.heads * plan.task.d <= MOST_WORK
        return small and not plan.frozen.resolved and _spread(plan) <= MOST_SPREAD

    return Evidence(tuple(Start(plan, exact(plan)) for plan in plans))


def _spread(plan: Plan) -> float:
    """The largest difference of logits that attention compares."""
    task, Q = plan.task, np.asarray(plan.start.Q)
    logits = np.einsum("an,ahb,bk->nhk", task.prompt, Q, task.tokens, optimize=True)
    return float(np.ptp(logits, axis=0).max())


STARTS = Experiment(Several((PLANS, GAUSSIAN_PLANS)), initialize)


@dataclass(frozen=True)
class SpecialTokens(AbstractInstances):
    """One-hot tokens, and one-hot tokens of which one is repeated, for several first weights."""

    seeds: int = 20

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        seeds = range(seed, seed + self.seeds)
        return [make(own) for make in (one_hot_tokens, two_equal_tokens) for own in seeds]

    @property
    def says(self) -> str:
        return f"one-hot tokens, and two equal ones among them, for {self.seeds} first weights each"


SPECIAL_STARTS = Experiment(SpecialTokens(), initialize)
