"""(54) to (61) and Lemma 10: the smoothness of the loss, where one factor was not squared."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lemmata.claims import Comparisons, at_most, case_by_case, repaired, statements

from ..experiments.points import POINTS, Point
from ..setting import UNIT
from ..theory import smoothness, smoothness_repaired
from ._in_balls import change_of_slope, change_of_slope_by_terms, change_of_slope_in_Q

claim = statements("context", on=POINTS, hypotheses=(UNIT,))

STEP_2 = "Appendix B, Step 2"


@claim(
    "equation-54",
    f"{STEP_2}, (54)",
    "How much the gradient in alpha_k changes with Q and alpha_k.",
)
@case_by_case
def equation_54(point: Point) -> Comparisons:
    size = point.gamma / point.task.K * point.task.spectral**2
    radius = 2 * point.gamma * point.H * point.alpha + point.target_norm
    by_Q = 2 * size * radius * np.linalg.norm(point.moved_Q)
    by_alpha = size * point.gamma * point.H * np.linalg.norm(point.moved_alpha, axis=0)
    change = np.linalg.norm(point.change_alpha, axis=0)
    return at_most(change, by_Q + by_alpha, part="change of the gradient in alpha_k")


@claim(
    "equation-55",
    f"{STEP_2}, (55)",
    "The gradient in alpha is Lipschitz in all parameters.",
)
@case_by_case
def equation_55(point: Point) -> Comparisons:
    mixed = 2 * point.gamma * point.task.spectral**2
    mixed *= 2 * point.gamma * point.H * point.alpha + point.target_norm
    own = point.gamma**2 * point.H * point.task.spectral**2 / point.task.K
    bound = np.sqrt(2 * (mixed**2 / point.task.K + own**2)) * point.distance
    change = np.linalg.norm(point.change_alpha)
    return at_most(change, bound, part="change of the gradient in alpha")


def _by_sums(point: Point) -> np.ndarray:
    """The first right side of (57), head by head, but for its factor: sums of |s - s'|."""
    return _by_change(point, np.abs(point.here.attention - point.there.attention).sum(axis=0))


def _by_tokens(point: Point) -> np.ndarray:
    """The last one, where the sums are at most sqrt(N) times Euclidean norms."""
    apart = np.linalg.norm(point.here.attention - point.there.attention, axis=0)
    return _by_change(point, np.sqrt(point.task.N) * apart)


def _by_change(point: Point, change: np.ndarray) -> np.ndarray:
    delta = np.linalg.norm(point.there.delta, axis=0)
    moved = np.linalg.norm(point.here.delta - point.there.delta, axis=0)
    inner = delta * (np.abs(point.moved_alpha) + 2 * point.alpha * change)
    return (point.alpha * moved + inner).sum(axis=1)


def _by_norms(point: Point) -> np.ndarray:
    """The right side of (58), head by head, but for its factor."""
    K, H, N, alpha = point.task.K, point.H, point.task.N, point.alpha
    radius = point.gamma * H * alpha + point.target_norm
    total_Q, total_alpha = np.linalg.norm(point.moved_Q), np.linalg.norm(point.moved_alpha)
    common = 2 * K * alpha * total_Q + np.sqrt(K) * total_alpha
    own = np.sqrt(K) * np.linalg.norm(point.moved_alpha, axis=1)
    own = own + 4 * alpha * np.sqrt(N) * K * point.moved_Q
    return alpha * point.gamma * np.sqrt(H) * common + radius * own


@claim(
    "equation-57/sums",
    f"{STEP_2}, (57), first line",
    "How much the gradient in Q_h changes, with the change of attention as a sum over examples.",
    bound=_by_sums,
)
@claim(
    "equation-57",
    f"{STEP_2}, (57)",
    "How much the gradient in Q_h changes, by the changes of delta, alpha and attention.",
    bound=_by_tokens,
)
@claim(
    "equation-58",
    f"{STEP_2}, (58)",
    "The same by the changes of Q and alpha.",
    bound=_by_norms,
)
@case_by_case
def change_head_by_head(point: Point, bound: Callable[[Point], np.ndarray]) -> Comparisons:
    task = point.task
    factor = 2 * point.gamma * task.largest_column * task.spectral / task.K
    change = np.linalg.norm(point.change_Q, axis=(1, 2))
    return at_most(change, factor * bound(point), part="change of the gradient in Q_h")


def _in_one(point: Point) -> float:
    """What (59) multiplies its factor with in the end."""
    moved = point.alpha * point.gamma * point.H
    bracket = moved**2 + 4 * point.task.N * (moved + point.target_norm) ** 2
    most = point.task.K * max(1.0, 4 * point.task.K * point.alpha**2)
    return most * bracket * point.distance**2


def _in_two(point: Point) -> float:
    """The same in its first line, with terms of their own for Q and alpha."""
    K, moved = point.task.K, point.alpha * point.gamma * point.H
    radius = moved + point.target_norm
    by_Q = (2 * K * point.alpha) ** 2 * (moved**2 + 4 * point.task.N * radius**2)
    by_alpha = K * (moved**2 + radius**2)
    return by_Q * np.sum(point.moved_Q**2) + by_alpha * np.sum(point.moved_alpha**2)


SQUARED = "The same with the square of (58)'s factor: 16 (gamma f_max ||Z-bar|| / K)^2 for 8 (...)."


@claim(
    "equation-59/terms",
    f"{STEP_2}, (59), first line",
    "sum_h ||grad_Q_h l - grad_Q_h l'||^2 <= 8 (gamma f_max ||Z-bar|| / K) {(2 K alpha)^2 [...] "
    "sum_h ||Q_h - Q'_h||^2 + K [...] ||alpha - alpha'||^2}.",
    kind="constant",
    exact=change_of_slope_by_terms,
    squared=False,
    bound=_in_two,
    versions=[repaired(SQUARED, squared=True)],
)
@claim(
    "equation-59",
    f"{STEP_2}, (59)",
    "sum_h ||grad_Q_h l - grad_Q_h l'||^2 <= 8 gamma f_max ||Z-bar|| max{1, 4 K alpha^2} [...] "
    "||xi - xi'||^2.",
    kind="constant",
    exact=change_of_slope_in_Q,
    squared=False,
    bound=_in_one,
    versions=[repaired(SQUARED, squared=True)],
)
@case_by_case
def equation_59(point: Point, squared: bool, bound: Callable[[Point], float]) -> Comparisons:
    factor = point.gamma * point.task.largest_column * point.task.spectral / point.task.K
    allowed = np.sqrt((16 * factor**2 if squared else 8 * factor) * bound(point))
    return at_most(np.linalg.norm(point.change_Q), allowed, part="change of the gradient in Q")


@claim(
    "lemma-10",
    "Appendix B, Lemma 10, (60), (61)",
    "The gradient of l is Lipschitz with the constant L of (61) while |alpha_{h,k}| <= alpha.",
    kind="constant",
    exact=change_of_slope,
    bound=smoothness,
    versions=[repaired("The same with the repaired constant of (59).", bound=smoothness_repaired)],
)
@case_by_case
def lemma_10(point: Point, bound: Callable[..., Any]) -> Comparisons:
    change = np.hypot(np.linalg.norm(point.change_Q), np.linalg.norm(point.change_alpha))
    L = bound(point.constants, point.gamma, point.alpha)
    return at_most(change, L * point.distance, part="change of the gradient")
