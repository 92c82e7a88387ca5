"""Several heads, whose outputs are added: an extension that no theorem of the paper covers.

The output is the sum over h of V_h Z softmax(Z' W_h z_query). Heads meet in the error alone: given
that, the gradient in the weights of a head is what it would be if there were no other. One head
after the other is looked at, because gathers and scatters are slow with an axis of heads.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from ._model import (
    Batch,
    Seen,
    Weights,
    attend,
    attend_to_positions,
    mean_and_slope,
    outputs,
    see,
    shares,
    targets,
)


def loss_and_gradient_of_heads(weights: Weights, batch: Batch) -> tuple[Float[Array, ""], Weights]:
    """The mean loss, and its gradient in the weights of every head."""
    seen, errors = _errors(weights, batch)
    means, slopes = lax.map(
        lambda head: mean_and_slope(head[0], batch, head[1], errors), (weights, seen)
    )
    return means[0], slopes


def losses_of_heads(weights: Weights, batch: Batch) -> Float[Array, "samples"]:
    """Half the squared error of every sample."""
    return 0.5 * jnp.sum(_errors(weights, batch)[1] ** 2, axis=1)


def token_free_losses_of_heads(
    weights: Weights,
    y: Int[Array, "samples q"],
    E: Float[Array, "d_e T"],
    length: Int[Array, ""] | None = None,
) -> Float[Array, "samples"]:
    """The loss of each subset, averaged over all tokens: ``token_free_losses`` of several heads.

    With V_h = alpha_h I + R_h on tokens, R_h without a trace, the tokens' part of the error is
    (Y/q - sum alpha_h S_h) I less the sum of all R_h S_h', and the two are orthogonal.
    """
    d = weights.V.shape[1]
    V_t, V_p = weights.V[:, :, :d], weights.V[:, :, d:]
    S = lax.map(lambda W: attend_to_positions(W, y, E, length), weights.W)
    alpha = jnp.trace(V_t, axis1=1, axis2=2) / d
    rest = V_t - alpha[:, None, None] * jnp.eye(d, dtype=E.dtype)[None]
    chosen = jnp.arange(len(y))[:, None], y
    error = (-jnp.einsum("h,hnt->nt", alpha, S)).at[chosen].add(shares(y, E.dtype))
    spread = jnp.einsum("hij,kij,hnt,knt->n", rest, rest, S, S)
    offset = jnp.einsum("hdt,hnt->nd", V_p @ E, S)
    return 0.5 * (d * jnp.sum(error**2, axis=1) + spread + jnp.sum(offset**2, axis=1))


def missed_by_heads(weights: Weights, batch: Batch) -> Float[Array, "heads"]:
    """The attention of every head off the subset, averaged over the samples."""
    # An empty place of y is -1, the last position, which it must leave as it is.
    outside = jnp.ones_like(batch.X[:, 0]).at[jnp.arange(len(batch.y))[:, None], batch.y]
    outside = outside.multiply((batch.y < 0).astype(batch.X.dtype))
    return lax.map(lambda head: jnp.mean(jnp.sum(attend(head, batch) * outside, axis=1)), weights)


def _errors(weights: Weights, batch: Batch) -> tuple[Seen, Float[Array, "samples d"]]:
    """What every head sees, and the target less what they make of it together."""
    seen = lax.map(lambda head: see(head, batch), weights)
    made = lax.map(lambda head: outputs(*head), (weights, seen))
    return seen, targets(batch) - jnp.sum(made, axis=0)
