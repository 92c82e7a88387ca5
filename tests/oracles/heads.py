"""Losses of attention under a fixed head as the paper writes them, in as many digits as it takes.

``scores[v][x]`` is c_v^T e_x. Nothing is kept as a logarithm and nothing is counted from the
label's score; the inputs are read position by position.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

from lemmata.tokens import TokenData
from oracles.textbook import Cell, Table, softmax

Vector = list[Any]


def _log(u: Vector, y: int) -> tuple[Any, Vector]:
    return -mp.log(u[y]), [-(v == y) / u[y] for v in range(len(u))]


def _squared(u: Vector, y: int) -> tuple[Any, Vector]:
    return (1 - u[y]) ** 2, [-2 * (v == y) * (1 - u[y]) for v in range(len(u))]


def _linear(u: Vector, y: int) -> tuple[Any, Vector]:
    return -u[y], [mpf(-(v == y)) for v in range(len(u))]


def _flat(u: Vector, y: int) -> tuple[Any, Vector]:
    r = u[y] - 1
    return mp.atan(r) - r, [(v == y) * (1 / (1 + r * r) - 1) for v in range(len(u))]


def _cross_entropy(u: Vector, y: int) -> tuple[Any, Vector]:
    p = softmax(u)
    return -mp.log(p[y]), [p[v] - (v == y) for v in range(len(u))]


def _softmax_squared(u: Vector, y: int) -> tuple[Any, Vector]:
    p = softmax(u)
    slope = -2 * (1 - p[y]) * p[y]
    return (1 - p[y]) ** 2, [slope * ((v == y) - p[v]) for v in range(len(u))]


LOSSES: dict[str, Callable[[Vector, int], tuple[Any, Vector]]] = {
    "log": _log,
    "squared": _squared,
    "linear": _linear,
    "flat": _flat,
    "cross-entropy": _cross_entropy,
    "softmax-squared": _softmax_squared,
}
"""The loss of the scores u with label y, and its derivative in each score."""


def evaluate(
    data: TokenData, scores: Sequence[Vector], logits: Table, name: str, *, excess: bool
) -> tuple[Any, Table]:
    """The mean loss, and its gradient in the logits by the chain rule.

    With ``excess`` the loss of a sample is counted from what it would be if all attention were
    on its label.
    """
    total = mpf(0)
    gradient: Table = dict.fromkeys(logits, mpf(0))
    for sample in data.samples:
        share = mpf(sample.count) / data.total
        y, tokens = sample.label, sample.tokens
        s = softmax([logits[x, sample.query] for x in tokens])
        u = [mp.fsum(p * row[x] for p, x in zip(s, tokens, strict=True)) for row in scores]
        loss, slope = LOSSES[name](u, y)
        if excess:
            loss -= LOSSES[name]([row[y] for row in scores], y)[0]
        total += share * loss
        pull = [mp.fsum(d * row[x] for d, row in zip(slope, scores, strict=True)) for x in tokens]
        mean = mp.fsum(p * g for p, g in zip(s, pull, strict=True))
        for p, g, x in zip(s, pull, tokens, strict=True):
            gradient[x, sample.query] += share * p * (g - mean)
    return total, gradient


def as_scores(matrix: np.ndarray) -> list[Vector]:
    """A matrix of floats without rounding."""
    return [[mpf(float(x)) for x in row] for row in matrix]


def cells_of(data: TokenData) -> list[Cell]:
    """The (token, query) pairs that occur."""
    return sorted({(x, s.query) for s in data.samples for x in s.tokens})
