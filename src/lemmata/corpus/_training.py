"""Attention trained on a whole corpus, and how much of what it does the limits explain.

The model is that of the mechanics paper with orthonormal embeddings and the identity head: one
number for each (token, last token), and the log loss of the mass on the label. Only the cells that
occur are kept, so that a vocabulary of thousands costs no dense matrix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError, unknown_name
from lemmata._html import table
from lemmata.settings import Track, silent
from lemmata.training import log_spaced

from ._corpus import Corpus
from ._entries import Batch, Cells, reachable
from ._windows import Positions

ALGORITHMS = ("adam", "gd", "ngd")
DECAYS, TINY = (0.9, 0.999), 1e-8
"""Of Adam."""

MOST_JUDGED = 200_000
"""Samples on which predictions are compared, at most."""

Weights = Float[np.ndarray, "cells"]


@dataclass(frozen=True)
class CorpusTraining:
    """How attention is trained.

    Attributes:
        algorithm: ``adam``, plain ``gd``, or normalized ``ngd``.
        rate: the step size.
        steps: how many.
        batch: samples a step; 0 for all of them.
        seed: of the batches.
        record: steps to record; log-spaced if empty.
    """

    algorithm: str = "adam"
    rate: float = 0.05
    steps: int = 300
    batch: int = 0
    seed: int = 0
    record: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise InputError(unknown_name("algorithm", self.algorithm, ALGORITHMS))
        if not (self.rate > 0 and np.isfinite(self.rate)):
            raise InputError(f"--lr takes a positive number; got {self.rate}")
        if self.steps < 1 or self.batch < 0 or self.seed < 0:
            raise InputError("--steps is at least 1, and --batch and --seed are not negative")
        if any(not 0 <= step <= self.steps for step in self.record):
            raise InputError(f"--record takes steps from 0 to {self.steps}")

    @property
    def says(self) -> str:
        """What is run, in a line."""
        name = {"adam": "Adam", "gd": "gradient descent", "ngd": "normalized gradient descent"}
        how = f"batches of {self.batch:,} samples" if self.batch else "all samples at every step"
        return (
            f"{name[self.algorithm]} on W: {self.steps:,} steps of size {self.rate:g} on the log "
            f"loss with the identity head, {how}"
        )

    @property
    def records(self) -> list[int]:
        """The steps that are recorded."""
        return sorted({*self.record}) or [int(step) for step in log_spaced(self.steps, 12)]


@dataclass(frozen=True)
class Scores:
    """How often next tokens are predicted on samples that nothing was learnt from.

    Attributes:
        samples: how many, and how many of them have their label in the window.
        reached: of them, the label stands in the window.
        trained, limit, bigram, induction: how many each of them gets right.
        agree: how often trained attention and the limit select the same token.
        both_wrong_same: how often they agree on a token that is not the label.
    """

    samples: int
    reached: int
    trained: int
    limit: int
    bigram: int
    induction: int
    agree: int
    both_wrong_same: int


class CorpusRun:
    """What training on a corpus gave; every column is an attribute, one number a record.

    Attributes:
        corpus, training: what was trained on, and how.
        steps: of the records.
        columns: what was recorded, by name.
        scores: on the part that was held out; None if nothing was.
        weights: of the trained model, one a cell.
    """

    def __init__(
        self,
        corpus: Corpus,
        training: CorpusTraining,
        steps: Sequence[int],
        columns: Mapping[str, Sequence[float]],
        scores: Scores | None,
        weights: Weights,
    ) -> None:
        self.corpus, self.training, self.steps = corpus, training, np.array(steps)
        self.columns = {name: np.array(values) for name, values in columns.items()}
        self.scores, self.weights = scores, weights

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.__dict__.get("columns", ()):
            raise AttributeError(name)
        return self.columns[name]

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {
            "corpus": self.corpus.name,
            "rule": self.training.says,
            "steps": self.steps,
            **self.columns,
            "held_out": self.scores,
        }

    def __repr__(self) -> str:
        return (
            f"<CorpusRun on {self.corpus.name} to step {self.steps[-1]}: {', '.join(self.columns)}>"
        )

    def _repr_html_(self) -> str:
        head = ("t", *self.columns)
        rows = zip(self.steps, *self.columns.values(), strict=True)
        shown = [[f"{value:.6g}" for value in row] for row in rows]
        return table(head, shown, self.training.says)


def train_corpus(
    corpus: Corpus, training: CorpusTraining | None = None, *, track: Track = silent
) -> CorpusRun:
    """Train attention on a corpus, and compare it with the limits along the way."""
    training = training or CorpusTraining()
    cells = Cells.of(corpus)
    positions = reachable(corpus)
    if not len(positions):
        raise InputError("no label stands in its window: attention learns nothing here")
    judged = _judged(corpus, cells)
    model = _Model(len(cells.key), training)
    target = cells.value / np.linalg.norm(cells.value)
    draw = np.random.default_rng(training.seed)
    columns: dict[str, list[float]] = {}
    records = set(training.records)
    done = track("steps", training.steps)
    keep = _Kept(corpus, cells, positions)
    for step in range(training.steps + 1):
        if step in records:
            loss, _ = keep.evaluate(model.weights, None)
            for name, value in _measure(model.weights, loss, cells, target, judged).items():
                columns.setdefault(name, []).append(value)
        if step == training.steps:
            break
        chosen = None
        if training.batch:
            chosen = draw.integers(0, len(positions), training.batch)
        _, gradient = keep.evaluate(model.weights, chosen)
        model.step(gradient)
        done(1)
    return CorpusRun(
        corpus,
        training,
        sorted(records),
        columns,
        _scores(model.weights, judged),
        model.weights,
    )


class _Kept:
    """Evaluates the loss and its gradient, on all samples or a batch."""

    def __init__(self, corpus: Corpus, cells: Cells, positions: Positions) -> None:
        self.corpus, self.cells, self.positions = corpus, cells, positions
        self.batches: list[Batch] | None = None

    def evaluate(
        self, weights: Weights, chosen: Int[np.ndarray, "batch"] | None
    ) -> tuple[float, Weights]:
        """The mean loss, and its gradient; nothing in it is subtracted from 1."""
        gradient = np.zeros_like(weights)
        loss, count = 0.0, 0
        for batch in self._of(chosen):
            slots, right = batch.slots(weights), batch.is_label
            ahead = slots - slots[right][batch.sample]
            top = np.maximum.reduceat(ahead, batch.start)
            power = np.exp(ahead - top[batch.sample])
            total = np.add.reduceat(power, batch.start)
            loss += float(np.sum(top + np.log(total)))
            wrong = np.where(right, 0.0, power / total[batch.sample])
            missed = np.add.reduceat(wrong, batch.start)
            share = np.where(right, -missed[batch.sample], wrong)
            gradient += np.bincount(batch.cell, share, len(weights))
            count += len(batch.label)
        return loss / count, gradient / count

    def _of(self, chosen: Int[np.ndarray, "batch"] | None) -> Sequence[Batch]:
        if chosen is not None:
            samples = self.corpus.windows.at(self.positions[chosen])
            return [Batch.of(samples, self.cells)]
        if self.batches is None:
            every = self.corpus.windows.all_at(self.positions)
            self.batches = [Batch.of(samples, self.cells) for samples in every]
        return self.batches


class _Model:
    """Weights, and the step of an algorithm."""

    def __init__(self, cells: int, training: CorpusTraining) -> None:
        self.weights = np.zeros(cells)
        self.mean, self.square, self.time = np.zeros(cells), np.zeros(cells), 0
        self.how = training

    def step(self, gradient: Weights) -> None:
        rate = self.how.rate
        if self.how.algorithm == "gd":
            self.weights = self.weights - rate * gradient
            return
        if self.how.algorithm == "ngd":
            size = np.linalg.norm(gradient)
            self.weights = self.weights - (rate / size if size else 0.0) * gradient
            return
        self.time += 1
        slow, slower = DECAYS
        self.mean = slow * self.mean + (1 - slow) * gradient
        self.square = slower * self.square + (1 - slower) * gradient**2
        mean, square = self.mean / (1 - slow**self.time), self.square / (1 - slower**self.time)
        self.weights = self.weights - rate * mean / (np.sqrt(square) + TINY)


def _measure(
    weights: Weights, loss: float, cells: Cells, target: Weights, judged: "_Judged | None"
) -> dict[str, float]:
    """Loss, norm, agreement with both limits, and with what they predict."""
    norm = float(np.linalg.norm(weights))
    unit = weights / norm if norm else weights
    away = unit - target
    apart = cells.centred(weights) - cells.logit
    found = {
        "loss": loss,
        "norm": norm,
        "correlation": float(unit @ target),
        "one_minus_correlation": float(away @ away) / 2 if norm else 1.0,
        "cyclic_distance": float(np.linalg.norm(apart)),
    }
    if judged is not None:
        chosen = np.concatenate([batch.chosen(weights) for batch in judged.batches])
        found["accuracy"] = float(np.mean(chosen == judged.label))
        found["agreement"] = float(np.mean(chosen == judged.limit))
    return found


@dataclass(frozen=True)
class _Judged:
    """Samples that were held out, with what others predict."""

    batches: list[Batch]
    label: Int[np.ndarray, "samples"]
    limit: Int[np.ndarray, "samples"]
    bigram: Int[np.ndarray, "samples"]
    induction: Int[np.ndarray, "samples"]
    reached: np.ndarray


def _judged(corpus: Corpus, cells: Cells) -> _Judged | None:
    """The held-out part, or the first samples of it."""
    total, share = corpus.tokens, corpus.manifest["reading"]["held_out"]
    positions = corpus.windows.between(total - int(total * share), total)
    if not len(positions):
        return None
    likely = _bigrams(corpus)
    batches, induced, reached = [], [], []
    for samples in corpus.windows.all_at(positions[:MOST_JUDGED]):
        batches.append(Batch.of(samples, cells))
        induced.append(_induction(samples.window, likely))
        reached.append(samples.reached)
    return _Judged(
        batches,
        np.concatenate([batch.label for batch in batches]),
        np.concatenate([batch.chosen_in_the_limit(cells) for batch in batches]),
        np.concatenate([likely[batch.query] for batch in batches]),
        np.concatenate(induced),
        np.concatenate(reached),
    )


def _bigrams(corpus: Corpus) -> Int[np.ndarray, "vocabulary"]:
    """The most frequent next token of each token; -1 where none is known."""
    question = (
        "SELECT query, arg_max(label, (reached + missed, -label)) AS label FROM {} GROUP BY 1"
    )
    found = corpus.table("labels", question)
    likely = np.full(len(corpus.names), -1, dtype=np.int64)
    likely[found["query"]] = found["label"]
    return likely


def _induction(window: np.ndarray, likely: np.ndarray) -> Int[np.ndarray, "samples"]:
    """What followed the last token where it stood before; its bigram if it did not."""
    again = window[:, :-1] == window[:, -1:]
    last = window.shape[1] - 2 - np.argmax(again[:, ::-1], axis=1)
    follows = window[np.arange(len(window)), np.minimum(last + 1, window.shape[1] - 1)]
    return np.where(again.any(axis=1), follows, likely[window[:, -1]])


def _scores(weights: Weights, judged: _Judged | None) -> Scores | None:
    if judged is None:
        return None
    chosen = np.concatenate([batch.chosen(weights) for batch in judged.batches])

    def right(guess: Int[np.ndarray, "samples"]) -> int:
        return int(np.sum(guess == judged.label))

    agree = chosen == judged.limit
    return Scores(
        len(judged.label),
        int(judged.reached.sum()),
        right(chosen),
        right(judged.limit),
        right(judged.bigram),
        right(judged.induction),
        int(agree.sum()),
        int(np.sum(agree & (chosen != judged.label))),
    )
