"""A plan: a task with the numbers that the theorems speak of."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.papers.selection.setting._task import Task


@dataclass(frozen=True)
class Plan:
    """A task, how it is trained, and how small the loss should become.

    Attributes:
        name: how verdicts call it.
        task: T, q, d.
        rate: the step size eta.
        epsilon: the loss to reach.
        d_e: dimensions of a random encoding; None for one-hot encodings.
        threshold: the largest inner product of two encodings, for rejection sampling.
        encodings: encodings of the user's own, one column a position.
    """

    name: str
    task: Task
    rate: float
    epsilon: float
    d_e: int | None = None
    threshold: float = 1.0
    encodings: Float[np.ndarray, "d_e T"] | None = None

    def __post_init__(self) -> None:
        for label, value in (("eta", self.rate), ("eps", self.epsilon)):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"{self.name}: {label} must be a positive number; got {value!r}")
