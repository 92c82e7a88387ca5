"""The training dynamics of Algorithm 1, and of both layers at once."""

import abc

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


class CollocationTraining(AbstractDynamics[TrainingState]):
    """The feed-forward layer on single tokens: logits against the following token."""

    start: Float[Array, "*batch rows vocabulary"]
    following: Int[Array, "*batch tokens"]
    vocabulary: Bool[Array, "*batch tokens"]
    target: Float[Array, "*batch rows vocabulary"]
    rate: Float[Array, "*batch"]
    coordinates: ValueCoordinates = ValueCoordinates()
    probe: AbstractProbe = NoProbe()
    rule: Rule = eqx.field(static=True, default="ngd")

    def init(self) -> TrainingState:
        return self._at(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self._at(descend(self.rule, self.rate, state.weights, state.gradient))

    def measure(self, state: TrainingState) -> Measurements:
        after = descend(self.rule, self.rate, state.weights, state.gradient)
        values = self.coordinates.values
        return common_measurements(state, self.target) | self.probe(
            values(state.weights), values(after)
        )

    def _at(self, weights: Float[Array, "rows vocabulary"]) -> TrainingState:
        values = self.coordinates.values(weights)
        found = collocation_gradient(values, self.following, self.vocabulary)
        return TrainingState(weights, found.log_loss, self.coordinates.pull_back(found.gradient))


class AttentionTraining(AbstractDynamics[TrainingState]):
    """The key-query weights, with the feed-forward layer frozen."""

    start: Float[Array, "..."]
    inputs: Inputs
    margins: Float[Array, "*batch inputs slots vocabulary"]
    target: Float[Array, "..."]
    rate: Float[Array, "*batch"]
    coordinates: CellCoordinates = CellCoordinates()
    probe: AbstractProbe = NoProbe()
    rule: Rule = eqx.field(static=True, default="ngd")

    def init(self) -> TrainingState:
        return self._at(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self._at(descend(self.rule, self.rate, state.weights, state.gradient))

    def measure(self, state: TrainingState) -> Measurements:
        after = descend(self.rule, self.rate, state.weights, state.gradient)
        logits = self.coordinates.logits
        return common_measurements(state, self.target) | self.probe(
            logits(state.weights), logits(after)
        )

    def _at(self, weights: Float[Array, "..."]) -> TrainingState:
        found = attention_gradient(self.inputs, self.margins, self.coordinates.logits(weights))
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
