"""The plans that experiments look at, and how the two-number recursion is run on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import AbstractInstances, Experiment, Scale
from lemmata.settings import Evidence, as_rows, hypothesis
from lemmata.tokens import Problem
from lemmata.training import log_spaced

from ..setting import Plan, Task, largest_epsilon, largest_rate

Trial = Experiment[Any]
"""An experiment, as the function that measures gets it."""

Drawn = Sequence[Plan]
"""The plans that are looked at: the experiment's own, or the user's."""

DENSE = 300
"""So many steps at the start are all recorded."""

STABLE = hypothesis("stable", "eta < 2q", "descent is stable at the end", "unstable_step")
"""What Theorems 3.3 and E.6 and their corollaries lack: as s_+ -> 1/q the recursion multiplies
the distance of alpha from its resting point by 1 - eta/q."""

ORTHOGONAL = hypothesis(
    "orthogonal", "<e_i, e_j> = 0", "encodings are one-hot or orthogonal", "not_orthogonal"
)

UNIT = hypothesis("unit", "||e_i|| = 1", "encodings have unit length", "not_unit")


SIGNS = hypothesis(
    "signs", "e_i in {-1, 1}^d_e / sqrt(d_e)", "encodings are sign vectors", "not_unit", "not_signs"
)


def length_problem(plan: Plan, E: Float[np.ndarray, "... d_e T"]) -> tuple[Problem, ...]:
    """Whether some encoding is not of unit length, up to rounding, or no sign vector."""
    off = float(np.abs(np.sum(E**2, axis=-2) - 1).max())
    found = []
    if off > 1e-12 * E.shape[-2]:
        found.append(("not_unit", f"a squared length is off by {off:.3g}"))
    if np.ptp(np.abs(E)) > 1e-12:
        found.append(("not_signs", "not all entries have the same size"))
    return tuple(Problem(code, plan.name, text) for code, text in found)


def all_problems(plan: Plan) -> tuple[Problem, ...]:
    """The hypotheses of the theorems that a plan does not meet, and eta < 2q."""
    if plan.rate < 2 * plan.task.q:
        return plan.problems
    text = f"eta = {plan.rate:g} is not below 2q = {2 * plan.task.q}"
    return (*plan.problems, Problem("unstable_step", plan.name, text))


class Size(NamedTuple):
    """The numbers of a plan; no d_e stands for one-hot encodings, no rate for the largest one."""

    T: int
    q: int
    d: int
    d_e: int | None = None
    rate: float | None = None
    threshold: float = 1.0

    def plan(self, epsilon: float, suffix: str = "") -> Plan:
        """The plan with this loss to reach."""
        task = Task(self.T, self.q, self.d)
        name = f"T={self.T} q={self.q} d={self.d}"
        name += "" if self.d_e is None else f" d_e={self.d_e}"
        name += "" if self.rate is None else f" eta={self.rate:g}"
        rate = largest_rate(task, self.d_e) if self.rate is None else self.rate
        return Plan(name + suffix, task, rate, epsilon, self.d_e, self.threshold)


@dataclass(frozen=True)
class Plans(AbstractInstances):
    """Plans of some sizes.

    Attributes:
        sizes: T, q, d and the rest of each.
        shares: the losses to reach, as shares of the largest that the theorems allow.
        epsilons: or the losses themselves.
        at_paper_scale: further sizes.
    """

    sizes: tuple[Size, ...]
    shares: tuple[float, ...] = (0.5,)
    epsilons: tuple[float, ...] = ()
    at_paper_scale: tuple[Size, ...] = ()

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        sizes = (*self.sizes, *self.at_paper_scale) if scale == "paper" else self.sizes
        return [plan for size in sizes for plan in self._plans(size)]

    def _plans(self, size: Size) -> list[Plan]:
        most = largest_epsilon(Task(size.T, size.q, size.d))
        wanted = self.epsilons or [share * most for share in self.shares]
        several = len(wanted) > 1
        return [size.plan(eps, f" eps={eps:.2g}" if several else "") for eps in wanted]

    @property
    def says(self) -> str:
        count = len(self.sizes)
        text = f"{count} plans" if count > 1 else "a plan"
        text += " with " + ", ".join(filter(None, map(self._span, Size._fields)))
        losses = self.epsilons or self.shares
        if len(losses) > 1 or self.epsilons:
            unit = "" if self.epsilons else " of the largest one allowed"
            text += f", epsilon {' and '.join(f'{loss:g}' for loss in losses)}{unit}"
        if self.at_paper_scale:
            text += f" (at paper scale also {Plans(self.at_paper_scale).says})"
        return text

    def _span(self, field: str) -> str:
        sizes = [size for size in self.sizes if field != "threshold" or size.d_e is not None]
        known = [value for size in sizes if (value := getattr(size, field)) is not None]
        if not known or (field == "threshold" and min(known) == 1):
            return ""
        label = "eta" if field == "rate" else field
        low, high = min(known), max(known)
        return f"{label} = {low:g}" + (f" to {high:g}" if high > low else "")


def numbers_of(plans: Sequence[Plan]) -> dict[str, Float[np.ndarray, "plans 1"]]:
    """T, q, d, inertia, rate and epsilon of plans, as columns of evidence."""
    numbers = [
        (plan.task.T, plan.task.q, plan.task.d, plan.inertia, plan.rate, plan.epsilon)
        for plan in plans
    ]
    names = ("T", "q", "d", "inertia", "rate", "epsilon")
    columns = np.array(numbers, dtype=float).reshape(-1, len(names)).T
    return {name: column[:, None] for name, column in zip(names, columns, strict=True)}


class AbstractAbout:
    """A case that is about a plan."""

    plan: Plan

    @property
    def instance(self) -> Plan:
        """The plan, which can be written to a file and read back."""
        return self.plan

    @property
    def task(self) -> Task:
        """T, q, d."""
        return self.plan.task


@dataclass(frozen=True)
class AbstractOfPlan(AbstractAbout):
    """A case that is about a plan, has a name of its own, and perhaps problems."""

    name: str
    plan: Plan
    problems: Sequence[Problem] = field(default=(), kw_only=True)


class AbstractPlanned(AbstractAbout):
    """A case that is named after its plan."""

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name


@dataclass(frozen=True)
class Unseen(AbstractPlanned):
    """A plan that is not looked at, and why."""

    plan: Plan
    problems: tuple[Problem, ...]


def looked_at(plans: Drawn, fits: Callable[[Plan], bool]) -> tuple[list[Plan], tuple[Unseen, ...]]:
    """The plans of a size that can be gone through, and the others."""
    seen = [plan for plan in plans if fits(plan)]
    unseen = [plan for plan in plans if not fits(plan)]
    text = "too large to go through, or without what is looked at"
    return seen, tuple(Unseen(p, (Problem("too_large", p.name, text),)) for p in unseen)


def tabulate(cases: Sequence[Any], *attributes: str, skipped: tuple[Any, ...] = ()) -> Evidence:
    """Cases with the numbers of their plans and these attributes of their own as columns.

    ``measured.loss``, an attribute of an attribute, becomes the column ``loss``.
    """
    columns = numbers_of([case.plan for case in cases])
    for attribute in attributes:
        values = [attrgetter(attribute)(case) for case in cases]
        columns[attribute.split(".")[-1]] = as_rows(values)
    return Evidence(tuple(cases), columns=columns, skipped=skipped)


@dataclass(frozen=True)
class Descending:
    """How the two-number recursion is run.

    Attributes:
        steps: the last step.
        first: the first one that is recorded.
        rate: a step size in the place of each plan's own.
        last: so many steps at the end are all recorded.
    """

    steps: int
    first: int = 0
    rate: float | None = None
    last: int = 0

    @property
    def says(self) -> str:
        """In words."""
        rate = "" if self.rate is None else f" with eta = {self.rate:g}"
        return f"{self.steps:,} steps of the recursion{rate}"

    @property
    def options(self) -> dict[str, Any]:
        """In the words of the setting's options, and where the expectation over encodings is."""
        rate = {} if self.rate is None else {"rate": self.rate}
        return {"steps": self.steps, "average": "inside", **rate}

    @property
    def recorded(self) -> Int[np.ndarray, "records"]:
        """The first steps one by one, then evenly on a logarithmic scale."""
        dense = np.arange(min(self.steps, DENSE) + 1)
        end = np.arange(max(self.steps - self.last, 0), self.steps + 1)
        steps = np.unique(np.concatenate([dense, log_spaced(self.steps, 500), end]))
        return steps[steps >= min(self.first, self.steps)]

    def of(self, plan: Plan) -> Plan:
        """The plan with the step size that is used."""
        return plan if self.rate is None else replace(plan, rate=self.rate)
