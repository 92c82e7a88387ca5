"""What Theorem 1 says about a run, and attention before and after it."""

from collections.abc import Sequence

import numpy as np

from lemmata.settings import Forecast, Look, Run

from ._frozen import attention_of
from ._plan_training import TrainedPlan

MOST_LOOKS = 3
MOST_EXAMPLES = 12


def forecasts(run: Run, i: int) -> list[Forecast]:
    """The least loss, and the bound (18) on the distance to it at the step sizes of (16).

    Nothing is said about encoders of several layers.
    """
    if not isinstance(run.model[i], TrainedPlan):
        return []
    least = run.instances[i].task.minimum
    said = [Forecast("loss", np.full(len(run.steps), least), "the least, L*")]
    bound = run.evidence.columns["guarantee"][i]
    if not np.isnan(bound).all():
        said += [
            Forecast("gap", bound, "at most (18)"),
            Forecast("in_domain", 2 * bound, "at most twice (18)"),
        ]
    return said


def looks(run: Run, i: int) -> Sequence[Look]:
    """From tokens outside the prompt at its examples, on average over the heads."""
    trained = run.model[i]
    if not isinstance(trained, TrainedPlan):
        return []
    plan, task = trained.plan, trained.plan.task
    before, after = (
        attention_of(task, np.asarray(Q)).mean(axis=1)[:MOST_EXAMPLES]
        for Q in (plan.start.Q, trained.weights.Q)
    )
    names = [f"example {n + 1}" for n in range(len(before))]
    queries = range(task.N, min(task.N + MOST_LOOKS, task.K))
    return [
        Look(f"token {k + 1} asks, which is not in the prompt", names, before[:, k], after[:, k])
        for k in queries
    ]
