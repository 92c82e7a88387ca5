"""Many priority graphs at once: components, layers and the exact max-margin solution.

With orthonormal embeddings every last token has a program of its own, so that the graphs of
thousands of them are solved side by side, as arrays.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lemmata.margin import Graphs, Values, check_optimality_of_many, separate, separate_arrays

from ._counting import Edges, numbered

Nodes = Int[np.ndarray, "nodes"]


@dataclass(frozen=True)
class Orders:
    """The graphs of several last tokens; one node for each token under each of them.

    Attributes:
        query, token: of each node; sorted.
        winner, loser: the ends of each edge, as numbers of nodes, in the order of the counts.
        component: the number of each node's component, counted over all graphs.
        sizes: how many tokens each component has.
        layer: the longest chain of components above each component.
        above, below: the strict edges between components, each once.
    """

    query: Nodes
    token: Nodes
    winner: Int[np.ndarray, "edges"]
    loser: Int[np.ndarray, "edges"]
    component: Nodes
    sizes: Int[np.ndarray, "components"]
    layer: Int[np.ndarray, "components"]
    above: Int[np.ndarray, "strict"]
    below: Int[np.ndarray, "strict"]

    @property
    def strict(self) -> Bool[np.ndarray, "edges"]:
        """Which edges join two components."""
        return self.component[self.winner] != self.component[self.loser]

    @property
    def tied(self) -> Bool[np.ndarray, "nodes"]:
        """Which tokens share their component with others."""
        return self.sizes[self.component] > 1

    @property
    def owner(self) -> Int[np.ndarray, "components"]:
        """The last token of each component."""
        owner = np.zeros(len(self.sizes), dtype=np.int64)
        owner[self.component] = self.query
        return owner


def orders(edges: Edges, queries: Int[np.ndarray, "queries"], size: int) -> Orders:
    """The graphs of these last tokens, each of which stands in all of its windows."""
    ends = (edges.winner, edges.loser, queries)
    owners = (edges.query, edges.query, queries)
    keys, place = numbered(
        np.concatenate([q * size + x for q, x in zip(owners, ends, strict=True)])
    )
    count = len(edges.query)
    winner, loser = place[:count], place[count : 2 * count]
    nodes = len(keys)
    start = np.searchsorted(winner, np.arange(nodes + 1))
    graph = csr_array((np.ones(count, dtype=np.int8), loser, start), shape=(nodes, nodes))
    found = connected_components(graph, directed=True, connection="strong")[1].astype(np.int64)
    # Numbered by their first token, so that the components of one last token stand together.
    first = np.unique(found, return_index=True)[1]
    component = np.argsort(np.argsort(first))[found]
    sizes = np.bincount(component, minlength=len(first)).astype(np.int64)
    strict = component[winner] != component[loser]
    links, _ = numbered(component[winner[strict]] * len(sizes) + component[loser[strict]])
    above, below = links // len(sizes), links % len(sizes)
    layer = _layers(len(sizes), above, below)
    return Orders(keys // size, keys % size, winner, loser, component, sizes, layer, above, below)


def _layers(
    count: int, above: Int[np.ndarray, "strict"], below: Int[np.ndarray, "strict"]
) -> Int[np.ndarray, "components"]:
    """The longest chain above each component, layer by layer; edges are sorted by winner."""
    waiting = np.bincount(below, minlength=count)
    start = np.searchsorted(above, np.arange(count + 1))
    layer = np.zeros(count, dtype=np.int64)
    ready, depth = np.flatnonzero(waiting == 0), 0
    while len(ready):
        layer[ready] = depth
        length = start[ready + 1] - start[ready]
        before = np.cumsum(length) - length
        edges = np.repeat(start[ready] - before, length) + np.arange(length.sum())
        reached, times = np.unique(below[edges], return_counts=True)
        waiting[reached] -= times
        ready, depth = reached[waiting[reached] == 0], depth + 1
    return layer


@dataclass(frozen=True)
class Margins:
    """W^mm, certified: the exact value of each component is ``top / bottom``.

    Attributes:
        tight: strict edges with margin 1.
        idle: those of them whose multiplier is 0 in every certificate.
    """

    top: Int[np.ndarray, "components"]
    bottom: Int[np.ndarray, "components"]
    tight: Bool[np.ndarray, "strict"]
    idle: Bool[np.ndarray, "strict"]


def margins(found: Orders) -> Margins:
    """Solve Graph-SVM for every last token, and check the certificate with other code.

    Raises ``ArithmeticError`` if it does not hold.
    """
    numbers = np.unique(found.owner, return_inverse=True)[1]
    graphs = Graphs(found.above, found.below, found.sizes, numbers)
    values = separate_arrays(graphs, -found.layer)
    values = _left_over(graphs, values)
    top, bottom, flow = values.top, values.bottom, values.flow
    check_optimality_of_many(found.above, found.below, found.sizes, top, bottom, flow)
    a, b = found.above, found.below
    tight = top[a] * bottom[b] - top[b] * bottom[a] == bottom[a] * bottom[b]
    return Margins(top, bottom, tight, _idle(found, tight, flow))


def _left_over(graphs: Graphs, values: Values) -> Values:
    """Graphs whose numbers are too large for the flow solver, in fractions."""
    rest = np.flatnonzero(~values.solved)
    values = replace(values, top=values.top.copy(), bottom=values.bottom.copy())
    owner = graphs.graph[graphs.winner]
    for graph in rest:
        edges = np.flatnonzero(owner == graph)
        pairs = list(zip(graphs.winner[edges].tolist(), graphs.loser[edges].tolist(), strict=True))
        nodes = np.flatnonzero(graphs.graph == graph).tolist()
        solution = separate(pairs, {node: int(graphs.weight[node]) for node in nodes})
        for node in nodes:
            value = solution.values.get(node, Fraction(0))
            values.top[node], values.bottom[node] = value.numerator, value.denominator
        for edge, pair in zip(edges, pairs, strict=True):
            amount = solution.multipliers.get(pair, Fraction(0)) * int(values.bottom[pair[0]])
            if amount.denominator != 1:
                raise ArithmeticError(f"multiplier {amount} has another denominator than its value")
            values.flow[edge] = amount.numerator
    return values


def _idle(
    found: Orders, tight: Bool[np.ndarray, "strict"], flow: Int[np.ndarray, "strict"]
) -> Bool[np.ndarray, "strict"]:
    """Tight edges that carry flow in no certificate.

    Flow can be sent along a tight edge and back to its start exactly if its ends reach each other
    along tight edges, and against those that carry flow.
    """
    a, b = found.above[tight], found.below[tight]
    back = flow[tight] > 0
    tail, head = np.concatenate([a, b[back]]), np.concatenate([b, a[back]])
    shape = (len(found.sizes), len(found.sizes))
    network = csr_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=shape)
    part = connected_components(network, directed=True, connection="strong")[1]
    idle = np.zeros(len(tight), dtype=bool)
    idle[tight] = part[a] != part[b]
    return idle


def norms_squared(found: Orders, solution: Margins) -> dict[int, Fraction]:
    """The exact square of the norm of each last token's column."""
    base = int(solution.bottom.max(initial=1)) + 1
    keys, place = numbered(found.owner * base + solution.bottom)
    top = solution.top.astype(object)
    sums = np.zeros(len(keys), dtype=object)
    np.add.at(sums, place, found.sizes.astype(object) * top * top)
    total: dict[int, Fraction] = {}
    for key, value in zip(keys.tolist(), sums.tolist(), strict=True):
        query, bottom = divmod(key, base)
        total[query] = total.get(query, Fraction(0)) + Fraction(value, bottom * bottom)
    return total
