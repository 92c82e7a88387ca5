"""Algorithm 1 as one would write it from the paper: NumPy, three nested loops, textbook softmax.

It subtracts 1 from probabilities, so it is only right while nothing saturates. At the settings of
Section 7 nothing does, and it must agree with Lemmata.
"""

import numpy as np
from jaxtyping import Float

from lemmata.papers.convergence.setting import Dataset

Matrix = Float[np.ndarray, "rows columns"]


def softmax(z: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """e^z / sum e^z, shifted by the maximum."""
    exponential = np.exp(z - z.max())
    return exponential / exponential.sum()


def train_values(dataset: Dataset, steps: int, rate: float) -> Matrix:
    """Stage 1: W_ov after ``steps`` updates from zero."""
    K = dataset.K
    tokens = np.eye(K)
    W_ov = np.zeros((K, K))
    for _ in range(steps):
        gradient = np.zeros((K, K))
        for x in range(K):
            error = softmax(W_ov @ tokens[x])
            error[dataset.collocation.following[x]] -= 1.0
            gradient += np.outer(error, tokens[x])
        W_ov -= rate * gradient / np.linalg.norm(gradient)
    return W_ov


def train_attention(
    dataset: Dataset, W_ov: Matrix, target: Matrix, steps: int, rate: float
) -> tuple[Matrix, list[tuple[float, float, float]]]:
    """Stage 2: W_kq, and (loss, norm, cosine with ``target``) before each update."""
    K = dataset.K
    tokens = np.eye(K)
    W_kq = np.zeros((K, K))
    history = []
    for _ in range(steps):
        gradient = np.zeros((K, K))
        loss = 0.0
        for sample, share in zip(dataset.data.samples, dataset.data.frequencies, strict=True):
            X = tokens[list(sample.tokens)].T
            query = X[:, -1]
            weights = softmax(X.T @ W_kq @ query)
            output = softmax(W_ov @ X @ weights)
            loss -= share * np.log(output[sample.label])
            output[sample.label] -= 1.0
            jacobian = np.diag(weights) - np.outer(weights, weights)
            gradient += share * np.outer(X @ jacobian @ X.T @ W_ov.T @ output, query)
        norm = float(np.linalg.norm(W_kq))
        cosine = float(np.sum(W_kq * target)) / (norm * np.linalg.norm(target)) if norm else 0.0
        history.append((loss, norm, cosine))
        W_kq = W_kq - rate * gradient / np.linalg.norm(gradient)
    return W_kq, history
