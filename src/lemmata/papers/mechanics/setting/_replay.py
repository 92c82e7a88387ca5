"""Gradient descent again, in ball arithmetic: dense matrices, token by token, as the paper writes.

It shares no code with training. Every number is a ball that contains the true value, so that what
it says of the sign of a difference is proved.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from jaxtyping import Int

from lemmata.settings import Balls

from ._dataset import Dataset
from ._training import Training

COLUMNS = ("log_loss", "norm", "correlation", "one_minus_correlation", "log_gradient_norm")


@dataclass(frozen=True)
class Attended:
    """One sample: the embeddings of its tokens, its query, which are the label, its weight."""

    tokens: list[arb_mat]
    query: arb_mat
    is_label: list[bool]
    weight: arb


def replay(
    dataset: Dataset, training: Training, rate: float, steps: Int[np.ndarray, "records"]
) -> Balls | None:
    """The columns at the recorded steps, for ``gd`` and ``ngd`` on the log loss."""
    known = training.algorithm in ("gd", "ngd") and training.loss == "log" and training.identity
    if not known or training.epsilon:
        return None
    samples = _attended(dataset)
    size = dataset.E.shape[1]
    W = _matrix(np.zeros((size, size)))
    if dataset.initial_weights is not None:
        W = _matrix(dataset.initial_weights)
    target, records = _target(dataset), []
    for step in range(int(steps[-1]) + 1):
        loss, slope = _evaluate(W, samples, size)
        length = _norm(slope)
        if step in steps:
            cosine = _cosine(W, target)
            records.append((loss.log(), _norm(W), cosine, 1 - cosine, length.log()))
        if not length.is_zero():
            W = W - slope * (arb(rate) / (length if training.algorithm == "ngd" else 1))
    columns = dict(zip(COLUMNS, np.array(records, dtype=object).T, strict=True))
    return {**columns, "rate": np.array([arb(rate)], dtype=object)}


def _attended(dataset: Dataset) -> list[Attended]:
    data = dataset.realizable
    total = sum(sample.count for sample in data.samples)
    vectors = [_matrix(row[:, None]) for row in dataset.E]
    return [
        Attended(
            [vectors[token] for token in sample.tokens],
            vectors[sample.query],
            [token == sample.label for token in sample.tokens],
            arb(sample.count) / total,
        )
        for sample in data.samples
    ]


def _evaluate(W: arb_mat, samples: list[Attended], size: int) -> tuple[arb, arb_mat]:
    """The loss -sum_i f_i log(mass on the label), and its gradient in W."""
    loss, slope = arb(0), arb_mat(size, size)
    for sample in samples:
        key = W * sample.query
        powers = [_dot(token, key).exp() for token in sample.tokens]
        right = sum((p for p, good in zip(powers, sample.is_label, strict=True) if good), arb(0))
        wrong = sum(
            (p for p, good in zip(powers, sample.is_label, strict=True) if not good), arb(0)
        )
        loss += sample.weight * (wrong / right).log1p()
        pull = arb_mat(size, 1)
        for token, power, good in zip(sample.tokens, powers, sample.is_label, strict=True):
            share = -wrong / right if good else arb(1)
            pull += token * (power * share / (right + wrong))
        slope += pull * sample.query.transpose() * sample.weight
    return loss, slope


def _target(dataset: Dataset) -> arb_mat:
    """W^mm, from exact fractions where there are some."""
    if dataset.embeddings is not None or not dataset.feasible:
        return _matrix(dataset.target)
    matrix = arb_mat(dataset.K, dataset.K)
    for cell, value in dataset.margin.entries.items():
        matrix[cell] = arb(value.numerator) / value.denominator
    return matrix


def _matrix(values: np.ndarray) -> arb_mat:
    return arb_mat([[arb(float(value)) for value in row] for row in values])


def _dot(a: arb_mat, b: arb_mat) -> arb:
    return (a.transpose() * b)[0, 0]


def _norm(matrix: arb_mat) -> arb:
    return sum((entry * entry for entry in matrix.entries()), arb(0)).sqrt()


def _cosine(a: arb_mat, b: arb_mat) -> arb:
    inner = sum((x * y for x, y in zip(a.entries(), b.entries(), strict=True)), arb(0))
    return inner / (_norm(a) * _norm(b))
