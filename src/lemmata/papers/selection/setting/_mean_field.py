"""The mean field of online training: the two-scalar recursion with what a step does on average.

SGD from zero with a fresh batch and fresh encodings a step descends, on average, the loss that is
averaged over encodings from outside. Lemma E.7 holds for that loss too, so alpha and C follow a
recursion without noise, in which encodings enter through a sampled ensemble. The same alpha and C
predict the loss at other lengths and subset sizes.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError
from lemmata.training import record_steps, run

from ._encodings import inner_products, near_orthogonal_family
from ._population import Average
from ._task import Task
from ._training import Training
from ._two_scalars import (
    FamilyAttention,
    Scalars,
    TabulatedAttention,
    TwoScalars,
)

HIGHEST = 12.0
"""Attention is tabulated up to this C, which grows like the logarithm of the steps."""

POINTS = 240
"""Points of the table; with cubics in between, its error is far below that of the ensemble."""


@dataclass(frozen=True)
class MeanField:
    """The prediction for a training run.

    Attributes:
        steps: those that the run records.
        alpha, C: the two scalars.
        losses: the loss of each task (T, q), first that of the training task.
    """

    steps: Int[np.ndarray, "records"]
    alpha: Float[np.ndarray, "records"]
    C: Float[np.ndarray, "records"]
    losses: dict[tuple[int, int], Float[np.ndarray, "records"]]


def mean_field(
    how: Training,
    *,
    average: Average = "outside",
    members: int = 100,
    subsets: int = 20,
    seed: int = 0,
) -> MeanField:
    """Predict a run of SGD from zero with fresh encodings and x_query = 0.

    Args:
        how: the run; its tests are predicted as well.
        average: where the expectation over encodings stands; ``inside`` is the loss (4), which the
            theorems speak of and the experiments do not descend.
        members: sampled encodings.
        subsets: sampled subsets of each.
        seed: of the ensemble.
    """
    if not how.fresh or how.algorithm != "sgd" or how.initial or how.x_query != "zero":
        raise InputError(
            "the mean field predicts SGD from zero with fresh encodings and x_query = 0"
        )
    E = near_orthogonal_family(members, how.d_e, how.longest, how.threshold, seed)
    steps = record_steps((*(how.record or (0,)), how.steps), how.steps)
    ensemble = sample_attention(E[:, :, : how.task.T], how.task.q, subsets, average, seed)
    alpha, C = _descend(how, TabulatedAttention.of(ensemble, HIGHEST, POINTS), steps)
    losses = {}
    for T, q in ((how.task.T, how.task.q), *how.tests):
        ensemble = sample_attention(E[:, :, :T], q, subsets, average, seed)
        problem = TwoScalars.of(ensemble, Task(T, q, how.task.d), how.d_e, how.rate)
        losses[T, q] = np.asarray(problem.losses(Scalars(*jax.device_put((alpha, C)))))
    return MeanField(steps, alpha, C, losses)


def sample_attention(
    E: Float[np.ndarray, "members d_e T"], q: int, subsets: int, average: Average, seed: int
) -> FamilyAttention:
    """The attention of an ensemble: every encoding with subsets of its own."""
    draw = np.random.default_rng(seed)
    task = Task(E.shape[2], q, 1)
    y = [task.draw_subsets(subsets, draw) for _ in E]
    g = [inner_products(member, rows) for member, rows in zip(E, y, strict=True)]
    return FamilyAttention.from_inner(np.concatenate(g), np.concatenate(y), average)


def _descend(
    how: Training, attention: TabulatedAttention, steps: Int[np.ndarray, "records"]
) -> tuple[Float[np.ndarray, "records"], Float[np.ndarray, "records"]]:
    """alpha and C at the recorded steps, with the change of step size in between."""
    change = min(how.change, how.steps)
    later = how.rate if how.later_rate is None else how.later_rate
    state = Scalars(*jax.device_put((0.0, 0.0)))
    pieces = []
    for first, last, rate in ((0, change, how.rate), (change, how.steps, later)):
        batch = TwoScalars.of(attention, how.task, how.d_e, rate, state).alone
        own = steps[(steps > first) & (steps <= last) | (steps == 0) & (first == 0)] - first
        wanted = record_steps([*own.tolist(), last - first], last - first)
        found = run(batch, wanted)
        pieces.append([found.series[name][0][np.isin(wanted, own)] for name in ("alpha", "C")])
        state = jax.device_put(jax.tree.map(lambda leaf: leaf[0], found.final))
    alpha, C = (np.concatenate([piece[k] for piece in pieces]) for k in (0, 1))
    if C.max() >= HIGHEST:
        raise InputError(f"C grows beyond {HIGHEST:g}, where the mean field is not tabulated")
    return alpha, C
