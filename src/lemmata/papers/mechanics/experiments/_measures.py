"""What is done with the datasets of an experiment, and what is kept of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.claims import Bench, Experiment
from lemmata.margin import pair_rows
from lemmata.settings import Evidence, Grid, as_rows
from lemmata.tokens import Problem

from ..setting import (
    Curve,
    Dataset,
    Objective,
    Pseudo,
    Training,
    TrainingRun,
    ball_path,
    flow,
    follow,
    path,
    pseudo_limits,
    reduced_dataset,
)
from ._points import tied_weights
from ._restricted import (
    linear_head,
    restricted_path,
)

MOST_TOKENS = 200
"""Statements at given weights use dense matrices."""

DEPTHS = np.sort([*np.geomspace(1, 8_000, 28), 40.0, 80.0])
"""Of the regularization path: -log of the ridge, for even counts and features of length 1."""

RADII = np.array([10.0, 50.0, 90.0, 160.0, 280.0, 500.0, 800.0])
"""Of the spheres on which losses are minimised, in units of |W^mm|."""

SEARCHED = 1e-12
"""A search gives a direction to the square root of rounding, so that 1 - corr below is 0."""

SLOPED = ("linear", "exponential")
"""Losses with l' < 0 everywhere."""

FROZEN = (0.0, 3.0)
"""Logits that are frozen in S_cyc."""

FROZEN_DEPTHS = (20.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1500.0, 2500.0)
"""Of the regularization path with them: the same."""

FOLDS = 30.0
"""Frequencies that differ by no more than so many e-folds make no difference to depths."""

TIMES = np.concatenate([[0.0], np.geomspace(1, 1e6, 25)])
"""Of gradient flow, for features of length 1: longer ones move faster."""


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


def skew(dataset: Dataset) -> float:
    """How much farther out one must go until the rarest sample matters as much as any."""
    return max(1.0, float(np.ptp(dataset.risk.log_weight)) / FOLDS)


def depths_for(
    dataset: Dataset, depths: Float[np.ndarray, "depths"]
) -> Float[np.ndarray, "depths"]:
    """Where the path of a dataset is as far as that of even counts and features of length 1."""
    return depths * skew(dataset) - 2 * np.log(dataset.largest_logit)


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


def train_reduced(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """Training on the cyclic subdata alone, from zero."""
    ready, skipped = usable(datasets, lambda dataset: bool(dataset.cyclic.samples))
    parts = [reduced_dataset(dataset, dataset.cyclic) for dataset in ready]
    if not parts:
        return Evidence((), skipped=skipped)
    run = run_all(experiment.training, parts, bench)
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
    return _follow(lambda d, depths: path(d, depths_for(d, depths)), DEPTHS, datasets, bench)


def follow_flows(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Followed]:
    """Gradient flow on the log loss, by time."""
    return _follow(lambda d, times: flow(d, times / d.largest_logit**2), TIMES, datasets, bench)


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
    """1 - corr of the minimisers on spheres of growing radius."""
    asked: Objective | None = experiment.training

    def fits(dataset: Dataset) -> bool:
        embedded = asked is not None and asked.head == "embedding"
        return has_a_head(dataset) and (not embedded or linear_head(dataset) is dataset.E)

    ready, skipped = usable(small(datasets), fits)
    done, columns = bench.track("paths of losses", len(ready)), {}
    for dataset in ready:
        head = "embedding" if linear_head(dataset) is dataset.E else "identity"
        for objective in [asked] if asked else [Objective(loss, head) for loss in SLOPED]:
            gaps = columns.setdefault(objective.says, [])
            gaps.append(_gaps(dataset, objective))
        done(1)
    return Evidence(tuple(ready), RADII, {n: np.stack(c) for n, c in columns.items()}, skipped)


def _gaps(dataset: Dataset, objective: Objective, frozen: np.ndarray | None = None) -> np.ndarray:
    """1 - corr along the path of a loss."""
    path = ball_path(dataset, objective, list(RADII * dataset.norm * skew(dataset)), frozen)
    gaps = path.cosine_gap(dataset.target)
    return np.where(gaps < SEARCHED, 0.0, gaps)


def has_a_head(dataset: Dataset) -> bool:
    """What Theorem 1 asks for: acyclic data, W^mm, and a head with Assumption 3."""
    solved = dataset.acyclic and dataset.margin.status == "solved"
    return solved and linear_head(dataset) is not None


def follow_any_loss(experiment: Experiment[Any], datasets: Datasets, bench: Bench) -> Evidence[Any]:
    """The regularization path of a loss.

    As long as the part in S_cyc is bounded, as Theorem 2 has it, the rest turns to where it turns
    if that part is frozen: for other losses than the log loss this is what is followed.
    """
    if experiment.training.loss == "log":
        return bench.evidence(Experiment(experiment.instances, follow_paths))
    ready, skipped = usable(small(datasets), lambda dataset: dataset.margin.status == "solved")
    objective = experiment.training
    gaps = as_rows([_gaps(dataset, objective, np.zeros_like(dataset.target)) for dataset in ready])
    columns = {"one_minus_correlation": gaps, "norm": np.tile(RADII, (len(ready), 1))}
    return Evidence(tuple(ready), RADII, columns, skipped)


def follow_restricted(
    experiment: Experiment[Any], datasets: Datasets, bench: Bench
) -> Evidence[Dataset]:
    """1 - corr along the path of a loss outside S_cyc, with W = 0 and with another W inside."""
    ready, skipped = usable(small(datasets), lambda dataset: dataset.margin.status == "solved")
    columns: dict[str, Grid] = {}
    for size in FROZEN:
        rows = [_restricted(d, experiment.training, size * tied_weights(d)) for d in ready]
        columns[f"gap_{size:g}"] = as_rows([gaps for gaps, _ in rows])
        columns[f"radius_{size:g}"] = as_rows([radii for _, radii in rows])
    return Evidence(tuple(ready), None, columns, skipped)


def _restricted(
    dataset: Dataset, objective: Objective, frozen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """1 - corr, and the radii in units of |W^mm|.

    The log loss is convex, and Newton's method follows its path.
    """
    if objective.loss != "log":
        return _gaps(dataset, objective, frozen), RADII
    points = restricted_path(dataset, frozen, list(depths_for(dataset, np.array(FROZEN_DEPTHS))))
    goal = dataset.target.ravel() / dataset.norm
    units = [point.free / np.linalg.norm(point.free) @ dataset.free_basis for point in points]
    gaps = [np.sum((unit - goal) ** 2) / 2 for unit in units]
    return np.array(gaps), np.array([point.radius for point in points]) / dataset.norm
