"""When gradient descent on the population loss will be done, by running it in two numbers.

One-hot encodings need no more than the recursion. Random encodings are drawn, a few groups of
them, so that the spread of the groups says how far the answer can be trusted. Given encodings
stand for all that flips and switches of their coordinates make of them, which leaves every inner
product as it is; over those the two directions of Lemma E.7 are exact.
"""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError
from lemmata.training import run

from ..theory import kappa
from ._encodings import inner_products, near_orthogonal
from ._plan import Plan
from ._task import Task
from ._two_scalars import (
    AbstractAttention,
    FamilyAttention,
    OneHotAttention,
    Scalars,
    TabulatedAttention,
    TwoScalars,
    first_times,
)

GROUPS = 4
"""Groups of encodings and subsets, each of which gives an answer of its own."""

MEMBERS = 4
"""Encodings in a group."""

MOST_SUBSETS = 64
"""Subsets looked at under an encoding."""

MOST_INNER = 30_000
"""Inner products under an encoding, more or less."""

ALL_INNER = 400_000
"""Inner products of all subsets, up to which none is left out."""

SPACING = 0.05
"""Of the table over C; cubics in between are right to about 1e-7."""

MOST_STEPS = {"one-hot": 20_000_000, "random": 2_000_000, "given": 2_000_000}
"""Where the search for the time ends, by the kind of encodings: some seconds."""

PATIENCE = 30
"""The search ends earlier if the laws for the time are off by so much."""

LEAST_STEPS = 100_000
"""But not earlier than this."""


def attentions(plan: Plan, task: Task, groups: int = GROUPS) -> list[AbstractAttention]:
    """Attention on a task as a function of C: one, or one a group, of which the first are made."""
    if plan.kind == "one-hot":
        return [OneHotAttention(*jax.device_put((1.0 * task.T, 1.0 * task.q)))]
    if plan.encodings is None:
        return _random(plan, task, groups)
    if task.T > plan.task.T:
        raise InputError(f"{plan.name}: there are no encodings for {task.T} positions")
    E = plan.encodings[:, : task.T]
    if task.subset_count * task.T <= ALL_INNER:
        y = task.all_subsets()
        return [FamilyAttention.from_inner(inner_products(E, y), y)]
    draw = np.random.default_rng(plan.training.seed)
    drawn = [task.draw_subsets(_subsets(task) * MEMBERS, draw) for _ in range(groups)]
    return [FamilyAttention.from_inner(inner_products(E, y), y) for y in drawn]


def _random(plan: Plan, task: Task, groups: int) -> list[AbstractAttention]:
    found = []
    for group in range(groups):
        drawn = draw_encodings(plan, task, group)
        g = np.concatenate([inner_products(E, y) for E, y in drawn])
        found.append(FamilyAttention.from_inner(g, np.concatenate([y for _, y in drawn]), "inside"))
    return found


def draw_encodings(
    plan: Plan, task: Task, group: int
) -> list[tuple[Float[np.ndarray, "d_e T"], Int[np.ndarray, "subsets q"]]]:
    """The random encodings of a group, each with some subsets."""
    assert plan.d_e is not None
    draw, drawn = np.random.default_rng(plan.training.seed), []
    for number in range((group + 1) * MEMBERS):
        y = task.draw_subsets(_subsets(task), draw)
        if number >= group * MEMBERS:
            seed = (plan.training.seed * GROUPS * MEMBERS + number) % 2**32
            drawn.append((near_orthogonal(plan.d_e, task.T, plan.threshold, seed), y))
    return drawn


def _subsets(task: Task) -> int:
    return max(4, min(MOST_SUBSETS, MOST_INNER // task.T))


def two_scalars(plan: Plan, groups: int = GROUPS) -> TwoScalars:
    """The recursion of Lemma D.5 or E.7, as a batch with one problem a group."""
    # Tables of few sizes: a size that is new costs a compilation.
    points = 2 ** math.ceil(math.log2(_highest(plan) / SPACING))
    found = [
        one
        if isinstance(one, OneHotAttention)
        else TabulatedAttention.of(one, points * SPACING, points)
        for one in attentions(plan, plan.task, groups)
    ]
    batch = [TwoScalars.of(one, plan.task, plan.inertia, plan.rate) for one in found]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *batch)


def _highest(plan: Plan) -> float:
    """A C that descent does not exceed before it reaches epsilon, by a wide margin."""
    T, q, d = (float(x) for x in (plan.task.T, plan.task.q, plan.task.d))
    wanted = min(float(kappa(T, q, d, plan.epsilon)), 0.5)
    return max(20.0, 2.5 * math.log((T - q) / (q * wanted)) + 10)


@dataclass(frozen=True)
class Forecast:
    """What the recursion says, one entry a group.

    Attributes:
        reached: the first step with a loss of at most epsilon; -1 if it did not come.
        halved: the first step with half of the attention on the subset; likewise.
        alpha, C, loss: where descent is when it has reached epsilon.
        searched: how many steps were tried.
    """

    reached: Int[np.ndarray, "groups"]
    halved: Int[np.ndarray, "groups"]
    alpha: Float[np.ndarray, "groups"]
    C: Float[np.ndarray, "groups"]
    loss: Float[np.ndarray, "groups"]
    searched: int

    @property
    def done(self) -> bool:
        """Whether all groups reached epsilon."""
        return bool((self.reached >= 0).all())


def plateau(plan: Plan) -> float:
    """Our law for the time until attention leaves the plateau, up to a factor of 1.1 to 1.5."""
    return plan.inertia * plan.task.T / (plan.rate * plan.task.d)


def tail(plan: Plan) -> float:
    """Our law for the time to a small epsilon."""
    return plan.inertia / (4 * plan.rate * plan.epsilon)


def forecast(plan: Plan) -> Forecast:
    """Run the recursion until the loss is at most epsilon."""
    most = min(MOST_STEPS[plan.kind], LEAST_STEPS + PATIENCE * (plateau(plan) + tail(plan)))
    dynamics = two_scalars(plan)
    groups = len(np.asarray(dynamics.rate))
    times = first_times(
        dynamics,
        loss=np.full(groups, plan.epsilon),
        alpha=np.zeros(groups),
        missed=np.full(groups, 0.5),
        most=int(most),
    )
    at = np.maximum(times.loss, 0)
    found = run(dynamics, np.unique(at)) if (times.loss >= 0).all() else None

    def then(name: str) -> Float[np.ndarray, "groups"]:
        if found is None:
            return np.full(groups, np.nan)
        return np.array([found.series[name][i, found.at(int(at[i]))] for i in range(groups)])

    return Forecast(times.loss, times.missed, then("alpha"), then("C"), then("loss"), int(most))


def loss_elsewhere(
    plan: Plan,
    alpha: Float[np.ndarray, "records"],
    C: Float[np.ndarray, "records"],
    *,
    T: int,
    q: int,
) -> Float[np.ndarray, "records"] | None:
    """The population loss at another T or q, at these weights; None without encodings for T."""
    task, states = Task(T, q, plan.task.d), Scalars(*jax.device_put((alpha, C)))
    try:
        found = attentions(plan, task)
    except InputError:
        return None
    problems = [TwoScalars.of(one, task, plan.inertia, plan.rate) for one in found]
    return np.mean([problem.losses(states) for problem in problems], axis=0)
