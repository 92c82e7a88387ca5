"""What the limits of Theorems 2 and 3 say about a run, and attention before and after it."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from lemmata.margin import Status
from lemmata.settings import Forecast, Look, Run, anchored

from ._dataset import Dataset
from ._options import request_of
from ._training import TrainingRun, attend

MOST_LOOKS = 8

LIMIT = "limit (W^mm)"

Records = Float[np.ndarray, "records"]


def forecasts(run: Run, i: int) -> list[Forecast]:
    """The limit of the direction, and how the algorithm approaches it where that is known.

    Nothing is said for losses and heads whose limits may be local, nor where W^mm is not known.
    """
    dataset: Dataset = run.instances[i]
    request = request_of(run.options)
    algorithm = request.algorithm
    known = dataset.feasible and dataset.margin.status is Status.SOLVED and dataset.norm > 0
    one_head = request.training.heads == 1
    if not run.trained[i] or not known or not (request.training.identity and one_head):
        return []
    steps = np.asarray(run.steps, dtype=float)
    norm, gap = run.evidence.norm[i], run.evidence.one_minus_correlation[i]
    said = [Forecast("correlation", np.ones(len(steps)), LIMIT)]
    if algorithm == "ngd" and dataset.acyclic:
        said.append(_falling(gap, steps, "like 1/t²"))
    elif algorithm == "path":
        said.append(_falling(gap, norm, "like 1/R²"))
    elif algorithm in ("gd", "flow"):
        with np.errstate(divide="ignore", invalid="ignore"):  # at step 0, or with no step at all
            grown = norm[-1] + dataset.norm * np.log(steps / steps[-1])
        growth = np.where(grown > 0, grown, np.nan)
        said.append(Forecast("norm", growth, "‖W^mm‖ ln t + const"))
    return said


def _falling(gap: Records, x: Records, says: str) -> Forecast:
    """1 - correlation falls like x^-2 (own/normalized-rate and own/path-rate)."""
    with np.errstate(divide="ignore"):
        law = np.where(x > 0, x**-2.0, np.nan)
    return Forecast("one_minus_correlation", anchored(gap, law), says)


def looks(run: Run, i: int) -> Sequence[Look]:
    """Attention on the first samples whose inputs differ."""
    if not run.trained[i]:
        return []
    dataset: Dataset = run.instances[i]
    model, row, start = run.model, run.row(i), dataset.initial_weights
    weights = model.weights(row) if isinstance(model, TrainingRun) else model[row].weights[-1]
    before = np.zeros_like(weights) if start is None else np.asarray(start)
    if weights.ndim > 2:
        before = model.algorithm.first_heads(dataset)
    words = dataset.data.vocabulary
    inputs = {sample.tokens: sample for sample in dataset.data.samples[: 10 * MOST_LOOKS]}
    return [
        Look(
            f"should select {words[sample.label]}",
            [str(words[token]) for token in tokens],
            attend(dataset, before, tokens),
            attend(dataset, weights, tokens),
        )
        for tokens, sample in list(inputs.items())[:MOST_LOOKS]
    ]
