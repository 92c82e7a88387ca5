"""Training written as one would write it first: softmax, chain rule, one step after the other.

Plain float64 on matrices W in the space of the embeddings; right while nothing saturates.
"""

from collections.abc import Sequence

import numpy as np

Row = tuple[Sequence[int], int] | tuple[Sequence[int], int, int]
"""A sequence, its label, and its query if that is not the last token."""


def softmax(z: np.ndarray) -> np.ndarray:
    """exp(z) / sum exp(z)."""
    powers = np.exp(z - z.max())
    return powers / powers.sum()


def risk(rows: Sequence[Row], E: np.ndarray, W: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log(mass on the label), and its gradient."""
    loss, gradient = 0.0, np.zeros_like(W)
    for row in rows:
        tokens, label = list(row[0]), row[1]
        query = row[2] if len(row) > 2 else tokens[-1]
        x, q = E[tokens], E[query]
        s = softmax(x @ W @ q)
        own = np.array([token == label for token in tokens])
        mass = s[own].sum()
        loss -= np.log(mass) / len(rows)
        pull = -(own / mass)
        gradient += np.outer(x.T @ (s * (pull - s @ pull)), q) / len(rows)
    return loss, gradient


def hessian(rows: Sequence[Row], E: np.ndarray, W: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of the gradient."""
    columns = []
    for at in np.ndindex(W.shape):
        move = np.zeros_like(W)
        move[at] = step
        difference = risk(rows, E, W + move)[1] - risk(rows, E, W - move)[1]
        columns.append(difference.ravel() / (2 * step))
    return np.array(columns)


def train(
    rows: Sequence[Row],
    E: np.ndarray,
    start: np.ndarray,
    rate: float,
    steps: int,
    *,
    normalized: bool,
    epsilon: float = 0.0,
) -> np.ndarray:
    """W after each step, the start included."""
    W, found = start.copy(), [start.copy()]
    for _ in range(steps):
        gradient = risk(rows, E, W)[1]
        length = np.linalg.norm(gradient) + epsilon if normalized else 1.0
        W = W - rate * gradient / length
        found.append(W)
    return np.array(found)


def train_factors(
    rows: Sequence[Row],
    E: np.ndarray,
    keys: np.ndarray,
    queries: np.ndarray,
    rate: float,
    steps: int,
) -> np.ndarray:
    """W = K Q^T after each normalized step on the pair (K, Q)."""
    found = [keys @ queries.T]
    for _ in range(steps):
        G = risk(rows, E, keys @ queries.T)[1]
        down_keys, down_queries = G @ queries, G.T @ keys
        length = np.sqrt(np.sum(down_keys**2) + np.sum(down_queries**2))
        keys, queries = keys - rate * down_keys / length, queries - rate * down_queries / length
        found.append(keys @ queries.T)
    return np.array(found)


def risk_of_heads(
    rows: Sequence[Row], E: np.ndarray, heads: np.ndarray
) -> tuple[float, np.ndarray]:
    """The mean of -log(mass on the label, averaged over heads), and its gradient in each head."""
    loss, gradient = 0.0, np.zeros_like(heads)
    for tokens, label in ((list(row[0]), row[1]) for row in rows):
        x, q = E[tokens], E[tokens[-1]]
        own = np.array([token == label for token in tokens], dtype=float)
        attention = [softmax(x @ W @ q) for W in heads]
        mass = sum(float(own @ s) for s in attention) / len(heads)
        loss -= np.log(mass) / len(rows)
        for h, s in enumerate(attention):
            slope = x.T @ (s * own) - (own @ s) * (x.T @ s)
            gradient[h] -= np.outer(slope, q) / (len(rows) * len(heads) * mass)
    return loss, gradient


def train_heads(
    rows: Sequence[Row],
    E: np.ndarray,
    heads: np.ndarray,
    rate: float,
    steps: int,
    *,
    normalized: bool,
) -> np.ndarray:
    """The weights of all heads after so many steps."""
    for _ in range(steps):
        gradient = risk_of_heads(rows, E, heads)[1]
        heads = heads - rate * gradient / (np.linalg.norm(gradient) if normalized else 1.0)
    return heads


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """<a, b> / |a||b|."""
    return float(np.sum(a * b) / np.linalg.norm(a) / np.linalg.norm(b))


def tied_span(rows: Sequence[np.ndarray]) -> np.ndarray:
    """The orthogonal projector onto the span of some matrices, on flattened matrices."""
    stacked = np.array([row.ravel() for row in rows])
    return np.linalg.pinv(stacked) @ stacked
