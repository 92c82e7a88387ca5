"""Gradient descent or Adam, with what is recorded of a user's plan."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from lemmata.training import AbstractGuardable

from ._descent import Descent, DescentState
from ._training import AdamState, AdamTraining


class PlanDynamics(AbstractGuardable[DescentState | AdamState]):
    """Training of a plan, whose size is the gap.

    Attributes:
        inner: gradient descent or Adam.
        elsewhere: E y y' of prompts out of domain.
    """

    inner: Descent | AdamTraining
    elsewhere: Float[Array, "*batch N N"]

    def init(self) -> DescentState | AdamState:
        return self.inner.init()

    def step(self, state: DescentState | AdamState) -> DescentState | AdamState:
        return self.inner.step(state)  # pyright: ignore[reportArgumentType]

    def size(self, state: DescentState | AdamState) -> Float[Array, "*batch"]:
        return state.gap

    def measure(self, state: DescentState | AdamState) -> dict[str, Float[Array, "..."]]:
        system, weights = self.inner.system, state.weights
        combined = system.attention(weights.Q).combine(weights.w)
        gap, _ = system.error(combined)
        away = combined - system.target
        first = self.inner.start.Q
        moved = jnp.sum((weights.Q - first) ** 2) / jnp.sum(first**2)
        measured = {
            "gap": gap,
            "out_of_domain": jnp.sum(away * (self.elsewhere @ away)) / system.count,
            "moved_Q": jnp.sqrt(moved),
        }
        if isinstance(self.inner, AdamTraining) and self.inner.sample is not None:
            sampled = self.inner.measure(state)  # pyright: ignore[reportArgumentType]
            measured["sample_loss"] = sampled["sample_loss"]
        return measured
