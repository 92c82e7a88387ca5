"""Training with Adam, as in the experiments of Section 4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from lemmata.training import (
    AbstractDynamics,
    Recording,
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
from ._model import System, Weights, draw_weights, system_of
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


class AdamTraining(AbstractDynamics[AdamState]):
    """Adam on the population loss, or on batches from a fixed sample of prompts.

    Attributes:
        system: the task, without padding.
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
    source: Stream
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

    def measure(self, state: AdamState) -> dict[str, Float[Array, "..."]]:
        combined = self._combined(state.weights)
        away = combined - self.system.target
        gap, _ = self.system.error(combined)
        moved = jnp.sum((state.weights.Q - self.start.Q) ** 2) / jnp.sum(self.start.Q**2)
        measured = {
            "gap": gap,
            "out_of_domain": jnp.sum(away * (self.elsewhere @ away)) / self.system.count,
            "increases": state.increases.astype(gap.dtype),
            "moved_Q": jnp.sqrt(moved),
        }
        if self.sample is not None:
            measured["sample_loss"] = jnp.sum(self._residual(combined, self.sample) ** 2) / (
                2 * self.sample.size
            )
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
        drawn = words(fold(self.source, t.astype(jnp.uint32)), self.batch)
        labels = self.sample[(drawn % jnp.uint32(len(self.sample))).astype(jnp.int32)]
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
    law: Law | None = None

    def dynamics(self, heads: int | None = None) -> AdamTraining:
        """The run as one instance, with a leading axis of length one, in float32.

        Heads are padded to the number given; a head that is padding has w = 0 for ever.
        """
        single = jnp.float32
        task = self.task
        padding = 0 if heads is None else heads - self.heads
        law = shifted_law(task.m) if self.law is None else self.law
        labels = None
        if self.sample:
            rng = np.random.default_rng([self.seed, 1])
            drawn = draw_labels(task, standard_law(task.m), rng, self.sample)
            labels = jnp.asarray(drawn, dtype=single)
        start = draw_weights(task, self.heads, seed=self.seed)
        system = system_of(task, self.heads, single)
        return jax.tree.map(
            lambda leaf: leaf[None],
            AdamTraining(
                system=eqx.tree_at(lambda s: s.heads, system, jnp.pad(system.heads, (0, padding))),
                start=Weights(
                    jnp.pad(start.Q, ((0, 0), (0, padding), (0, 0))).astype(single),
                    jnp.pad(start.w, ((0, padding), (0, 0))).astype(single),
                ),
                rate=jnp.asarray(self.rate, dtype=single),
                elsewhere=jnp.asarray(label_moment(task, law), dtype=single),
                sample=labels,
                source=stream(self.seed),
                batch=self.batch,
                frozen=self.frozen,
            ),
        )

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


@dataclass(frozen=True)
class TrainingRun:
    """What a run recorded: ``gap``, ``out_of_domain``, ``increases``, ``moved_Q`` and, if it was
    trained on a sample, the ``sample_loss``. The error in domain is twice the gap."""

    how: Training
    recording: Recording[AdamState]

    @property
    def steps(self) -> Int[np.ndarray, "records"]:
        """The recorded steps."""
        return self.recording.steps

    def __getitem__(self, name: str) -> Float[np.ndarray, "records"]:
        return self.recording.series[name][0].astype(float)

    @property
    def weights(self) -> Weights:
        """The weights at the end."""
        Q, w = (jnp.asarray(leaf[0], dtype=float) for leaf in self.recording.final.weights)
        return Weights(Q[:, : self.how.heads], w[: self.how.heads])


def train_together(
    trainings: Sequence[Training],
    *,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[TrainingRun]:
    """Several runs on tasks of one size, side by side; only seeds, tasks, rates, heads differ."""
    most = max(training.heads for training in trainings)
    dynamics = jax.tree.map(
        lambda *leaves: jnp.concatenate(leaves),
        *(training.dynamics(most) for training in trainings),
    )
    found = run(dynamics, trainings[0].recorded, store=store, progress=progress)
    return [
        TrainingRun(training, found.select(np.array([i]))) for i, training in enumerate(trainings)
    ]
