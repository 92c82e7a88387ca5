"""Training with Adam, as in the experiments of Section 4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, UInt32

from lemmata.training import (
    AbstractGuardable,
    SingleRun,
    Store,
    Stream,
    fold,
    log_spaced,
    record_steps,
    run,
    stream,
    words,
)

from ._laws import Law, draw_labels, label_moment, shifted_law, standard_law
from ._model import System, Weights, draw_weights, pad_systems, pad_weights, single, stack_padded
from ._task import Task

SINGLE_ROUNDING = 1e-6
"""In float32, gaps below this part of the first one may rise by rounding."""


class AdamState(eqx.Module):
    """Weights, what the optimizer keeps, and the gap before the last step.

    ``increases`` counts the steps that made the gap larger, rounding apart.
    """

    weights: Weights
    optimizer: Any
    gap: Float[Array, "*batch"]
    t: Int[Array, "*batch"]
    increases: Int[Array, "*batch"]


def watch(
    system: System, weights: Weights, first: Weights, elsewhere: Float[Array, "N N"]
) -> dict[str, Float[Array, "..."]]:
    """The gap, the error where E y y' is ``elsewhere``, and how far Q moved, relative."""
    combined = system.attention(weights.Q).combine(weights.w)
    away = combined - system.target
    moved = jnp.sum((weights.Q - first.Q) ** 2) / jnp.sum(first.Q**2)
    return {
        "gap": system.error(combined)[0],
        "out_of_domain": jnp.sum(away * (elsewhere @ away)) / system.count,
        "moved_Q": jnp.sqrt(moved),
    }


def draw_batch(
    sample: Float[Array, "prompts K"], source: Stream, t: Int[Array, ""], count: int
) -> Float[Array, "count K"]:
    """The prompts of step t, drawn with replacement."""
    drawn = words(fold(source, t.astype(jnp.uint32)), count)
    return sample[(drawn % jnp.uint32(len(sample))).astype(jnp.int32)]


class AdamTraining(AbstractGuardable[AdamState]):
    """Adam on the population loss, or on batches from a fixed sample of prompts.

    Attributes:
        system: the task.
        start: the first weights.
        rate: the step size.
        elsewhere: E y y' of prompts under another law, for the error out of domain.
        sample: labels of all tokens, one training prompt a row; None for the population loss.
        source: which prompts make a batch, drawn with replacement.
        batch: how many.
        frozen: whether Q stays as it is.
    """

    system: System
    start: Weights
    rate: Float[Array, "*batch"]
    elsewhere: Float[Array, "*batch N N"]
    sample: Float[Array, "*batch prompts K"] | None
    source: UInt32[Array, "*batch 2"]
    batch: int = eqx.field(static=True)
    frozen: bool = eqx.field(static=True)

    def init(self) -> AdamState:
        zero = jnp.zeros((), dtype=jnp.int64)
        gap, _ = self.system.error(self._combined(self.start))
        return AdamState(self.start, optax.scale_by_adam().init(self.start), gap, zero, zero)

    def step(self, state: AdamState) -> AdamState:
        attention = self.system.attention(state.weights.Q)
        combined = attention.combine(state.weights.w)
        gap, slope = self.system.error(combined)
        if self.sample is not None:
            slope = self._sampled_slope(combined, state.t)
        gradient = self.system.pull_back(attention, state.weights.w, slope)
        with jax.numpy_dtype_promotion("standard"):
            updates, optimizer = optax.scale_by_adam().update(gradient, state.optimizer)
        rates = Weights(jnp.zeros_like(self.rate) if self.frozen else self.rate, self.rate)
        weights = jax.tree.map(lambda old, up, rate: old - rate * up, state.weights, updates, rates)
        judged = gap > SINGLE_ROUNDING * self.system.error(jnp.zeros_like(combined))[0]
        rose = (gap > state.gap) & (state.t > 0) & judged
        increases = state.increases + rose.astype(jnp.int64)
        return AdamState(weights, optimizer, gap, state.t + 1, increases)

    def size(self, state: AdamState) -> Float[Array, "*batch"]:
        return state.gap

    def measure(self, state: AdamState) -> dict[str, Float[Array, "..."]]:
        measured = watch(self.system, state.weights, self.start, self.elsewhere)
        measured["increases"] = state.increases.astype(state.gap.dtype)
        if self.sample is not None:
            residual = self._residual(self._combined(state.weights), self.sample)
            measured["sample_loss"] = jnp.sum(residual**2) / (2 * self.sample.size)
        return measured

    def _combined(self, weights: Weights) -> Float[Array, "N K"]:
        return self.system.attention(weights.Q).combine(weights.w)

    def _residual(
        self, combined: Float[Array, "N K"], labels: Float[Array, "prompts K"]
    ) -> Float[Array, "prompts K"]:
        return labels[:, : combined.shape[0]] @ combined - labels

    def _sampled_slope(
        self, combined: Float[Array, "N K"], t: Int[Array, ""]
    ) -> Float[Array, "N K"]:
        """The derivative in A-hat of the loss on a batch."""
        assert self.sample is not None
        labels = draw_batch(self.sample, self.source, t, self.batch)
        residual = self._residual(combined, labels)
        return labels[:, : combined.shape[0]].T @ residual / labels.size


@dataclass(frozen=True)
class Training:
    """A run of Section 4 for the one-layer transformer, what the paper leaves open as a knob.

    Attributes:
        task: the task.
        heads: H.
        rate: Adam's step size.
        steps, record: how many steps, and which to record; spread evenly over their logarithm
            unless given.
        sample, batch: train on batches from so many prompts; 0 for the population loss.
        frozen: keep Q where it starts.
        seed: the first weights, and the sample; not that of the task, whose numbers Q would repeat.
        scale: beta, the standard deviation of the entries of Q at the start.
        law: of the prompts out of domain; N(1, 4 I) unless given.
    """

    task: Task
    heads: int
    rate: float = 1e-4
    steps: int = 1_000
    record: tuple[int, ...] = ()
    sample: int = 0
    batch: int = 256
    frozen: bool = False
    seed: int = 1
    scale: float = 1.0
    law: Law | None = None

    @property
    def start(self) -> Weights:
        """The first weights."""
        return draw_weights(self.task, self.heads, seed=self.seed, scale=self.scale)

    @property
    def elsewhere(self) -> Float[np.ndarray, "N N"]:
        """E y y' of prompts out of domain."""
        return label_moment(self.task, self.law or shifted_law(self.task.m))

    @property
    def labels(self) -> Float[np.ndarray, "prompts K"]:
        """The sample."""
        rng = np.random.default_rng([self.seed, 1])
        return draw_labels(self.task, standard_law(self.task.m), rng, self.sample)

    def dynamics(self) -> AdamTraining:
        """The run as one instance, with a leading axis of length one, in float32."""
        return side_by_side([self])

    def run(
        self, *, store: Store | None = None, progress: Callable[[int], None] = lambda _: None
    ) -> "TrainingRun":
        """Train."""
        found = run(
            self.dynamics(), self.recorded, store=store, progress=progress, group=1, chunk=1
        )
        return TrainingRun(self, found)

    @property
    def recorded(self) -> Int[np.ndarray, "records"]:
        """The steps to record, the last one always."""
        if not self.record:
            return log_spaced(self.steps)
        return record_steps((*self.record, self.steps), self.steps)


def side_by_side(
    trainings: Sequence[Training], shape: tuple[int, int, int, int] | None = None
) -> AdamTraining:
    """Several runs as one, in float32; samples can only be of tasks of one size.

    Smaller tasks are padded, to a ``shape`` if given; a head that is padding has w = 0 for ever.
    """
    first = trainings[0]
    system = pad_systems([how.task for how in trainings], [how.heads for how in trainings], shape)
    runs = AdamTraining(
        system=system,
        start=pad_weights([how.start for how in trainings], system),
        rate=jax.device_put(np.array([how.rate for how in trainings])),
        elsewhere=stack_padded([how.elsewhere for how in trainings], system.root.shape[1:]),
        sample=single(np.stack([how.labels for how in trainings])) if first.sample else None,
        source=jnp.stack([stream(how.seed) for how in trainings]),
        batch=first.batch,
        frozen=first.frozen,
    )
    return jax.tree.map(lambda leaf: single(leaf) if eqx.is_inexact_array(leaf) else leaf, runs)


@dataclass(frozen=True, repr=False)
class TrainingRun(SingleRun):
    """What a run recorded: ``gap``, ``out_of_domain``, ``increases``, ``moved_Q`` and, if it was
    trained on a sample, the ``sample_loss``. The error in domain is twice the gap."""

    how: Training

    @property
    def weights(self) -> Weights:
        """The weights at the end."""
        Q, w = (np.asarray(leaf[0], dtype=float) for leaf in self.recording.final.weights)
        return Weights(*jax.device_put((Q[:, : self.how.heads], w[: self.how.heads])))


def train_together(
    trainings: Sequence[Training],
    *,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[TrainingRun]:
    """Several runs on tasks of one size, side by side; only seeds, tasks, rates, heads differ."""
    found = run(side_by_side(trainings), trainings[0].recorded, store=store, progress=progress)
    return [TrainingRun(how, found.select(np.array([i]))) for i, how in enumerate(trainings)]
