"""The same problems in other units, which leave descent as it is but not every bound."""

from collections.abc import Sequence
from dataclasses import dataclass

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import Plan
from ..theory import Constants, least_gamma
from .plans import PLANS, OfPlan, rescaled

FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, eq=False)
class Scaled(OfPlan):
    """A plan in other units: Z times a factor and tau times its square.

    Attributes:
        plan: the plan in these units.
        factor: the factor.
    """

    plan: Plan
    factor: float

    @property
    def constants(self) -> Constants:
        """The constants in these units."""
        return self.plan.constants

    @property
    def gamma(self) -> float:
        """The least gamma of (15)."""
        return least_gamma(self.constants)


def rescale(
    experiment: Experiment[Evidence[Scaled]], plans: Sequence[Plan], bench: Bench
) -> Evidence[Scaled]:
    """The theory's constants in units from a hundredth to a hundredfold."""
    return Evidence(tuple(Scaled(rescaled(plan, c), c) for plan in plans for c in FACTORS))


SCALES = Experiment(PLANS, rescale)
