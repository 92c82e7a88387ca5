"""The target A in its forms: (33) and (34), and (65) and (66) of Appendix C."""

import numpy as np

from lemmata.claims import Comparisons, Version, equal, statements
from lemmata.settings import Evidence

from ..experiments.points import POINTS, Point
from ..setting import NOISE
from ._rounding import of_inverse
from .gradients import is_square, no_square

claim = statements("context")


def _least_squares(point: Point) -> np.ndarray:
    """The minimizer of the loss, by least squares on (Z; sqrt(m tau) I)."""
    task = point.task
    left = np.vstack([task.Z, np.sqrt(task.ridge) * np.eye(task.N)])
    right = np.vstack([task.representations, np.sqrt(task.ridge) * np.eye(task.N, task.K)])
    return np.linalg.lstsq(left, right)[0]


def _solved(point: Point, pulled: np.ndarray) -> np.ndarray:
    """(Z'Z + m tau I)^-1 of the sum of these columns and (m tau I, 0)."""
    task = point.task
    return np.linalg.solve(task.gram, pulled + task.ridge * np.eye(task.N, task.K))


def _size(point: Point) -> float:
    return max(1.0, float(np.abs(point.task.target).max()))


@claim(
    "equation-33",
    "Appendix B, (33)",
    "delta_k measures the distance from (Z'Z + m tau I)^-1 (z_k + m tau e_k), or without e_k for a "
    "query, the best column.",
    hypotheses=(NOISE,),
    on=POINTS,
    kind="misprint",
    pulled=False,
    versions=[
        Version(
            "repaired",
            where="Appendix B, (33), (34)",
            statement="The best column is (Z'Z + m tau I)^-1 (Z'z_k + m tau e_k), or without e_k "
            "for a query.",
            parameters={"pulled": True},
        )
    ],
)
def equation_33(evidence: Evidence[Point], pulled: bool) -> Comparisons:
    """Against the minimizer of the loss.

    z_k has m entries and the matrix N rows: as printed it has a meaning only where m = N.
    """
    points = evidence if pulled else evidence.where(is_square)
    if not len(points):
        return no_square("(33)")

    def stated(point: Point) -> np.ndarray:
        z = point.task.representations
        return _solved(point, point.task.Z.T @ z if pulled else z)

    return equal(
        points.each(stated),
        points.each(_least_squares),
        rounding=of_inverse(points),
        size=points.each(_size),
        part="column",
        cases=points.cases,
    )


@claim(
    "equation-66",
    "Appendix C, (34), (66)",
    "A = (Z'Z + m tau I)^-1 (Z' Z-hat + (m tau I, 0)) is (I, Z'(m tau I + Z Z')^-1 Z^Q).",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_66(evidence: Evidence[Point]) -> Comparisons:
    def second(point: Point) -> np.ndarray:
        task = point.task
        square = task.ridge * np.eye(task.m) + task.Z @ task.Z.T
        return np.hstack([np.eye(task.N), task.Z.T @ np.linalg.solve(square, task.Z_query)])

    return equal(
        evidence.each(lambda p: _solved(p, p.task.Z.T @ p.task.representations)),
        evidence.each(second),
        rounding=of_inverse(evidence),
        size=evidence.each(_size),
        part="A",
    )


@claim(
    "equation-65",
    "Appendix C, (65)",
    "(m tau I + Z'Z)^-1 = I / (m tau) - Z'(m tau I + Z Z')^-1 Z / (m tau).",
    hypotheses=(NOISE,),
    on=POINTS,
)
def equation_65(evidence: Evidence[Point]) -> Comparisons:
    """Both sides times m tau, where the identity is the largest term."""

    def right(point: Point) -> np.ndarray:
        task = point.task
        inner = np.linalg.solve(task.ridge * np.eye(task.m) + task.Z @ task.Z.T, task.Z)
        return np.eye(task.N) - task.Z.T @ inner

    return equal(
        evidence.each(lambda p: p.task.ridge * np.linalg.inv(p.task.gram)),
        evidence.each(right),
        rounding=of_inverse(evidence),
        size=1.0,
        part="inverse times m tau",
    )
