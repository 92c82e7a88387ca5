"""Which tokens attention selects in the mechanics of next-token prediction, read off word by word.

Sections 3.1 and 4: graphs, ties, O, R, I, and the reduced samples. A dataset is a list of
(sequence, label) pairs; everything follows from the transitive closure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oracles.graphs import closure

Row = tuple[tuple[int, ...], int]
Edge = tuple[int, int]


def realizable(rows: Sequence[Row]) -> list[Row]:
    """The samples whose label occurs in them."""
    return [(tokens, label) for tokens, label in rows if label in tokens]


def edges(rows: Sequence[Row], query: int) -> set[Edge]:
    """label -> every other token, over the samples that end in the query."""
    return {
        (label, token)
        for tokens, label in realizable(rows)
        if tokens[-1] == query
        for token in tokens
        if token != label
    }


def tied(rows: Sequence[Row], query: int, a: int, b: int) -> bool:
    """a ~ b under the query: the same token, or each reaches the other."""
    found = edges(rows, query)
    reach = closure({x for edge in found for x in edge}, found)
    return a == b or ((a, b) in reach and (b, a) in reach)


def strict(rows: Sequence[Row], query: int) -> set[Edge]:
    """a => b: an edge whose loser does not reach its winner."""
    return {(a, b) for a, b in edges(rows, query) if not tied(rows, query, a, b)}


@dataclass(frozen=True)
class Reduced:
    """A sample of the cyclic subdata: its number, what is left of it, and the old query."""

    sample: int
    tokens: tuple[int, ...]
    query: int
    label: int


def label_positions(row: Row) -> list[int]:
    """O."""
    return [t for t, token in enumerate(row[0]) if token == row[1]]


def tied_positions(rows: Sequence[Row], row: Row) -> list[int]:
    """R."""
    tokens, label = row
    return [t for t, token in enumerate(tokens) if tied(rows, tokens[-1], token, label)]


def reduce(rows: Sequence[Row]) -> list[Reduced]:
    """Eq. (5): samples with more tied positions than label positions, tied tokens only."""
    found = []
    for number, row in enumerate(rows):
        tokens, label = row
        own, both = label_positions(row), tied_positions(rows, row)
        if own and len(both) > len(own):
            found.append(Reduced(number, tuple(tokens[t] for t in both), tokens[-1], label))
    return found
