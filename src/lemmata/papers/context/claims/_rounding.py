"""Rounding errors that depend on the case: of inverses, relative to their result."""

import numpy as np

from lemmata.settings import Evidence, Grid

from ..experiments.points import Point

OPERATIONS = 64 * float(np.finfo(float).eps)
"""The relative error of a sum of a few dozen products."""


def of_inverse(evidence: Evidence[Point]) -> Grid:
    """Where Z'Z + m tau I is inverted: that of a product, times the condition."""

    def condition(point: Point) -> float:
        ridge = point.task.ridge
        return max(1.0, point.task.spectral**2 / ridge) if ridge else 1.0

    return OPERATIONS * evidence.each(condition)
