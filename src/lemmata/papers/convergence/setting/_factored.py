"""Separate W_k, W_q, W_v and W_o, and several heads: the model of Section 3 as it stands.

The paper trains the products W_kq = W_k W_q and W_ov = W_o W_v from zero. Here the factors are
trained, from small random ones, since zero is a saddle. None of its theorems speaks of that.
"""

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from lemmata._errors import InputError
from lemmata.attention import (
    CellCoordinates,
    Inputs,
    LogScaled,
    attention,
    collocation_gradient,
    cosine_gap,
    heads_gradient,
    value_margins,
)
from lemmata.training import (
    AbstractDynamics,
    Measurements,
    Recording,
    Store,
    TrainingState,
    compiled_once,
    descend,
    run,
)

from ._batch import Batch
from ._dataset import Dataset
from ._two_stage import AbstractModel, Progress, TwoStage, silent_progress

ALGORITHM_1 = TwoStage()


class AbstractFactors(AbstractDynamics[TrainingState]):
    """Normalized descent on two factors a head; their product is compared with ``target``.

    The weights of a head are the rows of the left factor above those of the right one, and its
    matrix is left right^T: W_k and W_q^T for W_kq, W_v^T and W_o for W_ov^T.
    """

    start: Float[Array, "*batch heads rows width"]
    target: Float[Array, "*batch left right"]
    rate: Float[Array, "*batch"]

    def init(self) -> TrainingState:
        return self.evaluate(self.start)

    def step(self, state: TrainingState) -> TrainingState:
        return self.evaluate(descend("ngd", self.rate, state.weights, state.gradient))

    def measure(self, state: TrainingState) -> Measurements:
        matrices = self.matrices(state.weights)
        return {
            "log_loss": state.log_loss,
            "log_gradient_norm": state.gradient.log_norm,
            "norm": jnp.sqrt(jnp.sum(matrices**2)),
            "factor_norm": jnp.sqrt(jnp.sum(state.weights**2)),
            "one_minus_correlation": cosine_gap(
                matrices, jnp.broadcast_to(self.target, matrices.shape)
            ),
        }

    def matrices(
        self, weights: Float[Array, "heads rows width"]
    ) -> Float[Array, "heads left right"]:
        """The product of each head."""
        split = self.target.shape[0]
        return jnp.einsum("hlw,hrw->hlr", weights[:, :split], weights[:, split:])

    def pull_back(
        self, weights: Float[Array, "heads rows width"], slope: Float[Array, "heads left right"]
    ) -> Float[Array, "heads rows width"]:
        """The gradient in the factors, given the one in the products."""
        split = self.target.shape[0]
        left = jnp.einsum("hlr,hrw->hlw", slope, weights[:, split:])
        right = jnp.einsum("hlr,hlw->hrw", slope, weights[:, :split])
        return jnp.concatenate([left, right], axis=1)

    @abc.abstractmethod
    def evaluate(self, weights: Float[Array, "heads rows width"]) -> TrainingState:
        """Loss and gradient at the factors."""


class ValueFactors(AbstractFactors):
    """W_v and W_o on the collocation; heads add up, since one token needs no attention."""

    embeddings: Float[Array, "*batch tokens dimension"]
    following: Int[Array, "*batch tokens"]
    vocabulary: Bool[Array, "*batch tokens"]

    def evaluate(self, weights: Float[Array, "heads rows width"]) -> TrainingState:
        values = self.embeddings @ jnp.sum(self.matrices(weights), axis=0)
        found = collocation_gradient(values, self.following, self.vocabulary)
        slope = self.embeddings.T @ found.gradient.unit
        slopes = jnp.broadcast_to(slope, (len(weights), *slope.shape))
        gradient = LogScaled.from_parts(self.pull_back(weights, slopes), found.gradient.log_norm)
        return TrainingState(weights, found.log_loss, gradient)


class KeyQueryFactors(AbstractFactors):
    """W_k and W_q on the whole data, with W_v and W_o frozen."""

    inputs: Inputs
    margins: Float[Array, "*batch heads inputs slots vocabulary"]
    cells: CellCoordinates

    def evaluate(self, weights: Float[Array, "heads rows width"]) -> TrainingState:
        logits = jnp.stack([self.cells.logits(matrix) for matrix in self.matrices(weights)])
        found = heads_gradient(self.inputs, self.margins, logits)
        token, query = self.cells.token, self.cells.query
        assert token is not None
        assert query is not None
        slope = jnp.einsum("hc,cd,ce->hde", found.gradient.unit, token, query)
        gradient = LogScaled.from_parts(self.pull_back(weights, slope), found.gradient.log_norm)
        return TrainingState(weights, found.log_loss, gradient)


@dataclass(frozen=True)
class Factored:
    """Both stages on the factors.

    Attributes:
        stages: steps, step sizes and records, as in Algorithm 1.
        heads: how many; their outputs are added.
        width: the columns of W_k, W_q^T, W_v^T and W_o, d_1 = d_2 in the paper; None for |V|.
        start: the standard deviation of the entries that training starts from.
        seed: for these entries.
    """

    stages: TwoStage = ALGORITHM_1
    heads: int = 1
    width: int | None = None
    start: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("heads", self.heads), ("width", self.width or 1)):
            if value < 1:
                raise InputError(f"{name} must be at least 1; got {value}")
        if not (np.isfinite(self.start) and self.start > 0):
            raise InputError(f"the size of the start must be a positive number; got {self.start}")

    @property
    def steps(self) -> int:
        """Those of stage 2."""
        return self.stages.steps

    @property
    def says(self) -> str:
        """What is run, and what no longer covers it."""
        heads = "one head" if self.heads == 1 else f"{self.heads} heads"
        plan = self.stages.says.replace("on W_ov", "on W_o and W_v")
        return (
            f"{plan.replace('on W_kq', 'on W_k and W_q')}; {heads} of width {self.width or '|V|'} "
            f"from random factors of size {self.start:g}, seed {self.seed}. No theorem of the "
            "paper covers this: they speak of the products from zero, and of one head"
        )

    def run(
        self,
        datasets: Sequence[Dataset],
        *,
        store: Store | None = None,
        progress: Progress = silent_progress,
    ) -> "FactoredRun":
        """Train every dataset, all as one batch."""
        if any(d.initial_weights is not None or d.initial_values is not None for d in datasets):
            raise InputError("factors start at random: leave out initial_weights, initial_values")
        embedded = [
            replace(d, embeddings=np.eye(d.K) if d.embeddings is None else d.embeddings)
            for d in datasets
        ]
        batch = Batch(embedded)
        rates = np.array([self.stages.rates(dataset) for dataset in datasets])
        width = self.width or max(dataset.K for dataset in datasets)
        E = batch.value_coordinates.embeddings
        assert E is not None
        first = ValueFactors(
            start=self._draw(batch, "value", width),
            target=batch.target_ov,
            rate=jax.device_put(rates[:, 0]),
            embeddings=E,
            following=batch.following,
            vocabulary=jax.device_put(batch.inputs.vocabulary),
        )
        stage1 = run(first, self.stages.recorded(self.stages.stage1_steps), store=store)
        values = _head_values(first, stage1.final.weights)
        second = KeyQueryFactors(
            start=self._draw(batch, "attention", width),
            target=batch.target_kq,
            rate=jax.device_put(rates[:, 1]),
            inputs=batch.inputs,
            margins=_head_margins(batch.inputs, values),
            cells=batch.cell_coordinates,
        )
        recorded = self.stages.recorded(self.stages.steps)
        stage2 = run(second, recorded, store=store, progress=progress)
        weights = _head_logits(second, E, stage2.final.weights)
        logits = np.asarray(values), np.asarray(weights)
        return FactoredRun(tuple(datasets), self, rates[:, 0], rates[:, 1], stage1, stage2, *logits)

    def _draw(self, batch: Batch, layer: Literal["value", "attention"], width: int) -> Array:
        """Random factors of every dataset, the same whatever it is trained beside."""
        target = batch.target_ov if layer == "value" else batch.target_kq
        left, right = target.shape[1:]
        start = np.zeros((len(batch.datasets), self.heads, left + right, width))
        for row, dataset in zip(start, batch.datasets, strict=True):
            assert dataset.embeddings is not None
            D = dataset.embeddings.shape[1]
            other = dataset.K if layer == "value" else D
            draw = np.random.default_rng([self.seed, layer == "value"])
            columns = min(width, self.width or dataset.K)
            entries = self.start * draw.standard_normal((self.heads, D + other, columns))
            row[:, :D, :columns] = entries[:, :D]
            row[:, left : left + other, :columns] = entries[:, D:]
        return jax.device_put(start)


@dataclass(frozen=True, repr=False)
class FactoredRun(AbstractModel):
    """Both stages on the factors, as recorded; one layer of logits a head."""

    datasets: tuple[Dataset, ...]
    algorithm: Factored
    rate_ov: Float[np.ndarray, "datasets"]
    rate_kq: Float[np.ndarray, "datasets"]
    stage1: Recording[TrainingState]
    stage2: Recording[TrainingState]
    values: Float[np.ndarray, "datasets heads tokens vocabulary"]
    weights: Float[np.ndarray, "datasets heads tokens queries"]

    def value_logits(self, i: int) -> Float[np.ndarray, "tokens vocabulary"]:
        """Of all heads together, as an input of one token sees them."""
        K = self.datasets[i].K
        return self.values[i, :, :K, :K].sum(axis=0)

    def key_query(self, i: int) -> Float[np.ndarray, "tokens queries"]:
        """Of the first head."""
        K = self.datasets[i].K
        return self.weights[i, 0, :K, :K]

    def matrices(self, i: int) -> dict[str, Float[np.ndarray, "..."]]:
        """As of one head, one matrix a head."""
        K = self.datasets[i].K
        return {
            "W_kq": self.weights[i, :, :K, :K],
            "W_ov": self.values[i, :, :K, :K].transpose(0, 2, 1),
        }

    def predict(self, i: int, tokens: list[int]) -> Float[np.ndarray, "vocabulary"]:
        K = self.datasets[i].K
        logits = sum(
            attention(tokens, weights) @ values[tokens, :K]
            for weights, values in zip(self.weights[i], self.values[i], strict=True)
        )
        return np.asarray(jax.nn.softmax(logits))

    def attention(self, i: int, tokens: list[int]) -> Float[np.ndarray, "positions"]:
        """The mean over the heads."""
        return np.mean([attention(tokens, weights) for weights in self.weights[i]], axis=0)


@compiled_once
def _head_values(first: ValueFactors, weights: Float[Array, "..."]) -> Array:
    def one(dynamics: ValueFactors, at: Float[Array, "..."]) -> Array:
        return dynamics.embeddings @ dynamics.matrices(at)

    return eqx.filter_vmap(one)(first, weights)


@compiled_once
def _head_margins(inputs: Inputs, values: Float[Array, "..."]) -> Array:
    per_head = jax.vmap(value_margins, in_axes=(None, 0))
    return jax.vmap(per_head)(inputs, values)


@compiled_once
def _head_logits(second: KeyQueryFactors, E: Array, weights: Float[Array, "..."]) -> Array:
    def one(dynamics: KeyQueryFactors, rows: Array, at: Float[Array, "..."]) -> Array:
        return rows @ dynamics.matrices(at) @ rows.T

    return eqx.filter_vmap(one)(second, E, weights)
