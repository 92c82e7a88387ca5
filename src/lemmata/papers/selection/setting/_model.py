"""The one-layer transformer of Definition 2.4 on a batch, and its gradient by hand.

The input matrix Z = [X; E] is never formed. All samples of a batch share their encodings, so
attention sees positions through the kernel K = E' W_pp E alone: the logits of a sample mix q rows
of K', and the gradient adds q rows back. Four products of matrices of the size of W remain,
whatever the batch size.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jaxtyping import Array, Float, Int

from lemmata.training import Stream, fold, normals, subsets


class Batch(NamedTuple):
    """Samples that share their encodings.

    Attributes:
        X, y, E: tokens, subsets and encodings. Places of y may be left empty with -1.
        x_query: absent if it is zero.
        length: how many positions there are, if E has more columns than that.
    """

    X: Float[Array, "samples d T"]
    y: Int[Array, "samples q"]
    E: Float[Array, "d_e T"]
    x_query: Float[Array, "samples d"] | None = None
    length: Int[Array, ""] | None = None


class Weights(NamedTuple):
    """The two matrices that are trained, in JAX or in NumPy; of several heads, one each."""

    V: Float[Array, "*heads d width"] | Float[np.ndarray, "*heads d width"]
    W: Float[Array, "*heads width width"] | Float[np.ndarray, "*heads width width"]


class Factors(NamedTuple):
    """Keys and queries apart: W = K'Q; of several heads, one each."""

    V: Float[Array, "*heads d width"]
    K: Float[Array, "*heads rank width"]
    Q: Float[Array, "*heads rank width"]

    @property
    def joint(self) -> Weights:
        """V and the product."""
        return Weights(self.V, self.K.mT @ self.Q)

    def pull_back(self, gradient: Weights) -> "Factors":
        """The gradient in V, K and Q, from that in V and W."""
        return Factors(jnp.asarray(gradient.V), self.Q @ gradient.W.mT, self.K @ gradient.W)


def draw_batch(
    source: Stream,
    samples: int,
    q: int,
    d: int,
    E: Float[Array, "d_e T"],
    x_query: Float[Array, "asked d"] | None,
    queries: int = 1,
) -> Batch:
    """Gaussian tokens and uniform subsets under the given encodings, so many for each sequence."""
    T = E.shape[1]
    # The barrier keeps the compiler from drawing the same tokens again for every use of them.
    X = lax.optimization_barrier(normals(fold(source, jnp.uint32(0)), (samples, d, T)))
    y = subsets(fold(source, jnp.uint32(1)), samples * queries, q, T)
    return Batch(jnp.repeat(X.astype(E.dtype), queries, axis=0), y, E, x_query)


class Seen(NamedTuple):
    """What a head sees of a batch, which the gradient needs again."""

    coefficients: Float[Array, "samples q"]
    S: Float[Array, "samples T"]
    mean_token: Float[Array, "samples d"]
    position_values: Float[Array, "d T"]


def attend(weights: Weights, batch: Batch) -> Float[Array, "samples T"]:
    """The attention S_y of every sample."""
    return see(weights, batch).S


def losses(weights: Weights, batch: Batch) -> Float[Array, "samples"]:
    """Half the squared error of every sample."""
    seen = see(weights, batch)
    return 0.5 * jnp.sum((targets(batch) - outputs(weights, seen)) ** 2, axis=1)


def token_free_losses(
    weights: Weights,
    y: Int[Array, "samples q"],
    E: Float[Array, "d_e T"],
    length: Int[Array, ""] | None = None,
    less: Float[Array, "T"] | None = None,
) -> Float[Array, "samples"]:
    """The loss of each subset, averaged over all tokens exactly, for x_query = 0.

    Exact where the first d rows of W are zero; otherwise an estimate that leaves out what those
    rows do. ``less`` is taken off the diagonal e_i'W e_i of the positions, to see what it does.
    """
    d = weights.V.shape[0]
    V_t, V_p = weights.V[:, :d], weights.V[:, d:]
    S = attend_to_positions(weights.W, y, E, length, less)
    alpha = jnp.trace(V_t) / d
    rest = V_t - alpha * jnp.eye(d, dtype=E.dtype)
    error = (-alpha * S).at[jnp.arange(len(y))[:, None], y].add(shares(y, E.dtype))
    offset = S @ (V_p @ E).T
    return 0.5 * (
        d * jnp.sum(error**2, axis=1)
        + jnp.sum(rest**2) * jnp.sum(S**2, axis=1)
        + jnp.sum(offset**2, axis=1)
    )


def attend_to_positions(
    W: Float[Array, "width width"] | Float[np.ndarray, "width width"],
    y: Int[Array, "samples q"],
    E: Float[Array, "d_e T"],
    length: Int[Array, ""] | None = None,
    less: Float[Array, "T"] | None = None,
) -> Float[Array, "samples T"]:
    """The attention of each subset where neither tokens nor x_query have a say in it."""
    d = W.shape[0] - E.shape[0]
    kernel = (E.T @ W[d:, d:].T) @ E
    if less is not None:
        kernel -= jnp.diag(less)
    return _softmax(_mix_rows(kernel, y, _subset_coefficients(E.T @ E, y)), length)


def loss_and_gradient(weights: Weights, batch: Batch) -> tuple[Float[Array, ""], Weights]:
    """The mean loss and its gradient (Lemma D.1 on a sample)."""
    seen = see(weights, batch)
    return mean_and_slope(weights, batch, seen, targets(batch) - outputs(weights, seen))


def mean_and_slope(
    weights: Weights, batch: Batch, seen: Seen, errors: Float[Array, "samples d"]
) -> tuple[Float[Array, ""], Weights]:
    """The mean loss of these errors, and its gradient in the weights of a head."""
    X, y, E, x_query, _ = batch
    (samples, d, T), S = X.shape, seen.S
    residual = errors / samples
    tokens = residual @ weights.V[:, :d]
    score = jnp.einsum("ndt,nd->nt", X, tokens) + residual @ seen.position_values
    logits = S * (jnp.sum(S * score, axis=1, keepdims=True) - score)
    pulled = jnp.einsum("ndt,nt->nd", X, logits)
    rows = (seen.coefficients[:, :, None] * logits[:, None, :]).reshape(-1, T)
    kernel = jnp.zeros((T, T), dtype=E.dtype).at[y.ravel()].add(rows)
    by_position = (seen.coefficients[:, :, None] * pulled[:, None, :]).reshape(-1, d)
    by_position = jnp.zeros((T, d), dtype=E.dtype).at[y.ravel()].add(by_position)
    W_pp = (E @ kernel.T) @ E.T
    W_tp = (E @ by_position).T
    if x_query is None:
        W_tt, W_pt = jnp.zeros((d, d), dtype=E.dtype), jnp.zeros_like(W_tp.T)
    else:
        W_tt, W_pt = pulled.T @ x_query, E @ (logits.T @ x_query)
    V = -jnp.concatenate([residual.T @ seen.mean_token, (residual.T @ S) @ E.T], axis=1)
    loss = 0.5 * jnp.mean(jnp.sum(errors**2, axis=1))
    return loss, Weights(V, jnp.block([[W_tt, W_tp], [W_pt, W_pp]]))


def see(weights: Weights, batch: Batch) -> Seen:
    """Where a head looks, and what it finds there."""
    X, y, E, x_query, length = batch
    d = X.shape[1]
    V, W = map(jnp.asarray, weights)
    coefficients = _subset_coefficients(E.T @ E, y)
    kernel = (E.T @ W[d:, d:].T) @ E
    logits = _mix_rows(kernel, y, coefficients)
    toward = _mix_rows((W[:d, d:] @ E).T, y, coefficients)
    if x_query is not None:
        logits = logits + (x_query @ W[d:, :d].T) @ E
        toward = toward + x_query @ W[:d, :d].T
    logits = logits + jnp.einsum("ndt,nd->nt", X, toward)
    S = _softmax(logits, length)
    mean_token = jnp.einsum("ndt,nt->nd", X, S)
    return Seen(coefficients, S, mean_token, V[:, d:] @ E)


def targets(batch: Batch) -> Float[Array, "samples d"]:
    """The mean of the chosen tokens."""
    chosen = jnp.take_along_axis(batch.X, batch.y[:, None, :], axis=2, mode="clip")
    return jnp.sum(chosen * shares(batch.y, batch.E.dtype)[:, None, :], axis=2)


def outputs(weights: Weights, seen: Seen) -> Float[Array, "samples d"]:
    """What a head makes of it."""
    d = weights.V.shape[0]
    return seen.mean_token @ weights.V[:, :d].T + seen.S @ seen.position_values.T


def _softmax(
    logits: Float[Array, "samples T"], length: Int[Array, ""] | None
) -> Float[Array, "samples T"]:
    if length is None:
        return nn.softmax(logits, axis=1)
    return nn.softmax(jnp.where(jnp.arange(logits.shape[1]) < length, logits, -jnp.inf), axis=1)


def shares(y: Int[Array, "samples q"], dtype: Any) -> Float[Array, "samples q"]:
    """1/q for every place that is not empty."""
    taken = (y >= 0).astype(dtype)
    return taken / jnp.sum(taken, axis=1, keepdims=True)


def _mix_rows(
    rows: Float[Array, "T wide"], y: Int[Array, "samples q"], weights: Float[Array, "samples q"]
) -> Float[Array, "samples wide"]:
    """For each sample, the weighted sum of its q rows."""
    mixed = weights[:, :1] * rows[y[:, 0]]
    for j in range(1, y.shape[1]):
        mixed = mixed + weights[:, j, None] * rows[y[:, j]]
    return mixed


def _subset_coefficients(
    gram: Float[Array, "T T"], y: Int[Array, "samples q"]
) -> Float[Array, "samples q"]:
    """(E_y' E_y)^-1 1 by elimination; the block is positive definite and needs no pivoting.

    An empty place gets 0: its row and column are those of the identity.
    """
    taken = y >= 0
    both = taken[:, :, None] & taken[:, None, :]
    block = jnp.where(
        both, gram[y[:, :, None], y[:, None, :]], jnp.eye(y.shape[1], dtype=gram.dtype)
    )
    system = jnp.concatenate([block, taken[:, :, None].astype(gram.dtype)], axis=2)

    def eliminate(
        k: Int[Array, ""], system: Float[Array, "samples q columns"]
    ) -> Float[Array, "samples q columns"]:
        row = system[:, k] / system[:, k, k, None]
        return (system - system[:, :, k, None] * row[:, None, :]).at[:, k].set(row)

    return lax.fori_loop(0, y.shape[1], eliminate, system)[:, :, -1]
