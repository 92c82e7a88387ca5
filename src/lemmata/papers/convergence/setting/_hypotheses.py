"""What the paper's statements take for granted, by the names that a user types."""

from lemmata.settings import hypothesis, union

COLLOCATION = hypothesis(
    "collocation",
    "Assumption 1 (i)",
    "n is defined on all of V, single-valued and injective",
    "collocation_conflict",
    "collocation_missing",
    "collocation_not_injective",
)
ORDERS = hypothesis(
    "orders",
    "Assumption 1 (ii)",
    "every query's order is well defined and no token is confused",
    "ambiguous_label",
    "order_not_well_defined",
    "confused_token",
)
PREIMAGE = hypothesis(
    "preimage",
    "preimage in the sentence (Section 4.1)",
    "every input contains a token that the collocation sends to its next token",
    "preimage_not_in_sentence",
)
PREFIXES = hypothesis(
    "prefix_closed",
    "prefix closure (Section 3)",
    "every prefix of a sample is a sample",
    "not_prefix_closed",
)
ASSUMPTION_2 = hypothesis(
    "orthonormal", "Assumption 2", "embeddings are orthonormal", "embeddings_not_orthonormal"
)
ASSUMPTION_3 = hypothesis(
    "not_outnumbered",
    "Assumption 3",
    "no non-optimal token occurs more often in an input than the optimal ones",
    "assumption_3",
)
TWO_TOKENS = hypothesis("two_tokens", "two tokens", "|V| is at least 2", "single_token")
CHOICE = hypothesis(
    "choice",
    "a choice for attention",
    "some input has two distinct tokens",
    "single_token",
    "nothing_to_attend",
)
SINGLE_VALUED = hypothesis(
    "single_valued",
    "a collocation",
    "n is defined on all of V, as stage 1 needs",
    "collocation_conflict",
    "collocation_missing",
)
VALUES_FROM_ZERO = hypothesis(
    "values_from_zero",
    "Algorithm 1 (W_ov from zero)",
    "W_ov starts at zero",
    "initial_values_not_zero",
)
ZERO_START = hypothesis(
    "zero_start",
    "Algorithm 1 (zero initialization)",
    "both layers start at zero",
    "initial_weights_not_zero",
    "initial_values_not_zero",
)
REALIZABLE = union(
    "realizable",
    "Assumption 1, with preimages in the sentence",
    "n is a bijection, the orders are well defined without confused tokens, and every input "
    "contains the preimage of its next token: the loss can vanish",
    (COLLOCATION, ORDERS, PREIMAGE),
)

STANDING = (COLLOCATION, ORDERS, PREIMAGE, PREFIXES)
"""Realizable data in the sense of Sections 3 and 4.1, part by part."""

FIRST_LAYER = (SINGLE_VALUED, COLLOCATION, TWO_TOKENS, ASSUMPTION_2)
"""What it takes to speak of stage 1, wherever it starts."""

STAGE_1 = (*FIRST_LAYER, VALUES_FROM_ZERO)
"""What the statements about stage 1 take for granted."""

STAGE_2 = (*STANDING, ASSUMPTION_2, ASSUMPTION_3, CHOICE, ZERO_START)
"""What the statements about stage 2 take for granted."""

AT_POINTS = (SINGLE_VALUED, ORDERS, ASSUMPTION_2, CHOICE)
"""What it takes to write down the losses and their gradients."""

HYPOTHESES = (
    REALIZABLE,
    COLLOCATION,
    ORDERS,
    PREIMAGE,
    PREFIXES,
    ASSUMPTION_2,
    ASSUMPTION_3,
    TWO_TOKENS,
    CHOICE,
    SINGLE_VALUED,
    VALUES_FROM_ZERO,
    ZERO_START,
)
