"""The log-loss risk of attention under the identity head, with its gradient and curvature.

-log of the mass on the label is convex in the logits, so Newton's method finds whatever finite
minimiser there is (``_minimise``), and can follow a regularization path where there is none. The
arrays are sparse (one entry per sample and distinct token), and the work is done by NumPy: these
problems are small or solved once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array, diags_array

from lemmata.tokens import TokenData

Cells = Float[np.ndarray, "cells"]
Entries = Float[np.ndarray, "entries"]
Design = Float[np.ndarray, "cells variables"]
Point = Float[np.ndarray, "variables"]

FEW_CELLS = 300
"""Up to so many, a matrix over cells is small."""


def normalized(log_weight: Float[np.ndarray, "samples"]) -> Float[np.ndarray, "samples"]:
    """Logarithms of weights that add up to 1."""
    return log_weight - np.logaddexp.reduce(log_weight) if len(log_weight) else log_weight


@dataclass(frozen=True)
class Risk:
    """The entries (sample, distinct token) of a dataset, sorted by sample.

    Attributes:
        sample, cell: which sample an entry belongs to, and which cell gives its logit.
        log_multiplicity: how often the token occurs in the sample.
        label, tied: whether the token is the label, or tied with it.
        log_weight: the logarithm of the share of each sample in the risk.
        cells: the number of cells.
    """

    sample: Int[np.ndarray, "entries"]
    cell: Int[np.ndarray, "entries"]
    log_multiplicity: Entries
    label: Bool[np.ndarray, "entries"]
    tied: Bool[np.ndarray, "entries"]
    log_weight: Float[np.ndarray, "samples"]
    cells: int

    @classmethod
    def of(
        cls,
        data: TokenData,
        cells: Mapping[tuple[int, int], int],
        tied: Sequence[frozenset[int]],
        log_weight: Float[np.ndarray, "samples"] | None = None,
    ) -> "Risk":
        """``tied[i]`` are the tokens of sample i that are tied with its label.

        Without ``log_weight`` the counts of the samples say how much each of them matters.
        """
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
            np.log(data.frequencies) if log_weight is None else log_weight,
            len(cells),
        )

    @cached_property
    def weight(self) -> Float[np.ndarray, "samples"]:
        """The share of each sample; 0 for one that is too rare for floating point."""
        return np.exp(self.log_weight)

    @cached_property
    def start(self) -> Int[np.ndarray, "samples"]:
        """Where each sample's entries begin."""
        return np.searchsorted(self.sample, np.arange(len(self.log_weight)))

    @cached_property
    def choice(self) -> Bool[np.ndarray, "samples"]:
        """Which samples hold another token that is tied with their label."""
        return np.add.reduceat(self.tied.astype(int), self.start) > 1

    def tied_only(self) -> "Risk":
        """The risk of the cyclic subdata: only tied tokens, and only samples with a choice."""
        choice = self.choice
        keep = self.tied & choice[self.sample]
        number = np.cumsum(choice) - 1
        return Risk(
            number[self.sample[keep]],
            self.cell[keep],
            self.log_multiplicity[keep],
            self.label[keep],
            self.tied[keep],
            normalized(self.log_weight[choice]),
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
        return float(self.log_values(logits))

    def log_values(
        self, logits: Float[np.ndarray, "*points cells"]
    ) -> Float[np.ndarray, "*points"]:
        """The same at many points at once."""
        if not len(self.log_weight):
            return np.full(logits.shape[:-1], -np.inf)
        slots = self.log_multiplicity + logits[..., self.cell]
        right = slots[..., self.label][..., self.sample]
        ahead = np.where(self.label, -np.inf, slots - right)
        top = np.maximum.reduceat(ahead, self.start, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.exp(ahead - np.where(np.isfinite(top), top, 0.0)[..., self.sample])
            odds = top + np.log(np.add.reduceat(powers, self.start, axis=-1))
            odds = np.where(np.isfinite(top), odds, -np.inf)
            small = odds < -40
            losses = np.where(small, odds, np.log(np.logaddexp(0, np.where(small, 0, odds))))
        return np.asarray(np.logaddexp.reduce(self.log_weight + losses, axis=-1))

    def gradient(
        self, masses: Entries, counted: Bool[np.ndarray, "entries"] | None = None
    ) -> Cells:
        """The sum over the wrong tokens, or only the counted ones, of mass times (e_x - e_y)."""
        return self.pull(masses * self.weight[self.sample], counted)

    def pull(self, shares: Entries, counted: Bool[np.ndarray, "entries"] | None = None) -> Cells:
        """The same with masses that are weighted already."""
        wrong = ~self.label if counted is None else counted & ~self.label
        share = np.where(wrong, shares, 0.0)
        total = np.add.reduceat(share, self.start)
        share = share - np.where(self.label, total[self.sample], 0.0)
        return np.bincount(self.cell, share, self.cells)

    def mass_matrix(self, masses: Entries) -> csr_array:
        """Masses as a sparse matrix, one row a sample."""
        shape = (len(self.log_weight), self.cells)
        return csr_array((masses, (self.sample, self.cell)), shape=shape)

    def coupling(self, masses: Entries) -> csr_array | Float[np.ndarray, "cells cells"]:
        """The Hessian in the logits of the cells.

        Between two cells it is minus the mean product of their masses. Rows add up to 0, so the
        diagonal is a sum of such products, too: it stays right where a mass has rounded to 1.
        """
        if self.cells <= FEW_CELLS:
            dense = np.zeros((len(self.weight), self.cells))
            dense[self.sample, self.cell] = masses
            pairs = dense.T @ (self.weight[:, None] * dense)
            np.fill_diagonal(pairs, 0.0)
            return np.diag(pairs.sum(axis=1)) - pairs
        matrix = self.mass_matrix(masses)
        products = (matrix.T @ matrix.multiply(self.weight[:, None])).tocsr()
        others = products - diags_array(products.diagonal())
        return csr_array(diags_array(np.asarray(others.sum(axis=1)).ravel()) - others)

    def hessian(self, masses: Entries, design: Design) -> Float[np.ndarray, "variables variables"]:
        """The covariance of the design under the masses, averaged over the samples."""
        return design.T @ (self.coupling(masses) @ design)

    def slope_size(self, masses: Entries) -> Cells:
        """What the gradient is made of: the same sums without signs."""
        share = np.where(self.label, 0.0, masses) * self.weight[self.sample]
        total = np.add.reduceat(share, self.start)
        share = np.where(self.label, total[self.sample], share)
        return np.bincount(self.cell, share, self.cells)
