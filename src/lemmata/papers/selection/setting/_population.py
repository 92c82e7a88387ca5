"""The population loss and its gradient, exactly: no token is sampled.

Holds wherever the first d rows of W are zero, as they are along gradient descent from zero: the
attention then does not depend on X, and every expectation over Gaussian tokens has a closed form
(Lemmas D.1, D.2, E.2 to E.5). Encodings form a finite family with equal chances; one-hot
encodings are a family of one.
"""

from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jaxtyping import Array, Float, Int

from ._encodings import subset_encodings
from ._model import Weights

Average = Literal["inside", "outside"]
"""Where the expectation over encodings stands: inside the norm, on the model's output (Eq. 4),
or outside, on the loss, which is what one fresh encoding a step descends (Section 4)."""


class Family(NamedTuple):
    """Encodings and subsets, prepared: every subset under every encoding.

    Attributes:
        E: the encodings.
        e_y: the subset encodings.
        Y: the q-hot vectors.
    """

    E: Float[Array, "members d_e T"]
    e_y: Float[Array, "members subsets d_e"]
    Y: Float[Array, "subsets T"]

    @classmethod
    def of(cls, E: Float[np.ndarray, "members d_e T"], y: Int[np.ndarray, "subsets q"]) -> "Family":
        """Prepare encodings and subsets."""
        Y = np.zeros((len(y), E.shape[2]))
        np.put_along_axis(Y, y, 1.0, axis=1)
        e_y = np.stack([subset_encodings(member, y) for member in E])
        return cls(jnp.asarray(E), jnp.asarray(e_y), jnp.asarray(Y))


class Population(NamedTuple):
    """The loss, and its gradient in V and W."""

    loss: Float[Array, ""]
    gradient: Weights


@partial(jax.jit, static_argnames="average")
def population(
    family: Family,
    weights: Weights,
    x_query: Float[Array, "d"],
    average: Average = "outside",
) -> Population:
    """Loss (3) or (4) and its gradient, averaged over all tokens, subsets and encodings."""
    V, W = weights
    d = V.shape[0]
    V_t, V_p = V[:, :d], V[:, d:]
    E, e_y, Y = family
    q = jnp.sum(Y[0])
    T = Y.shape[1]
    z = jnp.concatenate([jnp.broadcast_to(x_query, (*e_y.shape[:2], d)), e_y], axis=2)
    logits = jnp.einsum("met,msw,ew->mst", E, z, W[d:])
    S = nn.softmax(logits, axis=2)
    ES = jnp.einsum("met,mst->mse", E, S)
    inside = average == "inside"
    mean_S = S.mean(axis=0, keepdims=True) if inside else S
    mean_ES = ES.mean(axis=0, keepdims=True) if inside else ES
    target = Y[None] / q
    # What the position part adds to the output, and the token part weights each token by.
    offset = jnp.einsum("de,mse->msd", V_p, mean_ES)
    alpha = jnp.trace(V_t) / d
    rest = V_t - alpha * jnp.eye(d)
    error = target - alpha * mean_S
    length = jnp.sum(mean_S**2, axis=2)
    loss = 0.5 * jnp.mean(
        d * jnp.sum(error**2, axis=2) + jnp.sum(rest**2) * length + jnp.sum(offset**2, axis=2)
    )
    # The gradient in the logits, for the rows of W that meet positions and tokens.
    pull = d * alpha * error - jnp.sum(rest**2) * mean_S
    pull = pull - jnp.einsum("met,de,msd->mst", E, V_p, offset)
    down = S * (pull - jnp.sum(S * pull, axis=2, keepdims=True))
    count = S.shape[0] * S.shape[1]
    bottom = -jnp.einsum("met,mst,msw->ew", E, down, z) / count
    J = S[..., None] * (jnp.eye(T)[None, None] - S[..., None, :])
    A = jnp.einsum("mstu,meu,de->mstd", J, E, V_p)
    tokens = (
        jnp.einsum("mstd,mst->msd", A, jnp.broadcast_to(target, S.shape))
        - jnp.einsum("kd,mstk,mst->msd", V_t, A, jnp.broadcast_to(mean_S, S.shape))
        - jnp.trace(J, axis1=2, axis2=3)[..., None] * jnp.einsum("kd,msk->msd", V_t, offset)
    )
    top = -jnp.einsum("msd,msw->dw", tokens, z) / count
    of_tokens = jnp.mean(length) * rest - jnp.mean(jnp.sum(error * mean_S, axis=2)) * jnp.eye(d)
    of_positions = jnp.einsum("msd,mse->de", offset, mean_ES) / (offset.shape[0] * offset.shape[1])
    return Population(
        loss,
        Weights(
            jnp.concatenate([of_tokens, of_positions], axis=1),
            jnp.concatenate([top, bottom], axis=0),
        ),
    )
