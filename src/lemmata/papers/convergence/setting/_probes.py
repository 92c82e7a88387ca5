"""What the paper's statements need to know of a state, measured inside the compiled loop."""

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float, Int

from lemmata.attention import Inputs, split_mass

from ._dynamics import AbstractProbe


class ValueProbe(AbstractProbe):
    """Stage 1: the margins of n(x) over the other tokens, and how far those are apart."""

    following: Int[Array, "*batch tokens"]
    vocabulary: Bool[Array, "*batch tokens"]

    def __call__(
        self, logits: Float[Array, "tokens vocabulary"], next_logits: Float[Array, "..."]
    ) -> dict[str, Array]:
        tokens = jnp.arange(len(self.following))
        wrong = self.vocabulary[:, None] & self.vocabulary[None, :]
        wrong &= tokens[None, :] != self.following[:, None]
        margins = logits[tokens, self.following][:, None] - logits
        highest = jnp.max(jnp.where(wrong, margins, -jnp.inf), axis=1)
        lowest = jnp.min(jnp.where(wrong, margins, jnp.inf), axis=1)
        total = logsumexp(jnp.where(wrong, -margins, -jnp.inf), axis=1)
        return {
            "smallest_margin": jnp.min(lowest),
            "largest_margin": jnp.max(highest),
            "wrong_spread": jnp.max(jnp.where(self.vocabulary, highest - lowest, 0.0)),
            "log_miss": logsumexp(-jax.nn.softplus(-total)),
        }


class OrderProbe(AbstractProbe):
    """Stage 2: attention on the optimal tokens, and the logits of each role.

    Attributes:
        optimal: which slots of each input hold a token of l(n).
        log_length: the logarithm of the length of each input.
        winner, loser, edge_exists: the cells of each comparable pair.
        is_optimal, is_non_optimal: the role of each cell.
    """

    inputs: Inputs
    optimal: Bool[Array, "*batch inputs slots"]
    log_length: Float[Array, "*batch inputs"]
    winner: Int[Array, "*batch edges"]
    loser: Int[Array, "*batch edges"]
    edge_exists: Bool[Array, "*batch edges"]
    is_optimal: Bool[Array, "*batch cells"]
    is_non_optimal: Bool[Array, "*batch cells"]

    def __call__(
        self, logits: Float[Array, "cells"], next_logits: Float[Array, "cells"]
    ) -> dict[str, Array]:
        counted = jnp.isfinite(self.inputs.log_frequency) & jnp.any(self.optimal, axis=1)
        inside, outside = split_mass(self.inputs, logits, self.optimal)
        odds = inside - outside
        mixed = counted & jnp.isfinite(odds)
        inside_next, outside_next = split_mass(self.inputs, next_logits, self.optimal)
        gain = inside_next - outside_next - odds
        chosen = self.optimal & counted[:, None]
        smallest = jnp.min(jnp.where(chosen, logits[self.inputs.cells], jnp.inf), axis=1)
        weight = smallest - jnp.logaddexp(inside, outside)
        lead = logits[self.winner] - logits[self.loser]
        idle = self.inputs.cell_exists & ~self.is_optimal & ~self.is_non_optimal
        return {
            "smallest_log_odds": _smallest(odds, mixed),
            "smallest_weight": jnp.exp(_smallest(weight, jnp.any(chosen, axis=1))),
            "smallest_growth": jnp.min(weight + self.log_length),
            "smallest_gain": jnp.min(jnp.where(mixed, gain, jnp.inf)),
            "smallest_margin": _smallest(lead, self.edge_exists),
            "smallest_optimal": jnp.min(jnp.where(self.is_optimal, logits, jnp.inf)),
            "largest_non_optimal": jnp.max(jnp.where(self.is_non_optimal, logits, -jnp.inf)),
            "largest_idle": jnp.max(jnp.where(idle, jnp.abs(logits), 0.0)),
        }


def _smallest(values: Float[Array, "places"], there: Bool[Array, "places"]) -> Float[Array, ""]:
    """The least of the values that are there; NaN if none is, since nothing can be said then."""
    return jnp.where(jnp.any(there), jnp.min(jnp.where(there, values, jnp.inf)), jnp.nan)
