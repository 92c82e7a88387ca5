"""Directed graphs by brute force: everything follows from the transitive closure."""

from collections.abc import Iterable
from itertools import pairwise, permutations

Edge = tuple[int, int]


def closure(nodes: Iterable[int], edges: Iterable[Edge]) -> set[Edge]:
    """All (a, b) with a path from a to b of at least one edge (Warshall)."""
    reach = set(edges)
    nodes = list(nodes)
    for middle in nodes:
        for a in nodes:
            for b in nodes:
                if (a, middle) in reach and (middle, b) in reach:
                    reach.add((a, b))
    return reach


def components(nodes: Iterable[int], edges: Iterable[Edge]) -> set[frozenset[int]]:
    """Strongly connected components: nodes that reach each other."""
    nodes = list(nodes)
    reach = closure(nodes, edges)
    return {
        frozenset({a} | {b for b in nodes if (a, b) in reach and (b, a) in reach}) for a in nodes
    }


def has_cycle(nodes: Iterable[int], edges: Iterable[Edge]) -> bool:
    """Whether some node reaches itself."""
    return any(a == b for a, b in closure(nodes, edges))


def shortest_cycle(nodes: Iterable[int], edges: Iterable[Edge]) -> int | None:
    """The length of a shortest cycle, over all orderings of all subsets."""
    nodes, edges = list(nodes), set(edges)
    for length in range(1, len(nodes) + 1):
        for ring in permutations(nodes, length):
            if edges.issuperset(pairwise((*ring, ring[0]))):
                return length
    return None


def chain_above(component: frozenset[int], nodes: Iterable[int], edges: Iterable[Edge]) -> int:
    """The number of other components on a longest chain that ends in this one."""
    nodes, edges = list(nodes), list(edges)
    reach = closure(nodes, edges)
    above = [
        other
        for other in components(nodes, edges)
        if other != component and any((a, b) in reach for a in other for b in component)
    ]
    return max((1 + chain_above(other, nodes, edges) for other in above), default=0)
