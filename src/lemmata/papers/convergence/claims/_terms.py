"""The paper's assumptions, and a short way to state a claim."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.old_claims import Assumption, Judgement, at_least, statements
from lemmata.papers.convergence.experiments import Points, Trained

COLLOCATION = Assumption(
    "Assumption 1 (i)",
    "n is defined on all of V, single-valued and injective",
    frozenset({"collocation_conflict", "collocation_missing", "collocation_not_injective"}),
)
ORDERS = Assumption(
    "Assumption 1 (ii)",
    "every query's order is well defined and no token is confused",
    frozenset({"ambiguous_label", "order_not_well_defined", "confused_token"}),
)
PREIMAGE = Assumption(
    "preimage in the sentence (Section 4.1)",
    "every input contains a token that the collocation sends to its next token",
    frozenset({"preimage_not_in_sentence"}),
)
PREFIXES = Assumption(
    "prefix closure (Section 3)",
    "every prefix of a sample is a sample",
    frozenset({"not_prefix_closed"}),
)
ASSUMPTION_2 = Assumption(
    "Assumption 2", "embeddings are orthonormal", frozenset({"embeddings_not_orthonormal"})
)
ASSUMPTION_3 = Assumption(
    "Assumption 3",
    "no non-optimal token occurs more often in an input than the optimal ones",
    frozenset({"assumption_3"}),
)
TWO_TOKENS = Assumption("two tokens", "|V| is at least 2", frozenset({"single_token"}))
CHOICE = Assumption(
    "a choice for attention",
    "some input has two distinct tokens",
    frozenset({"single_token", "nothing_to_attend"}),
)
SINGLE_VALUED = Assumption(
    "a collocation",
    "n is defined on all of V, as stage 1 needs",
    frozenset({"collocation_conflict", "collocation_missing"}),
)

ZERO_START = Assumption(
    "Algorithm 1 (zero initialization)",
    "W_kq starts at zero",
    frozenset({"initial_weights_not_zero"}),
)

REALIZABLE = (COLLOCATION, ORDERS, PREIMAGE, PREFIXES)
STAGE_1 = (SINGLE_VALUED, COLLOCATION, TWO_TOKENS, ASSUMPTION_2)
STAGE_2 = (*REALIZABLE, ASSUMPTION_2, ASSUMPTION_3, CHOICE, ZERO_START)

claim = statements("convergence")


def rounding(steps: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The rounding error of the norm of a matrix that ``steps`` updates brought to ``size``.

    Each update rounds once, and a norm adds up some hundred squares.
    """
    return (np.asarray(steps, dtype=float) + 100) * np.finfo(float).eps * np.abs(size)


def in_stage_1(evidence: Trained, part: str, measured: Any, bound: Any, **how: Any) -> Judgement:
    """Judge measured >= bound along stage 1."""
    return _along(evidence.steps1, evidence.names, part, measured, bound, how)


def in_stage_2(evidence: Trained, part: str, measured: Any, bound: Any, **how: Any) -> Judgement:
    """Judge measured >= bound along stage 2."""
    return _along(evidence.steps2, evidence.names, part, measured, bound, how)


def _along(
    steps: np.ndarray, names: list[str], part: str, measured: Any, bound: Any, how: dict[str, Any]
) -> Judgement:
    shape = (len(names), len(steps))
    left, right = np.broadcast_to(measured, shape), np.broadcast_to(bound, shape)
    return at_least(part, left, right, steps=steps, names=names, **how)


def at_points(
    judge: Callable[..., Judgement], evidence: Points, part: str, left: Any, right: Any, **how: Any
) -> Judgement:
    """Judge the two sides at random points, numbered in the place of t."""
    return judge(part, left, right, steps=evidence.numbers, names=evidence.names, **how)


def later(steps: np.ndarray, first: int, values: np.ndarray) -> np.ndarray:
    """The values from step ``first`` on; NaN, which no statement speaks of, before."""
    return np.where(steps[None, :] >= first, values, np.nan)
