"""How the guaranteed rate depends on heads, tokens and units, and how fast descent really is."""

from functools import partial

import numpy as np

from lemmata.claims import Comparisons, at_most, case_by_case, equal, mean_of, statements, tends_to
from lemmata.settings import Evidence

from .. import theory
from ..experiments.descents import DESCENTS, Run
from ..experiments.initialization import FAMILIES, Family
from ..experiments.plans import rescaled
from ..setting import CONVERGENCE
from ._rounding import OPERATIONS

claim = statements("context")
along_descent = partial(claim, on=DESCENTS, hypotheses=CONVERGENCE)


@claim(
    "section-3.1/heads",
    "Section 3.1, after Theorem 1; Section 3.3",
    "The guaranteed convergence (18) is slower with more heads.",
    on=FAMILIES,
    kind="substance",
)
def section_31_heads(evidence: Evidence[Family]) -> Comparisons:
    """The log of the rate from one number of heads to the next, averaged over tasks.

    zeta_0 grows faster with H than the step size shrinks.
    """
    family = _family(evidence, "heads")
    mean, error = mean_of(np.diff(np.log(family.rates), axis=1))
    return at_most(
        mean[None],
        0.0,
        error=error[None],
        strict=True,
        part="change of the log rate",
        cases=[family],
        places=family.values[:-1],
    )


@claim(
    "section-3.1/dictionary",
    "Section 3.1, after Theorem 1",
    "The guaranteed convergence is slower for a larger dictionary.",
    on=FAMILIES,
)
def section_31_dictionary(evidence: Evidence[Family]) -> Comparisons:
    """Rates for nested dictionaries, pair by pair; zeta_0 is a minimum over tokens."""
    family = _family(evidence, "tokens")
    return at_most(
        family.rates[:, 1:],
        family.rates[:, :-1],
        part="guaranteed rate",
        cases=[plans[-1] for plans in family.plans],
        places=family.values[1:],
    )


def _family(evidence: Evidence[Family], name: str) -> Family:
    return next(family for family in evidence if family.name == name)


@along_descent(
    "own/rate-sup",
    "Theorem 1",
    "Over all gamma that (15) allows the guaranteed rate stays below "
    "zeta_0 / (2 sqrt(2) H ||Z-bar||^2), and comes as near to it as one likes.",
)
@case_by_case
def own_rate_sup(run: Run) -> Comparisons:
    """For gamma from the least one to ten million times that; L is 1 + O(gamma^-2) of its limit."""
    factors, c = 10.0 ** np.arange(8), run.plan.constants
    rates = [theory.theory_rates(c, gamma=f * theory.least_gamma(c)) for f in factors]
    shares = [float(rate.guaranteed / theory.best_rate(c)) for rate in rates]
    late = "rate over its supremum for large gamma"
    return [
        at_most(shares, 1.0, part="rate over its supremum", places=factors),
        tends_to(shares, 1.0, trend=factors**-2.0, size=1.0, part=late, places=factors),
    ]


@along_descent(
    "own/late-rate",
    "Theorem 1",
    "Late, with attention where it started, the gap falls at four times the guaranteed rate: "
    "2 log(1 - 2r) / log(1 - r) times exactly, for the guaranteed rate r.",
)
@case_by_case
def own_late_rate(run: Run) -> Comparisons:
    """By the exact curve, where every other direction has died out."""
    frozen, rate = run.plan.frozen, float(run.rates.guaranteed)
    ratios = frozen.sizes.ravel() ** 2 / run.plan.constants.zeta - 1
    late = 40 / (rate * float(min(ratios[ratios > 1e-9], default=1.0)))
    first, second = frozen.log_gap(np.array([late, 2 * late]), float(run.rates.w))
    fallen = (second - first) / (late * run.log_guaranteed)
    stated = 2 * np.log1p(-2 * rate) / run.log_guaranteed
    return equal(fallen, stated, part="rate over the guaranteed one")


@along_descent(
    "own/frozen-curve",
    "Theorem 1",
    "At the theory's rates descent is what it would be with attention frozen at the start: the "
    "gaps agree to a thousandth at every recorded step.",
)
@case_by_case
def own_frozen_curve(run: Run) -> Comparisons:
    frozen = np.exp(run.plan.frozen.log_gap(run.steps.astype(float), float(run.rates.w)))
    away = np.where(run.judged, np.abs(frozen / run["gap"] - 1), np.nan)
    return at_most(away, 1e-3, part="relative difference of gaps")


@along_descent(
    "own/scale-free",
    "(17), (61)",
    "Z a hundred times as large and tau 10,000 times change nothing in training. The rate by the "
    "repaired (61) does not change either; by (17) it falls by more than a tenth.",
)
@case_by_case
def own_scale_free(run: Run) -> Comparisons:
    """zeta_0 is known up to the condition of the B_k, in any units."""
    units = run.plan, rescaled(run.plan, 100.0)
    (before, after), (simple_before, simple_after) = (
        [theory.theory_rates(plan.constants, bound=bound).guaranteed for plan in units]
        for bound in (theory.smoothness_repaired, theory.smoothness_simplified)
    )
    largest = run.plan.frozen.sizes[:, 0].max() ** 2
    condition = np.sqrt(largest / run.plan.constants.zeta)
    return [
        equal(after, before, rounding=OPERATIONS * condition, part="rate"),
        at_most(simple_after, 0.9 * simple_before, part="rate by (17)"),
    ]
