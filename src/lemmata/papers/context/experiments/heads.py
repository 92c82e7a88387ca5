"""How few heads do: a certified floor for one head, and descent with fewer heads than examples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float
from numpy.linalg import norm
from scipy.optimize import minimize, nnls

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Plan, Weights, evaluate, system_of
from .plans import PLANS, DrawnPlans, OfTask

TRIALS = 2
"""Searches from different weights."""

REACHED = 1e-12
"""Below this part of the first gap a search has reached L*."""


ROUNDING = 1e-12
"""Entries of A below this part of the largest, times the condition, may be rounding error."""


@dataclass(frozen=True, eq=False)
class OneHead(OfTask):
    """A task, and how close a single head can come.

    With H = 1 a column of A-hat is w_k times a point of the simplex: all its entries have one sign.
    The best such column is a least-squares problem with a sign constraint, once for each sign.
    """

    plan: Plan

    @property
    def mixed(self) -> Bool[np.ndarray, "K"]:
        """Which columns of A have entries of both signs, rounding apart."""
        A, task = self.task.target, self.task
        relative = A / np.abs(A).max(axis=0)
        least = ROUNDING * (max(1.0, task.spectral**2 / task.ridge) if task.ridge else 1.0)
        return (relative.max(axis=0) > least) & (relative.min(axis=0) < -least)

    @cached_property
    def least_distances(self) -> Float[np.ndarray, "mixed"]:
        """The least ||Z-bar (A-hat_k - A_k)|| for those, relative to w = 0, for all Q and w."""
        root = self.task.root
        wanted = (root @ self.task.target)[:, self.mixed].T
        return np.array([min(nnls(root, x)[1], nnls(root, -x)[1]) / norm(x) for x in wanted])


def bound_one_head(
    experiment: Experiment[Evidence[OneHead]], plans: Sequence[Plan], bench: Bench
) -> Evidence[OneHead]:
    """The least distance from A with a single head, by least squares with signs."""
    return Evidence(tuple(OneHead(replace(plan, heads=1)) for plan in plans))


ONE_HEAD = Experiment(PLANS, bound_one_head)


@dataclass(frozen=True, eq=False)
class FewHeads(OfTask):
    """A plan with fewer heads than examples.

    Attributes:
        plan: the plan; its seed is that of the first weights of a search too.
    """

    plan: Plan

    @cached_property
    def gap(self) -> float:
        """The least gap that quasi-Newton searches over Q and w find."""
        task, heads = self.task, self.plan.heads
        system = system_of(task, heads)
        shapes = (task.d, heads, task.d), (heads, task.K)
        count = int(np.prod(shapes[0]))

        def weights(flat: Any) -> Weights:
            return Weights(flat[:count].reshape(shapes[0]), flat[count:].reshape(shapes[1]))

        value = jax.jit(lambda flat: evaluate(system, weights(flat)))

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            gap, gradient = value(flat)
            slope = np.concatenate([np.ravel(gradient.Q), np.ravel(gradient.w)])
            return float(gap), slope

        def stop(intermediate_result: Any) -> None:
            if intermediate_result.fun < REACHED * task.initial_gap:
                raise StopIteration

        best = np.inf
        options = {"maxiter": 1_500, "maxfun": 2_000, "ftol": 0.0, "gtol": 0.0}
        for trial in range(TRIALS):
            rng = np.random.default_rng([self.plan.seed, trial])
            start = rng.standard_normal(count + heads * task.K)
            lowest = minimize(
                objective, start, jac=True, method="L-BFGS-B", callback=stop, options=options
            )
            best = min(best, float(lowest.fun))
            if best < REACHED * task.initial_gap:
                break
        return best


def search_few_heads(
    experiment: Experiment[Evidence[FewHeads]], plans: Sequence[Plan], bench: Bench
) -> Evidence[FewHeads]:
    """The least gap with fewer heads than examples, frozen or found by a search over Q and w."""
    able = (plan for plan in plans if plan.task.N > 1)
    fewer = (replace(plan, heads=min(plan.heads, plan.task.N - 1)) for plan in able)
    return Evidence(tuple(map(FewHeads, fewer)))


FEW_HEADS = Experiment(DrawnPlans(((3, 6, 8, 2, 0.1, 2), (3, 5, 6, 3, 0.5, 2))), search_few_heads)
"""With H < N."""

SEARCHED = replace(FEW_HEADS, own=True)
"""For what exists among these plans."""
