"""The user's own plans: encodings, hypotheses, and how long training takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.settings import AbstractAnalysis, Hypothesis
from lemmata.tokens import Problem

from ..theory import length_ratio, width_law
from ._findings import (
    Length,
    Limits,
    Time,
    Width,
    describe_elsewhere,
    describe_encodings,
    describe_plan,
    describe_problems,
    describe_time,
)
from ._forecast import Forecast, forecast, loss_elsewhere, plateau, tail
from ._hypotheses import RESTRICTED, SMALL_LOSS, SMALL_STEP, SPARSE, STOCHASTIC_STEP
from ._measure import Measured, measure
from ._plan import Plan, largest_epsilon, largest_rate

ASSUMPTIONS: dict[str, Hypothesis] = {
    "q_range": SPARSE,
    "epsilon_range": SMALL_LOSS,
    "step_size": SMALL_STEP,
    "stochastic_step_size": STOCHASTIC_STEP,
    "isometry": RESTRICTED,
}
"""The hypotheses by their names in the answer."""

ASKED = {
    True: ("q_range", "epsilon_range", "step_size"),
    False: ("q_range", "epsilon_range", "stochastic_step_size", "isometry"),
}
"""What Theorem 3.1 asks of one-hot encodings, and Theorem 3.3 of others."""


@dataclass(frozen=True, eq=False)
class Analysis(AbstractAnalysis):
    """What the paper says about a plan.

    Attributes:
        plan: the plan.
        measured: its encodings.
        limits, time, length, width: see there.
        assumptions: the problems that break each assumption which concerns the plan; None for one
            that the kind of its encodings decides against.
        problems: what it does not meet.
    """

    plan: Plan
    measured: Measured
    limits: Limits
    time: Time
    length: Length
    width: Width
    assumptions: Mapping[str, tuple[Problem, ...] | None]
    problems: tuple[Problem, ...]

    def document(self) -> dict[str, Any]:
        plan, measured, time = self.plan, self.measured, self.time
        return {
            "name": plan.name,
            **{name: getattr(plan.task, name) for name in ("T", "q", "d")},
            "eta": plan.rate,
            "eps": plan.epsilon,
            "d_e": plan.d_e,
            "threshold": plan.threshold if plan.kind == "random" else None,
            "encodings": plan.kind,
            "zero_loss": plan.task.zero_loss,
            "measured": {
                **vars(measured),
                "delta": measured.delta,
                "delta_exact": measured.exact,
                "below_tenth": measured.below_tenth,
            },
            "limits": vars(self.limits),
            "time": {
                **vars(time),
                "steps_over_bound": time.steps_over_bound,
                "steps_over_law": time.steps_over_law,
            },
            "length": vars(self.length),
            "width": vars(self.width),
            "assumptions": {
                name: {"holds": broken == (), "problems": [p.code for p in broken or ()]}
                for name, broken in self.assumptions.items()
            },
            "problems": [vars(problem) for problem in self.problems],
        }

    def describe(self) -> Iterator[Any]:
        yield from describe_plan(self.plan)
        if self.plan.kind != "one-hot":
            yield from describe_encodings(self.plan, self.measured)
        yield from describe_time(self.plan, self.time, self.limits.stable_eta)
        yield from describe_elsewhere(self.length, self.width)
        yield from describe_problems(self.problems)


def analyze_plan(plan: Plan) -> Analysis:
    """What the paper says about a plan."""
    plan.task.require_rest(plan.name)
    try:
        measured, forecasted = measure(plan), forecast(plan)
    except InputError as error:
        raise InputError(f"{plan.name}: {error}") from error
    problems = (*problems_of(plan), *isometry_problem(plan, measured))
    limits = Limits(largest_epsilon(plan.task), largest_rate(plan.task, plan.d_e), 2 * plan.task.q)
    return Analysis(
        plan,
        measured,
        limits,
        _time(plan, forecasted),
        _length(plan, forecasted),
        _width(plan),
        _assumptions(plan, problems),
        problems,
    )


def isometry_problem(plan: Plan, measured: Measured) -> tuple[Problem, ...]:
    """What keeps the encodings from having the (q, delta)-RIP with delta < 1/10, if anything."""
    if measured.below_tenth:
        return ()
    text = f"delta is {'' if measured.exact else 'at least '}{measured.delta:.4g}"
    if measured.below_tenth is None:
        text += "; there are too many sets to make sure that it is below 1/10"
    return (Problem("no_isometry", plan.name, text),)


def problems_of(plan: Plan) -> tuple[Problem, ...]:
    """What the theorem about such encodings asks, and the plan does not meet."""
    codes = frozenset().union(*(ASSUMPTIONS[name].broken_by for name in _asked(plan)))
    return tuple(problem for problem in plan.problems if problem.code in codes)


def _asked(plan: Plan) -> tuple[str, ...]:
    """What the theorem about such encodings asks of the rest."""
    return ASKED[plan.kind == "one-hot"]


def _assumptions(
    plan: Plan, problems: tuple[Problem, ...]
) -> dict[str, tuple[Problem, ...] | None]:
    """Which problems break the assumptions that concern the plan."""
    one_hot = plan.kind == "one-hot"
    return {
        "one_hot": () if one_hot else None,
        "not_one_hot": None if one_hot else (),
        **{name: tuple(ASSUMPTIONS[name].broken(problems)) for name in _asked(plan)},
    }


def _time(plan: Plan, forecasted: Forecast) -> Time:
    reached, halved = forecasted.reached, forecasted.halved
    # Over groups of draws; one group has no spread, as nothing was drawn.
    spread = float(reached.std(ddof=1) / np.sqrt(len(reached))) if len(reached) > 1 else 0.0
    return Time(
        steps=float(reached.mean()) if forecasted.done else None,
        standard_error=spread if forecasted.done else None,
        half_attention=float(halved.mean()) if (halved >= 0).all() else None,
        searched=forecasted.searched,
        bound=plan.task.T**2 * plan.task.d / (plan.rate * plan.epsilon),
        law=tail(plan),
        plateau_law=plateau(plan),
    )


def _length(plan: Plan, forecasted: Forecast) -> Length:
    T, q = plan.task.T, plan.task.q
    longer = None
    if forecasted.done:
        longer = loss_elsewhere(plan, forecasted.alpha, forecasted.C, T=2 * T, q=q)
    return Length(
        T=2 * T,
        loss=None if longer is None else float(longer.mean()),
        ratio=None if longer is None else float(longer.mean() / forecasted.loss.mean()),
        law=float(length_ratio(1.0 * T, 2.0 * T, 1.0 * q)),
    )


def _width(plan: Plan) -> Width:
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    floor = float(width_law(T, q, d, plan.width)) / 2
    return Width(plan.width, T * d, plan.width < T * d, floor)
