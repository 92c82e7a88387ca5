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
    """The two matrices that are trained, in JAX or in NumPy."""

    V: Float[Array, "d width"] | Float[np.ndarray, "d width"]
    W: Float[Array, "width width"] | Float[np.ndarray, "width width"]


class Factors(NamedTuple):
    """Keys and queries apart: W = K'Q."""

    V: Float[Array, "d width"]
    K: Float[Array, "rank width"]
    Q: Float[Array, "rank width"]

    @property
    def joint(self) -> Weights:
        """V and the product."""
        return Weights(self.V, self.K.T @ self.Q)

    def pull_back(self, gradient: Weights) -> "Factors":
        """The gradient in V, K and Q, from that in V and W."""
        return Factors(jnp.asarray(gradient.V), self.Q @ gradient.W.T, self.K @ gradient.W)


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


class _Forward(NamedTuple):
    """What the gradient needs again."""

    coefficients: Float[Array, "samples q"]
    S: Float[Array, "samples T"]
    mean_token: Float[Array, "samples d"]
    position_values: Float[Array, "d T"]
    residual: Float[Array, "samples d"]


def attend(weights: Weights, batch: Batch) -> Float[Array, "samples T"]:
    """The attention S_y of every sample."""
    return _forward(weights, batch).S


def losses(weights: Weights, batch: Batch) -> Float[Array, "samples"]:
    """Half the squared error of every sample."""
    return 0.5 * jnp.sum(_forward(weights, batch).residual ** 2, axis=1)


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
    kernel = (E.T @ weights.W[d:, d:].T) @ E
    if less is not None:
        kernel -= jnp.diag(less)
    S = _softmax(_mix_rows(kernel, y, _subset_coefficients(E.T @ E, y)), length)
    alpha = jnp.trace(V_t) / d
    rest = V_t - alpha * jnp.eye(d, dtype=E.dtype)
    error = (-alpha * S).at[jnp.arange(len(y))[:, None], y].add(_shares(y, E.dtype))
    offset = S @ (V_p @ E).T
    return 0.5 * (
        d * jnp.sum(error**2, axis=1)
        + jnp.sum(rest**2) * jnp.sum(S**2, axis=1)
        + jnp.sum(offset**2, axis=1)
    )


def loss_and_gradient(weights: Weights, batch: Batch) -> tuple[Float[Array, ""], Weights]:
    """The mean loss and its gradient (Lemma D.1 on a sample)."""
    found = _forward(weights, batch)
    X, y, E, x_query, _ = batch
    (samples, d, T), S = X.shape, found.S
    residual = found.residual / samples
    tokens = residual @ weights.V[:, :d]
    score = jnp.einsum("ndt,nd->nt", X, tokens) + residual @ found.position_values
    logits = S * (jnp.sum(S * score, axis=1, keepdims=True) - score)
    pulled = jnp.einsum("ndt,nt->nd", X, logits)
    rows = (found.coefficients[:, :, None] * logits[:, None, :]).reshape(-1, T)
    kernel = jnp.zeros((T, T), dtype=E.dtype).at[y.ravel()].add(rows)
    by_position = (found.coefficients[:, :, None] * pulled[:, None, :]).reshape(-1, d)
    by_position = jnp.zeros((T, d), dtype=E.dtype).at[y.ravel()].add(by_position)
    W_pp = (E @ kernel.T) @ E.T
    W_tp = (E @ by_position).T
    if x_query is None:
        W_tt, W_pt = jnp.zeros((d, d), dtype=E.dtype), jnp.zeros_like(W_tp.T)
    else:
        W_tt, W_pt = pulled.T @ x_query, E @ (logits.T @ x_query)
    V = -jnp.concatenate([residual.T @ found.mean_token, (residual.T @ S) @ E.T], axis=1)
    loss = 0.5 * jnp.mean(jnp.sum(found.residual**2, axis=1))
    return loss, Weights(V, jnp.block([[W_tt, W_tp], [W_pt, W_pp]]))


def _forward(weights: Weights, batch: Batch) -> _Forward:
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
    position_values = V[:, d:] @ E
    chosen = jnp.take_along_axis(X, y[:, None, :], axis=2, mode="clip")
    target = jnp.sum(chosen * _shares(y, E.dtype)[:, None, :], axis=2)
    output = mean_token @ V[:, :d].T + S @ position_values.T
    return _Forward(coefficients, S, mean_token, position_values, target - output)


def _softmax(
    logits: Float[Array, "samples T"], length: Int[Array, ""] | None
) -> Float[Array, "samples T"]:
    if length is None:
        return nn.softmax(logits, axis=1)
    return nn.softmax(jnp.where(jnp.arange(logits.shape[1]) < length, logits, -jnp.inf), axis=1)


def _shares(y: Int[Array, "samples q"], dtype: Any) -> Float[Array, "samples q"]:
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
