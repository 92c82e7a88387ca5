"""What is done with the datasets of an experiment, and what is kept of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.attention import LINEAR
from lemmata.claims import Bench, Experiment
from lemmata.margin import pair_rows
from lemmata.settings import Evidence, Grid, as_rows
from lemmata.tokens import Problem

from ..setting import (
    Curve,
    Dataset,
    Pseudo,
    Training,
    TrainingRun,
    ball_paths,
    flow,
    follow,
    path,
    pseudo_limits,
)
from ..theory import score_gaps, theorem_1_radius
from ._points import At
from ._restricted import (
    linear_head,
    log_linear_excess,
    log_odds_outside,
    other_direction,
    worst_margin,
)

MOST_TOKENS = 200
"""Statements at given weights use dense matrices."""

DEPTHS = np.sort([*np.geomspace(1, 8_000, 28), 40.0, 80.0])
"""Of the regularization path: -log of the ridge."""

RADII = (20.0, 35.0, 60.0, 105.0, 185.0, 320.0)
"""Of the spheres on which other losses are minimised."""

TIMES = np.concatenate([[0.0], np.geomspace(1, 1e6, 25)])
"""Of gradient flow."""

DIRECTIONS = 4
"""Other directions than W^mm to compare it with."""

Datasets = Sequence[Dataset]


@dataclass(frozen=True, eq=False)
class Followed:
    """A dataset with the weights along a curve, or at the end of training.

    Attributes:
        pseudo: what the weights select, by the authors' recipe and by our definition.
    """

    instance: Dataset
    weights: Float[np.ndarray, "records dimension dimension"]
    pseudo: dict[str, Pseudo]

    @property
    def name(self) -> str:
        return self.instance.name

    @property
    def problems(self) -> Sequence[Problem]:
        return self.instance.problems


def usable(
    datasets: Datasets, fits: Callable[[Dataset], bool] = lambda dataset: True
) -> tuple[list[Dataset], tuple[Dataset, ...]]:
    """The datasets with a realizable sample that fit, and the others."""
    good = [bool(dataset.realizable.samples) and fits(dataset) for dataset in datasets]
    ready = [dataset for dataset, fine in zip(datasets, good, strict=True) if fine]
    return ready, tuple(dataset for dataset, fine in zip(datasets, good, strict=True) if not fine)


def small(datasets: Datasets) -> Datasets:
    """Refuse what dense matrices are too large for."""
    for dataset in datasets:
        if dataset.K > MOST_TOKENS:
            raise InputError(
                f"{dataset.name} has {dataset.K} tokens; claims are checked with dense matrices, "
                f"for at most {MOST_TOKENS} (`lemmata analyze` has no such limit)"
            )
    return datasets


def look(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    """Their graphs and limits, and the risk at random W."""
    return Evidence(tuple(small(datasets)))


def run_all(training: Training, datasets: Datasets, bench: Bench, **options: Any) -> TrainingRun:
    """Train with a progress bar; steps to record that are beyond the last one are left out."""
    if not isinstance(training.record, str):
        kept = tuple(step for step in training.record if step <= training.steps)
        training = replace(training, record=kept)
    progress = bench.track(training.says, len(datasets) * training.steps)
    return training.run(datasets, store=bench.store, progress=progress, **options)


def columns_of(run: TrainingRun) -> dict[str, Grid]:
    """Everything that was recorded, and the step sizes."""
    return {**run.recording.series, "rate": run.rate[:, None]}


def train(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    """The way to both limits."""
    return _train(experiment.training, datasets, bench)


def train_every_step(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """Every step of the way."""
    training = experiment.training
    return _train(replace(training, record=tuple(range(training.steps + 1))), datasets, bench)


def _train(training: Training, datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    ready, skipped = usable(datasets)
    if not ready:
        return Evidence((), skipped=skipped)
    run = run_all(training, ready, bench)
    return Evidence(tuple(ready), run.steps, columns_of(run), skipped)


def train_factors(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """Margins per nuclear norm and effective ranks, of the weights at the end and of W^mm."""
    ready, skipped = usable(datasets, lambda dataset: dataset.margin.status == "solved")
    if not ready:
        return Evidence((), skipped=skipped)
    run = run_all(experiment.training, ready, bench)
    columns = columns_of(run)
    trained = [run.weights(i) for i in range(len(ready))]
    for name, weights in (("trained", trained), ("limit", [d.target for d in ready])):
        found = [nuclear_margin(dataset, W) for dataset, W in zip(ready, weights, strict=True)]
        columns[f"{name}_margin"] = as_rows([margin for margin, _ in found])
        columns[f"{name}_rank"] = as_rows([rank for _, rank in found])
    return Evidence(tuple(ready), run.steps, columns, skipped)


def nuclear_margin(dataset: Dataset, weights: np.ndarray) -> tuple[float, float]:
    """The margin of W / ||W||_*, and the effective rank ||W||_*^2 / ||W||^2."""
    sizes = np.linalg.svd(weights, compute_uv=False)
    margins = pair_rows(dataset.strict_pairs, dataset.E) @ weights.ravel()
    return float(margins.min() / sizes.sum()), float(sizes.sum() ** 2 / np.sum(sizes**2))


def train_locally(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Followed]:
    """The way to the global limits and to two kinds of local ones, which the end defines."""
    training = experiment.training
    run = run_all(training, datasets, bench)
    weights = [run.weights(i) for i in range(len(datasets))]
    columns, pseudo = columns_of(run), {}
    for definition in ("authors", "selected"):
        pseudo[definition] = pseudo_limits(datasets, weights, training, definition)
        limits = [found.limit for found in pseudo[definition]]
        again = run_all(training, datasets, bench, limits=limits)
        for name in ("one_minus_correlation", "cyclic_distance"):
            columns[f"{definition}_{name}"] = again[name]
    cases = [
        Followed(dataset, W[None], {name: found[i] for name, found in pseudo.items()})
        for i, (dataset, W) in enumerate(zip(datasets, weights, strict=True))
    ]
    return Evidence(tuple(cases), run.steps, columns)


def follow_paths(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Followed]:
    """The regularization path of the log loss, by -log of the ridge."""
    return _follow(path, DEPTHS, datasets, bench)


def follow_flows(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Followed]:
    """Gradient flow on the log loss, by time."""
    return _follow(flow, TIMES, datasets, bench)


def _follow(
    curve_of: Callable[[Dataset, np.ndarray], Curve],
    places: np.ndarray,
    datasets: Datasets,
    bench: Bench,
) -> Evidence[Followed]:
    ready, skipped = usable(small(datasets))
    curves, columns = follow(curve_of, ready, places, bench.track("curves", len(ready)))
    pairs = zip(ready, curves, strict=True)
    return Evidence(
        tuple(Followed(dataset, curve.weights, {}) for dataset, curve in pairs),
        places,
        columns,
        tuple(Followed(dataset, np.zeros((0, 0, 0)), {}) for dataset in skipped),
    )


def follow_spheres(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """1 - corr of the minimisers on spheres of growing radius, for l(u) = -u and (1 - u)^2."""
    ready, skipped = usable(small(datasets), _has_a_head)
    if not ready:
        return Evidence((), skipped=skipped)
    head = "embedding" if all(linear_head(d) is d.E for d in ready) else "identity"
    trainings = {
        "linear": Training(loss=LINEAR, head=head),
        "squared": Training(loss="squared", head=head),
    }
    done = bench.track("paths of other losses", len(trainings))
    columns = {}
    for name, training in trainings.items():
        paths = ball_paths(ready, training, RADII)
        pairs = zip(ready, paths, strict=True)
        columns[name] = np.stack([path.cosine_gap(dataset.target) for dataset, path in pairs])
        done(1)
    return Evidence(tuple(ready), np.array(RADII), columns, skipped)


def compare_directions(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """Odds and excess risks (l(u) = -u) at R W^mm and at R W', for other W' of the same norm."""
    ready, skipped = usable(small(datasets), _has_a_head)
    columns = _stack([_compare(dataset) for dataset in ready])
    return Evidence(tuple(ready), None, columns, skipped)


def _has_a_head(dataset: Dataset) -> bool:
    """What Theorem 1 asks for: acyclic data, W^mm, and a head with Assumption 3."""
    solved = dataset.acyclic and dataset.margin.status == "solved"
    return solved and linear_head(dataset) is not None


def _stack(rows: Sequence[Mapping[str, Any]]) -> dict[str, Grid]:
    """What is known of each dataset, as columns."""
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _compare(dataset: Dataset) -> dict[str, list[float]]:
    """What Eqs. (6) to (9) speak of, for several W' and radii."""
    head = linear_head(dataset)
    assert head is not None
    gaps = score_gaps(head @ dataset.E.T)
    n, T = dataset.data.total, dataset.data.longest_input
    rows = []
    for number in range(DIRECTIONS):
        other = other_direction(dataset, number, dataset.free_basis)
        margin, sample = worst_margin(dataset, other)
        start = theorem_1_radius(min(1 - margin, 1.0), n, T, (1.0, 1.0), gaps)
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
    return columns | {"c_min": [gaps[0]], "c_max": [gaps[1]], "n": [float(n)], "T": [float(T)]}


def iterate(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Dataset]:
    """The sides of the chain (30) to (33) at every step."""
    training: Training = experiment.training
    ready, skipped = usable(small(datasets))
    columns = _stack([_iterate(dataset, training) for dataset in ready])
    return Evidence(tuple(ready), np.arange(training.steps), columns, skipped)


def _iterate(dataset: Dataset, training: Training) -> dict[str, np.ndarray]:
    """Steps from W(0) with the gradient of the risk itself."""
    eta = training.rate_of(dataset)
    start = dataset.initial_weights
    W = np.zeros_like(dataset.target) if start is None else start
    points = [At(dataset, W)]
    for _ in range(training.steps):
        points.append(At(dataset, points[-1].weights - eta * points[-1].gradient()))
    flat = np.array([point.weights.ravel() for point in points])
    free = flat - (flat @ dataset.tied_basis.T) @ dataset.tied_basis
    size, moved = np.linalg.norm(free, axis=1), np.diff(free, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = np.sum(moved * free[:-1], axis=1) / size[:-1]
        towards = moved @ dataset.target.ravel() / dataset.norm
        squares = np.diff(size**2) / (2 * size[:-1])
    apart = np.sum(moved**2, axis=1)
    return {
        "size": size[:-1],
        "along": np.where(size[:-1] > 0.5, along, np.nan),
        "towards": towards,
        "squares": squares,
        "squares_less_apart": squares - apart,
        "growth": np.diff(size),
        "minus_apart": -apart,
        "minus_step": -np.sum(np.diff(flat, axis=0) ** 2, axis=1),
        "fall": 2 * eta * np.diff([point.risk for point in points]),
    }
