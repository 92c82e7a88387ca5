"""Sections 3.2 and 3.3: which ridge regression it is that the transformer learns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat
from jaxtyping import Float

from lemmata.claims import (
    Bench,
    Comparisons,
    Silence,
    at_least,
    case_by_case,
    equal,
    repaired,
    statements,
    tends_to,
)
from lemmata.settings import Evidence

from ..counterexamples import nothing_shown
from ..experiments.plans import AS_THEY_ARE
from ..experiments.points import POINTS, Point
from ..setting import NOISE, Plan, Task
from ._rounding import OPERATIONS

claim = statements("context", on=POINTS)


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
    "section-3.2/noise-level",
    "Section 3.2, after (25)",
    "The transformer's choice (20) is what (24) would be if the noise had the level (m/N) tau.",
    hypotheses=(NOISE,),
    on=AS_THEY_ARE,
)
@case_by_case
def section_32_noise_level(plan: Plan) -> Comparisons:
    """Least squares over all examples and values of the noise: +-sqrt(m) times its deviation in one
    coordinate has its second moments."""
    task, level = plan.task, plan.task.m / plan.task.N * plan.task.tau
    noise = np.sqrt(task.m * level) * np.vstack([np.eye(task.m), -np.eye(task.m)])
    seen = (task.Z.T[None] + noise[:, None]).reshape(-1, task.m)
    labels, stated = _labels(task), _ridge(task, task.ridge)
    return equal(
        np.linalg.lstsq(seen, np.tile(labels, 2 * task.m))[0],
        stated,
        rounding=OPERATIONS * (1 + float(task.sizes[0]) ** 2 / task.ridge),
        size=np.abs(stated).max() + np.linalg.norm(labels) / task.ridge**0.5,
        part="coefficients",
    )


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


def _open_directions(task: Task) -> Float[np.ndarray, "m open"]:
    """An orthonormal basis of the changes of lambda that no label of a prompt shows."""
    U, sizes, _ = np.linalg.svd(task.Z)
    return U[:, int(np.sum(sizes > RANK * sizes.max(initial=0.0))) :]


RANK = 1e-12
"""Singular values below this part of the largest are rounding errors of zero."""


@claim(
    "section-1/underdetermined",
    "Abstract; Section 1",
    "Noise apart, a prompt leaves m - rank(Z) directions of lambda open, some always if N < m: "
    "templates that differ by one give its labels alike, and a query's label differently unless "
    "its features combine those of the prompt.",
    on=AS_THEY_ARE,
)
@case_by_case
def section_1_underdetermined(plan: Plan) -> Comparisons:
    """How much a query's label can change is the distance of its features from those combinations,
    by least squares."""
    task, apart = plan.task, _open_directions(plan.task)
    queries = task.Z_query
    if not apart.size:
        return Silence("every prompt determines lambda, noise apart", applies=False)
    left = queries - task.Z @ np.linalg.lstsq(task.Z, queries, rcond=RANK)[0]
    known = task.sizes[: task.m - apart.shape[1]]
    rounding = OPERATIONS * (known[0] / known[-1] if len(known) else 1.0)
    sizes = {"size": np.abs(task.representations).max(), "rounding": rounding}
    changes = np.linalg.norm(apart.T @ queries, axis=0), np.linalg.norm(left, axis=0)
    return [
        at_least(apart.shape[1], task.m - task.N, part="open directions"),
        equal(apart.T @ task.Z, 0.0, part="labels in the prompt", **sizes),
        equal(*changes, part="labels of queries", **sizes),
    ]


def _rank_by_fractions(plan: Plan, options: Mapping[str, Any]) -> Comparisons:
    if plan.task.m > plan.task.N:
        return Silence("N < m", applies=False)
    Z = fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in plan.task.Z.tolist()])
    return equal(arb(Z.rank()), arb(plan.task.m))


def _nothing_shown(bench: Bench) -> Comparisons:
    return section_33_determined(Evidence((nothing_shown(),)), full_rank=False)


@claim(
    "section-3.3/determined",
    "Section 3.3, before (26)",
    "Without noise and with N >= m, the labels of a prompt determine lambda.",
    kind="hypothesis",
    counterexample=_nothing_shown,
    exact=_rank_by_fractions,
    on=AS_THEY_ARE,
    full_rank=False,
    versions=[repaired("The same if Z has rank m besides.", full_rank=True)],
)
@case_by_case
def section_33_determined(plan: Plan, full_rank: bool) -> Comparisons:
    """Which directions of lambda no label shows; with full rank, lambda by least squares."""
    task = plan.task
    if task.m > task.N or (full_rank and not _determined(task)):
        return Silence("no task has N >= m and Z of full rank", applies=False)
    count = equal(_open_directions(task).shape[1], 0.0, size=1.0, part="open directions")
    if not full_rank:
        return count
    coefficients = np.sin(np.arange(1, task.m + 1))
    found = np.linalg.lstsq(task.Z.T, coefficients @ task.Z)[0]
    rounding = OPERATIONS * task.sizes[0] / task.sizes[-1]
    return [count, equal(found, coefficients, size=1.0, rounding=rounding, part="lambda")]


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
