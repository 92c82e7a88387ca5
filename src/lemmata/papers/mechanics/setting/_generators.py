"""Random datasets, drawn as the authors' experiments draw them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name
from lemmata.tokens import random_orthonormal_embeddings

from ._dataset import Dataset

KINDS = ("acyclic", "cyclic", "any")
LABELS = ("uniform", "priority")

MOST_DRAWS = 10_000
"""Datasets to try before concluding that there is none of the wanted kind."""


def equicorrelated(K: int, rho: float) -> Float[np.ndarray, "tokens tokens"]:
    """Unit vectors with e_i^T e_j = rho for i != j; nothing depends on how they are turned.

    Examples:
        >>> E = equicorrelated(3, 0.5)
        >>> bool(np.allclose(E @ E.T, [[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]))
        True
    """
    if not (K == 1 or -1 / (K - 1) <= rho <= 1):
        raise InputError(
            f"{K} unit vectors cannot all have the correlation {rho:g}: it is between "
            f"{-1 / max(K - 1, 1):.4g} and 1"
        )
    mean = np.full((K, K), 1 / K)
    along, across = np.sqrt(max(1 + (K - 1) * rho, 0.0)), np.sqrt(1 - rho)
    return along * mean + across * (np.eye(K) - mean)


@dataclass(frozen=True)
class Recipe:
    """How to draw a dataset.

    W(0) is uniform in +-1/sqrt(d).

    Attributes:
        K: how many tokens there are.
        d: the dimension of their embeddings.
        n: how many samples there are.
        T: how long their sequences are.
        kind: datasets are drawn until one is of this kind.
        labels: ``uniform`` over the sequence, which is what the authors' program does;
            ``priority`` takes the highest of a random order per last token, which is what their
            text says about acyclic data.
        rho: None for embeddings that are uniform on the unit sphere; otherwise unit vectors with
            this correlation, in a random orientation: 0 for orthonormal ones.
        repeated: whether the tokens of a sequence are drawn independently, so that some occur
            several times and T may exceed K; otherwise they are distinct.
        one_last: whether every sequence ends in token 0, so that there is one graph.
    """

    K: int = 8
    d: int = 8
    n: int = 4
    T: int = 6
    kind: str = "any"
    labels: str = "uniform"
    rho: float | None = None
    repeated: bool = False
    one_last: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(unknown_name("kind of data", self.kind, KINDS))
        if self.labels not in LABELS:
            raise InputError(unknown_name("choice of labels", self.labels, LABELS))

    @property
    def says(self) -> str:
        """The sizes, in words."""
        kind = "" if self.kind == "any" else f"{self.kind} "
        further = [
            "labels by priority" if self.labels == "priority" else "",
            "" if self.rho is None else f"embeddings of correlation {self.rho:g}",
            "repeated tokens" if self.repeated else "",
            "one last token" if self.one_last else "",
        ]
        sizes = [f"K = {self.K}", f"d = {self.d}", f"n = {self.n}", f"T = {self.T}"]
        return f"random {kind}datasets ({', '.join(word for word in sizes + further if word)})"

    def draw(self, name: str, generator: np.random.Generator) -> Dataset:
        """One dataset."""
        if min(self.K, self.d, self.n, self.T) < 1 or (self.T > self.K and not self.repeated):
            raise InputError(
                f"cannot draw {self}: need positive sizes, and at most K tokens in a sequence "
                "unless they are repeated"
            )
        embeddings = self._embeddings(generator)
        start = generator.uniform(-1, 1, (self.d, self.d)) / np.sqrt(self.d)
        for _ in range(MOST_DRAWS):
            sequences = [self._sequence(generator) for _ in range(self.n)]
            labels = self._labels(sequences, generator)
            dataset = Dataset.from_samples(name, sequences, labels, embeddings, start)
            if self.kind == "any" or dataset.acyclic == (self.kind == "acyclic"):
                return dataset
        raise InputError(f"{self}: no {self.kind} dataset in {MOST_DRAWS:,} draws")

    def _embeddings(self, generator: np.random.Generator) -> Float[np.ndarray, "tokens dimension"]:
        if self.rho is not None:
            turned = random_orthonormal_embeddings(self.K, self.d, generator)
            return equicorrelated(self.K, self.rho) @ turned
        embeddings = generator.standard_normal((self.K, self.d))
        return embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)

    def _sequence(self, generator: np.random.Generator) -> list[int]:
        if self.repeated:
            tokens = generator.integers(self.K, size=self.T).tolist()
        else:
            tokens = generator.permutation(self.K)[: self.T].tolist()
        if not self.one_last:
            return tokens
        others = tokens if self.repeated else [token for token in tokens if token]
        return [*others[: self.T - 1], 0]

    def _labels(self, sequences: list[list[int]], generator: np.random.Generator) -> list[int]:
        if self.labels == "uniform":
            return [sequence[int(generator.integers(len(sequence)))] for sequence in sequences]
        rank: Float[np.ndarray, "queries tokens"] = generator.random((self.K,) * 2)
        return [max(sequence, key=lambda x: rank[sequence[-1], x]) for sequence in sequences]


ACYCLIC = Recipe(8, 8, 4, 6, "acyclic")
"""Figure 3."""

CYCLIC = Recipe(6, 8, 6, 4, "cyclic")
"""Figure 4."""

LOCAL = Recipe(8, 8, 4, 6, "cyclic")
"""Figures 5 and 6."""


def generate(recipe: Recipe, count: int, seed: int) -> list[Dataset]:
    """``count`` independent datasets; dataset i depends on the seed and on i alone."""
    return [
        recipe.draw(f"{recipe.kind}-{recipe.K}-{seed}.{i}", np.random.default_rng([seed, i]))
        for i in range(count)
    ]
