"""Training that stays where it is once it has blown up."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from lemmata.papers.context.setting._training import (
    AdamState,
    AdamTraining,
    Descent,
    DescentState,
)
from lemmata.training import AbstractDynamics


class WatchedState(NamedTuple):
    """A state, the number of steps, and at which of them training diverged, or -1."""

    inner: DescentState | AdamState
    t: Int[Array, "*batch"]
    diverged: Int[Array, "*batch"]


class Watched(AbstractDynamics[WatchedState]):
    """Training that stays where it is once the gap blows up.

    Attributes:
        inner: gradient descent or Adam.
        elsewhere: E y y' of prompts out of domain.
        limit: the gap from which on it counts as blown up.
        lag: 1 if a state knows the gap before its last step only, as with Adam.
    """

    inner: Descent | AdamTraining
    elsewhere: Float[Array, "*batch N N"]
    limit: Float[Array, "*batch"]
    lag: int = eqx.field(static=True)

    def init(self) -> WatchedState:
        zero = jnp.zeros((), dtype=jnp.int64)
        return WatchedState(self.inner.init(), zero, zero - 1)

    def step(self, state: WatchedState) -> WatchedState:
        after = self.inner.step(state.inner)  # pyright: ignore[reportArgumentType]
        stopped = ~(after.gap <= self.limit) | (state.diverged >= 0)
        kept = jax.tree.map(lambda new, old: jnp.where(stopped, old, new), after, state.inner)
        at = jnp.where(state.diverged >= 0, state.diverged, state.t + 1 - self.lag)
        return WatchedState(kept, state.t + 1, jnp.where(stopped, at, state.diverged))

    def measure(self, state: WatchedState) -> dict[str, Float[Array, "..."]]:
        system, weights = self.inner.system, state.inner.weights
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
            measured["sample_loss"] = self.inner.measure(state.inner)["sample_loss"]
        return measured
