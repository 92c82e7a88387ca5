"""What the proofs of Theorems 1 and 3 and of Lemma 4 speak of, display by display."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmata.claims import Bench, Experiment
from lemmata.settings import Evidence, Grid, once_each

from ..setting import Dataset, Training
from ..theory import score_gaps, theorem_1_radius
from ._frozen import frozen_rows
from ._measures import Datasets, has_a_head, small, usable
from ._points import At, logits_at
from ._restricted import (
    linear_head,
    log_linear_excess,
    log_odds_outside,
    log_tied_risks,
    other_direction,
    worst_margin,
)

DIRECTIONS = 4
"""Other directions than W^mm to compare it with."""


def compare_directions(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """Odds and excess risks (l(u) = -u) at R W^mm and at R W', for other W' of the same norm."""
    ready, skipped = usable(small(datasets), has_a_head)
    columns = _stack([_compare(dataset) for dataset in ready])
    return Evidence(tuple(ready), None, columns, skipped)


def freeze(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    """The displays of the proof of Lemma 4, for several frozen parts, directions and radii."""
    ready, skipped = usable(small(datasets), lambda dataset: dataset.margin.status == "solved")
    tables = [list(frozen_rows(dataset)) for dataset in ready]
    rows = [{name: [row[name] for row in table] for name in table[0]} for table in tables]
    return Evidence(tuple(ready), None, _stack(rows), skipped)


def _stack(rows: Sequence[Mapping[str, Any]]) -> dict[str, Grid]:
    """What is known of each dataset, as columns."""
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _compare(dataset: Dataset) -> dict[str, list[float]]:
    """What Eqs. (6) to (9) speak of, for several W' and radii."""
    head = linear_head(dataset)
    assert head is not None
    gaps = score_gaps(head @ dataset.E.T)
    log_n, T = dataset.log_total, dataset.data.longest_input
    rows = []
    for number in range(DIRECTIONS):
        other = other_direction(dataset, number, dataset.free_basis)
        margin, sample = worst_margin(dataset, other)
        start = theorem_1_radius(min(1 - margin, 1.0), log_n, T, (1.0, 1.0), gaps)
        for R in (1.0, 5.0, 20.0, 80.0, 1.01 * start):
            best = R * dataset.target
            rows.append(
                {
                    "radius": R,
                    "threshold": start,
                    "margin": margin,
                    "odds_other": log_odds_outside(dataset, R * other)[sample],
                    "odds_best": log_odds_outside(dataset, best).max(),
                    "excess_other": log_linear_excess(dataset, head, R * other),
                    "excess_best": log_linear_excess(dataset, head, best),
                }
            )
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return columns | {"c_min": [gaps[0]], "c_max": [gaps[1]], "log_n": [log_n], "T": [float(T)]}


def iterate(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    """What the proof of Theorem 3 speaks of, at every step."""
    training: Training = experiment.training
    ready, skipped = usable(small(datasets))
    done = bench.track("iterates", len(ready))

    def measured(dataset: Dataset) -> dict[str, np.ndarray]:
        found = _iterate(dataset, training)
        done(1)
        return found

    columns = _stack(once_each(measured, ready, lambda: done(1)))
    return Evidence(tuple(ready), np.arange(training.steps), columns, skipped)


def _iterate(dataset: Dataset, training: Training) -> dict[str, np.ndarray]:
    """Steps from W(0) with the gradient of the risk itself."""
    eta = training.rate_of(dataset)
    start = dataset.initial_weights
    points = [np.zeros_like(dataset.target) if start is None else start]
    for _ in range(training.steps):
        points.append(points[-1] - eta * At(dataset, points[-1]).gradient())
    weights = np.array(points)
    flat = weights.reshape(len(weights), -1)
    free = flat - (flat @ dataset.tied_basis.T) @ dataset.tied_basis
    inside = (flat - free)[:-1].reshape(-1, *dataset.target.shape)
    size, moved = np.linalg.norm(free, axis=1), np.diff(free, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = np.sum(moved * free[:-1], axis=1) / size[:-1]
        towards = moved @ dataset.target.ravel() / dataset.norm
        squares = np.diff(size**2) / (2 * size[:-1])
    apart = np.sum(moved**2, axis=1)
    unit = dataset.target / dataset.norm
    on_target = size[:-1, None, None] * unit + inside
    log_risk = dataset.risk.log_values(logits_at(dataset, weights))
    return {
        "size": size[:-1],
        "height": free[:-1] @ unit.ravel(),
        "log_risk": log_risk[:-1],
        "log_tied_risk": log_tied_risks(dataset, inside),
        "log_risk_on_target": dataset.risk.log_values(logits_at(dataset, on_target)),
        "along": along,
        "towards": towards,
        "squares": squares,
        "squares_less_apart": np.where(size[:-1] > 0.5, squares - apart, np.nan),  # (30) alone
        "growth": np.diff(size),
        "minus_apart": -apart,
        "minus_step": -np.sum(np.diff(flat, axis=0) ** 2, axis=1),
        "fall": 2 * eta * np.diff(np.exp(log_risk)),
    }
