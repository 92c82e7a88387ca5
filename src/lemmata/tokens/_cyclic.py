"""Inside a component: which tokens of a sample are tied with its label, and what is left of it."""

from collections.abc import Mapping
from dataclasses import replace

from ._data import Sample, TokenData
from ._priority import PriorityGraph


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


def cyclic_subdata(data: TokenData, graphs: Mapping[int, PriorityGraph]) -> TokenData:
    """The samples with another token tied with their label, reduced to the tied tokens (Eq. 5).

    The query of a reduced sample is the last token of the original one, which may itself be gone.
    """
    found = []
    for sample in data.samples:
        graph = graphs[sample.query]
        if graph.acyclic:
            continue
        kept = tuple(sample.tokens[t] for t in tied_positions(sample, graph))
        if sample.label in kept and any(token != sample.label for token in kept):
            found.append(replace(sample, tokens=kept, asked_by=sample.query))
    return TokenData(data.vocabulary, tuple(found))
