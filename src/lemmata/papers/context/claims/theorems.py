"""Theorem 1 at the theory's own rates, and the constants (15) and (17) that it asks for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lemmata.claims import Comparison, Comparisons, Version, at_most, case_by_case, statements

from ..experiments.descents import DESCENTS, REPAIRED_DESCENTS, SIMPLIFIED_DESCENTS, Run
from ..experiments.plans import SCALES
from ..setting import CONVERGENCE, Plan
from ..theory import (
    least_gamma,
    smoothness,
    smoothness_simplified,
    smoothness_simplified_repaired,
)

claim = partial(statements("context"), hypotheses=CONVERGENCE)

FALLS = "The gap falls by the factor 1 - eta_w zeta_0 / (2K) in every step, at the rates of (16) "


@claim(
    "theorem-1",
    "Section 3.1, Theorem 1, (18)",
    f"{FALLS}with L from (17).",
    on=SIMPLIFIED_DESCENTS,
    versions=[
        Version("appendix", statement=f"{FALLS}with L from (61).", on=DESCENTS),
        Version(
            "repaired", statement=f"{FALLS}with L from the repaired (61).", on=REPAIRED_DESCENTS
        ),
    ],
)
@case_by_case
def theorem_1(run: Run) -> Comparisons:
    """The log of the gap, at every record, and the worst of all steps, kept by the loop."""
    gaps = np.where(run.judged, np.log(run["gap"] / run.plan.constants.gap), np.nan)
    worst = "log of the gap over the bound, largest of all steps"
    return [
        at_most(
            gaps,
            run.steps * run.log_guaranteed,
            size=1 + np.abs(gaps),
            part="log of the gap over the first",
        ),
        at_most(run["excess"][-1], 0.0, size=1.0, part=worst),
    ]


@claim(
    "equation-15",
    "Section 3.1, (15)",
    "gamma as large as (15) makes the last step of (48) true.",
    on=DESCENTS,
)
@case_by_case
def equation_15(run: Run) -> Comparison:
    c, gamma = run.plan.constants, run.used.gamma
    moved = 16 * 2**0.5 * gamma * run.radius * c.largest_column / run.sigma
    chain = float(c.spectral * c.H**0.5 * moved * c.gap**0.5)
    return at_most(chain, (1 - 0.5**0.5) * c.zeta**0.5, part="last step of (48)")


@claim(
    "equation-17",
    "Section 3.1, (17) and footnote 1",
    "L of (17) is a simpler upper bound of L of (61).",
    on=SCALES,
    kind="constant",
    simpler=smoothness_simplified,
    versions=[
        Version(
            "repaired",
            where="Section 3.1, (17)",
            statement="With the first power of ||Z-bar|| in the bracket and both branches of "
            "max{1, 4 K alpha^2} it is an upper bound of (61) as printed.",
            parameters={"simpler": smoothness_simplified_repaired},
        )
    ],
)
@case_by_case
def equation_17(plan: Plan, simpler: Callable[..., Any]) -> Comparison:
    c, gamma = plan.constants, least_gamma(plan.constants)
    return at_most(smoothness(c, gamma), simpler(c, gamma), part="L of (61)")
