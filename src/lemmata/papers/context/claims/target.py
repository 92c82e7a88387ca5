"""The target A in its forms: (33) and (34), and (65) and (66) of Appendix C."""

import numpy as np

from lemmata.claims import Comparisons, case_by_case, equal, repaired, statements

from ..experiments.points import POINTS, Point
from ..setting import NOISE, Task
from ._rounding import of_inverse
from .gradients import is_square, no_square

claim = statements("context", on=POINTS, hypotheses=(NOISE,))


def _least_squares(task: Task) -> np.ndarray:
    """The minimizer of the loss, by least squares on (Z; sqrt(m tau) I)."""
    left = np.vstack([task.Z, np.sqrt(task.ridge) * np.eye(task.N)])
    right = np.vstack([task.representations, np.sqrt(task.ridge) * np.eye(task.N, task.K)])
    return np.linalg.lstsq(left, right)[0]


def _solved(task: Task, pulled: np.ndarray) -> np.ndarray:
    """(Z'Z + m tau I)^-1 of the sum of these columns and (m tau I, 0)."""
    return np.linalg.solve(task.gram, pulled + task.ridge * np.eye(task.N, task.K))


def _same(task: Task, left: np.ndarray, right: np.ndarray, part: str) -> Comparisons:
    """Two forms of A, or of a column of it."""
    size = max(1.0, float(np.abs(task.target).max()))
    return equal(left, right, rounding=of_inverse(task), size=size, part=part)


@claim(
    "equation-33",
    "Appendix B, (33)",
    "delta_k measures the distance from (Z'Z + m tau I)^-1 (z_k + m tau e_k), or without e_k for a "
    "query, the best column.",
    kind="misprint",
    pulled=False,
    versions=[
        repaired(
            "The best column is (Z'Z + m tau I)^-1 (Z'z_k + m tau e_k), or without e_k for a "
            "query.",
            where="Appendix B, (33), (34)",
            pulled=True,
        )
    ],
)
@case_by_case
def equation_33(point: Point, pulled: bool) -> Comparisons:
    """Against the minimizer of the loss.

    z_k has m entries and the matrix N rows: as printed it has a meaning only where m = N.
    """
    task, z = point.task, point.task.representations
    if not pulled and not is_square(point):
        return no_square("(33)")
    stated = _solved(task, task.Z.T @ z if pulled else z)
    return _same(task, stated, _least_squares(task), "column")


@claim(
    "equation-66",
    "Appendix C, (34), (66)",
    "A = (Z'Z + m tau I)^-1 (Z' Z-hat + (m tau I, 0)) is (I, Z'(m tau I + Z Z')^-1 Z^Q).",
)
@case_by_case
def equation_66(point: Point) -> Comparisons:
    task = point.task
    square = task.ridge * np.eye(task.m) + task.Z @ task.Z.T
    second = np.hstack([np.eye(task.N), task.Z.T @ np.linalg.solve(square, task.Z_query)])
    return _same(task, _solved(task, task.Z.T @ task.representations), second, "A")


@claim(
    "equation-65",
    "Appendix C, (65)",
    "(m tau I + Z'Z)^-1 = I / (m tau) - Z'(m tau I + Z Z')^-1 Z / (m tau).",
)
@case_by_case
def equation_65(point: Point) -> Comparisons:
    """Both sides times m tau, where the identity is the largest term."""
    task = point.task
    inner = np.linalg.solve(task.ridge * np.eye(task.m) + task.Z @ task.Z.T, task.Z)
    return equal(
        task.ridge * np.linalg.inv(task.gram),
        np.eye(task.N) - task.Z.T @ inner,
        rounding=of_inverse(task),
        size=1.0,
        part="inverse times m tau",
    )
