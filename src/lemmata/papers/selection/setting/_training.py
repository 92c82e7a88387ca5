"""Online training as in Section 4, described: SGD or Adam, fixed or fresh encodings."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.training import (
    Recording,
    SingleRun,
    Store,
    Stream,
    fold,
    normals,
    record_steps,
    run,
    stream,
)

from ._encodings import check_threshold, near_orthogonal
from ._model import Factors, Weights
from ._online import QUERY, START, OnlineState, OnlineTraining, joint, of_head
from ._plan import MOST_HEADS, OnlineChoices, Plan, Positions, Query, check_word
from ._task import Task

Algorithm = Literal["sgd", "adam"]


@dataclass(frozen=True)
class Training:
    """An online training run of the paper, with everything the paper leaves open as a knob.

    Attributes:
        task: T, q, d.
        d_e: dimensions of an encoding.
        encodings: ``stochastic`` draws encodings for every step, ``fixed`` once.
        threshold: the largest inner product that rejection lets pass (the paper gives none).
        samples: the batch size n (256 in Section 4, 128 in Appendix F).
        algorithm: ``sgd``, or ``adam`` with its usual settings.
        rate, later_rate, change: the step size, and another one from step ``change`` on. The
            default of 1 suits SGD; with Adam 1e-3 is usual.
        initial: ``zero``, or the standard deviation of Gaussian first weights.
        x_query: what stands in the query's token part (the paper does not say).
        steps, record: how many steps, and which to record.
        tests: other tasks (T, q) to look at while training goes on.
        seed: everything random.
        factors: the number of rows of separate matrices K and Q with W = K'Q; 0 for one W.
        queries: subsets that are asked for in each sequence (T in the original task, Appendix
            A.2); the losses of all are added.
        heads: how many, each with V and W (or V, K and Q) of its own; their outputs are added.
    """

    task: Task
    d_e: int
    encodings: Positions = "stochastic"
    threshold: float = 0.3
    samples: int = 256
    algorithm: Algorithm = "sgd"
    rate: float = 1.0
    later_rate: float | None = None
    change: int = 50_000
    initial: float = 0.0
    x_query: Query = "zero"
    steps: int = 1_000
    record: tuple[int, ...] = ()
    tests: tuple[tuple[int, int], ...] = ()
    seed: int = 0
    factors: int = 0
    queries: int = 1
    heads: int = 1

    def __post_init__(self) -> None:
        for name, known in (("encodings", Positions), ("algorithm", Algorithm), ("x_query", Query)):
            check_word(name, getattr(self, name), known)
        for name in ("d_e", "samples", "queries", "heads"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be a positive whole number")
        for name in ("rate", "later_rate", "initial"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a number that is not negative; got {value!r}")
        if self.rate == 0:
            raise InputError("the step size must be positive")
        if self.factors and not self.initial:
            raise InputError(
                "with K = Q = 0 no gradient moves either of them; say how large the first weights "
                "are (initial, such as 0.1)"
            )
        if self.heads > MOST_HEADS:
            raise InputError(f"there can be at most {MOST_HEADS} heads; got {self.heads}")
        if self.heads > 1 and not self.initial:
            raise InputError(
                "heads that start at zero stay equal for ever; say how large the first weights are "
                "(initial, such as 0.1)"
            )
        for T, q in self.tests:
            Task(T, q, self.task.d)
        for T in {self.task.T, *(T for T, _ in self.tests)} if self.fresh else {self.longest}:
            check_threshold(self.d_e, T, self.threshold)
        largest = max(self.task.q, *(q for _, q in self.tests)) if self.tests else self.task.q
        if largest > self.d_e:
            raise InputError(
                f"a subset of {largest} positions needs at least {largest} dimensions; d_e is "
                f"{self.d_e}"
            )

    @classmethod
    def of(cls, plan: Plan, **how: Any) -> "Training":
        """What a plan says about training on samples, and how it is trained otherwise."""
        said = {
            choice.name: getattr(plan.training, choice.name) for choice in fields(OnlineChoices)
        }
        del said["encodings"], said["rate"]
        usual = {"task": plan.task, "d_e": plan.d_e, "threshold": plan.threshold}
        return cls(**usual | said | how)

    @property
    def fresh(self) -> bool:
        """Whether encodings are drawn for every step."""
        return self.encodings == "stochastic"

    @property
    def longest(self) -> int:
        """The longest sequence looked at."""
        return max([self.task.T, *(T for T, _ in self.tests)])

    def dynamics(self) -> OnlineTraining:
        """The run as one instance, with a leading axis of length one."""
        source = stream(self.seed)
        start = self._start(fold(source, jnp.uint32(START)))
        # Fresh encodings are drawn as well, though not used: this refuses what cannot be found.
        found = near_orthogonal(self.d_e, self.longest, self.threshold, self.seed)
        E = np.zeros_like(found) if self.fresh else found
        later = self.rate if self.later_rate is None else self.later_rate
        return jax.tree.map(
            lambda leaf: jax.device_put(np.asarray(leaf)[None]),
            OnlineTraining(
                source=source,
                start=start,
                E=jax.device_put(E.astype(np.float32)),
                query=normals(fold(source, jnp.uint32(QUERY)), (self.task.d,)),
                rates=jax.device_put(np.array([self.rate, later], dtype=np.float32)),
                change=jax.device_put(np.int64(self.change)),
                task=self.task,
                samples=self.samples,
                fresh=self.fresh,
                threshold=self.threshold,
                x_query=self.x_query,
                algorithm=self.algorithm,
                tests=self.tests,
                queries=self.queries,
                heads=self.heads,
            ),
        )

    def _start(self, source: Stream) -> Weights | Factors:
        """Gaussian first weights; the first of several heads starts as one head would."""
        d, width = self.task.d, self.task.d + self.d_e
        attention = [(self.factors, width)] * 2 if self.factors else [(width, width)]
        sizes = [(d, width), *attention]
        kind = Factors if self.factors else Weights
        if not self.initial:
            return kind(*(jnp.zeros(size, dtype=jnp.float32) for size in sizes))
        heads = [
            kind(
                *(
                    jnp.float32(self.initial)
                    * normals(fold(source, jnp.uint32(h * len(sizes) + i)), size)
                    for i, size in enumerate(sizes)
                )
            )
            for h in range(self.heads)
        ]
        return heads[0] if self.heads == 1 else kind(*map(jnp.stack, zip(*heads, strict=True)))

    def run(
        self, *, store: Store | None = None, progress: Callable[[int], None] = lambda _: None
    ) -> "TrainingRun":
        """Train."""
        steps = record_steps((*(self.record or (0,)), self.steps), self.steps)
        found = run(self.dynamics(), steps, store=store, progress=progress, group=1, chunk=1)
        return TrainingRun(self, found)


@dataclass(frozen=True, repr=False)
class TrainingRun(SingleRun):
    """What a run recorded.

    ``loss`` is the mean over the last 300 batches; NaN before the first. For every task looked at,
    ``population T=... q=...`` is the loss over 1,024 subsets without sampled tokens, and
    ``validation ...`` that on a fixed set of 128 samples. The first is averaged over tokens exactly
    if x_query = 0 and the first d rows of W are zero; otherwise it leaves out what these do.

    One head has ``alpha``, ``C``, two cosines and its ``advantage``. Several heads have a number
    each, as in ``alpha of head 2``, and ``missed of head 2``: its attention off the subset, on the
    samples of the fixed set.
    """

    how: Training
    recording: Recording[OnlineState]

    def task(
        self, kind: Literal["population", "validation"], T: int, q: int
    ) -> Float[np.ndarray, "records"]:
        """The series of a task."""
        return self[f"{kind} T={T} q={q}"]

    def of_heads(self, name: str) -> Float[np.ndarray, "heads records"]:
        """The numbers of several heads, one row a head."""
        return np.stack([self[of_head(name, h)] for h in range(self.how.heads)])

    @property
    def weights(self) -> Weights:
        """V and W at the end; of several heads one each."""
        return joint(self.trained)

    @property
    def trained(self) -> Weights | Factors:
        """What was trained, at the end: V and W, or V, K and Q."""
        found = self.recording.final.weights
        return type(found)(*jax.device_put([np.asarray(leaf[0], dtype=float) for leaf in found]))

    @property
    def diverged(self) -> int | None:
        """The step at which the loss blew up, if it did; the weights stay as they were then."""
        at = int(np.asarray(self.recording.final.diverged)[0])
        return None if at < 0 else at


def run_all(
    trainings: Sequence[Training],
    *,
    store: Store | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[TrainingRun]:
    """Several runs side by side, one to a core; an interruption stops all of them."""
    stop: list[bool] = []

    def report(done: int) -> None:
        if stop:
            raise KeyboardInterrupt
        progress(done)

    with ThreadPoolExecutor(2) as pool:
        try:
            return list(pool.map(lambda one: one.run(store=store, progress=report), trainings))
        except BaseException:
            stop.append(True)
            raise
