"""What the proof of Lemma 4 speaks of: attention and risk with the part in S_cyc frozen."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from ..setting import Dataset
from ._points import At, tied_weights
from ._restricted import other_direction, worst_margin

Matrix = Float[np.ndarray, "dimension dimension"]
Samples = Float[np.ndarray, "samples"]

SIZES = (1.0, 30.0)
"""Of the logits of W^∥."""

RADII = (1.0, 5.0, 20.0)
DIRECTIONS = 4


@dataclass(frozen=True)
class Frozen:
    """A dataset with W^∥ in S_cyc; sums are kept as logarithms, one a sample."""

    dataset: Dataset
    inside: Matrix

    @cached_property
    def logits(self) -> Float[np.ndarray, "entries"]:
        """b, the logits of W^∥ at every distinct token."""
        return At(self.dataset, self.inside).logits[self.dataset.risk.cell]

    def _sum(self, kept: np.ndarray) -> Samples:
        risk = self.dataset.risk
        frozen = risk.log_multiplicity + self.logits
        return np.logaddexp.reduceat(np.where(kept, frozen, -np.inf), risk.start)

    @cached_property
    def log_c(self) -> Samples:
        """log Σ_{O_i} e^b."""
        return self._sum(self.dataset.risk.label)

    @cached_property
    def log_d(self) -> Samples:
        """log Σ_{R_i} e^b."""
        return self._sum(self.dataset.risk.tied)

    @cached_property
    def log_rest(self) -> Samples:
        """The log of the sum of e^b over the complement of R_i."""
        return self._sum(~self.dataset.risk.tied)

    def largest(self, over: str) -> float:
        """b̄, over the positions of R_i as printed or over all."""
        kept = self.logits[self.dataset.risk.tied] if over == "ties" else self.logits
        return float(np.abs(kept).max())

    def log_outside(self, weights: Matrix) -> Samples:
        """log of what the complement of R_i adds to d_i: attention on the label is c / (d + it)."""
        risk = self.dataset.risk
        masses = risk.log_masses(At(self.dataset, weights + self.inside).logits)
        inner = np.logaddexp.reduceat(np.where(risk.tied, masses, -np.inf), risk.start)
        outer = np.logaddexp.reduceat(np.where(risk.tied, -np.inf, masses), risk.start)
        return self.log_d + outer - inner

    def log_gaps(self, weights: Matrix) -> Samples:
        """log(γ_i^max − γ_i), which is γ_i^max times the attention outside R_i."""
        outside = self.log_outside(weights)
        return self.log_c - self.log_d + outside - np.logaddexp(self.log_d, outside)


def frozen_rows(dataset: Dataset) -> Iterator[dict[str, float]]:
    """Both sides of the displays of Step 3 at several R W' and R W^mm, and of Step 1.

    Excess risks are those of l(u) = -u; sample i has the margin that W' misses most, j the largest
    gap at R W^mm.
    """
    for number in range(DIRECTIONS):
        other = other_direction(dataset, number, dataset.free_basis)
        for size in SIZES:
            frozen = Frozen(dataset, size * tied_weights(dataset, number))
            for R in RADII:
                yield frozen_row(frozen, other, R)


def frozen_row(frozen: Frozen, other: Matrix, R: float) -> dict[str, float]:
    """One of these."""
    dataset = frozen.dataset
    weight, T = dataset.risk.log_weight, dataset.data.longest_input
    margin, i = worst_margin(dataset, other)
    best, there = R * dataset.target, frozen.log_outside(R * other)
    gaps = frozen.log_gaps(best)
    some = np.flatnonzero(np.isfinite(frozen.log_rest))
    j = int(np.argmax(gaps))
    highest = some[np.argmax(frozen.log_outside(best)[some] - frozen.log_rest[some])]
    row = {
        "size": 1 + R + frozen.largest("all"),
        "outside_other": there[i],
        "outside_other_middle": frozen.log_rest[i] - margin * R,
        "outside_best": frozen.log_outside(best)[highest],
        "outside_best_middle": frozen.log_rest[highest] - R,
        "outside_best_most": float(frozen.log_outside(best).max()),
        "excess_other": float(np.logaddexp.reduce(frozen.log_gaps(R * other) + weight)),
        "excess_best": float(np.logaddexp.reduce(gaps + weight)),
    }
    for over in ("ties", "all"):
        b = frozen.largest(over)
        share = -margin * R - b - frozen.log_d[i]
        row |= {
            f"outside_other_{over}": -margin * R - b,
            f"outside_best_{over}": np.log(T) - R + b,
            f"excess_other_{over}": frozen.log_c[i]
            - frozen.log_d[i]
            - dataset.log_total
            + share
            - np.logaddexp(0, share),
            f"excess_best_{over}": frozen.log_c[j] - 2 * frozen.log_d[j] + np.log(T) - R + b,
        }
    return row
