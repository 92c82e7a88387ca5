"""Inside a component: which tokens of a sample are tied with its label, and what is left of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lemmata.tokens._data import Sample, TokenData
from lemmata.tokens._priority import PriorityGraph


@dataclass(frozen=True)
class CyclicSample:
    """What is left of a sample when only tokens tied with its label remain.

    The query is the last token of the *original* sample, which may itself be gone.
    """

    sample: int
    tokens: tuple[int, ...]
    query: int
    label: int


def label_positions(sample: Sample) -> list[int]:
    """O_i: the positions that hold the label (Eq. 4 of the mechanics paper)."""
    return [t for t, token in enumerate(sample.tokens) if token == sample.label]


def tied_positions(sample: Sample, graph: PriorityGraph) -> list[int]:
    """R_i: the positions whose token is in the label's component (Eq. 4)."""
    component = graph.component_of
    own = component.get(sample.label)
    return [
        t
        for t, token in enumerate(sample.tokens)
        if token == sample.label or (own is not None and component.get(token) == own)
    ]


def cyclic_subdata(
    data: TokenData, graphs: Mapping[int, PriorityGraph]
) -> tuple[CyclicSample, ...]:
    """The samples with another token tied with their label, reduced to the tied tokens (Eq. 5)."""
    found = []
    for number, sample in enumerate(data.samples):
        graph = graphs[sample.query]
        if graph.acyclic:
            continue
        kept = tuple(sample.tokens[t] for t in tied_positions(sample, graph))
        if sample.label in kept and any(token != sample.label for token in kept):
            found.append(CyclicSample(number, kept, sample.query, sample.label))
    return tuple(found)
