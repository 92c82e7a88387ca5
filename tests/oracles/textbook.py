"""The model as a textbook writes it, in as many digits as it takes.

Softmax first, then the difference to the one-hot label: in floating point that is worthless
once a softmax saturates, but with enough digits it is simply right. Nothing here is shared with
the formulas of the package: the inputs are read position by position and nothing is kept as a
logarithm.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

from lemmata.tokens import TokenData

Cell = tuple[int, int]
Table = dict[Cell, mpf]


def digits_for(gap: float) -> int:
    """Enough decimal digits for e^-gap beside 1, and fifty more."""
    return int(gap / 2.3) + 50


@dataclass(frozen=True)
class Gradients:
    """Loss, and its gradients in W_ov (token, next token) and W_kq (token, query)."""

    loss: mpf
    values: Table
    weights: Table


def softmax(logits: Sequence[mpf]) -> list[mpf]:
    """exp(z) / sum exp(z)."""
    top = max(logits)
    powers = {z: mp.exp(z - top) for z in set(logits)}
    total = mp.fsum(powers[z] for z in logits)
    return [powers[z] / total for z in logits]


def as_table(matrix: np.ndarray) -> Table:
    """A matrix of floats, entry by entry and without rounding."""
    return {(i, j): mpf(float(x)) for (i, j), x in np.ndenumerate(matrix)}


def predict(tokens: Sequence[int], values: Table, weights: Table, size: int) -> list[mpf]:
    """softmax(W_ov X softmax(X^T W_kq x_L))."""
    phi = softmax([weights[x, tokens[-1]] for x in tokens])
    pairs = list(zip(phi, tokens, strict=True))
    return softmax([mp.fsum(p * values[x, v] for p, x in pairs) for v in range(size)])


def log_loss(data: TokenData, values: Table, weights: Table) -> mpf:
    """The mean cross-entropy of D_0."""
    return mp.fsum(
        -mp.log(predict(s.tokens, values, weights, data.size)[s.label]) * s.count / data.total
        for s in data.samples
    )


def gradients(
    data: TokenData,
    values: Table,
    weights: Table,
    log_frequency: Sequence[float] | None = None,
) -> Gradients:
    """The chain rule, position by position."""
    V = range(data.size)
    for_values: Table = dict.fromkeys(values, mpf(0))
    for_weights: Table = dict.fromkeys(weights, mpf(0))
    loss = mpf(0)
    for number, sample in enumerate(data.samples):
        if log_frequency is None:
            share = mpf(sample.count) / data.total
        else:
            share = mp.exp(mpf(float(log_frequency[number])))
        phi = softmax([weights[x, sample.query] for x in sample.tokens])
        pairs = list(zip(phi, sample.tokens, strict=True))
        guess = softmax([mp.fsum(p * values[x, v] for p, x in pairs) for v in V])
        loss -= share * mp.log(guess[sample.label])
        error = [guess[v] - (v == sample.label) for v in V]
        pull = [mp.fsum(error[v] * values[x, v] for v in V) for x in sample.tokens]
        mean = mp.fsum(p * g for p, g in zip(phi, pull, strict=True))
        for (p, x), g in zip(pairs, pull, strict=True):
            for_weights[x, sample.query] += share * p * (g - mean)
            for v in V:
                for_values[x, v] += share * p * error[v]
    return Gradients(loss, for_values, for_weights)


def collocation(values: Table, following: Sequence[int]) -> tuple[mpf, Table]:
    """L_0, the sum over all tokens, and its gradient."""
    size = len(following)
    loss, gradient = mpf(0), {}
    for x in range(size):
        guess = softmax([values[x, v] for v in range(size)])
        loss -= mp.log(guess[following[x]])
        for v in range(size):
            gradient[x, v] = guess[v] - (v == following[x])
    return loss, gradient


def norm(*tables: Mapping[Cell, mpf]) -> mpf:
    """The Frobenius norm of all tables together."""
    return mp.sqrt(mp.fsum(x * x for table in tables for x in table.values()))


def descend(table: Table, gradient: Table, rate: float, length: mpf) -> Table:
    """One normalized step."""
    return {cell: table[cell] - mpf(rate) * gradient[cell] / length for cell in table}


def to_array(table: Table, size: int, scale: mpf | int = 1) -> np.ndarray:
    """table / scale in floats."""
    return np.array([[float(table[i, j] / scale) for j in range(size)] for i in range(size)])


def finite_differences(
    function: Callable[[np.ndarray], mpf], point: np.ndarray, digits: int = 80
) -> np.ndarray:
    """Central differences with a step of 1e-30 in 80 digits: exact to about 1e-45 relative."""
    with mp.workdps(digits):
        exact = np.array([mpf(float(x)) for x in point.ravel()], dtype=object).reshape(point.shape)
        step = mpf(10) ** -30
        slope = np.empty(point.shape, dtype=object)
        for at in np.ndindex(point.shape):
            plus, minus = exact.copy(), exact.copy()
            plus[at] += step
            minus[at] -= step
            slope[at] = (function(plus) - function(minus)) / (2 * step)
        return slope
