"""Matrices of balls, for replays and enclosures of any setting."""

import numpy as np
from flint import arb, arb_mat


def as_balls(values: np.ndarray, radius: float = 0.0) -> arb_mat:
    """A matrix of floats as balls, exact unless a radius is given."""
    return arb_mat([[arb(float(value), radius) for value in row] for row in values])


def dot(a: arb_mat, b: arb_mat) -> arb:
    """The sum of the products of entries."""
    return sum((x * y for x, y in zip(a.entries(), b.entries(), strict=True)), arb(0))
