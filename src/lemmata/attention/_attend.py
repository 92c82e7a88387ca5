"""The forward pass: attention weights and predictions."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float
from scipy.special import softmax

from ._inputs import Inputs


def slot_logits(inputs: Inputs, weights: Float[Array, "cells"]) -> Float[Array, "inputs slots"]:
    """The attention logit of each distinct token, with all of its positions.

    The barrier keeps the gather out of the loops that follow, whose exponentials then run as
    vector instructions: six times faster on a CPU, and the same numbers.
    """
    return lax.optimization_barrier(inputs.log_multiplicity + weights[inputs.cells])


def log_mass(inputs: Inputs, weights: Float[Array, "cells"]) -> Float[Array, "inputs slots"]:
    """The logarithm of the attention on each distinct token, all of its positions together."""
    logits = slot_logits(inputs, weights)
    return logits - logsumexp(logits, axis=1, keepdims=True)


def split_mass(
    inputs: Inputs, weights: Float[Array, "cells"], chosen: Bool[Array, "inputs slots"]
) -> tuple[Float[Array, "inputs"], Float[Array, "inputs"]]:
    """The unnormalised log-masses of the chosen slots of each input and of the others.

    Their difference is the log-odds of the chosen ones, which stays exact when their weight
    itself rounds to 1; -inf where there is no slot.
    """
    logits = slot_logits(inputs, weights)
    inside = logsumexp(jnp.where(chosen, logits, -jnp.inf), axis=1)
    outside = logsumexp(jnp.where(chosen, -jnp.inf, logits), axis=1)
    return inside, outside


def attention(
    tokens: list[int], weights: Float[np.ndarray, "tokens queries"]
) -> Float[np.ndarray, "positions"]:
    """The attention weights of one input, position by position (Eq. 9 of the convergence paper)."""
    return softmax(weights[tokens, tokens[-1]])


def predict(
    tokens: list[int],
    values: Float[np.ndarray, "tokens vocabulary"],
    weights: Float[np.ndarray, "tokens queries"],
) -> Float[np.ndarray, "vocabulary"]:
    """The distribution over next tokens: softmax of the attended values."""
    return softmax(attention(tokens, weights) @ values[tokens])
