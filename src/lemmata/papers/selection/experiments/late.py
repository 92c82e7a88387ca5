"""Long descents in two numbers: rates, step sizes and other lengths.

One-hot encodings, and random ones in the limit of orthogonal encodings, where only the inertia
differs: d_e in the place of T - 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.theory import missed, two_level_loss
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import Task


@dataclass(frozen=True)
class LongRun:
    """alpha and C at a few late steps."""

    task: "Task"
    inertia: float
    rate: float
    steps: Int[np.ndarray, "records"]
    alpha: Float[np.ndarray, "records"]
    C: Float[np.ndarray, "records"]
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """The task, the inertia and the step size."""
        task = self.task
        return f"T={task.T} q={task.q} d={task.d} inertia={self.inertia:g} eta={self.rate:g}"

    @property
    def missed(self) -> Float[np.ndarray, "records"]:
        """u = 1 - q s_+ at the length of training."""
        return np.asarray(missed(self.C, self.task.T, self.task.q))

    @property
    def loss(self) -> Float[np.ndarray, "records"]:
        """The loss at the length of training."""
        return self.loss_at(self.task.T)

    def loss_at(self, T: int, q: int | None = None) -> Float[np.ndarray, "records"]:
        """The loss at another length or subset size, with orthogonal encodings."""
        size = self.task.q if q is None else q
        u = np.asarray(missed(self.C, T, size))
        return np.asarray(two_level_loss(self.alpha, u, T, size, self.task.d))


Sizes = Sequence[tuple[int, int, int, float, float]]


def long_runs(bench: Bench, title: str, sizes: Sizes, steps: Sequence[int]) -> Cases[LongRun]:
    """Run T, q, d, inertia, eta up to the last step."""
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import OneHotAttention, Task, TwoScalars
    from lemmata.training import run

    T, q, d, inertia, rate = (jnp.array(column, dtype=float) for column in zip(*sizes, strict=True))
    dynamics = TwoScalars(OneHotAttention(T, q), d, q, inertia, rate)
    progress = bench.track(title, len(sizes) * steps[-1])
    found = run(dynamics, np.array(steps), progress=progress, chunk=16)
    return Cases(
        tuple(
            LongRun(
                Task(*size[:3]),
                size[3],
                size[4],
                np.array(steps),
                found.series["alpha"][i],
                found.series["C"][i],
            )
            for i, size in enumerate(sizes)
        )
    )


LATE_SIZES: Sizes = (
    (9, 2, 3, 8.0, 1.0),
    (9, 2, 1, 8.0, 0.05),
    (13, 1, 2, 12.0, 1.0),
    (3, 2, 1, 2.0, 1.0),
    (20, 3, 2, 19.0, 2.0),
    (50, 3, 5, 49.0, 1.0),
    (20, 3, 2, 200.0, 1.0),
    (50, 3, 5, 400.0, 1.0),
)


def _own(bench: Bench) -> list[tuple[int, int, int, float, float]]:
    """The user's plans as sizes."""
    plans: Any = bench.instances or ()
    return [
        (
            plan.task.T,
            plan.task.q,
            plan.task.d,
            float(plan.d_e or plan.task.T - 1),
            plan.rate,
        )
        for plan in plans
        if plan.task.q < plan.task.T
    ]


def _late(bench: Bench) -> Cases[LongRun]:
    sizes = LATE_SIZES if bench.instances is None else _own(bench)
    steps = (1_000, 10_000, 100_000, 300_000, 1_000_000, 3_000_000)
    return long_runs(bench, "late descent", sizes, steps) if sizes else Cases(())


STEP_TASKS = ((9, 2, 3), (20, 3, 2), (13, 1, 5), (40, 5, 20))


def _step_sizes(bench: Bench) -> Cases[LongRun]:
    """Step sizes from q/2 to 3q, independent of d."""
    if bench.instances is not None:
        return Cases(())
    sizes = [
        (T, q, d, float(inertia), share * q)
        for T, q, d in STEP_TASKS
        for share in (0.5, 1.0, 1.9, 2.2, 3.0)
        for inertia in (T - 1, 10 * T)
    ]
    steps = (20_000, 100_000, 199_999, 200_000, 399_999, 400_000)
    return long_runs(bench, "step sizes", sizes, steps)


def _lengths(bench: Bench) -> Cases[LongRun]:
    """Training at growing lengths, for generalization to twice the length."""
    if bench.instances is not None:
        sizes = _own(bench)
    else:
        sizes = [(T, 3, 5, 170.0, 1.0) for T in (50, 200, 1_000)] + [(50, 3, 5, 49.0, 1.0)]
    steps = (20_000, 100_000, 300_000, 1_000_000, 3_000_000)
    return long_runs(bench, "lengths", sizes, steps) if sizes else Cases(())


LATE: Experiment[Cases[LongRun]] = Experiment(
    "late",
    "8 tasks from T = 3 to 50 up to 3 million steps, one-hot and orthogonal random encodings, "
    "several step sizes",
    _late,
)
STEP_SIZES: Experiment[Cases[LongRun]] = Experiment(
    "step-sizes",
    "4 tasks with eta from q/2 to 3q, one-hot and orthogonal random encodings, 400,000 steps",
    _step_sizes,
)
LENGTHS: Experiment[Cases[LongRun]] = Experiment(
    "lengths",
    "training at T = 50, 200, 1000 with q = 3, d = 5, d_e = 170 (orthogonal limit), 3 million "
    "steps",
    _lengths,
)
