"""The exact max-margin program on many large graphs at once.

The search is that of ``_exact``, in floating point and on all graphs side by side; it only has to
end at the right place, because its end is rewritten in integers and checked as such. Inside a
block (nodes joined by tight edges) the values are integer potentials minus their weighted mean,
so they have a common denominator, the weight of the block, and whether an edge is tight is a
question about integers. So is the flow that proves a block optimal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from ._exact import Edge, Potentials

LARGEST_FLOW = 2**29
"""The flow solver counts in 32 bits; a graph that needs more is left to rational arithmetic."""

MOST_ROUNDS = 500
"""Far more than ever seen; a graph that needs more is left to rational arithmetic."""

_CLOSING = 1e-10
_REACHED = 1e-9

Nodes = Int[np.ndarray, "nodes"]
EdgeFlags = Bool[np.ndarray, "edges"]


@dataclass(frozen=True)
class WeightedGraph:
    """An acyclic graph: its edges, a weight per node, and feasible integer values to start at."""

    edges: Sequence[Edge]
    sizes: Mapping[int, int]
    start: Mapping[int, int]


@dataclass(frozen=True)
class Graphs:
    """Several acyclic graphs side by side, as arrays.

    Attributes:
        winner, loser: the ends of each edge, as numbers of nodes.
        weight: how many tokens share the value of a node.
        graph: which graph a node belongs to, in ascending order.
    """

    winner: Int[np.ndarray, "edges"]
    loser: Int[np.ndarray, "edges"]
    weight: Nodes
    graph: Nodes

    def blocks(self, joined: EdgeFlags) -> Nodes:
        """Number the connected components of the edges that are joined."""
        return _components(len(self.weight), self.winner[joined], self.loser[joined])


@dataclass(frozen=True)
class Values:
    """The exact solutions of several graphs.

    Attributes:
        top, bottom: the value of each node is ``top / bottom``, in lowest terms.
        flow: the multiplier of each edge, over the ``bottom`` of its winner.
        solved: the graphs whose numbers fit; what the others have is meaningless.
    """

    top: Nodes
    bottom: Nodes
    flow: Int[np.ndarray, "edges"]
    solved: Bool[np.ndarray, "graphs"]


@dataclass(frozen=True)
class _Point:
    """Exact values ``top / bottom``, and the flow over ``bottom`` along the tight edges."""

    top: Nodes
    bottom: Nodes
    tight: EdgeFlags
    flow: Int[np.ndarray, "edges"]
    unsent: Bool[np.ndarray, "nodes"]
    valid: Bool[np.ndarray, "nodes"]


def separate_all(graphs: Sequence[WeightedGraph]) -> list[Potentials | None]:
    """The exact solution of each graph; None where the numbers do not fit."""
    union, start, names = _join(graphs)
    return _collect(union, separate_arrays(union, start), names)


def separate_arrays(whole: Graphs, start: Nodes) -> Values:
    """The same for graphs as arrays; ``start`` are feasible integer values."""
    count = int(whole.graph.max(initial=-1)) + 1
    found = Values(
        np.zeros_like(whole.weight),
        np.ones_like(whole.weight),
        np.zeros(len(whole.winner), dtype=np.int64),
        np.zeros(count, dtype=bool),
    )
    union, waiting = whole, np.arange(count)
    nodes, edges = np.arange(len(whole.weight)), np.arange(len(whole.winner))
    values = start.astype(float)
    owner = union.blocks(start[union.winner] - start[union.loser] == 1)
    for _ in range(MOST_ROUNDS):
        values, owner = _centre(union, values, owner)
        point = _certify(union, *_as_integers(union, values, owner))
        open_ = np.zeros(len(waiting), dtype=bool)
        open_[union.graph[point.unsent]] = True
        invalid = np.zeros(len(waiting), dtype=bool)
        invalid[union.graph[~point.valid]] = True
        done = ~open_ & ~invalid
        settled, sure = done[union.graph], done[union.graph[union.winner]]
        found.top[nodes[settled]] = point.top[settled]
        found.bottom[nodes[settled]] = point.bottom[settled]
        found.flow[edges[sure]] = point.flow[sure]
        found.solved[waiting[done]] = True
        keep = open_ & ~invalid
        if not keep.any():
            break
        same_side = point.unsent[union.winner] == point.unsent[union.loser]
        owner = union.blocks(point.tight & same_side)
        edges = edges[keep[union.graph[union.winner]]]
        union, at = _restrict(union, keep)
        values = (point.top / point.bottom)[at]
        owner = np.unique(owner[at], return_inverse=True)[1]
        waiting, nodes = waiting[keep], nodes[at]
    return found


def _join(graphs: Sequence[WeightedGraph]) -> tuple[Graphs, Nodes, Nodes]:
    """The union, its starting values, and the name of each node in its own graph."""
    names: list[int] = []
    start: list[int] = []
    weight: list[int] = []
    winner: list[int] = []
    loser: list[int] = []
    for graph in graphs:
        rank = {name: len(names) + i for i, name in enumerate(graph.start)}
        names += graph.start
        start += graph.start.values()
        weight += [graph.sizes.get(name, 1) for name in graph.start]
        winner += [rank[a] for a, _ in graph.edges]
        loser += [rank[b] for _, b in graph.edges]
    owner = np.repeat(np.arange(len(graphs)), [len(graph.start) for graph in graphs])
    rows = [np.array(row, dtype=np.int64) for row in (winner, loser, weight, start, names)]
    return Graphs(rows[0], rows[1], rows[2], owner), rows[3], rows[4]


def _restrict(union: Graphs, keep: Bool[np.ndarray, "graphs"]) -> tuple[Graphs, Nodes]:
    """The graphs to keep, and which nodes those are."""
    inside = keep[union.graph]
    number = np.cumsum(inside) - 1
    edges = inside[union.winner]
    part = Graphs(
        number[union.winner[edges]],
        number[union.loser[edges]],
        union.weight[inside],
        (np.cumsum(keep) - 1)[union.graph[inside]],
    )
    return part, np.flatnonzero(inside)


def _components(count: int, left: np.ndarray, right: np.ndarray) -> Int[np.ndarray, "count"]:
    adjacency = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(count, count))
    return connected_components(adjacency, directed=False)[1].astype(np.int64)


def _centre(
    union: Graphs, values: Float[np.ndarray, "nodes"], owner: Nodes
) -> tuple[Float[np.ndarray, "nodes"], Nodes]:
    """Move all blocks towards weighted mean zero at once; blocks that meet move on as one.

    Every graph goes at its own pace, until the first of its blocks meet.
    """
    edges = np.arange(len(union.winner))
    graphs = int(union.graph.max(initial=-1)) + 1
    while True:
        mass = np.bincount(owner, weights=union.weight)
        speed = -(np.bincount(owner, weights=union.weight * values) / mass)[owner]
        winner, loser = union.winner[edges], union.loser[edges]
        closing = speed[loser] - speed[winner]
        meets = (closing > _CLOSING) & (owner[winner] != owner[loser])
        edges, winner, loser, closing = edges[meets], winner[meets], loser[meets], closing[meets]
        room = np.maximum(values[winner] - values[loser] - 1, 0) / closing
        pace = np.ones(graphs)
        np.minimum.at(pace, union.graph[winner], room)
        values = values + pace[union.graph] * speed
        here = pace[union.graph[winner]]
        blocking = (here < 1) & (room <= here + _REACHED)
        if not blocking.any():
            return values, owner
        joined = _components(len(mass), owner[winner[blocking]], owner[loser[blocking]])
        owner = joined[owner]
        moving = np.zeros(graphs, dtype=bool)
        moving[union.graph[winner[blocking]]] = True
        edges = np.flatnonzero(moving[union.graph[union.winner]])


def _as_integers(
    union: Graphs, values: Float[np.ndarray, "nodes"], owner: Nodes
) -> tuple[Nodes, Nodes]:
    """Values of centred blocks as fractions in lowest terms."""
    first = np.zeros(owner.max(initial=-1) + 1, dtype=np.int64)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    potential = np.rint(values - values[first[owner]]).astype(np.int64)
    mass = np.zeros(len(first), dtype=np.int64)
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(mass, owner, union.weight)
    np.add.at(total, owner, union.weight * potential)
    top, bottom = potential * mass[owner] - total[owner], mass[owner]
    common = np.gcd(top, bottom)
    return top // common, bottom // common


def _certify(union: Graphs, top: Nodes, bottom: Nodes) -> _Point:
    """Route every block's supply m u along its tight edges.

    ``unsent`` marks the nodes that unsent supply can still reach: the side of the minimal cut
    that has to move away. ``valid`` marks graphs that keep every margin and fit the flow solver.
    """
    a, b = union.winner, union.loser
    slack = top[a] * bottom[b] - top[b] * bottom[a] - bottom[a] * bottom[b]
    tight = slack == 0
    supply = union.weight * top
    size = np.zeros(union.graph.max(initial=-1) + 1, dtype=np.int64)
    np.add.at(size, union.graph, np.maximum(supply, 0))
    broken = size > LARGEST_FLOW
    broken[union.graph[a[slack < 0]]] = True
    valid = ~broken[union.graph]
    batch = (np.cumsum(np.where(broken, 0, size)) // LARGEST_FLOW)[union.graph]
    flow = np.zeros(len(a), dtype=np.int64)
    unsent = np.zeros(len(top), dtype=bool)
    for number in np.unique(batch[valid]):
        inside = valid & (batch == number)
        edges = np.flatnonzero(tight & inside[a])
        flow[edges], reached = _route(np.where(inside, supply, 0), a[edges], b[edges])
        unsent |= reached
    return _Point(top, bottom, tight, flow, unsent, valid)


def _route(
    supply: Nodes, winner: np.ndarray, loser: np.ndarray
) -> tuple[Int[np.ndarray, "edges"], Bool[np.ndarray, "nodes"]]:
    """The maximal flow, and the nodes that unsent supply can still reach."""
    count = len(supply)
    source, sink = count, count + 1
    giving, taking = np.flatnonzero(supply > 0), np.flatnonzero(supply < 0)
    tail = np.concatenate([winner, np.full(len(giving), source), taking])
    head = np.concatenate([loser, giving, np.full(len(taking), sink)])
    unlimited = np.full(len(winner), np.iinfo(np.int32).max)
    capacity = np.concatenate([unlimited, supply[giving], -supply[taking]]).astype(np.int32)
    shape = (count + 2, count + 2)
    network = csr_array((capacity, (tail, head)), shape=shape)
    sent = coo_array(maximum_flow(network, source, sink).flow)
    order = np.argsort(sent.row.astype(np.int64) * shape[1] + sent.col)
    at = np.searchsorted(
        sent.row[order].astype(np.int64) * shape[1] + sent.col[order], tail * shape[1] + head
    )
    amounts = sent.data[order][at].astype(np.int64)
    flow = amounts[: len(winner)]
    rest = giving[amounts[len(winner) : len(winner) + len(giving)] < supply[giving]]
    if not len(rest):
        return flow, np.zeros(count, dtype=bool)
    back = flow > 0
    tail = np.concatenate([winner, loser[back], np.full(len(rest), source)])
    head = np.concatenate([loser, winner[back], rest])
    residual = csr_array((np.ones(len(tail), dtype=np.int8), (tail, head)), shape=shape)
    reached = np.zeros(count + 2, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    return flow, reached[:count]


def _collect(union: Graphs, values: Values, names: Nodes) -> list[Potentials | None]:
    """The solutions of the graphs that have one, by the names of their nodes."""
    count = len(values.solved)
    node_start = np.searchsorted(union.graph, np.arange(count + 1))
    edge_start = np.searchsorted(union.graph[union.winner], np.arange(count + 1))
    top, bottom, name = values.top.tolist(), values.bottom.tolist(), names.tolist()
    winner, loser, flow = union.winner.tolist(), union.loser.tolist(), values.flow.tolist()
    found: list[Potentials | None] = [None] * count
    for graph in np.flatnonzero(values.solved):
        nodes = range(node_start[graph], node_start[graph + 1])
        edges = range(edge_start[graph], edge_start[graph + 1])
        found[graph] = Potentials(
            {name[i]: Fraction(top[i], bottom[i]) for i in nodes},
            {
                (name[winner[e]], name[loser[e]]): Fraction(flow[e], bottom[winner[e]])
                for e in edges
                if flow[e]
            },
        )
    return found
