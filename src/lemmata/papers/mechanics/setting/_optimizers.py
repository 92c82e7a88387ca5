"""Attention alone, trained by any optimizer of optax."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from lemmata.attention import AbstractLoss, CellCoordinates, Inputs, LogScaled
from lemmata.training import AbstractDynamics, Measurements, TrainingState, common_measurements

from ._dynamics import TiedSpace, measure_ties


class OptimizerState(eqx.Module):
    """Weights with loss and gradient there, and what the optimizer remembers."""

    weights: Float[Array, "..."]
    log_loss: Float[Array, "*batch"]
    gradient: LogScaled
    memory: optax.OptState


class OptaxTraining(AbstractDynamics[OptimizerState]):
    """The key-query weights under any loss, by an optimizer of optax, in double precision.

    The optimizer sees the gradient itself, which rounds to 0 where the exact rules of this room
    still see its direction.

    Attributes:
        target: the direction to compare with.
        correction: the finite limit in the space of ties.
        rate: kept beside the run; the optimizer has its own step size.
    """

    start: Float[Array, "..."]
    inputs: Inputs
    loss: AbstractLoss
    target: Float[Array, "..."]
    correction: Float[Array, "..."]
    ties: TiedSpace
    rate: Float[Array, "*batch"]
    coordinates: CellCoordinates
    optimizer: optax.GradientTransformation = eqx.field(static=True)

    def init(self) -> OptimizerState:
        # Optimizers mix their own constants into the weights' type.
        with jax.numpy_dtype_promotion("standard"):
            return self._at(self.start, self.optimizer.init(self.start))

    def step(self, state: OptimizerState) -> OptimizerState:
        return self._at(*self._next(state))

    def measure(self, state: OptimizerState) -> Measurements:
        here = TrainingState(state.weights, state.log_loss, state.gradient)
        following, _ = self._next(state)
        return common_measurements(here, self.target) | measure_ties(
            self.ties, self.correction, state.weights, following
        )

    def _next(self, state: OptimizerState) -> tuple[Float[Array, "..."], optax.OptState]:
        gradient = jnp.exp(state.gradient.log_norm) * state.gradient.unit
        with jax.numpy_dtype_promotion("standard"):
            change, memory = self.optimizer.update(gradient, state.memory, state.weights)
            following = optax.apply_updates(state.weights, change)
        return jnp.asarray(following), memory

    def _at(self, weights: Float[Array, "..."], memory: optax.OptState) -> OptimizerState:
        found = self.loss(self.inputs, self.coordinates.logits(weights))
        gradient = self.coordinates.pull_back(found.gradient)
        return OptimizerState(weights, found.log_loss, gradient, memory)
