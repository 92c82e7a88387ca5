"""Token-priority graphs: under a last token, which token beats which.

A dataset says, for each input, which tokens should be *selected*. A selected token beats the
other tokens of its input under the input's last token; the facts for one last token form a
directed graph. What "selected" means is the papers' business: the label itself, or the label's
preimage under a collocation.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ._data import TokenData

Edge = tuple[int, int]

FEW_EDGES = 32
"""Graphs with no more are remembered."""


@dataclass(frozen=True)
class PriorityGraph:
    """Who beats whom under one last token.

    Attributes:
        query: the last token.
        nodes: the tokens that occur in inputs with this last token.
        evidence: each edge (winner, loser) with the index of the first sample that says so.
    """

    query: int
    nodes: tuple[int, ...]
    evidence: dict[Edge, int]

    @cached_property
    def edges(self) -> list[Edge]:
        """All (winner, loser) pairs, sorted."""
        return sorted(self.evidence)

    @cached_property
    def components(self) -> list[list[int]]:
        """Strongly connected components, the winning ones first."""
        return [component for layer in self.layers for component in layer]

    @cached_property
    def layers(self) -> list[list[list[int]]]:
        """The components by the length of the longest chain above them."""
        edges = tuple(self.edges)
        find = _layers_of_few if len(edges) <= FEW_EDGES else _layers
        return [[list(component) for component in layer] for layer in find(self.nodes, edges)]

    @cached_property
    def component_of(self) -> dict[int, int]:
        """The number of each token's component, counted from the winning ones."""
        return {token: i for i, tied in enumerate(self.components) for token in tied}

    @cached_property
    def strict_edges(self) -> list[Edge]:
        """The pairs i => j: an edge whose loser does not reach its winner."""
        component = self.component_of
        return [(a, b) for a, b in self.edges if component[a] != component[b]]

    def condensation(self) -> tuple[list[Edge], dict[int, int], dict[int, int]]:
        """The components as nodes, each named by its first token.

        Returns the edges between them, how many tokens each has, and its depth: the length of the
        longest chain above it.
        """
        first = {token: tied[0] for tied in self.components for token in tied}
        edges = sorted({(first[a], first[b]) for a, b in self.strict_edges})
        sizes = {tied[0]: len(tied) for tied in self.components}
        depth = {tied[0]: level for level, layer in enumerate(self.layers) for tied in layer}
        return edges, sizes, depth

    @cached_property
    def acyclic(self) -> bool:
        """Whether no token beats itself through others."""
        return all(len(component) == 1 for component in self.components)

    def cycle(self) -> list[int] | None:
        """A shortest walk x > ... > x through the first tied component, or None."""
        tied = next((c for c in self.components if len(c) > 1), None)
        if tied is None:
            return None
        inside = set(tied)
        for winner, loser in self.edges:
            if winner in inside and (loser, winner) in self.evidence:
                return [winner, loser, winner]
        beats: dict[int, list[int]] = {token: [] for token in tied}
        for winner, loser in self.edges:
            if winner in inside and loser in inside:
                beats[winner].append(loser)
        walks = [_shortest_return(beats, token) for token in tied]
        return min(walks, key=len)


def priority_graphs(
    data: TokenData, selected: Sequence[AbstractSet[int]], *, mutual: bool = False
) -> dict[int, PriorityGraph]:
    """One graph per last token; ``selected[i]`` are the tokens that sample i should attend to.

    A sample whose selected tokens do not occur in it contributes nodes and no edges. If
    ``mutual``, tokens that are selected together also beat each other.
    """
    nodes: dict[int, set[int]] = {}
    evidence: dict[int, dict[Edge, int]] = {}
    for number, (sample, chosen) in enumerate(zip(data.samples, selected, strict=True)):
        present = set(sample.tokens)
        nodes.setdefault(sample.query, set()).update(present)
        facts = evidence.setdefault(sample.query, {})
        for winner in sorted(chosen & present):
            for loser in sorted(present if mutual else present - chosen):
                if winner != loser:
                    facts.setdefault((winner, loser), number)
    return {
        query: PriorityGraph(query, tuple(sorted(nodes[query])), evidence[query])
        for query in sorted(nodes)
    }


def _layers(nodes: tuple[int, ...], edges: tuple[Edge, ...]) -> list[list[list[int]]]:
    """Strongly connected components by depth."""
    if not nodes:
        return []
    position = {token: i for i, token in enumerate(nodes)}
    winners, losers = ([position[edge[end]] for edge in edges] for end in (0, 1))
    n = len(nodes)
    adjacency = coo_array((np.ones(len(winners)), (winners, losers)), shape=(n, n))
    count, found = connected_components(adjacency, directed=True, connection="strong")
    label: list[int] = found.tolist()
    members: list[list[int]] = [[] for _ in range(count)]
    for token, component in zip(nodes, label, strict=True):
        members[component].append(token)
    depth = _depths(count, {(label[a], label[b]) for a, b in zip(winners, losers, strict=True)})
    layers: list[list[list[int]]] = [[] for _ in range(max(depth) + 1)]
    for component, tokens in enumerate(members):
        layers[depth[component]].append(sorted(tokens))
    return [sorted(layer) for layer in layers]


_layers_of_few = lru_cache(maxsize=4096)(_layers)
"""A search over small data meets the same small graphs again and again."""


def _depths(count: int, edges: set[tuple[int, int]]) -> list[int]:
    """The longest path from a source to each node of the condensation."""
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for winner, loser in edges:
        if winner != loser:
            below[winner].append(loser)
            waiting[loser] += 1
    depth = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    while ready:
        node = ready.pop()
        for other in below[node]:
            depth[other] = max(depth[other], depth[node] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return depth


def _shortest_return(beats: dict[int, list[int]], start: int) -> list[int]:
    """Breadth-first from ``start`` back to itself; the component is strongly connected."""
    paths = [[start]]
    seen: set[int] = set()
    while True:
        longer = []
        for path in paths:
            for other in beats[path[-1]]:
                if other == start:
                    return [*path, start]
                if other not in seen:
                    seen.add(other)
                    longer.append([*path, other])
        paths = longer
