"""Fully connected nets that are trained: a linear first layer, then two wide ReLU layers.

The first layer gets the subset as a q-hot vector beside the tokens. The bounds on its width do not
ask how the subset is written, and training finds this easier than the positions as numbers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import nn
from jaxtyping import Array, Float, Float32, Int, UInt32

from lemmata.training import AbstractDynamics, Store, Stream, fold, normals, run, stream, subsets

from ._networks import Estimate, TokenPart
from ._task import Task

TEST_SAMPLES = 40_000
"""Fresh samples on which a net is measured."""

USUAL_RATE = 5e-3
"""The first step size of Adam."""

START, BATCHES, TEST = range(3)
"""What a run draws, as children of its stream."""


class NetWeights(NamedTuple):
    """Four matrices, and the biases of all layers but the first."""

    first: Float32[Array, "widest inputs"]
    second: Float32[Array, "hidden widest"]
    third: Float32[Array, "hidden hidden"]
    last: Float32[Array, "d hidden"]
    second_bias: Float32[Array, "hidden"]
    third_bias: Float32[Array, "hidden"]
    last_bias: Float32[Array, "d"]


class NetState(eqx.Module):
    """Weights, what Adam keeps, and the step."""

    weights: NetWeights
    adam: optax.OptState
    t: Int[Array, ""]


class NetTraining(AbstractDynamics[NetState]):
    """Adam on fresh samples, with a step size that falls to zero along a cosine.

    Nets of several widths run side by side: ``open`` is 1 for the neurons of the first layer that
    a net has, and 0 for those that only wider ones have.
    """

    source: UInt32[Array, "*batch 2"]
    open: Float32[Array, "*batch widest"]
    task: Task = eqx.field(static=True)
    hidden: int = eqx.field(static=True)
    samples: int = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    compiles_briefly: ClassVar[bool] = True

    @classmethod
    def of(
        cls,
        task: Task,
        widths: Sequence[int],
        *,
        steps: int = 2_000,
        samples: int = 256,
        hidden: int = 64,
        rate: float = USUAL_RATE,
        seed: int = 0,
    ) -> "NetTraining":
        """One net for each width, side by side."""
        source, neurons = stream(seed), np.arange(max(widths))
        return cls(
            source=jax.vmap(lambda i: fold(source, i))(jnp.arange(len(widths), dtype=jnp.uint32)),
            open=jax.device_put(np.float32(neurons[None] < np.asarray(widths)[:, None])),
            task=task,
            hidden=hidden,
            samples=samples,
            rate=rate,
            steps=steps,
        )

    def init(self) -> NetState:
        source, (T, d) = fold(self.source, jnp.uint32(START)), (self.task.T, self.task.d)
        widest, wide = self.open.shape[-1], self.hidden

        def layer(index: int, outputs: int, inputs: int, size: float) -> Float32[Array, "o i"]:
            drawn = normals(fold(source, jnp.uint32(index)), (outputs, inputs))
            return jnp.float32(math.sqrt(size / inputs)) * drawn

        weights = NetWeights(
            layer(0, widest, T * d + T, 1.0),
            layer(1, wide, widest, 2.0) * jnp.sqrt(widest / jnp.sum(self.open)),
            layer(2, wide, wide, 2.0),
            layer(3, d, wide, 1.0),
            *(jnp.zeros(size, dtype=jnp.float32) for size in (wide, wide, d)),
        )
        return NetState(weights, optax.scale_by_adam().init(weights), jnp.zeros((), jnp.int64))

    def step(self, state: NetState) -> NetState:
        source = fold(fold(self.source, jnp.uint32(BATCHES)), state.t.astype(jnp.uint32))
        drawn = self._draw(source, self.samples)
        gradient = jax.grad(lambda weights: jnp.mean(self._losses(weights, *drawn)))(state.weights)
        # The optimizer raises a float to the power of its counter, which strict typing forbids.
        with jax.numpy_dtype_promotion("standard"):
            updates, adam = optax.scale_by_adam().update(gradient, state.adam)
        phase = state.t.astype(jnp.float32) * jnp.float32(math.pi / self.steps)
        rate = jnp.float32(self.rate) * (1 + jnp.cos(phase)) / 2
        weights = jax.tree.map(lambda old, up: old - rate * up, state.weights, updates)
        return NetState(weights, adam, state.t + 1)

    def measure(self, state: NetState) -> dict[str, Float[Array, "..."]]:
        drawn = self._draw(fold(self.source, jnp.uint32(TEST)), TEST_SAMPLES)
        losses = self._losses(state.weights, *drawn)
        return {"loss": jnp.mean(losses), "error": jnp.std(losses) / math.sqrt(TEST_SAMPLES)}

    def _draw(
        self, source: Stream, samples: int
    ) -> tuple[Float32[Array, "samples inputs"], Float32[Array, "samples d"]]:
        """[x_vec; Y] and the target."""
        T, q, d = self.task.T, self.task.q, self.task.d
        x = normals(fold(source, jnp.uint32(0)), (samples, T, d))
        y = subsets(fold(source, jnp.uint32(1)), samples, q, T)
        Y = jnp.sum(nn.one_hot(y, T, dtype=jnp.float32), axis=1)
        return jnp.concatenate([x.reshape(samples, -1), Y], axis=1), jnp.einsum(
            "ntd,nt->nd", x, Y
        ) / q

    def _losses(
        self,
        weights: NetWeights,
        inputs: Float32[Array, "samples inputs"],
        target: Float32[Array, "samples d"],
    ) -> Float32[Array, "samples"]:
        first = (inputs @ weights.first.T) * self.open[None]
        second = nn.relu(first @ weights.second.T + weights.second_bias[None])
        third = nn.relu(second @ weights.third.T + weights.third_bias[None])
        output = third @ weights.last.T + weights.last_bias[None]
        return jnp.sum((output - target) ** 2, axis=1)


@dataclass(frozen=True)
class TrainedNet:
    """A net after training: its loss on fresh samples, and its first layer's token part."""

    task: Task
    width: int
    estimate: Estimate
    tokens: TokenPart


def train_nets(
    task: Task,
    widths: Sequence[int],
    *,
    steps: int = 2_000,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
    **how: Any,
) -> list[TrainedNet]:
    """Train one net for each width; ``how`` is what ``NetTraining.of`` takes."""
    dynamics = NetTraining.of(task, widths, steps=steps, **how)
    found = run(dynamics, np.array([steps]), store=store, progress=progress, group=1, chunk=1)
    first = np.asarray(found.final.weights.first, dtype=float)
    size = task.T * task.d
    return [
        TrainedNet(
            task,
            width,
            Estimate(float(found.series["loss"][i, -1]), float(found.series["error"][i, -1])),
            first[i, :width, :size],
        )
        for i, width in enumerate(widths)
    ]
