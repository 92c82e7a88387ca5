"""Losses that cannot vanish, and those that do as both stages grow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence, as_rows

from ..setting import Dataset, TwoStage, TwoStageRun
from ._points import SCALES, Matrix, loss_of

LENGTHS = (30, 42, 60, 85, 120, 170, 240, 340, 480, 680, 960)
"""Steps of both stages."""


def ambiguous(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """Losses at random weights, and at the best ones for inputs of one token."""
    rows, orphans = [], []
    for dataset in instances:
        draw, K = np.random.default_rng([experiment.seed, dataset.K]), dataset.K
        points = [
            (s * draw.standard_normal((K, K)), s * draw.standard_normal((K, K))) for s in SCALES
        ]
        best = _best_values(dataset), np.zeros((K, K))
        rows.append([_mean_loss(dataset, *point) for point in (*points, best)])
        orphans.append([_orphan_loss(dataset, weights, draw) for _, weights in points])
    columns = {"weighted_loss": as_rows(rows), "orphan_loss": as_rows(orphans)}
    return Evidence(tuple(instances), None, columns)


def _mean_loss(dataset: Dataset, values: Matrix, weights: Matrix) -> float:
    """The loss, inputs of one token included."""
    rows = zip(dataset.data.samples, dataset.frequencies, strict=True)
    return sum(pi * loss_of(values, weights, s.tokens, s.label).real for s, pi in rows)


def _best_values(dataset: Dataset) -> Matrix:
    """log of the share of each continuation of a first token, e^-40 where there is none."""
    counts = np.full((dataset.K, dataset.K), np.exp(-40.0))
    for sample, pi in zip(dataset.data.samples, dataset.frequencies, strict=True):
        if len(set(sample.tokens)) == 1:
            counts[sample.query, sample.label] += pi
    return np.log(counts)


def _orphan_loss(dataset: Dataset, weights: Matrix, draw: np.random.Generator) -> float:
    """The least loss of an input without a preimage, at W_ov whose wrong logits tie."""
    if not dataset.has_collocation:
        return np.nan
    after = np.array([dataset.collocation.following[x] for x in range(dataset.K)])
    margins = np.abs(draw.standard_normal(dataset.K)) * np.abs(weights).max()
    values = margins[:, None] * (after[:, None] == np.arange(dataset.K))
    orphans = [s for s in dataset.data.samples if s.label not in after[list(s.tokens)]]
    return min((loss_of(values, weights, s.tokens, s.label).real for s in orphans), default=np.nan)


def growing(
    experiment: Experiment[Any], instances: Sequence[Dataset], bench: Bench
) -> Evidence[Dataset]:
    """The ends of Algorithm 1 as both stages grow."""
    ready = [dataset for dataset in instances if dataset.has_collocation and dataset.norm_kq > 0]
    skipped = tuple(dataset for dataset in instances if dataset not in ready)
    if not ready:
        return Evidence((), skipped=skipped)
    training: TwoStage = experiment.training
    runs = [replace(training, stage1_steps=T, steps=T, record=(T,)).run(ready) for T in LENGTHS]
    columns = {
        "log_loss": np.hstack([run.stage2.series["log_loss"][:, -1:] for run in runs]),
        "log_miss": np.array([[_log_miss(run, i) for run in runs] for i in range(len(ready))]),
        "value_rate": as_rows([training.rates(dataset)[0] for dataset in ready]),
    }
    return Evidence(tuple(ready), np.array(LENGTHS), columns, skipped)


def _log_miss(run: TwoStageRun, i: int) -> float:
    """log of the largest probability that the label of a training input is missed."""
    misses = []
    for sample in run.datasets[i].data.samples:
        tokens = list(sample.tokens)
        logits = run.attention(i, tokens) @ run.value_logits(i)[tokens]
        misses.append(logsumexp(np.delete(logits, sample.label)) - logsumexp(logits))
    return float(max(misses))
