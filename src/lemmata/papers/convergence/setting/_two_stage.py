"""Algorithm 1, and joint training of both layers for comparison."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata.attention import Inputs, ValueCoordinates, attention, predict, value_margins
from lemmata.settings import check_rate
from lemmata.training import (
    Recording,
    Rule,
    Store,
    TrainingState,
    compiled_once,
    every,
    log_spaced,
    record_steps,
    run,
)

from ._batch import Batch
from ._dataset import Dataset
from ._dynamics import AttentionTraining, CollocationTraining, JointState, JointTraining
from ._probes import ValueProbe

NamedRate = Literal["paper", "largest"]
Rate = float | NamedRate
"""A step size: a number, the one of Section 7, or ||W*||/e, the largest the proofs allow."""

STAGE_1_CONSTANT, STAGE_2_CONSTANT = 0.2, 0.05
"""Section 7 divides these by sqrt(|V|)."""

Progress = Callable[[int], None]


def silent_progress(_: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class TwoStage:
    """Algorithm 1: normalized gradient descent on W_ov, then on W_kq with W_ov frozen.

    Attributes:
        stage1_steps, steps: T and T_1.
        stage1_rate, rate: eta_0 and eta.
        record: every step, about sixty log-spaced steps, or the steps named.
        rule: ``ngd`` is the paper's; ``gd`` does not normalize.
    """

    stage1_steps: int = 900
    stage1_rate: Rate = "paper"
    steps: int = 900
    rate: Rate = "paper"
    record: Literal["every", "log"] | tuple[int, ...] = "every"
    rule: Rule = "ngd"

    def __post_init__(self) -> None:
        _check_steps("stage 1 steps", self.stage1_steps)
        _check_steps("steps", self.steps)
        _check_rate("stage 1 step size", self.stage1_rate)
        _check_rate("step size", self.rate)
        if self.rule not in get_args(Rule):
            raise InputError(unknown_name("rule", str(self.rule), get_args(Rule)))
        if isinstance(self.record, str) and self.record not in ("every", "log"):
            raise InputError(unknown_name("choice of records", self.record, ("every", "log")))

    @property
    def says(self) -> str:
        """What is run, in one line."""
        name = "normalized gradient descent" if self.rule == "ngd" else "gradient descent"
        return (
            f"{name} in two stages: {self.stage1_steps} steps of size "
            f"{_show_rate(self.stage1_rate, STAGE_1_CONSTANT)} on W_ov with the collocation, then "
            f"{self.steps} steps of size {_show_rate(self.rate, STAGE_2_CONSTANT)} on W_kq with "
            "the whole data"
        )

    @property
    def options(self) -> dict[str, Any]:
        """The same in the words of the setting's options."""
        return {
            "algorithm": self.rule,
            "stage1_steps": self.stage1_steps,
            "stage1_rate": self.stage1_rate,
            "steps": self.steps,
            "rate": self.rate,
        }

    def rates(self, dataset: Dataset) -> tuple[float, float]:
        """eta_0 and eta for a dataset."""
        return (
            _rate(self.stage1_rate, STAGE_1_CONSTANT, dataset.K, dataset.norm_ov),
            _rate(self.rate, STAGE_2_CONSTANT, dataset.K, dataset.norm_kq),
        )

    def run(
        self,
        datasets: Sequence[Dataset],
        *,
        store: Store | None = None,
        progress: Progress = silent_progress,
    ) -> "TwoStageRun":
        """Train every dataset, all as one batch."""
        batch = Batch(datasets)
        rate_ov, rate_kq = np.array([self.rates(dataset) for dataset in datasets]).T
        stage1 = run(
            self._collocation(batch),
            self.recorded(self.stage1_steps),
            store=store,
            progress=progress,
        )
        values = _value_logits(batch.value_coordinates, stage1.final.weights)
        second = AttentionTraining(
            start=batch.start_kq,
            inputs=batch.inputs,
            margins=_margins(batch.inputs, values),
            target=batch.target_kq,
            rate=jax.device_put(rate_kq),
            coordinates=batch.cell_coordinates,
            probe=batch.probe,
            rule=self.rule,
        )
        stage2 = run(second, self.recorded(self.steps), store=store, progress=progress)
        inputs = jax.tree.map(np.asarray, batch.inputs)
        return TwoStageRun(
            tuple(datasets), self, rate_ov, rate_kq, stage1, stage2, np.asarray(values), inputs
        )

    def first_stage(
        self, datasets: Sequence[Dataset], store: Store | None = None
    ) -> Recording[TrainingState]:
        """Stage 1 alone."""
        first = self._collocation(Batch(datasets))
        return run(first, self.recorded(self.stage1_steps), store=store)

    def _collocation(self, batch: Batch) -> CollocationTraining:
        """Stage 1 of a batch."""
        vocabulary = jax.device_put(batch.inputs.vocabulary)
        return CollocationTraining(
            start=batch.start_ov,
            following=batch.following,
            vocabulary=vocabulary,
            target=batch.target_ov,
            rate=jax.device_put(np.array([self.rates(dataset)[0] for dataset in batch.datasets])),
            coordinates=batch.value_coordinates,
            probe=ValueProbe(batch.following, vocabulary),
            rule=self.rule,
        )

    def recorded(self, total: int) -> np.ndarray:
        """The steps of a stage of this length that are kept."""
        if self.record == "every":
            return every(total)
        if self.record == "log":
            return log_spaced(total)
        return record_steps((*(step for step in self.record if step <= total), total), total)


class AbstractModel(abc.ABC):
    """A trained model of each dataset: what it attends to, and what it expects next."""

    datasets: tuple[Dataset, ...]
    algorithm: Any

    def __repr__(self) -> str:
        count, steps = len(self.datasets), self.algorithm.steps
        return f"<{type(self).__name__} of {count} dataset{'s' * (count != 1)}: {steps:,} steps>"

    @abc.abstractmethod
    def value_logits(self, i: int) -> Float[np.ndarray, "tokens vocabulary"]:
        """(W_ov x)_v of dataset i, for all tokens x and next tokens v."""

    @abc.abstractmethod
    def key_query(self, i: int) -> Float[np.ndarray, "tokens queries"]:
        """x^T W_kq x_q of dataset i, for all tokens x and queries x_q."""

    def matrices(self, i: int) -> dict[str, Float[np.ndarray, "..."]]:
        """The weights of dataset i as they act on tokens: ``W_kq[x, q]`` is the attention logit of
        token x under query q, and ``W_ov[v, x]`` the logit that x alone gives to v.
        """
        return {"W_kq": self.key_query(i), "W_ov": self.value_logits(i).T}

    def predict(self, i: int, tokens: list[int]) -> Float[np.ndarray, "vocabulary"]:
        """The next-token distribution of the trained model."""
        return predict(tokens, self.value_logits(i), self.key_query(i))

    def attention(self, i: int, tokens: list[int]) -> Float[np.ndarray, "positions"]:
        """The attention weights of the trained model."""
        return attention(tokens, self.key_query(i))


@dataclass(frozen=True, repr=False)
class TwoStageRun(AbstractModel):
    """Both stages of Algorithm 1 on a batch of datasets, as recorded."""

    datasets: tuple[Dataset, ...]
    algorithm: TwoStage
    rate_ov: Float[np.ndarray, "datasets"]
    rate_kq: Float[np.ndarray, "datasets"]
    stage1: Recording[TrainingState]
    stage2: Recording[TrainingState]
    values: Float[np.ndarray, "datasets tokens vocabulary"]
    inputs: Inputs

    def select(self, indices: Sequence[int]) -> "TwoStageRun":
        """The run of these datasets alone."""
        rows = np.asarray(indices, dtype=np.int64)
        return TwoStageRun(
            tuple(self.datasets[i] for i in indices),
            self.algorithm,
            self.rate_ov[rows],
            self.rate_kq[rows],
            self.stage1.select(rows),
            self.stage2.select(rows),
            self.values[rows],
            jax.tree.map(lambda leaf: leaf[rows], self.inputs),
        )

    def key_query(self, i: int) -> Float[np.ndarray, "tokens queries"]:
        """x^T W_kq x_q at the end of dataset i, for all tokens x and queries x_q."""
        dataset = self.datasets[i]
        weights = np.asarray(self.stage2.final.weights[i])
        if weights.ndim == 2:
            E = np.eye(dataset.K) if dataset.embeddings is None else dataset.embeddings
            D = E.shape[1]
            return E @ weights[:D, :D] @ E.T
        return self.inputs.dense(i, weights, dataset.K)

    def value_logits(self, i: int) -> Float[np.ndarray, "tokens vocabulary"]:
        """(W_ov x)_v at the end of stage 1 of dataset i."""
        K = self.datasets[i].K
        return self.values[i, :K, :K]


@dataclass(frozen=True)
class Joint:
    """Both layers in a single stage, from zero, on the whole loss."""

    steps: int = 900
    rate: Rate = "paper"

    def __post_init__(self) -> None:
        _check_steps("steps", self.steps)
        _check_rate("step size", self.rate)

    @property
    def says(self) -> str:
        """What is run, in one line."""
        return (
            f"normalized gradient descent on W_ov and W_kq together: {self.steps} steps of size "
            f"{_show_rate(self.rate, STAGE_1_CONSTANT)}"
        )

    @property
    def options(self) -> dict[str, Any]:
        """The same in the words of the setting's options."""
        return {"algorithm": "joint", "steps": self.steps, "rate": self.rate}

    def step_size(self, dataset: Dataset) -> float:
        """eta for a dataset."""
        return _rate(self.rate, STAGE_1_CONSTANT, dataset.K, dataset.norm_ov)

    def run(
        self,
        datasets: Sequence[Dataset],
        *,
        store: Store | None = None,
        progress: Progress = silent_progress,
    ) -> "JointRun":
        """Train every dataset, all as one batch."""
        batch = Batch(datasets)
        if batch.embedded or any(d.initial_values is not None for d in datasets):
            raise InputError("joint training is for orthonormal embeddings and starts from zero")
        rate = np.array([self.step_size(dataset) for dataset in datasets])
        dynamics = JointTraining(
            start_values=jnp.zeros_like(batch.target_ov),
            start_weights=jnp.zeros_like(batch.target_kq),
            inputs=batch.inputs,
            target_values=batch.target_ov,
            target_weights=batch.target_kq,
            rate=jax.device_put(rate),
        )
        recording = run(dynamics, every(self.steps), store=store, progress=progress)
        inputs = jax.tree.map(np.asarray, batch.inputs)
        return JointRun(tuple(datasets), self, rate, recording, inputs)


@dataclass(frozen=True, repr=False)
class JointRun(AbstractModel):
    """Joint training on a batch of datasets, as recorded."""

    datasets: tuple[Dataset, ...]
    algorithm: Joint
    rate: Float[np.ndarray, "datasets"]
    recording: Recording[JointState]
    inputs: Inputs

    def key_query(self, i: int) -> Float[np.ndarray, "tokens queries"]:
        weights = np.asarray(self.recording.final.weights[i])
        return self.inputs.dense(i, weights, self.datasets[i].K)

    def value_logits(self, i: int) -> Float[np.ndarray, "tokens vocabulary"]:
        K = self.datasets[i].K
        return np.asarray(self.recording.final.values[i])[:K, :K]


def _check_steps(name: str, value: int) -> None:
    if value < 0:
        raise InputError(f"the number of {name} must not be negative; got {value}")


def _check_rate(name: str, value: Rate) -> None:
    if isinstance(value, str):
        if value not in get_args(NamedRate):
            known = ("a number", *get_args(NamedRate))
            raise InputError(unknown_name(name, value, known))
    else:
        check_rate(value, name)


def _show_rate(rate: Rate, constant: float) -> str:
    words = {"paper": f"{constant}/sqrt(|V|)", "largest": "||W*||/e"}
    return words[rate] if isinstance(rate, str) else f"{rate:g}"


def _rate(rate: Rate, constant: float, K: int, norm: float) -> float:
    """Section 7 uses 0.2/sqrt(d) and 0.05/sqrt(d); the proofs ask for eta <= ||W*||/e."""
    if rate == "paper":
        return constant / float(np.sqrt(K))
    if rate == "largest":
        return norm / float(np.e) if norm > 0 else 1.0
    return float(rate)


@compiled_once
def _value_logits(coordinates: ValueCoordinates, weights: Float[jax.Array, "..."]) -> jax.Array:
    return jax.vmap(ValueCoordinates.values)(coordinates, weights)


@compiled_once
def _margins(inputs: Inputs, values: Float[jax.Array, "..."]) -> jax.Array:
    return jax.vmap(value_margins)(inputs, values)
