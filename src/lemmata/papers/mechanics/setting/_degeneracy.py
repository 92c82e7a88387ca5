"""Degenerate constraints of Graph-SVM, and what they do to the rate at which W turns to W^mm."""

from dataclasses import dataclass

import numpy as np

from lemmata.margin import Pair, Status, pair_rows, remove, separable

from ._dataset import Dataset

MOST_PAIRS = 400
"""Data with more strict pairs is not examined."""

TIGHT = 1e-9
"""A margin this close to 1 is 1, beyond what the certificate leaves open."""


@dataclass(frozen=True)
class Degeneracy:
    """What is special about the constraints with margin 1.

    Attributes:
        tight: the pairs with margin 1, one for each two components.
        idle: those of them whose multiplier is 0 in every certificate.
        dependent: how many of the tight constraints are combinations of the others: with any, the
            multipliers are not unique.
    """

    tight: tuple[Pair, ...]
    idle: tuple[Pair, ...]
    dependent: int

    @property
    def says(self) -> str:
        """What follows for training, in words."""
        if self.idle:
            return (
                "the rest of W grows like log R, so that 1 - correlation falls like (log R / R)² "
                "with R = ||W||, in the place of 1 / R²"
            )
        return "1 - correlation falls like 1 / R² with R = ||W|| all the same"


def degeneracy(dataset: Dataset) -> Degeneracy | None:
    """None if there is no direction to speak of, or too much to examine.

    A tight constraint is idle if some V makes it larger and no tight one smaller without making W
    longer at first order, <W^mm, V> <= 0; otherwise some certificate gives it a positive
    multiplier (strict complementarity).
    """
    pairs = _between_components(dataset)
    if dataset.margin.status is not Status.SOLVED or len(pairs) > MOST_PAIRS:
        return None
    rows, goal = remove(pair_rows(pairs, dataset.E), dataset.tied_basis), dataset.target.ravel()
    lengths = np.linalg.norm(rows, axis=1)
    slack = TIGHT + 4 * dataset.margin.error_bound * lengths
    near = np.flatnonzero(rows @ goal <= 1 + slack)
    chosen = rows[near] / lengths[near, None]
    free = separable(np.vstack([chosen, -goal / np.linalg.norm(goal)]))[:-1]
    return Degeneracy(
        tuple(pairs[p] for p in near),
        tuple(pairs[p] for p, idle in zip(near, free, strict=True) if idle),
        len(near) - int(np.linalg.matrix_rank(chosen)),
    )


def _between_components(dataset: Dataset) -> list[Pair]:
    """One strict pair for each two components of a graph; the others say the same."""
    first: dict[tuple[int, int, int], Pair] = {}
    for query, (a, b) in dataset.strict_pairs:
        component = dataset.graphs[query].component_of
        first.setdefault((query, component[a], component[b]), (query, (a, b)))
    return list(first.values())
