"""Single updates of Algorithm 1, against the gradients as the paper prints them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence, as_rows

from ..setting import Dataset, TwoStage
from ._points import Matrix, equation_5, equation_6


def single_updates(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """The last update of both stages against Eqs. (5) and (6) as printed, entry by entry.

    Stages are short, so that the printed formulas, which subtract from 1, are good.
    """
    ready = [d for d in instances if d.has_collocation and d.embeddings is None]
    skipped = tuple(d for d in instances if not d.has_collocation or d.embeddings is not None)
    if not ready:
        return Evidence((), skipped=skipped)
    training: TwoStage = experiment.training
    before = training.run(ready)
    longer = replace(training, stage1_steps=training.stage1_steps + 1).run(ready)
    after = replace(training, steps=training.steps + 1).run(ready)
    rows = []
    for i, dataset in enumerate(ready):
        values, weights = before.value_logits(i), before.key_query(i)
        eta0, eta = training.rates(dataset)
        stage_1 = _apart(values, longer.value_logits(i), equation_5(dataset, values), eta0)
        slope = equation_6(dataset, values, weights)
        stage_2 = _apart(weights, after.key_query(i), slope, eta)
        starts = before.stage1.series["norm"][i, 0], before.stage2.series["norm"][i, 0]
        rows.append([*stage_1, *stage_2, *starts])
    names = ("apart_1", "size_1", "apart_2", "size_2", "start_1", "start_2")
    columns = {name: as_rows([row[k] for row in rows]) for k, name in enumerate(names)}
    return Evidence(tuple(ready), None, columns, skipped)


def _apart(before: Matrix, after: Matrix, gradient: Matrix, rate: float) -> tuple[float, float]:
    """How far a step over its size is from the unit gradient, and the size of what cancels."""
    step = (after - before) / rate + gradient / np.linalg.norm(gradient)
    return float(np.linalg.norm(step)), float(1 + np.linalg.norm(before) / rate)
