"""Datasets as padded arrays, for training side by side."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from lemmata._errors import InputError
from lemmata.attention import (
    CellCoordinates,
    Inputs,
    ValueCoordinates,
    number_cells,
    pack,
    rounded_up,
)

from ._dataset import Dataset
from ._probes import OrderProbe


class Batch:
    """Datasets as padded arrays, with their targets and probes.

    Attributes:
        inputs: the distinct inputs, with their frequencies.
        following: n.
        target_ov, target_kq: W_ov* and W_kq* in the coordinates of training.
        start_ov, start_kq: W_ov and W_kq before the first step.
        embedded: whether some embeddings are not the usual ones.
        probe: what is measured in stage 2.
    """

    def __init__(self, datasets: Sequence[Dataset]):
        for dataset in datasets:
            if not dataset.has_collocation:
                problem = dataset.broken("collocation_conflict", "collocation_missing")[0]
                raise InputError(
                    f"{dataset.name}: stage 1 needs the next token of every token, but "
                    f"{problem.message} ({problem.where})"
                )
        self.datasets = datasets
        self.embedded = any(d.embeddings is not None for d in datasets)
        raw = pack([d.data for d in datasets])
        for i, dataset in enumerate(datasets):
            raw.log_frequency[i, : len(dataset.data.samples)] = dataset.log_pi
        self.inputs: Inputs = jax.device_put(raw)
        B, K = raw.vocabulary.shape
        C = raw.cell_token.shape[1]
        following = np.zeros((B, K), dtype=np.int64)
        target_ov = np.zeros((B, K, K))
        target_kq = np.zeros((B, C))
        for i, d in enumerate(datasets):
            following[i, : d.K] = [d.collocation.following[x] for x in range(d.K)]
            assert d.value_margin.weights is not None
            target_ov[i, : d.K, : d.K] = d.value_margin.weights.T
            if d.attention_margin.weights is not None and d.embeddings is None:
                known = raw.cell_exists[i]
                cells = raw.cell_token[i, known], raw.cell_query[i, known]
                target_kq[i, : known.sum()] = d.attention_margin.weights[cells]
        self.following = jax.device_put(following)
        self.target_ov = jax.device_put(target_ov)
        self.target_kq = jax.device_put(target_kq)
        self.start_ov = jax.device_put(self._values_at_start(target_ov.shape))
        self.start_kq = jnp.zeros((B, C))
        self.value_coordinates = ValueCoordinates()
        self.cell_coordinates = CellCoordinates()
        if self.embedded:
            self._embed(raw)
        self.probe = _order_probe(datasets, raw, self.inputs)

    def _embed(self, raw: Inputs) -> None:
        """Replace token coordinates by the space of the embeddings, padded with zeros."""
        B, K = raw.vocabulary.shape
        family = [np.eye(d.K) if d.embeddings is None else d.embeddings for d in self.datasets]
        dimension = rounded_up(max(E.shape[1] for E in family))
        embeddings = np.zeros((B, K, dimension))
        start = np.zeros((B, dimension, dimension))
        target_kq = np.zeros((B, dimension, dimension))
        target_ov = np.zeros((B, dimension, K))
        for i, (d, E) in enumerate(zip(self.datasets, family, strict=True)):
            D = E.shape[1]
            embeddings[i, : d.K, :D] = E
            if d.initial_weights is not None:
                start[i, :D, :D] = d.initial_weights
            W = d.attention_margin.weights
            if W is not None:
                target_kq[i, :D, :D] = E.T @ W @ E if d.orthonormal else W
            assert d.value_margin.weights is not None
            target_ov[i, :D, : d.K] = E.T @ d.value_margin.weights.T
        self.target_ov = jax.device_put(target_ov)
        self.target_kq = jax.device_put(target_kq)
        self.start_ov = jax.device_put(self._values_at_start(target_ov.shape))
        self.start_kq = jax.device_put(start)
        rows = np.arange(B)[:, None]
        self.value_coordinates = ValueCoordinates(jax.device_put(embeddings))
        self.cell_coordinates = CellCoordinates(
            jax.device_put(embeddings[rows, raw.cell_token] * raw.cell_exists[:, :, None]),
            jax.device_put(embeddings[rows, raw.cell_query]),
        )

    def _values_at_start(self, shape: tuple[int, ...]) -> np.ndarray:
        """W_ov^T of every dataset, padded with zeros."""
        start = np.zeros(shape)
        for row, dataset in zip(start, self.datasets, strict=True):
            if dataset.initial_values is not None:
                rows, columns = dataset.initial_values.T.shape
                row[:rows, :columns] = dataset.initial_values.T
        return start


def _order_probe(datasets: Sequence[Dataset], raw: Inputs, inputs: Inputs) -> OrderProbe:
    B, N, D = raw.tokens.shape
    C = raw.cell_token.shape[1]
    most = max(sum(len(graph.edges) for graph in d.orders.graphs.values()) for d in datasets)
    edges = rounded_up(max(1, most))
    optimal = np.zeros((B, N, D), dtype=bool)
    log_length = np.zeros((B, N))
    winner, loser = np.zeros((2, B, edges), dtype=np.int64)
    exists = np.zeros((B, edges), dtype=bool)
    is_optimal, is_non_optimal = np.zeros((2, B, C), dtype=bool)
    for i, d in enumerate(datasets):
        for n, sample in enumerate(d.data.samples):
            chosen = d.orders.selected(sample)
            log_length[i, n] = np.log(len(sample.tokens))
            for s, token in enumerate(sorted(set(sample.tokens))):
                optimal[i, n, s] = token in chosen
        cell = number_cells(d.data)
        facts = [(q, edge) for q, graph in d.orders.graphs.items() for edge in graph.edges]
        for e, (q, (a, b)) in enumerate(facts):
            winner[i, e], loser[i, e], exists[i, e] = cell[a, q], cell[b, q], True
        for (token, q), c in cell.items():
            role = d.orders.role(q, token)
            is_optimal[i, c] = role == "optimal"
            is_non_optimal[i, c] = role == "non_optimal"
    return OrderProbe(
        inputs,
        *map(
            jax.device_put, (optimal, log_length, winner, loser, exists, is_optimal, is_non_optimal)
        ),
    )
