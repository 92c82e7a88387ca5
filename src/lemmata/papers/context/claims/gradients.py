"""Lemmas 1 and 6 and the equations around them: gradients, as printed and as derivatives."""

import numpy as np

from lemmata.claims import Comparison, Comparisons, Silence, equal, statements
from lemmata.settings import Evidence

from ..experiments.points import POINTS, Point

claim = statements("context")

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
    on=POINTS,
)
def lemma_1(evidence: Evidence[Point]) -> Comparisons:
    """Against the derivative that differentiation in a direction gives."""

    def printed(point: Point) -> np.ndarray:
        s, V = point.here.attention[:, 0, -1], point.task.prompt
        change = point.there.Q[0] - point.here.Q[0]
        inner = V - (V @ s)[:, None]
        return s * (inner.T @ change @ point.task.tokens[:, -1]) / np.linalg.norm(change)

    def size(point: Point) -> np.ndarray:
        norms = point.task.norms
        return 2 * point.here.logit_size * point.here.attention[:, 0, -1] * norms.max() * norms[-1]

    return equal(
        evidence.each(lambda p: _softmax_slope(p, 0, p.task.tokens[:, -1])),
        evidence.each(printed),
        size=evidence.each(size),
        part="derivative",
    )


@claim(
    "lemma-6",
    "Appendix B, Lemma 6, (39) to (41), (81)",
    "A step at the rates eta_Q and eta_w is one at the rate eta_Q in (Q, w / gamma).",
    on=POINTS,
)
def lemma_6(evidence: Evidence[Point]) -> Comparisons:
    """w after the step both ways; the gradient in alpha is that of (45)."""
    rate = 0.01

    def two_rates(point: Point) -> np.ndarray:
        return point.here.w - rate * point.gamma**2 * point.here.value_slope

    def one_rate(point: Point) -> np.ndarray:
        slope = np.einsum("nhk,nk->hk", point.here.B, point.here.weighted) / point.task.K
        return point.gamma * (point.here.w / point.gamma - rate * point.gamma * slope)

    def size(point: Point) -> float:
        return np.abs(point.here.w).max() + rate * point.gamma * _value_slope_size(point).max()

    return equal(
        evidence.each(two_rates),
        evidence.each(one_rate),
        size=evidence.each(size),
        part="w after a step",
    )


def _value_slope_size(point: Point) -> np.ndarray:
    """Of the terms of the gradient in alpha_k, token by token."""
    scale = point.gamma * point.task.spectral / point.task.K
    return scale * point.here.logit_size * np.linalg.norm(point.here.weighted, axis=0)


@claim(
    "equation-45",
    "Appendix B, (45)",
    "d l / d alpha_k = (gamma / K) B_k' Z-bar delta_k.",
    on=POINTS,
)
def equation_45(evidence: Evidence[Point]) -> Comparisons:
    """Against the derivative of the loss itself, a quadratic in alpha: half a difference of two."""

    def printed(point: Point) -> np.ndarray:
        slope = np.einsum("nhk,nk->hk", point.here.B, point.here.weighted)
        return point.gamma / point.task.K * slope

    def difference(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        step = np.abs(at.w).max()
        slopes = np.empty_like(at.w)
        for h in range(point.H):
            moved = (at.delta + sign * step * at.attention[:, h] for sign in (1, -1))
            more, less = (np.sum((task.root @ delta) ** 2, axis=0) for delta in moved)
            slopes[h] = (more - less) / (2 * task.K)
        return point.gamma * slopes / (2 * step)

    def size(point: Point) -> np.ndarray:
        """Of the squares that are subtracted."""
        step = np.abs(point.here.w).max()
        largest = np.linalg.norm(point.here.weighted, axis=0) + step * point.task.spectral
        return np.tile(point.gamma * largest**2 / (2 * point.task.K * step), point.H)

    return equal(
        evidence.each(difference), evidence.each(printed), size=evidence.each(size), part="slope"
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
    on=POINTS,
    columns="root",
)
@claim(
    "equation-56",
    "Appendix B, (56)",
    "The same sum with z_j, a vector of m entries, in the place of z-bar_j.",
    on=POINTS,
    kind="misprint",
    columns="Z",
)
def equation_82(evidence: Evidence[Point], columns: str) -> Comparisons:
    """The sum as printed against derivatives of the loss along directions.

    (Z-bar delta)' z_j has a meaning only where m = N; (56) is judged there.
    """
    points = evidence if columns == "root" else evidence.where(is_square)
    if not len(points):
        return no_square("(56)")
    return equal(
        points.each(_loss_slope),
        points.each(lambda p: _slope_in_Q(p, getattr(p.task, columns))),
        size=points.each(_query_slope_size),
        part="derivative",
        cases=points.cases,
    )


def is_square(point: Point) -> bool:
    """Whether products of vectors of m and of N entries have a meaning."""
    return point.task.m == point.task.N > 1


def no_square(equation: str) -> Comparison:
    """What is said of a product that exists for m = N only, where no task has that."""
    reason = f"{equation} multiplies vectors of m and N entries"
    return Silence(reason, applies=False, part="shapes")


@claim(
    "own/smaller-parameters",
    "Section 2, (10)",
    "Descent on Q_h is descent on the N x d matrix V'Q_h with the preconditioner V'V: attention "
    "depends on nothing else.",
    on=POINTS,
)
def own_smaller_parameters(evidence: Evidence[Point]) -> Comparisons:
    """V' times the gradient in Q_h, and V'V times the gradient in V'Q_h."""

    def smaller(point: Point) -> np.ndarray:
        task, at = point.task, point.here
        slope = task.root @ at.weighted / task.K
        mean = np.einsum("nhk,nk->hk", at.attention, slope)
        logits = at.w * at.attention * (slope[:, None, :] - mean)
        in_smaller = np.einsum("nhk,bk->hnb", logits, task.tokens)
        return np.einsum("nm,hmb->hnb", task.prompt.T @ task.prompt, in_smaller)

    def larger(point: Point) -> np.ndarray:
        return np.einsum("an,hab->hnb", point.task.prompt, point.here.query_slope)

    def size(point: Point) -> np.ndarray:
        entries = point.task.N * point.task.d
        return np.repeat(point.task.norms.max() * _query_slope_size(point), entries)

    return equal(
        evidence.each(larger), evidence.each(smaller), size=evidence.each(size), part="slope"
    )
