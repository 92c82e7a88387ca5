"""The four-layer transformer of Section 4, and its training.

The paper calls it standard. What that leaves open is decided here: layer norm after each part, as
in the original encoder (or before it, if asked for); ReLU; no positional code and no dropout; no
biases in attention; every matrix starts uniform within one over the square root of its number of
inputs.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax, nn
from jax.flatten_util import ravel_pytree
from jax.tree_util import keystr, tree_leaves_with_path
from jaxtyping import Array, Float, Int, PRNGKeyArray
from scipy.linalg import eigh

from lemmata._errors import InputError, unknown_name
from lemmata.settings import Matrices
from lemmata.tokens import Problem
from lemmata.training import AbstractDynamics, SingleRun, Store, Stream, record_steps, run, stream

from ._laws import Law, draw_labels, shifted_law, standard_law
from ._model import single
from ._predictors import ridge_predictions
from ._task import Task
from ._training import draw_batch

PROMPTS = 10_000
"""Training prompts (Section 4)."""

TEST_PROMPTS = 200
"""Prompts of either test set (Section 4)."""

SEEN_PROMPTS = 200
"""How many of the training prompts the training loss is measured on."""

Vectors = Float[Array, "K d_model"]
Map = Callable[[Any], Any]


NORMS = ("post", "pre")
"""Layer norms after the parts of a layer, or before them and once more at the end."""


class Layer(eqx.Module):
    """Attention and a feed-forward net, each with a way around it and a layer norm after it, or
    before it."""

    attention: eqx.nn.MultiheadAttention
    widen: eqx.nn.Linear
    narrow: eqx.nn.Linear
    of_attention: eqx.nn.LayerNorm
    of_widening: eqx.nn.LayerNorm
    norm: str = eqx.field(static=True)

    def __init__(self, d_model: int, d_ff: int, heads: int, norm: str, *, key: PRNGKeyArray):
        keys = jax.random.split(key, 3)
        single: Any = jnp.float32
        self.attention = eqx.nn.MultiheadAttention(heads, d_model, dtype=single, key=keys[0])
        self.widen = eqx.nn.Linear(d_model, d_ff, dtype=single, key=keys[1])
        self.narrow = eqx.nn.Linear(d_ff, d_model, dtype=single, key=keys[2])
        self.of_attention = eqx.nn.LayerNorm(d_model, dtype=single)
        self.of_widening = eqx.nn.LayerNorm(d_model, dtype=single)
        self.norm = norm

    def __call__(self, x: Vectors) -> Vectors:
        x = self._around(x, jax.vmap(self.of_attention), lambda x: self.attention(x, x, x))
        return self._around(x, jax.vmap(self.of_widening), self._feed_forward)

    def _around(self, x: Vectors, norm: Map, part: Map) -> Vectors:
        return norm(x + part(x)) if self.norm == "post" else x + part(norm(x))

    def _feed_forward(self, x: Vectors) -> Vectors:
        return jax.vmap(self.narrow)(nn.relu(jax.vmap(self.widen)(x)))


class DeepTransformer(eqx.Module):
    """Embedded tokens in, one number for each of them out.

    Attributes:
        embed: takes a token over its label to d_model numbers.
        layers: all layers, stacked along a first axis.
        last: a layer norm after them, where those of the layers stand before their parts.
        read: takes d_model numbers to a prediction.
    """

    embed: eqx.nn.Linear
    layers: Layer
    last: eqx.nn.LayerNorm | None
    read: eqx.nn.Linear

    def __init__(self, inputs: int, how: "DeepTraining", *, key: PRNGKeyArray):
        first, last, *others = jax.random.split(key, how.layers + 2)
        single: Any = jnp.float32
        self.embed = eqx.nn.Linear(inputs, how.d_model, dtype=single, key=first)
        self.layers = eqx.filter_vmap(
            lambda one: Layer(how.d_model, how.d_ff, how.heads, how.norm, key=one)
        )(jnp.stack(others))
        post = how.norm == "post"
        self.last = None if post else eqx.nn.LayerNorm(how.d_model, dtype=single)
        self.read = eqx.nn.Linear(how.d_model, 1, dtype=single, key=last)

    def __call__(self, embedding: Float[Array, "d_plus_1 K"]) -> Float[Array, "K"]:
        weights, rest = eqx.partition(self.layers, eqx.is_array)

        def through(x: Vectors, one: Any) -> tuple[Vectors, None]:
            layer: Layer = eqx.combine(one, rest)
            return layer(x), None

        x, _ = lax.scan(through, jax.vmap(self.embed)(embedding.T), weights)
        x = x if self.last is None else jax.vmap(self.last)(x)
        return jax.vmap(self.read)(x)[:, 0]


class DeepState(eqx.Module):
    """Weights, what Adam keeps, and the step."""

    weights: Any
    optimizer: Any
    t: Int[Array, "*batch"]


class DeepDynamics(AbstractDynamics[DeepState]):
    """Adam on batches from a fixed set of prompts.

    Attributes:
        start: the arrays of the first network.
        rest: what it has beside them.
        tokens: the dictionary.
        sample: labels of all tokens, one training prompt a row.
        tests: labels of the prompts in and out of domain.
        goals: what ridge regression predicts for them.
        source: which prompts make a batch, drawn with replacement.
    """

    start: Any
    tokens: Float[Array, "*batch d K"]
    sample: Float[Array, "*batch prompts K"]
    tests: Float[Array, "*batch 2 tests K"]
    goals: Float[Array, "*batch 2 tests K"]
    rate: Float[Array, "*batch"]
    source: Stream
    rest: DeepTransformer = eqx.field(static=True)
    N: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)
    compiles_briefly: ClassVar[bool] = True

    def init(self) -> DeepState:
        optimizer = optax.scale_by_adam().init(ravel_pytree(self.start)[0])
        return DeepState(self.start, optimizer, jnp.zeros((), dtype=jnp.int64))

    def step(self, state: DeepState) -> DeepState:
        labels = draw_batch(self.sample, self.source, state.t, self.batch)
        # One vector of all weights compiles faster than one update for each array.
        weights, shaped = ravel_pytree(state.weights)
        gradient, _ = ravel_pytree(jax.grad(self.loss)(state.weights, labels))
        with jax.numpy_dtype_promotion("standard"):
            found: Any = optax.scale_by_adam().update(gradient, state.optimizer)
        updates, optimizer = found
        return DeepState(shaped(weights - self.rate * updates), optimizer, state.t + 1)

    def measure(self, state: DeepState) -> dict[str, Float[Array, "..."]]:
        seen = self.sample[:SEEN_PROMPTS]
        found = self.predict(state.weights, jnp.concatenate([seen, *self.tests]))
        errors = jnp.mean((found - jnp.concatenate([seen, *self.goals])) ** 2, axis=1)
        inside, outside = jnp.mean(errors[len(seen) :].reshape(2, -1), axis=1)
        return {
            "training": jnp.mean(errors[: len(seen)]) / 2,
            "in_domain": inside,
            "out_of_domain": outside,
        }

    def predict(self, weights: Any, labels: Float[Array, "prompts K"]) -> Float[Array, "prompts K"]:
        """y-hat for prompts that show the first N labels of each row (2, 4)."""
        net: DeepTransformer = eqx.combine(weights, self.rest)
        shown = jnp.where(jnp.arange(labels.shape[1])[None] < self.N, labels, 0)
        return jax.vmap(lambda row: net(jnp.concatenate([self.tokens, row[None]])))(shown)

    def loss(self, weights: Any, labels: Float[Array, "prompts K"]) -> Float[Array, ""]:
        """||y-hat - y||^2 / 2K, averaged over prompts."""
        return jnp.mean((self.predict(weights, labels) - labels) ** 2) / 2


@dataclass(frozen=True)
class DeepTraining:
    """A run of Section 4 for the deep transformer, in float32.

    Attributes:
        task: the task.
        d_model, d_ff: the widths of the layers, and of their feed-forward nets.
        heads: H, which divides d_model.
        layers: how many.
        norm: ``post`` or ``pre``.
        sample, batch, rate: training prompts, those of a step, and Adam's step size.
        steps, record: how many steps, and which to record beside the last.
        seed: the first weights, the prompts, and which of them make a batch.
    """

    task: Task
    d_model: int = 256
    d_ff: int = 512
    heads: int = 8
    layers: int = 4
    norm: str = "post"
    sample: int = PROMPTS
    batch: int = 256
    rate: float = 1e-4
    steps: int = 1_000
    record: tuple[int, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("d_model", "d_ff", "heads", "layers", "sample", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be a positive number; got {getattr(self, name)}")
        if self.norm not in NORMS:
            raise InputError(unknown_name("norm", self.norm, NORMS))
        if self.d_model % self.heads:
            raise InputError(
                f"the heads share d_model = {self.d_model} evenly, so their number must divide it; "
                f"got H = {self.heads}"
            )

    @property
    def flops_per_step(self) -> int:
        """Floating-point operations of all matrix products of a step.

        A product forward costs two more backward; one with the inputs costs one more, as nothing
        is differentiated in the tokens.
        """
        own = 4 * self.d_model**2 + 2 * self.d_model * self.d_ff
        inner = self.layers * (own + 2 * self.task.K * self.d_model) + self.d_model
        first = (self.task.d + 1) * self.d_model
        return 2 * self.batch * self.task.K * (3 * inner + 2 * first)

    @property
    def attention_per_step(self) -> int:
        """Attention weights of a step, each with a power of e: one for all pairs of tokens of a
        prompt in every head."""
        return self.batch * self.layers * self.heads * self.task.K**2

    def network(self) -> DeepTransformer:
        """The network before training.

        Its parts are drawn here: their own way of doing it takes seconds to compile.
        """
        inputs, key = self.task.d + 1, jax.random.key(0)
        blank = eqx.filter_eval_shape(lambda: DeepTransformer(inputs, self, key=key))
        rng = np.random.default_rng(self.seed)
        return jax.tree.map(
            lambda part: _drawn(part, rng),
            blank,
            is_leaf=lambda part: isinstance(part, eqx.nn.Linear | eqx.nn.LayerNorm),
        )

    def dynamics(self) -> DeepDynamics:
        """The run as one instance, with a leading axis of length one."""
        start, rest = eqx.partition(self.network(), eqx.is_array)
        tests = self.test_labels()
        goals = ridge_predictions(self.task, tests[:, :, : self.task.N], self.task.ridge)
        return jax.tree.map(
            lambda leaf: leaf[None],
            DeepDynamics(
                start=start,
                tokens=single(self.task.tokens),
                sample=single(self._labels(standard_law(self.task.m), 1, self.sample)),
                tests=single(tests),
                goals=single(goals),
                rate=single(np.asarray(self.rate)),
                source=stream(self.seed),
                rest=rest,
                N=self.task.N,
                batch=self.batch,
            ),
        )

    def test_labels(self) -> Float[np.ndarray, "2 tests K"]:
        """Labels of the prompts in domain, and out of it."""
        laws = standard_law(self.task.m), shifted_law(self.task.m)
        return np.stack([self._labels(law, 2 + i, TEST_PROMPTS) for i, law in enumerate(laws)])

    def _labels(self, law: Law, child: int, count: int) -> Float[np.ndarray, "count K"]:
        return draw_labels(self.task, law, np.random.default_rng([self.seed, child]), count)

    def run(
        self, *, store: Store | None = None, progress: Callable[[int], None] = lambda _: None
    ) -> "DeepRun":
        """Train."""
        steps = record_steps((*(self.record or (0,)), self.steps), self.steps)
        found = run(self.dynamics(), steps, store=store, progress=progress, group=1, chunk=1)
        return DeepRun(self, found)

    def seconds_per_step(self, steps: int = 10, repeats: int = 3) -> float:
        """How long a step takes on this machine at best, compilation and measurements aside.

        If the measurements seem to take longer than everything, as they can on a busy machine,
        they stay in.
        """
        dynamics = self.dynamics()

        def least(count: int) -> float:
            times = []
            for _ in range(repeats):
                start = time.perf_counter()
                run(dynamics, np.array([count]), group=1, chunk=1)
                times.append(time.perf_counter() - start)
            return min(times)

        measuring, whole = least(0), least(steps)
        return (whole - measuring if whole > measuring else whole) / steps


@dataclass(frozen=True, repr=False)
class DeepRun(SingleRun):
    """What a run recorded: the ``training`` loss, and the inference losses ``in_domain`` and
    ``out_of_domain``."""

    how: DeepTraining
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """The network and the task."""
        return f"{self.how.layers} layers, H={self.how.heads}, {self.how.task.name}"

    @property
    def matrices(self) -> Matrices:
        """All arrays of the encoder at the end, by their places in it; layers come first."""
        leaves = tree_leaves_with_path(self.recording.final.weights)
        return {keystr(path).lstrip("."): np.asarray(leaf[0]) for path, leaf in leaves}

    @property
    def diverged(self) -> int | None:
        """The first recorded step without a finite training loss, if there is one."""
        lost = self.steps[~np.isfinite(self["training"])]
        return int(lost[0]) if len(lost) else None

    def predict(self, labels: Float[np.ndarray, "... N"]) -> Float[np.ndarray, "... K"]:
        """The predictions from the labels of a prompt."""
        rows = np.atleast_2d(labels)
        shown = np.zeros((len(rows), self.how.task.K))
        shown[:, : self.how.task.N] = rows
        network = jax.tree.map(lambda leaf: leaf[0], self.how.dynamics())
        weights = jax.tree.map(lambda leaf: leaf[0], self.recording.final.weights)
        found = np.asarray(network.predict(weights, single(shown)), dtype=float)
        return found.reshape(*np.shape(labels)[:-1], self.how.task.K)

    @cached_property
    def linear_ratio(self) -> float:
        """The largest ratio of the two inference losses that a map linear in the labels can have.

        The error of such a map is linear in the labels too, so that the ratio is one of quadratic
        forms: the second moments of the very prompts that the losses are measured on.
        """
        inside, outside = (y.T @ y for y in self.how.test_labels()[:, :, : self.how.task.N])
        return float(eigh(outside, inside, eigvals_only=True)[-1])


def _drawn(part: Any, rng: np.random.Generator) -> Any:
    """A part with its arrays filled in: uniform in linear maps, ones and zeros in norms."""
    if isinstance(part, eqx.nn.Linear):
        bound = 1 / math.sqrt(cast(int, part.in_features))
        return jax.tree.map(lambda leaf: single(rng.uniform(-bound, bound, leaf.shape)), part)
    if isinstance(part, eqx.nn.LayerNorm):
        shape = cast(Array, part.weight).shape
        filled = single(np.ones(shape)), single(np.zeros(shape))
        return eqx.tree_at(lambda norm: (norm.weight, norm.bias), part, filled)
    return part
