"""The experiments on whole matrices: gradients and descent with every entry free.

Small enough that all expectations are exact: over subsets by going through them, over encodings by
going through a finite family, over tokens by a quadrature rule or in closed form.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from lemmata.old_claims import Bench, Cases, Experiment
from lemmata.papers.selection.experiments.descents import one_hot_dynamics
from lemmata.tokens import Problem

if TYPE_CHECKING:
    from jax import Array

    from lemmata.papers.selection.setting import (
        Average,
        Family,
        Task,
        TwoScalars,
        Weights,
    )


@dataclass(frozen=True)
class Matrices:
    """A small instance on which everything can be averaged exactly.

    ``X`` and ``chances`` are nodes and weights of a Gauss-Hermite rule: a discrete law of tokens
    with the Gaussian's first five moments.

    Attributes:
        gradients: of the loss with the expectation over encodings inside and outside, by automatic
            differentiation of the model as defined.
    """

    name: str
    task: "Task"
    family: "Family"
    weights: "Weights"
    x_query: Float[np.ndarray, "d"]
    X: Float[np.ndarray, "nodes d T"]
    chances: Float[np.ndarray, "nodes"]
    y: Int[np.ndarray, "subsets q"]
    gradients: "dict[Average, Weights]"
    problems: tuple[Problem, ...] = ()


SMALL_TASKS = ((3, 1, 1), (3, 2, 2), (4, 2, 1), (5, 2, 1))


def _matrices(bench: Bench) -> Cases[Matrices]:
    if bench.instances is not None:
        return Cases(())
    return Cases(tuple(_random_matrices(bench.seed, size) for size in SMALL_TASKS))


def _random_matrices(seed: int, size: tuple[int, int, int]) -> Matrices:
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import Family, Task, Weights

    T, q, d = size
    draw = np.random.default_rng([seed, *size])
    d_e = T + 1
    E = draw.standard_normal((3, d_e, T))
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    width = d + d_e
    V, W = draw.standard_normal((d, width)), draw.standard_normal((width, width))
    task = Task(T, q, d)
    y = task.all_subsets()
    X, chances = gauss_hermite(d, T)
    family, weights = Family.of(E, y), Weights(jnp.asarray(V), jnp.asarray(W))
    x_query = draw.standard_normal(d)
    law = (jnp.asarray(X), jnp.asarray(chances))
    inside, outside = _automatic_gradients(family, weights, jnp.asarray(x_query), *law)
    return Matrices(
        name=f"T={T} q={q} d={d}, 3 encodings",
        task=task,
        family=family,
        weights=weights,
        x_query=x_query,
        X=X,
        chances=chances,
        y=y,
        gradients={"inside": inside, "outside": outside},
    )


def _automatic_gradients(
    family: "Family",
    weights: "Weights",
    x_query: "Array",
    X: "Array",
    chances: "Array",
) -> "tuple[Weights, Weights]":
    """The gradients of Eqs. (4) and (3), expectation inside and outside, from the definitions."""
    import jax
    import jax.numpy as jnp

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

    def losses(at: "Weights") -> "tuple[Array, Array]":
        logits = jnp.einsum("mnwt,wv,msv->msnt", Z, at.W, z_query)
        S = jax.nn.softmax(logits, axis=3)
        output = jnp.einsum("dw,mnwt,msnt->msnd", at.V, Z, S)

        def mean(error: "Array") -> "Array":
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
class Enumeration:
    """Every sign matrix within a threshold: the law of Definition 2.5, whole."""

    name: str
    task: "Task"
    E: Float[np.ndarray, "members d_e T"]
    y: Int[np.ndarray, "subsets q"]
    family: "Family"
    problems: tuple[Problem, ...] = ()


def _enumeration(bench: Bench) -> Cases[Enumeration]:
    from lemmata.papers.selection.setting import Family, Task, all_near_orthogonal

    if bench.instances is not None:
        return Cases(())
    task = Task(4, 2, 3)
    E = all_near_orthogonal(4, 4, 0.5)
    y = task.all_subsets()
    name = f"all {len(E)} sign matrices with 4 x 4 entries and inner products within 1/2"
    return Cases((Enumeration(name, task, E, y, Family.of(E, y)),))


@dataclass(frozen=True)
class FullDescent:
    """Gradient descent on whole matrices, beside the recursion for two numbers."""

    name: str
    task: "Task"
    rate: float
    weights: "tuple[Weights, ...]"
    losses: Float[np.ndarray, "steps"]
    alpha: Float[np.ndarray, "steps"]
    C: Float[np.ndarray, "steps"]
    recursion_losses: Float[np.ndarray, "steps"]
    direction: Float[np.ndarray, "width width"]
    problems: tuple[Problem, ...] = ()


def full_descent(
    name: str,
    task: "Task",
    family: "Family",
    dynamics: "TwoScalars",
    steps: int,
    average: "Average",
    x_query: Float[np.ndarray, "d"],
    centred: bool,
) -> FullDescent:
    """Descend on V and W from zero, all entries free, and run the recursion."""
    import equinox as eqx
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import Weights, population

    d, d_e = task.d, family.E.shape[1]
    weights = Weights(jnp.zeros((d, d + d_e)), jnp.zeros((d + d_e, d + d_e)))
    state, rate = dynamics.init(), float(dynamics.rate)
    step, loss = eqx.filter_jit(dynamics.step), eqx.filter_jit(dynamics.loss)
    path, losses, scalars, predicted = [], [], [], []
    for _ in range(steps):
        found = population(family, weights, jnp.asarray(x_query), average)
        path.append(weights)
        losses.append(float(found.loss))
        scalars.append((float(state.alpha), float(state.C)))
        predicted.append(float(loss(state)))
        weights = Weights(*(w - rate * g for w, g in zip(weights, found.gradient, strict=True)))
        state = step(state)
    direction = np.zeros((d + d_e, d + d_e))
    direction[d:, d:] = np.eye(d_e) - (1 / d_e if centred else 0)
    alpha, C = np.array(scalars).T
    return FullDescent(
        name, task, rate, tuple(path), np.array(losses), alpha, C, np.array(predicted), direction
    )


FULL_TASKS = ((8, 2, 3), (9, 3, 2), (6, 1, 2), (10, 2, 2))


def _one_hot_matrices(bench: Bench) -> Cases[FullDescent]:
    import jax

    from lemmata.papers.selection.setting import Family, Plan, Task

    if bench.instances is not None:
        return Cases(())
    draw = np.random.default_rng([bench.seed, 3])
    found = []
    for i, (T, q, d) in enumerate(FULL_TASKS):
        task, rate = Task(T, q, d), (0.3, 1 / (20 * d * d))[i % 2]
        plan = Plan(f"T={T} q={q} d={d}", task, rate, 1e-3)
        dynamics = jax.tree.map(lambda leaf: leaf[0], one_hot_dynamics([plan]))
        family = Family.of(np.eye(T)[None], task.all_subsets())
        x_query = np.zeros(d) if i < 2 else draw.standard_normal(d)
        name = plan.name + ("" if i < 2 else ", x_query not 0")
        found.append(
            full_descent(name, task, family, dynamics, 400, "outside", x_query, centred=True)
        )
    return Cases(tuple(found))


def _stochastic_matrices(bench: Bench) -> Cases[FullDescent]:
    import jax.numpy as jnp

    from lemmata.papers.selection.setting import FamilyAttention, TwoScalars

    found = []
    for case in bench.evidence(ENUMERATION):
        for average in ("inside", "outside"):
            attention = FamilyAttention.of(case.E, case.y, average)
            d, q = jnp.asarray(1.0 * case.task.d), jnp.asarray(1.0 * case.task.q)
            d_e, rate = jnp.asarray(1.0 * case.E.shape[1]), jnp.asarray(0.7)
            dynamics = TwoScalars(attention, d, q, d_e, rate)
            x_query = np.array([0.5, -1.0, 0.25])
            name = f"{case.name}, expectation {average}"
            found.append(
                full_descent(
                    name, case.task, case.family, dynamics, 25, average, x_query, centred=False
                )
            )
    return Cases(tuple(found))


MATRICES: Experiment[Cases[Matrices]] = Experiment(
    "matrices",
    "random V, W, encodings and x_query for 5 tiny tasks, tokens averaged by a Gauss-Hermite rule",
    _matrices,
)
ENUMERATION: Experiment[Cases[Enumeration]] = Experiment(
    "enumeration",
    "all 26,880 sign matrices with d_e = T = 4 and inner products within 1/2",
    _enumeration,
)
ONE_HOT_MATRICES: Experiment[Cases[FullDescent]] = Experiment(
    "one-hot-matrices",
    "400 steps of gradient descent on whole matrices for 4 tasks, exact population loss",
    _one_hot_matrices,
)
STOCHASTIC_MATRICES: Experiment[Cases[FullDescent]] = Experiment(
    "stochastic-matrices",
    "25 steps of gradient descent on whole matrices over all 26,880 sign matrices with d_e = T = 4 "
    "and inner products within 1/2, expectation inside and outside",
    _stochastic_matrices,
)
