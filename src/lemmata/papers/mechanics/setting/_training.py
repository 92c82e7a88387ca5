"""Training of the attention weights W under a fixed head, many datasets as one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float
from scipy.special import softmax

from lemmata._errors import InputError, unknown_name
from lemmata.attention import Inputs
from lemmata.settings import check_rate
from lemmata.tokens import TokenData
from lemmata.training import (
    AbstractDynamics,
    Recording,
    Rule,
    Store,
    log_spaced,
    record_steps,
    run,
)

from ._batch import Batch, Limit, Matrix
from ._dataset import Dataset
from ._dynamics import (
    BlockTraining,
    FactoredTraining,
    OptaxTraining,
    SampledTraining,
    SelectionTraining,
)
from ._heads import Head, Loss, check_head, checked_loss, is_identity, scores, takes_softmax
from ._several_heads import HeadsTraining

ADAM = optax.chain(optax.scale_by_adam(), optax.scale(-1.0))
"""One value, so that all runs share compiled programs."""

ALGORITHMS = ("ngd", "gd", "sgd", "adam", "block", "factored")
RATES = ("paper", "tight")

Algorithm = str | optax.GradientTransformation
"""One of ALGORITHMS, or an optimizer of optax."""

Rate = float | int | str
"""A step size: a number, ``paper`` (1/L with the paper's constant) or ``tight``."""

USUAL_RATE = 0.01

Progress = Callable[[int], None]

Heads = Float[np.ndarray, "heads dimension dimension"]
"""The weights of several heads."""


@dataclass(frozen=True)
class Training:
    """An algorithm with its settings.

    Attributes:
        algorithm: ``ngd`` divides the gradient by its norm, ``gd`` does not; ``block`` is plain
            descent in S_cyc and normalized descent outside; ``factored`` is normalized descent on
            the factors of W = K Q^T; ``sgd`` is plain descent on a few samples at a time; ``adam``
            is Adam. An optimizer of optax, such as ``optax.adamw(1e-2)``, trains W with a step size
            of its own. (``flow`` and ``path`` are functions of this room.)
        rate: the step size; for ``block``, that of the normalized part. None is the usual one:
            ``tight`` for ``gd`` and ``sgd``, 0.01 for the others.
        record: about sixty log-spaced steps, or the steps named.
        loss: l(u) of the label's score, or a loss of all scores (``softmax-squared``,
            ``cross-entropy``); a ``Shape`` is a loss of your own.
        head: ``identity`` scores the label 1 and everything else 0 (C E^T = I); ``embedding`` is
            C = E; a matrix is C itself.
        epsilon: added to the norm that ``ngd`` divides by; 0 is the algorithm as written.
        seed: for the factors that ``factored`` starts from, and the samples of ``sgd``.
        batch: how many samples ``sgd`` draws at each step.
        width: of the factors, dimension by width; None is the dimension.
        decay: ``factored`` descends on the loss plus decay (||K||^2 + ||Q||^2) / 2.
        heads: how many, with their attention averaged, for ``ngd`` and ``gd`` on the log loss with
            the identity head. Several start at random, whatever W(0) is: equal ones stay equal.
    """

    algorithm: Algorithm = "ngd"
    rate: Rate | None = None
    steps: int = 4_000
    record: str | tuple[int, ...] = "log"
    loss: Loss = "log"
    head: Head = "identity"
    epsilon: float = 0.0
    seed: int = 0
    batch: int = 1
    width: int | None = None
    decay: float = 0.0
    heads: int = 1

    def __post_init__(self) -> None:
        self._check_algorithm()
        object.__setattr__(self, "loss", checked_loss(self.loss))
        check_head(self.head)
        self._check_sizes()
        if self.steps < 0:
            raise InputError(f"the number of steps must not be negative; got {self.steps}")
        if isinstance(self.record, str) and self.record != "log":
            raise InputError(f"record 'log', or name the steps; got {self.record!r}")
        if isinstance(self.rate, str) and self.rate not in RATES:
            raise InputError(
                f"a step size is a number, 'paper' (1/L) or 'tight' (1/L_tight); got '{self.rate}'"
            )
        if isinstance(self.rate, float | int):
            check_rate(self.rate)
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise InputError(f"epsilon must not be negative; got {self.epsilon}")
        if self.epsilon and self.algorithm != "ngd":
            raise InputError("epsilon has an effect with the algorithm ngd only")
        if self.algorithm == "block" and not self.is_global:
            raise InputError("the block scheme is for the log loss with the identity head")
        if self.heads < 1:
            raise InputError(f"there must be at least one head; got {self.heads}")
        if self.heads > 1 and not (self.is_global and self.algorithm in ("ngd", "gd")):
            raise InputError("several heads are for ngd and gd on the log loss, identity head")
        if self.heads > 1 and self.epsilon:
            raise InputError("epsilon has no effect with several heads; leave it out")

    def _check_sizes(self) -> None:
        """Options of one algorithm are refused with the others."""
        for name, algorithm, usual in (
            ("batch", "sgd", 1),
            ("width", "factored", None),
            ("decay", "factored", 0.0),
        ):
            value = getattr(self, name)
            if value != usual and self.algorithm != algorithm:
                raise InputError(f"{name} has an effect with the algorithm {algorithm} only")
            if value is not None and not (np.isfinite(value) and value >= (usual or 0)):
                raise InputError(f"{name} must be a number of at least {usual or 0}; got {value}")
        if self.width == 0:
            raise InputError("the factors need a width of at least 1; got 0")

    def _check_algorithm(self) -> None:
        if isinstance(self.algorithm, optax.GradientTransformation):
            if self.rate is not None:
                raise InputError("an optimizer of optax has its own step size; leave out the rate")
        elif self.algorithm in ("flow", "path"):
            call = f"lemmata.papers.mechanics.setting.{self.algorithm}"
            raise InputError(
                f"{self.algorithm} is not made of steps: call {call}(dataset, records), or train "
                f"with the option algorithm='{self.algorithm}'"
            )
        elif self.algorithm not in ALGORITHMS:
            known = unknown_name("algorithm", str(self.algorithm), ALGORITHMS)
            raise InputError(f"{known}; an optimizer of optax is one, too")

    @property
    def options(self) -> dict[str, Any]:
        """The same in the words of the setting's options, so that a run can be computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "record"}

    @property
    def identity(self) -> bool:
        """Whether the head satisfies C E^T = I."""
        return is_identity(self.head)

    @property
    def is_global(self) -> bool:
        """Whether this is what Theorem 3 speaks of; otherwise limits may be local (Section 6)."""
        return self.identity and self.loss == "log"

    @property
    def step_size(self) -> Rate:
        """The rate, or the usual one of the algorithm; NaN for an optimizer that has its own."""
        if isinstance(self.algorithm, optax.GradientTransformation):
            return float("nan")
        if self.rate is not None:
            return self.rate
        return "tight" if self.algorithm in ("gd", "sgd") else USUAL_RATE

    @property
    def objective(self) -> str:
        """Loss and head, in words."""
        loss = self.loss if isinstance(self.loss, str) else self.loss.name
        head = self.head if isinstance(self.head, str) else "given"
        return f"the {loss} loss with the {head} head"

    @property
    def says(self) -> str:
        """What is run, in words."""
        if not isinstance(self.algorithm, str):
            return f"an optimizer of optax on W, {self.steps:,} steps on {self.objective}"
        sizes = {"paper": "1/L (Eq. 23)", "tight": "1/L (the tight constant)"}
        rate = self.step_size
        size = sizes[rate] if isinstance(rate, str) else f"{rate:g}"
        epsilon = f", {self.epsilon:.2g} added to the norm" if self.epsilon else ""
        return f"{self.what}, {self.steps:,} steps of {size} on {self.objective}{epsilon}"

    @property
    def what(self) -> str:
        """The algorithm, in words."""
        width = "" if self.width is None else f" of width {self.width}"
        decay = f", with weight decay {self.decay:g}" if self.decay else ""
        layer = "W" if self.heads == 1 else f"{self.heads} heads, averaged (seed {self.seed})"
        many = "1 sample" if self.batch == 1 else f"{self.batch} samples"
        return {
            "ngd": f"normalized gradient descent on {layer}",
            "gd": f"gradient descent on {layer}",
            "sgd": f"stochastic gradient descent on W ({many} a step, seed {self.seed})",
            "adam": "Adam on W",
            "block": "gradient descent inside S_cyc and normalized gradient descent outside",
            "factored": f"normalized gradient descent on K and Q{width}, W = K Q^T{decay}",
        }[str(self.algorithm)]

    @property
    def recorded(self) -> np.ndarray:
        """The steps to record; the last step is always one of them."""
        if isinstance(self.record, str):
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
        whole = not isinstance(self.algorithm, str) or self.algorithm in ("factored", "adam")
        whole |= self.heads > 1
        batch = Batch(datasets, self.loss, self.head, limits, embedded=whole)
        rate = np.array([self.rate_of(dataset) for dataset in datasets])
        shared: dict[str, Any] = {
            "inputs": batch.inputs,
            "loss": batch.loss,
            "target": batch.target,
            "correction": batch.correction,
            "ties": batch.ties,
            "rate": jax.device_put(rate),
            "coordinates": batch.coordinates,
        }
        dynamics = self._dynamics(datasets, batch, shared)
        recorded = run(dynamics, self.recorded, store=store, progress=progress)
        inputs = jax.tree.map(np.asarray, batch.inputs)
        return TrainingRun(tuple(datasets), self, rate, recorded, inputs)

    def _dynamics(
        self, datasets: Sequence[Dataset], batch: Batch, shared: dict[str, Any]
    ) -> AbstractDynamics[Any]:
        if self.algorithm == "block":
            tied_rate = [1 / max(d.lipschitz_tight, 1e-300) for d in datasets]
            return BlockTraining(
                start=batch.start,
                untied=batch.untied,
                tied_rate=jax.device_put(np.array(tied_rate)),
                **shared,
            )
        if self.algorithm == "factored":
            return FactoredTraining(
                **self._factors(len(datasets), batch.target.shape[-1]),
                **batch.nuclear(),
                decay=self.decay,
                **shared,
            )
        if self.algorithm == "sgd":
            return SampledTraining(start=batch.start, batch=self.batch, seed=self.seed, **shared)
        if self.algorithm == "adam":
            return OptaxTraining(
                start=batch.start, optimizer=ADAM, stretch=shared["rate"], **shared
            )
        if isinstance(self.algorithm, optax.GradientTransformation):
            once = jnp.ones(len(datasets))
            return OptaxTraining(
                start=batch.start, optimizer=self.algorithm, stretch=once, **shared
            )
        rule: Rule = "ngd" if self.algorithm == "ngd" else "gd"
        if self.heads > 1:
            return HeadsTraining(start=self._starts(datasets, batch), rule=rule, **shared)
        return SelectionTraining(start=batch.start, rule=rule, epsilon=self.epsilon, **shared)

    def first_heads(self, dataset: Dataset) -> Heads:
        """Where several heads start: uniform in ±1/√d, as the authors draw one."""
        d = dataset.E.shape[1]
        draw = np.random.default_rng(self.seed)
        return draw.uniform(-1, 1, (self.heads, d, d)) / np.sqrt(d)

    def _starts(
        self, datasets: Sequence[Dataset], batch: Batch
    ) -> Float[Array, "datasets heads dimension dimension"]:
        starts = np.zeros((len(datasets), self.heads, *batch.start.shape[1:]))
        for start, dataset in zip(starts, datasets, strict=True):
            first = self.first_heads(dataset)
            start[:, : first.shape[1], : first.shape[2]] = first
        return jax.device_put(starts)

    def _factors(self, count: int, dimension: int) -> dict[str, Any]:
        """Small random factors, whatever W(0) is."""
        width = dimension if self.width is None else self.width
        draw = np.random.default_rng(self.seed).standard_normal
        keys, queries = 0.01 * draw((2, count, dimension, width)) / np.sqrt(width)
        return {"start_keys": jax.device_put(keys), "start_queries": jax.device_put(queries)}

    def rate_of(self, dataset: Dataset) -> float:
        """The step size on a dataset, as a number."""
        rate = self.step_size
        if rate == "paper":
            return 1 / dataset.lipschitz
        if rate == "tight":
            return 1 / max(dataset.lipschitz_tight, 1e-300)
        return float(rate)


@dataclass(frozen=True, repr=False)
class TrainingRun:
    """A batch of training runs, as recorded."""

    datasets: tuple[Dataset, ...]
    algorithm: Training
    rate: Float[np.ndarray, "datasets"]
    recording: Recording[Any]
    inputs: Inputs

    def __repr__(self) -> str:
        count = len(self.datasets)
        return f"<TrainingRun of {count} dataset{'s' * (count != 1)}: {self.algorithm.says}>"

    @property
    def steps(self) -> np.ndarray:
        """The recorded steps."""
        return self.recording.steps

    def __getitem__(self, name: str) -> Float[np.ndarray, "datasets records"]:
        """A measurement, one row a dataset."""
        if name not in self.recording.series:
            raise InputError(unknown_name("measurement", str(name), self.recording.series))
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

    def weights(self, i: int) -> Matrix | Heads:
        """W at the end of dataset i (in token coordinates, for orthonormal embeddings).

        Of several heads, one matrix each.
        """
        dataset = self.datasets[i]
        final = np.asarray(self.recording.final.weights[i])
        if final.ndim > 1:
            d = dataset.E.shape[1]
            return final[..., :d, :d]
        return self.inputs.dense(i, final, dataset.K)

    def moment(self, record: int) -> "TrainingRun":
        """The run as if it had ended at a record; it must have been filmed."""
        return replace(self, recording=self.recording.moment(record))

    def attention(self, i: int, tokens: Sequence[int]) -> Float[np.ndarray, "positions"]:
        """The attention weights of the trained model on an input."""
        return attend(self.datasets[i], self.weights(i), tokens)

    def predict(self, i: int, tokens: str | Sequence[int]) -> Float[np.ndarray, "tokens"]:
        """What the trained model expects after an input, for every token of the vocabulary.

        With the identity head this is the attention on each token. Other heads turn attention
        into scores, and losses that take a softmax make them chances.
        """
        dataset = self.datasets[i]
        asked = dataset.encode(tokens) if isinstance(tokens, str) else tokens
        return expect(dataset, self.algorithm, asked, self.attention(i, asked))


def attend(
    dataset: Dataset, weights: Matrix | Heads, tokens: Sequence[int]
) -> Float[np.ndarray, "positions"]:
    """The attention weights on an input, averaged over heads."""
    asked = np.atleast_2d(weights @ dataset.E[tokens[-1]])
    return softmax(asked @ dataset.E[list(tokens)].T, axis=1).mean(axis=0)


def expect(
    dataset: Dataset,
    training: Training,
    tokens: Sequence[int],
    attention: Float[np.ndarray, "positions"],
) -> Float[np.ndarray, "tokens"]:
    """The scores C X^T s of every token, or their softmax where the loss takes it."""
    masses = np.bincount(tokens, attention, minlength=dataset.K)
    predicted = scores(dataset, training.head) @ masses
    return softmax(predicted) if takes_softmax(training.loss) else predicted


def reduced_dataset(dataset: Dataset, data: TokenData) -> Dataset:
    """The same tokens and embeddings with other samples, from zero."""
    return Dataset(f"{dataset.name}, reduced", data, dataset.embeddings)
