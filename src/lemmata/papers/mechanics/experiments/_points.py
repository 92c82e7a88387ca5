"""Weights to evaluate statements at, and what the statements speak of there."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import softmax

from lemmata.attention import Risk

from ..setting import Dataset

Matrix = Float[np.ndarray, "dimension dimension"]
Basis = Float[np.ndarray, "rank variables"]

EPS = float(np.finfo(float).eps)

POINTS = 12
SCALES = (0.3, 1.0, 3.0, 10.0)
SHORTEST = 1e-300

FAINTEST = -160.0
"""Curvature of a smaller log-mass is raised to this, which changes no rank and no large value."""

EVEN = -6.0
"""The same where nothing but the rank counts."""


def generator_for(dataset: Dataset, purpose: str) -> np.random.Generator:
    """Random numbers that depend on the dataset's name and the purpose alone."""
    return np.random.default_rng(crc32(f"{dataset.name}/{purpose}".encode()))


def random_weights(dataset: Dataset) -> list[Matrix]:
    """Gaussian matrices at several scales, which logits have if embeddings are long or short."""
    draw = generator_for(dataset, "points")
    width = dataset.E.shape[1]
    return [
        unit_of_weights(dataset) * SCALES[i % len(SCALES)] * draw.standard_normal((width, width))
        for i in range(POINTS)
    ]


def unit_of_weights(dataset: Dataset) -> float:
    """A W of this size has logits of about 1."""
    return 1 / max(float(np.sum(dataset.E**2, axis=1).max(initial=0.0)), SHORTEST)


def tied_weights(dataset: Dataset, number: int = 0) -> Matrix:
    """A random matrix in S_cyc; 0 without ties."""
    draw = generator_for(dataset, f"frozen {number}")
    inside = draw.standard_normal(len(dataset.bound_basis)) @ dataset.bound_basis
    inside *= unit_of_weights(dataset) / max(float(np.linalg.norm(inside)), SHORTEST)
    return inside.reshape(dataset.target.shape)


@dataclass(frozen=True)
class At:
    """A dataset seen at weights W; entries are (sample, distinct token) pairs."""

    dataset: Dataset
    weights: Matrix

    @property
    def logits(self) -> Float[np.ndarray, "cells"]:
        return logits_at(self.dataset, self.weights)

    @property
    def rounding(self) -> float:
        """The relative rounding error of attention, which is the absolute one of the logits."""
        tokens, queries = self.dataset.cell_embeddings
        size = np.einsum("cd,de,ce->c", np.abs(tokens), np.abs(self.weights), np.abs(queries))
        return 64 * EPS * (1 + float(size.max(initial=0.0)))

    @property
    def masses(self) -> Float[np.ndarray, "entries"]:
        return np.exp(self.dataset.risk.log_masses(self.logits))

    @property
    def risk(self) -> float:
        return self.dataset.risk.value(self.logits)

    def gradient(self, counted: Bool[np.ndarray, "entries"] | None = None) -> Matrix:
        """Eq. (19) with the right index set, or only the counted entries of it."""
        risk = self.dataset.risk
        return pull_back(self.dataset, risk.gradient(self.masses, counted))

    @property
    def gradient_size(self) -> float:
        """The norm of the gradient if nothing cancelled in it: what its rounding is relative to."""
        tokens, queries = self.dataset.cell_embeddings
        terms = self.dataset.risk.slope_size(self.masses)
        return float(np.linalg.norm(np.einsum("c,cd,ce->de", terms, abs(tokens), abs(queries))))

    def curvature_roots(
        self, basis: Basis, risk: Risk | None = None, faintest: float = FAINTEST
    ) -> np.ndarray:
        """Square roots of the eigenvalues of the Hessian along a basis, the largest first.

        The Hessian is the covariance of the tokens under attention. Singular values of its square
        root tell a small curvature from none where eigenvalues would have drowned it in rounding.
        Where only the rank counts, ``EVEN`` raises whatever is faint: a direction is flat for all
        positive weights of samples and tokens, or for none.
        """
        risk = self.dataset.risk if risk is None else risk
        log_masses = risk.log_masses(self.logits)
        rows = self.dataset.design(basis)[risk.cell]
        mean = np.add.reduceat(np.exp(log_masses)[:, None] * rows, risk.start)
        root = np.exp(np.maximum(log_masses + risk.log_weight[risk.sample], faintest) / 2)
        return np.linalg.svd(root[:, None] * (rows - mean[risk.sample]), compute_uv=False)


def random_points(dataset: Dataset) -> list[At]:
    """The dataset at Gaussian matrices of several scales."""
    return [At(dataset, W) for W in random_weights(dataset)]


def logits_at(
    dataset: Dataset, weights: Float[np.ndarray, "*points dimension dimension"]
) -> Float[np.ndarray, "*points cells"]:
    """e_token^T W e_query of every cell, at one W or at many."""
    tokens, queries = dataset.cell_embeddings
    return np.einsum("cd,...de,ce->...c", tokens, weights, queries)


def pull_back(dataset: Dataset, cells: Float[np.ndarray, "cells"]) -> Matrix:
    """sum over cells of c e_token e_query^T."""
    return np.einsum("c,cd,ce->de", cells, *dataset.cell_embeddings)


def project(basis: Basis, weights: Matrix) -> Matrix:
    """The part of W in the span of the basis."""
    return ((basis @ weights.ravel()) @ basis).reshape(weights.shape)


def softmax_of(
    dataset: Dataset, tokens: Sequence[int], query: int, weights: Matrix
) -> Float[np.ndarray, "positions"]:
    """Attention position by position, as Eq. (1) writes it."""
    return softmax(dataset.E[list(tokens)] @ weights @ dataset.E[query])
