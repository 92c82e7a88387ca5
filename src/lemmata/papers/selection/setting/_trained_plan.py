"""A plan that was trained, and what it says of itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.settings import Matrices
from lemmata.tokens import Problem

from ._analysis import isometry_problem, problems_of
from ._measure import measure
from ._plan import Plan
from ._training import TrainingRun

Series = Float[np.ndarray, "records"]

WIDEST = 5_000
"""Of a matrix W that is trained in full, or written out."""


@dataclass(frozen=True, eq=False, repr=False)
class TrainedPlan:
    """A plan that was trained. What the plan knows, it knows too: ``trained.T``.

    Attributes:
        plan: the plan, with the step size that was used.
        series: what was recorded.
        diverged: the step at which training blew up; None if it did not.
        losses: ``tests``, the losses of other tasks, and on samples ``validation``; of several
            heads ``heads``, with one row a head; of a fully connected net ``net``, with the least
            that its width allows.
        online: the run on samples, with its weights.
        net: the weights of a fully connected net.
    """

    plan: Plan
    series: dict[str, Series]
    diverged: int | None
    losses: dict[str, dict[str, Any]]
    online: TrainingRun | None = None
    net: Matrices | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "plan" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.plan, name)

    def __repr__(self) -> str:
        ended = "" if self.diverged is None else f", diverged at step {self.diverged}"
        return f"<TrainedPlan {self.name}: {', '.join(self.series)}{ended}>"

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def instance(self) -> Plan:
        """The plan."""
        return self.plan

    @property
    def weights(self) -> Matrices:
        """What was trained, by name: V and W, beside K and Q if W = K'Q; or the layers of a net.

        Columns of V, and rows and columns of W, are d of the token and then those of the encoding.
        Of several heads there is one matrix each.
        """
        if self.net is not None:
            return self.net
        if self.online is None:
            return self._along_two_directions
        found = self.online.weights._asdict() | self.online.trained._asdict()
        return {name: np.asarray(matrix, dtype=float) for name, matrix in found.items()}

    @property
    def _along_two_directions(self) -> Matrices:
        """V = alpha [I 0], and W = C I among encodings, or C times the centring matrix if these
        are one-hot (Lemmas D.5 and E.7).
        """
        d, positions = self.plan.task.d, self.plan.d_e or self.plan.task.T
        if d + positions > WIDEST:
            raise InputError(
                f"{self.name}: W has {d + positions:,} rows, too many to write them out (at most "
                f"{WIDEST:,}); it is C, in run.C, times a fixed matrix, and V is run.alpha [I 0]"
            )
        V, W = np.zeros((d, d + positions)), np.zeros((d + positions, d + positions))
        V[:, :d] = self.series["alpha"][-1] * np.eye(d)
        mean = 1 / positions if self.plan.kind == "one-hot" else 0.0
        W[d:, d:] = self.series["C"][-1] * (np.eye(positions) - mean)
        return {"V": V, "W": W}

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
        q, how = self.plan.task.q, self.plan.training
        over = {name: getattr(how, name) for name in ("queries", "heads")}
        divisors = "".join(f"/{name}" for name, count in over.items() if count > 1)
        what = "gradient descent" if how.heads == 1 else "gradient descent with equal heads"
        return (
            f"diverged at step {self.diverged}: use a step size below {self.plan.rate:g} ({what} "
            f"is stable below 2q{divisors} = {2 * q / (how.queries * how.heads):g})"
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
