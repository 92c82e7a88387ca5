"""How the guaranteed rate depends on heads, on the dictionary, and on the tokens' norms."""

from collections.abc import Callable, Sequence
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


@dataclass(frozen=True, eq=False)
class Family:
    """Plans that differ in one number, for several seeds.

    Attributes:
        name: which number.
        values: what it is.
        plans: one row a seed.
    """

    name: str
    values: tuple[int, ...]
    plans: tuple[tuple[Plan, ...], ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def rates(self) -> Float[np.ndarray, "seeds values"]:
        """The rate that it guarantees with the least gamma and L of (17)."""
        bound = smoothness_simplified
        return self._each(lambda plan: theory_rates(plan.constants, bound=bound).guaranteed)

    @cached_property
    def best_rates(self) -> Float[np.ndarray, "seeds values"]:
        """The supremum of that rate over gamma."""
        return self._each(lambda plan: best_rate(plan.constants))

    def _each(self, value: Callable[[Plan], float]) -> Float[np.ndarray, "seeds values"]:
        return np.array([[value(plan) for plan in row] for row in self.plans])


@dataclass(frozen=True)
class Families(AbstractInstances):
    """Random tasks, with growing numbers of heads, and with growing dictionaries.

    Attributes:
        size: N, K, d, m and tau.
        heads: how many times N.
        dictionaries: the K looked at with 2N heads, each part of the next.
        seeds: how many tasks.
    """

    size: Size = (8, 20, 16, 4, 0.1)
    heads: tuple[int, ...] = (1, 2, 4, 8)
    dictionaries: tuple[int, ...] = (12, 20, 40, 80)
    seeds: int = 12

    def draw(self, seed: int, scale: Scale) -> Sequence[Family]:
        N, K, *_ = self.size
        seeds = range(seed, seed + self.seeds)
        heads = tuple(share * N for share in self.heads)
        by_heads = tuple(tuple(self._plan(own, K, H) for H in heads) for own in seeds)
        by_size = tuple(
            tuple(self._plan(own, size, 2 * N) for size in self.dictionaries) for own in seeds
        )
        return (Family("heads", heads, by_heads), Family("tokens", self.dictionaries, by_size))

    def _plan(self, seed: int, size: int, heads: int) -> Plan:
        N, _, d, m, tau = self.size
        task = draw_task(N, max(self.dictionaries), d, m, tau, seed=seed)
        nested = replace(
            task, tokens=task.tokens[:, :size], representations=task.representations[:, :size]
        )
        return Plan(nested, heads=heads, seed=seed + 100)

    @property
    def says(self) -> str:
        N, K = self.size[0], self.dictionaries
        return (
            f"{self.seeds} random tasks with {describe_size(self.size)}; H from "
            f"{self.heads[0] * N} to {self.heads[-1] * N}, K from {K[0]} to {K[-1]}"
        )


def compare_families(
    experiment: Experiment[Evidence[Family]], families: Sequence[Family], bench: Bench
) -> Evidence[Family]:
    """The rates that Theorem 1 guarantees."""
    return Evidence(tuple(families))


FAMILIES = Experiment(Families(), compare_families, own=True)


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


SPECIAL_STARTS = Experiment(SpecialTokens(), initialize, own=True)
