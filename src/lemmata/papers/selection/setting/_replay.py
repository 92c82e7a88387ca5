"""Gradient descent on the population loss again, in ball arithmetic, subset by subset.

Training knows moments of the attention and their derivatives; here the loss is that of Eqs. (3) and
(4), d/2 E|Y/q - alpha S|^2, and its derivatives are taken position by position. Inner products of
given encodings are exact fractions. Every number is a ball that contains the true value, so that
what it says of the sign of a difference is proved.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from flint import arb, fmpq, fmpq_mat
from jaxtyping import Float, Int

from lemmata.settings import Balls

from ._family import MOST_SUBSETS
from ._forecast import draw_encodings
from ._plan import Plan

COLUMNS = ("loss", "alpha", "C", "missed")


@dataclass(frozen=True)
class Subset:
    """A kind of subset: how its positions look, and how likely it is.

    Attributes:
        others: <e_i, e_y> of positions outside, and how many have it; inside it is 1.
        chance: the share of such subsets.
    """

    others: tuple[tuple[arb, int], ...]
    chance: arb


@dataclass(frozen=True)
class Attended:
    """Attention on each chosen position, on others, and the mean of <e_i, e_y> under it."""

    chosen: arb
    others: list[tuple[arb, arb, int]]
    mean: arb

    @property
    def missed(self) -> arb:
        return sum((weight * many for _, weight, many in self.others), arb(0))


@dataclass(frozen=True)
class Slope:
    """The loss and its derivatives in alpha and C, and the attention off the subset."""

    loss: arb
    alpha: arb
    C: arb
    missed: arb


def replay(
    plan: Plan, rate: float, limit: float, steps: Int[np.ndarray, "records"]
) -> Balls | None:
    """The columns at the recorded steps; training stays where it is once |alpha| exceeds the limit.

    None where there are too many subsets.
    """
    subsets = _subsets(plan)
    if subsets is None:
        return None
    evaluate = _inside if plan.kind == "random" else _outside
    d, inertia, eta = arb(plan.task.d), arb(plan.inertia), arb(rate)
    alpha, C, records, stopped = arb(0), arb(0), [], False
    wanted = {int(step) for step in steps}
    at = evaluate(plan, subsets, alpha, C)
    for step in range(int(steps[-1]) + 1):
        if step in wanted:
            records.append((at.loss, alpha, C, at.missed))
        if stopped:
            continue
        after = alpha - eta * at.alpha / d
        if abs(after) > limit:
            stopped = True
            continue
        # Not known to be on either side of the limit: then nothing is known from here on.
        alpha = after if abs(after) <= limit else arb("nan")
        C = C - eta * at.C / inertia
        at = evaluate(plan, subsets, alpha, C)
    columns = dict(zip(COLUMNS, np.array(records, dtype=object).T, strict=True))
    return {**columns, "rate": np.array([eta], dtype=object)}


def _outside(plan: Plan, subsets: Sequence[Subset], alpha: arb, C: arb) -> Slope:
    """d/2 E|Y/q - alpha S|^2, where E is over subsets."""
    q, d = plan.task.q, plan.task.d
    loss, of_alpha, of_C, missed = arb(0), arb(0), arb(0), arb(0)
    for subset in subsets:
        S = _attend(subset, q, C)
        short = arb(1) / q - alpha * S.chosen
        squares, along, turn = (
            q * short**2,
            q * short * S.chosen,
            q * short * S.chosen * (1 - S.mean),
        )
        for inner, weight, many in S.others:
            squares += many * (alpha * weight) ** 2
            along -= many * alpha * weight**2
            turn -= many * alpha * weight**2 * (inner - S.mean)
        loss += subset.chance * squares * d / 2
        of_alpha -= subset.chance * along * d
        of_C -= subset.chance * turn * d * alpha
        missed += subset.chance * S.missed
    return Slope(loss, of_alpha, of_C, missed)


def _inside(plan: Plan, subsets: Sequence[Subset], alpha: arb, C: arb) -> Slope:
    """d/2 |Y/q - alpha E S|^2, where E S is the same on all chosen positions and on all others."""
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    missed, turn = arb(0), arb(0)
    for subset in subsets:
        S = _attend(subset, q, C)
        missed += subset.chance * S.missed
        turn += subset.chance * sum(
            (many * weight * (inner - S.mean) for inner, weight, many in S.others), arb(0)
        )
    short = 1 - alpha * (1 - missed)
    loss = (short**2 / q + (alpha * missed) ** 2 / (T - q)) * d / 2
    of_alpha = (alpha * missed**2 / (T - q) - short * (1 - missed) / q) * d
    of_missed = (short * alpha / q + alpha**2 * missed / (T - q)) * d
    return Slope(loss, of_alpha, of_missed * turn, missed)


def _attend(subset: Subset, q: int, C: arb) -> Attended:
    """softmax(C <e_i, e_y>), relative to the chosen positions."""
    weights = [(inner, (C * (inner - 1)).exp(), many) for inner, many in subset.others]
    total = q + sum((weight * many for _, weight, many in weights), arb(0))
    others = [(inner, weight / total, many) for inner, weight, many in weights]
    mean = q / total + sum((inner * weight * many for inner, weight, many in others), arb(0))
    return Attended(1 / total, others, mean)


def _subsets(plan: Plan) -> list[Subset] | None:
    """All subsets, those that look alike together; as many as training has drawn of random ones."""
    task = plan.task
    if plan.kind == "one-hot":
        return [Subset(((arb(0), task.T - task.q),), arb(1))]
    if plan.encodings is not None:
        if task.subset_count > MOST_SUBSETS:
            return None
        every = [(plan.encodings, list(combinations(range(task.T), task.q)))]
    else:
        every = [(E, y.tolist()) for E, y in draw_encodings(plan, task, 0)]
    seen: Counter[tuple[tuple[fmpq, int], ...]] = Counter()
    for E, subsets in every:
        gram = _gram(E)
        seen.update(_others(gram, subset) for subset in subsets)
    total = sum(seen.values())
    return [
        Subset(tuple((arb(inner), many) for inner, many in row), arb(times) / total)
        for row, times in seen.items()
    ]


def _gram(E: Float[np.ndarray, "d_e T"]) -> fmpq_mat:
    exact = fmpq_mat([[fmpq(*float(x).as_integer_ratio()) for x in row] for row in E])
    return exact.transpose() * exact


def _others(gram: fmpq_mat, subset: Sequence[int]) -> tuple[tuple[fmpq, int], ...]:
    """<e_i, e_y> outside the subset and how often each occurs, exactly."""
    block = fmpq_mat([[gram[i, j] for j in subset] for i in subset])
    weights = block.solve(fmpq_mat([[1] for _ in subset]))
    inner: Counter[fmpq] = Counter()
    for i in range(gram.nrows()):
        if i not in subset:
            inner[sum((gram[i, j] * weights[k, 0] for k, j in enumerate(subset)), fmpq(0))] += 1
    return tuple(sorted(inner.items()))
