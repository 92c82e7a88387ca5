"""Trained weights under other encodings than their own, and at other lengths."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float, Int

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence
from lemmata.tokens import Problem
from lemmata.training import compiled_once

from ..setting import Plan, Task, TrainingRun, near_orthogonal_family, token_free_losses
from .plans import AbstractPlanned, Drawn, Trial
from .runs import SECTION_4, Online, Pair, pairs_behind

FRESH = 20
"""Fresh encodings under which trained weights are looked at again."""

OWN_SUBSETS = 10_000
"""Subsets at which they are looked at, under their own encodings."""


@dataclass(frozen=True)
class Switched(AbstractPlanned):
    """Weights of one seed under other encodings than those they were trained with.

    Attributes:
        own: the loss of weights trained on fixed encodings, under these.
        fresh: their loss under fresh encodings of the same kind.
        stochastic: the loss under fresh encodings of weights trained that way.
        longer: the loss of fixed encodings at each tested length, with its standard error.
        trained: that on subsets of the positions that were trained.
        untrained: that on all other subsets.
        level: that of fixed encodings at each length if the other positions had an e_i'W e_i as
            large as the trained ones have on average.
        zero_loss: that of the zero predictor.
    """

    plan: Plan
    own: float
    fresh: float
    stochastic: float
    longer: dict[int, tuple[float, float]]
    trained: dict[int, float]
    untrained: dict[int, float]
    level: dict[int, float]
    zero_loss: float
    problems: Sequence[Problem] = ()


def _switched(experiment: Trial, plans: Drawn, bench: Bench) -> Evidence[Switched]:
    """The weights at the end, under their own and fresh encodings, and at other lengths."""
    pairs = pairs_behind(experiment, bench)
    return Evidence(tuple(_switch(pair, experiment.seed) for pair in pairs))


def _switch(pair: Pair, seed: int) -> Switched:
    how = pair.fixed.how
    T = how.task.T
    E = np.asarray(how.dynamics().E, dtype=float)
    others = near_orthogonal_family(FRESH, how.d_e, T, how.threshold, seed + 1)
    few = OWN_SUBSETS // FRESH
    fresh, stochastic = (
        float(_token_free(run, others, few, seed)[1].mean())
        for run in (pair.fixed, pair.stochastic)
    )
    longer, trained, untrained, level = {}, {}, {}, {}
    for length in (T for T, q in how.tests if q == how.task.q):
        y, losses = _token_free(pair.fixed, E[:, :, :length], OWN_SUBSETS, seed)
        inside = (y < T).all(axis=1)
        longer[length] = float(losses.mean()), float(losses.std() / np.sqrt(OWN_SUBSETS))
        trained[length] = float(losses[0, inside].mean())
        untrained[length] = float(losses[0, ~inside].mean())
        level[length] = _without_advantage(pair.fixed, E[0, :, :length], y)
    own = float(_token_free(pair.fixed, E[:, :, :T], OWN_SUBSETS, seed)[1].mean())
    return Switched(
        pair.plan,
        own,
        fresh,
        stochastic,
        longer,
        trained,
        untrained,
        level,
        how.task.zero_loss,
        pair.problems,
    )


def _token_free(
    run: TrainingRun, E: Float[np.ndarray, "members d_e T"], count: int, seed: int
) -> tuple[Int[np.ndarray, "subsets q"], Float[np.ndarray, "members subsets"]]:
    """Subsets, and the loss of each averaged over tokens, at the end of a run."""
    task = Task(E.shape[2], run.how.task.q, run.how.task.d)
    y = task.draw_subsets(count, np.random.default_rng(seed))
    return y, np.asarray(_losses(run.weights, *jax.device_put((y, E))))


def _without_advantage(
    run: TrainingRun, E: Float[np.ndarray, "d_e T"], y: Int[np.ndarray, "subsets q"]
) -> float:
    """The mean loss of subsets if all positions were raised as much as the trained ones."""
    T, d = run.how.task.T, run.how.task.d
    diagonal = np.einsum("ei,ef,fi->i", E, np.asarray(run.weights.W)[d:, d:], E)
    lack = np.where(np.arange(len(diagonal)) < T, 0.0, diagonal - diagonal[:T].mean())
    at = jax.device_put((y, E, lack))
    losses = _losses_without(run.weights, *at)
    return float(losses.mean())


_losses = compiled_once(jax.vmap(token_free_losses, in_axes=(None, None, 0)))
"""The losses of subsets under several encodings."""

_losses_without = compiled_once(
    lambda weights, y, E, lack: token_free_losses(weights, y, E, less=lack)
)
"""The losses of subsets with something taken off every position."""

SWITCHED = Experiment(SECTION_4, _switched, Online(), own=True)
ADAM_SWITCHED = Experiment(SECTION_4, _switched, Online("adam"), own=True)
