"""The training dynamics of Algorithm 1, and of both layers at once."""

import abc
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from lemmata.attention import (
    CellCoordinates,
    Inputs,
    ValueCoordinates,
    attention_gradient,
    collocation_gradient,
    cosine_gap,
    joint_gradient,
)
from lemmata.training import (
    AbstractDynamics,
    Measurements,
    Rule,
    TrainingState,
    common_measurements,
    descend,
)


class AbstractProbe(eqx.Module):
    """Further measurements on the logits of a dynamics, chosen by whoever runs it."""

    @abc.abstractmethod
    def __call__(
        self, logits: Float[Array, "..."], next_logits: Float[Array, "..."]
    ) -> Measurements:
        """Measure the logits now and after the next step."""


class NoProbe(AbstractProbe):
    """Measures nothing more."""

    def __call__(
        self, logits: Float[Array, "..."], next_logits: Float[Array, "..."]
    ) -> Measurements:
        return {}


class AbstractDescent(AbstractDynamics[TrainingState]):
    """One layer trained alone, from ``start``, and compared with ``target``."""

    compiles_briefly: ClassVar[bool] = True

    start: Float[Array, "..."]
    target: Float[Array, "..."]
    rate: Float[Array, "*batch"]
    probe: AbstractProbe = eqx.field(default=NoProbe(), kw_only=True)
    rule: Rule = eqx.field(static=True, default="ngd", kw_only=True)

    def init(self) -> TrainingState:
        return self.evaluate(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self.evaluate(descend(self.rule, self.rate, state.weights, state.gradient))

    def measure(self, state: TrainingState) -> Measurements:
        after = descend(self.rule, self.rate, state.weights, state.gradient)
        return common_measurements(state, self.target) | self.probe(
            self.logits(state.weights), self.logits(after)
        )

    @abc.abstractmethod
    def logits(self, weights: Float[Array, "..."]) -> Float[Array, "..."]:
        """What the probe looks at."""

    @abc.abstractmethod
    def evaluate(self, weights: Float[Array, "..."]) -> TrainingState:
        """Loss and gradient at the weights."""


class CollocationTraining(AbstractDescent):
    """The feed-forward layer on single tokens: logits against the following token."""

    following: Int[Array, "*batch tokens"]
    vocabulary: Bool[Array, "*batch tokens"]
    coordinates: ValueCoordinates = ValueCoordinates()

    def logits(self, weights: Float[Array, "rows vocabulary"]) -> Float[Array, "..."]:
        return self.coordinates.values(weights)

    def evaluate(self, weights: Float[Array, "rows vocabulary"]) -> TrainingState:
        found = collocation_gradient(self.logits(weights), self.following, self.vocabulary)
        return TrainingState(weights, found.log_loss, self.coordinates.pull_back(found.gradient))


class AttentionTraining(AbstractDescent):
    """The key-query weights, with the feed-forward layer frozen."""

    inputs: Inputs
    margins: Float[Array, "*batch inputs slots vocabulary"]
    coordinates: CellCoordinates = CellCoordinates()

    def logits(self, weights: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.coordinates.logits(weights)

    def evaluate(self, weights: Float[Array, "..."]) -> TrainingState:
        found = attention_gradient(self.inputs, self.margins, self.logits(weights))
        return TrainingState(weights, found.log_loss, self.coordinates.pull_back(found.gradient))


class JointState(eqx.Module):
    """Both layers, and loss and gradient there."""

    values: Float[Array, "tokens vocabulary"]
    weights: Float[Array, "cells"]
    log_loss: Float[Array, ""]
    value_direction: Float[Array, "tokens vocabulary"]
    weight_direction: Float[Array, "cells"]
    log_gradient_norm: Float[Array, ""]


class JointTraining(AbstractDynamics[JointState]):
    """Both layers at once, one normalized step on the concatenated gradient."""

    compiles_briefly: ClassVar[bool] = True

    start_values: Float[Array, "*batch tokens vocabulary"]
    start_weights: Float[Array, "*batch cells"]
    inputs: Inputs
    target_values: Float[Array, "*batch tokens vocabulary"]
    target_weights: Float[Array, "*batch cells"]
    rate: Float[Array, "*batch"]

    def init(self) -> JointState:
        return self._at(self.start_values, self.start_weights)

    def step(self, state: JointState) -> JointState:
        return self._at(
            state.values - self.rate * state.value_direction,
            state.weights - self.rate * state.weight_direction,
        )

    def measure(self, state: JointState) -> Measurements:
        return {
            "log_loss": state.log_loss,
            "log_gradient_norm": state.log_gradient_norm,
            "norm": jnp.sqrt(jnp.sum(state.weights**2)),
            "value_norm": jnp.sqrt(jnp.sum(state.values**2)),
            "one_minus_correlation": cosine_gap(state.weights, self.target_weights),
            "value_one_minus_correlation": cosine_gap(state.values, self.target_values),
        }

    def _at(
        self, values: Float[Array, "tokens vocabulary"], weights: Float[Array, "cells"]
    ) -> JointState:
        found = joint_gradient(self.inputs, values, weights)
        return JointState(values, weights, *found)
