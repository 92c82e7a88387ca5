"""Where weights live: in token coordinates, or in the space of the embeddings.

With orthonormal embeddings W and its token coordinates E W E^T have the same norms and inner
products, so training in token coordinates is the same training. Other embeddings couple them.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._scaled import LogScaled


class CellCoordinates(eqx.Module):
    """Key-query weights, as the logits they give to the cells.

    Attributes:
        token, query: the embeddings of each cell's two tokens; None for orthonormal ones, when
            the weights are the logits themselves.
    """

    token: Float[Array, "*batch cells dimension"] | None = None
    query: Float[Array, "*batch cells dimension"] | None = None

    def logits(self, weights: Float[Array, "..."]) -> Float[Array, "cells"]:
        """e_token^T W e_query for each cell."""
        if self.token is None or self.query is None:
            return weights
        return jnp.einsum("cd,de,ce->c", self.token, weights, self.query)

    def pull_back(self, gradient: LogScaled) -> LogScaled:
        """The gradient in W, given the gradient in the logits."""
        if self.token is None or self.query is None:
            return gradient
        matrix = jnp.einsum("c,cd,ce->de", gradient.unit, self.token, self.query)
        return LogScaled.from_parts(matrix, gradient.log_norm)


class ValueCoordinates(eqx.Module):
    """Feed-forward weights W_ov^T, as the logits each token gives to each next token."""

    embeddings: Float[Array, "*batch tokens dimension"] | None = None

    def values(self, weights: Float[Array, "rows vocabulary"]) -> Float[Array, "tokens vocabulary"]:
        """(W_ov e_x)_v for each token x and next token v."""
        return weights if self.embeddings is None else self.embeddings @ weights

    def pull_back(self, gradient: LogScaled) -> LogScaled:
        """The gradient in W_ov^T, given the gradient in the values."""
        if self.embeddings is None:
            return gradient
        return LogScaled.from_parts(self.embeddings.T @ gradient.unit, gradient.log_norm)
