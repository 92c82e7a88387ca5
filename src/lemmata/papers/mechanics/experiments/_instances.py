"""Where the datasets of the experiments come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lemmata.claims import AbstractInstances, Scale, Several

from ..counterexamples import chain, cycle_above_last, figure_2, purely_cyclic
from ..setting import ACYCLIC, CYCLIC, Dataset, Recipe, generate

BALANCED = 1e-6
"""Ties whose W^cyc is smaller are balanced, and would test nothing."""

Only = Literal["all", "unbalanced", "infeasible"]

FITS: dict[Only, tuple[Callable[[Dataset], bool], int, str]] = {
    "all": (lambda dataset: True, 1, ""),
    "unbalanced": (lambda dataset: dataset.correction.norm > BALANCED, 6, " with W^cyc != 0"),
    "infeasible": (lambda dataset: not dataset.feasible, 4, " with Graph-SVM infeasible"),
}
"""Which datasets are kept, how many are drawn for each, and how that is said."""


@dataclass(frozen=True)
class Random(AbstractInstances):
    """The first ``count`` datasets of a recipe that fit."""

    recipe: Recipe
    count: int
    only: Only = "all"

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        fits, spare, _ = FITS[self.only]
        drawn = generate(self.recipe, self.count * spare, seed)
        return [dataset for dataset in drawn if fits(dataset)][: self.count]

    @property
    def says(self) -> str:
        return f"{self.count} {self.recipe.says}{FITS[self.only][2]}"


@dataclass(frozen=True)
class Repeated(AbstractInstances):
    """Sequences in which tokens occur several times."""

    count: int
    tokens: int = 5
    dimension: int = 6
    samples: int = 6
    length: int = 6

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        return [self._one(seed, i) for i in range(self.count)]

    def _one(self, seed: int, i: int) -> Dataset:
        draw = np.random.default_rng([seed, i, 7])
        embeddings = draw.standard_normal((self.tokens, self.dimension))
        sequences = draw.integers(0, self.tokens, (self.samples, self.length)).tolist()
        labels = [sequence[int(draw.integers(self.length))] for sequence in sequences]
        return Dataset.from_samples(f"repeated-{seed}.{i}", sequences, labels, embeddings)

    @property
    def says(self) -> str:
        return f"{self.count} datasets with repeated tokens"


@dataclass(frozen=True)
class Unreachable(AbstractInstances):
    """Single samples whose label is not in their sequence."""

    count: int

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        drawn = []
        for i, dataset in enumerate(generate(Recipe(8, 8, 1, 5), self.count, seed)):
            (sample,) = dataset.data.samples
            label = next(token for token in range(8) if token not in sample.tokens)
            name = f"unreachable-{seed}.{i}"
            drawn.append(Dataset.from_samples(name, [sample.tokens], [label], dataset.E))
        return drawn

    @property
    def says(self) -> str:
        return f"{self.count} single samples (K = d = 8, T = 5) without their label"


@dataclass(frozen=True)
class Examples(AbstractInstances):
    """Datasets made by hand."""

    makers: tuple[Callable[[], Dataset], ...]

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        return [make() for make in self.makers]

    @property
    def says(self) -> str:
        return f"the examples {', '.join(dataset.name for dataset in self.draw(0, 'quick'))}"


EXAMPLES = Examples((figure_2, chain, cycle_above_last, purely_cyclic))


def mixture(tied: int, acyclic: int) -> AbstractInstances:
    """Cyclic and acyclic datasets."""
    return Several((Random(CYCLIC, tied, "unbalanced"), Random(ACYCLIC, acyclic)))
