"""The paper's assumptions: what a statement takes for granted, and which problems break it."""

from lemmata.settings import hypothesis

UNIT = hypothesis("unit", "unit tokens", "every token has norm 1 (Section 2)", "not_unit")
NOISE = hypothesis("noise", "tau > 0", "labels are noisy (Section 2)", "no_noise")
FULL_RANK = hypothesis(
    "full_rank",
    "Assumption 2",
    "every B_k has full row rank at the start",
    "no_full_rank",
    "singular",
    left_open_by=("zeta_unresolved",),
)
RESOLVED = hypothesis(
    "resolved",
    "a zeta_0 that is known",
    "zeta_0 can be told from zero, in float64 or in more digits",
    "zeta_unresolved",
)
ENOUGH_HEADS = hypothesis("enough_heads", "H >= N", "as many heads as examples", "few_heads")
DISTINCT_ROW = hypothesis(
    "distinct_row",
    "Assumption 3",
    "a coordinate tells all prompt tokens apart",
    "no_distinct_row",
    "repeated_token",
)

HYPOTHESES = (UNIT, NOISE, FULL_RANK, RESOLVED, ENOUGH_HEADS, DISTINCT_ROW)
"""All of them, by which users name them."""

CONVERGENCE = (UNIT, NOISE, FULL_RANK)
"""Those of Theorem 1."""

INITIALIZATION = (DISTINCT_ROW, ENOUGH_HEADS, NOISE)
"""Those of Proposition 1."""
