"""The experiments on whole matrices: gradients and descent with every entry free.

Small enough that all expectations are exact: over subsets by going through them, over encodings by
going through a finite family, over tokens by a quadrature rule or in closed form.
"""

from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence

from ..setting import (
    Average,
    Family,
    FamilyAttention,
    Plan,
    TwoScalars,
    Weights,
    all_near_orthogonal,
    inner_products,
    population,
)
from .descents import orthogonal_dynamics
from .plans import (
    AbstractOfPlan,
    Descending,
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
    def gradients(self) -> dict[Average, Weights]:
        """Of the loss with the expectation over encodings inside and outside.

        By automatic differentiation of the model as defined.
        """
        law = (jnp.asarray(values) for values in (self.x_query, self.X, self.chances))
        inside, outside = _automatic_gradients(self.family, self.weights, *law)
        return {"inside": inside, "outside": outside}


def _matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Matrices]:
    """Random V, W and x_query, encodings random or given; tokens by a Gauss-Hermite rule."""
    seen, unseen = looked_at(plans, lambda plan: plan.T * plan.d <= MOST_ENTRIES)
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
    family, weights = Family.of(E, y), Weights(jnp.asarray(V), jnp.asarray(W))
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


def _automatic_gradients(
    family: Family,
    weights: Weights,
    x_query: Array,
    X: Array,
    chances: Array,
) -> tuple[Weights, Weights]:
    """The gradients of Eqs. (4) and (3), expectation inside and outside, from the definitions."""
    E, e_y, Y = family
    members, subsets, nodes = len(E), len(Y), len(X)
    target = jnp.einsum("ndt,st->snd", X, Y) / jnp.sum(Y[0])
    Z = jnp.concatenate(
        [
            jnp.broadcast_to(X[None], (members, *X.shape)),
            jnp.broadcast_to(E[:, None], (members, nodes, *E.shape[1:])),
        ],
        axis=2,
    )
    query = jnp.broadcast_to(x_query, (members, subsets, len(x_query)))
    z_query = jnp.concatenate([query, e_y], axis=2)

    def losses(at: Weights) -> tuple[Array, Array]:
        logits = jnp.einsum("mnwt,wv,msv->msnt", Z, at.W, z_query)
        S = jax.nn.softmax(logits, axis=3)
        output = jnp.einsum("dw,mnwt,msnt->msnd", at.V, Z, S)

        def mean(error: Array) -> Array:
            return 0.5 * jnp.einsum("n,msnd->", chances, error**2) / (len(error) * subsets)

        return mean(output.mean(axis=0)[None] - target[None]), mean(output - target[None])

    return (
        jax.jit(jax.grad(lambda at: losses(at)[0]))(weights),
        jax.jit(jax.grad(lambda at: losses(at)[1]))(weights),
    )


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
    seen, unseen = looked_at(plans, has_law)
    return Evidence(tuple(_enumerate(plan) for plan in seen), skipped=unseen)


def has_law(plan: Plan) -> bool:
    """Whether its encodings are random, and all of them can be gone through."""
    return plan.kind == "random" and plan.width * plan.T <= MOST_SIGNS + plan.d * plan.T


def _enumerate(plan: Plan) -> Enumeration:
    assert plan.d_e is not None
    E = all_near_orthogonal(plan.d_e, plan.task.T, plan.threshold)
    y = plan.task.all_subsets()
    shape = f"{plan.d_e} x {plan.task.T}"
    name = f"all {len(E)} sign matrices with {shape} entries and inner products within "
    return Enumeration(f"{name}{plan.threshold:g}", plan, E, y, Family.of(E, y))


@dataclass(frozen=True)
class FullDescent(AbstractOfPlan):
    """Gradient descent on whole matrices, beside the recursion for two numbers."""

    rate: float
    weights: tuple[Weights, ...]
    losses: Float[np.ndarray, "steps"]
    alpha: Float[np.ndarray, "steps"]
    C: Float[np.ndarray, "steps"]
    recursion_losses: Float[np.ndarray, "steps"]
    direction: Float[np.ndarray, "width width"]
    E: Float[np.ndarray, "members d_e T"]
    y: Int[np.ndarray, "subsets q"]

    @cached_property
    def chosen(self) -> Float[np.ndarray, "steps"]:
        """The mean attention on a chosen position, from the encodings and the matrices alone."""
        inner = np.stack([inner_products(E, self.y) for E in self.E])
        off = np.ones(inner.shape[1:], dtype=bool)
        np.put_along_axis(off, self.y, False, axis=1)
        gaps, many = np.unique(
            1 - inner[:, off].reshape(-1, off.sum() // len(off)), axis=0, return_counts=True
        )
        d = self.task.d
        C = np.array([float(weights.W[d, d]) for weights in self.weights])
        s = 1 / (self.task.q + np.exp(-C[:, None, None] * gaps).sum(axis=2))
        return (s * many).sum(axis=1) / many.sum()


def full_descent(
    name: str,
    plan: Plan,
    family: Family,
    dynamics: TwoScalars,
    steps: int,
    average: Average,
    x_query: Float[np.ndarray, "d"],
    centred: bool,
) -> FullDescent:
    """Descend on V and W from zero, all entries free, and run the recursion."""
    d, d_e = plan.task.d, family.E.shape[1]
    weights = Weights(jnp.zeros((d, d + d_e)), jnp.zeros((d + d_e, d + d_e)))
    state, rate = dynamics.init(), float(dynamics.rate)
    step, loss = eqx.filter_jit(dynamics.step), eqx.filter_jit(dynamics.loss)
    path, losses, scalars, predicted = [], [], [], []
    for _ in range(steps):
        exact = population(family, weights, jnp.asarray(x_query), average)
        path.append(weights)
        losses.append(float(exact.loss))
        scalars.append((float(state.alpha), float(state.C)))
        predicted.append(float(loss(state)))
        weights = Weights(*(w - rate * g for w, g in zip(weights, exact.gradient, strict=True)))
        state = step(state)
    direction = np.zeros((d + d_e, d + d_e))
    direction[d:, d:] = np.eye(d_e) - (1 / d_e if centred else 0)
    alpha, C = np.array(scalars).T
    return FullDescent(
        name,
        plan,
        rate,
        tuple(path),
        np.array(losses),
        alpha,
        C,
        np.array(predicted),
        direction,
        np.asarray(family.E),
        plan.task.all_subsets(),
        problems=all_problems(plan),
    )


def _one_hot_matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[FullDescent]:
    """Gradient descent on whole matrices, exact population loss, with x_query zero or not."""
    training, draw = experiment.training, np.random.default_rng([experiment.seed, 3])
    seen, unseen = looked_at(plans, is_small)
    cases = []
    for i, plan in enumerate(map(training.of, seen)):
        task, asked = plan.task, i >= len(seen) // 2
        dynamics = jax.tree.map(lambda leaf: leaf[0], orthogonal_dynamics([plan]))
        family = Family.of(np.eye(task.T)[None], task.all_subsets())
        x_query = draw.standard_normal(task.d) if asked else np.zeros(task.d)
        name = plan.name + (", x_query not 0" if asked else "")
        steps = training.steps
        cases.append(full_descent(name, plan, family, dynamics, steps, "outside", x_query, True))
    return Evidence(tuple(cases), skipped=unseen)


def is_small(plan: Plan) -> bool:
    """Whether it has one-hot encodings, and descent on whole matrices is quick."""
    few = plan.task.subset_count <= MOST_SUBSETS and plan.width <= WIDEST
    return plan.kind == "one-hot" and plan.q < plan.T and few


def _stochastic_matrices(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[FullDescent]:
    """Gradient descent on whole matrices over all sign matrices, expectation inside and outside."""
    training, cases = experiment.training, []
    seen, unseen = looked_at(plans, has_law)
    for plan in map(training.of, seen):
        law, x_query = _enumerate(plan), np.linspace(0.5, -1.0, plan.task.d)
        for average in ("inside", "outside"):
            attention = FamilyAttention.of(law.E, law.y, average)
            dynamics = TwoScalars.of(attention, plan.task, plan.inertia, plan.rate)
            name, steps = f"{law.name}, expectation {average}", training.steps
            cases.append(
                full_descent(name, plan, law.family, dynamics, steps, average, x_query, False)
            )
    return Evidence(tuple(cases), skipped=unseen)


MATRICES = Experiment(
    Plans((Size(3, 1, 1), Size(3, 2, 2), Size(4, 2, 1), Size(5, 2, 1))), _matrices
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
)
ONE_HOT_MATRICES = Experiment(
    Plans((Size(8, 2, 3, rate=0.3), Size(9, 3, 2), Size(6, 1, 2, rate=0.3), Size(10, 2, 2))),
    _one_hot_matrices,
    Descending(400),
    free=("steps",),
)
STOCHASTIC_MATRICES = Experiment(
    ENUMERATION.instances, _stochastic_matrices, Descending(30), free=("steps",)
)
