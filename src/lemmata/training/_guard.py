"""A guard against divergence: dynamics that stay where they are once they blow up."""

import abc
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ._dynamics import AbstractDynamics, Measurements

StateT = TypeVar("StateT")


class AbstractGuardable(AbstractDynamics[StateT]):
    """Dynamics that can tell how far they have gone."""

    @abc.abstractmethod
    def size(self, state: StateT) -> Float[Array, "*batch"]:
        """A number that stays small unless training diverges; infinite or NaN once it has."""


class GuardedState(NamedTuple):
    """A state, the number of steps, and at which of them training diverged, or -1."""

    inner: Any
    t: Int[Array, "*batch"]
    diverged: Int[Array, "*batch"]


class Guarded(AbstractDynamics[GuardedState]):
    """Training that stays where it is once its size exceeds a limit, and remembers when.

    Attributes:
        inner: what is trained.
        limit: the largest size that is let pass.
        lag: 1 if a state knows its size before its last step only.
    """

    inner: AbstractGuardable[Any]
    limit: Float[Array, "*batch"]
    lag: int = eqx.field(static=True, default=0)

    def init(self) -> GuardedState:
        zero = jnp.zeros((), dtype=jnp.int64)
        return GuardedState(self.inner.init(), zero, zero - 1)

    def step(self, state: GuardedState) -> GuardedState:
        after = self.inner.step(state.inner)
        stopped = ~(self.inner.size(after) <= self.limit) | (state.diverged >= 0)
        kept = jax.tree.map(lambda new, old: jnp.where(stopped, old, new), after, state.inner)
        at = jnp.where(state.diverged >= 0, state.diverged, state.t + 1 - self.lag)
        return GuardedState(kept, state.t + 1, jnp.where(stopped, at, state.diverged))

    def measure(self, state: GuardedState) -> Measurements:
        return self.inner.measure(state.inner)
