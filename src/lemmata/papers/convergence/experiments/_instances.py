"""Where datasets come from."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from lemmata.claims import AbstractInstances, Scale

from ..setting import Dataset, Generator, generate, realizable_sentences


@dataclass(frozen=True)
class Fixed(AbstractInstances):
    """Datasets made by hand."""

    datasets: tuple[Dataset, ...]

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        return self.datasets

    @property
    def says(self) -> str:
        return ", ".join(dataset.name for dataset in self.datasets)


@dataclass(frozen=True)
class Drawn(AbstractInstances):
    """So many random datasets of a recipe; at the paper's scale perhaps more."""

    recipe: Generator
    count: int
    paper_count: int | None = None

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        more = self.paper_count if scale == "paper" else None
        return generate(self.recipe, more or self.count, seed)

    @property
    def says(self) -> str:
        changed = ", ".join(
            f"{knob.name}={getattr(self.recipe, knob.name)}"
            for knob in fields(self.recipe)
            if getattr(self.recipe, knob.name) != knob.default
        )
        count = (
            f"{self.count}" if self.paper_count is None else f"{self.count} to {self.paper_count}"
        )
        return f"{count} of {type(self.recipe).__name__}({changed})"


@dataclass(frozen=True)
class SmallSentences(AbstractInstances):
    """All small prefix-closed realizable datasets, up to names of tokens."""

    tokens: int
    longest: int

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        data = realizable_sentences(self.tokens, self.longest)
        return [Dataset(f"sentences {i}", each) for i, each in enumerate(data)]

    @property
    def says(self) -> str:
        return (
            f"all prefix-closed realizable data with up to {self.tokens} tokens and inputs of up "
            f"to {self.longest}"
        )


@dataclass(frozen=True)
class Part(AbstractInstances):
    """Some datasets out of many that are trained together, so that it is done once."""

    some: AbstractInstances
    whole: AbstractInstances

    def draw(self, seed: int, scale: Scale) -> Sequence[Dataset]:
        return self.some.draw(seed, scale)

    @property
    def says(self) -> str:
        return self.some.says
