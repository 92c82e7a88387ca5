"""Rounding errors that depend on the case: of inverses, relative to their result."""

import numpy as np

from ..setting import Task

OPERATIONS = 64 * float(np.finfo(float).eps)
"""The relative error of a sum of a few dozen products."""


def of_inverse(task: Task) -> float:
    """Where Z'Z + m tau I is inverted: that of a product, times the condition."""
    return OPERATIONS * (max(1.0, task.spectral**2 / task.ridge) if task.ridge else 1.0)
