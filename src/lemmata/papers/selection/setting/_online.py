"""Online training as in Section 4, step by step: what SGD or Adam does with a fresh batch."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Float, Float32, Int

from lemmata.training import AbstractDynamics, Stream, fold, normals, padded_subsets

from ._encodings import draw_signs
from ._heads import (
    loss_and_gradient_of_heads,
    losses_of_heads,
    missed_by_heads,
    token_free_losses_of_heads,
)
from ._model import (
    Batch,
    Factors,
    Weights,
    draw_batch,
    loss_and_gradient,
    losses,
    token_free_losses,
)
from ._plan import Query
from ._task import Task

STEPS, START, QUERY, MEASURES = range(1 << 20, (1 << 20) + 4)
"""Children of a run's stream; those before them are for the blocks of fixed encodings."""

BATCH, ENCODINGS, QUERIES, TESTS = range(4)
"""What a step and a validation set draw, as children of their stream."""

MEMORY = 300
"""The average loss is over the last so many batches."""

TEST_SAMPLES = 128
"""Points of a validation set, drawn once (Section 4)."""

POPULATION_SUBSETS = 1_024
"""Subsets in a token-free estimate of the population loss."""

MEMBERS = 4
"""Fresh encodings over which they are spread."""

TOO_LARGE = 1e6
"""A batch loss this many times that of the zero predictor means that training diverges."""


def of_head(name: str, head: int) -> str:
    """What a measurement of one of several heads is called; heads are counted from 1."""
    return f"{name} of head {head + 1}"


def joint(weights: Weights | Factors) -> Weights:
    """V and W, whatever is trained."""
    return weights.joint if isinstance(weights, Factors) else weights


class OnlineState(eqx.Module):
    """Weights, what the optimizer keeps, and how training goes.

    ``diverged`` is the step at which the loss blew up, or -1; the weights stay as they were.
    """

    weights: Weights | Factors
    optimizer: Any
    t: Int[Array, ""]
    recent: Float32[Array, "memory"]
    diverged: Int[Array, ""]


class OnlineTraining(AbstractDynamics[OnlineState]):
    """One run: what is fixed while it goes on.

    Attributes:
        source: the stream of all that is random.
        start: the first weights.
        E: the fixed encodings, for the longest task; unused if they are fresh every step.
        query: the fixed x_query, if it is fixed.
        rates: the step size up to step ``change``, and after it.
        tests: the tasks (T, q) that are looked at while training goes on.
        queries: subsets that are asked for in each sequence; the losses of all are added.
        heads: how many; the weights of several have an axis of heads in front.
    """

    source: Stream
    start: Weights | Factors
    E: Float32[Array, "*batch d_e longest"]
    query: Float32[Array, "*batch d"]
    rates: Float32[Array, "*batch 2"]
    change: Int[Array, "*batch"]
    task: Task = eqx.field(static=True)
    samples: int = eqx.field(static=True)
    fresh: bool = eqx.field(static=True)
    threshold: float = eqx.field(static=True)
    x_query: Query = eqx.field(static=True)
    algorithm: str = eqx.field(static=True)
    tests: tuple[tuple[int, int], ...] = eqx.field(static=True)
    queries: int = eqx.field(static=True, default=1)
    heads: int = eqx.field(static=True, default=1)
    compiles_briefly: ClassVar[bool] = True

    @property
    def d_e(self) -> int:
        """The dimension of the encodings."""
        return self.E.shape[-2]

    def init(self) -> OnlineState:
        recent = jnp.full(MEMORY, jnp.nan, dtype=jnp.float32)
        never = jnp.full((), -1, dtype=jnp.int64)
        first = jnp.zeros((), dtype=jnp.int64)
        return OnlineState(self.start, self._optimizer().init(self.start), first, recent, never)

    def step(self, state: OnlineState) -> OnlineState:
        source = fold(fold(self.source, jnp.uint32(STEPS)), state.t.astype(jnp.uint32))
        E = self._encodings(fold(source, jnp.uint32(ENCODINGS)), self.task.T)
        batch = draw_batch(
            fold(source, jnp.uint32(BATCH)),
            self.samples,
            self.task.q,
            self.task.d,
            E,
            self._queries(fold(source, jnp.uint32(QUERIES)), self.samples * self.queries),
            self.queries,
        )
        loss, gradient = self._loss_and_gradient(state.weights, batch)
        # Adam raises a float to the power of its counter, which strict typing forbids.
        with jax.numpy_dtype_promotion("standard"):
            updates, optimizer = self._optimizer().update(gradient, state.optimizer)
        rate = jnp.where(state.t < self.change, self.rates[0], self.rates[1])
        weights = jax.tree.map(lambda old, up: old - rate * up, state.weights, updates)
        bad = ~(loss <= TOO_LARGE * self.queries * self.task.zero_loss) | (state.diverged >= 0)
        recent = state.recent.at[state.t % MEMORY].set(loss)
        moved = OnlineState(weights, optimizer, state.t, recent, state.diverged)
        kept = jax.tree.map(lambda new, old: jnp.where(bad, old, new), moved, state)
        diverged = jnp.where(bad & (state.diverged < 0), state.t, state.diverged)
        return eqx.tree_at(lambda s: (s.t, s.diverged), kept, (state.t + 1, diverged))

    def _loss_and_gradient(
        self, weights: Weights | Factors, batch: Batch
    ) -> tuple[Float[Array, ""], Weights | Factors]:
        """The loss of a sequence, whose queries are added, and its gradient."""
        slope = loss_and_gradient if self.heads == 1 else loss_and_gradient_of_heads
        loss, gradient = slope(joint(weights), batch)
        loss, gradient = jax.tree.map(lambda leaf: self.queries * leaf, (loss, gradient))
        if isinstance(weights, Factors):
            return loss, weights.pull_back(gradient)
        return loss, gradient

    def measure(self, state: OnlineState) -> dict[str, Float[Array, "..."]]:
        weights = joint(state.weights)
        measured = {
            "loss": jnp.nanmean(state.recent),
            "diverged": state.diverged.astype(jnp.float32),
        }
        each = self._numbers if self.heads == 1 else jax.vmap(self._numbers)
        numbers = each(weights)
        source = fold(self.source, jnp.uint32(MEASURES))
        E = self._test_encodings(fold(fold(source, jnp.uint32(0)), state.t.astype(jnp.uint32)))
        if self.heads == 1:
            trained, W_pp = E[0, :, : self.task.T], weights.W[self.task.d :, self.task.d :]
            raised = jnp.mean(jnp.sum(trained * (W_pp @ trained), axis=0))
            measured |= {**numbers, "advantage": raised - numbers["C"]}
        else:
            T, q = jnp.asarray(self.task.T), jnp.asarray(self.task.q)
            batch = self._validation(fold(source, jnp.uint32(1)), E, T, q)
            numbers["missed"] = missed_by_heads(weights, batch)
            for name, found in numbers.items():
                measured |= {of_head(name, h): found[h] for h in range(self.heads)}
        tasks = ((self.task.T, self.task.q), *self.tests)
        numbered = (jnp.arange(1, len(tasks) + 1, dtype=jnp.uint32), *jnp.array(tasks).T)
        found = lax.map(
            lambda task: self._test(weights, fold(source, task[0]), E, *task[1:]), numbered
        )
        for kind, losses_of in zip(("population", "validation"), found, strict=True):
            for i, (T, q) in enumerate(tasks):
                measured[f"{kind} T={T} q={q}"] = losses_of[i]
        return measured

    def _numbers(self, weights: Weights) -> dict[str, Float[Array, ""]]:
        """How large the weights of a head are along their directions in theory."""
        (V, W), d, d_e = weights, self.task.d, self.d_e
        return {
            "alpha": jnp.trace(V[:, :d]) / d,
            "C": jnp.trace(W[d:, d:]) / d_e,
            "cosine_W": jnp.trace(W[d:, d:]) / jnp.sqrt(d_e * jnp.sum(W**2)),
            "cosine_V": jnp.trace(V[:, :d]) / jnp.sqrt(d * jnp.sum(V**2)),
        }

    def _test(
        self,
        weights: Weights,
        source: Stream,
        E: Float32[Array, "members d_e longest"],
        T: Int[Array, ""],
        q: Int[Array, ""],
    ) -> tuple[Float32[Array, ""], Float32[Array, ""]]:
        """The token-free loss of a task over fixed subsets, and that on its validation set.

        Tasks of all sizes share one program: they are padded to the longest.
        """
        free, sampled = token_free_losses, losses
        if self.heads > 1:
            free, sampled = token_free_losses_of_heads, losses_of_heads
        y = padded_subsets(fold(source, jnp.uint32(TESTS)), POPULATION_SUBSETS, self._most, q, T)
        parts = (y.reshape(E.shape[0], -1, self._most), E)
        population = lax.map(lambda pair: free(weights, pair[0], pair[1], T), parts)
        found = sampled(weights, self._validation(source, E, T, q))
        return jnp.mean(population), jnp.mean(found)

    @property
    def _most(self) -> int:
        """The largest subset that is looked at."""
        return max(self.task.q, *(size for _, size in self.tests), 1)

    def _validation(
        self,
        source: Stream,
        E: Float32[Array, "members d_e longest"],
        T: Int[Array, ""],
        q: Int[Array, ""],
    ) -> Batch:
        """The validation set of a task."""
        x_query = self._queries(fold(source, jnp.uint32(QUERIES)), TEST_SAMPLES)
        X = normals(fold(source, jnp.uint32(BATCH)), (TEST_SAMPLES, self.task.d, E.shape[2]))
        y = padded_subsets(fold(source, jnp.uint32(ENCODINGS)), TEST_SAMPLES, self._most, q, T)
        return Batch(X, y, E[0], x_query, T)

    def _test_encodings(self, source: Stream) -> Float32[Array, "members d_e longest"]:
        """The fixed encodings, or fresh ones; their first T columns have the law for length T."""
        if not self.fresh:
            return self.E[None]
        sources = jax.vmap(lambda i: fold(source, i))(jnp.arange(MEMBERS, dtype=jnp.uint32))
        return lax.map(lambda one: self._encodings(one, self.E.shape[-1]), sources)

    def _encodings(self, source: Stream, T: int) -> Float32[Array, "d_e T"]:
        if not self.fresh:
            return self.E[:, :T]
        return draw_signs(source, self.d_e, T, self.threshold)[0] / jnp.float32(math.sqrt(self.d_e))

    def _queries(self, source: Stream, samples: int) -> Float32[Array, "samples d"] | None:
        if self.x_query == "zero":
            return None
        if self.x_query == "fixed":
            return jnp.broadcast_to(self.query, (samples, self.task.d))
        return normals(source, (samples, self.task.d))

    def _optimizer(self) -> optax.GradientTransformation:
        return optax.scale_by_adam() if self.algorithm == "adam" else optax.identity()
