"""Datasets as padded arrays that train side by side, with their losses and limits."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lemmata._errors import InputError
from lemmata.attention import (
    AbstractLoss,
    CellCoordinates,
    HeadLoss,
    Inputs,
    LogLoss,
    ScoreLoss,
    Shape,
    number_cells,
    pack,
)
from lemmata.margin import Pair, pair_rows, span_basis

from ._dataset import Dataset
from ._dynamics import TiedSpace
from ._heads import (
    UNIT_SCORE,
    Head,
    Loss,
    check_scores,
    is_identity,
    scores,
    shape_of,
    takes_softmax,
)

Matrix = Float[np.ndarray, "dimension dimension"]

WIDEST_NUCLEAR = 64
"""The nuclear-norm program is solved up to this dimension."""


@dataclass(frozen=True)
class Limit:
    """What a run is compared with: a direction, and a finite limit inside the span of ties."""

    direction: Matrix
    finite: Matrix
    ties: tuple[Pair, ...]


def own_limit(dataset: Dataset) -> Limit:
    """What the dataset's own graphs predict."""
    ties = dataset.tied_pairs if dataset.feasible else dataset.generalized.bound
    return Limit(dataset.target, dataset.dense(dataset.finite_part), tuple(ties))


class Batch:
    """Datasets as padded arrays, with their losses and limits."""

    def __init__(
        self,
        datasets: Sequence[Dataset],
        loss: Loss,
        head: Head,
        limits: Sequence[Limit] | None = None,
        *,
        embedded: bool = False,
    ):
        self.datasets = datasets
        self.data = [d.realizable if is_identity(head) else d.data for d in datasets]
        for dataset, data in zip(datasets, self.data, strict=True):
            if not data.samples:
                raise InputError(
                    f"{dataset.name}: no label occurs in its sequence, so with the identity head "
                    "there is nothing to train"
                )
        raw = pack(self.data)
        for b, (dataset, data) in enumerate(zip(datasets, self.data, strict=True)):
            raw.log_frequency[b, : len(data.samples)] = dataset.log_shares(data)
        self.raw = raw
        self.inputs: Inputs = jax.device_put(raw)
        self.label = (raw.tokens == raw.label[:, :, None]) & np.isfinite(raw.log_multiplicity)
        self.loss = self._loss(loss, head)
        self.untied = jax.device_put(self._untied())
        embedded |= limits is not None
        embedded |= any(d.embeddings is not None or d.initial_weights is not None for d in datasets)
        if embedded:
            self._embed(limits or [own_limit(dataset) for dataset in datasets])
        else:
            self._stay_in_cells()

    def _loss(self, loss: Loss, head: Head) -> AbstractLoss:
        if is_identity(head) and loss == "log":
            return LogLoss(jax.device_put(self.label))
        tables = [scores(d, head) for d in self.datasets]
        if takes_softmax(loss):
            return HeadLoss(jax.device_put(self._margins(tables)), loss == "softmax-squared")
        shape = shape_of(loss)
        gains, top = self._label_scores(tables, shape)
        return ScoreLoss(jax.device_put(gains), jax.device_put(top), shape)

    def _margins(self, tables: list[np.ndarray]) -> np.ndarray:
        """What each token of an input adds to every score, relative to the label's."""
        B, N, D = self.raw.tokens.shape
        margins = np.zeros((B, N, D, self.raw.vocabulary.shape[1]))
        for b, table in enumerate(tables):
            rows = table.T[self.raw.tokens[b]]
            label = np.asarray(self.raw.label[b])
            own = np.take_along_axis(rows, label[:, None, None], axis=2)
            margins[b, :, :, : rows.shape[2]] = rows - own
        return margins

    def _label_scores(
        self, tables: list[np.ndarray], shape: Shape
    ) -> tuple[np.ndarray, np.ndarray]:
        """gamma of each slot for its input's label, and gamma of the label itself."""
        B, N, D = self.raw.tokens.shape
        scores, top = np.zeros((B, N, D)), np.ones((B, N))
        for b, (table, data) in enumerate(zip(tables, self.data, strict=True)):
            n = len(data.samples)
            label = self.raw.label[b, :n]
            own = table[label, label]
            top[b, :n] = np.where(np.abs(own - 1) < UNIT_SCORE, 1.0, own)
            scores[b, :n] = table[label[:, None], self.raw.tokens[b, :n]]
            scores[b] = np.where(self.label[b], top[b][:, None], scores[b])
            exists = np.isfinite(self.raw.log_multiplicity[b])
            scores[b] = np.where(exists, scores[b], 0.0)
            if (exists & ~self.label[b] & (scores[b] >= top[b][:, None]))[:n].any():
                raise InputError(
                    f"{self.datasets[b].name}: the head does not score every label highest among "
                    "the tokens of its sequence (Assumption 3), so this loss has no infimum at "
                    "the label; use cross-entropy, or another head"
                )
            check_scores(self.datasets[b].name, shape, scores[b][exists], top[b])
        return scores, top

    def _untied(self) -> np.ndarray:
        untied = np.zeros(self.raw.tokens.shape, dtype=bool)
        for b, (dataset, data) in enumerate(zip(self.datasets, self.data, strict=True)):
            if data is not dataset.realizable:
                return untied
            for n, (sample, tied) in enumerate(
                zip(data.samples, dataset.bound_tokens, strict=True)
            ):
                slots = sorted(set(sample.tokens))
                untied[b, n, : len(slots)] = [t not in tied and t != sample.label for t in slots]
        return untied

    def nuclear(self) -> dict[str, Array]:
        """The cells of the strict pairs, and a W of least nuclear norm that separates them.

        NaN where there is none, where nothing is to be separated, or beyond a size.
        """
        B, width = len(self.datasets), self.target.shape[-1]
        most = max(1, *(len(d.strict_pairs) for d in self.datasets))
        winner, loser = np.zeros((2, B, most), dtype=np.int64)
        weights = np.full((B, width, width), np.nan)
        for b, dataset in enumerate(self.datasets):
            if not dataset.strict_pairs or dataset.E.shape[1] > WIDEST_NUCLEAR:
                continue
            cells = number_cells(self.data[b])
            found = [(cells[w, q], cells[x, q]) for q, (w, x) in dataset.strict_pairs]
            found += found[:1] * (most - len(found))
            winner[b], loser[b] = np.transpose(found)
            if dataset.nuclear.weights is not None:
                size = dataset.E.shape[1]
                weights[b] = 0.0
                weights[b, :size, :size] = dataset.nuclear.weights
        return {
            "winner": jax.device_put(winner),
            "loser": jax.device_put(loser),
            "nuclear": jax.device_put(weights),
        }

    def _stay_in_cells(self) -> None:
        """Orthonormal embeddings from zero: the weights are the logits of the cells."""
        B, C = self.raw.cell_token.shape
        target, correction = np.zeros((2, B, C))
        group, members = np.tile(np.arange(C), (B, 1)), np.ones((B, C))
        for b, dataset in enumerate(self.datasets):
            entries, finite = dataset.margin.entries, dataset.correction.entries
            cells = number_cells(self.data[b])
            target[b, : len(cells)] = [float(entries.get(cell, 0)) for cell in cells]
            correction[b, : len(cells)] = [finite.get(cell, 0.0) for cell in cells]
            first: dict[tuple[int, int], int] = {}
            for (token, query), c in cells.items():
                graph = dataset.graphs.get(query)
                if graph is not None and token in graph.component_of:
                    group[b, c] = first.setdefault((query, graph.component_of[token]), c)
            members[b] = np.maximum(np.bincount(group[b], minlength=C), 1)
        self.start = jnp.zeros((B, C))
        self.target, self.correction = jax.device_put(target), jax.device_put(correction)
        self.ties = TiedSpace(None, jax.device_put(group), jax.device_put(members))
        self.coordinates = CellCoordinates()

    def _embed(self, limits: Sequence[Limit]) -> None:
        """The weights are W itself, padded with zeros to the largest dimension."""
        raw = self.raw
        B, K = raw.vocabulary.shape
        width = max(d.E.shape[1] for d in self.datasets)
        embeddings = np.zeros((B, K, width))
        start, target, correction = np.zeros((3, B, width, width))
        spaces = [
            span_basis(pair_rows(limit.ties, d.E))
            for d, limit in zip(self.datasets, limits, strict=True)
        ]
        basis = np.zeros((B, max(1, max(map(len, spaces))), width, width))
        for b, (d, limit, space) in enumerate(zip(self.datasets, limits, spaces, strict=True)):
            k, size = d.E.shape
            embeddings[b, :k, :size] = d.E
            target[b, :size, :size] = limit.direction
            correction[b, :size, :size] = limit.finite
            basis[b, : len(space), :size, :size] = space.reshape(-1, size, size)
            if d.initial_weights is not None:
                start[b, :size, :size] = d.initial_weights
        rows = np.arange(B)[:, None]
        self.coordinates_width = width
        self.start = jax.device_put(start)
        self.target, self.correction = jax.device_put(target), jax.device_put(correction)
        self.ties = TiedSpace(jax.device_put(basis))
        self.coordinates = CellCoordinates(
            jax.device_put(embeddings[rows, raw.cell_token] * raw.cell_exists[:, :, None]),
            jax.device_put(embeddings[rows, raw.cell_query]),
        )
