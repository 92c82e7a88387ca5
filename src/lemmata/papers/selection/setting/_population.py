"""The population loss and its gradient, exactly: no token is sampled.

Holds wherever the first d rows of W are zero, as they are along gradient descent from zero: the
attention then does not depend on X, and every expectation over Gaussian tokens has a closed form
(Lemmas D.1, D.2, E.2 to E.5). Encodings form a finite family with equal chances; one-hot
encodings are a family of one.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Array, Float, Int
from scipy.special import softmax

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

    E: Float[np.ndarray, "members d_e T"]
    e_y: Float[np.ndarray, "members subsets d_e"]
    Y: Float[np.ndarray, "subsets T"]

    @classmethod
    def of(cls, E: Float[np.ndarray, "members d_e T"], y: Int[np.ndarray, "subsets q"]) -> "Family":
        """Prepare encodings and subsets."""
        Y = np.zeros((len(y), E.shape[2]))
        np.put_along_axis(Y, y, 1.0, axis=1)
        e_y = np.stack([subset_encodings(member, y) for member in E])
        return cls(np.asarray(E, dtype=float), e_y, Y)


class Population(NamedTuple):
    """The loss, and its gradient in V and W."""

    loss: float
    gradient: Weights


def population(
    family: Family,
    weights: Weights,
    x_query: Float[np.ndarray, "d"] | Float[Array, "d"],
    average: Average = "outside",
) -> Population:
    """Loss (3) or (4) and its gradient, averaged over all tokens, subsets and encodings.

    In NumPy, since it is asked for many families of different shapes: none is compiled.
    """
    V, W = (np.asarray(matrix) for matrix in weights)
    d = V.shape[0]
    V_t, V_p = V[:, :d], V[:, d:]
    E, e_y, Y = map(np.asarray, family)
    z = np.concatenate([np.broadcast_to(x_query, (*e_y.shape[:2], d)), e_y], axis=2)
    S = softmax(z @ W[d:].T @ E, axis=2)
    ES = S @ E.transpose(0, 2, 1)
    inside = average == "inside"
    mean_S = S.mean(axis=0, keepdims=True) if inside else S
    mean_ES = ES.mean(axis=0, keepdims=True) if inside else ES
    target = Y[None] / Y[0].sum()
    # What the position part adds to the output, and the token part weights each token by.
    offset = mean_ES @ V_p.T
    alpha = np.trace(V_t) / d
    rest = V_t - alpha * np.eye(d)
    error = target - alpha * mean_S
    length = np.sum(mean_S**2, axis=2)
    loss = 0.5 * np.mean(
        d * np.sum(error**2, axis=2) + np.sum(rest**2) * length + np.sum(offset**2, axis=2)
    )
    # The gradient in the logits, for the rows of W that meet positions and tokens.
    pull = d * alpha * error - np.sum(rest**2) * mean_S - offset @ V_p @ E
    down = S * (pull - np.sum(S * pull, axis=2, keepdims=True))
    count = S.shape[0] * S.shape[1]
    bottom = -_outer(down @ E.transpose(0, 2, 1), z) / count
    # The Jacobian of attention times what the position part adds for each position.
    added = (V_p @ E).transpose(0, 2, 1)[:, None]
    turned = S[..., None] * (added - np.sum(S[..., None] * added, axis=2, keepdims=True))
    tokens = np.sum(turned * target[..., None], axis=2)
    tokens = tokens - np.sum(turned * mean_S[..., None], axis=2) @ V_t
    tokens = tokens - np.sum(S * (1 - S), axis=2)[..., None] * (offset @ V_t)
    top = -_outer(tokens, z) / count
    of_tokens = np.mean(length) * rest - np.mean(np.sum(error * mean_S, axis=2)) * np.eye(d)
    of_positions = _outer(offset, mean_ES) / (offset.shape[0] * offset.shape[1])
    in_V, in_W = np.hstack([of_tokens, of_positions]), np.vstack([top, bottom])
    return Population(float(loss), Weights(in_V, in_W))


def _outer(
    left: Float[np.ndarray, "members subsets a"], right: Float[np.ndarray, "members subsets b"]
) -> Float[np.ndarray, "a b"]:
    """The sum of all outer products."""
    return left.reshape(-1, left.shape[2]).T @ right.reshape(-1, right.shape[2])
