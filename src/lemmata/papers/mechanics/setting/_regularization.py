"""Where a risk without a finite minimiser leads: the regularization path, and gradient flow."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from lemmata.attention import Design, Entries, Point, Risk

TiedDesign = Float[np.ndarray, "cells tied"]

FIRST_RIDGE = 3.0
"""Where the path starts at the latest, for features of size 1: a ridge of e^3, so large that the
minimiser is near 0.
"""


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
    floating point. Features of any size lead to the same logits: the path is followed in features
    of size 1, where z is ``size`` times as long, and so the ridge ``size``^2 times as small.
    """
    size = _size(np.concatenate([tied, free], axis=1))
    inner = {log_ridge: log_ridge - 2 * np.log(size) for log_ridge in log_ridges}
    path = _Path(risk, tied / size, free / size, max([FIRST_RIDGE, *inner.values()]))
    found: dict[float, PathPoint] = {}
    for log_ridge in sorted(inner, reverse=True):
        path.advance(inner[log_ridge])
        r, point = path.rank, path.point / size
        found[log_ridge] = PathPoint(log_ridge, point[:r], point[r:], path.residual)
    return [found[log_ridge] for log_ridge in log_ridges]


def _size(design: Design) -> float:
    """The longest row: the largest logit that a matrix of norm 1 gives; 1 if there is none."""
    longest = float(np.linalg.norm(design, axis=1).max(initial=0.0))
    return longest if longest > 0 else 1.0


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
        log_shares = log_masses + risk.log_weight[risk.sample] - log_ridge
        scaled = np.exp(np.minimum(log_shares, 690.0))
        outside = design[:, r:].T @ risk.pull(scaled, ~risk.tied)
        equations = np.concatenate([inside + ridge * point[:r], outside + point[r:]])
        mean = np.add.reduceat(masses[:, None] * design[risk.cell], risk.start)
        entries = ~risk.tied
        own = design[risk.cell[risk.label]][risk.sample[entries]]
        lead = design[risk.cell[entries]] - own
        drift = design[risk.cell[entries]] - mean[risk.sample[entries]]
        below = (scaled[entries, None] * lead[:, r:]).T @ drift
        below[:, r:] += np.eye(design.shape[1] - r)
        above = risk.hessian(masses, design)[:r]
        above[:, :r] += ridge * np.eye(r)
        return equations, np.concatenate([above, below])


def gradient_flow(
    risk: Risk, design: Design, start: Point, times: Float[np.ndarray, "times"]
) -> Float[np.ndarray, "times variables"]:
    """dz/dt = -gradient, at the given times; implicit, because the tied block is stiff.

    In features of size 1, where z is ``size`` times as long and time ``size``^2 times as fast.
    """
    if times[-1] == 0:
        return np.tile(start, (len(times), 1))
    size = _size(design)
    design, start, times = design / size, start * size, times * size**2

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
    return found.y.T / size
