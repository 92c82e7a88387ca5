"""Where the path of a loss leads: seen on spheres, and proved by how fast directions lose risk."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat
from scipy.optimize import nnls

from lemmata.claims import Comparison, Exact, Limit, at_least
from lemmata.margin import Pair, pair_rows, remove

from ..setting import (
    Dataset,
    Objective,
    as_balls,
    ball_path,
    direction_ball,
    dot,
    length,
    tied_balls,
)
from ._shared import aligns

RADII = [20.0, 30.0, 50.0, 80.0, 130.0, 200.0]

SEARCH_DIGITS = 7
"""A search for a minimiser gives its direction to so many digits, the square root of rounding."""

FLATNESS = {"squared": 2, "flat": 3}
"""The order of l(u) - l(1) in 1 - u; that of other losses, and at other scores, is 1."""


def along_path(dataset: Dataset, objective: Objective, frozen: np.ndarray | None = None) -> Limit:
    """1 − corr with W^mm along the path of a loss, as a counterexample shows it."""
    gaps = ball_path(dataset, objective, RADII, frozen).cosine_gap(dataset.target)
    return turns_to(dataset, gaps, objective.says)


def turns_to(dataset: Dataset, gaps: np.ndarray, loss: str) -> Limit:
    """That 1 − corr, the gaps on spheres of the ``RADII``, tends to 0."""
    rounded = np.round(gaps, SEARCH_DIGITS)[None]
    return aligns(rounded, places=np.array(RADII), part=f"1 − corr, {loss}", cases=[dataset])


def outrun(usual: Objective, *, pairs: bool = False) -> Exact:
    """Whether no direction outside S_cyc makes the risk fall faster than W^mm does.

    Far out, what sample i has above its infimum is within constant factors of the largest
    e^{−p_i margin} of its tokens outside R_i, where p_i is the order of the loss at the score
    that the label tends to: its head's, or less if there are ties. So in the direction V the risk
    falls like e^{−R min p_i margin(V)}, and a path that tends to a direction in which it falls
    more slowly than in another one is no path of minimisers. If the statement itself supposes a
    finite W^cyc, ties must be ``pairs``: then there is one for both flat losses, since at either
    end of the line the sample that loses there does so at first order, and the other does not.
    """

    def exact(dataset: Dataset, options: Mapping[str, Any]) -> Comparison:
        orders = _orders(dataset, replace(usual, **options))
        sizes = [len(tied) for graph in dataset.graphs.values() for tied in graph.components]
        best = direction_ball(dataset)
        other = _fastest(dataset, orders)
        if best is None or other is None or (pairs and max(sizes, default=0) > 2):
            return at_least([0], [0], part="nothing is known")
        falls = [_fall(dataset, orders, W) for W in (best, other)]
        return at_least([falls[0]], [falls[1]], part="exponents of the risk")

    return exact


def _orders(dataset: Dataset, objective: Objective) -> dict[Pair, int]:
    """The order p of each pair of a label and a token outside its component."""
    orders: dict[Pair, int] = {}
    known = objective.loss if isinstance(objective.loss, str) else objective.loss.name
    for sample, tied in zip(dataset.realizable.samples, dataset.tied_tokens, strict=True):
        flat = tied <= {sample.label} and _score(dataset, objective, sample.label) == 1
        order = FLATNESS.get(known, 1) if flat else 1
        for token in {*sample.tokens} - tied:
            pair = (sample.query, (sample.label, token))
            orders[pair] = min(order, orders.get(pair, order))
    return orders


def _score(dataset: Dataset, objective: Objective, label: int) -> Fraction:
    """c_y^T e_y, exactly."""
    if isinstance(objective.head, str) and objective.head == "identity":
        return Fraction(1)
    row = dataset.E[label]
    head = row if isinstance(objective.head, str) else objective.head[label]
    return sum((Fraction(c) * Fraction(x) for c, x in zip(head, row, strict=True)), Fraction(0))


def _fastest(dataset: Dataset, orders: Mapping[Pair, int]) -> arb_mat | None:
    """The least V outside S_cyc with p margin >= 1 on all pairs, up to rounding.

    It is the residual of a non-negative least squares problem (Lawson and Hanson 1974, 23.4).
    """
    rows = remove(pair_rows(list(orders), dataset.E), dataset.tied_basis)
    rows = rows * np.array(list(orders.values()))[:, None]
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    goal = np.append(np.zeros(rows.shape[1]), 1.0)
    rest = stacked @ nnls(stacked, goal)[0] - goal
    if not rest[-1] < 0:
        return None
    V = as_balls((-rest[:-1] / rest[-1]).reshape(dataset.target.shape))
    if not dataset.tied_pairs:
        return V
    ties = tied_balls(dataset)
    return None if ties is None else V - ties.project(V)


def _fall(dataset: Dataset, orders: Mapping[Pair, int], W: arb_mat) -> arb:
    """The exponent of the risk along W, per unit of norm."""
    rows = [as_balls(row[:, None]) for row in dataset.E]
    falls = [
        order * dot((rows[a] - rows[b]) * rows[q].transpose(), W)
        for (q, (a, b)), order in orders.items()
    ]
    least = falls[0]
    for fall in falls[1:]:
        least = least.min(fall)
    return least / length(W)
