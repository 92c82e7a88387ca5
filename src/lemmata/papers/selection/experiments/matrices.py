"""The experiments on whole matrices: gradients and descent with every entry free.

Small enough that all expectations are exact: over subsets by going through them, over encodings by
going through a finite family, over tokens by a quadrature rule or in closed form.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Complex, Float, Int

from lemmata._errors import InputError
from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import (
    Average,
    Family,
    Plan,
    Weights,
    all_near_orthogonal,
    inner_products,
    population,
)
from .plans import (
    AbstractOfPlan,
    Drawn,
    Plans,
    Size,
    Trial,
    all_problems,
    looked_at,
)

MOST_ENTRIES = 6
"""Of a token matrix, whose entries take three values each."""

MOST_SIGNS = 16
"""Of a sign matrix, all of which are gone through."""

WIDEST, MOST_SUBSETS = 16, 300
"""Of matrices with which descent is run in full."""

HIGHEST, LARGEST = 1e6, 1e60
"""Of C, beyond which attention is a matter of rounding, and of alpha, whose square must fit."""

WAYS, TINY = 4, 1e-30
"""Directions in which slopes are measured, and the length of an imaginary step."""


@dataclass(frozen=True)
class Matrices(AbstractOfPlan):
    """A small instance on which everything can be averaged exactly.

    ``X`` and ``chances`` are nodes and weights of a Gauss-Hermite rule: a discrete law of tokens
    with the Gaussian's first five moments.
    """

    family: Family
    weights: Weights
    x_query: Float[np.ndarray, "d"]
    X: Float[np.ndarray, "nodes d T"]
    chances: Float[np.ndarray, "nodes"]
    y: Int[np.ndarray, "subsets q"]

    @cached_property
    def ways(self) -> Float[np.ndarray, "ways entries"]:
        """Random directions in V and W, flattened one after the other."""
        V, W = self.weights
        return np.random.default_rng(self.task.T).standard_normal((WAYS, V.size + W.size))

    @cached_property
    def slopes(self) -> dict[Average, Float[np.ndarray, "ways"]]:
        """Of the loss along these, with the expectation over encodings inside and outside.

        By complex steps through the model as defined, whose error is that of rounding alone.
        """
        entries = np.concatenate([np.ravel(matrix) for matrix in self.weights])
        found = [_literal_losses(self, entries + 1j * TINY * way) for way in self.ways]
        inside, outside = np.imag(np.array(found)).T / TINY
        return {"inside": inside, "outside": outside}


def _matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Matrices]:
    """Random V, W and x_query, encodings random or given; tokens by a Gauss-Hermite rule."""
    seen, unseen = looked_at(plans, experiment.fits)
    cases = tuple(_random_matrices(plan, experiment.seed) for plan in seen)
    return Evidence(cases, skipped=unseen)


def _random_matrices(plan: Plan, seed: int) -> Matrices:
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    draw = np.random.default_rng([seed, T, q, d])
    d_e = T + 1 if plan.encodings is None else len(plan.encodings)
    E = draw.standard_normal((3, d_e, T))
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    if plan.encodings is not None:  # of length 1 on average, so that logits are of order 1
        E[0] = plan.encodings / np.sqrt(np.mean(np.sum(plan.encodings**2, axis=0)))
    width = d + d_e
    V, W = draw.standard_normal((d, width)), draw.standard_normal((width, width))
    y = plan.task.all_subsets()
    X, chances = gauss_hermite(d, T)
    family, weights = Family.of(E, y), Weights(V, W)
    return Matrices(
        name=f"{plan.name}, 3 encodings",
        plan=plan,
        family=family,
        weights=weights,
        x_query=draw.standard_normal(d),
        X=X,
        chances=chances,
        y=y,
    )


def _literal_losses(case: Matrices, entries: Complex[np.ndarray, "entries"]) -> list[complex]:
    """The losses (4) and (3), expectation inside and outside, from the definitions."""
    E, e_y, Y = case.family
    d, width = case.weights.V.shape
    V, W = entries[: d * width].reshape(d, width), entries[d * width :].reshape(width, width)
    nodes, subsets = len(case.X), len(Y)
    target = np.einsum("ndt,st->snd", case.X, Y) / case.task.q
    outputs = []
    for e, by_subset in zip(E, e_y, strict=True):
        Z = np.concatenate([case.X, np.broadcast_to(e, (nodes, *e.shape))], axis=1)
        query = np.concatenate([np.broadcast_to(case.x_query, (subsets, d)), by_subset], axis=1)
        logits = (query @ W.T)[None] @ Z
        weights = np.exp(logits - np.real(logits).max(axis=2, keepdims=True))
        S = weights / weights.sum(axis=2, keepdims=True)
        outputs.append(np.einsum("ndt,nst->snd", V @ Z, S))
    errors = np.array(outputs) - target
    mean = errors.mean(axis=0, keepdims=True)
    return [
        0.5 * np.einsum("n,msnd->", case.chances, e**2) / (len(e) * subsets) for e in (mean, errors)
    ]


def gauss_hermite(
    d: int, T: int
) -> tuple[Float[np.ndarray, "nodes d T"], Float[np.ndarray, "nodes"]]:
    """Three nodes an entry of X: exact for polynomials of degree five in each."""
    points, chances = np.array([-np.sqrt(3), 0, np.sqrt(3)]), np.array([1, 4, 1]) / 6
    grid = np.stack(np.meshgrid(*[np.arange(3)] * (d * T), indexing="ij"), -1).reshape(-1, d * T)
    return points[grid].reshape(-1, d, T), chances[grid].prod(axis=1)


@dataclass(frozen=True)
class Enumeration(AbstractOfPlan):
    """Every sign matrix within a threshold: the law of Definition 2.5, whole."""

    E: Float[np.ndarray, "members d_e T"]
    y: Int[np.ndarray, "subsets q"]
    family: Family


def _enumeration(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Enumeration]:
    """All sign matrices within the threshold."""
    seen, unseen = looked_at(plans, experiment.fits)
    return Evidence(tuple(_enumerate(plan) for plan in seen), skipped=unseen)


def has_law(plan: Plan) -> bool:
    """Whether its encodings are random, and there are some, all of which can be gone through."""
    if plan.kind != "random" or plan.width * plan.T > MOST_SIGNS + plan.d * plan.T:
        return False
    return len(all_near_orthogonal(plan.width - plan.d, plan.T, plan.threshold)) > 0


def _enumerate(plan: Plan) -> Enumeration:
    assert plan.d_e is not None
    E = all_near_orthogonal(plan.d_e, plan.task.T, plan.threshold)
    if not len(E):
        raise InputError(f"{plan.name}: no sign matrix keeps to the threshold {plan.threshold:g}")
    y = plan.task.all_subsets()
    shape = f"{plan.d_e} x {plan.task.T}"
    name = f"all {len(E)} sign matrices with {shape} entries and inner products within "
    return Enumeration(f"{name}{plan.threshold:g}", plan, E, y, Family.of(E, y))


@dataclass(frozen=True)
class FullDescent(AbstractOfPlan):
    """Steps of gradient descent on whole matrices, every entry free.

    Each starts where the one before ended, rid of what rounding has put off the two directions:
    so it stays a matter of one step, and does not grow where descent diverges. If no step leaves
    the directions, descent never does.

    Attributes:
        rate: the step size.
        average: where the expectation over encodings stands.
        queried: whether x_query is not zero.
        alpha, C: V and W before each step, along their directions.
        losses: before each step.
        after: V and W after each step.
        direction: that of W.
        E, y: the encodings and the subsets.
    """

    rate: float
    average: Average
    queried: bool
    alpha: Float[np.ndarray, "steps"]
    C: Float[np.ndarray, "steps"]
    losses: Float[np.ndarray, "steps"]
    after: tuple[Weights, ...]
    direction: Float[np.ndarray, "width width"]
    E: Float[np.ndarray, "members d_e T"]
    y: Int[np.ndarray, "subsets q"]

    @cached_property
    def next_alpha(self) -> Float[np.ndarray, "steps"]:
        """alpha after each step: the first entry of V."""
        return np.array([float(weights.V[0, 0]) for weights in self.after])

    @cached_property
    def next_C(self) -> Float[np.ndarray, "steps"]:
        """C likewise: the first entry of the position block, over that of the direction."""
        d = self.task.d
        first = np.array([float(weights.W[d, d]) for weights in self.after])
        return first / self.direction[d, d]

    @cached_property
    def chosen(self) -> Float[np.ndarray, "steps"]:
        """The mean attention on a chosen position, from the encodings and C alone."""
        inner = np.stack([inner_products(E, self.y) for E in self.E])
        off = np.ones(inner.shape[1:], dtype=bool)
        np.put_along_axis(off, self.y, False, axis=1)
        gaps, many = np.unique(
            1 - inner[:, off].reshape(-1, off.sum() // len(off)), axis=0, return_counts=True
        )
        s = 1 / (self.task.q + np.exp(-self.C[:, None, None] * gaps).sum(axis=2))
        return (s * many).sum(axis=1) / many.sum()

    @property
    def sizes(self) -> tuple[Float[np.ndarray, "steps"], Float[np.ndarray, "steps"]]:
        """What the rounding of a step is relative to, of V and of W: terms of sums that cancel.

        Logits are as wrong as C is large.
        """
        alpha, logits = np.abs(self.alpha), 1 + np.abs(self.C)
        pull = self.rate * self.task.d * alpha * (1 + alpha)
        return (alpha + self.rate * (1 + alpha)) * logits, (np.abs(self.C) + pull) * logits


def full_descent(
    name: str,
    plan: Plan,
    family: Family,
    steps: int,
    average: Average,
    x_query: Float[np.ndarray, "d"],
    centred: bool,
) -> FullDescent:
    """Descend on V and W from zero, all entries free, as long as rounding leaves digits."""
    d, d_e = plan.task.d, family.E.shape[1]
    along, direction = np.eye(d, d + d_e), np.zeros((d + d_e, d + d_e))
    direction[d:, d:] = np.eye(d_e) - (1 / d_e if centred else 0)
    alpha, C, states, losses, path = 0.0, 0.0, [], [], []
    while len(path) < steps and abs(C) <= HIGHEST and abs(alpha) <= LARGEST:
        weights = Weights(alpha * along, C * direction)
        exact = population(family, weights, x_query, average)
        after = Weights(*(w - plan.rate * g for w, g in zip(weights, exact.gradient, strict=True)))
        states.append((alpha, C))
        losses.append(exact.loss)
        path.append(after)
        alpha, C = float(after.V[0, 0]), float(after.W[d, d]) / direction[d, d]
    return FullDescent(
        name,
        plan,
        plan.rate,
        average,
        bool(x_query.any()),
        alpha=np.array([state[0] for state in states]),
        C=np.array([state[1] for state in states]),
        losses=np.array(losses),
        after=tuple(path),
        direction=direction,
        E=family.E,
        y=plan.task.all_subsets(),
        problems=all_problems(plan),
    )


def _one_hot_matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[FullDescent]:
    """Gradient descent on whole matrices, exact population loss, with x_query zero and not."""
    training, cases = experiment.training, []
    seen, unseen = looked_at(plans, experiment.fits)
    for plan in map(training.of, seen):
        task = plan.task
        family = Family.of(np.eye(task.T)[None], task.all_subsets())
        query = np.random.default_rng([experiment.seed, 3]).standard_normal(task.d)
        for x_query, suffix in ((np.zeros(task.d), ""), (query, ", x_query not 0")):
            name, steps = plan.name + suffix, training.steps
            cases.append(full_descent(name, plan, family, steps, "outside", x_query, True))
    return Evidence(tuple(cases), skipped=unseen)


def is_small(plan: Plan) -> bool:
    """Whether it has one-hot encodings, and descent on whole matrices is quick."""
    few = plan.task.subset_count <= MOST_SUBSETS and plan.width <= WIDEST
    return plan.kind == "one-hot" and plan.q < plan.T and few


def _stochastic_matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[FullDescent]:
    """Gradient descent on whole matrices over all sign matrices, expectation inside and outside."""
    training, cases = experiment.training, []
    seen, unseen = looked_at(plans, experiment.fits)
    for plan in map(training.of, seen):
        law, x_query = _enumerate(plan), np.linspace(0.5, -1.0, plan.task.d)
        for average in ("inside", "outside"):
            name, steps = f"{law.name}, expectation {average}", training.steps
            cases.append(full_descent(name, plan, law.family, steps, average, x_query, False))
    return Evidence(tuple(cases), skipped=unseen)


@dataclass(frozen=True)
class Whole:
    """How descent on whole matrices is run.

    Attributes:
        steps: how many.
        rate: a step size in the place of each plan's own.
    """

    steps: int
    rate: float | None = None

    @property
    def says(self) -> str:
        """In words."""
        return f"{self.steps} steps on whole matrices"

    def of(self, plan: Plan) -> Plan:
        """The plan with the step size that is used."""
        return plan if self.rate is None else replace(plan, rate=self.rate)


MATRICES = Experiment(
    Plans((Size(3, 1, 1), Size(3, 2, 2), Size(4, 2, 1), Size(5, 2, 1))),
    _matrices,
    fits=lambda plan: plan.T * plan.d <= MOST_ENTRIES,
)
ENUMERATION = Experiment(
    Plans(
        (
            Size(4, 2, 3, 4, 0.7, 0.5),
            Size(3, 1, 2, 4, 1.8, 0.5),
            Size(3, 2, 1, 4, 3.6, 0.5),
        )
    ),
    _enumeration,
    fits=has_law,
)
ONE_HOT_MATRICES = Experiment(
    Plans((Size(8, 2, 3, rate=0.3), Size(9, 3, 2), Size(6, 1, 2, rate=0.3), Size(10, 2, 2))),
    _one_hot_matrices,
    Whole(200),
    fits=is_small,
)
STOCHASTIC_MATRICES = Experiment(
    ENUMERATION.instances, _stochastic_matrices, Whole(12), fits=has_law
)
