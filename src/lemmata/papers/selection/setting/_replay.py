"""Gradient descent on the population loss again, in ball arithmetic, subset by subset.

Training knows moments of the attention and their derivatives; here the loss is that of Eqs. (3) and
(4), d/2 E|Y/q - alpha S|^2, and its derivatives are taken position by position. Inner products of
given encodings are exact fractions. Every number is a ball that contains the true value, so that
what it says of the sign of a difference is proved.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from flint import arb, fmpq, fmpq_mat
from jaxtyping import Float, Int

from lemmata.settings import Balls

from ._encodings import orthogonal
from ._family import MOST_SUBSETS
from ._forecast import draw_encodings
from ._isometry import measure_isometry
from ._plan import Plan
from ._population import Average


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
    plan: Plan,
    rate: float,
    limit: float,
    steps: Int[np.ndarray, "records"],
    average: Average,
) -> Balls | None:
    """The columns at the recorded steps; training stays where it is once |alpha| exceeds the limit.

    Beside what training records these are what follows one step later, the numbers of the plan,
    and the first steps with L <= epsilon, alpha >= 1 - kappa/10 and u <= 1/2, as far as they come.
    None where there are too many subsets.
    """
    subsets = ball_subsets(plan)
    if subsets is None:
        return None
    evaluate = _inside if average == "inside" else _outside
    d, inertia, eta = arb(plan.task.d), arb(plan.inertia), arb(rate)
    numbers = _numbers(plan, eta)
    times = {
        "reached": First(lambda now: now.slope.loss, "<=", numbers["epsilon"]),
        "grown": First(lambda now: now.alpha, ">=", 1 - numbers["kappa"] / 10),
        "halved": First(lambda now: now.slope.missed, "<=", arb(1) / 2),
    }
    records, phases, stopped = [], [], False
    wanted, last = {int(step) for step in steps}, int(steps[-1])
    now = State(arb(0), arb(0), evaluate(plan, subsets, arb(0), arb(0)))
    for step in range(last + 1):
        for time in times.values():
            time.look(step, now)
        after, alpha = now, now.alpha - eta * now.slope.alpha / d
        stopped = stopped or bool(abs(alpha) > limit)
        if not stopped:
            # Not known to be on either side of the limit: then nothing is known from here on.
            alpha = alpha if abs(alpha) <= limit else arb("nan")
            C = now.C - eta * now.slope.C / inertia
            after = State(alpha, C, evaluate(plan, subsets, alpha, C))
        if step in wanted:
            records.append((*now.row, *after.row[1:]))
            phases.append(times["grown"].phase)
        now = after
    names = (*RECORDED, *(f"next_{name}" for name in RECORDED[1:]))
    columns = dict(zip(names, np.array(records, dtype=object).T, strict=True))
    single = numbers | {name: time.step for name, time in times.items()}
    columns |= {name: np.array([value], dtype=object) for name, value in single.items()}
    return {**columns, "phase": np.array(phases, dtype=object)}


RECORDED = ("loss", "alpha", "C", "missed")


@dataclass(frozen=True)
class State:
    """Where descent is: alpha, C, and what they give."""

    alpha: arb
    C: arb
    slope: Slope

    @property
    def row(self) -> tuple[arb, ...]:
        """What is recorded."""
        return self.slope.loss, self.alpha, self.C, self.slope.missed


class First:
    """The first step at which a number is certainly on one side of a bound.

    ``step`` is no number as long as it did not happen, and for ever if that cannot be told.
    """

    def __init__(self, value: Callable[[State], arb], side: str, bound: arb) -> None:
        self._value, self._sign, self._bound = value, 1 if side == ">=" else -1, bound
        self.step, self._open = arb("nan"), True

    def look(self, step: int, now: State) -> None:
        """Note the step if it is the first."""
        if not self._open:
            return
        above = self._sign * (self._value(now) - self._bound)
        self._open = bool(above < 0)
        if above >= 0:
            self.step = arb(step)

    @property
    def phase(self) -> arb:
        """1 before it, 2 from then on."""
        return arb(1) if self._open else self.step * 0 + 2


def _numbers(plan: Plan, eta: arb) -> dict[str, arb]:
    """T, q, d and the rest of a plan."""
    T, q, d = (arb(size) for size in (plan.task.T, plan.task.q, plan.task.d))
    epsilon = arb(plan.epsilon)
    return {
        "T": T,
        "q": q,
        "d": d,
        "inertia": arb(plan.inertia),
        "rate": eta,
        "epsilon": epsilon,
        "kappa": (q * (T - q) * epsilon / (d * T)).sqrt(),
        "delta": ball_delta(plan),
    }


def ball_delta(plan: Plan) -> arb:
    """delta, measured in floating point, with an error; one-hot encodings: 0."""
    if plan.encodings is None:
        return arb(0) if plan.d_e is None else arb("nan")
    found = measure_isometry(plan.encodings, plan.task.q)
    return arb(found.delta, MEASURED * (1 + found.delta)) if found.exact else arb("nan")


MEASURED = 1e-11
"""The error of eigenvalues of small matrices of inner products, which is some hundred roundings."""


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


def ball_subsets(plan: Plan) -> list[Subset] | None:
    """All subsets, those that look alike together; as many as training has drawn of random ones."""
    task = plan.task
    if plan.kind == "one-hot" or (plan.encodings is not None and orthogonal(plan.encodings)):
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
