"""The one-layer multi-head transformer: as written in (5) to (7), and in the working form (8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Float32
from scipy.special import softmax

from lemmata._errors import InputError

from ._task import Task


class Weights(NamedTuple):
    """What is trained.

    Attributes:
        Q: the matrices Q_h, side by side: ``Q[a, h, b]`` is entry (a, b) of Q_h. The head stands in
            the middle so that the products with all Q_h are one matrix multiplication.
        w: w_{h,k}.
    """

    Q: Float[Array, "*batch d H d"]
    w: Float[Array, "*batch H K"]


def draw_weights(task: Task, heads: int, *, seed: int, scale: float = 1.0) -> Weights:
    """The start of Theorem 1: Q_h with independent N(0, scale^2) entries, and w = 0."""
    if heads < 1:
        raise InputError(f"{task.name}: a transformer needs at least one head; got H = {heads}")
    Q = scale * np.random.default_rng(seed).standard_normal((heads, task.d, task.d))
    return from_heads(Q, np.zeros((heads, task.K)))


def from_heads(Q: Float[np.ndarray, "H d d"], w: Float[np.ndarray, "H K"]) -> Weights:
    """Weights from one matrix a head."""
    return Weights(*jax.device_put((Q.transpose(1, 0, 2), w)))


@dataclass(frozen=True)
class Transformer:
    """The matrices of (5) and (6), and the map from embeddings to K x K outputs."""

    keys: Float[np.ndarray, "H d_e d_plus_1"]
    queries: Float[np.ndarray, "H d_e d_plus_1"]
    values: Float[np.ndarray, "H K d_plus_1"]
    output: Float[np.ndarray, "K HK"]

    def __call__(
        self, prompt: Float[np.ndarray, "d_plus_1 N"], embedding: Float[np.ndarray, "d_plus_1 K"]
    ) -> Float[np.ndarray, "K K"]:
        """T(E) of (6)."""
        heads = [
            value @ prompt @ softmax(prompt.T @ key.T @ query @ embedding, axis=0)
            for key, query, value in zip(self.keys, self.queries, self.values, strict=True)
        ]
        return self.output @ np.concatenate(heads)


def as_written(weights: Weights) -> Transformer:
    """The transformer with the sparse matrices of (7), the keys being the identity on tokens."""
    Q, w = np.asarray(weights.Q, dtype=float), np.asarray(weights.w, dtype=float)
    d, H, _ = Q.shape
    keys = np.broadcast_to(np.eye(d, d + 1), (H, d, d + 1))
    queries = np.concatenate([Q.transpose(1, 0, 2), np.zeros((H, d, 1))], axis=2)
    values = np.concatenate([np.zeros((*w.shape, d)), w[:, :, None]], axis=2)
    return Transformer(keys, queries, values, np.tile(np.eye(w.shape[1]), (1, H)))


def embed(task: Task, labels: Float[np.ndarray, "N"]) -> Float[np.ndarray, "d_plus_1 K"]:
    """E = (E^P, E^Q): tokens over their labels, and over zero where no label is known (2, 4)."""
    row = np.zeros(task.K)
    row[: task.N] = labels
    return np.vstack([task.tokens, row])


class Attention(NamedTuple):
    """s^h_k as a product: powers of e, of which the largest is 1, and one over their sum.

    The product itself is formed nowhere in training; a pass over memory is saved.
    """

    powers: Float[Array, "*batch N H K"]
    scale: Float[Array, "*batch H K"]

    @property
    def scores(self) -> Float[Array, "*batch N H K"]:
        """s^h_k, where attention goes (28)."""
        return self.powers * jnp.expand_dims(self.scale, -3)

    def combine(self, w: Float[Array, "H K"]) -> Float[Array, "N K"]:
        """A-hat, whose column k is sum_h w_{h,k} s^h_k (35)."""
        return jnp.sum(self.powers * (w * self.scale)[None], axis=1)


class System(eqx.Module):
    """All that the loss needs of a task, as arrays; smaller tasks are padded to a common size.

    Attributes:
        tokens: the dictionary; the prompt is its first columns.
        root: Z-bar.
        target: A.
        hidden: 0 for a prompt token, -inf for padding.
        heads: 1 for a head, 0 for padding.
        count: K, without padding.
    """

    tokens: Float[Array, "*batch d K"]
    root: Float[Array, "*batch N N"]
    target: Float[Array, "*batch N K"]
    hidden: Float[Array, "*batch N"]
    heads: Float[Array, "*batch H"]
    count: Float[Array, "*batch"]

    def logits(self, Q: Float[Array, "d H d"]) -> Float[Array, "N H K"]:
        """V' Q_h v_k for every head and token."""
        (d, heads, _), (N, K) = Q.shape, self.target.shape
        keyed = (self.tokens[:, :N].T @ Q.reshape(d, heads * d)).reshape(N * heads, d)
        return (keyed @ self.tokens).reshape(N, heads, K)

    def attention(self, Q: Float[Array, "d H d"]) -> Attention:
        """softmax(V' Q_h v_k) for every head and token (28)."""
        logits = self.logits(Q) + self.hidden[:, None, None]
        powers = jnp.exp(logits - jnp.max(logits, axis=0, keepdims=True))
        return Attention(powers, 1 / jnp.sum(powers, axis=0))

    def error(self, combined: Float[Array, "N K"]) -> tuple[Float[Array, ""], Float[Array, "N K"]]:
        """L - L* at A-hat, and its derivative there (36)."""
        return self.error_of(combined - self.target)

    def error_of(self, away: Float[Array, "N K"]) -> tuple[Float[Array, ""], Float[Array, "N K"]]:
        """The same where A-hat - A is known."""
        weighted = self.root @ away
        return jnp.sum(weighted**2) / (2 * self.count), self.root @ weighted / self.count

    def pull_back(
        self, attention: Attention, w: Float[Array, "H K"], slope: Float[Array, "N K"]
    ) -> Weights:
        """The gradient in Q and w of a loss whose derivative in A-hat is ``slope`` (45, 82).

        The slope is taken relative to that of the token attended to most. Where attention is
        saturated the two terms of s_j (slope_j - sum_i s_i slope_i) would cancel otherwise.
        """
        powers, scale = attention
        N, heads, K = powers.shape
        d = self.tokens.shape[0]
        anchor = _at_most_attended(powers, slope)
        relative = slope[:, None, :] - anchor[None]
        mean = scale * jnp.sum(powers * relative, axis=0)
        logits = (w * scale)[None] * powers * (relative - mean[None])
        keyed = (logits.reshape(N * heads, K) @ self.tokens.T).reshape(N, heads * d)
        Q = (self.tokens[:, :N] @ keyed).reshape(d, heads, d)
        return Weights(Q, (mean + anchor) * self.heads[:, None])


def _at_most_attended(
    powers: Float[Array, "N H K"], slope: Float[Array, "N K"]
) -> Float[Array, "H K"]:
    """The slope of the token that a head attends to most, whose power is 1.

    A chain of selections costs a third of what a reduction or a gather does.
    """

    def look(i: Array, found: Array) -> Array:
        return jnp.where(powers[i] == 1, slope[i][None, :], found)

    nothing = jnp.zeros(powers.shape[1:], dtype=powers.dtype)
    return lax.fori_loop(0, len(powers), look, nothing, unroll=min(len(powers), 32))


class Evaluation(NamedTuple):
    """The gap L - L* and the gradient of the loss."""

    gap: Float[Array, "*batch"]
    gradient: Weights


def evaluate(system: System, weights: Weights) -> Evaluation:
    """The population loss and its gradient, with four large matrix multiplications."""
    attention = system.attention(weights.Q)
    gap, slope = system.error(attention.combine(weights.w))
    return Evaluation(gap, system.pull_back(attention, weights.w, slope))


def system_of(task: Task, heads: int) -> System:
    """The system of one task, without padding or batch axis."""
    parts = (task.tokens, task.root, task.target, np.zeros(task.N), np.ones(heads), task.K)
    return System(*jax.device_put([np.asarray(part, dtype=float) for part in parts]))


def pad_systems(
    tasks: Sequence[Task], heads: Sequence[int], shape: tuple[int, int, int, int] | None = None
) -> System:
    """The systems of several tasks, padded to the largest of them and stacked.

    Or to a ``shape``, d, N, K and H: systems of one shape share a compiled program.
    """
    sizes = np.array([(t.d, t.N, t.K, own) for t, own in zip(tasks, heads, strict=True)])
    d, N, K, H = sizes.max(axis=0).tolist() if shape is None else shape
    return System(
        tokens=stack_padded([task.tokens for task in tasks], (d, K)),
        root=stack_padded([task.root for task in tasks], (N, N)),
        target=stack_padded([task.target for task in tasks], (N, K)),
        hidden=jax.device_put(np.where(np.arange(N) < sizes[:, 1:2], 0.0, -np.inf)),
        heads=stack_padded([np.ones(own) for own in heads], (H,)),
        count=jax.device_put(sizes[:, 2].astype(float)),
    )


def pad_weights(weights: Sequence[Weights], system: System) -> Weights:
    """Weights of several tasks, padded with zeros to the size of the systems and stacked."""
    d, K = system.tokens.shape[-2:]
    H = system.heads.shape[-1]
    return Weights(
        stack_padded([np.asarray(one.Q) for one in weights], (d, H, d)),
        stack_padded([np.asarray(one.w) for one in weights], (H, K)),
    )


def single(values: Any) -> Float32[Array, "..."]:
    """As an array in single precision."""
    return jax.device_put(np.asarray(values, dtype=np.float32))


def stack_padded(arrays: Sequence[np.ndarray], shape: tuple[int, ...]) -> Array:
    """Arrays padded with zeros to a common shape, as one."""
    grown = np.zeros((len(arrays), *shape))
    for row, array in zip(grown, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return jax.device_put(grown)
