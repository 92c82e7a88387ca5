"""The user's own plans: hypotheses, constants, and how long training takes. JSON-able answers.

A number that float64 cannot hold is given as text: gamma can be 1e178, and L is its square.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

from lemmata.papers.context.setting._constants import exact_zeta
from lemmata.papers.context.setting._frozen import RESOLUTION, FrozenAttention
from lemmata.papers.context.setting._plan import Plan
from lemmata.papers.context.theory import (
    Constants,
    Real,
    best_rate,
    least_gamma,
    smoothness,
    smoothness_repaired,
    smoothness_simplified,
    smoothness_simplified_repaired,
    steps_for_inference,
    theory_rates,
)

SETTING = "context"

ASSUMPTIONS = {
    "unit_tokens": ("not_unit",),
    "noise": ("no_noise", "singular"),
    "heads": ("few_heads",),
    "assumption-2": ("no_full_rank", "singular"),
    "assumption-3": ("repeated_token", "no_distinct_row"),
}
"""The problems that break an assumption."""

THEOREMS = {
    "proposition-1": ("heads", "assumption-3"),
    "theorem-1": ("unit_tokens", "noise", "assumption-2"),
    "theorem-2": ("unit_tokens", "noise", "assumption-2"),
}
"""What each statement asks of a plan; the laws of Assumptions 1 and 4 are taken for granted."""

UNSURE = "zeta_unresolved"
"""The problem that leaves Assumption 2 open."""

VERSIONS: dict[str, Callable[[Constants, Real], Real]] = {
    "printed_61": smoothness,
    "repaired_61": smoothness_repaired,
    "simplified_17": smoothness_simplified,
    "repaired_17": smoothness_simplified_repaired,
}
"""The versions of the smoothness L."""

MOST_WORK = 1_200_000
"""Multiplications in high precision, which take about five seconds."""

MOST_EXACT = 4
"""Tokens whose eigenvalues are computed in high precision, if there is time."""

PARTS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Of the largest stable step; at that step itself the fastest direction stands still."""

LONGEST = 1e300
"""Steps beyond which no search goes."""


def analyze(plans: Sequence[Plan]) -> dict[str, Any]:
    """What the paper says about the plans; several are listed under ``instances``."""
    answers = [analyze_plan(plan) for plan in plans]
    if len(answers) == 1:
        return {"setting": SETTING} | answers[0]
    return {"setting": SETTING, "instances": answers}


def analyze_plan(plan: Plan) -> dict[str, Any]:
    """One plan."""
    task = plan.task
    zeta = _zeta(plan)
    constants = None
    if task.tau > 0 and zeta["kind"] in ("exact", "at most"):
        constants = replace(plan.constants, zeta=mpmath.mpf(zeta["value"]))
    assumptions = _assumptions({problem.code for problem in plan.problems})
    theory = None if constants is None else _theory(plan, constants)
    return {
        "name": plan.name,
        **{name: getattr(task, name) for name in ("N", "K", "d", "m", "tau")},
        "H": plan.heads,
        "beta": plan.scale,
        "seed": plan.seed,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "B": plan.largest_coefficient,
        "loss": _loss(plan),
        "ridge": _ridge(plan),
        "zeta": {key: _plain(value) for key, value in zeta.items()},
        "theory": theory,
        "time": _time(plan, theory),
        "assumptions": assumptions,
        "theorems": {name: _theorem(asks, assumptions) for name, asks in THEOREMS.items()},
        "problems": problems_of(plan),
    }


def problems_of(plan: Plan) -> list[dict[str, str]]:
    """The hypotheses that a plan does not meet."""
    return [{"code": p.code, "where": p.where, "message": p.message} for p in plan.problems]


def _plain(value: Real) -> Any:
    """A number as a float, or as text if no float holds it."""
    if not isinstance(value, mpmath.mpf):
        return value
    number = float(value)
    fits = (number != 0 and math.isfinite(number)) or value == 0
    return number if fits else mpmath.nstr(value, 6)


def _loss(plan: Plan) -> dict[str, float]:
    """The loss at its best and at the start; what is printed below (36) leaves out label noise."""
    task = plan.task
    missing = (task.K - task.N) * task.ridge / (2 * task.K)
    return {
        "minimum": task.minimum,
        "minimum_as_printed": task.minimum - missing,
        "initial_gap": task.initial_gap,
        "at_start": task.minimum + task.initial_gap,
    }


def _ridge(plan: Plan) -> dict[str, float | None]:
    """The error on a query of what is learned, and of what the paper calls best."""
    task = plan.task
    if task.K == task.N:
        return {"regularizer": task.ridge, "risk": None, "best": None, "best_risk": None}
    best = task.N * task.tau
    return {
        "regularizer": task.ridge,
        "risk": float(task.query_risks(task.ridge).mean()),
        "best": best,
        "best_risk": float(task.query_risks(best).mean()),
    }


def _zeta(plan: Plan) -> dict[str, Any]:
    """zeta_0 of (14), and how well it is known: exact, at most, zero or unknown."""
    broken = {problem.code for problem in plan.problems}
    if broken & set(ASSUMPTIONS["assumption-2"]):
        return {"kind": "zero", "value": 0.0, "tokens": plan.task.K}
    if plan.frozen.resolved:
        return {"kind": "exact", "value": plan.frozen.zeta, "tokens": plan.task.K}
    tokens = _exact_tokens(plan)
    value = exact_zeta(plan.task, plan.start, tokens) if tokens else 0
    if value == 0:
        return {"kind": "unknown", "value": None, "tokens": len(tokens)}
    return {"kind": "at most", "value": value, "tokens": len(tokens)}


def _exact_tokens(plan: Plan) -> list[int]:
    """The tokens with the smallest rank in float64, as many as there is time for."""
    N, H, d = plan.task.N, plan.heads, plan.task.d
    work = H * (d * d + N * d + N * N) + 10 * N**3
    sizes = plan.frozen.sizes
    ranks = np.sum(sizes > RESOLUTION * sizes[:, :1], axis=1)
    count = min(MOST_EXACT, MOST_WORK // work)
    return np.argsort(ranks, kind="stable")[:count].tolist()


def _theory(plan: Plan, constants: Constants) -> dict[str, Any]:
    """Theorems 1 and 2 with the least gamma that (15) allows."""
    labels = plan.label_bound

    def version(bound: Callable[[Constants, Real], Real]) -> dict[str, Any]:
        rates = theory_rates(constants, bound=bound)
        steps = steps_for_inference(
            constants, rates.guaranteed, labels=labels, epsilon=plan.epsilon
        )
        return {
            "L": _plain(bound(constants, rates.gamma)),
            "eta_Q": _plain(rates.Q),
            "eta_w": _plain(rates.w),
            "guaranteed": _plain(rates.guaranteed),
            "steps": _plain(mpmath.ceil(steps)),
        }

    return {
        "gamma": _plain(least_gamma(constants)),
        "best_rate": _plain(best_rate(constants)),
        "label_bound": labels,
        "versions": {name: version(bound) for name, bound in VERSIONS.items()},
    }


def _time(plan: Plan, theory: dict[str, Any] | None) -> dict[str, Any]:
    """Steps until the gap is what Theorem 2 needs, by the exact curve for attention held fixed."""
    frozen, task = plan.frozen, plan.task
    needed = task.ridge * plan.epsilon / plan.label_bound**2 if task.tau else 0.0
    found: dict[str, Any] = {"gap_needed": needed, "floor": frozen.floor()}
    found |= dict.fromkeys(("at_theory_rate", "largest_stable_rate", "tuned_rate", "at_tuned_rate"))
    if frozen.sizes.max() > 0:
        found["largest_stable_rate"] = frozen.largest_stable_rate
    if needed == 0 or found["floor"] > needed:
        return found
    if theory is not None:
        rate = float(theory["versions"]["printed_61"]["eta_w"])
        found["at_theory_rate"] = first_step(frozen, rate, needed)
    rates = [part * frozen.largest_stable_rate for part in PARTS]
    times = [first_step(frozen, rate, needed) or math.inf for rate in rates]
    found["tuned_rate"] = rates[int(np.argmin(times))]
    found["at_tuned_rate"] = min(times) if math.isfinite(min(times)) else None
    return found


def first_step(frozen: FrozenAttention, rate: float, gap: float) -> float | None:
    """The first t with L - L* <= gap, to twelve digits; None if there is none before 1e300."""
    wanted = math.log(gap)

    def reached(t: float) -> bool:
        return bool(frozen.log_gap(np.array([t]), rate)[0] <= wanted)

    if reached(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not reached(high):
        low, high = high, 2 * high
        if high > LONGEST:
            return None
    while high - low > max(1.0, 1e-12 * high):
        middle = float(math.floor((low + high) / 2))
        low, high = (low, middle) if reached(middle) else (middle, high)
    return float(high)


def _assumptions(broken: set[str]) -> dict[str, Any]:
    """Which hypotheses hold; None where float64 cannot tell."""
    found = {}
    for name, codes in ASSUMPTIONS.items():
        own = sorted(broken & set(codes))
        open_ = name == "assumption-2" and not own and UNSURE in broken
        found[name] = {"holds": None if open_ else not own, "problems": own or [UNSURE] * open_}
    return found


def _theorem(asks: Sequence[str], assumptions: dict[str, Any]) -> dict[str, Any]:
    broken = [name for name in asks if assumptions[name]["holds"] is False]
    unsure = [name for name in asks if assumptions[name]["holds"] is None]
    return {
        "applies": False if broken else None if unsure else True,
        "broken": broken,
        "open": unsure,
    }
