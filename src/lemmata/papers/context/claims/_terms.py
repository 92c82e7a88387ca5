"""The paper's assumptions, and a short way to state a claim."""

from typing import TYPE_CHECKING

from lemmata.old_claims import Assumption, statements

if TYPE_CHECKING:
    from lemmata.papers.context.experiments.points import Point
    from lemmata.papers.context.theory import Constants

claim = statements("context")

ROUNDING = 1e-12
"""Of sums of a few dozen products, relative to their size."""

UNIT = Assumption("unit tokens", "every token has norm 1 (Section 2)", frozenset({"not_unit"}))
NOISE = Assumption("tau > 0", "labels are noisy (Section 2)", frozenset({"no_noise"}))
FULL_RANK = Assumption(
    "Assumption 2",
    "every B_k has full row rank at the start",
    frozenset({"no_full_rank", "zeta_unresolved", "singular"}),
)
RESOLVED = Assumption(
    "a zeta_0 that is known",
    "zeta_0 can be told from zero, in float64 or in more digits",
    frozenset({"zeta_unresolved"}),
)
ENOUGH_HEADS = Assumption("H >= N", "as many heads as examples", frozenset({"few_heads"}))
DISTINCT_ROW = Assumption(
    "Assumption 3",
    "a coordinate tells all prompt tokens apart",
    frozenset({"no_distinct_row", "repeated_token"}),
)


HYPOTHESES = (UNIT, NOISE, FULL_RANK)
"""Of Theorem 1."""


def conditioned(point: "Point") -> float:
    """Rounding error where Z'Z + m tau I is inverted: that of a product, times the condition."""
    ridge = point.task.ridge
    return 1e-14 * (max(1.0, point.task.spectral**2 / ridge) if ridge else 1.0)


def constants(point: "Point") -> "Constants":
    """The constants that bounds on a ball of radius alpha need; zeta_0 does not enter them."""
    from lemmata.papers.context.setting import constants_of

    return constants_of(point.task, point.plan.start, zeta=float("nan"))
