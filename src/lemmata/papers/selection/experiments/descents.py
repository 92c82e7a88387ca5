"""The two-scalar dynamics: descents from zero."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import jax
import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import AbstractInstances, Bench, Experiment, Scale, Several
from lemmata.settings import Evidence
from lemmata.tokens import Problem
from lemmata.training import run

from ..counterexamples import stalled_plans
from ..setting import (
    ENCODED_PLANS,
    ONE_HOT_PLANS,
    Average,
    FamilyAttention,
    Isometry,
    OneHotAttention,
    Plan,
    TabulatedAttention,
    TwoScalars,
    first_times,
)
from ..theory import kappa
from .encodings import (
    MEMBERS,
    NARROW_ORTHOGONAL,
    NEARLY_ORTHONORMAL,
    ensemble,
    family_gaps,
)
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

CaseT = TypeVar("CaseT")

LONGER = 5
"""Times to epsilon are looked for up to so many times the steps of a run."""

LEAST = 4
"""Fewer plans of the user's are run as if they were so many."""


@dataclass(frozen=True)
class Descent(AbstractPlanned):
    """Gradient descent from zero in two numbers.

    Recorded are alpha, C, loss and missed, and alpha, C and missed one step later.

    Attributes:
        plan: the task, the step size and the loss to reach.
        steps, series: the records, which are columns of the evidence too.
        reached, grown, halved: the first steps with L <= epsilon, with alpha >= 1 - kappa/10, and
            with s_+ >= 1/(2q); -1 if they did not come.
        isometry: of the worst encoding of the family, where encodings are random.
        gaps: 1 - <e_i, e_y> outside y, for every encoding and subset of the family.
        problems: hypotheses that are not met.
    """

    plan: Plan
    steps: Int[np.ndarray, "records"]
    series: dict[str, Float[np.ndarray, "records"]]
    reached: int
    grown: int
    halved: int
    problems: tuple[Problem, ...] = ()
    isometry: Isometry | None = None
    gaps: Float[np.ndarray, "pairs others"] = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def inertia(self) -> int:
        """T - 1 for one-hot encodings, d_e for random ones."""
        return self.plan.inertia

    @property
    def kappa(self) -> float:
        """sqrt(q (T-q) epsilon / (d T))."""
        return kappa_of(self.plan)

    @property
    def delta(self) -> float:
        """That of the restricted isometry property, for the worst encoding; one-hot: 0."""
        return 0.0 if self.isometry is None else self.isometry.delta

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.series[name]

    @cached_property
    def phase(self) -> Int[np.ndarray, "records"]:
        """1 up to the step before alpha has grown, 2 from then on."""
        grown = self.grown if self.grown >= 0 else np.iinfo(np.int64).max
        return np.where(self.steps < grown, 1, 2)


def kappa_of(plan: Plan) -> float:
    """sqrt(q (T-q) epsilon / (d T))."""
    return float(kappa(plan.task.T, plan.task.q, plan.task.d, plan.epsilon))


def side_by_side(cases: Sequence[CaseT], bench: Bench) -> list[CaseT]:
    """The user's: the last one again up to a power of two, so that they share few programs."""
    if bench.instances is None:
        return list(cases)
    return [*cases, *[cases[-1]] * (max(LEAST, 1 << (len(cases) - 1).bit_length()) - len(cases))]


def descend(
    plans: Sequence[Plan],
    dynamics: TwoScalars,
    training: Descending,
    *,
    bench: Bench,
    title: str,
    **further: Sequence[Any],
) -> list[Descent]:
    """Run the recursion for every plan, with a progress bar.

    Times are looked for beyond the last step, unless no plan is stable. Problems of the dynamics
    beyond the plans are left out.
    """
    goals = np.array([(p.epsilon, 1 - 0.1 * kappa_of(p), 0.5) for p in plans])
    loss, alpha, missed = goals[np.minimum(np.arange(len(dynamics.rate)), len(plans) - 1)].T
    stable = any(p.rate < 2 * p.task.q for p in plans)
    most = (LONGER if stable else 1) * training.steps
    times = first_times(dynamics, loss=loss, alpha=alpha, missed=missed, most=most)
    steps = training.recorded
    progress, lanes = bench.track(title, len(plans) * training.steps), len(dynamics.rate)
    recording = run(
        dynamics,
        steps,
        store=bench.store,
        progress=lambda done: progress(done * len(plans) // lanes),
    )
    usual: dict[str, Sequence[Any]] = {"problems": [all_problems(plan) for plan in plans]}
    more = usual | further
    return [
        Descent(
            plan=plan,
            steps=steps,
            series={name: rows[i] for name, rows in recording.series.items()},
            reached=int(times.loss[i]),
            grown=int(times.alpha[i]),
            halved=int(times.missed[i]),
            **{name: values[i] for name, values in more.items()},
        )
        for i, plan in enumerate(plans)
    ]


def as_evidence(cases: Sequence[Descent]) -> Evidence[Descent]:
    """Descents with their records, and the numbers of their plans, as columns."""
    if not cases:
        return Evidence(())
    first = cases[0]
    columns = {name: np.stack([case[name] for case in cases]) for name in first.series}
    columns["phase"] = np.stack([case.phase for case in cases]).astype(float)
    columns |= numbers_of([case.plan for case in cases])
    for name in ("kappa", "delta", "reached", "grown", "halved"):
        columns[name] = np.array([[float(getattr(case, name))] for case in cases])
    return Evidence(tuple(cases), first.steps, columns)


def orthogonal_dynamics(plans: Sequence[Plan]) -> TwoScalars:
    """The recursions of Lemma D.5 as one batch; d_e stands for T - 1 if encodings are random.

    With random encodings that are orthogonal, as sign vectors can be, Lemma E.7 is the same.
    """
    numbers = [(p.task.T, p.task.q, p.task.d, p.inertia, p.rate) for p in plans]
    T, q, d, inertia, rate = jax.device_put([*np.array(numbers, dtype=float).T])
    return TwoScalars(OneHotAttention(T, q), d, q, inertia, rate)


def _one_hot(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Descent]:
    """The recursion of Lemma D.5, one-hot encodings."""
    training = experiment.training
    chosen = [training.of(plan) for plan in plans if experiment.fits(plan)]
    if not chosen:
        return Evidence(())
    dynamics = orthogonal_dynamics(side_by_side(chosen, bench))
    return as_evidence(descend(chosen, dynamics, training, bench=bench, title="one-hot encodings"))


def _stochastic(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Descent]:
    """The recursion of Lemma E.7 with the expectation inside, over random or given encodings."""
    training, seed = experiment.training, experiment.seed
    seen = [plan for plan in plans if experiment.fits(plan)]
    families = [ensemble(training.of(plan), MEMBERS, seed) for plan in seen]
    cases: dict[int, Descent] = {}
    for even in (True, False):
        places = [i for i, family in enumerate(families) if family.orthogonal == even]
        if not places:
            continue
        chosen = [families[i] for i in places]
        gaps = [family_gaps(family, seed) for family in chosen]
        if even:
            dynamics = orthogonal_dynamics(side_by_side([family.plan for family in chosen], bench))
        else:
            tables = [
                family_dynamics(f.plan, g, "inside") for f, g in zip(chosen, gaps, strict=True)
            ]
            padded = side_by_side(tables, bench)
            dynamics = jax.device_put(jax.tree.map(lambda *leaves: np.concatenate(leaves), *padded))
        found = descend(
            [family.plan for family in chosen],
            dynamics,
            training,
            bench=bench,
            title="random encodings",
            isometry=[family.worst for family in chosen],
            gaps=gaps,
            problems=[family.problems for family in chosen],
        )
        cases.update(zip(places, found, strict=True))
    return as_evidence([cases[i] for i in range(len(families))])


def family_dynamics(
    plan: Plan, gaps: Float[np.ndarray, "pairs others"], average: Average
) -> TwoScalars:
    """The recursion for a family of encodings, as a batch of one.

    The family stands for all its images under flips and switches of rows and columns, which leave
    the inner products as they are; over those Lemma E.7 is exact.
    """
    exact = FamilyAttention(*jax.device_put((gaps, 1.0 * plan.task.q)), average=average)
    highest = 3 * float(np.log(plan.task.T)) + 12
    table = TabulatedAttention.of(exact, highest, points=1_500)
    return TwoScalars.of(table, plan.task, plan.inertia, plan.rate).alone


LARGEST_STEPS = Plans(
    tuple(
        Size(*size)
        for size in (
            (9, 2, 1),
            (9, 2, 3),
            (9, 2, 10),
            (13, 3, 2),
            (20, 2, 1),
            (21, 5, 2),
            (50, 3, 2),
            (50, 3, 5),
            (100, 2, 1),
            (200, 3, 1),
            (120, 10, 1),
        )
    ),
    shares=(0.9, 0.2),
)
SMALLER_STEPS = Plans((Size(9, 2, 1, rate=0.005), Size(9, 2, 1, rate=0.0005)), shares=(0.9,))
SMALLER_LOSSES = Plans((Size(9, 2, 1),), shares=(0.02, 0.004))

ONE_HOT = Experiment(
    Several((LARGEST_STEPS, SMALLER_STEPS, SMALLER_LOSSES)),
    _one_hot,
    Descending(1_000_000),
    free=("steps",),
    fits=ONE_HOT_PLANS,
)
STOCHASTIC = Experiment(
    NEARLY_ORTHONORMAL,
    _stochastic,
    Descending(500_000),
    free=("steps",),
    fits=ENCODED_PLANS,
)


def is_narrow(plan: Plan) -> bool:
    """Whether its encodings have at most T d dimensions."""
    return ENCODED_PLANS(plan) and plan.inertia <= plan.task.T * plan.task.d


NARROW_STAGES = replace(STOCHASTIC, instances=Several((NEARLY_ORTHONORMAL, NARROW_ORTHOGONAL)))
NARROW_DESCENTS = replace(NARROW_STAGES, fits=is_narrow)
"""From the start, with orthogonal encodings where d_e <= T d, too; or looked at there alone."""

LAST_STEPS = Descending(90_000, last=9_000)
"""With eta > 2q, C rises for some thousand steps and falls in a few hundred, at T = 256 from step
81,500 on."""

NARROW = replace(STOCHASTIC, training=LAST_STEPS, free=(), fits=is_narrow)
"""Every step of the end of training, where d_e <= T d."""


@dataclass(frozen=True)
class Stalled(AbstractInstances):
    """Plans within the hypotheses of Theorem 3.3 whose step size is above 2q."""

    def draw(self, seed: int, scale: Scale) -> Sequence[Plan]:
        return stalled_plans()

    @property
    def says(self) -> str:
        return f"{len(stalled_plans())} plans with eta > 2q"


STALLED = Experiment(Stalled(), _stochastic, LAST_STEPS, own=True)
