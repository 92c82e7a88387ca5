"""The log-loss risk of attention under the identity head, and what it takes to minimise it.

-log of the mass on the label is convex in the logits, so Newton's method finds whatever finite
minimiser there is, and follows the regularization path where there is none. The arrays here are
sparse (one entry per sample and distinct token), and the work is done by NumPy: these problems
are small or solved once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from lemmata.tokens import TokenData

Cells = Float[np.ndarray, "cells"]
Entries = Float[np.ndarray, "entries"]
Design = Float[np.ndarray, "cells variables"]
TiedDesign = Float[np.ndarray, "cells tied"]
Point = Float[np.ndarray, "variables"]

MOST_STEPS = 200
"""Newton steps before giving up; a dozen is usual."""

LARGEST_DENSE = 300
"""Variables of a component up to which Newton steps are solved densely."""

FIRST_RIDGE = 3.0
"""Where the path starts at the latest: a ridge of e^3, so large that the minimiser is near 0."""

LONGEST_STEP = 3.0
"""A step may change no difference of logits by more: beyond, curvature is no guide."""


@dataclass(frozen=True)
class Risk:
    """The entries (sample, distinct token) of a dataset, sorted by sample.

    Attributes:
        sample, cell: which sample an entry belongs to, and which cell gives its logit.
        log_multiplicity: how often the token occurs in the sample.
        label, tied: whether the token is the label, or tied with it.
        weight: the share of each sample in the risk.
        cells: the number of cells.
    """

    sample: Int[np.ndarray, "entries"]
    cell: Int[np.ndarray, "entries"]
    log_multiplicity: Entries
    label: Bool[np.ndarray, "entries"]
    tied: Bool[np.ndarray, "entries"]
    weight: Float[np.ndarray, "samples"]
    cells: int

    @classmethod
    def of(
        cls,
        data: TokenData,
        cells: Mapping[tuple[int, int], int],
        tied: Sequence[frozenset[int]],
    ) -> "Risk":
        """``tied[i]`` are the tokens of sample i that are tied with its label."""
        rows = [
            (i, cells[x, sample.query], count, x == sample.label, x == sample.label or x in tied[i])
            for i, sample in enumerate(data.samples)
            for x, count in sorted(Counter(sample.tokens).items())
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        return cls(
            table[:, 0],
            table[:, 1],
            np.log(table[:, 2]),
            table[:, 3] > 0,
            table[:, 4] > 0,
            np.asarray(data.frequencies),
            len(cells),
        )

    @cached_property
    def start(self) -> Int[np.ndarray, "samples"]:
        """Where each sample's entries begin."""
        return np.searchsorted(self.sample, np.arange(len(self.weight)))

    def tied_only(self) -> "Risk":
        """The risk of the cyclic subdata: only tied tokens, and only samples with a choice."""
        choice = np.add.reduceat(self.tied.astype(int), self.start) > 1
        keep = self.tied & choice[self.sample]
        number = np.cumsum(choice) - 1
        weight = self.weight[choice] / max(self.weight[choice].sum(), np.finfo(float).tiny)
        return Risk(
            number[self.sample[keep]],
            self.cell[keep],
            self.log_multiplicity[keep],
            self.label[keep],
            self.tied[keep],
            weight,
            self.cells,
        )

    def log_masses(self, logits: Cells) -> Entries:
        """The logarithm of the attention of each entry, given the logits of the cells."""
        return self.log_softmax(logits[self.cell])

    def log_softmax(self, logits: Entries) -> Entries:
        """The same, given the logits of the entries."""
        slots = self.log_multiplicity + logits
        top = np.maximum.reduceat(slots, self.start)[self.sample]
        total = np.add.reduceat(np.exp(slots - top), self.start)[self.sample]
        return slots - top - np.log(total)

    def value(self, logits: Cells) -> float:
        """The mean of -log of the mass on the label."""
        return float(np.exp(self.log_value(logits)))

    def log_value(self, logits: Cells) -> float:
        """Its logarithm, from the log-odds of the wrong tokens, which do not round to 0."""
        if not len(self.weight):
            return -np.inf
        slots = self.log_multiplicity + logits[self.cell]
        ahead = np.where(self.label, -np.inf, slots - slots[self.label][self.sample])
        top = np.maximum.reduceat(ahead, self.start)
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.exp(ahead - np.where(np.isfinite(top), top, 0.0)[self.sample])
            odds = top + np.log(np.add.reduceat(powers, self.start))
            odds = np.where(np.isfinite(top), odds, -np.inf)
            small = odds < -40
            losses = np.where(small, odds, np.log(np.logaddexp(0, np.where(small, 0, odds))))
            return float(np.asarray(logsumexp(losses, b=self.weight)))

    def gradient(
        self, masses: Entries, counted: Bool[np.ndarray, "entries"] | None = None
    ) -> Cells:
        """The sum over the wrong tokens, or only the counted ones, of mass times (e_x - e_y)."""
        wrong = ~self.label if counted is None else counted & ~self.label
        share = np.where(wrong, masses, 0.0) * self.weight[self.sample]
        total = np.add.reduceat(share, self.start)
        share = share - np.where(self.label, total[self.sample], 0.0)
        return np.bincount(self.cell, share, self.cells)

    def mass_matrix(self, masses: Entries) -> csr_array:
        """Masses as a sparse matrix, one row a sample."""
        shape = (len(self.weight), self.cells)
        return csr_array((masses, (self.sample, self.cell)), shape=shape)

    def hessian(self, masses: Entries, design: Design) -> Float[np.ndarray, "variables variables"]:
        """The covariance of the design under the masses, averaged over the samples."""
        matrix = self.mass_matrix(masses)
        diagonal = np.bincount(self.cell, masses * self.weight[self.sample], self.cells)
        mean = matrix @ design
        return design.T @ (diagonal[:, None] * design) - mean.T @ (self.weight[:, None] * mean)


@dataclass(frozen=True)
class Minimum:
    """A finite minimiser, with the norm of the gradient there."""

    point: np.ndarray
    gradient_norm: float


def minimise(risk: Risk, design: Design) -> Minimum:
    """Newton's method from 0, for a risk that has a finite minimiser on the span of the design."""
    if not len(risk.weight) or not design.shape[1]:
        return Minimum(np.zeros(design.shape[1]), 0.0)

    def slope(masses: Entries) -> Point:
        return design.T @ risk.gradient(masses)

    def step(masses: Entries, slope: Point) -> Point:
        return np.linalg.lstsq(risk.hessian(masses, design), -slope, rcond=1e-15)[0]

    return _newton(risk, design.shape[1], lambda point: design @ point, slope, step)


def minimise_logits(risk: Risk) -> Minimum:
    """The same with the logits of the cells as variables, one component at a time.

    Cells of different components never meet in a sample. Inside a component the logits are only
    determined up to a constant; their mean is 0, and so is every cell's that no sample uses.
    """
    point = np.zeros(risk.cells)
    square = 0.0
    for cells, part, share in _components(risk):
        found = _minimise_component(part)
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
        share = float(risk.weight[samples].sum())
        part = Risk(
            sample,
            cell,
            risk.log_multiplicity[entries],
            risk.label[entries],
            risk.tied[entries],
            risk.weight[samples] / share,
            len(cells),
        )
        yield cells, part, share


def _minimise_component(risk: Risk) -> Minimum:
    """Newton steps by conjugate gradients where a dense Hessian would be large."""

    def step(masses: Entries, slope: Cells) -> Cells:
        matrix = risk.mass_matrix(masses)
        weighted = matrix.multiply(risk.weight[:, None]).tocsr()
        diagonal = np.bincount(risk.cell, masses * risk.weight[risk.sample], risk.cells)
        if risk.cells > LARGEST_DENSE:
            found = _conjugate_gradients(matrix, weighted, diagonal, slope)
            if found is not None:
                return found
        hessian = np.diag(diagonal) - (matrix.T @ weighted).toarray()
        # A constant shift of the logits has no curvature; it gets some, and keeps no gradient.
        hessian += diagonal.mean() / risk.cells
        try:
            return cho_solve(cho_factor(hessian), -slope)
        except LinAlgError:
            return np.linalg.lstsq(hessian, -slope, rcond=None)[0]

    return _newton(risk, risk.cells, lambda point: point, risk.gradient, step)


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
    gradient: Callable[[Entries], np.ndarray],
    newton_step: Callable[[Entries, np.ndarray], np.ndarray],
) -> Minimum:
    """Damped Newton steps until rounding stops the gradient from falling."""
    point = np.zeros(variables)
    best = Minimum(point, np.inf)
    for _ in range(MOST_STEPS):
        masses = np.exp(risk.log_masses(logits(point)))
        slope = gradient(masses)
        size = float(np.linalg.norm(slope))
        if size >= best.gradient_norm and best.gradient_norm < 1e-12:
            return best
        if size < best.gradient_norm:
            best = Minimum(point, size)
        if size < 1e-16:
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


@dataclass(frozen=True)
class PathPoint:
    """One point of the regularization path: the minimiser of the risk plus ridge/2 |z|^2."""

    log_ridge: float
    tied: Float[np.ndarray, "tied"]
    free: Point
    residual: float

    @property
    def radius(self) -> float:
        """R, the norm of the point."""
        return float(np.hypot(np.linalg.norm(self.tied), np.linalg.norm(self.free)))


def regularization_path(
    risk: Risk, tied: TiedDesign, free: Design, log_ridges: Sequence[float]
) -> list[PathPoint]:
    """Minimise risk + (ridge/2)|z|^2 for each log ridge; points come in the order asked for.

    Because the risk is convex, these are the minimisers on balls of radius |z|. The designs give
    the logits of orthonormal coordinates inside and outside the space of ties. The equation of
    the free block is divided by the ridge, exp(log mass - log ridge), and only sees tokens that
    are not tied with the label; so it is exact for any ridge, also far below the range of
    floating point.
    """
    path = _Path(risk, tied, free, max([FIRST_RIDGE, *log_ridges]))
    found: dict[float, PathPoint] = {}
    for log_ridge in sorted(set(log_ridges), reverse=True):
        path.advance(log_ridge)
        found[log_ridge] = path.here()
    return [found[log_ridge] for log_ridge in log_ridges]


class _Path:
    """A point on the path that moves to ever smaller ridges."""

    def __init__(self, risk: Risk, tied: TiedDesign, free: Design, start: float):
        self.risk = risk
        self.design = np.concatenate([tied, free], axis=1)
        self.rank = tied.shape[1]
        self.log_ridge = start
        self.point = np.zeros(self.design.shape[1])
        self.velocity = np.zeros_like(self.point)
        self.residual = np.inf
        self.point, self.residual = self._correct(self.point, self.log_ridge)

    def here(self) -> PathPoint:
        r = self.rank
        return PathPoint(self.log_ridge, self.point[:r], self.point[r:], self.residual)

    def advance(self, log_ridge: float) -> None:
        """Go to a smaller ridge by steps that grow with the distance covered."""
        stride = max(0.5, 0.3 * abs(self.log_ridge))
        while self.log_ridge > log_ridge:
            step = max(log_ridge, self.log_ridge - stride) - self.log_ridge
            point, residual = self._correct(
                self.point + step * self.velocity, self.log_ridge + step
            )
            if residual > 1e-8 and stride > 1e-3:
                stride /= 2
                continue
            self.velocity = (point - self.point) / step
            self.point, self.residual = point, residual
            self.log_ridge += step
            stride = max(2 * stride, 0.3 * abs(self.log_ridge)) if residual < 1e-8 else stride

    def _correct(self, point: Point, log_ridge: float) -> tuple[Point, float]:
        """Newton's method at a fixed ridge; the residual is relative to the size of the point."""
        best, smallest = point, np.inf
        for _ in range(40):
            equations, jacobian = self._system(point, log_ridge)
            size = float(np.linalg.norm(equations)) / (1 + float(np.linalg.norm(point)))
            if not np.isfinite(size) or (size >= smallest and smallest < 1e-12):
                break
            if size < smallest:
                best, smallest = point, size
            step = np.linalg.solve(jacobian, -equations)
            point = point + step * min(1.0, 5.0 / max(1e-300, np.abs(self.design @ step).max()))
        return best, smallest

    def _logits(self, point: Point) -> Entries:
        """Free logits count from the label's, so that tied tokens do not see their size."""
        risk, r = self.risk, self.rank
        tied = (self.design[:, :r] @ point[:r])[risk.cell]
        free = (self.design[:, r:] @ point[r:])[risk.cell]
        return tied + np.where(risk.tied, 0.0, free - free[risk.label][risk.sample])

    def _system(self, point: Point, log_ridge: float) -> tuple[Point, np.ndarray]:
        risk, design, r = self.risk, self.design, self.rank
        log_masses = risk.log_softmax(self._logits(point))
        masses = np.exp(log_masses)
        ridge = np.exp(log_ridge)
        inside = design[:, :r].T @ risk.gradient(masses)
        scaled = np.exp(np.minimum(log_masses - log_ridge, 690.0))
        outside = design[:, r:].T @ risk.gradient(scaled, ~risk.tied)
        equations = np.concatenate([inside + ridge * point[:r], outside + point[r:]])
        mean = risk.mass_matrix(masses) @ design
        entries = ~risk.tied
        own = design[risk.cell[risk.label]][risk.sample[entries]]
        lead = design[risk.cell[entries]] - own
        drift = design[risk.cell[entries]] - mean[risk.sample[entries]]
        weight = (scaled * risk.weight[risk.sample])[entries]
        below = (weight[:, None] * lead[:, r:]).T @ drift
        below[:, r:] += np.eye(design.shape[1] - r)
        above = risk.hessian(masses, design)[:r]
        above[:, :r] += ridge * np.eye(r)
        return equations, np.concatenate([above, below])


def gradient_flow(
    risk: Risk, design: Design, start: Point, times: Float[np.ndarray, "times"]
) -> Float[np.ndarray, "times variables"]:
    """dz/dt = -gradient, at the given times; implicit, because the tied block is stiff."""
    if times[-1] == 0:
        return np.tile(start, (len(times), 1))
    from scipy.integrate import solve_ivp  # a tenth of a second that only the flow needs

    def slope(_: float, z: Point) -> Point:
        return -design.T @ risk.gradient(np.exp(risk.log_masses(design @ z)))

    def curvature(_: float, z: Point) -> np.ndarray:
        return -risk.hessian(np.exp(risk.log_masses(design @ z)), design)

    found = solve_ivp(
        slope,
        (0.0, float(times[-1])),
        start,
        method="Radau",
        t_eval=times,
        jac=curvature,
        rtol=1e-8,
        atol=1e-11,
    )
    if not found.success:
        raise ArithmeticError(f"gradient flow: {found.message}")
    return found.y.T
