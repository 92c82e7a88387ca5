"""What Theorems 3.1 and 3.3 say about a run, and attention before and after it."""

from collections.abc import Sequence

import numpy as np

from lemmata.settings import Forecast, Look, Run, anchored

from ._trained_plan import TrainedPlan

MOST_POSITIONS = 12
"""Of a sequence that is shown: its subset, and as many others as there is room for."""


def forecasts(run: Run, i: int) -> list[Forecast]:
    """Where descent on the population loss goes, and how fast (section-3.1/rate)."""
    trained: TrainedPlan = run.model[i]
    if trained.diverged is not None or trained.online is not None:
        return []
    if "least" in trained.series:
        return [Forecast("loss", trained.series["least"], "the least of its width")]
    steps = np.asarray(run.steps, dtype=float)
    plan, level = trained.plan, np.ones(len(steps))
    with np.errstate(divide="ignore"):
        law = np.where(steps > 0, steps**-0.5, np.nan)
    said = [Forecast("alpha", level, "limit 1")]
    if plan.epsilon is not None:
        said.append(Forecast("loss", plan.epsilon * level, "the plan's eps"))
    if plan.kind == "one-hot":
        said.append(Forecast("missed", anchored(trained.series["missed"], law), "like 1/√t"))
    return said


def looks(run: Run, i: int) -> Sequence[Look]:
    """The attention of one input with its subset first, if it is the same at all its positions."""
    trained: TrainedPlan = run.model[i]
    missed = trained.series.get("missed")
    if missed is None or trained.plan.kind != "one-hot" or not np.isfinite(missed[-1]):
        return []
    T, q = trained.plan.task.T, trained.plan.task.q
    inside = np.arange(T) < q
    after = np.where(inside, (1 - missed[-1]) / q, missed[-1] / max(T - q, 1))
    shown = slice(0, max(MOST_POSITIONS, q + 1))
    names = [f"chosen {k + 1}" if k < q else f"other {k + 1 - q}" for k in range(T)]
    title = f"should select the {q} chosen of {T} positions, evenly"
    return [Look(title, names[shown], np.full(T, 1 / T)[shown], after[shown])]
