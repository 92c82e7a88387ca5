"""The regularization path of any loss: minimisers on spheres of growing radius.

Without convexity there is no Newton path to follow. The logarithm of the loss above its infimum
is minimised over directions instead, from several starts and from the previous radius; it has no
small numbers in it, however large the radius is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import jax
import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from lemmata._errors import InputError
from lemmata.attention import Cells, Entries, Point, Risk, Shape, rounded_up

from ._dataset import Dataset
from ._heads import (
    UNIT_SCORE,
    Head,
    Loss,
    check_head,
    check_scores,
    checked_loss,
    scores,
    shape_of,
    takes_softmax,
)

STARTS = 2
"""Random directions to start from, beside the predicted one."""

Samples = Float[np.ndarray, "samples"]
Matrix = Float[np.ndarray, "dimension dimension"]


@dataclass(frozen=True)
class Objective:
    """A loss l(u) of the label's score, and the head that gives the score; see ``Training``."""

    loss: Loss = "log"
    head: Head = "identity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", checked_loss(self.loss))
        check_head(self.head)
        if takes_softmax(self.loss):
            raise InputError(f"{self.loss} is no loss of the label's score alone")

    @property
    def says(self) -> str:
        """Loss and head, in words."""
        loss = shape_of(self.loss).name
        head = self.head if isinstance(self.head, str) else "given"
        return f"the {loss} loss with the {head} head"


@dataclass(frozen=True)
class BallPath:
    """The best point found on each sphere.

    Attributes:
        radii: R.
        weights: W_R, or with a part frozen in S_cyc the rest of it.
        log_excess: log(risk - infimum) there.
    """

    radii: Float[np.ndarray, "radii"]
    weights: Float[np.ndarray, "radii dimension dimension"]
    log_excess: Float[np.ndarray, "radii"]

    def cosine_gap(self, target: Matrix) -> np.ndarray:
        """1 - corr(W_R, target)."""
        turn = self.weights / self.radii[:, None, None] - target / np.linalg.norm(target)
        return np.sum(turn**2, axis=(1, 2)) / 2


def ball_path(
    dataset: Dataset,
    objective: Objective,
    radii: Sequence[float],
    frozen: Matrix | None = None,
) -> BallPath:
    """The path of one acyclic dataset; with ``frozen`` (Eq. 11), that outside S_cyc with this
    part inside.
    """
    excess = _whole(dataset, objective) if frozen is None else _rest(dataset, objective, frozen)
    basis = dataset.free_basis
    design = dataset.design(basis)
    generator = np.random.default_rng(0)
    first = basis @ (dataset.target / np.linalg.norm(dataset.target)).ravel()
    starts = [first, *generator.standard_normal((STARTS, len(basis)))]
    points, values = [], []
    for radius in radii:

        def over_directions(z: Point, radius: float = radius) -> tuple[float, Point]:
            size = np.linalg.norm(z)
            unit = z / size
            value, slope = excess(radius * (design @ unit))
            along = radius * (design.T @ slope)
            return value, (along - unit * (unit @ along)) / size

        tries = [
            minimize(over_directions, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15})
            for start in starts
        ]
        best = min(tries, key=lambda result: result.fun)
        unit = best.x / np.linalg.norm(best.x)
        points.append(radius * unit @ basis)
        values.append(float(best.fun))
        starts = [unit, starts[0]] if len(points) == 1 else [unit]
    matrices = np.stack(points).reshape(-1, *dataset.target.shape)
    return BallPath(np.array(radii, dtype=float), matrices, np.array(values))


@dataclass(frozen=True)
class _Excess:
    """log(risk - infimum) as a function of the logits of the cells, with its gradient.

    Attributes:
        risk: the entries; ``log_multiplicity`` holds what is frozen, too.
        short: by how much each token's score is below the label's.
        top: the label's score of each sample.
    """

    risk: Risk
    short: Entries
    top: Samples
    shape: Shape

    def __call__(self, logits: Cells) -> tuple[float, Cells]:
        risk, start = self.risk, self.risk.start
        log_masses = risk.log_masses(logits)
        with np.errstate(divide="ignore"):
            missed = log_masses + np.log(self.short)
        log_gap = np.logaddexp.reduceat(missed, start)
        log_excess, log_pull = self._evaluate(log_gap)
        terms = risk.log_weight + log_excess
        value = float(np.logaddexp.reduce(terms))
        share = np.exp(terms - value + log_pull)[risk.sample]
        with np.errstate(invalid="ignore"):
            lost = np.where(self.short > 0, np.exp(missed - log_gap[risk.sample]), 0.0)
        slopes = np.where(share > 0, share * (lost - np.exp(log_masses)), 0.0)
        return value, np.bincount(risk.cell, slopes, risk.cells)

    def _evaluate(self, log_gap: Samples) -> tuple[Samples, Samples]:
        """log(l(u) - l(top)) of each sample, and log of its derivative in the log of the gap."""
        size = rounded_up(len(log_gap))
        top, gap = np.ones(size), np.full(size, -np.inf)
        top[: len(log_gap)], gap[: len(log_gap)] = self.top, log_gap
        found = [np.asarray(part)[: len(log_gap)] for part in _compiled(self.shape)(top, gap)]
        log_excess, log_slope = (np.where(np.isfinite(log_gap), part, -np.inf) for part in found)
        with np.errstate(invalid="ignore"):
            pull = log_slope + log_gap - log_excess
        return log_excess, np.where(np.isfinite(log_gap), pull, -np.inf)


@cache
def _compiled(shape: Shape):
    """A shape's excess and slope for arrays."""
    return jax.jit(lambda top, gap: (shape.log_excess(top, gap), shape.slope(top, gap)[1]))


def _whole(dataset: Dataset, objective: Objective) -> _Excess:
    """Scores C E^T, counted from the label's."""
    risk, table = dataset.risk, scores(dataset, objective.head)
    tokens = np.array([token for token, _ in dataset.cells])[risk.cell]
    labels = tokens[risk.label][risk.sample]
    short = np.where(risk.label, 0.0, table[labels, labels] - table[labels, tokens])
    if not dataset.acyclic:
        raise InputError(f"{dataset.name} has ties, whose risk has another infimum")
    if (short[~risk.label] <= 0).any():
        raise InputError(
            f"{dataset.name}: the head does not score every label highest (Assumption 3)"
        )
    top = table[labels[risk.start], labels[risk.start]]
    top = np.where(np.abs(top - 1) < UNIT_SCORE, 1.0, top)
    shape = shape_of(objective.loss)
    check_scores(dataset.name, shape, table[labels, tokens], top)
    return _Excess(risk, short, top, shape)


def _rest(dataset: Dataset, objective: Objective, frozen: Matrix) -> _Excess:
    """Identity head: what a frozen part in S_cyc leaves of the label's score is its top.

    The label keeps its share against tied tokens, whatever happens outside S_cyc (Eq. 12).
    """
    tokens, queries = dataset.cell_embeddings
    logits = np.einsum("cd,de,ce->c", tokens, frozen, queries)
    risk = replace(
        dataset.risk, log_multiplicity=dataset.risk.log_multiplicity + logits[dataset.risk.cell]
    )
    inside = np.where(risk.tied, risk.log_multiplicity, -np.inf)
    log_share = risk.log_multiplicity[risk.label] - np.logaddexp.reduceat(inside, risk.start)
    top = np.exp(log_share)
    return _Excess(risk, np.where(risk.tied, 0.0, top[risk.sample]), top, shape_of(objective.loss))
