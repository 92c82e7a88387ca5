"""Balls around the limits: W^mm by its certificate, W^cyc by an interval Newton step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from scipy.linalg import eigh

from lemmata.settings import as_balls, dot

from ._dataset import Dataset

NEWTON_STEPS = 60
"""Newton steps from the minimiser in floating point; each doubles the digits."""


def length(matrix: arb_mat) -> arb:
    """The Frobenius norm."""
    return sum((entry * entry for entry in matrix.entries()), arb(0)).nonnegative_part().sqrt()


def direction_ball(dataset: Dataset) -> arb_mat | None:
    """W^mm: exact fractions for orthonormal embeddings, else within the certificate's bound."""
    if not dataset.feasible:
        return None
    if dataset.embeddings is not None:
        return as_balls(dataset.target, dataset.margin.error_bound)
    matrix = arb_mat(dataset.K, dataset.K)
    for cell, value in dataset.margin.entries.items():
        matrix[cell] = arb(value.numerator) / value.denominator
    return matrix


def ball_weights(dataset: Dataset) -> list[arb]:
    """How often each sample occurs, up to a common factor."""
    if dataset.log_frequency is not None:
        return [arb(float(log)).exp() for log in dataset.log_frequency]
    return [arb(sample.count) for sample in dataset.data.samples]


def realizable_weights(dataset: Dataset) -> list[arb]:
    """The same for the samples whose label occurs in them."""
    pairs = zip(dataset.data.samples, ball_weights(dataset), strict=True)
    return [weight for sample, weight in pairs if sample.label in sample.tokens]


@dataclass(frozen=True)
class TiedBalls:
    """S_cyc as the span of independent matrices, and W^cyc in it."""

    basis: Sequence[arb_mat]
    gram: arb_mat
    limit: arb_mat

    def project(self, W: arb_mat) -> arb_mat:
        """The part of W in S_cyc."""
        if not self.basis:
            return arb_mat(W.nrows(), W.ncols())
        inner = arb_mat([[dot(matrix, W)] for matrix in self.basis])
        return _combine(self.basis, self.gram.solve(inner).entries())


def tied_balls(dataset: Dataset) -> TiedBalls | None:
    """S_cyc and an enclosure of W^cyc; None if that cannot be proved.

    With independent embeddings the differences of tied tokens are independent.
    """
    if dataset.broken("embeddings_dependent"):
        return None
    basis = _basis(dataset)
    size = dataset.E.shape[1]
    if not basis:
        return TiedBalls((), arb_mat(0, 0), arb_mat(size, size))
    gram = arb_mat([[dot(a, b) for b in basis] for a in basis])
    try:
        coordinates = _minimiser(dataset, basis, gram)
    except ZeroDivisionError:  # a curvature that these bits do not tell from 0
        return None
    if coordinates is None:
        return None
    return TiedBalls(basis, gram, _combine(basis, coordinates.entries()))


def _basis(dataset: Dataset) -> list[arb_mat]:
    """(e_a - e_b) e_q^T for neighbours a and b in a component of the graph of q."""
    rows = [as_balls(row[:, None]) for row in dataset.E]
    return [(rows[a] - rows[b]) * rows[q].transpose() for q, (a, b) in dataset.tied_pairs]


def _combine(basis: Sequence[arb_mat], coordinates: Sequence[arb]) -> arb_mat:
    total = arb_mat(basis[0].nrows(), basis[0].ncols())
    for matrix, factor in zip(basis, coordinates, strict=True):
        total += matrix * factor
    return total


def _minimiser(dataset: Dataset, basis: Sequence[arb_mat], gram: arb_mat) -> arb_mat | None:
    """The minimiser of the risk of the cyclic subdata, in coordinates of the basis.

    Newton's method finds it; if the interval Newton step from a small box leads into the box,
    the one stationary point of the convex risk is in there.
    """
    start = as_balls(dataset.W_cyc)
    point = gram.solve(arb_mat([[dot(matrix, start)] for matrix in basis])).mid()
    designs = _designs(dataset, basis)
    moved = arb(1)
    for _ in range(NEWTON_STEPS):
        slope, curvature = _derivatives(dataset, designs, point)
        step = curvature.solve(slope)
        before, moved = moved, length(step).upper()
        point = (point - step).mid()
        if not moved < before / 2:
            break
    box = arb_mat([[arb(x.mid(), 4 * moved)] for x in point.entries()])
    slope, curvature = (
        _derivatives(dataset, designs, point)[0],
        _derivatives(dataset, designs, box)[1],
    )
    enclosed = point - curvature.solve(slope)
    return enclosed if box.contains(enclosed) else None


def _designs(dataset: Dataset, basis: Sequence[arb_mat]) -> dict[tuple[int, int], arb_mat]:
    """The logit that each basis matrix gives to a token and query, as a column."""
    rows = [as_balls(row[:, None]) for row in dataset.E]
    cells = {(token, s.query) for s in dataset.cyclic.samples for token in s.tokens}
    return {
        (token, query): arb_mat(
            [[(rows[token].transpose() * matrix * rows[query])[0, 0]] for matrix in basis]
        )
        for token, query in cells
    }


def _derivatives(
    dataset: Dataset, designs: dict[tuple[int, int], arb_mat], point: arb_mat
) -> tuple[arb_mat, arb_mat]:
    """Slope and curvature: the mean of the designs under attention, and their covariance."""
    size, weights = point.nrows(), realizable_weights(dataset)
    slope, curvature = arb_mat(size, 1), arb_mat(size, size)
    for i, sample in zip(dataset.tied_samples, dataset.cyclic.samples, strict=True):
        columns = [designs[token, sample.query] for token in sample.tokens]
        powers = [dot(column, point).exp() for column in columns]
        whole = sum(powers, arb(0))
        mean = arb_mat(size, 1)
        for power, column in zip(powers, columns, strict=True):
            mean += column * (power / whole)
        slope += (mean - designs[sample.label, sample.query]) * weights[i]
        for power, column in zip(powers, columns, strict=True):
            apart = column - mean
            curvature += apart * apart.transpose() * (power / whole * weights[i])
    return slope, curvature


def tied_curvature(dataset: Dataset) -> arb | None:
    """A lower bound of the largest curvature of the risk at W^cyc inside S_cyc, far out.

    It is that along one direction, which floating point proposes; None without ties.
    """
    ties = tied_balls(dataset)
    if ties is None or not ties.basis:
        return None
    point = ties.gram.solve(arb_mat([[dot(matrix, ties.limit)] for matrix in ties.basis]))
    curvature = _derivatives(dataset, _designs(dataset, ties.basis), point)[1]
    plain, gram = (_midpoints(matrix) for matrix in (curvature, ties.gram))
    direction = arb_mat([[arb(float(x))] for x in eigh(plain, gram)[1][:, -1]])
    along, size = (
        (direction.transpose() * matrix * direction)[0, 0] for matrix in (curvature, ties.gram)
    )
    return along / size / sum(realizable_weights(dataset), arb(0))


def _midpoints(matrix: arb_mat) -> np.ndarray:
    return np.array([[float(x.mid()) for x in row] for row in matrix.tolist()])
