"""What a page shows of a run: what predictions take from each example, a prompt, the rate."""

from collections.abc import Iterator, Sequence

import numpy as np

from lemmata.settings import Attention, Chart, Heat, Picture, Run

from ._frozen import attention_of
from ._plan_training import TrainedPlan
from ._predictors import ridge_predictions

MOST_ASKING = 6
MOST_EXAMPLES = 16
MOST_TOKENS = 40
"""Of a matrix or a prompt that is shown."""

PROMPT_SEED = 0
"""Of the task whose labels are predicted."""


def pictures(run: Run, i: int) -> Sequence[Picture]:
    """Of the transformer of the paper; nothing of an encoder with several layers."""
    trained = run.model[i]
    if not isinstance(trained, TrainedPlan) or not trained.moments:
        return []
    moments = trained.moments
    combined = np.stack([one.combined for one in moments])
    shown = [_rate(run, i)] if "gap" in run.evidence.columns else []
    small = trained.plan.task.K <= MOST_TOKENS
    matrices = [_prompt(trained, combined), _heat(trained, combined)] if small else []
    return [*shown, *matrices, *_attention(moments)]


def _heat(trained: TrainedPlan, combined: np.ndarray) -> Heat:
    task = trained.plan.task
    return Heat(
        "What predictions take from each example",
        "A column is a token whose label is predicted, a row an example of the prompt: the weight "
        "of its label in the prediction.",
        tuple(f"example {n + 1}" for n in range(task.N)),
        tuple(str(k + 1) for k in range(task.K)),
        combined,
        task.target,
        "the best, ridge regression with mτ",
    )


def _prompt(trained: TrainedPlan, combined: np.ndarray) -> Chart:
    """One prompt: the labels of its examples, and what is predicted for every token."""
    task = trained.plan.task
    draw = np.random.default_rng(PROMPT_SEED)
    law = draw.standard_normal(task.m)
    noise = np.sqrt(task.tau) * np.linalg.norm(law) * draw.standard_normal(task.K)
    labels = task.representations.T @ law + noise
    ridge = ridge_predictions(task, labels[: task.N], task.ridge)
    return Chart(
        "One prompt",
        f"The transformer sees the labels of tokens 1 to {task.N} and predicts those of all. "
        "Circles: ridge regression in the hidden features, which is the best that it can do.",
        "token",
        "label",
        tuple(range(1, task.K + 1)),
        {"transformer": np.einsum("n,rnk->rk", labels[: task.N], combined)},
        {"ridge regression": ridge},
        dots=True,
    )


def _rate(run: Run, i: int) -> Chart:
    """By how much the gap shrinks in a step: what (18) promises, and what is seen."""
    steps, gap = np.asarray(run.steps, dtype=float), run.evidence.columns["gap"][i]
    with np.errstate(divide="ignore", invalid="ignore"):
        given = -np.diff(np.log(gap)) / np.diff(steps)
    bound = run.evidence.columns["guarantee"][i]
    with np.errstate(divide="ignore", invalid="ignore"):
        promised = -np.diff(np.log(bound)) / np.diff(steps)
    seen = np.tri(len(steps), len(steps) - 1, -1, dtype=bool) & (given > 0)
    fixed = {} if np.isnan(promised).all() else {"promised by (18)": promised}
    return Chart(
        "The rate",
        "By which share the distance to the least loss shrinks in each step. More heads, fewer "
        "examples and more noise promise more; training may give more than is promised.",
        "step",
        "rate",
        tuple(steps[1:].tolist()),
        {"given by training": np.where(seen, given, np.nan)},
        fixed,
        log_x=True,
        log_y=True,
    )


def _attention(moments: Sequence[TrainedPlan]) -> Iterator[Attention]:
    """From tokens outside the prompt at its examples, on average over the heads."""
    task = moments[0].plan.task
    means = np.stack([attention_of(task, np.asarray(m.weights.Q)).mean(axis=1) for m in moments])
    names = tuple(f"example {n + 1}" for n in range(min(task.N, MOST_EXAMPLES)))
    for k in range(task.N, min(task.N + MOST_ASKING, task.K)):
        yield Attention(f"token {k + 1} asks", names, means[:, : len(names), k])
