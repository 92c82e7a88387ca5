"""Token data as padded arrays, one batch of instances of different sizes.

Attention only ever looks at the *cells* (token, query) whose token occurs in an input that ends
in that query. The key-query weights are a vector over cells, in token coordinates: other entries
receive no gradient and stay exactly where they started.
"""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from lemmata.tokens import TokenData

MOST_PADDING = 64
"""The table of contributions may be this many times larger than the inputs themselves."""


class Inputs(eqx.Module):
    """The distinct inputs of one instance; a leading axis is added when batched.

    Padding has log multiplicity or log frequency -inf. ``contributions`` lists, for each cell,
    the flat (input, slot) positions that use it; padding points one past the end. It is None
    where a few cells are used so often that the table would be mostly padding.
    """

    tokens: Int[Array, "*batch inputs slots"] | Int[np.ndarray, "*batch inputs slots"]
    log_multiplicity: Float[Array, "*batch inputs slots"] | Float[np.ndarray, "*batch inputs slots"]
    cells: Int[Array, "*batch inputs slots"] | Int[np.ndarray, "*batch inputs slots"]
    query: Int[Array, "*batch inputs"] | Int[np.ndarray, "*batch inputs"]
    label: Int[Array, "*batch inputs"] | Int[np.ndarray, "*batch inputs"]
    log_frequency: Float[Array, "*batch inputs"] | Float[np.ndarray, "*batch inputs"]
    vocabulary: Bool[Array, "*batch tokens"] | Bool[np.ndarray, "*batch tokens"]
    cell_token: Int[Array, "*batch cells"] | Int[np.ndarray, "*batch cells"]
    cell_query: Int[Array, "*batch cells"] | Int[np.ndarray, "*batch cells"]
    cell_exists: Bool[Array, "*batch cells"] | Bool[np.ndarray, "*batch cells"]
    contributions: Int[Array, "*batch cells uses"] | Int[np.ndarray, "*batch cells uses"] | None

    def dense(
        self, i: int, weights: Float[np.ndarray, "cells"], size: int
    ) -> Float[np.ndarray, "tokens queries"]:
        """Weights of the cells of instance i as a matrix over tokens and queries."""
        known = self.cell_exists[i]
        matrix = np.zeros((size, size))
        matrix[self.cell_token[i][known], self.cell_query[i][known]] = weights[: known.sum()]
        return matrix


SMALL = 16
"""Sizes up to this are rounded up, all but the vocabulary's, which matrices of others share."""


def pack(datasets: Sequence[TokenData]) -> Inputs:
    """Pad a batch of datasets to common shapes."""
    slots = [[sorted(set(s.tokens)) for s in data.samples] for data in datasets]
    cells = [number_cells(data) for data in datasets]
    uses = [_uses(data, index) for data, index in zip(datasets, cells, strict=True)]
    B = len(datasets)
    N = rounded_up(max(len(data.samples) for data in datasets))
    D = rounded_up(max(len(distinct) for rows in slots for distinct in rows))
    K = max(data.size for data in datasets)
    C = rounded_up(max(len(index) for index in cells))
    P = rounded_up(max(max(map(len, lists)) for lists in uses))
    table = C * P <= MOST_PADDING * N * D
    packed = Inputs(
        tokens=np.zeros((B, N, D), dtype=np.int64),
        log_multiplicity=np.full((B, N, D), -np.inf),
        cells=np.zeros((B, N, D), dtype=np.int64),
        query=np.zeros((B, N), dtype=np.int64),
        label=np.zeros((B, N), dtype=np.int64),
        log_frequency=np.full((B, N), -np.inf),
        vocabulary=np.zeros((B, K), dtype=bool),
        cell_token=np.zeros((B, C), dtype=np.int64),
        cell_query=np.zeros((B, C), dtype=np.int64),
        cell_exists=np.zeros((B, C), dtype=bool),
        contributions=np.full((B, C, P), N * D, dtype=np.int64) if table else None,
    )
    for b, data in enumerate(datasets):
        packed.vocabulary[b, : data.size] = True
        packed.log_frequency[b, : len(data.samples)] = np.log(data.frequencies)
        packed.log_multiplicity[b, len(data.samples) :, 0] = 0.0
        for n, sample in enumerate(data.samples):
            packed.query[b, n] = sample.query
            packed.label[b, n] = sample.label
            for s, token in enumerate(slots[b][n]):
                packed.tokens[b, n, s] = token
                packed.cells[b, n, s] = cells[b][token, sample.query]
            packed.log_multiplicity[b, n, : len(slots[b][n])] = np.log(
                [sample.tokens.count(token) for token in slots[b][n]]
            )
        for (token, query), c in cells[b].items():
            packed.cell_token[b, c] = token
            packed.cell_query[b, c] = query
            packed.cell_exists[b, c] = True
        if packed.contributions is not None:
            for c, positions in enumerate(uses[b]):
                packed.contributions[b, c, : len(positions)] = [n * D + s for n, s in positions]
    return packed


def rounded_up(size: int) -> int:
    """A small size becomes a power of two, so that small data shares compiled programs."""
    return size if size > SMALL else 1 << (size - 1).bit_length()


def number_cells(data: TokenData) -> dict[tuple[int, int], int]:
    """Number the (token, query) pairs in order of first use."""
    index: dict[tuple[int, int], int] = {}
    for sample in data.samples:
        for token in sorted(set(sample.tokens)):
            index.setdefault((token, sample.query), len(index))
    return index


def _uses(data: TokenData, index: dict[tuple[int, int], int]) -> list[list[tuple[int, int]]]:
    """The (input, slot) positions of each cell."""
    uses: list[list[tuple[int, int]]] = [[] for _ in index]
    for n, sample in enumerate(data.samples):
        for s, token in enumerate(sorted(set(sample.tokens))):
            uses[index[token, sample.query]].append((n, s))
    return uses
