"""How few heads do: a certified floor for one head, and descent with fewer heads than examples."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.context.experiments.plans import OfTask, plans

if TYPE_CHECKING:
    from lemmata.papers.context.setting import FrozenAttention, Task

TASKS = ((3, 6, 8, 2, 0.1, 2), (3, 5, 6, 3, 0.5, 2))
"""N, K, d, m, tau and H < N."""

TRIALS = 2
"""Searches from different weights."""

REACHED = 1e-12
"""Below this part of the first gap a search has reached L*."""


@dataclass(frozen=True, eq=False)
class OneHead(OfTask):
    """A task, and the least gap that a single head can have.

    With H = 1 a column of A-hat is w_k times a point of the simplex: all its entries have one sign.
    The best such column is a least-squares problem with a sign constraint, once for each sign.
    """

    task: "Task"

    @property
    def mixed(self) -> bool:
        """Whether some column of A has entries of both signs."""
        A = self.task.target
        return bool(((A > 0).any(axis=0) & (A < 0).any(axis=0)).any())

    @cached_property
    def floor(self) -> float:
        """The least gap, whatever Q and w are."""
        from scipy.optimize import nnls

        root, wanted = self.task.root, self.task.root @ self.task.target
        residuals = [min(nnls(root, x)[1], nnls(root, -x)[1]) ** 2 for x in wanted.T]
        return float(sum(residuals)) / (2 * self.task.K)


ONE_HEAD: Experiment[Cases[OneHead]] = Experiment(
    "one-head",
    "13 tasks with one head",
    lambda bench: Cases(tuple(OneHead(plan.task) for plan in plans(bench))),
)


@dataclass(frozen=True, eq=False)
class FewHeads(OfTask):
    """A task with fewer heads than examples.

    Attributes:
        heads: H.
        seed: of the first weights.
    """

    task: "Task"
    heads: int
    seed: int

    @property
    def name(self) -> str:
        """The task's name and H."""
        return f"{self.task.name}, H={self.heads}"

    @cached_property
    def frozen(self) -> "FrozenAttention":
        """Attention as at the start."""
        from lemmata.papers.context.setting import draw_weights, frozen

        return frozen(self.task, draw_weights(self.task, self.heads, seed=self.seed))

    @cached_property
    def gap(self) -> float:
        """The least gap that quasi-Newton searches over Q and w find."""
        import jax
        from scipy.optimize import minimize

        from lemmata.papers.context.setting import Weights, evaluate, system_of

        task = self.task
        system = system_of(task, self.heads)
        shapes = (task.d, self.heads, task.d), (self.heads, task.K)
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
            rng = np.random.default_rng([self.seed, trial])
            start = rng.standard_normal(count + self.heads * task.K)
            found = minimize(
                objective, start, jac=True, method="L-BFGS-B", callback=stop, options=options
            )
            best = min(best, float(found.fun))
            if best < REACHED * task.initial_gap:
                break
        return best


def _few_heads(bench: Bench) -> Cases[FewHeads]:
    from lemmata.papers.context.setting import draw_task

    if bench.instances is not None:
        return Cases(())
    return Cases(
        tuple(
            FewHeads(
                draw_task(N, K, d, m, tau, seed=bench.seed, name=f"N={N} K={K} d={d} m={m}"),
                H,
                bench.seed + 1,
            )
            for N, K, d, m, tau, H in TASKS
        )
    )


FEW_HEADS: Experiment[Cases[FewHeads]] = Experiment(
    "few-heads", "a search over Q and w with H < N for two tasks", _few_heads
)
