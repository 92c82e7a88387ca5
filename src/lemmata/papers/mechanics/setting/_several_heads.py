"""Several heads, whose attention is averaged: an extension that no theorem of the paper covers.

With W_1, ..., W_H an input is attended to with s = (1/H) sum_h softmax(X W_h x̄). On the log loss
with the identity head a sample costs -log of the mean of u_h, the heads' masses on its label. Its
slope in W_h is that of one head alone, -log u_h, times the share u_h / sum u of that head in the
mean: so each head is trained as if the samples occurred as often as it answers for them.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import nn
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from lemmata.attention import Inputs, LogLoss, LogScaled, cosine_gap, log_softplus, split_mass
from lemmata.training import Measurements, Rule, TrainingState, common_measurements, descend

from ._dynamics import TiedDynamics, measure_ties

Heads = Float[Array, "heads dimension dimension"]


class HeadsTraining(TiedDynamics[TrainingState]):
    """Gradient descent on the key-query weights of all heads, on the log loss."""

    start: Float[Array, "*batch heads dimension dimension"]
    rule: Rule = eqx.field(static=True, default="ngd")

    def init(self) -> TrainingState:
        return self.evaluate(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self.evaluate(self._next(state))

    def evaluate(self, weights: Heads) -> TrainingState:
        """The loss, and the gradient in the weights of all heads."""
        logits = jax.vmap(self.coordinates.logits)(weights)
        odds = jax.vmap(self._odds)(logits)
        log_right = -nn.softplus(odds)
        right = logsumexp(log_right, axis=0, keepdims=True)
        total = logsumexp(-nn.softplus(-odds), axis=0) - right[0]
        shares = log_right - right
        slopes = [
            self.coordinates.pull_back(self.loss(self._weighed(share), head).gradient)
            for share, head in zip(shares, logits, strict=True)
        ]
        log_loss = logsumexp(self.inputs.log_frequency + log_softplus(total))
        return TrainingState(weights, log_loss, side_by_side(slopes))

    def measure(self, state: TrainingState) -> Measurements:
        target = jnp.broadcast_to(self.target, state.weights.shape)
        ties = jax.vmap(lambda now, then: measure_ties(self.ties, self.correction, now, then))
        over_heads = ties(state.weights, self._next(state))
        each = jax.vmap(lambda head: cosine_gap(head, self.target))(state.weights)
        return (
            common_measurements(state, target)
            | {name: jnp.sqrt(jnp.mean(found**2)) for name, found in over_heads.items()}
            | {"worst_head": jnp.max(each)}
        )

    def _next(self, state: TrainingState) -> Heads:
        return descend(self.rule, self.rate, state.weights, state.gradient)

    def _odds(self, logits: Float[Array, "cells"]) -> Float[Array, "inputs"]:
        """log((1 - u) / u) of every sample, which the label's mass u = 1 does not round off."""
        assert isinstance(self.loss, LogLoss)
        right, wrong = split_mass(self.inputs, logits, self.loss.label)
        return wrong - jnp.where(jnp.isfinite(right), right, 0.0)

    def _weighed(self, log_share: Float[Array, "inputs"]) -> Inputs:
        """The samples, each as often as a head answers for it."""
        heard = self.inputs.log_frequency + log_share
        return eqx.tree_at(lambda inputs: inputs.log_frequency, self.inputs, heard)


def side_by_side(slopes: list[LogScaled]) -> LogScaled:
    """The gradients of several heads as one, exact in direction however small they are."""
    norms = jnp.stack([slope.log_norm for slope in slopes])
    top = jnp.where(jnp.isfinite(jnp.max(norms)), jnp.max(norms), 0.0)
    units = jnp.stack([slope.unit for slope in slopes])
    return LogScaled.from_parts(units * jnp.exp(norms - top)[:, None, None], top)
