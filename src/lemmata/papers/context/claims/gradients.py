"""Lemmas 1 and 6 and the equations around them: gradients, as printed and as derivatives."""

import numpy as np

from lemmata.claims import Comparisons, Silence, case_by_case, equal, statements

from ..experiments.points import POINTS, Point

claim = statements("context", on=POINTS)

TINY = 1e-100
"""Of a complex step: it is not subtracted from anything, so that no digits are lost."""


def _softmax_slope(point: Point, head: int, tokens: np.ndarray) -> np.ndarray:
    """How attention to some tokens changes along the way from here to there, by a complex step."""
    change = point.there.Q[head] - point.here.Q[head]
    Q = point.here.Q[head] + 1j * TINY * change / np.linalg.norm(change)
    logits = point.task.prompt.T @ Q @ tokens
    powers = np.exp(logits - logits.real.max(axis=0))
    return (powers / powers.sum(axis=0)).imag / TINY


@claim(
    "lemma-1",
    "Appendix A.2, Lemma 1, (29)",
    "d s_j / d Q = s_j sum_i s_i (v_j - v_i) v_k' for attention s to N tokens.",
)
@case_by_case
def lemma_1(point: Point) -> Comparisons:
    """Against the derivative that differentiation in a direction gives."""
    s, V, norms = point.here.attention[:, 0, -1], point.task.prompt, point.task.norms
    token = point.task.tokens[:, -1]
    change = point.there.Q[0] - point.here.Q[0]
    inner = V - (V @ s)[:, None]
    return equal(
        _softmax_slope(point, 0, token),
        s * (inner.T @ change @ token) / np.linalg.norm(change),
        size=2 * point.here.logit_size * s * norms.max() * norms[-1],
        part="derivative",
    )


def _value_slope(point: Point) -> np.ndarray:
    """B_k' Z-bar delta_k, head by head."""
    return np.einsum("nhk,nk->hk", point.here.B, point.here.weighted)


@claim(
    "lemma-6",
    "Appendix B, Lemma 6, (39) to (41), (81)",
    "A step at the rates eta_Q and eta_w is one at the rate eta_Q in (Q, w / gamma).",
)
@case_by_case
def lemma_6(point: Point) -> Comparisons:
    """w after the step both ways; the gradient in alpha is that of (45)."""
    rate, at, gamma = 0.01, point.here, point.gamma
    in_alpha = rate * gamma * (_value_slope(point) / point.task.K)
    scale = gamma * point.task.spectral / point.task.K
    terms = scale * at.logit_size * np.linalg.norm(at.weighted, axis=0)
    return equal(
        at.w - rate * gamma**2 * at.value_slope,
        gamma * (at.w / gamma - in_alpha),
        size=np.abs(at.w).max() + rate * gamma * terms.max(),
        part="w after a step",
    )


@claim(
    "equation-45",
    "Appendix B, (45)",
    "d l / d alpha_k = (gamma / K) B_k' Z-bar delta_k.",
)
@case_by_case
def equation_45(point: Point) -> Comparisons:
    """Against the derivative of the loss itself, a quadratic in alpha: half a difference of two.

    Rounding is relative to the squares that are subtracted.
    """
    task, at = point.task, point.here
    step = np.abs(at.w).max()
    slopes = np.empty_like(at.w)
    for h in range(point.H):
        moved = (at.delta + sign * step * at.attention[:, h] for sign in (1, -1))
        more, less = (np.sum((task.root @ delta) ** 2, axis=0) for delta in moved)
        slopes[h] = (more - less) / (2 * task.K)
    largest = np.linalg.norm(at.weighted, axis=0) + step * task.spectral
    return equal(
        point.gamma * slopes / (2 * step),
        point.gamma / task.K * _value_slope(point),
        size=np.tile(point.gamma * largest**2 / (2 * task.K * step), point.H),
        part="slope",
    )


def _slope_in_Q(point: Point, columns: np.ndarray) -> np.ndarray:
    """The triple sum of (82) with these columns in the place of z-bar_j, along the way there."""
    task, at = point.task, point.here
    weight = np.einsum("jk,hk,jhk->jhk", columns.T @ at.weighted, at.w, at.attention)
    mean = np.einsum("an,nhk->ahk", task.prompt, at.attention)
    inner = np.einsum("jhk,aj->ahk", weight, task.prompt) - mean * weight.sum(axis=0)
    slope = np.einsum("ahk,bk->hab", inner, task.tokens) / task.K
    return np.einsum("hab,hab->h", slope, point.there.Q - at.Q) / point.moved_Q


def _loss_slope(point: Point) -> np.ndarray:
    """The derivative of the loss along the way there, head by head."""
    task, at = point.task, point.here
    slopes = []
    for h in range(point.H):
        change = at.w[h] * _softmax_slope(point, h, task.tokens)
        slopes.append(np.sum((task.root @ change) * at.weighted) / task.K)
    return np.array(slopes)


def _query_slope_size(point: Point) -> np.ndarray:
    """Of the terms of the gradient in Q_h, head by head."""
    task, at = point.task, point.here
    pull = task.spectral * np.linalg.norm(at.weighted, axis=0) * task.norms
    return 2 * at.logit_size * task.norms.max() / task.K * (np.abs(at.w) @ pull)


@claim(
    "equation-82",
    "Appendix D.5, (82)",
    "d l / d Q_h is the sum over k and j of (Z-bar delta_k)' z-bar_j G^{h,jk} gamma / K.",
    columns="root",
)
@claim(
    "equation-56",
    "Appendix B, (56)",
    "The same sum with z_j, a vector of m entries, in the place of z-bar_j.",
    kind="misprint",
    columns="Z",
)
@case_by_case
def equation_82(point: Point, columns: str) -> Comparisons:
    """The sum as printed against derivatives of the loss along directions.

    (Z-bar delta)' z_j has a meaning only where m = N; (56) is judged there.
    """
    if columns == "Z" and not is_square(point):
        return no_square("(56)")
    return equal(
        _loss_slope(point),
        _slope_in_Q(point, getattr(point.task, columns)),
        size=_query_slope_size(point),
        part="derivative",
    )


def is_square(point: Point) -> bool:
    """Whether products of vectors of m and of N entries have a meaning."""
    return point.task.m == point.task.N > 1


def no_square(equation: str) -> Silence:
    """What is said of a product that exists for m = N only, where no task has that."""
    reason = f"{equation} multiplies vectors of m and N entries"
    return Silence(reason, applies=False, part="shapes")


@claim(
    "own/smaller-parameters",
    "Section 2, (10)",
    "Descent on Q_h is descent on the N x d matrix V'Q_h with the preconditioner V'V: attention "
    "depends on nothing else.",
)
@case_by_case
def own_smaller_parameters(point: Point) -> Comparisons:
    """V' times the gradient in Q_h, and V'V times the gradient in V'Q_h."""
    task, at = point.task, point.here
    slope = task.root @ at.weighted / task.K
    mean = np.einsum("nhk,nk->hk", at.attention, slope)
    logits = at.w * at.attention * (slope[:, None, :] - mean)
    in_smaller = np.einsum("nhk,bk->hnb", logits, task.tokens)
    return equal(
        np.einsum("an,hab->hnb", task.prompt, at.query_slope),
        np.einsum("nm,hmb->hnb", task.prompt.T @ task.prompt, in_smaller),
        size=np.repeat(task.norms.max() * _query_slope_size(point), task.N * task.d),
        part="slope",
    )
