"""Long descents in two numbers: rates, step sizes and other lengths.

One-hot and orthogonal encodings, which differ in the inertia only: d_e in the place of T - 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale, Several
from lemmata.settings import Evidence
from lemmata.tokens import Problem
from lemmata.training import run

from ..counterexamples import walsh_plan
from ..setting import Plan, Task, largest_epsilon, largest_rate, orthogonal
from ..theory import missed, two_level_loss
from .descents import orthogonal_dynamics
from .plans import (
    AbstractPlanned,
    Descending,
    Drawn,
    Plans,
    Size,
    Trial,
    all_problems,
    numbers_of,
)


@dataclass(frozen=True)
class LongRun(AbstractPlanned):
    """alpha and C at late steps."""

    plan: Plan
    steps: Int[np.ndarray, "records"]
    alpha: Float[np.ndarray, "records"]
    C: Float[np.ndarray, "records"]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Hypotheses that are not met, eta < 2q and orthogonal encodings among them."""
        plan, E = self.plan, self.plan.encodings
        if plan.d_e is None or (E is not None and orthogonal(E)):
            return all_problems(plan)
        text = "its encodings are not orthogonal, and only such are descended here"
        return (*all_problems(plan), Problem("not_orthogonal", plan.name, text))

    @property
    def inertia(self) -> int:
        """T - 1, or d_e."""
        return self.plan.inertia

    @property
    def rate(self) -> float:
        """The step size."""
        return self.plan.rate

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


def long_runs(
    plans: Sequence[Plan], steps: Int[np.ndarray, "records"], bench: Bench, title: str
) -> Evidence[LongRun]:
    """Run plans as if their encodings were orthogonal, with their records as columns."""
    if not plans:
        return Evidence(())
    columns, dynamics = numbers_of(plans), orthogonal_dynamics(plans)
    progress = bench.track(title, len(plans) * int(steps[-1]))
    series = run(dynamics, steps, store=bench.store, progress=progress, chunk=16).series
    cases = tuple(
        LongRun(plan, steps, series["alpha"][i], series["C"][i]) for i, plan in enumerate(plans)
    )
    for name in ("alpha", "C", "missed", "loss"):
        columns[name] = np.stack([getattr(case, name) for case in cases])
    return Evidence(cases, steps, columns)


def _descend(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[LongRun]:
    """One-hot or orthogonal encodings."""
    training = experiment.training
    chosen = [training.of(plan) for plan in plans if plan.task.q < plan.task.T]
    return long_runs(chosen, training.recorded, bench, "long descent")


@dataclass(frozen=True)
class Orthogonal(AbstractInstances):
    """Plans with orthogonal sign vectors and room for twice the length.

    The step size is the largest that Theorem 3.3 allows, or q if that is smaller.

    Attributes:
        sizes: T and d_e, at least 2T, a power of two.
        q, d: of all of them.
    """

    sizes: tuple[tuple[int, int], ...]
    q: int = 3
    d: int = 5

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        return [self._plan(Task(T, self.q, self.d), d_e) for T, d_e in self.sizes]

    def _plan(self, task: Task, d_e: int) -> Plan:
        rate = min(largest_rate(task, d_e), float(task.q))
        return walsh_plan(task, d_e, rate=rate, epsilon=largest_epsilon(task) / 2)

    @property
    def says(self) -> str:
        T = f"T = {', '.join(str(T) for T, _ in self.sizes)}"
        d_e = ", ".join(str(d_e) for _, d_e in self.sizes)
        return f"orthogonal sign vectors, {T}, q = {self.q}, d = {self.d}, d_e = {d_e}"


LATE = Experiment(
    Several(
        (
            Plans(
                (
                    Size(9, 2, 3, rate=1.0),
                    Size(9, 2, 1, rate=0.05),
                    Size(13, 1, 2, rate=1.0),
                    Size(3, 2, 1, rate=1.0),
                    Size(20, 3, 2, rate=2.0),
                    Size(50, 3, 5, rate=1.0),
                )
            ),
            Orthogonal(((20, 256),), d=2),
            Orthogonal(((50, 512),)),
        )
    ),
    _descend,
    Descending(3_000_000, first=1_000),
    free=("steps",),
)

STEP_SIZES = Experiment(
    Plans(
        tuple(
            Size(T, q, d, d_e, share * q)
            for T, q, d in ((9, 2, 3), (20, 3, 2), (13, 1, 5), (40, 5, 20))
            for share in (0.5, 1.0, 1.9, 2.2, 3.0)
            for d_e in (None, 10 * T)
        )
    ),
    _descend,
    Descending(400_000, first=20_000),
    own=True,
)
"""Step sizes from q/2 to 3q, whatever d is."""


LENGTHS = Experiment(
    Orthogonal(((32, 64), (64, 128), (128, 256), (256, 512), (512, 1024))),
    _descend,
    Descending(3_000_000, first=2_000),
    free=("steps",),
)
"""Training at growing lengths, for generalization to twice the length."""
