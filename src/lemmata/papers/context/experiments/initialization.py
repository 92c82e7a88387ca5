"""How the guaranteed rate depends on heads, on the dictionary, and on the tokens' norms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context import theory
from lemmata.papers.context.experiments.plans import OfPlan, gaussian_plans, plans
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan

SEEDS = 12
HEADS = (1, 2, 4, 8)
"""Times N."""

N, K, d, m, TAU = 8, 20, 16, 4, 0.1
DICTIONARIES = (12, 20, 40, 80)


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
    plans: "tuple[tuple[Plan, ...], ...]"
    problems: tuple[Problem, ...] = ()

    @cached_property
    def best_rates(self) -> Float[np.ndarray, "seeds values"]:
        """The largest rate that Theorem 1 can guarantee."""
        return np.array([[theory.best_rate(p.constants) for p in row] for row in self.plans])

    @cached_property
    def rates(self) -> Float[np.ndarray, "seeds values"]:
        """The rate that it guarantees with the least gamma and L of (17)."""
        bound = theory.smoothness_simplified
        return np.array(
            [
                [theory.theory_rates(p.constants, bound=bound).guaranteed for p in row]
                for row in self.plans
            ]
        )


def _plan(seed: int, size: int, heads: int) -> "Plan":
    from lemmata.papers.context.setting import Plan, draw_task

    task = draw_task(N, max(DICTIONARIES), d, m, TAU, seed=seed)
    nested = replace(
        task, tokens=task.tokens[:, :size], representations=task.representations[:, :size]
    )
    return Plan(nested, heads=heads, seed=seed + 100)


def _families(bench: Bench) -> Cases[Family]:
    if bench.instances is not None:
        return Cases(())
    seeds = range(bench.seed, bench.seed + SEEDS)
    heads = tuple(share * N for share in HEADS)
    by_heads = tuple(tuple(_plan(seed, K, H) for H in heads) for seed in seeds)
    by_size = tuple(tuple(_plan(seed, size, 2 * N) for size in DICTIONARIES) for seed in seeds)
    return Cases((Family("heads", heads, by_heads), Family("tokens", DICTIONARIES, by_size)))


FAMILIES: Experiment[Cases[Family]] = Experiment(
    "families",
    "12 random tasks with N = 8, K = 20, d = 16, m = 4, tau = 0.1; H from 8 to 64, K from 12 to 80",
    _families,
)


@dataclass(frozen=True, eq=False)
class Start(OfPlan):
    """A plan at its initialization.

    ``few_heads`` is the same with one head fewer than examples, and ``eigenvalues`` are the least
    and the largest of B_k B_k' for one token k, in as many digits as they need.
    """

    plan: "Plan"
    exact: bool

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The plan's problems; zeta_0 is known where it was computed in high precision."""
        known = {"zeta_unresolved"} if self.exact else set()
        return tuple(p for p in self.plan.problems if p.code not in known)

    @cached_property
    def few_heads(self) -> "Plan":
        """One head fewer than examples, if that leaves any."""
        return replace(self.plan, heads=max(self.plan.task.N - 1, 1))

    @cached_property
    def eigenvalues(self) -> tuple[Any, Any]:
        """For the token whose least singular value float64 finds smallest."""
        from lemmata.papers.context.setting import exact_eigenvalue

        k = int(np.argmin(self.plan.frozen.sizes[:, -1]))
        if not self.exact:
            sizes = self.plan.frozen.sizes[k] ** 2
            return float(sizes[-1]), float(sizes[0])
        return exact_eigenvalue(self.plan.task, np.asarray(self.plan.start.Q), k)


MOST_WORK = 40_000
"""N H d: more takes too long in high precision."""


def _starts(chosen: "Sequence[Plan]") -> Cases[Start]:
    def exact(plan: "Plan") -> bool:
        small = plan.task.N * plan.heads * plan.task.d <= MOST_WORK
        return small and not plan.frozen.resolved

    return Cases(tuple(Start(plan, exact(plan)) for plan in chosen))


def _all_starts(bench: Bench) -> Cases[Start]:
    gaussian = [] if bench.instances is not None else gaussian_plans(bench)
    return _starts([*plans(bench), *gaussian])


STARTS: Experiment[Cases[Start]] = Experiment(
    "starts",
    "13 tasks with unit tokens and 4 with Gaussian ones at their initialization",
    _all_starts,
)
