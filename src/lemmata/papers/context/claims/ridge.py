"""Sections 3.2 and 3.3: which ridge regression it is that the transformer learns."""

from functools import partial

import numpy as np
from jaxtyping import Float

from lemmata.claims import Comparisons, Silence, case_by_case, equal, repaired, statements, tends_to

from ..experiments.points import POINTS, Point
from ..setting import NOISE, Task
from ._rounding import OPERATIONS

claim = partial(statements("context"), on=POINTS)


def _same(left: np.ndarray, right: np.ndarray, task: Task, level: float, part: str) -> Comparisons:
    """Two solutions with Z Z' + r I: the rounding of solving is multiplied by the condition."""
    rounding = OPERATIONS * (1 + float(task.sizes[0]) ** 2 / level)
    return equal(left, right, rounding=rounding, size=np.abs(left).max(), part=part)


def _labels(task: Task) -> Float[np.ndarray, "N"]:
    return np.cos(np.arange(1, task.N + 1))


def _ridge(task: Task, level: float) -> Float[np.ndarray, "m"]:
    """(r I + Z Z')^-1 Z y."""
    return np.linalg.solve(level * np.eye(task.m) + task.Z @ task.Z.T, task.Z @ _labels(task))


@claim(
    "equation-67",
    "Section 3.2, (20), (25); Appendix C, (67)",
    "The minimizer of the ridge problem is (r I + Z Z')^-1 Z y, for r = m tau and r = N tau.",
    hypotheses=(NOISE,),
)
@case_by_case
def equation_67(point: Point) -> Comparisons:
    """The problem is strictly convex: the minimizer is where its gradient is zero."""
    task, y = point.task, _labels(point.task)
    comparisons = []
    for name, level in (("m tau", task.ridge), ("N tau", task.N * task.tau)):
        stated = _ridge(task, level)
        gradient = task.Z @ (task.Z.T @ stated - y) + level * stated
        found = (task.sizes[0] ** 2 + level) * np.linalg.norm(stated)
        size = task.sizes[0] * np.linalg.norm(y) + found
        comparisons.append(equal(gradient, 0.0, size=size, part=f"gradient, r = {name}"))
    return comparisons


@claim(
    "equation-27",
    "Section 3.3, (27); Appendix C",
    "A'y is y on the prompt and ridge regression (20) on the queries: A'y = y*.",
    hypotheses=(NOISE,),
)
@case_by_case
def equation_27(point: Point) -> Comparisons:
    task, labels = point.task, _labels(point.task)
    stated = np.append(labels, task.Z_query.T @ _ridge(task, task.ridge))
    return _same(task.target.T @ labels, stated, task, task.ridge, "y*")


def _determined(task: Task) -> bool:
    """Whether N >= m and Z is clearly of rank m."""
    return task.m <= task.N and bool(task.sizes[-1] > 0.03 * task.sizes[0])


@claim(
    "equation-26",
    "Section 3.3, (26)",
    "Without noise, and with N >= m and Z of rank m, y_k = <y, Z^+ z_k> for every token.",
)
@case_by_case
def equation_26(point: Point) -> Comparisons:
    task = point.task
    if not _determined(task):
        reason = "no task has N >= m and Z of full rank"
        return Silence(reason, applies=False, part="lengths")
    coefficients = np.sin(np.arange(1, task.m + 1))
    exact = coefficients @ task.representations
    return equal(
        coefficients @ task.Z @ np.linalg.pinv(task.Z) @ task.representations,
        exact,
        rounding=OPERATIONS * task.sizes[0] / task.sizes[-1],
        size=np.abs(exact).max(),
        part="labels",
    )


@claim(
    "section-3.3/noiseless",
    "Section 3.3, before (26)",
    "Without noise and with N >= m, A becomes Z^+ Z-hat.",
    kind="misprint",
    versions=[repaired("It becomes (I, Z^+ Z^Q).", copies=True)],
)
@case_by_case
def section_33_noiseless(point: Point, copies: bool = False) -> Comparisons:
    """The limit of (34) for tau to 0 has I_N in front, not the projector Z^+ Z.

    How far (34) is from what is stated, while the regularizer falls.
    """
    task = point.task
    if not (_determined(task) and task.m < task.N):
        reason = "no task has N > m and Z of full rank"
        return Silence(reason, applies=False, part="lengths")
    stated = np.linalg.pinv(task.Z) @ task.representations
    if copies:
        stated[:, : task.N] = np.eye(task.N)
    inverse_levels = 2.0 ** np.arange(4, 18)
    ridges = task.sizes[-1] ** 2 / inverse_levels
    return tends_to(
        np.array([np.linalg.norm(_regularized(task, r) - stated) for r in ridges]),
        trend=1 / inverse_levels,
        rounding=OPERATIONS * inverse_levels,
        size=np.linalg.norm(task.target),
        part="distance from A",
        places=inverse_levels,
    )


def _regularized(task: Task, ridge: float) -> Float[np.ndarray, "N K"]:
    """A of (34) with another regularizer."""
    right = task.Z.T @ task.representations + ridge * np.eye(task.N, task.K)
    return np.linalg.solve(task.Z.T @ task.Z + ridge * np.eye(task.N), right)
