"""The constants of the theory for a task and its first weights."""

import numpy as np

from ..theory import Constants, Real
from ._frozen import exact_eigenvalue, frozen
from ._model import Weights
from ._task import Task


def constants_of(task: Task, weights: Weights, zeta: Real | None = None) -> Constants:
    """What Theorem 1 needs to know; zeta_0 by singular values unless given."""
    return Constants(
        N=task.N,
        K=task.K,
        H=weights.Q.shape[1],
        ridge=task.ridge,
        zeta=frozen(task, weights).zeta if zeta is None else zeta,
        gap=task.initial_gap,
        spectral=task.spectral,
        largest_column=task.largest_column,
        target=float(np.linalg.norm(task.target, 2)),
        cross=float(np.linalg.norm(task.Z.T @ task.representations, 2)),
    )


def exact_zeta(task: Task, weights: Weights, tokens: list[int]) -> Real:
    """The least eigenvalue over these tokens alone, in as many digits as it takes."""
    Q = np.asarray(weights.Q, dtype=float)
    return min(exact_eigenvalue(task, Q, k)[0] for k in tokens)
