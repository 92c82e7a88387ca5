"""The user's own plans: encodings, hypotheses, and how long training takes. JSON-able answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmata._errors import InputError
from lemmata.papers.selection.setting._forecast import (
    Forecast,
    forecast,
    loss_elsewhere,
    plateau,
    tail,
)
from lemmata.papers.selection.setting._measure import Measured, measure
from lemmata.papers.selection.setting._plan import Plan, largest_epsilon, largest_rate
from lemmata.papers.selection.theory import length_ratio
from lemmata.papers.selection.theory._networks import width_law
from lemmata.tokens import Problem

SETTING = "selection"

THEOREMS = {
    "theorem-3.1": ("one_hot", "q_range", "epsilon_range", "step_size"),
    "theorem-3.3": ("not_one_hot", "q_range", "epsilon_range", "stochastic_step_size", "isometry"),
}
"""What each theorem asks for; of epsilon, what its proof needs (Theorem E.6)."""

CODES = {
    "q_range": "q_out_of_range",
    "epsilon_range": "large_epsilon",
    "step_size": "large_step",
    "stochastic_step_size": "large_stochastic_step",
    "isometry": "no_isometry",
}
"""The problem that breaks an assumption."""


def analyze(plans: Sequence[Plan]) -> dict[str, Any]:
    """What the paper says about the plans; several are listed under ``instances``."""
    answers = [analyze_plan(plan) for plan in plans]
    if len(answers) == 1:
        return {"setting": SETTING} | answers[0]
    return {"setting": SETTING, "instances": answers}


def analyze_plan(plan: Plan) -> dict[str, Any]:
    """One plan."""
    try:
        measured, found = measure(plan), forecast(plan)
    except InputError as error:
        raise InputError(f"{plan.name}: {error}") from error
    problems = [*problems_of(plan), *_isometry_problem(plan, measured)]
    assumptions = _assumptions(plan, {problem.code for problem in problems})
    return {
        "name": plan.name,
        **{name: getattr(plan.task, name) for name in ("T", "q", "d")},
        "eta": plan.rate,
        "eps": plan.epsilon,
        "d_e": plan.d_e,
        "threshold": plan.threshold if plan.kind == "random" else None,
        "encodings": plan.kind,
        "zero_loss": plan.task.zero_loss,
        "measured": _plain(measured),
        "limits": {
            "eps": largest_epsilon(plan.task),
            "eta": largest_rate(plan.task, plan.d_e),
            "stable_eta": 2 * plan.task.q,
        },
        "time": _time(plan, found),
        "length": _length(plan, found),
        "width": _width(plan),
        "assumptions": assumptions,
        "theorems": {
            name: _theorem([a for a in asks if not assumptions.get(a, {"holds": True})["holds"]])
            for name, asks in THEOREMS.items()
        },
        "problems": [{"code": p.code, "where": p.where, "message": p.message} for p in problems],
    }


def _plain(measured: Measured) -> dict[str, Any]:
    return vars(measured) | {
        "delta": measured.delta,
        "delta_exact": measured.exact,
        "below_tenth": measured.below_tenth,
    }


def _isometry_problem(plan: Plan, measured: Measured) -> tuple[Problem, ...]:
    if measured.below_tenth:
        return ()
    text = f"delta is {'' if measured.exact else 'at least '}{measured.delta:.4g}"
    if measured.below_tenth is None:
        text += "; there are too many sets to make sure that it is below 1/10"
    return (Problem("no_isometry", plan.name, text),)


def problems_of(plan: Plan) -> list[Problem]:
    """What the theorem about such encodings asks, and the plan does not meet."""
    codes = {CODES[name] for name in _asked(plan)}
    return [problem for problem in plan.problems if problem.code in codes]


def _asked(plan: Plan) -> tuple[str, ...]:
    """What the theorem about such encodings asks of the rest."""
    return THEOREMS["theorem-3.1" if plan.kind == "one-hot" else "theorem-3.3"][1:]


def _assumptions(plan: Plan, broken: set[str]) -> dict[str, Any]:
    """Which hypotheses hold, of those that concern the plan."""
    one_hot = plan.kind == "one-hot"
    found = {
        "one_hot": {"holds": one_hot, "problems": []},
        "not_one_hot": {"holds": not one_hot, "problems": []},
    }
    for name in _asked(plan):
        codes = [CODES[name]] if CODES[name] in broken else []
        found[name] = {"holds": not codes, "problems": codes}
    return found


def _theorem(broken: list[str]) -> dict[str, Any]:
    return {"applies": not broken, "broken": broken}


def _time(plan: Plan, found: Forecast) -> dict[str, Any]:
    """The first step with L <= epsilon by the recursion, the paper's bound and our laws."""
    T, d = plan.task.T, plan.task.d
    bound = T**2 * d / (plan.rate * plan.epsilon)
    steps = float(found.reached.mean()) if found.done else None
    half = float(found.halved.mean()) if (found.halved >= 0).all() else None
    return {
        "steps": steps,
        "standard_error": _standard_error(found.reached) if found.done else None,
        "half_attention": half,
        "searched": found.searched,
        "bound": bound,
        "law": tail(plan),
        "plateau_law": plateau(plan),
        "steps_over_bound": None if steps is None else steps / bound,
        "steps_over_law": None if steps is None else steps / tail(plan),
    }


def _standard_error(values: np.ndarray) -> float:
    """Of the mean over groups of draws; 0 where nothing was drawn."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _length(plan: Plan, found: Forecast) -> dict[str, Any]:
    """The loss at twice the length over the loss, when training stops at epsilon."""
    T, q = plan.task.T, plan.task.q
    longer = loss_elsewhere(plan, found.alpha, found.C, T=2 * T, q=q) if found.done else None
    return {
        "T": 2 * T,
        "loss": None if longer is None else float(longer.mean()),
        "ratio": None if longer is None else float(longer.mean() / found.loss.mean()),
        "law": float(length_ratio(1.0 * T, 2.0 * T, 1.0 * q)),
        "paper": 4.0,
    }


def _width(plan: Plan) -> dict[str, Any]:
    """Theorem 3.5: widths, and what a net as wide as W cannot beat, with the 1/2 of Eq. (3)."""
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    return {
        "transformer": plan.width,
        "fully_connected": T * d,
        "narrower": plan.width < T * d,
        "floor": float(width_law(T, q, d, plan.width)) / 2,
    }
