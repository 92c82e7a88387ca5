"""How the guaranteed rate depends on heads, tokens and units, and how fast descent really is."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.claims import Comparisons, at_most, equal, mean_of, statements, tends_to
from lemmata.settings import Evidence

from ..experiments.descents import DESCENTS, Run
from ..experiments.initialization import FAMILIES, Family
from ..experiments.plans import rescaled
from ..setting import CONVERGENCE
from ..theory import (
    best_rate,
    least_gamma,
    smoothness_repaired,
    smoothness_simplified,
    theory_rates,
)
from ._rounding import OPERATIONS

claim = statements("context")


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


@claim(
    "own/rate-sup",
    "Theorem 1",
    "Over all gamma that (15) allows the guaranteed rate stays below "
    "zeta_0 / (2 sqrt(2) H ||Z-bar||^2), and comes as near to it as one likes.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def own_rate_sup(evidence: Evidence[Run]) -> Comparisons:
    """For gamma from the least one to ten million times that; L is 1 + O(gamma^-2) of its limit."""
    factors = 10.0 ** np.arange(8)

    def shares(run: Run) -> np.ndarray:
        c = run.plan.constants
        rates = [theory_rates(c, gamma=f * least_gamma(c)) for f in factors]
        return np.array([float(rate.guaranteed / best_rate(c)) for rate in rates])

    rates = evidence.each(shares)
    return [
        at_most(rates, 1.0, part="rate over its supremum", places=factors),
        tends_to(
            rates,
            1.0,
            trend=factors**-2.0,
            size=np.ones_like(rates),
            part="rate over its supremum for large gamma",
            places=factors,
        ),
    ]


@claim(
    "own/late-rate",
    "Theorem 1",
    "Late, with attention where it started, the gap falls at four times the guaranteed rate: "
    "2 log(1 - 2r) / log(1 - r) times exactly, for the guaranteed rate r.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def own_late_rate(evidence: Evidence[Run]) -> Comparisons:
    """By the exact curve, where every other direction has died out."""

    def fallen(run: Run) -> float:
        ratios = run.plan.frozen.sizes.ravel() ** 2 / run.plan.constants.zeta - 1
        slowest = float(min(ratios[ratios > 1e-9], default=1.0))
        late = 40 / (float(run.used.guaranteed) * slowest)
        logs = run.plan.frozen.log_gap(np.array([late, 2 * late]), float(run.used.w))
        return float((logs[1] - logs[0]) / (late * run.log_guaranteed))

    def stated(run: Run) -> float:
        return float(2 * np.log1p(-2 * float(run.used.guaranteed)) / run.log_guaranteed)

    return equal(evidence.each(fallen), evidence.each(stated), part="rate over the guaranteed one")


@claim(
    "own/frozen-curve",
    "Theorem 1",
    "At the theory's rates descent is what it would be with attention frozen at the start: the "
    "gaps agree to a thousandth at every recorded step.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def own_frozen_curve(evidence: Evidence[Run]) -> Comparisons:
    def away(run: Run) -> np.ndarray:
        return np.where(run.judged, np.abs(run.frozen_gaps / run["gap"] - 1), np.nan)

    return at_most(evidence.each(away), 1e-3, part="relative difference of gaps")


@claim(
    "own/scale-free",
    "(17), (61)",
    "Z a hundred times as large and tau 10,000 times change nothing in training. The rate by the "
    "repaired (61) does not change either; by (17) it falls by more than a tenth.",
    hypotheses=CONVERGENCE,
    on=DESCENTS,
)
def own_scale_free(evidence: Evidence[Run]) -> Comparisons:
    """zeta_0 is known up to the condition of the B_k, in any units."""

    def rates(bound: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
        pairs = evidence.each(
            lambda run: [
                theory_rates(plan.constants, bound=bound).guaranteed
                for plan in (run.plan, rescaled(run.plan, 100.0))
            ]
        )
        return pairs[:, :1], pairs[:, 1:]

    condition = evidence.each(lambda run: run.plan.frozen.sizes[:, 0].max() ** 2)
    condition = np.sqrt(condition / evidence.each(lambda run: run.plan.constants.zeta))
    before, after = rates(smoothness_repaired)
    simple_before, simple_after = rates(smoothness_simplified)
    return [
        equal(after, before, rounding=OPERATIONS * condition, part="rate"),
        at_most(simple_after, 0.9 * simple_before, part="rate by (17)"),
    ]
