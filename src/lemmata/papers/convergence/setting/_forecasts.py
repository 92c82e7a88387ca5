"""What the theorems say about a run of stage 2, and attention before and after it."""

from collections.abc import Sequence

import numpy as np

from lemmata.margin import Status
from lemmata.settings import Forecast, Look, Run
from lemmata.tokens import Role

from .. import theory
from ._dataset import Dataset
from ._factored import FactoredRun
from ._two_stage import TwoStageRun

MOST_LOOKS = 8


def forecasts(run: Run, i: int) -> list[Forecast]:
    """The limits of direction and loss, and how fast they are approached (Theorem 1, ours).

    Nothing is known of separate factors.
    """
    dataset: Dataset = run.instances[i]
    known = dataset.attention_status is Status.SOLVED and dataset.norm_kq > 0
    uncovered = isinstance(run.model, FactoredRun)
    if not known or uncovered or dataset.problems or not run.trained[i]:
        return []
    steps = np.asarray(run.steps, dtype=float)
    said = [Forecast("correlation", np.ones(len(steps)), "limit (W_kq*)")]
    model = run.model
    if not isinstance(model, TwoStageRun) or model.algorithm.rule != "ngd":
        return said
    rate = float(run.evidence.columns["rate"][i, 0])
    moved = np.where(steps > 0, rate * steps, np.nan)
    said.append(Forecast("norm", moved, "at most ηt"))
    if not dataset.orthonormal:
        return said
    if _one_optimum_each(dataset):
        constant = theory.limit_constant(dataset.orders, dataset.frequencies)
        said.append(Forecast("one_minus_correlation", constant / moved**2, "c_∞/(ηt)²"))
    floor = theory.loss_floor(
        model.algorithm.stage1_steps, float(model.rate_ov[run.row(i)]), dataset.K
    )
    said.append(Forecast("log_loss", np.full(len(steps), floor), "infimum for W_ov(T)"))
    return said


def _one_optimum_each(dataset: Dataset) -> bool:
    """Whether no query has two optimal tokens, without which c_inf is not known."""
    orders = dataset.orders
    return all(len(orders.having(query, Role.OPTIMAL)) <= 1 for query in orders.graphs)


def looks(run: Run, i: int) -> Sequence[Look]:
    """Attention on the first inputs of more than one token."""
    if not run.trained[i] or not isinstance(run.model, TwoStageRun):
        return []
    dataset: Dataset = run.instances[i]
    words, model, row = dataset.data.vocabulary, run.model, run.row(i)
    inputs = {s.tokens: s for s in dataset.data.samples if len(s.tokens) > 1}
    return [
        Look(
            f"next comes {words[sample.label]}",
            [str(words[token]) for token in tokens],
            np.full(len(tokens), 1 / len(tokens)),
            np.asarray(model.attention(row, list(tokens))),
        )
        for tokens, sample in list(inputs.items())[:MOST_LOOKS]
    ]
