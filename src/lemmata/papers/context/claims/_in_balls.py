"""Statements about the points of a plan in ball arithmetic, by which violations are proved.

Nothing is shared with the checks but the weights, which are taken as what they are in float64. Both
sides are squared, so that hardly a root is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat

from lemmata.claims import Comparison, Comparisons, Exact, Identity, Inequality, at_most, equal

from ..experiments.points import KINDS, weights_of
from ..setting import Fixed, Plan, Weights, evaluate_in_balls, fixed
from ..theory import Constants, smoothness


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sets of weights of a plan in balls, and a ratio gamma of step sizes."""

    task: Fixed
    weights: tuple[Weights, Weights]
    gamma: float

    @cached_property
    def ends(self) -> list[tuple[Any, list[arb_mat], arb_mat]]:
        """The loss, and its gradient in every Q_h and in w, at both."""
        return [evaluate_in_balls(self.task, weights) for weights in self.weights]

    @property
    def H(self) -> int:
        """The number of heads."""
        return len(self.ends[0][1])

    @property
    def alpha(self) -> arb:
        """The largest |alpha_{h,k}| of both."""
        return arb(max(float(np.abs(w).max()) for _, w in self.weights)) / self.gamma

    @cached_property
    def spectral(self) -> arb:
        """||Z-bar||^2."""
        return _largest_eigenvalue(self.task.gram)

    @property
    def column(self) -> arb:
        """f_max^2."""
        return _largest(self.task.gram[n, n] for n in range(self.task.N))

    @cached_property
    def target(self) -> arb:
        """||A||."""
        return _largest_eigenvalue(self.task.target * self.task.target.transpose()).sqrt()

    @property
    def moved_Q(self) -> list[arb]:
        """||Q_h - Q'_h||_F^2."""
        here, there = (np.asarray(weights.Q).transpose(1, 0, 2) for weights in self.weights)
        return [_square(_exact(Q) - _exact(other)) for Q, other in zip(here, there, strict=True)]

    @property
    def distance(self) -> arb:
        """||xi - xi'||^2."""
        here, there = (_exact(np.asarray(weights.w)) for weights in self.weights)
        return sum(self.moved_Q, arb(0)) + _square(here - there) / arb(self.gamma) ** 2

    @property
    def change_Q(self) -> arb:
        """By how much the gradients in Q differ, squared."""
        pairs = zip(self.ends[0][1], self.ends[1][1], strict=True)
        return sum((_square(slope - other) for slope, other in pairs), arb(0))

    @property
    def change_alpha(self) -> arb:
        """By how much the gradients in alpha differ, squared."""
        return arb(self.gamma) ** 2 * _square(self.ends[0][2] - self.ends[1][2])

    @property
    def unsquared(self) -> arb:
        """The factor of (59), which lacks a square."""
        return 8 * self.gamma * (self.column * self.spectral).sqrt() / self.task.K

    @property
    def constants(self) -> Constants:
        """What (61) needs to know."""
        unknown, K = arb("nan"), self.task.K
        sizes = self.spectral.sqrt(), self.column.sqrt(), self.target
        return Constants(self.task.N, K, self.H, unknown, unknown, unknown, *sizes, unknown)


def in_balls(compare: Callable[[Pair], Comparison]) -> Exact:
    """What a statement asserts at all points of a plan."""

    def exact(plan: Plan, options: Mapping[str, Any]) -> Comparisons:
        task = fixed(plan.task)
        pairs = zip(weights_of(plan), KINDS, strict=True)
        return [compare(Pair(task, weights, kind.gamma)) for weights, kind in pairs]

    return exact


@in_balls
def slope_in_Q(pair: Pair) -> Inequality:
    """(42) at the first weights."""
    at, slopes, _ = pair.ends[0]
    most = arb(float(np.abs(pair.weights[0].w).max()))
    return at_most([_square(slope) for slope in slopes], 8 * most**2 * pair.column * at.gap)


@in_balls
def change_of_scores(pair: Pair) -> Inequality:
    """(46) for every head and token."""
    left, right = [], []
    for moved, s, other in zip(pair.moved_Q, *(end[0].attention for end in pair.ends), strict=True):
        change = s - other
        weighted = pair.task.gram * change
        for k in range(pair.task.K):
            left.append(sum((change[n, k] * weighted[n, k] for n in range(pair.task.N)), arb(0)))
            right.append(4 * pair.spectral * moved)
    return at_most(left, right)


@in_balls
def change_of_slope_in_Q(pair: Pair) -> Inequality:
    """(59) as printed."""
    moved, N, K = pair.alpha * pair.gamma * pair.H, pair.task.N, pair.task.K
    bracket = moved**2 + 4 * N * (moved + pair.target) ** 2
    most = K * arb(1).max(4 * K * pair.alpha**2)
    return at_most(pair.change_Q, pair.unsquared * most * bracket * pair.distance)


@in_balls
def change_of_slope_by_terms(pair: Pair) -> Inequality:
    """The first line of (59) as printed."""
    moved, N, K = pair.alpha * pair.gamma * pair.H, pair.task.N, pair.task.K
    radius, total_Q = moved + pair.target, sum(pair.moved_Q, arb(0))
    by_Q = (2 * K * pair.alpha) ** 2 * (moved**2 + 4 * N * radius**2) * total_Q
    by_alpha = K * (moved**2 + radius**2) * (pair.distance - total_Q)
    return at_most(pair.change_Q, pair.unsquared * (by_Q + by_alpha))


@in_balls
def change_of_slope(pair: Pair) -> Inequality:
    """(60) with L of (61)."""
    L = smoothness(pair.constants, pair.gamma, pair.alpha)
    return at_most(pair.change_Q + pair.change_alpha, L**2 * pair.distance)


@in_balls
def spectral_gap(pair: Pair) -> Identity:
    """The display before (70): ||X||_2^4 is at most the trace of (XX')^2, for X = Z-bar delta."""
    away = pair.ends[0][0].away
    square = pair.task.gram * away * away.transpose()
    twice = square * square
    spectral, gap = (sum((M[n, n] for n in range(pair.task.N)), arb(0)) for M in (twice, square))
    return equal(arb(0).union(spectral.sqrt()), gap)


def _exact(values: np.ndarray) -> arb_mat:
    return arb_mat(values.tolist())


def _square(matrix: arb_mat) -> arb:
    return sum((x * x for x in matrix.entries()), arb(0))


def _largest(values: Iterable[arb]) -> arb:
    most = arb(0)
    for value in values:
        most = most.max(value)
    return most


def _largest_eigenvalue(matrix: arb_mat) -> arb:
    """Of a matrix that is positive definite."""
    if matrix.nrows() == 1:
        return matrix[0, 0]
    return _largest(value.real for value in acb_mat(matrix).eig(multiple=True))
