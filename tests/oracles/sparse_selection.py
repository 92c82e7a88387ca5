"""Sparse token selection, read off word by word.

The model as Definition 2.4 writes it, averages over tokens by an exact quadrature, restricted
isometry support by support, rejection one vector at a time, and the recursion of two numbers in as
many digits as mpmath is asked for.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from mpmath import mp, mpf

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "selection_golden.json").read_text()
)
"""Reference numbers of the sparse selection paper, computed once elsewhere."""

SMALL = np.array(FACTS["small_encoding"]["signs"], dtype=float) / math.sqrt(8)
"""The stored encodings: eight dimensions, six positions."""


def subset_vector(E: np.ndarray, y: Sequence[int]) -> np.ndarray:
    """e_y as the shortest vector with <e_i, e_y> = 1 for i in y."""
    return np.linalg.lstsq(E[:, list(y)].T, np.ones(len(y)), rcond=None)[0]


def attention(W: jax.Array, X: jax.Array, E: jax.Array, z: jax.Array) -> jax.Array:
    """softmax(Z' W z_query), with Z = [X; E] written out."""
    Z = jnp.concatenate([X, E])
    powers = jnp.exp(Z.T @ W @ z)
    return powers / jnp.sum(powers)


def predict(V: jax.Array, W: jax.Array, X: jax.Array, E: jax.Array, z: jax.Array) -> jax.Array:
    """V Z softmax(Z' W z_query)."""
    return V @ jnp.concatenate([X, E]) @ attention(W, X, E, z)


class Samples(NamedTuple):
    """Samples that share their encodings: tokens, encodings, z_query and the target."""

    X: jax.Array
    E: jax.Array
    z: jax.Array
    target: jax.Array

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, E: np.ndarray, x_query: np.ndarray) -> "Samples":
        """From tokens, subsets and one x_query for each."""
        z = [
            np.concatenate([x, subset_vector(E, rows)]) for x, rows in zip(x_query, y, strict=True)
        ]
        target = [tokens[:, rows].mean(axis=1) for tokens, rows in zip(X, y, strict=True)]
        return cls(*map(jnp.asarray, (X, E, z, target)))


@jax.jit
def batch_losses(V: jax.Array, W: jax.Array, samples: Samples) -> jax.Array:
    """Half the squared errors."""
    X, E, z, target = samples
    errors = target - jax.vmap(predict, in_axes=(None, None, 0, None, 0))(V, W, X, E, z)
    return 0.5 * jnp.sum(errors**2, axis=1)


@jax.jit
def batch_gradient(
    V: jax.Array, W: jax.Array, samples: Samples
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    """The losses, and the gradient of their mean by automatic differentiation."""

    def mean(*weights: jax.Array) -> tuple[jax.Array, jax.Array]:
        losses = batch_losses(*weights, samples)
        return losses.mean(), losses

    (_, losses), slopes = jax.value_and_grad(mean, argnums=(0, 1), has_aux=True)(V, W)
    return losses, slopes


def quadrature(d: int, T: int) -> tuple[np.ndarray, np.ndarray]:
    """Token matrices and their chances: exact up to the fifth power of every entry of X."""
    nodes, chances = (-math.sqrt(3), 0.0, math.sqrt(3)), (1 / 6, 2 / 3, 1 / 6)
    X = np.array(list(product(nodes, repeat=d * T))).reshape(-1, d, T)
    return X, np.array(list(product(chances, repeat=d * T))).prod(axis=1)


def population_loss(
    V: jax.Array, W: jax.Array, members: np.ndarray, q: int, x_query: np.ndarray, *, inside: bool
) -> jax.Array:
    """Eq. (4), or Eq. (3) averaged over encodings, for W whose first d rows are zero."""
    T = members.shape[2]
    X, chances = quadrature(len(V), T)
    every = list(combinations(range(T), q))
    targets = jnp.asarray([X[:, :, list(y)].mean(axis=2) for y in every])
    z = jnp.asarray(
        [[np.concatenate([x_query, subset_vector(E, y)]) for y in every] for E in members]
    )
    by_tokens = jax.vmap(predict, in_axes=(None, None, 0, None, None))
    by_subset = jax.vmap(by_tokens, in_axes=(None, None, None, None, 0))
    by_member = jax.vmap(by_subset, in_axes=(None, None, None, 0, 0))
    outputs = by_member(V, W, jnp.asarray(X), jnp.asarray(members), z)
    if inside:
        outputs = jnp.mean(outputs, axis=0, keepdims=True)
    errors = 0.5 * jnp.sum((targets[None] - outputs) ** 2, axis=3)
    return jnp.mean(errors @ jnp.asarray(chances))


def supports(T: int, most: int) -> Iterator[tuple[int, ...]]:
    """All sets of 1 to ``most`` positions."""
    for size in range(1, min(most, T) + 1):
        yield from combinations(range(T), size)


def isometry(E: np.ndarray, q: int) -> float:
    """The first half of Definition A.1, over every support of at most q positions."""
    gram = E.T @ E
    return max(
        float(np.abs(np.linalg.eigvalsh(gram[np.ix_(S, S)]) - 1).max())
        for S in supports(len(gram), q)
    )


def orthogonality(E: np.ndarray, q: int) -> float:
    """The second half, over every two disjoint supports of at most q and 2q positions."""
    gram = E.T @ E
    pairs = (
        (S, R)
        for S in supports(len(gram), q)
        for R in supports(len(gram), 2 * q)
        if not set(S) & set(R)
    )
    return max((float(np.linalg.norm(gram[np.ix_(S, R)], 2)) for S, R in pairs), default=0.0)


def rejection(candidates: np.ndarray, T: int, limit: float) -> tuple[np.ndarray, int]:
    """Appendix F, one vector after the other: the T kept ones, and how many were looked at."""
    kept: list[np.ndarray] = []
    for looked, vector in enumerate(candidates):
        if len(kept) == T:
            return np.array(kept), looked
        if all(abs(int(vector @ other)) <= limit for other in kept):
            kept.append(vector)
    return np.array(kept), len(candidates)


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """A linear system in fractions."""
    size = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


Patterns = Counter[tuple[Fraction, ...]]
"""How often the inner products <e_i, e_y> outside y come out as they do."""


def patterns(d_e: int, T: int, q: int, threshold: Fraction) -> Patterns:
    """Over all sign matrices within the threshold, and all subsets."""
    vectors = np.array(list(product((1, -1), repeat=d_e)))
    columns = np.indices((len(vectors),) * T).reshape(T, -1)
    grams = (vectors @ vectors.T)[columns[:, None], columns[None, :]]
    off = np.abs(grams - d_e * np.eye(T, dtype=int)[:, :, None])
    allowed = grams[:, :, (off <= threshold * d_e).all(axis=(0, 1))].T
    result: Patterns = Counter()
    for gram, count in zip(*np.unique(allowed, axis=0, return_counts=True), strict=True):
        for y in combinations(range(T), q):
            result[inner_outside(gram.tolist(), y, d_e)] += int(count)
    return result


def inner_outside(
    gram: Sequence[Sequence[int]], y: Sequence[int], scale: int
) -> tuple[Fraction, ...]:
    """<e_i, e_y> for the positions outside y, sorted; the Gram matrix is given times the scale."""
    exact = [[Fraction(x, scale) for x in row] for row in gram]
    weights = solve([[exact[i][j] for j in y] for i in y], [Fraction(1)] * len(y))
    others = (i for i in range(len(gram)) if i not in y)
    return tuple(
        sorted(sum(exact[i][j] * c for j, c in zip(y, weights, strict=True)) for i in others)
    )


@dataclass(frozen=True)
class Point:
    """alpha and C with the loss there."""

    alpha: mpf
    C: mpf
    loss: mpf


def one_hot_path(T: int, q: int, d: int, rate: float, steps: int) -> list[Point]:
    """Eq. (6) as a recursion, with the loss of Lemma D.2."""
    alpha, C, path = mpf(0), mpf(0), []
    for _ in range(steps + 1):
        s = 1 / (q + (T - q) * mp.exp(-C))
        D = T * q * s**2 - 2 * q * s + 1
        loss = mpf(d) / 2 * ((1 - q * alpha * s) ** 2 / q + alpha**2 * (1 - q * s) ** 2 / (T - q))
        path.append(Point(alpha, C, loss))
        alpha, C = (
            alpha + mpf(rate) * s * (1 - alpha * D / ((T - q) * s)),
            C
            + mpf(rate)
            * alpha
            * d
            / (T - 1)
            * s
            * (1 - q * s)
            * (1 + q * alpha * (1 - T * s) / (T - q)),
        )
    return path


@dataclass(frozen=True)
class Attention:
    """S on y and outside for one pattern, and how both change with C."""

    chosen: mpf
    others: list[mpf]
    d_chosen: mpf
    d_others: list[mpf]


def attend(g: Sequence[Fraction], q: int, C: mpf) -> Attention:
    """softmax(C g), with g = 1 on y; its derivative is S_i (g_i - sum_j S_j g_j)."""
    exact = [mpf(x.numerator) / x.denominator for x in g]
    powers = [mp.exp(C * x) for x in exact]
    total = q * mp.exp(C) + mp.fsum(powers)
    chosen, others = mp.exp(C) / total, [p / total for p in powers]
    mean = q * chosen + mp.fsum(s * x for s, x in zip(others, exact, strict=True))
    slopes = [s * (x - mean) for s, x in zip(others, exact, strict=True)]
    return Attention(chosen, others, chosen * (1 - mean), slopes)


def family_path(
    found: Patterns, T: int, q: int, d: int, d_e: int, rate: float, steps: int, *, inside: bool
) -> list[Point]:
    """Descent of alpha and C: the corrected Lemma E.7, or the chain rule on the mean of losses."""
    total = sum(found.values())
    alpha, C, path = mpf(0), mpf(0), []
    for _ in range(steps + 1):
        seen = [(mpf(count) / total, g, attend(g, q, C)) for g, count in found.items()]
        if inside:
            s = mp.fsum(p * S.chosen for p, _, S in seen)
            lag = mp.fsum(
                p * S.chosen * mp.fsum((1 - mpf(x.numerator) / x.denominator) * w for x, w in pairs)
                for p, g, S in seen
                for pairs in [list(zip(g, S.others, strict=True))]
            )
            loss = (1 - q * alpha * s) ** 2 / q + alpha**2 * (1 - q * s) ** 2 / (T - q)
            up = s - alpha * (q * s**2 + (1 - q * s) ** 2 / (T - q))
            steeper = (1 - q * alpha * (T * s - 1) / (T - q)) * lag
        else:
            error = [(p, mpf(1) / q - alpha * S.chosen, S) for p, _, S in seen]
            loss = mp.fsum(
                p * (q * e**2 + alpha**2 * mp.fsum(w**2 for w in S.others)) for p, e, S in error
            )
            up = mp.fsum(
                p * (q * e * S.chosen - alpha * mp.fsum(w**2 for w in S.others))
                for p, e, S in error
            )
            steeper = mp.fsum(
                p
                * (
                    q * e * S.d_chosen
                    - alpha * mp.fsum(w * dw for w, dw in zip(S.others, S.d_others, strict=True))
                )
                for p, e, S in error
            )
        path.append(Point(alpha, C, mpf(d) / 2 * loss))
        alpha, C = alpha + mpf(rate) * up, C + mpf(rate) * d * alpha / d_e * steeper
    return path
