"""Made-up online runs of the selection paper, whose losses follow laws that we choose.

They cost nothing, and what a claim or a figure should say about them is known beforehand.
"""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from lemmata.papers.selection.experiments import runs
from lemmata.papers.selection.experiments.mean_fields import Followed
from lemmata.papers.selection.experiments.runs import Pair, Sizes
from lemmata.papers.selection.setting import MeanField, Plan, Task, Training, TrainingRun
from lemmata.settings import Evidence
from lemmata.training import Recording

SIZES = Sizes(20, 2, 3, 16, 0.9, 8, (30, 40), (3, 4), 1_000, 20, 1_000, None, 3)

Law = Callable[[str, int, int, np.ndarray], np.ndarray]
"""The loss as a share of d/(2q): of an arm, T and q, at times from 0 to 1."""


def falling(x: np.ndarray) -> np.ndarray:
    """Like 1/t after a hundredth of the time."""
    return 1 / (1 + 100 * x)


def as_reported(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """What the paper says: fixed encodings fail at other lengths, and lag at other q."""
    if arm == "fixed" and T > SIZES.T:
        return np.maximum(0.3, falling(x))
    lag = 2 * (q - 1) if arm == "fixed" and q > SIZES.q else 1.0
    return np.minimum(1.0, lag * falling(x))


def both_learn(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Fixed encodings do as well as fresh ones."""
    return as_reported("stochastic", T, q, x)


def swapped(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Fixed encodings do what fresh ones should, and the other way round."""
    return as_reported("fixed" if arm == "stochastic" else "stochastic", T, q, x)


def stuck(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Nothing goes to 0, not even in distribution."""
    return np.maximum(0.2, falling(x))


def made_up(
    how: Training,
    law: Law,
    *,
    noise: float = 0.01,
    training: Callable[[np.ndarray], np.ndarray] = falling,
    cosine: float = 0.9999,
    diverged: int = -1,
) -> TrainingRun:
    """A run that recorded the law, off by a factor of its own; by 5 % more from a random start."""
    steps = np.array(how.record)
    x = steps / how.steps
    draw = np.random.default_rng([how.seed, int(how.initial > 0), int(how.fresh)])
    factor = (1 + noise * draw.standard_normal()) * (1.05 if how.initial else 1.0)
    series = {
        "loss": np.where(steps > 0, factor * training(x) * how.task.zero_loss, np.nan),
        "alpha": 1 + 0.2 * factor * x,
        "C": 5 * factor * x,
        "advantage": 0.0 * x if how.fresh else 2 * factor * (1 + 10 * x) ** -0.5,
        "cosine_W": cosine * (x > 0),
        "cosine_V": cosine * (x > 0),
    }
    for T, q in ((how.task.T, how.task.q), *how.tests):
        loss = factor * law(how.encodings, T, q, x) * how.task.d / (2 * q)
        series[f"population T={T} q={q}"] = loss
        series[f"validation T={T} q={q}"] = 1.1 * loss
    final = SimpleNamespace(diverged=np.array([diverged]))
    return TrainingRun(how, Recording(steps, {k: v[None] for k, v in series.items()}, final))


def made_up_pairs(
    law: Law = as_reported,
    *,
    seeds: int = 3,
    adam: bool = False,
    spread: bool = False,
    size: Sizes = SIZES,
    **how: object,
) -> Evidence[Pair]:
    """Both arms for each seed."""

    def pair(seed: int) -> Pair:
        arms = [
            made_up(
                runs.Online("adam" if adam else "sgd", spread).of(size, arm, seed),
                law,
                **how,
            )
            for arm in runs.ARMS
        ]
        return Pair(made_up_plan(f"seed {seed}", size), *arms)

    return Evidence(tuple(pair(seed) for seed in range(seeds)))


def made_up_plan(name: str, size: Sizes = SIZES) -> Plan:
    """The plan of such a run."""
    return Plan(name, Task(size.T, size.q, size.d), 1.0, 1e-3, size.d_e, size.threshold)


def made_up_mean_field(how: Training, bend: float = 0.0) -> MeanField:
    """What the made-up runs fluctuate around, or something that bends away from it."""
    steps = np.array(how.record)
    x = steps / how.steps
    losses = {
        (T, q): as_reported("stochastic", T, q, x) * how.task.d / (2 * q)
        for T, q in ((how.task.T, how.task.q), *how.tests)
    }
    return MeanField(steps, 1 + (0.2 + bend) * x, (5 + 5 * bend) * x, losses)


def made_up_followed(pairs: Evidence[Pair]) -> Evidence[Followed]:
    """Runs beside their mean field, and beside one that is 10 % off."""
    how = pairs.cases[0].stochastic.how
    curves = made_up_mean_field(how), made_up_mean_field(how, 0.1)
    return Evidence(tuple(Followed(pair.plan, pair.stochastic, *curves) for pair in pairs))
