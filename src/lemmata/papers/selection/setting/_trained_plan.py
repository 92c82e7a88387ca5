"""A plan that was trained, and what it says of itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata.tokens import Problem

from ._analysis import isometry_problem, problems_of
from ._measure import measure
from ._plan import Plan
from ._training import TrainingRun

Series = Float[np.ndarray, "records"]


@dataclass(frozen=True, eq=False)
class TrainedPlan:
    """A plan that was trained. What the plan knows, it knows too: ``trained.T``.

    Attributes:
        plan: the plan, with the step size that was used.
        series: what was recorded.
        diverged: the step at which training blew up; None if it did not.
        losses: ``tests``, the losses of other tasks, and on samples ``validation``; of a fully
            connected net ``net``, with the least that its width allows.
        online: the run on samples, with its weights.
    """

    plan: Plan
    series: dict[str, Series]
    diverged: int | None
    losses: dict[str, dict[str, Any]]
    online: TrainingRun | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "plan" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.plan, name)

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def instance(self) -> Plan:
        """The plan."""
        return self.plan

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Hypotheses that are not met, the isometry of its encodings among them."""
        found = (*self.plan.problems, *isometry_problem(self.plan, measure(self.plan)))
        if self.diverged is None:
            return found
        text = f"training diverged at step {self.diverged}"
        return (*found, Problem("diverged", self.name, text))

    @property
    def advice(self) -> str | None:
        """What to do about a run that diverged."""
        if self.diverged is None:
            return None
        q, queries = self.plan.task.q, self.plan.training.queries
        over, limit = ("/queries" if queries > 1 else ""), 2 * q / queries
        return (
            f"diverged at step {self.diverged}: use a step size below {self.plan.rate:g} (gradient "
            f"descent is stable below 2q{over} = {limit:g})"
        )

    @property
    def extras(self) -> dict[str, Any]:
        """What is no column, ready for JSON."""
        return {
            "problems": [vars(problem) for problem in problems_of(self.plan)],
            "rate": self.plan.rate,
            "encodings": self.plan.kind,
            **self.losses,
        }
