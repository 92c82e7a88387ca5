"""What a page shows of a run at every record: attention on the inputs, and where W_kq points."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from lemmata.margin import Status
from lemmata.settings import Attention, Heat, Picture, Run

from ._dataset import Dataset
from ._two_stage import JointRun, TwoStageRun

MOST_INPUTS = 24
"""Inputs whose attention is followed."""

MOST_TOKENS = 30
"""Beyond so many tokens the matrix is not shown."""

READING = (
    "A column is the last word of an input, a row a word that it may look at. Red cells draw "
    "attention, blue ones repel it. Both matrices have norm 1, so that only the direction counts."
)


def pictures(run: Run, i: int) -> Sequence[Picture]:
    """Attention on the first inputs of several words, and the direction of W_kq beside W_kq*."""
    models = _models(run, i)
    if models is None:
        return []
    dataset: Dataset = run.instances[i]
    words = tuple(str(word) for word in dataset.data.vocabulary)
    inputs = {s.tokens: s for s in dataset.data.samples if len(s.tokens) > 1}
    following, row = dataset.collocation.following, run.row(i)
    looks: list[Picture] = [
        Attention(
            f"next comes {words[sample.label]}",
            tuple(words[token] for token in tokens),
            np.stack([np.asarray(model.attention(row, list(tokens))) for model in models]),
            tuple(n for n, token in enumerate(tokens) if following.get(token) == sample.label),
        )
        for tokens, sample in list(inputs.items())[:MOST_INPUTS]
    ]
    if dataset.K > MOST_TOKENS:
        return looks
    return [_heat(dataset, words, [model.key_query(row) for model in models]), *looks]


def _models(run: Run, i: int) -> list[TwoStageRun | JointRun] | None:
    """The model at every record; None if it was not kept, or has several heads."""
    model = run.model
    if not run.trained[i]:
        return None
    if isinstance(model, TwoStageRun) and model.stage2.states is not None:
        stage = model.stage2
        return [replace(model, stage2=stage.moment(stage.at(int(t)))) for t in run.steps]
    if isinstance(model, JointRun) and model.recording.states is not None:
        kept = model.recording
        return [replace(model, recording=kept.moment(kept.at(int(t)))) for t in run.steps]
    return None


def _heat(
    dataset: Dataset, words: tuple[str, ...], logits: Sequence[Float[np.ndarray, "K K"]]
) -> Heat:
    last = sorted({sample.tokens[-1] for sample in dataset.data.samples})
    best, goal = dataset.attention_margin.weights, None
    if dataset.attention_status is Status.SOLVED and best is not None and np.any(best):
        E = np.eye(dataset.K) if dataset.embeddings is None else dataset.embeddings
        goal = _unit(E @ best @ E.T)[:, last]
    return Heat(
        "Where W_kq points",
        READING,
        words,
        tuple(words[query] for query in last),
        np.stack([_unit(matrix)[:, last] for matrix in logits]),
        goal,
        "W_kq*, the limit",
    )


def _unit(matrix: Float[np.ndarray, "K K"]) -> Float[np.ndarray, "K K"]:
    norm = np.linalg.norm(matrix)
    return matrix / norm if norm > 0 else matrix
