"""What plans of a search are made of: geometries of tokens and representations, and plain ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ._plan import Plan
from ._task import UNIT, Task

TOKENS = ("unit", "one-hot", "close", "opposite", "gaussian")
"""Directions at random; coordinate vectors; almost the same; pairs v and -v; of any length."""

REPRESENTATIONS = ("gaussian", "orthogonal", "close", "equal", "zero queries", "tokens", "across")
"""At random; coordinate vectors; almost the same; the same; nothing to predict; as the tokens; the
first one along (1, ..., 1), which the mean of other laws may be, and longer ones across it.
"""

ACROSS = 10.0
"""How much longer representations across (1, ..., 1) are."""

CLOSE = 1e-3
"""How far apart vectors are that are almost the same."""


@dataclass(frozen=True)
class Parts:
    """A plan by its sizes, geometries and scales; the defaults are the usual ones.

    Attributes:
        N, K, d, m, H, tau, beta, seed: as in a plan file; K is made larger than N.
        tokens, representations: their geometry.
        token_scale, scale, query_scale: factors of all tokens, all representations, and the last
            one alone.
    """

    N: int = 2
    K: int = 4
    d: int = 2
    m: int = 2
    H: int = 2
    tau: float = 0.1
    tokens: str = "unit"
    representations: str = "gaussian"
    token_scale: float = 1.0
    scale: float = 1.0
    query_scale: float = 1.0
    beta: float = 1.0
    seed: int = 1

    def plan(self, name: str, seed: int) -> Plan:
        """A plan with random numbers from a seed."""
        draw, K = np.random.default_rng(seed), max(self.K, self.N + 1)
        tokens = self.token_scale * _tokens(self.tokens, self.d, K, draw)
        features = self.scale * _features(self.representations, self.m, tokens, draw)
        features[:, -1] *= self.query_scale
        if self.representations == "zero queries":
            features[:, self.N :] = 0.0
        task = Task(tokens, features, self.N, self.tau, name)
        return Plan(task, self.H, scale=self.beta, seed=self.seed)


def _tokens(kind: str, d: int, K: int, draw: np.random.Generator) -> Float[np.ndarray, "d K"]:
    random = draw.standard_normal((d, K))
    if kind == "gaussian":
        return random
    if kind == "one-hot":
        signs = np.where(np.arange(K) < d, 1.0, -1.0)
        return np.eye(d)[:, np.arange(K) % d] * signs
    if kind == "close":
        return renormalized(random[:, :1] + CLOSE * random)
    if kind == "opposite":
        random[:, 1::2] = -random[:, : K - 1 : 2]
    return renormalized(random)


def _features(
    kind: str, m: int, tokens: Float[np.ndarray, "d K"], draw: np.random.Generator
) -> Float[np.ndarray, "m K"]:
    K = tokens.shape[1]
    random = draw.standard_normal((m, K))
    if kind == "orthogonal":
        return np.eye(m)[:, np.arange(K) % m]
    if kind == "close":
        return random[:, :1] + CLOSE * random
    if kind == "equal":
        return np.repeat(random[:, :1], K, axis=1)
    if kind == "tokens":
        return np.resize(tokens, (m, K)) / np.abs(tokens).max()
    if kind == "across":
        random = ACROSS * (random - random.mean(axis=0))
        random[:, 0] = 1.0
    return random


def plain_tokens(d: int) -> list[tuple[float, ...]]:
    """Unit vectors that can be typed in: coordinate vectors, one of them reversed, and a slant."""
    rows = [tuple(row) for row in np.eye(d).tolist()]
    rows.append(tuple((-np.eye(d)[0]).tolist()))
    if d > 1:
        rows.append((0.6, 0.8, *(0.0,) * (d - 2)))
    return rows


def plain_features(m: int) -> list[tuple[float, ...]]:
    """Representations that can be typed in: coordinate vectors, and all of them together."""
    if m == 1:
        return [(1.0,), (-1.0,), (2.0,)]
    return [*(tuple(row) for row in np.eye(m).tolist()), (1.0,) * m]


def snapped(tokens: Float[np.ndarray, "d K"], column: int | None) -> Float[np.ndarray, "d K"]:
    """Tokens, or one of them, as the nearest plain ones; those of norm 1 keep it."""
    found, d = tokens.copy(), len(tokens)
    family = np.array(plain_tokens(d) + [tuple(-np.array(row)) for row in plain_tokens(d)])
    for k in range(tokens.shape[1]) if column is None else [column]:
        if is_unit(tokens[:, k : k + 1]):
            found[:, k] = family[np.argmax(family @ tokens[:, k])]
        else:
            found[:, k] = np.round(tokens[:, k], 1)
    return found + 0.0


def plain_representations(
    features: Float[np.ndarray, "m K"], column: int | None
) -> Iterator[Float[np.ndarray, "m K"]]:
    """Representations, or one of them, as zeros, ones, or with fewer digits."""
    chosen = slice(None) if column is None else slice(column, column + 1)
    for plain in (np.zeros_like, np.ones_like, np.round, _one_digit, _two_digits):
        found = features.copy()
        found[:, chosen] = plain(features[:, chosen]) + 0.0
        yield found


def _one_digit(values: np.ndarray) -> np.ndarray:
    return _significant(values, 1)


def _two_digits(values: np.ndarray) -> np.ndarray:
    return _significant(values, 2)


def _significant(values: np.ndarray, digits: int) -> np.ndarray:
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"), otypes=[float])(values)


def is_unit(tokens: Float[np.ndarray, "d K"]) -> bool:
    """Whether all tokens have norm 1."""
    return bool((np.abs(np.linalg.norm(tokens, axis=0) - 1) <= UNIT).all())


def renormalized(tokens: Float[np.ndarray, "d K"]) -> Float[np.ndarray, "d K"]:
    """Tokens of norm 1."""
    return tokens / np.linalg.norm(tokens, axis=0)


def digits_of(values: Sequence[float] | Float[np.ndarray, "..."]) -> int:
    """How much there is to type."""
    return sum(len(repr(float(value))) for value in np.ravel(values) if value)
