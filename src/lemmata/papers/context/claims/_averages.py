"""Averages over coefficients and noise as finite sums, which are exact for what is averaged here.

A normal variable takes three values, with the moments that it has up to the fifth; a fair sign two.
"""

import numpy as np
from jaxtyping import Float

from lemmata.claims import Silence

from ..setting import Law, Task

NORMAL = np.array([-np.sqrt(3), 0.0, np.sqrt(3)]), np.array([1, 4, 1]) / 6
SIGN = np.array([-1.0, 1.0]), np.array([1, 1]) / 2

MOST_VARIABLES = 7
"""3^7 values are few enough."""


def values_of(
    variable: tuple[np.ndarray, np.ndarray], count: int
) -> tuple[Float[np.ndarray, "values count"], Float[np.ndarray, "values"]]:
    """All values of so many independent variables, one a row, and their probabilities."""
    values, chances = (np.meshgrid(*count * [axis], indexing="ij") for axis in variable)
    return np.stack(values, axis=-1).reshape(-1, count), np.prod(chances, axis=0).ravel()


def prompts_under(
    task: Task, law: Law
) -> tuple[Float[np.ndarray, "prompts K"], Float[np.ndarray, "prompts"]]:
    """Labels of all tokens, one prompt a row, and their probabilities.

    Given lambda the noise is at one label at a time, +-sqrt(K) times its deviation: what is
    averaged is quadratic in it, and these have the right second moments.
    """
    xi, chances = values_of(NORMAL if law.entries == "gaussian" else SIGN, task.m)
    coefficients = law.mean + xi @ law.mixing.T
    deviation = np.sqrt(task.K * task.tau) * np.linalg.norm(coefficients, axis=1)
    noises = np.vstack([np.eye(task.K), -np.eye(task.K)])
    labels = (coefficients @ task.representations)[:, None] + deviation[:, None, None] * noises
    return labels.reshape(-1, task.K), np.repeat(chances, 2 * task.K) / (2 * task.K)


def too_many(task: Task) -> Silence | None:
    """What is said where there are too many values to go through."""
    if task.m <= MOST_VARIABLES:
        return None
    return Silence(f"m = {task.m} coefficients have too many values", applies=False)
