"""In-context learning with representations, read off word by word.

Expectations over labels are averages over finitely many prompts with the right second moments,
attention is computed one entry at a time, training is a loop in NumPy, and whatever float64 cannot
hold is computed with as many digits as mpmath is asked for.
"""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from mpmath import mp, mpf

from oracles.sparse_selection import solve

FACTS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "data" / "context_golden.json").read_text()
)
"""Reference numbers of the in-context paper, computed once elsewhere."""

GOLDEN: dict[str, dict[str, Any]] = {one["name"]: one for one in FACTS["instances"]}
"""The stored instances by name."""


class Instance(NamedTuple):
    """What a task is made of: tokens, representations, N and tau."""

    tokens: np.ndarray
    representations: np.ndarray
    N: int
    tau: float

    @property
    def m(self) -> int:
        return len(self.representations)

    @property
    def K(self) -> int:
        return self.tokens.shape[1]

    @property
    def gram(self) -> np.ndarray:
        """Z'Z + m tau I, entry by entry."""
        Z = self.representations[:, : self.N]
        rows = range(self.N)
        return np.array(
            [[Z[:, i] @ Z[:, j] + (i == j) * self.m * self.tau for j in rows] for i in rows]
        )


def draw(N: int, K: int, d: int, m: int, tau: float, seed: int, *, unit: bool = True) -> Instance:
    """A random instance."""
    rng = np.random.default_rng([seed, 77])
    tokens = rng.standard_normal((d, K))
    if unit:
        tokens = tokens / np.sqrt((tokens**2).sum(axis=0))
    return Instance(tokens, rng.uniform(-1.5, 1.5, (m, K)), N, tau)


def draw_heads(instance: Instance, H: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random Q_h, one after the other, and w."""
    rng = np.random.default_rng([seed, 78])
    d, K = instance.tokens.shape
    return rng.normal(0, 1.5, (H, d, d)), rng.normal(0, 0.7, (H, K))


@st.composite
def instances(draw_from: st.DrawFn) -> Instance:
    """Random instances of all small shapes: N up to K, with N below and above m."""
    K = draw_from(st.integers(1, 6))
    N, d, m = draw_from(st.tuples(st.integers(1, K), st.integers(1, 4), st.integers(1, 4)))
    tau = draw_from(st.sampled_from([0.01, 0.3, 2.0]))
    return draw(N, K, d, m, tau, draw_from(st.integers(0, 10_000)))


def stored(name: str) -> tuple[Instance, np.ndarray, np.ndarray]:
    """A stored instance with its Q_h and w."""
    facts = GOLDEN[name]
    inputs = {key: np.array(value) for key, value in facts["inputs"].items()}
    instance = Instance(inputs["S_dxK"], inputs["Zhat_mxK"], facts["N"], facts["tau"])
    return instance, inputs["Q0_Hxdxd"], inputs["w1_HxK"]


def target(instance: Instance) -> np.ndarray:
    """A = (Z'Z + m tau I)^-1 (Z'Z-hat + (m tau I, 0)) as in (34), in fractions."""
    every = [[Fraction(x) for x in column] for column in instance.representations.T.tolist()]
    ridge = instance.m * Fraction(instance.tau)
    prompt = every[: instance.N]

    def inner(i: int, k: int) -> Fraction:
        overlap = sum((x * y for x, y in zip(prompt[i], every[k], strict=True)), Fraction(0))
        return overlap + (ridge if i == k else 0)

    rows = range(instance.N)
    gram = [[inner(i, j) for j in rows] for i in rows]
    columns = [solve(gram, [inner(i, k) for i in rows]) for k in range(instance.K)]
    return np.array(columns, dtype=float).T


def prompts(
    instance: Instance, mean: np.ndarray | None = None, mixing: np.ndarray | None = None
) -> np.ndarray:
    """Labels of all tokens in equally likely prompts, which have the moments of those in (1).

    All signs for the entries behind lambda, and for the noise a cubature of the third degree: one
    of its entries at a time, and large. A quadratic function of the labels averages to its mean.
    """
    m, K = instance.representations.shape
    mean = np.zeros(m) if mean is None else mean
    mixing = np.eye(m) if mixing is None else mixing
    found = []
    for signs in product((-1.0, 1.0), repeat=m):
        coefficients = mean + mixing @ np.array(signs)
        for i, k, sign in product(range(m), range(K), (-1, 1)):
            noisy = instance.representations.copy()
            noisy[i, k] += sign * math.sqrt(m * K * instance.tau)
            found.append(coefficients @ noisy)
    return np.array(found)


def sampled_prompts(
    instance: Instance, coefficients: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Labels as in (1), with a noise vector for every token."""
    noise = rng.normal(0, math.sqrt(instance.tau), (len(coefficients), instance.m, instance.K))
    return np.einsum("pi,pik->pk", coefficients, instance.representations[None] + noise)


def squared_errors(labels: np.ndarray, combined: np.ndarray) -> np.ndarray:
    """(y-hat_k - y_k)^2 of every prompt and token."""
    return (labels[:, : len(combined)] @ combined - labels) ** 2


def loss(labels: np.ndarray, combined: np.ndarray) -> float:
    """(9) over these prompts."""
    return float(squared_errors(labels, combined).mean() / 2)


def scores(instance: Instance, Q: np.ndarray) -> np.ndarray:
    """s^h_k (28), entry by entry: first the prompt token, then the head, then k."""
    found = np.zeros((instance.N, len(Q), instance.K))
    for h, k in product(range(len(Q)), range(instance.K)):
        at = [float(v @ Q[h] @ instance.tokens[:, k]) for v in instance.tokens.T[: instance.N]]
        powers = [math.exp(x - max(at)) for x in at]
        found[:, h, k] = [power / sum(powers) for power in powers]
    return found


def combined(instance: Instance, Q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A-hat (35)."""
    return np.einsum("hk,nhk->nk", w, scores(instance, Q))


def predictions(instance: Instance, Q: np.ndarray, w: np.ndarray, y: np.ndarray) -> list[float]:
    """(8) for every token."""
    s = scores(instance, Q)
    return [
        sum(y[i] * w[h, k] * s[i, h, k] for i in range(instance.N) for h in range(len(Q)))
        for k in range(instance.K)
    ]


def literal_loss(
    tokens: jax.Array, labels: jax.Array, N: int, Q: jax.Array, w: jax.Array
) -> jax.Array:
    """(9) over some prompts, with the softmax as it is written, for automatic derivatives."""
    powers = jnp.exp(jnp.einsum("an,hab,bk->nhk", tokens[:, :N], Q, tokens))
    attention = powers / jnp.sum(powers, axis=0, keepdims=True)
    errors = labels[:, :N] @ jnp.einsum("hk,nhk->nk", w, attention) - labels
    return jnp.mean(errors**2) / 2


def slopes(
    instance: Instance, A: np.ndarray, Q: np.ndarray, w: np.ndarray
) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """L - L* (36) and its derivatives (82) in every Q_h and (45) in w."""
    s = scores(instance, Q)
    away = np.einsum("hk,nhk->nk", w, s) - A
    weighted = instance.gram @ away / instance.K
    in_w = np.einsum("nhk,nk->hk", s, weighted)
    V = instance.tokens[:, : instance.N]
    in_Q = np.zeros_like(Q)
    for h, k, j in product(range(len(Q)), range(instance.K), range(instance.N)):
        moved = (V[:, [j]] - V) @ s[:, h, k]
        in_Q[h] += weighted[j, k] * w[h, k] * s[j, h, k] * np.outer(moved, instance.tokens[:, k])
    return float((away * weighted).sum() / 2), (in_Q, in_w)


class Point(NamedTuple):
    """Weights, with the gap and the derivatives there."""

    Q: np.ndarray
    w: np.ndarray
    gap: float
    slopes: tuple[np.ndarray, np.ndarray]


def descent(
    instance: Instance, Q: np.ndarray, w: np.ndarray, rates: tuple[float, float]
) -> Iterator[Point]:
    """Gradient descent (10), from the start on."""
    A = target(instance)
    while True:
        point = Point(Q, w, *slopes(instance, A, Q, w))
        yield point
        Q, w = Q - rates[0] * point.slopes[0], w - rates[1] * point.slopes[1]


def adam(instance: Instance, Q: np.ndarray, w: np.ndarray, rate: float) -> Iterator[Point]:
    """Adam with 0.9, 0.999 and 1e-8, from the start on."""
    A = target(instance)
    weights = [Q, w]
    first, second = [0 * Q, 0 * w], [0 * Q, 0 * w]
    t = 0
    while True:
        point = Point(*weights, *slopes(instance, A, *weights))
        yield point
        t += 1
        for i, slope in enumerate(point.slopes):
            first[i] = 0.9 * first[i] + 0.1 * slope
            second[i] = 0.999 * second[i] + 0.001 * slope**2
            mean, square = first[i] / (1 - 0.9**t), second[i] / (1 - 0.999**t)
            weights[i] = weights[i] - rate * mean / (np.sqrt(square) + 1e-8)


def exact(array: np.ndarray) -> Any:
    """A matrix of mpmath's numbers."""
    return mp.matrix(np.atleast_2d(array).tolist())


def exact_scores(instance: Instance, Q: np.ndarray, k: int) -> Any:
    """C_k (13), in mpmath's precision."""
    C = mp.zeros(instance.N, len(Q))
    for h, head in enumerate(Q):
        at = exact(instance.tokens[:, : instance.N]).T * (
            exact(head) * exact(instance.tokens[:, [k]])
        )
        total = mp.fsum(mp.exp(x) for x in at)
        for i in range(instance.N):
            C[i, h] = mp.exp(at[i]) / total
    return C


def exact_gram(instance: Instance) -> Any:
    """Z'Z + m tau I, in mpmath's precision."""
    Z = exact(instance.representations[:, : instance.N])
    return Z.T * Z + instance.m * mpf(instance.tau) * mp.eye(instance.N)


def exact_slopes(instance: Instance, Q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The derivatives (82) in every Q_h, in mpmath's precision."""
    G, A = exact_gram(instance), exact(target(instance))
    S = exact(instance.tokens)
    found = [mp.zeros(len(Q[0])) for _ in Q]
    for k in range(instance.K):
        C = exact_scores(instance, Q, k)
        weighted = G * (C * exact(w[:, [k]]) - A[:, k]) / instance.K
        for h, j, i in product(range(len(Q)), range(instance.N), range(instance.N)):
            factor = weighted[j] * mpf(w[h, k]) * C[j, h] * C[i, h]
            found[h] += factor * (S[:, j] - S[:, i]) * S[:, k].T
    return np.array([head.tolist() for head in found])


class Printed(NamedTuple):
    """The constants as (15), (44), (61) and (17) print them, L also as it has to be."""

    gamma: mpf
    alpha: mpf
    L: mpf
    L_repaired: mpf
    L_simplified: mpf
    rate_supremum: mpf


def printed(N: int, K: int, H: int, **given: Any) -> Printed:
    """From ridge, zeta, gap, spectral, largest_column, target and cross."""
    ridge, zeta, gap, spectral, column, A, cross = (
        mpf(given[name])
        for name in ("ridge", "zeta", "gap", "spectral", "largest_column", "target", "cross")
    )
    root = mp.sqrt(2)
    square = 128 * root / (root - 1) * spectral**2 * mp.sqrt(H) * column * mp.sqrt(K) ** 3 * gap
    gamma = mp.sqrt(square) / mp.root(zeta, 4) ** 5
    alpha = mp.sqrt(2 * K) * 4 * spectral / (gamma * zeta) * mp.sqrt(gap)
    reach = gamma * H * alpha
    in_alpha = 2 * (
        (2 * gamma * spectral**2 * (2 * reach + A)) ** 2 / K
        + gamma**4 / mpf(K) ** 2 * H**2 * spectral**4
    )
    in_Q = max(mpf(1), (2 * mp.sqrt(K) * alpha) ** 2) * (reach**2 + 4 * N * (reach + A) ** 2)
    once = 2 * gamma * column * spectral / K
    simplified = (
        8 * root * H * mp.sqrt(K) * spectral**2 / zeta * mp.sqrt(gap) + 1 + cross / ridge
    ) ** 2 * spectral**4 * (
        mpf(8) / K * gamma**2 + 4096 / (gamma * zeta**2) * mpf(K) ** 2 * N * gap
    ) + 2 * H**2 * spectral**4 * (
        gamma**4 / mpf(K) ** 2 + 16384 / (gamma * zeta**4) * mpf(K) ** 3 * spectral**2 * gap**2
    )
    return Printed(
        gamma,
        alpha,
        mp.sqrt(in_alpha + 4 * once * K * in_Q),
        mp.sqrt(in_alpha + 4 * once**2 * K * in_Q),
        mp.sqrt(simplified),
        zeta / (2 * root * H * spectral**2),
    )
