"""The paper's assumptions: what a statement takes for granted, and which problems break it."""

from lemmata.settings import Hypothesis

UNIT = Hypothesis(
    "unit", "unit tokens", "every token has norm 1 (Section 2)", frozenset({"not_unit"})
)
NOISE = Hypothesis("noise", "tau > 0", "labels are noisy (Section 2)", frozenset({"no_noise"}))
FULL_RANK = Hypothesis(
    "full_rank",
    "Assumption 2",
    "every B_k has full row rank at the start",
    frozenset({"no_full_rank", "zeta_unresolved", "singular"}),
)
RESOLVED = Hypothesis(
    "resolved",
    "a zeta_0 that is known",
    "zeta_0 can be told from zero, in float64 or in more digits",
    frozenset({"zeta_unresolved"}),
)
ENOUGH_HEADS = Hypothesis(
    "enough_heads", "H >= N", "as many heads as examples", frozenset({"few_heads"})
)
DISTINCT_ROW = Hypothesis(
    "distinct_row",
    "Assumption 3",
    "a coordinate tells all prompt tokens apart",
    frozenset({"no_distinct_row", "repeated_token"}),
)

HYPOTHESES = (UNIT, NOISE, FULL_RANK, RESOLVED, ENOUGH_HEADS, DISTINCT_ROW)
"""All of them, by which users name them."""

CONVERGENCE = (UNIT, NOISE, FULL_RANK)
"""Those of Theorem 1."""

INITIALIZATION = (DISTINCT_ROW, ENOUGH_HEADS, NOISE)
"""Those of Proposition 1."""
