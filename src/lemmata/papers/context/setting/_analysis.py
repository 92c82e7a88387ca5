"""The user's own plans: hypotheses, constants, and how long training takes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
from rich.text import Text

from lemmata.settings import AbstractAnalysis, Hypothesis
from lemmata.tokens import Problem

from .. import theory
from ..theory import Constants, Real
from ._findings import (
    Duration,
    Guarantee,
    Guarantees,
    Losses,
    RidgeRegression,
    Standing,
    Zeta,
    as_document,
)
from ._frozen import RESOLUTION, exact_zeta, first_step
from ._hypotheses import (
    DISTINCT_ROW,
    ENOUGH_HEADS,
    FULL_RANK,
    NOISE,
    UNIT,
)
from ._plan import Plan

ASSUMPTIONS: dict[str, Hypothesis] = {
    "unit_tokens": UNIT,
    "noise": NOISE,
    "heads": ENOUGH_HEADS,
    "assumption-2": FULL_RANK,
    "assumption-3": DISTINCT_ROW,
}
"""The hypotheses by their names in the answer."""

VERSIONS: dict[str, Callable[[Constants, Real], Real]] = {
    "printed_61": theory.smoothness,
    "repaired_61": theory.smoothness_repaired,
    "simplified_17": theory.smoothness_simplified,
    "repaired_17": theory.smoothness_simplified_repaired,
}
"""The versions of the smoothness L."""

MOST_WORK = 1_200_000
"""Multiplications in high precision, which take about five seconds."""

MOST_EXACT = 4
"""Tokens whose eigenvalues are computed in high precision, if there is time."""

PARTS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Of the largest stable step; at that step itself the fastest direction stands still."""


@dataclass(frozen=True, eq=False)
class Analysis(AbstractAnalysis):
    """What the paper says about a plan.

    Attributes:
        plan: the plan.
        losses: the loss at its best and at the start.
        ridge: what is learned.
        zeta: zeta_0 of (14).
        guarantees: what the theory promises; None where it has no step size.
        duration: how long training really takes.
        assumptions: which hypotheses hold.
    """

    plan: Plan
    losses: Losses
    ridge: RidgeRegression
    zeta: Zeta
    guarantees: Guarantees | None
    duration: Duration
    assumptions: Mapping[str, Standing]

    def document(self) -> dict[str, Any]:
        """The plan's numbers and everything else, by the names of the answer."""
        plan = self.plan
        return {
            "name": plan.name,
            **{name: getattr(plan.task, name) for name in ("N", "K", "d", "m", "tau")},
            "H": plan.heads,
            "beta": plan.scale,
            "seed": plan.seed,
            "epsilon": plan.epsilon,
            "delta": plan.delta,
            "B": plan.largest_coefficient,
            "loss": as_document(self.losses),
            "ridge": as_document(self.ridge),
            "zeta": as_document(self.zeta),
            "theory": as_document(self.guarantees),
            "time": as_document(self.duration),
            "assumptions": as_document(self.assumptions),
            "problems": [vars(problem) for problem in plan.problems],
        }

    def describe(self) -> Iterator[Any]:
        """The task, what the theory promises, what training really takes, and what applies."""
        plan, task = self.plan, self.plan.task
        yield Text(plan.name, style="bold")
        yield Text(
            f"Predict the labels of K = {task.K:,} tokens in d = {task.d:,} dimensions from those "
            f"of the first N = {task.N:,}; labels combine m = {task.m:,} representations with "
            f"noise of variance tau = {task.tau:g}. H = {plan.heads:,} heads start with Gaussian "
            f"entries of deviation beta = {plan.scale:g}."
        )
        yield from self.losses.describe()
        yield from self.ridge.describe()
        yield from self.zeta.describe()
        if self.guarantees is not None:
            yield from self.guarantees.describe(self.zeta, plan)
        yield from self.duration.describe(self.guarantees)
        for problem in plan.problems:
            yield Text(f"{problem.code}: {problem.message}", style="yellow")


def analyze_plan(plan: Plan) -> Analysis:
    """What the paper says about one plan."""
    zeta = _zeta(plan)
    guarantees = None
    if plan.task.tau > 0 and zeta.kind in ("exact", "at most"):
        guarantees = _guarantees(plan, replace(plan.constants, zeta=mpmath.mpf(zeta.value)))
    standing = {name: _standing(asked, plan.problems) for name, asked in ASSUMPTIONS.items()}
    return Analysis(
        plan=plan,
        losses=_losses(plan),
        ridge=_ridge(plan),
        zeta=zeta,
        guarantees=guarantees,
        duration=_duration(plan, guarantees),
        assumptions=standing,
    )


def _losses(plan: Plan) -> Losses:
    task = plan.task
    missing = (task.K - task.N) * task.ridge / (2 * task.K)
    return Losses(
        minimum=task.minimum,
        minimum_as_printed=task.minimum - missing,
        initial_gap=task.initial_gap,
        at_start=task.minimum + task.initial_gap,
    )


def _ridge(plan: Plan) -> RidgeRegression:
    task, best = plan.task, plan.task.N * plan.task.tau
    if task.K == task.N:
        return RidgeRegression(task.ridge)
    risks = (float(task.query_risks(level).mean()) for level in (task.ridge, best))
    return RidgeRegression(task.ridge, next(risks), best, next(risks))


def _zeta(plan: Plan) -> Zeta:
    codes = {problem.code for problem in plan.problems}
    if (FULL_RANK.broken_by - FULL_RANK.left_open_by) & codes:
        return Zeta("zero", 0.0, plan.task.K)
    if plan.frozen.resolved:
        return Zeta("exact", plan.frozen.zeta, plan.task.K)
    tokens = _exact_tokens(plan)
    value = exact_zeta(plan.task, plan.start, tokens) if tokens else 0
    return Zeta("unknown", None, len(tokens)) if value == 0 else Zeta("at most", value, len(tokens))


def _exact_tokens(plan: Plan) -> list[int]:
    """The tokens with the smallest rank in float64, as many as there is time for."""
    N, H, d = plan.task.N, plan.heads, plan.task.d
    work = H * (d * d + N * d + N * N) + 10 * N**3
    sizes = plan.frozen.sizes
    ranks = np.sum(sizes > RESOLUTION * sizes[:, :1], axis=1)
    count = min(MOST_EXACT, MOST_WORK // work)
    return np.argsort(ranks, kind="stable")[:count].tolist()


def _guarantees(plan: Plan, constants: Constants) -> Guarantees:
    """Theorems 1 and 2 with the least gamma that (15) allows."""
    labels = plan.label_bound

    def version(bound: Callable[[Constants, Real], Real]) -> Guarantee:
        rates = theory.theory_rates(constants, bound=bound)
        steps = theory.steps_for_inference(
            constants, rates.guaranteed, labels=labels, epsilon=plan.epsilon
        )
        return Guarantee(
            L=bound(constants, rates.gamma),
            eta_Q=rates.Q,
            eta_w=rates.w,
            guaranteed=rates.guaranteed,
            steps=mpmath.ceil(steps),
        )

    return Guarantees(
        gamma=theory.least_gamma(constants),
        best_rate=theory.best_rate(constants),
        label_bound=labels,
        versions={name: version(bound) for name, bound in VERSIONS.items()},
    )


def _duration(plan: Plan, guarantees: Guarantees | None) -> Duration:
    frozen, task = plan.frozen, plan.task
    needed = task.ridge * plan.epsilon / plan.label_bound**2 if task.tau else 0.0
    stable = frozen.largest_stable_rate if frozen.sizes.max() > 0 else None
    left = task.initial_gap if stable is None else frozen.left_in_practice
    duration = Duration(needed, frozen.floor, left, largest_stable_rate=stable)
    out_of_reach = left > needed if duration.floor is None else duration.floor > needed
    if stable is None or needed == 0 or out_of_reach:
        return duration
    at_theory_rate = None
    if guarantees is not None:
        eta_w = float(guarantees.versions["printed_61"].eta_w)
        at_theory_rate = first_step(frozen, eta_w, needed)
    rates = [part * stable for part in PARTS]
    times = [first_step(frozen, rate, needed) or math.inf for rate in rates]
    return replace(
        duration,
        at_theory_rate=at_theory_rate,
        tuned_rate=rates[int(np.argmin(times))],
        at_tuned_rate=min(times) if math.isfinite(min(times)) else None,
    )


def _standing(asked: Hypothesis, problems: Sequence[Problem]) -> Standing:
    """Whether a hypothesis holds; None where float64 cannot tell."""
    broken = sorted({problem.code for problem in asked.broken(problems)})
    if asked.is_open(problems):
        return Standing(None, tuple(broken))
    return Standing(not broken, tuple(code for code in broken if code not in asked.left_open_by))
