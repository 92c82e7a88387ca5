"""The task STS_q: average the q tokens that a subset names (Definition 2.1)."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from lemmata._errors import InputError

MOST_SUBSETS = 3_000_000
"""Exact averages run over all subsets; more than this is for sampling."""


@dataclass(frozen=True)
class Task:
    """T Gaussian tokens in d dimensions, and a uniform q-subset of positions.

    The target is the mean of the chosen tokens; predicting zero costs d / (2q).
    """

    T: int
    q: int
    d: int

    def __post_init__(self) -> None:
        for name in ("T", "q", "d"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} must be a positive whole number; got {value!r}")
        if self.q > self.T:
            raise InputError(f"q = {self.q} positions cannot be chosen out of T = {self.T}")

    def require_rest(self, where: str) -> None:
        """Refuse a task whose subset is everything: there is nothing to tell apart."""
        if self.q == self.T:
            raise InputError(
                f"{where}: q = T = {self.T} leaves no position to ignore; choose q < T"
            )

    @property
    def zero_loss(self) -> float:
        """The loss of the zero predictor, with the 1/2 of Eq. (3)."""
        return self.d / (2 * self.q)

    @property
    def subset_count(self) -> int:
        """How many subsets there are."""
        return math.comb(self.T, self.q)

    def all_subsets(self) -> Int[np.ndarray, "subsets q"]:
        """Every subset, in lexicographic order."""
        if self.subset_count > MOST_SUBSETS:
            raise InputError(
                f"{self.subset_count} subsets of size {self.q} of {self.T} positions are too many "
                f"to go through one by one (at most {MOST_SUBSETS})"
            )
        return np.array(list(combinations(range(self.T), self.q)), dtype=np.int64)

    def draw_subsets(self, count: int, draw: np.random.Generator) -> Int[np.ndarray, "count q"]:
        """Independent uniform subsets."""
        keys = draw.random((count, self.T))
        return np.sort(np.argpartition(keys, self.q - 1, axis=1)[:, : self.q], axis=1)

    def some_subsets(self, most: int, draw: np.random.Generator) -> Int[np.ndarray, "subsets q"]:
        """Every subset, or so many random ones if there are more."""
        few = self.subset_count <= most
        return self.all_subsets() if few else self.draw_subsets(most, draw)

    def draw_tokens(self, count: int, draw: np.random.Generator) -> Float[np.ndarray, "count d T"]:
        """Independent Gaussian token matrices X."""
        return draw.standard_normal((count, self.d, self.T))

    def indicators(self, y: Int[np.ndarray, "subsets q"]) -> Float[np.ndarray, "subsets T"]:
        """The q-hot vectors Y."""
        Y = np.zeros((len(y), self.T))
        np.put_along_axis(Y, y, 1.0, axis=1)
        return Y


def select_tokens(
    X: Float[np.ndarray, "samples d T"], y: Int[np.ndarray, "samples q"]
) -> Float[np.ndarray, "samples d"]:
    """STS_q(X, y), the mean of the chosen tokens."""
    return np.take_along_axis(X, y[:, None, :], axis=2).mean(axis=2)
