"""Newton's method for a risk that has a finite minimiser."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ._risk import FEW_CELLS, Cells, Design, Entries, Point, Risk, normalized

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)

MOST_STEPS = 2_000
"""Newton steps before giving up; a dozen is usual, and one more a unit of logit if counts are
skewed.
"""

SETTLED = 1e-10
"""Once the gradient is this small against its terms, rounding may stop it from falling."""

FEW_ENTRIES, MOST_REMEMBERED = 16, 4096
"""Components with no more entries are remembered, and so many of them."""

SKEWED = 30.0
"""Logarithms of frequencies that lie further apart are those of a file, not of counts."""

LONGEST_STEP = 3.0
"""A step may change no difference of logits by more: beyond, curvature is no guide."""


@dataclass(frozen=True)
class Minimum:
    """A finite minimiser, with the norm of the gradient there."""

    point: np.ndarray
    gradient_norm: float


def minimise(risk: Risk, design: Design) -> Minimum:
    """Newton's method from 0, for a risk that has a finite minimiser on the span of the design."""
    if not len(risk.log_weight) or not design.shape[1]:
        return Minimum(np.zeros(design.shape[1]), 0.0)

    def slope(masses: Entries) -> tuple[Point, float]:
        terms = np.abs(design).T @ risk.slope_size(masses)
        return design.T @ risk.gradient(masses), float(np.linalg.norm(terms))

    def step(masses: Entries, slope: Point) -> Point:
        return np.linalg.lstsq(risk.hessian(masses, design), -slope, rcond=1e-15)[0]

    return _newton(risk, design.shape[1], lambda point: design @ point, slope, step)


def minimise_logits(risk: Risk) -> Minimum:
    """The same with the logits of the cells as variables, one component at a time.

    Cells of different components never meet in a sample. Inside a component the logits are only
    determined up to a constant; their mean is 0, and so is every cell's that no sample uses.
    """
    point = np.zeros(risk.cells)
    if not len(risk.log_weight):
        return Minimum(point, 0.0)
    square = 0.0
    for cells, part, share in _components(risk):
        found = _minimise_few(part) if len(part.cell) <= FEW_ENTRIES else _minimise_component(part)
        point[cells] = found.point - found.point.mean()
        square += (share * found.gradient_norm) ** 2
    return Minimum(point, float(np.sqrt(square)))


def _components(risk: Risk) -> Iterator[tuple[Int[np.ndarray, "own"], Risk, float]]:
    """The cells of each component, its own risk, and its share in the whole."""
    same = risk.sample[1:] == risk.sample[:-1]
    links = (risk.cell[:-1][same], risk.cell[1:][same])
    shape = (risk.cells, risk.cells)
    graph = coo_array((np.ones(len(links[0]), dtype=bool), links), shape=shape)
    owner = connected_components(graph, directed=False)[1][risk.cell]
    order = np.argsort(owner, kind="stable")
    for entries in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1):
        if not len(entries):
            continue
        cells, cell = np.unique(risk.cell[entries], return_inverse=True)
        samples, sample = np.unique(risk.sample[entries], return_inverse=True)
        share = float(np.exp(np.logaddexp.reduce(risk.log_weight[samples])))
        part = Risk(
            sample,
            cell,
            risk.log_multiplicity[entries],
            risk.label[entries],
            risk.tied[entries],
            normalized(risk.log_weight[samples]),
            len(cells),
        )
        yield cells, part, share


def _minimise_few(risk: Risk) -> Minimum:
    """A search over small data meets the same small components again and again."""
    key = b"|".join(
        array.tobytes()
        for array in (risk.sample, risk.cell, risk.log_multiplicity, risk.label, risk.log_weight)
    )
    if key not in _REMEMBERED:
        if len(_REMEMBERED) >= MOST_REMEMBERED:
            _REMEMBERED.clear()
        _REMEMBERED[key] = _minimise_component(risk)
    return _REMEMBERED[key]


_REMEMBERED: dict[bytes, Minimum] = {}


def is_skewed(risk: Risk) -> bool:
    """Whether frequencies differ by more than counts can say, and Newton's method can bear."""
    return len(risk.log_weight) > 0 and float(np.ptp(risk.log_weight)) > SKEWED


def _minimise_component(risk: Risk) -> Minimum:
    """Newton steps by conjugate gradients where a dense Hessian would be large."""
    if is_skewed(risk):
        return _choose(risk)

    def slope(masses: Entries) -> tuple[Cells, float]:
        return risk.gradient(masses), float(np.linalg.norm(risk.slope_size(masses)))

    def step(masses: Entries, slope: Cells) -> Cells:
        if risk.cells > FEW_CELLS:
            matrix = risk.mass_matrix(masses)
            weighted = matrix.multiply(risk.weight[:, None]).tocsr()
            diagonal = np.bincount(risk.cell, masses * risk.weight[risk.sample], risk.cells)
            found = _conjugate_gradients(matrix, weighted, diagonal, slope)
            if found is not None:
                return found
        hessian = risk.coupling(masses)
        hessian = hessian if isinstance(hessian, np.ndarray) else hessian.toarray()
        # A constant shift of the logits has no curvature; it gets some, and keeps no gradient.
        hessian += hessian.diagonal().mean() / risk.cells
        try:
            return cho_solve(cho_factor(hessian), -slope)
        except LinAlgError:
            return np.linalg.lstsq(hessian, -slope, rcond=None)[0]

    return _newton(risk, risk.cells, lambda point: point, slope, step)


def _choose(risk: Risk) -> Minimum:
    """Logits at which every token is chosen as often as the model expects.

    That is the likelihood equation of Luce's choice model, which says that exp(logits) is the
    stationary distribution of a chain that leaves a token for the label of each sample it is in
    (Maystre and Grossglauser 2015). Only positive numbers are added and multiplied, so that
    everything is right to rounding, in logarithms, however rare a sample is.
    """
    label = risk.cell[risk.label][risk.sample]
    others = ~risk.label
    point = np.zeros(risk.cells)
    for _ in range(MOST_STEPS):
        slots = risk.log_multiplicity + point[risk.cell]
        total = np.logaddexp.reduceat(slots, risk.start)
        flows = risk.log_multiplicity + (risk.log_weight - total)[risk.sample]
        rates = np.full((risk.cells, risk.cells), -np.inf)
        np.logaddexp.at(rates, (risk.cell[others], label[others]), flows[others])
        before, point = point, _stationary(rates)
        if np.abs(point - before).max() <= 4 * EPS * (1 + np.ptp(point)):
            break
    masses = np.exp(risk.log_masses(point))
    return Minimum(point, float(np.linalg.norm(risk.gradient(masses))))


def _stationary(
    log_rates: Float[np.ndarray, "cells cells"],
) -> Float[np.ndarray, "cells"]:
    """Logarithms of the stationary distribution of a chain, centred, by elimination of states.

    The algorithm of Grassmann, Taksar and Heyman (1985), which subtracts nothing.
    """
    rates = log_rates.copy()
    size = len(rates)
    for last in range(size - 1, 0, -1):
        rates[:last, last] -= np.logaddexp.reduce(rates[last, :last])
        round_trip = rates[:last, last, None] + rates[last, None, :last]
        rates[:last, :last] = np.logaddexp(rates[:last, :last], round_trip)
    found = np.zeros(size)
    for state in range(1, size):
        found[state] = np.logaddexp.reduce(found[:state] + rates[:state, state])
    return found - found.mean()


def _conjugate_gradients(
    matrix: csr_array, weighted: csr_array, diagonal: Cells, slope: Cells
) -> Cells | None:
    """Solve (D - M^T W M) step = -slope with the diagonal as preconditioner; None if it stalls."""
    transposed = matrix.T.tocsr()
    step, rest = np.zeros_like(slope), -slope
    scaled = rest / diagonal
    direction, size = scaled, float(rest @ scaled)
    goal = 1e-14 * size
    for _ in range(400):
        image = diagonal * direction - transposed @ (weighted @ direction)
        length = size / float(direction @ image)
        step, rest = step + length * direction, rest - length * image
        scaled = rest / diagonal
        size, before = float(rest @ scaled), size
        if size <= goal:
            return step
        direction = scaled + size / before * direction
    return None


def _newton(
    risk: Risk,
    variables: int,
    logits: Callable[[np.ndarray], Cells],
    gradient: Callable[[Entries], tuple[np.ndarray, float]],
    newton_step: Callable[[Entries, np.ndarray], np.ndarray],
) -> Minimum:
    """Damped Newton steps until rounding stops the gradient from falling.

    ``gradient`` gives it with the size of the terms that cancel in it.
    """
    point = np.zeros(variables)
    best, left = Minimum(point, np.inf), np.inf
    for _ in range(MOST_STEPS):
        masses = np.exp(risk.log_masses(logits(point)))
        slope, terms = gradient(masses)
        size = float(np.linalg.norm(slope))
        if size >= best.gradient_norm and left < SETTLED:
            return best
        if size < best.gradient_norm:
            best, left = Minimum(point, size), size / max(terms, TINY)
        if size <= EPS * terms / 4:
            return best
        step = newton_step(masses, slope)
        step = step * min(1.0, LONGEST_STEP / max(float(np.ptp(logits(step))), 1e-300))
        point = _descend(risk, logits, point, step, float(slope @ step))
    return best


def _descend(
    risk: Risk,
    logits: Callable[[np.ndarray], Cells],
    point: np.ndarray,
    step: np.ndarray,
    promised: float,
) -> np.ndarray:
    """Shorten the step until the risk falls; near the end rounding hides that, and it is taken."""
    here = risk.value(logits(point))
    length = 1.0
    while length > 1e-10 and abs(length * promised) > 1e-14 * (1 + abs(here)):
        if risk.value(logits(point + length * step)) <= here + 1e-4 * length * promised:
            break
        length /= 2
    return point + length * step
