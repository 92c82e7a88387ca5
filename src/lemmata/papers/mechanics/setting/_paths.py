"""Continuous limits of training: the regularization path and gradient flow, for small data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import InputError
from lemmata.settings import Grid, as_rows, once_each

from ._dataset import Dataset
from ._regularization import PathPoint, gradient_flow, regularization_path

MOST_VARIABLES = 1_500
"""Dense Newton steps beyond this take minutes."""

Series = Float[np.ndarray, "records"]


@dataclass(frozen=True, repr=False)
class Curve:
    """Points W on a curve, compared with both limits.

    Attributes:
        weights: one matrix a record.
        log_loss: the logarithm of the risk.
        norm: ||W||.
        one_minus_correlation: with the direction of W^mm.
        cyclic_distance: of the tied part to its finite limit.
    """

    weights: Float[np.ndarray, "records dimension dimension"]
    log_loss: Series
    norm: Series
    one_minus_correlation: Series
    cyclic_distance: Series

    def __repr__(self) -> str:
        return f"<Curve of {len(self.weights)} points, up to norm {self.norm[-1]:.6g}>"


def follow(
    curve_of: Callable[[Dataset, Num[np.ndarray, "records"]], Curve],
    datasets: Sequence[Dataset],
    records: Num[np.ndarray, "records"],
    done: Callable[[int], None],
) -> tuple[list[Curve], dict[str, Grid]]:
    """The curve of each dataset, and what was measured of all as columns."""

    def measured(dataset: Dataset) -> Curve:
        curve = curve_of(dataset, records)
        done(1)
        return curve

    curves = once_each(measured, datasets, lambda: done(1))
    names = ("log_loss", "norm", "one_minus_correlation", "cyclic_distance")
    return curves, {name: as_rows([getattr(curve, name) for curve in curves]) for name in names}


def path(dataset: Dataset, depths: Num[np.ndarray, "records"]) -> Curve:
    """The regularization path at ridges exp(-depth)."""
    points = path_points(dataset, depths)
    tied = np.stack([point.tied for point in points])
    free = np.stack([point.free for point in points])
    return _compare(dataset, tied, free)


def path_points(dataset: Dataset, depths: Num[np.ndarray, "records"]) -> list[PathPoint]:
    """The same as coordinates in the tied and the free basis."""
    _check_size(dataset)
    tied, free = dataset.design(dataset.bound_basis), dataset.design(dataset.free_basis)
    return regularization_path(dataset.risk, tied, free, [-float(depth) for depth in depths])


def flow(dataset: Dataset, times: Num[np.ndarray, "records"]) -> Curve:
    """Gradient flow from W(0); the part of W(0) outside the span of all pairs never moves."""
    _check_size(dataset)
    basis = np.concatenate([dataset.bound_basis, dataset.free_basis])
    width = dataset.E.shape[1]
    start = dataset.initial_weights
    start = np.zeros((width, width)) if start is None else start
    still = start.ravel() - basis.T @ (basis @ start.ravel())
    moved = gradient_flow(
        dataset.risk, dataset.design(basis), basis @ start.ravel(), times.astype(float)
    )
    r = len(dataset.bound_basis)
    return _compare(dataset, moved[:, :r], moved[:, r:], still)


def _check_size(dataset: Dataset) -> None:
    if len(dataset.cells) > MOST_VARIABLES:
        raise InputError(
            f"{dataset.name}: {len(dataset.cells):,} (token, last token) pairs are too many for "
            f"dense Newton steps (at most {MOST_VARIABLES:,}); use --algorithm block"
        )


def _compare(
    dataset: Dataset,
    tied: Float[np.ndarray, "records rank"],
    free: Float[np.ndarray, "records free"],
    still: Float[np.ndarray, "variables"] | None = None,
) -> Curve:
    inside = tied @ dataset.bound_basis
    outside = free @ dataset.free_basis + (0.0 if still is None else still)
    weights = inside + outside
    norm = np.linalg.norm(weights, axis=1)
    target = dataset.target.ravel()
    size = float(np.linalg.norm(target))
    with np.errstate(invalid="ignore", divide="ignore"):
        turn = weights / norm[:, None] - target / size
    finite = dataset.dense(dataset.finite_part).ravel()
    tokens, queries = dataset.cell_embeddings
    width = dataset.E.shape[1]
    matrices = weights.reshape(-1, width, width)
    logits = np.einsum("cd,rde,ce->rc", tokens, matrices, queries)
    log_loss = np.array([dataset.risk.log_value(row) for row in logits])
    return Curve(
        matrices,
        log_loss,
        norm,
        np.sum(turn**2, axis=1) / 2,
        np.linalg.norm(inside - finite, axis=1),
    )
