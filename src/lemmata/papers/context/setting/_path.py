"""Gradient descent on a plan, whose gap and motion keep their digits however small they are."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from lemmata.training import AbstractGuardable

from ._model import Attention, System, Weights

SMALL_TURN = 0.1
"""Logits that change by less than this change attention by a difference that is worked out."""

LEAST_GAP = 1e-280
"""Gaps below this part of the first one underflow, and are not judged."""


class PathState(eqx.Module):
    """Weights, attention there, and what is left to learn.

    Attributes:
        weights: Q and w.
        moved: how far Q is from its start; far below the last digit of Q at the theory's rates.
        attention: of Q.
        away: A-hat - A, moved by what each step changes: as a difference of its parts it would
            lose a digit whenever it falls to a tenth.
        gap, slope: L - L*, and its derivative in A-hat.
    """

    weights: Weights
    moved: Float[Array, "*batch d H d"]
    attention: Attention
    away: Float[Array, "*batch N K"]
    gap: Float[Array, "*batch"]
    slope: Float[Array, "*batch N K"]


class Path(eqx.Module):
    """Where gradient descent (10) goes.

    Attributes:
        system: the task.
        start: the first weights.
        rates: eta_Q and eta_w.
    """

    system: System
    start: Weights
    rates: Float[Array, "*batch 2"]

    def first(self) -> PathState:
        """Where it starts."""
        attention = self.system.attention(self.start.Q)
        away = attention.combine(self.start.w) - self.system.target
        moved = jnp.zeros_like(self.start.Q)
        return PathState(self.start, moved, attention, away, *self.system.error_of(away))

    def after(self, state: PathState) -> PathState:
        """A step further."""
        gradient = self.gradient(state)
        by_Q, by_w = -self.rates[0] * gradient.Q, -self.rates[1] * gradient.w
        moved = state.moved + by_Q
        weights = Weights(self.start.Q + moved, state.weights.w + by_w)
        attention = self.system.attention(weights.Q)
        turned = _turned(state.attention, attention, self.system.logits(by_Q))
        changed = attention.combine(by_w) + jnp.sum(turned * state.weights.w[None], axis=1)
        away = self._best(state.away + changed, attention.combine(weights.w) - self.system.target)
        return PathState(weights, moved, attention, away, *self.system.error_of(away))

    def gradient(self, state: PathState) -> Weights:
        """Of the loss, in Q and w."""
        return self.system.pull_back(state.attention, state.weights.w, state.slope)

    def _best(self, carried: Float[Array, "N K"], direct: Float[Array, "N K"]) -> Array:
        """A-hat - A step by step, unless descent has gone further away than it started."""
        return jnp.where(self.system.error_of(direct)[0] > self.first_gap, direct, carried)

    @property
    def first_gap(self) -> Float[Array, ""]:
        """The gap where all w are zero."""
        return self.system.error_of(self.system.target)[0]

    def turned(self, state: PathState) -> Float[Array, "N H K"]:
        """By how much attention has changed since the start."""
        before = self.system.attention(self.start.Q)
        return _turned(before, state.attention, self.system.logits(state.moved))


class PlanDescent(AbstractGuardable[PathState]):
    """Gradient descent (10), as users ask for it.

    Attributes:
        path: where it goes.
        elsewhere: R with R'R = E y y' of prompts out of domain.
    """

    path: Path
    elsewhere: Float[Array, "*batch N N"]

    def init(self) -> PathState:
        return self.path.first()

    def step(self, state: PathState) -> PathState:
        return self.path.after(state)

    def size(self, state: PathState) -> Float[Array, "*batch"]:
        return state.gap

    def measure(self, state: PathState) -> dict[str, Float[Array, "..."]]:
        moved = jnp.sum(state.moved**2) / jnp.sum(self.path.start.Q**2)
        missed = jnp.sum((self.elsewhere @ state.away) ** 2)
        return {
            "gap": state.gap,
            "out_of_domain": missed / self.path.system.count,
            "moved_Q": jnp.sqrt(moved),
        }


def _turned(
    before: Attention, after: Attention, by: Float[Array, "N H K"]
) -> Float[Array, "N H K"]:
    """By how much attention changes where its logits change by ``by``, to the last digit."""
    scores, grown = before.scores, jnp.expm1(jnp.minimum(by, SMALL_TURN))
    mean = jnp.sum(scores * grown, axis=0)
    little = jnp.max(jnp.abs(by), axis=0) < SMALL_TURN
    worked_out = scores * (grown - mean[None]) / (1 + mean)[None]
    return jnp.where(little[None], worked_out, after.scores - scores)
