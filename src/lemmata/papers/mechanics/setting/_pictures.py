"""What a page shows of a run at every record: attention on the samples, and where W points."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from lemmata.margin import Status
from lemmata.settings import Attention, Heat, Picture, Run

from ._batch import Matrix
from ._dataset import Dataset
from ._training import TrainingRun, attend

MOST_INPUTS = 24
"""Inputs whose attention is followed."""

MOST_TOKENS = 30
"""Beyond so many tokens the matrix is not shown."""

READING = (
    "A column is the last word of a sentence, a row a word that it may look at. Red cells draw "
    "attention, blue ones repel it. Both matrices have norm 1, so that only the direction counts."
)


def pictures(run: Run, i: int) -> Sequence[Picture]:
    """Attention on the first inputs that differ, and the direction of W beside W^mm."""
    weights = _weights(run, i)
    if weights is None:
        return []
    dataset: Dataset = run.instances[i]
    words = tuple(str(word) for word in dataset.data.vocabulary)
    inputs = {sample.tokens: sample for sample in dataset.data.samples[: 10 * MOST_INPUTS]}
    looks: list[Picture] = [
        Attention(
            f"should select {words[sample.label]}",
            tuple(words[token] for token in tokens),
            np.stack([attend(dataset, W, tokens) for W in weights]),
            tuple(place for place, token in enumerate(tokens) if token == sample.label),
        )
        for tokens, sample in list(inputs.items())[:MOST_INPUTS]
    ]
    return looks if dataset.K > MOST_TOKENS else [_heat(dataset, words, weights), *looks]


def _weights(run: Run, i: int) -> list[Matrix] | None:
    """W at every record; None if it was not kept."""
    if not run.trained[i]:
        return None
    model, row = run.model, run.row(i)
    if not isinstance(model, TrainingRun):
        return list(model[row].weights)
    if model.recording.states is None:
        return None
    return [model.moment(record).weights(row) for record in range(len(run.steps))]


def _heat(dataset: Dataset, words: tuple[str, ...], weights: Sequence[Matrix]) -> Heat:
    last = sorted({sample.tokens[-1] for sample in dataset.data.samples})
    solved = dataset.feasible and dataset.margin.status is Status.SOLVED and dataset.norm > 0
    return Heat(
        "Where W points",
        READING,
        words,
        tuple(words[query] for query in last),
        np.stack([_logits(dataset, W)[:, last] for W in weights]),
        _logits(dataset, dataset.target)[:, last] if solved else None,
        "W^mm, the limit",
    )


def _logits(dataset: Dataset, weights: Matrix) -> Float[np.ndarray, "tokens tokens"]:
    """What the direction of W gives each token under each last token."""
    norm = np.linalg.norm(weights)
    return dataset.E @ weights @ dataset.E.T / (norm if norm > 0 else 1.0)
