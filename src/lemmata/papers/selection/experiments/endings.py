"""What is read off trained pairs at the end: the loss of a task, and how it falls."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from lemmata.settings import Evidence

from ..setting import TrainingRun
from .runs import Arm, Pair, Series

Tasks = Iterable[tuple[int, int]]
"""Pairs of a length T and a subset size q."""

Rows = Mapping[str, Sequence[float]]
"""For each thing that is measured, one value a seed."""

SMALL = 0.05
"""Of the zero predictor's loss: from there on training has left its plateau."""


def clock(run: TrainingRun) -> Series:
    """The sum of all step sizes up to each record: the time of gradient flow."""
    how = run.how
    later = how.rate if how.later_rate is None else how.later_rate
    before = np.minimum(run.steps, how.change)
    return how.rate * before + later * (run.steps - before)


def late(run: TrainingRun, series: Series) -> float:
    """The mean over the last tenth of the time."""
    time = clock(run)
    return float(np.mean(series[time >= 0.9 * time[-1]]))


def decay(run: TrainingRun, series: Series) -> float:
    """The power of the time with which a series falls, from the first quarter to the end.

    1 means that it falls like 1/t, 0 that it stays.
    """
    time = clock(run)
    early = np.abs(time / time[-1] - 0.25) <= 0.05
    ratio = time[time >= 0.9 * time[-1]].mean() / time[early].mean()
    return float(np.log(series[early].mean() / late(run, series)) / np.log(ratio))


def lengths(pairs: Evidence[Pair]) -> Tasks:
    """The other lengths, at the q of training."""
    how = pairs.cases[0].fixed.how
    return [(T, q) for T, q in how.tests if q == how.task.q]


def subset_sizes(pairs: Evidence[Pair]) -> Tasks:
    """The other subset sizes, at the T of training."""
    how = pairs.cases[0].fixed.how
    return [(T, q) for T, q in how.tests if T == how.task.T]


def over(pairs: Evidence[Pair], tasks: Tasks, value: Callable[[Pair, int, int], float]) -> Rows:
    """One row a task, one value a seed."""
    return {f"T = {T}, q = {q}": [value(pair, T, q) for pair in pairs] for T, q in tasks}


def end(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """The loss of a task at the end."""
    run = pair.run(arm)
    return late(run, run.task("population", T, q))


def share(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """The same as a share of the zero predictor's loss."""
    return end(pair, arm, T, q) / (pair.run(arm).how.task.d / (2 * q))


def power(pair: Pair, arm: Arm, T: int, q: int) -> float:
    """How fast it falls."""
    run = pair.run(arm)
    return decay(run, run.task("population", T, q))


def off_plateau(run: TrainingRun) -> Bool[np.ndarray, "records"]:
    """The records from the first below a twentieth of the zero predictor's loss on."""
    small = np.nan_to_num(run["loss"], nan=np.inf) <= SMALL * run.how.task.zero_loss
    return np.cumsum(small) > 0


def fitted(
    run: TrainingRun, transform: Callable[[np.ndarray], np.ndarray]
) -> tuple[Bool[np.ndarray, "records"], float, float]:
    """A straight line through the transformed training loss: its records, slope and height.

    From the end of the plateau to the change of step size.
    """
    loss, steps = run["loss"], run.steps
    chosen = off_plateau(run) & (steps <= run.how.change)
    if chosen.sum() < 3:
        return np.isfinite(loss), 0.0, 0.0
    slope, height = np.polyfit(steps[chosen].astype(float), transform(loss[chosen]), 1)
    return chosen, float(slope), float(height)


def linearity(run: TrainingRun, transform: Callable[[np.ndarray], np.ndarray]) -> float:
    """The R^2 of that line; 0 if the loss has not become small in time."""
    chosen, slope, height = fitted(run, transform)
    y = transform(run["loss"][chosen])
    rest = y - slope * run.steps[chosen] - height
    return max(0.0, float(1 - np.sum(rest**2) / np.sum((y - y.mean()) ** 2)))
