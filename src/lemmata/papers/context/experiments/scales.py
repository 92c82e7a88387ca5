"""The same problems in other units, which leave descent as it is but not every bound."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lemmata.old_claims import Cases, Experiment
from lemmata.papers.context import theory
from lemmata.papers.context.experiments.plans import OfPlan, plans, rescaled

if TYPE_CHECKING:
    from lemmata.papers.context.setting import Plan

FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, eq=False)
class Scaled(OfPlan):
    """A plan in other units: Z times a factor and tau times its square.

    Attributes:
        plan: the plan in these units.
        factor: the factor.
    """

    plan: "Plan"
    factor: float

    @property
    def constants(self) -> theory.Constants:
        """The constants in these units."""
        return self.plan.constants

    @property
    def gamma(self) -> float:
        """The least gamma of (15)."""
        return theory.least_gamma(self.constants)


SCALES: Experiment[Cases[Scaled]] = Experiment(
    "scales",
    "13 tasks, each in units from 0.01 to 100",
    lambda bench: Cases(
        tuple(Scaled(rescaled(plan, c), c) for plan in plans(bench) for c in FACTORS)
    ),
)
