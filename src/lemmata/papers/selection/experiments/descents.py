"""The experiments behind the claims about encodings, gradients and the two-scalar dynamics.

Everything that needs arrays on a device is imported when an experiment runs, so that claims can be
listed at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError
from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.theory import NEEDED_DELTA, kappa
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from lemmata.papers.selection.setting import (
        Average,
        Isometry,
        Plan,
        Task,
        TwoScalars,
    )

MOST_STEPS = 5_000_000
"""Where the search for the time to epsilon stops."""

LAST_STEP = 1_000_000
"""How far trajectories are recorded."""


@dataclass(frozen=True)
class Descent:
    """Gradient descent from zero in two numbers, recorded.

    Attributes:
        plan: the task, the step size and the loss to reach.
        inertia: T - 1 for one-hot encodings, d_e for random ones.
        steps: the recorded steps.
        series: alpha, C, loss, missed at these steps, and alpha, C and missed one step later.
        reached, grown, halved: the first steps with L <= epsilon, with alpha >= 1 - kappa/10, and
            with s_+ >= 1/(2q); -1 if they did not come.
        isometry: of the worst encoding of the family, where encodings are random.
        problems: hypotheses that are not met.
    """

    plan: "Plan"
    inertia: float
    steps: Int[np.ndarray, "records"]
    series: dict[str, Float[np.ndarray, "records"]]
    reached: int
    grown: int
    halved: int
    problems: tuple[Problem, ...] = ()
    isometry: "Isometry | None" = None
    gaps: Float[np.ndarray, "pairs others"] = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def task(self) -> "Task":
        """T, q, d."""
        return self.plan.task

    @property
    def kappa(self) -> float:
        """sqrt(q (T-q) epsilon / (d T))."""
        task = self.task
        return float(kappa(task.T, task.q, task.d, self.plan.epsilon))

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.series[name]

    @cached_property
    def phase(self) -> Int[np.ndarray, "records"]:
        """1 up to the step before alpha has grown, 2 from then on."""
        grown = self.grown if self.grown >= 0 else np.iinfo(np.int64).max
        return np.where(self.steps < grown, 1, 2)


def _recorded(last: int) -> Int[np.ndarray, "records"]:
    from lemmata.training import log_spaced

    return np.unique(np.concatenate([np.arange(min(last, 300) + 1), log_spaced(last, 500)]))


def descend(
    plans: "Sequence[Plan]",
    dynamics: "TwoScalars",
    *,
    bench: Bench,
    title: str,
    last: int = LAST_STEP,
    **further: Sequence[Any],
) -> Cases[Descent]:
    """Run the recursion for every plan, with a progress bar."""
    from lemmata.papers.selection.setting import first_times
    from lemmata.training import run

    eps = np.array([plan.epsilon for plan in plans])
    T, q, d = np.array([(p.task.T, p.task.q, p.task.d) for p in plans], dtype=float).T
    times = first_times(
        dynamics,
        loss=eps,
        alpha=1 - 0.1 * np.asarray(kappa(T, q, d, eps)),
        missed=np.full(len(plans), 0.5),
        most=MOST_STEPS,
    )
    steps = _recorded(last)
    progress = bench.track(title, len(plans) * last)
    found = run(dynamics, steps, progress=progress)
    own: list[dict[str, Any]] = [
        {"problems": plan.problems} | {name: values[i] for name, values in further.items()}
        for i, plan in enumerate(plans)
    ]
    return Cases(
        tuple(
            Descent(
                plan=plan,
                inertia=float(np.asarray(dynamics.inertia)[i]),
                steps=steps,
                series={name: rows[i] for name, rows in found.series.items()},
                reached=int(times.loss[i]),
                grown=int(times.alpha[i]),
                halved=int(times.missed[i]),
                **own[i],
            )
            for i, plan in enumerate(plans)
        )
    )


ONE_HOT_TASKS = (
    (9, 2, 1),
    (9, 2, 3),
    (13, 3, 2),
    (20, 2, 1),
    (21, 5, 2),
    (50, 3, 2),
    (50, 3, 5),
    (100, 2, 1),
    (200, 3, 1),
    (120, 10, 1),
)


def _one_hot_plans() -> "list[Plan]":
    """The tasks at the largest step size of Theorem 3.1, each with a large and a small epsilon."""
    from lemmata.papers.selection.setting import Plan, Task

    plans = []
    for T, q, d in ONE_HOT_TASKS:
        largest = d * T / (100 * (T - q) * q)
        for share in (0.9, 0.2):
            name = f"T={T} q={q} d={d} eps={share * largest:.2g}"
            plans.append(Plan(name, Task(T, q, d), 1 / (20 * d * d), share * largest))
    return plans


def one_hot_dynamics(plans: "Sequence[Plan]") -> "TwoScalars":
    """The recursions of Lemma D.5 as one batch."""
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import OneHotAttention, TwoScalars

    T, q, d = (jnp.array([float(getattr(p.task, k)) for p in plans]) for k in "Tqd")
    rate = jnp.array([plan.rate for plan in plans])
    return TwoScalars(OneHotAttention(T, q), d, q, T - 1, rate)


def _one_hot(bench: Bench) -> Cases[Descent]:
    plans = _one_hot_plans() if bench.instances is None else list(bench.instances)
    plans = [plan for plan in plans if plan.d_e is None and plan.task.q < plan.task.T]
    if not plans:
        return Cases(())
    return descend(plans, one_hot_dynamics(plans), bench=bench, title="one-hot encodings")


RIP_PLANS = ((9, 2, 3, 2_000, 1.0), (16, 2, 250, 4_000, 0.4), (13, 3, 5, 4_000, 1.0))
"""T, q, d, d_e and eta of tasks whose random encodings have the RIP with delta < 1/10."""

MEMBERS = 6
"""Encodings in a family."""


def _stochastic_plans() -> "list[Plan]":
    from lemmata.papers.selection.setting import Plan, Task

    plans = []
    for T, q, d, d_e, rate in RIP_PLANS:
        epsilon = 0.9 * d * T / (100 * (T - q) * q)
        name = f"T={T} q={q} d={d} d_e={d_e}"
        plans.append(Plan(name, Task(T, q, d), rate, epsilon, d_e=d_e))
    return plans


@dataclass(frozen=True)
class Ensemble:
    """Random encodings of one size, and how near to orthonormal each is."""

    plan: "Plan"
    E: Float[np.ndarray, "members d_e T"]
    isometries: "tuple[Isometry, ...]"

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    @property
    def worst(self) -> "Isometry":
        """The encoding with the largest delta."""
        return max(self.isometries, key=lambda isometry: isometry.delta)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Hypotheses that are not met, the RIP with delta < 1/10 among them."""
        return (*self.plan.problems, *self._isometry_problem)

    @property
    def _isometry_problem(self) -> tuple[Problem, ...]:
        delta, exact = self.worst.delta, self.worst.exact
        if exact and delta < NEEDED_DELTA:
            return ()
        text = f"delta is {'' if exact else 'at least '}{delta:.4f}"
        if not exact and delta < NEEDED_DELTA:
            text += "; too many sets to make sure that it is below 1/10"
        return (Problem("no_isometry", self.plan.name, text),)


def draw_encodings(plan: "Plan", members: int, seed: int) -> Float[np.ndarray, "members d_e T"]:
    """Random sign encodings of the plan's size, within its threshold."""
    from lemmata.papers.selection.setting import near_orthogonal_family

    if plan.d_e is None:
        raise InputError(f"{plan.name}: one-hot encodings are not random")
    return near_orthogonal_family(members, plan.d_e, plan.task.T, plan.threshold, seed)


def ensemble(plan: "Plan", members: int, seed: int) -> Ensemble:
    """The plan's own encodings, or draws that have the RIP with delta < 1/10 if such come up.

    Draws without it are set aside, which is the conditioning of Definition 2.5; if the first
    forty have none, they are all kept, and the hypothesis is reported as not met.
    """
    from lemmata.papers.selection.setting import measure_isometry

    many = max(members, 40) if plan.task.T <= 30 else members
    drawn = plan.encodings[None] if plan.encodings is not None else draw_encodings(plan, many, seed)
    kept, isometries = [], []
    for E in drawn:
        isometry = measure_isometry(E, plan.task.q)
        if len(kept) < members and isometry.exact and isometry.delta < NEEDED_DELTA:
            kept.append(E)
            isometries.append(isometry)
        if len(kept) == members or (not kept and not isometry.exact):
            break
    if not kept:
        kept = list(drawn[:members])
        isometries = [measure_isometry(E, plan.task.q) for E in kept]
    return Ensemble(plan, np.stack(kept), tuple(isometries))


def _ensembles(bench: Bench) -> Cases[Ensemble]:
    plans = _stochastic_plans() if bench.instances is None else list(bench.instances)
    plans = [plan for plan in plans if plan.d_e is not None and plan.task.q < plan.task.T]
    return Cases(tuple(ensemble(plan, MEMBERS, bench.seed) for plan in plans))


ENCODING_SIZES = (
    (6, 1, 60),
    (9, 2, 200),
    (9, 2, 2_000),
    (12, 3, 600),
    (16, 2, 400),
    (13, 3, 4_000),
)
"""T, q and d_e of the encodings that Appendix A is checked on."""


def _encodings(bench: Bench) -> Cases[Ensemble]:
    """Four draws a size, whatever their delta, each measured exactly."""
    from lemmata.papers.selection.setting import Plan, Task, measure_isometry

    plans = [
        Plan(f"T={T} q={q} d_e={d_e}", Task(T, q, 1), 1.0, 1e-3, d_e=d_e)
        for T, q, d_e in ENCODING_SIZES
    ]
    if bench.instances is not None:
        plans = [p for p in bench.instances if p.d_e is not None and p.task.q < p.task.T]
    found = []
    for plan in plans:
        E = (
            plan.encodings[None]
            if plan.encodings is not None
            else draw_encodings(plan, 4, bench.seed)
        )
        isometries = tuple(measure_isometry(one, plan.task.q) for one in E)
        found.append(Ensemble(plan, E, isometries))
    return Cases(tuple(found))


MOST_PAIRS = 3_000
"""Pairs of an encoding and a subset in a family; random ones if there are more."""


def family_gaps(found: Ensemble, seed: int) -> Float[np.ndarray, "pairs others"]:
    """1 - <e_i, e_y> outside y, for every encoding and every subset, or for random ones."""
    from lemmata.papers.selection.setting import FamilyAttention

    task, members = found.plan.task, len(found.E)
    if members * task.subset_count <= MOST_PAIRS:
        y = task.all_subsets()
    else:
        y = task.draw_subsets(MOST_PAIRS // members, np.random.default_rng([seed, 11]))
    return np.asarray(FamilyAttention.of(found.E, y).gaps)


def _stochastic(bench: Bench) -> Cases[Descent]:
    """The recursion of Lemma E.7 with the expectation inside, one family a plan."""
    found = bench.evidence(ENSEMBLES)
    runs = [_stochastic_run(bench, case) for case in found]
    return Cases(tuple(case for run in runs for case in run))


def _stochastic_run(bench: Bench, found: Ensemble) -> Cases[Descent]:
    plan = found.plan
    gaps = family_gaps(found, bench.seed)
    return descend(
        [plan],
        family_dynamics(plan, gaps, "inside"),
        bench=bench,
        title=f"random encodings, {plan.name}",
        last=LAST_STEP + LAST_STEP // 4,
        isometry=[found.worst],
        gaps=[gaps],
        problems=[found.problems],
    )


def family_dynamics(
    plan: "Plan", gaps: Float[np.ndarray, "pairs others"], average: "Average"
) -> "TwoScalars":
    """The recursion for a family of encodings, as a batch of one.

    The family stands for all its images under flips and switches of rows and columns, which leave
    the inner products as they are; over those Lemma E.7 is exact.
    """
    import jax
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import FamilyAttention, TabulatedAttention, TwoScalars

    assert plan.d_e is not None
    q, d = jnp.asarray(1.0 * plan.task.q), jnp.asarray(1.0 * plan.task.d)
    d_e, rate = jnp.asarray(1.0 * plan.d_e), jnp.asarray(1.0 * plan.rate)
    exact = FamilyAttention(jnp.asarray(gaps), q, average)
    highest = 3 * float(np.log(plan.task.T)) + 12
    table = TabulatedAttention.of(exact, highest, points=1_500)
    return jax.tree.map(lambda leaf: leaf[None], TwoScalars(table, d, q, d_e, rate))


ONE_HOT: Experiment[Cases[Descent]] = Experiment(
    "one-hot",
    "the recursion of Lemma D.5 for 10 tasks from T = 9 to 200, eta = 1/(20 d^2), two epsilons "
    "each, recorded up to a million steps",
    _one_hot,
)
ENSEMBLES: Experiment[Cases[Ensemble]] = Experiment(
    "ensembles",
    "6 random sign encodings for each of three tasks (T = 9, 16, 13) with delta < 1/10, gone "
    "through exactly",
    _ensembles,
)
ENCODINGS: Experiment[Cases[Ensemble]] = Experiment(
    "encodings",
    "4 random sign encodings for each of six sizes from T = 6, d_e = 60 to T = 13, d_e = 4000, "
    "delta from 0.08 to 0.6, exact",
    _encodings,
)
STOCHASTIC: Experiment[Cases[Descent]] = Experiment(
    "stochastic",
    "the recursion of Lemma E.7 (expectation inside) over these encodings and all subsets, "
    "recorded up to 1,250,000 steps",
    _stochastic,
)
