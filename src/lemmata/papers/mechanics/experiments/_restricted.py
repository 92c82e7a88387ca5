"""Quantities of the proofs in Appendix B: excess risks, directions and restricted paths."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from lemmata.attention import Risk
from lemmata.margin import pair_rows

from ..setting import Dataset, PathPoint, regularization_path
from ._points import At, generator_for, logits_at, project

Matrix = Float[np.ndarray, "dimension dimension"]


def linear_head(dataset: Dataset) -> Float[np.ndarray, "tokens dimension"] | None:
    """C = E where that satisfies Assumption 3, else the head with C E^T = I; None if neither."""
    for head in (dataset.E, np.linalg.pinv(dataset.E).T):
        table = head @ dataset.E.T
        others = table - np.where(np.eye(dataset.K, dtype=bool), np.inf, 0.0)
        gaps = np.diag(table) - others.max(axis=1)
        if (gaps > 1e-9 * np.diag(table)).all():
            return head
    return None


def log_odds_outside(dataset: Dataset, weights: Matrix) -> Float[np.ndarray, "samples"]:
    """log of (mass off the label) / (mass on the label), per sample; -inf if nothing is off it."""
    risk = dataset.risk
    log_masses = risk.log_masses(At(dataset, weights).logits)
    off = np.where(risk.label, -np.inf, log_masses)
    return np.logaddexp.reduceat(off, risk.start) - log_masses[risk.label]


def log_linear_excess(
    dataset: Dataset, head: Float[np.ndarray, "tokens dimension"], weights: Matrix
) -> float:
    """log(risk - infimum) of l(u) = -u: the mean of sum_t s_t (gamma_y - gamma_t)."""
    risk = dataset.risk
    table = head @ dataset.E.T
    log_masses = risk.log_masses(At(dataset, weights).logits)
    cells = list(dataset.cells)
    tokens = np.array([cells[c][0] for c in risk.cell])
    labels = tokens[risk.label][risk.sample]
    gaps = table[labels, labels] - table[labels, tokens]
    with np.errstate(divide="ignore"):
        terms = log_masses + np.log(np.where(risk.label, 0.0, gaps)) + risk.log_weight[risk.sample]
    return float(np.logaddexp.reduce(terms))


def log_tied_risk(dataset: Dataset, weights: Matrix) -> float:
    """log of (|I|/n) L̄: the risk that is left when only tied tokens remain; -inf without ties."""
    return float(log_tied_risks(dataset, weights[None])[0])


def log_tied_risks(
    dataset: Dataset, weights: Float[np.ndarray, "points dimension dimension"]
) -> Float[np.ndarray, "points"]:
    """The same at many points at once."""
    reduced = dataset.risk.tied_only()
    if not len(reduced.log_weight):
        return np.full(len(weights), -np.inf)
    return dataset.log_tied_share + reduced.log_values(logits_at(dataset, weights))


def other_direction(
    dataset: Dataset, number: int, basis: Float[np.ndarray, "rank variables"]
) -> Matrix:
    """A matrix of at most the norm of W^mm in the span of a basis that is not W^mm itself."""
    draw = generator_for(dataset, f"direction {number}")
    noise = (draw.standard_normal(len(basis)) @ basis).reshape(dataset.target.shape)
    unit = dataset.target / np.linalg.norm(dataset.target)
    noise -= unit * np.sum(noise * unit)
    angle = (0.1, 0.3, 1.0, 2.0)[number % 4]
    if np.linalg.norm(noise) < 1e-9:
        return np.cos(angle) * dataset.target
    turned = np.cos(angle) * unit + np.sin(angle) * noise / np.linalg.norm(noise)
    return turned * dataset.norm


def worst_margin(dataset: Dataset, weights: Matrix) -> tuple[float, int]:
    """The smallest margin of a strict pair, and a sample that holds that pair."""
    margins = pair_rows(dataset.strict_pairs, dataset.E) @ weights.ravel()
    worst = int(np.argmin(margins))
    query, edge = dataset.strict_pairs[worst]
    return float(margins[worst]), dataset.graphs[query].evidence[edge]


def restricted_path(dataset: Dataset, inside: Matrix, depths: list[float]) -> list[PathPoint]:
    """The regularization path with the part in S_cyc frozen (Eq. 11)."""
    frozen = At(dataset, project(dataset.bound_basis, inside)).logits
    risk: Risk = replace(
        dataset.risk, log_multiplicity=dataset.risk.log_multiplicity + frozen[dataset.risk.cell]
    )
    nothing = np.zeros((risk.cells, 0))
    return regularization_path(
        risk, nothing, dataset.design(dataset.free_basis), [-depth for depth in depths]
    )
