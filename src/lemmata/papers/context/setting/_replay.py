"""Descent and Adam again, in ball arithmetic: head by head, token by token, as the paper writes.

It shares no code with training. Every number is a ball that contains the true value, so that what
it says of the sign of a difference is proved.

A step taken from balls makes them wider, although descent brings neighbouring paths together. So
each step is taken from a point, and how far the true path is from that point is bounded apart. Adam
has no such bound: its balls get wider, and need more bits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import acb_mat, arb, arb_mat, ctx
from jaxtyping import Int

from lemmata.settings import BallAdam, Balls, as_balls, dot

from ._fractions import Fixed, fixed
from ._model import Weights
from ._plan import Plan
from ._plan_training import BLOWN_UP, PlanTraining

COLUMNS = ("gap", "loss", "guarantee", "in_domain", "out_of_domain", "moved_Q")

MOST_WORK = 400_000
"""Steps times N^2 K H: more takes longer than anybody waits for a proof."""

BITS = 64
"""Of balls that bound a distance, where a few digits are enough."""


@dataclass(frozen=True)
class Place:
    """Weights, and how far the true ones may be from them.

    Attributes:
        moved: how far each Q_h is from its start.
        w: one row a head.
        error: a bound on the distance in (Q, w / gamma), in which descent has one rate (Lemma 6).
    """

    moved: list[arb_mat]
    w: arb_mat
    error: arb


@dataclass(frozen=True)
class Point:
    """What follows from weights.

    Attributes:
        moved: how far each Q_h is from its start.
        w: one row a head.
        attention: s^h_k, one N x K matrix a head.
        away: A-hat - A.
        slope: the derivative of the loss in A-hat.
        gap: L - L*.
    """

    moved: list[arb_mat]
    w: arb_mat
    attention: list[arb_mat]
    away: arb_mat
    slope: arb_mat
    gap: arb


def replay(plan: Plan, training: PlanTraining, steps: Int[np.ndarray, "records"]) -> Balls | None:
    """The columns at the recorded steps, for training on the population loss."""
    work = int(steps[-1]) * plan.task.N**2 * plan.task.K * plan.heads
    if training.sample or training.layers > 1 or work > MOST_WORK:
        return None
    start = _heads(plan.start)
    descent = Descent(fixed(plan.task), start, *map(arb, training.rates(plan)))
    first, K = descent.at(descent.first), plan.task.K
    shrink = arb("nan")
    if training.by_theory:
        shrink = 1 - descent.eta_w * _least_eigenvalue(descent.task, first.attention) / (2 * K)
    limit = arb(BLOWN_UP * plan.task.initial_gap)
    by_adam = training.algorithm == "adam"
    path = descent.adam(limit, training.frozen) if by_adam else descent.path(limit)
    wanted, records = set(steps.tolist()), []
    for step, place in zip(range(int(steps[-1]) + 1), path, strict=False):
        if step not in wanted:
            continue
        here = descent.at(place)
        guarantee = first.gap * shrink**step if training.by_theory else shrink
        other = dot(here.away, descent.task.elsewhere * here.away) / K
        moved = _norm(here.moved) / _norm(start)
        loss = here.gap + descent.task.minimum
        records.append((here.gap, loss, guarantee, 2 * here.gap, other, moved))
    records += [(arb("nan"),) * len(COLUMNS)] * (len(steps) - len(records))
    columns = dict(zip(COLUMNS, np.array(records, dtype=object).T, strict=True))
    return {**columns, "rate": np.array([descent.eta_w], dtype=object)}


def evaluate_in_balls(task: Fixed, weights: Weights) -> tuple[Point, list[arb_mat], arb_mat]:
    """The loss at weights, and its gradient in every Q_h and in w."""
    descent = Descent(task, _heads(weights), arb(1), arb(1))
    at = descent.at(replace(descent.first, w=as_balls(np.asarray(weights.w))))
    return at, *descent.slopes(at)


def attention_in_balls(task: Fixed, weights: Weights) -> list[arb_mat]:
    """s^h_k, one N x K matrix a head."""
    return [_softmax(task, Q) for Q in _heads(weights)]


def _heads(weights: Weights) -> list[arb_mat]:
    return [as_balls(Q) for Q in np.asarray(weights.Q).transpose(1, 0, 2)]


@dataclass(frozen=True)
class Descent:
    """Descent (10) on a task from Q_h = start, w = 0."""

    task: Fixed
    start: list[arb_mat]
    eta_Q: arb  # noqa: N815
    eta_w: arb

    @cached_property
    def gamma(self) -> arb:
        """sqrt(eta_w / eta_Q)."""
        return (self.eta_w / self.eta_Q).sqrt()

    @property
    def first(self) -> Place:
        """Where it starts."""
        heads, size = len(self.start), self.start[0].nrows()
        return Place([arb_mat(size, size)] * heads, arb_mat(heads, self.task.K), arb(0))

    def path(self, limit: arb) -> Iterator[Place]:
        """All places; it stays where it is once the gap would exceed the limit.

        It ends where balls do not tell whether it does.
        """
        place = self.first
        around, diverged = self._roughly(place), False
        while not diverged:
            yield place
            after = self.step(place, around)
            around = self._roughly(after)
            gap = around.gap if around.gap <= limit else self.at(after).gap
            diverged = gap > limit
            if not (diverged or gap <= limit):
                return
            place = place if diverged else after
        while True:
            yield place

    def adam(self, limit: arb, frozen: bool) -> Iterator[Place]:
        """All places of Adam, with Q frozen or not, while the gap is below the limit."""
        place = self.first
        size, heads = self.start[0].nrows(), len(self.start)
        rule_w = BallAdam(heads, self.task.K)
        rules_Q = [BallAdam(size, size) for _ in self.start]
        at = self.at(place)
        while at.gap <= limit:
            yield place
            in_Q, in_w = self.slopes(at)
            moved = place.moved
            if not frozen:
                steps = [rule.move(slope) for rule, slope in zip(rules_Q, in_Q, strict=True)]
                moved = [was - by * self.eta_Q for was, by in zip(moved, steps, strict=True)]
            place = Place(moved, place.w - rule_w.move(in_w) * self.eta_w, arb(0))
            at = self.at(place)

    def at(self, place: Place) -> Point:
        """Attention, A-hat - A and the loss at all weights that are meant by a place."""
        around, heads = arb(0, place.error.upper()), range(len(place.moved))
        still = self.task.N == 1  # with one example attention cannot change, and Q never moves
        moved = place.moved if still else [_widened(change, around) for change in place.moved]
        w = _widened(place.w, around * self.gamma)
        attention = [_softmax(self.task, self.start[h] + moved[h]) for h in heads]
        away = -self.task.target
        for n in range(self.task.N):
            for k in range(self.task.K):
                away[n, k] += sum((attention[h][n, k] * w[h, k] for h in heads), arb(0))
        weighted, K = self.task.gram * away, self.task.K
        gap = dot(away, weighted) / (2 * K)
        return Point(moved, w, attention, away, weighted / K, gap)

    def _roughly(self, place: Place) -> Point:
        """The same in a few digits."""
        precision, ctx.prec = ctx.prec, BITS
        try:
            return self.at(place)
        finally:
            ctx.prec = precision

    def step(self, place: Place, around: Point) -> Place:
        """One step from the middle of a place, given what holds around it."""
        at = self.at(Place(place.moved, place.w, arb(0)))
        in_Q, in_w = self.slopes(at)
        moved = [at.moved[h] - slope * self.eta_Q for h, slope in enumerate(in_Q)]
        w = at.w - in_w * self.eta_w
        lost = _norm([_radii(change) for change in moved]) + _norm([_radii(w)]) / self.gamma
        error = self._growth(around) * place.error + lost
        return Place([_middles(change) for change in moved], _middles(w), error.upper())

    def slopes(self, at: Point) -> tuple[list[arb_mat], arb_mat]:
        """The gradient of the loss in every Q_h, and in w."""
        N, K = self.task.N, self.task.K
        in_Q, in_w = [], arb_mat(len(at.attention), K)
        for h, s in enumerate(at.attention):
            logits = arb_mat(N, K)
            for k in range(K):
                in_w[h, k] = sum((s[n, k] * at.slope[n, k] for n in range(N)), arb(0))
                for n in range(N):
                    logits[n, k] = at.w[h, k] * s[n, k] * _above(s, at.slope, n, k)
            in_Q.append(self.task.prompt * logits * self.task.tokens.transpose())
        return in_Q, in_w

    def _growth(self, at: Point) -> arb:
        """A bound on |I - eta_Q H|, H being the Hessian in (Q, w / gamma).

        H is J'(Z'Z + m tau I)J / K, whose part in this is at most 1 unless the step is too long,
        and a part that has the slope as a factor.
        """
        V = _square(self.task.prompt.entries())
        bent, crossed, squares = arb(0), arb(0), arb(0)
        for h, s in enumerate(at.attention):
            own = arb(0)
            for k in range(self.task.K):
                turned, spread = _turn(s, at.slope, k)
                size, w = V * self._squares[k], at.w[h, k].abs_upper()
                own += 3 * w * size * _root(turned)
                crossed += size * turned
                squares += w * w * size * spread
            bent = bent.max(own)
        curved = self.eta_Q * (bent + self.gamma * _root(crossed))
        longest = self.eta_w * self._steepest(at) + self.eta_Q * squares * _norm([self.task.gram])
        return (arb(1).max(longest / self.task.K - 1) + curved).upper()

    @cached_property
    def _squares(self) -> list[arb]:
        """The squared norms of the tokens."""
        tokens = self.task.tokens
        rows = range(tokens.nrows())
        return [_square(tokens[i, k] for i in rows) for k in range(self.task.K)]

    def _steepest(self, at: Point) -> arb:
        """A bound on the largest eigenvalue of all B_k B_k', which are those of C'(Z'Z + ...)C."""
        most = arb(0)
        for k in range(self.task.K):
            C = columns_of(at.attention, k)
            square = C.transpose() * self.task.gram * C
            fourth = square * square
            most = most.max(_root(_root(dot(fourth, fourth))))
        return most


def _softmax(task: Fixed, Q: arb_mat) -> arb_mat:
    """softmax(V'Q v_k), one column a token."""
    scores = task.prompt.transpose() * (Q * task.tokens)
    for k in range(task.K):
        column = [scores[n, k] for n in range(task.N)]
        powers = [arb(1), *((x - column[0]).exp() for x in column[1:])]
        total = sum(powers, arb(0))
        for n, power in enumerate(powers):
            scores[n, k] = power / total
    return scores


def _above(s: arb_mat, slope: arb_mat, n: int, k: int) -> arb:
    """slope_n - sum_i s_i slope_i, which is exactly 0 where there is one token."""
    others = (i for i in range(s.nrows()) if i != n)
    return sum((s[i, k] * (slope[n, k] - slope[i, k]) for i in others), arb(0))


def _turn(s: arb_mat, slope: arb_mat, k: int) -> tuple[arb, arb]:
    """The squared norms of D slope and of D, where D = diag(s) - s s'.

    The second derivative of slope's along logits is diag(a) - s a' - a s' with a = D slope, and has
    at most three times the norm of a.
    """
    rows = range(s.nrows())
    turned = [s[n, k] * _above(s, slope, n, k) for n in rows]
    spread = [s[n, k] * ((n == i) - s[i, k]) for n in rows for i in rows]
    return _square(turned), _square(spread)


def _least_eigenvalue(task: Fixed, attention: list[arb_mat]) -> arb:
    """zeta_0: B_k B_k' has the eigenvalues of (Z'Z + m tau I) C_k C_k'."""
    least = arb("inf")
    for k in range(task.K):
        C = columns_of(attention, k)
        product = task.gram * C * C.transpose()
        for value in acb_mat(product).eig(multiple=True) if task.N > 1 else [product[0, 0]]:
            least = least.min(value.real)
    return least


def columns_of(attention: list[arb_mat], k: int) -> arb_mat:
    """C_k, one column a head."""
    return arb_mat([[s[n, k] for s in attention] for n in range(attention[0].nrows())])


def _square(values: Iterable[arb]) -> arb:
    """The squared norm; a power of a ball around 0 would be no number."""
    return sum((x * x for x in values), arb(0))


def _norm(matrices: list[arb_mat]) -> arb:
    square = _square(x for one in matrices for x in one.entries())
    if square.lower() > 0 or square.is_zero():
        return square.sqrt()
    half = _root(square) / 2
    return half + arb(0, half.upper())


def _root(square: arb) -> arb:
    """A bound on a root, also where the ball of its square reaches below 0."""
    return square.abs_upper().sqrt()


def _middles(values: arb_mat) -> arb_mat:
    return arb_mat(values.nrows(), values.ncols(), [x.mid() for x in values.entries()])


def _radii(values: arb_mat) -> arb_mat:
    return arb_mat(values.nrows(), values.ncols(), [x.rad() for x in values.entries()])


def _widened(values: arb_mat, by: arb) -> arb_mat:
    if by.is_zero():
        return values
    return arb_mat(values.nrows(), values.ncols(), [x + by for x in values.entries()])
