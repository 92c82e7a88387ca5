"""How the guaranteed rate depends on heads, tokens and units, and how fast descent really is."""

from functools import partial

import numpy as np

from lemmata.claims import (
    Comparisons,
    Silence,
    Version,
    at_least,
    at_most,
    case_by_case,
    equal,
    statements,
    tends_to,
)
from lemmata.settings import Evidence

from .. import theory
from ..counterexamples import faster_with_a_token_more
from ..experiments.descents import DESCENTS, PLANS_AT_START, RESCALED, Rescaled, Run
from ..experiments.initialization import GROWTH, Growth
from ..experiments.plans import rescaled
from ..setting import CONVERGENCE, FrozenAttention, Plan
from ._rounding import OPERATIONS

claim = statements("context")
at_start = partial(claim, on=PLANS_AT_START, hypotheses=CONVERGENCE)
growing = partial(claim, on=GROWTH, hypotheses=CONVERGENCE)
along_descent = partial(claim, on=DESCENTS, hypotheses=CONVERGENCE)


@growing(
    "section-3.1/heads",
    "Section 3.1, after Theorem 1; Section 3.3",
    "The guaranteed convergence (18) is slower with more heads.",
    kind="substance",
)
@case_by_case
def section_31_heads(case: Growth) -> Comparisons:
    """From each number of heads to twice as many: zeta_0 grows faster with H than the step size
    shrinks."""
    rates, part = case.rates_by_heads, "guaranteed rate with twice as many heads"
    return at_most(rates[1:], rates[:-1], strict=True, part=part, places=case.heads[1:])


@growing(
    "section-3.1/dictionary",
    "Section 3.1, after Theorem 1",
    "The guaranteed convergence is not faster for a larger dictionary: the best rate of (18) over "
    "all gamma never rises as tokens are added.",
    best=True,
    versions=[
        Version(
            "least-gamma",
            statement="With the least gamma of (15) and L of (17) the guaranteed rate is not "
            "higher for a larger dictionary.",
            kind="substance",
            counterexample=lambda bench: section_31_dictionary(
                Evidence((Growth(faster_with_a_token_more()),)), best=False
            ),
            parameters={"best": False},
        )
    ],
)
@case_by_case
def section_31_dictionary(case: Growth, best: bool) -> Comparisons:
    """From each part of the dictionary to the next; zeta_0 is a minimum over tokens. The least
    gamma grows with K, and the rate may come closer to its supremum by that."""
    if case.task.N == case.task.K:
        return Silence("no token can be left out", applies=False)
    rates, rounding = case.rates_by_size(best), OPERATIONS * case.plan.frozen.condition
    part = "best guaranteed rate" if best else "guaranteed rate"
    return at_most(rates[1:], rates[:-1], rounding=rounding, part=part, places=case.sizes[1:])


@at_start(
    "own/rate-sup",
    "Theorem 1",
    "Over all gamma that (15) allows the guaranteed rate stays below "
    "zeta_0 / (2 sqrt(2) H ||Z-bar||^2), and comes as near to it as one likes.",
)
@case_by_case
def own_rate_sup(plan: Plan) -> Comparisons:
    """For gamma from the least one to ten million times that; L is 1 + O(gamma^-2) of its limit."""
    factors, c = 10.0 ** np.arange(8), plan.constants
    rates = [theory.theory_rates(c, gamma=f * theory.least_gamma(c)) for f in factors]
    shares = [float(rate.guaranteed / theory.best_rate(c)) for rate in rates]
    late = "rate over its supremum for large gamma"
    return [
        at_most(shares, 1.0, part="rate over its supremum", places=factors),
        tends_to(shares, 1.0, trend=factors**-2.0, size=1.0, part=late, places=factors),
    ]


@at_start(
    "own/late-rate",
    "Theorem 1",
    "With attention where it started the gap falls at least at 2 log(1 - 2r) / log(1 - r) times "
    "the guaranteed rate r, about four times; late it is exactly that, unless the direction of "
    "zeta_0 has nothing to learn.",
)
@case_by_case
def own_late_rate(plan: Plan) -> Comparisons:
    """By the exact curve; late is when every other direction has died out."""
    frozen, rate, r = plan.frozen, float(plan.rates.w), float(plan.rates.guaranteed)
    guaranteed, late = np.log1p(-r), _late(frozen, rate)
    stated = 2 * np.log1p(-2 * r) / guaranteed
    steps = np.append(np.geomspace(1e-3, 1.0, 7) * late, 2 * late)
    fallen = np.diff(frozen.log_gap(steps, rate)) / (np.diff(steps) * guaranteed)
    alive = _slowest_part(frozen) > TOO_SMALL
    return [
        at_least(fallen, stated, rounding=SAME, part="rate over the guaranteed one"),
        equal(fallen[-1] if alive else np.nan, stated, rounding=SAME, part="late"),
    ]


MEASURABLE = 1e-10
"""How far attention has to move, relative to sqrt(zeta_0), before the curves can be told apart."""

SAME = 1e-9
"""Directions count as one if their rates differ by less than this part."""

TOO_SMALL = 1e-12
"""Parts of what is to be learned below this share of it may be rounding error."""


def _slowest(frozen: FrozenAttention) -> np.ndarray:
    return frozen.sizes**2 <= frozen.zeta * (1 + SAME)


def _slowest_part(frozen: FrozenAttention) -> float:
    """How much there is to learn along the directions of zeta_0, of all there is."""
    return float(np.linalg.norm(frozen.parts[_slowest(frozen)]) / np.linalg.norm(frozen.parts))


def _late(frozen: FrozenAttention, rate: float) -> float:
    """When what is left lies along the directions of zeta_0, but for e^-40 of it, and has fallen
    there too."""
    slow, shrink = _slowest(frozen), np.log1p(-rate * frozen.sizes**2 / frozen.task.K)
    others, enough = ~slow & (frozen.parts != 0), 10 / -float(shrink.max())
    if not others.any() or not frozen.parts[slow].any():
        return enough
    left = 2 * np.log(np.abs(frozen.parts[others]) / np.linalg.norm(frozen.parts[slow]))
    return max(enough, float(((left + 40) / (2 * (shrink[slow].max() - shrink[others]))).max()))


@along_descent(
    "own/frozen-curve",
    "Theorem 1",
    "At the theory's rates descent is what it would be with attention frozen at the start: the "
    "logarithms of the gaps differ by at most 4 (1 + |log(gap / Delta_0)|) "
    "||B_k - B_k^(0)||_F / sqrt(zeta_0), with the largest such distance so far.",
)
@case_by_case
def own_frozen_curve(run: Run) -> Comparisons:
    """Where attention moves enough to tell; rounding grows as A-hat - A loses its digits."""
    first, gap = run.plan.constants.gap, run.gap
    frozen = run.plan.frozen.log_gap(run.steps.astype(float), float(run.rates.w))
    moved = np.maximum.accumulate(run["moved_scores"]) / run.plan.constants.zeta**0.5
    part = "difference of the logarithms of gaps"
    if not (moved > MEASURABLE).any():
        return Silence("attention moves too little to tell", applies=False, part=part)
    return at_most(
        np.abs(np.log(gap) - frozen),
        4 * (1 + np.abs(np.log(gap / first))) * np.where(moved > MEASURABLE, moved, np.nan),
        size=np.sqrt(first / gap) * run.plan.frozen.condition,
        part=part,
    )


@claim(
    "own/scale-free",
    "(17), (61)",
    "Z c times as large and tau c^2 times changes nothing in training, nor in the rate by the "
    "repaired (61); by (17) the rate falls to zero as c grows.",
    on=RESCALED,
    hypotheses=CONVERGENCE,
)
@case_by_case
def own_scale_free(case: Rescaled) -> Comparisons:
    """Gaps over their first one, step by step; zeta_0 is known up to the condition of the B_k."""
    here, there = (run.gap / run.gap[0] for run in (case.usual, case.rescaled))
    condition = case.plan.frozen.condition
    factors = 10.0 ** np.arange(6, 13)
    by_17 = [
        float(theory.theory_rates(rescaled(case.plan, c).constants, bound=SIMPLIFIED).guaranteed)
        for c in factors
    ]
    rates = [float(run.rates.guaranteed) for run in (case.usual, case.rescaled)]
    size = np.sqrt(here) * condition
    return [
        equal(there, here, size=size, part="gaps", places=case.usual.steps),
        equal(rates[1], rates[0], rounding=OPERATIONS * condition, part="rate"),
        tends_to(
            np.array(by_17) / by_17[0],
            trend=1 / factors,
            rounding=OPERATIONS * condition,
            part="rate by (17)",
            places=factors,
        ),
    ]


SIMPLIFIED = theory.smoothness_simplified
