"""What can be separated at all, when not every pair can.

The directions in which no label loses form a cone, {W : (e_a - e_b)^T W e_q >= 0 for every edge}.
An edge is *separable* if some direction of the cone makes it strictly positive; one direction then
does so for all separable edges at once. Training follows the max-margin direction of these, with
the other edges as ties, and settles the others at finite weights. When Graph-SVM is feasible its
strict edges are the separable ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from ._embedded import Pair, max_margin_of_pairs, pair_rows
from ._program import MaxMargin


@dataclass(frozen=True)
class GeneralizedMargin:
    """The generalized max-margin direction, and which pairs it separates."""

    separable: tuple[Pair, ...]
    bound: tuple[Pair, ...]
    margin: MaxMargin


def generalized_max_margin(
    pairs: Sequence[Pair], embeddings: Float[np.ndarray, "tokens dimension"]
) -> GeneralizedMargin:
    """Separate what can be separated, and tie the rest."""
    mask = separable(pair_rows(pairs, embeddings))
    parted = tuple(pair for pair, free in zip(pairs, mask, strict=True) if free)
    bound = tuple(pair for pair, free in zip(pairs, mask, strict=True) if not free)
    return GeneralizedMargin(parted, bound, max_margin_of_pairs(parted, bound, embeddings))


def separable(rows: Float[np.ndarray, "pairs variables"]) -> Bool[np.ndarray, "pairs"]:
    """Which rows are strictly positive somewhere on the cone where all are >= 0.

    One linear program: maximise the sum of t with A w >= t and 0 <= t <= 1. The cone can be
    scaled and added up, so every t is 0 or 1 at the optimum.
    """
    if not len(rows):
        return np.zeros(0, dtype=bool)
    count, variables = rows.shape
    lengths = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = linprog(
        np.concatenate([np.zeros(variables), -np.ones(count)]),
        A_ub=hstack([csr_array(-unit), eye_array(count)]),
        b_ub=np.zeros(count),
        bounds=[(None, None)] * variables + [(0, 1)] * count,
        method="highs",
    )
    if found.x is None:
        raise ArithmeticError(f"the linear program for separable pairs failed: {found.message}")
    return found.x[variables:] > 0.5
