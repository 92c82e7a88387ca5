"""Sections 3.2 and 3.3: which ridge regression it is that the transformer learns."""

import numpy as np
from jaxtyping import Float

from lemmata.claims import Comparisons, Silence, Version, equal, statements, tends_to
from lemmata.settings import Evidence, Grid

from ..experiments.points import POINTS, Point
from ..setting import NOISE, Task
from ._rounding import OPERATIONS

claim = statements("context")


def _no_length(why: str) -> Silence:
    return Silence(why, applies=False, part="lengths")


def _rounding(task: Task, level: float) -> float:
    """Of a solution with Z Z' + r I: that of solving, times the condition."""
    return OPERATIONS * (1 + float(task.sizes[0]) ** 2 / level)


def _largest(sides: Grid) -> np.ndarray:
    """What the rounding error of all entries of a vector is relative to."""
    return np.nanmax(np.abs(sides), axis=1, keepdims=True)


@claim(
    "equation-67",
    "Section 3.2, (20), (25); Appendix C, (67)",
    "The minimizer of the ridge problem is (r I + Z Z')^-1 Z y, for r = m tau and r = N tau.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_67(evidence: Evidence[Point]) -> Comparisons:
    """Against least squares on the problem with the regularizer as further rows."""

    def solved(task: Task, level: float) -> np.ndarray:
        left = np.vstack([task.Z.T, np.sqrt(level) * np.eye(task.m)])
        right = np.concatenate([_labels(task), np.zeros(task.m)])
        return np.linalg.lstsq(left, right)[0]

    def closed(task: Task, level: float) -> np.ndarray:
        return np.linalg.solve(level * np.eye(task.m) + task.Z @ task.Z.T, task.Z @ _labels(task))

    comparisons = []
    for name, level in (("m tau", lambda t: t.ridge), ("N tau", lambda t: t.N * t.tau)):
        left = evidence.each(lambda p, level=level: solved(p.task, level(p.task)))
        comparisons.append(
            equal(
                left,
                evidence.each(lambda p, level=level: closed(p.task, level(p.task))),
                rounding=evidence.each(lambda p, level=level: _rounding(p.task, level(p.task))),
                size=_largest(left),
                part=f"r = {name}",
            )
        )
    return comparisons


def _labels(task: Task) -> Float[np.ndarray, "N"]:
    return np.cos(np.arange(1, task.N + 1))


@claim(
    "equation-27",
    "Section 3.3, (27); Appendix C",
    "A'y is y on the prompt and ridge regression (20) on the queries: A'y = y*.",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_27(evidence: Evidence[Point]) -> Comparisons:
    def ridge(point: Point) -> np.ndarray:
        task, labels = point.task, _labels(point.task)
        inner = np.linalg.solve(task.ridge * np.eye(task.m) + task.Z @ task.Z.T, task.Z @ labels)
        return np.concatenate([labels, task.Z_query.T @ inner])

    left = evidence.each(lambda p: p.task.target.T @ _labels(p.task))
    return equal(
        left,
        evidence.each(ridge),
        rounding=evidence.each(lambda p: _rounding(p.task, p.task.ridge)),
        size=_largest(left),
        part="y*",
    )


def _determined(evidence: Evidence[Point]) -> Evidence[Point]:
    """Where N >= m and Z is clearly of rank m."""

    def full(point: Point) -> bool:
        sizes = point.task.sizes
        return point.task.m <= point.task.N and bool(sizes[-1] > 0.03 * sizes[0])

    return evidence.where(full)


@claim(
    "equation-26",
    "Section 3.3, (26)",
    "Without noise, and with N >= m and Z of rank m, y_k = <y, Z^+ z_k> for every token.",
    on=POINTS,
)
def equation_26(evidence: Evidence[Point]) -> Comparisons:
    determined = _determined(evidence)
    if not len(determined):
        return _no_length("no task has N >= m and Z of full rank")

    def coefficients(task: Task) -> np.ndarray:
        return np.sin(np.arange(1, task.m + 1))

    def predicted(point: Point) -> np.ndarray:
        task = point.task
        return coefficients(task) @ task.Z @ np.linalg.pinv(task.Z) @ task.representations

    exact = determined.each(lambda p: coefficients(p.task) @ p.task.representations)
    return equal(
        determined.each(predicted),
        exact,
        rounding=determined.each(lambda p: OPERATIONS * p.task.sizes[0] / p.task.sizes[-1]),
        size=_largest(exact),
        part="labels",
        cases=determined.cases,
    )


@claim(
    "section-3.3/noiseless",
    "Section 3.3, before (26)",
    "Without noise and with N >= m, A becomes Z^+ Z-hat.",
    on=POINTS,
    kind="misprint",
    versions=[
        Version("repaired", statement="It becomes (I, Z^+ Z^Q).", parameters={"copies": True})
    ],
)
def section_33_noiseless(evidence: Evidence[Point], copies: bool = False) -> Comparisons:
    """The limit of (34) for tau to 0 has I_N in front, not the projector Z^+ Z.

    How far (34) is from what is stated, while the regularizer falls.
    """
    several = _determined(evidence).where(lambda p: p.task.m < p.task.N)
    if not len(several):
        return _no_length("no task has N > m and Z of full rank")
    inverse_levels = 2.0 ** np.arange(4, 18)

    def distances(point: Point) -> np.ndarray:
        task = point.task
        stated = np.linalg.pinv(task.Z) @ task.representations
        if copies:
            stated[:, : task.N] = np.eye(task.N)
        ridges = task.sizes[-1] ** 2 / inverse_levels
        return np.array([np.linalg.norm(_regularized(task, r) - stated) for r in ridges])

    return tends_to(
        several.each(distances),
        trend=1 / inverse_levels,
        size=several.each(lambda p: np.linalg.norm(p.task.target)),
        part="distance from A",
        cases=several.cases,
        places=inverse_levels,
    )


def _regularized(task: Task, ridge: float) -> Float[np.ndarray, "N K"]:
    """A of (34) with another regularizer."""
    right = task.Z.T @ task.representations + ridge * np.eye(task.N, task.K)
    return np.linalg.solve(task.Z.T @ task.Z + ridge * np.eye(task.N), right)
