"""Random datasets, drawn as the authors' experiments draw them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name

from ._dataset import Dataset

KINDS = ("acyclic", "cyclic", "any")
LABELS = ("uniform", "priority")

MOST_DRAWS = 10_000
"""Datasets to try before concluding that there is none of the wanted kind."""


@dataclass(frozen=True)
class Recipe:
    """How to draw a dataset.

    Embeddings are uniform on the unit sphere, the tokens of a sequence are distinct, and W(0) is
    uniform in +-1/sqrt(d).

    Attributes:
        vocabulary: K.
        dimension: d.
        samples: n.
        length: T.
        kind: datasets are drawn until one is of this kind.
        labels: ``uniform`` over the sequence, which is what the authors' program does;
            ``priority`` takes the highest of a random order per last token, which is what their
            text says about acyclic data.
    """

    vocabulary: int = 8
    dimension: int = 8
    samples: int = 4
    length: int = 6
    kind: str = "any"
    labels: str = "uniform"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(unknown_name("kind of data", self.kind, KINDS))
        if self.labels not in LABELS:
            raise InputError(unknown_name("choice of labels", self.labels, LABELS))

    @property
    def says(self) -> str:
        """The sizes, in words."""
        kind = "" if self.kind == "any" else f"{self.kind} "
        order = ", labels by priority" if self.labels == "priority" else ""
        return (
            f"random {kind}datasets (K = {self.vocabulary}, d = {self.dimension}, "
            f"n = {self.samples}, T = {self.length}{order})"
        )

    def draw(self, name: str, generator: np.random.Generator) -> Dataset:
        """One dataset."""
        K, d, n, T = self.vocabulary, self.dimension, self.samples, self.length
        if min(K, d, n, T) < 1 or T > K:
            raise InputError(f"cannot draw {self}: need positive sizes and at most K tokens")
        embeddings = generator.standard_normal((K, d))
        embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
        start = generator.uniform(-1, 1, (d, d)) / np.sqrt(d)
        for _ in range(MOST_DRAWS):
            sequences = [generator.permutation(K)[:T].tolist() for _ in range(n)]
            labels = self._labels(sequences, generator)
            dataset = Dataset.from_samples(name, sequences, labels, embeddings, start)
            if self.kind == "any" or dataset.acyclic == (self.kind == "acyclic"):
                return dataset
        raise InputError(f"{self}: no {self.kind} dataset in {MOST_DRAWS:,} draws")

    def _labels(self, sequences: list[list[int]], generator: np.random.Generator) -> list[int]:
        if self.labels == "uniform":
            return [sequence[int(generator.integers(len(sequence)))] for sequence in sequences]
        rank: Float[np.ndarray, "queries tokens"] = generator.random((self.vocabulary,) * 2)
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
        recipe.draw(
            f"{recipe.kind}-{recipe.vocabulary}-{seed}.{i}", np.random.default_rng([seed, i])
        )
        for i in range(count)
    ]
