"""Training of the attention weights W under a fixed head, many datasets as one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.attention import (
    LOG,
    SQUARED,
    AbstractLoss,
    CellCoordinates,
    HeadLoss,
    Inputs,
    LogLoss,
    ScoreLoss,
    Shape,
    pack,
)
from lemmata.margin import Pair, pair_rows, span_basis
from lemmata.papers.mechanics.setting._dataset import Dataset
from lemmata.tokens import TokenData
from lemmata.training import (
    AbstractDynamics,
    BlockTraining,
    FactoredTraining,
    Recording,
    SelectionTraining,
    Store,
    TiedSpace,
    log_spaced,
    record_steps,
    run,
)

Algorithm = Literal["ngd", "gd", "block", "factored"]
Loss = Literal["log", "squared", "softmax-squared", "cross-entropy"] | Shape
Head = Literal["identity", "embedding"] | Float[np.ndarray, "tokens dimension"]
Rate = float | Literal["paper", "tight"]
"""A step size: a number, 1/L with the paper's Lipschitz constant, or with the tight one."""

Matrix = Float[np.ndarray, "dimension dimension"]
Progress = Callable[[int], None]

UNIT_SCORE = 1e-12
"""A label's score this close to 1 is 1, as it is for unit embeddings and the head C = E."""


@dataclass(frozen=True)
class Limit:
    """What a run is compared with: a direction, and a finite limit inside the span of ties."""

    direction: Matrix
    finite: Matrix
    ties: tuple[Pair, ...]


@dataclass(frozen=True)
class Training:
    """An algorithm with its settings.

    Attributes:
        algorithm: ``ngd`` divides the gradient by its norm, ``gd`` does not; ``block`` is plain
            descent in S_cyc and normalized descent outside; ``factored`` is normalized descent on
            the factors of W = K Q^T.
        rate: the step size; for ``block``, that of the normalized part.
        record: about sixty log-spaced steps, or the steps named.
        loss: l(u) of the label's score, or a loss of all scores (``softmax-squared``,
            ``cross-entropy``); a ``Shape`` is a loss of your own.
        head: ``identity`` scores the label 1 and everything else 0 (C E^T = I); ``embedding`` is
            C = E; a matrix is C itself.
        epsilon: added to the norm that ``ngd`` divides by; 0 is the algorithm as written.
        seed: for the factors that ``factored`` starts from.
    """

    algorithm: Algorithm = "ngd"
    rate: Rate = 0.01
    steps: int = 4_000
    record: Literal["log"] | tuple[int, ...] = "log"
    loss: Loss = "log"
    head: Head = "identity"
    epsilon: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise InputError(f"the number of steps must not be negative; got {self.steps}")
        if not isinstance(self.rate, str) and not (np.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"the step size must be a positive number; got {self.rate}")
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise InputError(f"epsilon must not be negative; got {self.epsilon}")
        if self.algorithm == "block" and (self.loss != "log" or not self.identity):
            raise InputError("the block scheme is for the log loss with the identity head")

    @property
    def identity(self) -> bool:
        """Whether the head satisfies C E^T = I."""
        return isinstance(self.head, str) and self.head == "identity"

    @property
    def says(self) -> str:
        """What is run, in words."""
        names = {
            "ngd": "normalized gradient descent",
            "gd": "gradient descent",
            "block": "gradient descent inside S_cyc and normalized descent outside",
            "factored": "normalized gradient descent on K and Q, W = K Q^T",
        }
        sizes = {"paper": "1/L (Eq. 23)", "tight": "1/L (the tight constant)"}
        size = sizes[self.rate] if isinstance(self.rate, str) else f"{self.rate:g}"
        loss = self.loss if isinstance(self.loss, str) else self.loss.name
        head = self.head if isinstance(self.head, str) else "given"
        epsilon = f", {self.epsilon:.2g} added to the norm" if self.epsilon else ""
        return (
            f"{names[self.algorithm]}, {self.steps:,} steps of {size} on the {loss} loss with "
            f"the {head} head{epsilon}"
        )

    @property
    def recorded(self) -> np.ndarray:
        """The steps to record; the last step is always one of them."""
        if self.record == "log":
            return log_spaced(self.steps)
        return record_steps((*self.record, self.steps), self.steps)

    def run(
        self,
        datasets: Sequence[Dataset],
        *,
        limits: Sequence[Limit] | None = None,
        store: Store | None = None,
        progress: Progress = lambda _: None,
    ) -> "TrainingRun":
        """Train every dataset, all as one batch, and compare with the limits on the way.

        Without ``limits`` these are the ones that the dataset's own graphs define.
        """
        batch = Batch(datasets, self, limits)
        rate = np.array([self._rate(dataset) for dataset in datasets])
        shared: dict[str, Any] = {
            "inputs": batch.inputs,
            "loss": batch.loss,
            "target": batch.target,
            "correction": batch.correction,
            "ties": batch.ties,
            "rate": jnp.asarray(rate),
            "coordinates": batch.coordinates,
        }
        recorded = run(
            self._dynamics(datasets, batch, shared),
            self.recorded,
            store=store,
            progress=progress,
        )
        inputs = jax.tree.map(np.asarray, batch.inputs)
        return TrainingRun(tuple(datasets), self, rate, recorded, inputs)

    def _dynamics(
        self, datasets: Sequence[Dataset], batch: "Batch", shared: dict[str, Any]
    ) -> AbstractDynamics[Any]:
        if self.algorithm == "block":
            tied_rate = [1 / max(d.lipschitz_tight, 1e-300) for d in datasets]
            return BlockTraining(
                start=batch.start,
                untied=batch.untied,
                tied_rate=jnp.asarray(np.array(tied_rate)),
                **shared,
            )
        if self.algorithm == "factored":
            width = batch.target.shape[-1]
            draw = np.random.default_rng(self.seed).standard_normal
            keys, queries = 0.01 * draw((2, len(datasets), width, width)) / np.sqrt(width)
            return FactoredTraining(
                start_keys=jnp.asarray(keys), start_queries=jnp.asarray(queries), **shared
            )
        return SelectionTraining(
            start=batch.start, rule=self.algorithm, epsilon=self.epsilon, **shared
        )

    def _rate(self, dataset: Dataset) -> float:
        if self.rate == "paper":
            return 1 / dataset.lipschitz
        if self.rate == "tight":
            return 1 / max(dataset.lipschitz_tight, 1e-300)
        return float(self.rate)


@dataclass(frozen=True)
class TrainingRun:
    """A batch of training runs, as recorded."""

    datasets: tuple[Dataset, ...]
    algorithm: Training
    rate: Float[np.ndarray, "datasets"]
    recording: Recording[Any]
    inputs: Inputs

    @property
    def steps(self) -> np.ndarray:
        """The recorded steps."""
        return self.recording.steps

    def __getitem__(self, name: str) -> Float[np.ndarray, "datasets records"]:
        """A measurement, one row a dataset."""
        return self.recording.series[name]

    def select(self, indices: Sequence[int]) -> "TrainingRun":
        """The run of these datasets alone."""
        rows = np.asarray(indices, dtype=np.int64)
        return TrainingRun(
            tuple(self.datasets[i] for i in indices),
            self.algorithm,
            self.rate[rows],
            self.recording.select(rows),
            jax.tree.map(lambda leaf: leaf[rows], self.inputs),
        )

    def weights(self, i: int) -> Matrix:
        """W at the end of dataset i (in token coordinates, for orthonormal embeddings)."""
        dataset = self.datasets[i]
        final = np.asarray(self.recording.final.weights[i])
        if final.ndim == 2:
            d = dataset.E.shape[1]
            return final[:d, :d]
        known = self.inputs.cell_exists[i]
        dense = np.zeros((dataset.K, dataset.K))
        cells = self.inputs.cell_token[i][known], self.inputs.cell_query[i][known]
        dense[cells] = final[: known.sum()]
        return dense

    def attention(self, i: int, tokens: Sequence[int]) -> Float[np.ndarray, "positions"]:
        """The attention weights of the trained model on an input."""
        dataset = self.datasets[i]
        query = dataset.E[tokens[-1]]
        logits = dataset.E[list(tokens)] @ (self.weights(i) @ query)
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()


class Batch:
    """Datasets as padded arrays, with their losses and limits."""

    def __init__(
        self,
        datasets: Sequence[Dataset],
        how: Training,
        limits: Sequence[Limit] | None = None,
        *,
        embedded: bool = False,
    ):
        self.datasets = datasets
        self.data = [d.realizable if how.identity else d.data for d in datasets]
        for dataset, data in zip(datasets, self.data, strict=True):
            if not data.samples:
                raise InputError(
                    f"{dataset.name}: no label occurs in its sequence, so with the identity head "
                    "there is nothing to train"
                )
        raw = pack(self.data)
        self.raw = raw
        self.inputs: Inputs = jax.tree.map(jnp.asarray, raw)
        self.label = (raw.tokens == raw.label[:, :, None]) & np.isfinite(raw.log_multiplicity)
        self.loss = self._loss(how)
        self.untied = jnp.asarray(self._untied())
        embedded |= how.algorithm == "factored" or limits is not None
        embedded |= any(d.embeddings is not None or d.initial_weights is not None for d in datasets)
        if embedded:
            self._embed(limits or [_own_limit(dataset) for dataset in datasets])
        else:
            self._stay_in_cells()

    def _loss(self, how: Training) -> AbstractLoss:
        if how.identity and how.loss == "log":
            return LogLoss(jnp.asarray(self.label))
        tables = [scores(d, how) for d in self.datasets]
        if how.loss in ("cross-entropy", "softmax-squared"):
            return HeadLoss(jnp.asarray(self._margins(tables)), how.loss == "softmax-squared")
        shapes = {"log": LOG, "squared": SQUARED}
        shape = how.loss if isinstance(how.loss, Shape) else shapes[how.loss]
        gains, top = self._label_scores(tables, shape)
        return ScoreLoss(jnp.asarray(gains), jnp.asarray(top), shape)

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
            self._check_shape(b, shape, scores[b][exists], top[b])
        return scores, top

    def _check_shape(self, b: int, shape: Shape, scores: np.ndarray, top: np.ndarray) -> None:
        """The log loss needs positive scores, the squared loss scores of at most 1."""
        name = self.datasets[b].name
        if shape is LOG and scores.min() < 0:
            raise InputError(f"{name}: the head gives negative scores, of which there is no log")
        if shape is SQUARED and top.max() > 1:
            raise InputError(
                f"{name}: the head scores a label {top.max():.4g}, beyond 1, where the squared "
                "loss grows again (Assumption 1); scale the head"
            )

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

    def _stay_in_cells(self) -> None:
        """Orthonormal embeddings from zero: the weights are the logits of the cells."""
        raw = self.raw
        B, C = raw.cell_token.shape
        target, correction = np.zeros((2, B, C))
        group, members = np.tile(np.arange(C), (B, 1)), np.ones((B, C))
        for b, dataset in enumerate(self.datasets):
            entries, finite = dataset.margin.entries, dataset.correction.entries
            count = int(raw.cell_exists[b].sum())
            cells = list(
                zip(
                    raw.cell_token[b, :count].tolist(),
                    raw.cell_query[b, :count].tolist(),
                    strict=True,
                )
            )
            target[b, :count] = [float(entries.get(cell, 0)) for cell in cells]
            correction[b, :count] = [finite.get(cell, 0.0) for cell in cells]
            first: dict[tuple[int, int], int] = {}
            for c, (token, query) in enumerate(cells):
                graph = dataset.graphs.get(query)
                if graph is not None and token in graph.component_of:
                    group[b, c] = first.setdefault((query, graph.component_of[token]), c)
            members[b] = np.maximum(np.bincount(group[b], minlength=C), 1)
        self.start = jnp.zeros((B, C))
        self.target, self.correction = jnp.asarray(target), jnp.asarray(correction)
        self.ties = TiedSpace(None, jnp.asarray(group), jnp.asarray(members))
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
        self.start = jnp.asarray(start)
        self.target, self.correction = jnp.asarray(target), jnp.asarray(correction)
        self.ties = TiedSpace(jnp.asarray(basis))
        self.coordinates = CellCoordinates(
            jnp.asarray(embeddings[rows, raw.cell_token] * raw.cell_exists[:, :, None]),
            jnp.asarray(embeddings[rows, raw.cell_query]),
        )


def _own_limit(dataset: Dataset) -> Limit:
    """What the dataset's own graphs predict."""
    ties = dataset.tied_pairs if dataset.feasible else dataset.generalized.bound
    return Limit(dataset.target, dataset.dense(dataset.finite_part), tuple(ties))


def scores(dataset: Dataset, how: Training) -> Float[np.ndarray, "labels tokens"]:
    """C E^T."""
    if isinstance(how.head, str):
        return np.eye(dataset.K) if how.head == "identity" else dataset.E @ dataset.E.T
    if how.head.shape != dataset.E.shape:
        raise InputError(
            f"{dataset.name}: the head has shape {how.head.shape}; it needs one row a token and "
            f"the dimension of the embeddings, {dataset.E.shape}"
        )
    return how.head @ dataset.E.T


def reduced_dataset(dataset: Dataset, data: TokenData) -> Dataset:
    """The same tokens and embeddings with other samples, from zero."""
    return Dataset(f"{dataset.name}, reduced", data, dataset.embeddings)
