"""Training dynamics: a first state, a step, and the numbers worth keeping.

Each dynamics describes one instance; the run loop adds the batch axis. A state carries the
evaluation at its weights, so that recording a step costs no second gradient.
"""

import abc
from typing import ClassVar, Generic, Literal, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jax import nn
from jaxtyping import Array, Float

from lemmata.attention import LogScaled, cosine_gap

Rule = Literal["ngd", "gd"]
"""Normalized gradient descent moves by exactly the step size; plain descent by the gradient."""

Measurements = dict[str, Float[Array, "..."]]
StateT = TypeVar("StateT")


class AbstractDynamics(eqx.Module, Generic[StateT]):
    """What the run loop needs to know.

    A class whose programs XLA compiles faster without its emitters may say so. It must be seen:
    what uses its own results many times over takes minutes then.
    """

    compiles_briefly: ClassVar[bool] = False

    @abc.abstractmethod
    def init(self) -> StateT:
        """The state before the first step."""

    @abc.abstractmethod
    def step(self, state: StateT) -> StateT:
        """One update."""

    @abc.abstractmethod
    def measure(self, state: StateT) -> Measurements:
        """What to keep of a state."""


class TrainingState(eqx.Module):
    """Weights, and loss and gradient there."""

    weights: Float[Array, "..."]
    log_loss: Float[Array, ""]
    gradient: LogScaled


def descend(
    rule: Rule,
    rate: Float[Array, ""],
    weights: Float[Array, "..."],
    gradient: LogScaled,
    epsilon: float = 0.0,
) -> Float[Array, "..."]:
    """One step of the rule. A zero gradient moves nothing.

    An epsilon is added to the norm that a normalized step divides by; it is not part of the
    algorithm, but of other people's programs, and it starves training once gradients are small.
    """
    if rule == "ngd" and epsilon:
        return weights - rate * nn.sigmoid(gradient.log_norm - jnp.log(epsilon)) * gradient.unit
    if rule == "ngd":
        return weights - rate * gradient.unit
    return weights - rate * jnp.exp(gradient.log_norm) * gradient.unit


def common_measurements(state: TrainingState, target: Float[Array, "..."]) -> Measurements:
    """Loss, norms, and how weights and descent direction agree with the target."""
    norm = jnp.sqrt(jnp.sum(state.weights**2))
    size = jnp.sqrt(jnp.sum(target**2))
    down = -state.gradient.unit
    return {
        "log_loss": state.log_loss,
        "log_gradient_norm": state.gradient.log_norm,
        "norm": norm,
        "one_minus_correlation": cosine_gap(state.weights, target),
        "descent_on_target": jnp.sum(down * target) / size,
        "descent_on_weights": jnp.sum(down * state.weights) / norm,
    }
