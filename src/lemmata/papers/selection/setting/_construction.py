"""Theorem C.3: attention with logits scale <e_i, e_y>, how well it selects, and Eq. (8) literally.

Since <e_i, e_y> is 1 on the subset, the chosen positions share what the others leave, and all
errors follow from the weights off the subset. Nothing is subtracted from 1.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int

from lemmata._errors import InputError

from ._encodings import Encodings, subset_encodings


@dataclass(frozen=True)
class Attention:
    """The weights of a scale for many subsets.

    Attributes:
        chosen: the weight of each chosen position.
        others: the weights of all positions; 0 on the subset.
        q: the size of the subset.
    """

    chosen: Float[np.ndarray, "subsets"]
    others: Float[np.ndarray, "subsets T"]
    q: int

    @property
    def missed(self) -> Float[np.ndarray, "subsets"]:
        """The attention off the subset, u."""
        return self.others.sum(axis=1)

    @property
    def worst_error(self) -> Float[np.ndarray, "subsets"]:
        """The largest error over tokens of norm at most 1: ||Y/q - S||_1 = 2u."""
        return 2 * self.missed

    def mean_square(self, d: int) -> Float[np.ndarray, "subsets"]:
        """The mean squared error over Gaussian tokens, d ||Y/q - S||^2, without a 1/2."""
        return d * (self.missed**2 / self.q + (self.others**2).sum(axis=1))


def attend_by_scale(
    g: Float[np.ndarray, "subsets T"], y: Int[np.ndarray, "subsets q"], scale: float
) -> Attention:
    """softmax(scale g), for inner products g = <e_i, e_y> with g = 1 on the subset."""
    q = y.shape[1]
    logits = np.where(_on(g, y), -np.inf, scale * (g - 1))
    # Others can outweigh the subset where some inner product exceeds 1.
    top = np.maximum(logits.max(axis=1, keepdims=True), 0.0)
    others, chosen = np.exp(logits - top), np.exp(-top)
    total = q * chosen + others.sum(axis=1, keepdims=True)
    return Attention((chosen / total)[:, 0], others / total, q)


def largest_off_subset(g: Float[np.ndarray, "subsets T"], y: Int[np.ndarray, "subsets q"]) -> float:
    """The largest |<e_i, e_y>| over all subsets and positions off them."""
    return float(np.abs(np.where(_on(g, y), 0.0, g)).max())


def _on(
    g: Float[np.ndarray, "subsets T"], y: Int[np.ndarray, "subsets q"]
) -> Bool[np.ndarray, "subsets T"]:
    on = np.zeros(g.shape, dtype=bool)
    np.put_along_axis(on, y, True, axis=1)
    return on


@dataclass(frozen=True)
class SelfAttention:
    """f(X) = V X softmax(X'K'QX), read at the last column, for inputs as in Eq. (8)."""

    Q: Float[np.ndarray, "d_e width"]
    K: Float[np.ndarray, "d_e width"]
    V: Float[np.ndarray, "d width"]

    def weights(self, inputs: Float[np.ndarray, "width T"]) -> Float[np.ndarray, "T"]:
        """The last column of the softmax."""
        logits = inputs.T @ (self.K.T @ (self.Q @ inputs[:, -1]))
        found = np.exp(logits - logits.max())
        return found / found.sum()

    def __call__(self, inputs: Float[np.ndarray, "width T"]) -> Float[np.ndarray, "d"]:
        """The last column of the output."""
        return self.V @ inputs @ self.weights(inputs)


def equation_8(
    X: Float[np.ndarray, "d T"], E: Encodings, y: Int[np.ndarray, "q"]
) -> Float[np.ndarray, "width T"]:
    """The input: tokens, the subset's encoding in the last column alone, positions."""
    middle = np.zeros_like(E)
    middle[:, -1] = subset_encodings(E, y[None])[0]
    return np.concatenate([X, middle, E])


def self_attention(d: int, d_e: int, scale: float) -> SelfAttention:
    """The model of Theorem C.3, with blocks that fit: Q has d_e rows and carries the scale."""
    zero, empty, one = np.zeros((d_e, d)), np.zeros((d_e, d_e)), np.eye(d_e)
    return SelfAttention(
        Q=np.concatenate([zero, scale * one, empty], axis=1),
        K=np.concatenate([zero, empty, one], axis=1),
        V=np.concatenate([np.eye(d), np.zeros((d, 2 * d_e))], axis=1),
    )


def printed_self_attention(d: int, d_e: int) -> SelfAttention:
    """The same as printed: Q = [0_{d x d}, I, 0], without a scale; exists for d = d_e only."""
    zero, empty, one = np.zeros((d, d)), np.zeros((d_e, d_e)), np.eye(d_e)
    try:
        Q = np.concatenate([zero, one, empty], axis=1)
        K = np.concatenate([zero, empty, one], axis=1)
    except ValueError as error:
        raise InputError(
            f"blocks with {d} and {d_e} rows do not stand side by side: [0_(d x d), I, 0] needs "
            "d = d_e"
        ) from error
    return SelfAttention(Q, K, self_attention(d, d_e, 1.0).V)


def misled_encodings() -> Encodings:
    """Six sign vectors with inner products up to 1/4 of which five together mislead.

    Five are orthogonal: the coordinates run three times through all patterns of five signs. The
    sixth is their majority on two of the copies and their product on the third, so that it has
    inner product 1/4 with each of them, and 5/4 with the encoding of all five.
    """
    patterns = np.array(list(product((1.0, -1.0), repeat=5)))
    majority, parity = np.sign(patterns.sum(axis=1)), patterns.prod(axis=1)
    sixth = np.concatenate([majority, majority, parity])
    return np.column_stack([np.tile(patterns, (3, 1)), sixth]) / np.sqrt(96)


def tight_encodings() -> Encodings:
    """Three sign vectors with inner products -1/4, 1/4, 1/4, and <e_3, e_y> = 2/3 for the others.

    No three unit vectors with inner products up to 1/4 have more.
    """
    second = np.repeat([1.0, -1.0], [6, 10])
    third = np.repeat([1.0, -1.0, 1.0], [5, 6, 5])
    return np.column_stack([np.ones(16), second, third]) / 4
