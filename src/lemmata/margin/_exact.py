"""The exact max-margin program on one priority graph, in rational arithmetic.

With orthonormal embeddings the program decouples into one program per last token,

    minimise  (1/2) sum_i m_i u_i^2   subject to   u_a - u_b >= 1 for every edge a -> b,

where m_i counts the tokens that share the value u_i. At the optimum the tight edges fall into
connected blocks; inside a block the values differ by integers and their weighted mean is zero.
So the solution is rational, and a flow along the tight edges proves it optimal.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

Edge = tuple[int, int]


@dataclass(frozen=True)
class Potentials:
    """The exact solution: a value for every node and a multiplier for every edge."""

    values: dict[int, Fraction]
    multipliers: dict[Edge, Fraction]


def separate(edges: Iterable[Edge], sizes: Mapping[int, int] | None = None) -> Potentials:
    """Solve the program on an acyclic graph.

    Each round moves every block to its centre, merging blocks that meet on the way, and then
    asks for a flow that certifies the blocks. A block without one splits along the minimal cut,
    and one that came apart moves on by itself; either lowers the objective, and there are
    finitely many partitions, so the rounds end.

    Args:
        edges: (winner, loser) pairs.
        sizes: the weight m_i of each node, 1 where missing.

    Examples:
        >>> separate([(0, 1), (0, 2)]).values
        {0: Fraction(2, 3), 1: Fraction(-1, 3), 2: Fraction(-1, 3)}
    """
    edges = sorted(set(edges))
    nodes = sorted({node for edge in edges for node in edge})
    rank = {node: i for i, node in enumerate(nodes)}
    weights = tuple((sizes or {}).get(node, 1) for node in nodes)
    values, flow = _separate(tuple((rank[a], rank[b]) for a, b in edges), weights)
    return Potentials(dict(zip(nodes, values, strict=True)), dict(zip(edges, flow, strict=True)))


@lru_cache(maxsize=4096)
def _separate(
    edges: tuple[Edge, ...], weight: tuple[int, ...]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Solve for nodes 0, 1, ...; the same small graphs come up again and again."""
    winners, losers = ({edge[side] for edge in edges} for side in (0, 1))
    if len(winners) == 1 and not winners & losers:
        return _star(edges, weight)
    nodes = list(range(len(weight)))
    values = _heights(nodes, edges)
    blocks = _connected(nodes, _tight(values, edges))
    while True:
        values, blocks = _centre(values, blocks, edges, weight)
        tight = _tight(values, edges)
        blocks = []
        flow: dict[Edge, Fraction] = {}
        settled = True
        for block in _connected(nodes, tight):
            inside = [edge for edge in tight if edge[0] in block]
            supply = {node: weight[node] * values[node] for node in block}
            part, source_side = _route(supply, inside)
            flow |= part
            parts = [side for side in (source_side, block - source_side) if side]
            blocks += parts
            settled &= not source_side and sum(supply.values()) == 0
        if settled:
            zero = Fraction(0)
            return tuple(values.values()), tuple(flow.get(edge, zero) for edge in edges)


def _star(
    edges: tuple[Edge, ...], weight: tuple[int, ...]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """One winner: every edge is tight, so its losers share a value and the mean is zero."""
    winner = edges[0][0]
    low = Fraction(-weight[winner], sum(weight))
    values = tuple(low + (node == winner) for node in range(len(weight)))
    return values, tuple(-weight[loser] * low for _, loser in edges)


def _heights(nodes: list[int], edges: Sequence[Edge]) -> dict[int, Fraction]:
    """A feasible start: the length of the longest path below each node."""
    below: dict[int, list[int]] = {node: [] for node in nodes}
    above: dict[int, list[int]] = {node: [] for node in nodes}
    for winner, loser in edges:
        below[winner].append(loser)
        above[loser].append(winner)
    waiting = {node: len(below[node]) for node in nodes}
    ready = [node for node in nodes if not waiting[node]]
    height: dict[int, Fraction] = {}
    while ready:
        node = ready.pop()
        height[node] = max((height[other] + 1 for other in below[node]), default=Fraction(0))
        for other in above[node]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if len(height) < len(nodes):
        raise ValueError("the graph has a cycle: no values can satisfy its edges")
    return {node: height[node] for node in nodes}


def _tight(values: dict[int, Fraction], edges: Sequence[Edge]) -> list[Edge]:
    return [(a, b) for a, b in edges if values[a] - values[b] == 1]


def _connected(nodes: list[int], edges: Iterable[Edge]) -> list[set[int]]:
    """Connected components, by union of the blocks that each edge joins."""
    block = {node: {node} for node in nodes}
    for a, b in edges:
        small, large = sorted((block[a], block[b]), key=len)
        if small is not large:
            large |= small
            for node in small:
                block[node] = large
    return list({id(group): group for group in block.values()}.values())


def _centre(
    values: dict[int, Fraction],
    blocks: list[set[int]],
    edges: Sequence[Edge],
    weight: Sequence[int],
) -> tuple[dict[int, Fraction], list[set[int]]]:
    """Move all blocks towards weighted mean zero at once; blocks that meet move on as one."""
    while True:
        owner = {node: i for i, block in enumerate(blocks) for node in block}
        shift = [
            -sum((weight[n] * values[n] for n in block), Fraction(0))
            / sum(weight[n] for n in block)
            for block in blocks
        ]
        pace = Fraction(1)
        blocking: list[Edge] = []
        for a, b in edges:
            closing = shift[owner[b]] - shift[owner[a]]
            if closing > 0:
                room = (values[a] - values[b] - 1) / closing
                if room < pace:
                    pace, blocking = room, []
                if room == pace < 1:
                    blocking.append((a, b))
        values = {node: value + pace * shift[owner[node]] for node, value in values.items()}
        if not blocking:
            return values, blocks
        joined = _connected(list(range(len(blocks))), [(owner[a], owner[b]) for a, b in blocking])
        blocks = [set().union(*(blocks[i] for i in group)) for group in joined]


def _route(supply: dict[int, Fraction], edges: list[Edge]) -> tuple[dict[Edge, Fraction], set[int]]:
    """Send every positive supply along the edges to the negative ones (shortest augmentations).

    Returns the flow, and the nodes still reachable from unsent supply: empty when all is sent.
    """
    flow: dict[Edge, Fraction] = {edge: Fraction(0) for edge in edges}
    forward: dict[int, list[int]] = {node: [] for node in supply}
    backward: dict[int, list[int]] = {node: [] for node in supply}
    for a, b in edges:
        forward[a].append(b)
        backward[b].append(a)
    rest = dict(supply)
    while True:
        parent: dict[int, int | None] = {node: None for node in supply if rest[node] > 0}
        queue = list(parent)
        sink = None
        for node in queue:
            if rest[node] < 0:
                sink = node
                break
            onward = [b for b in forward[node] if b not in parent]
            onward += [a for a in backward[node] if a not in parent and flow[a, node] > 0]
            for other in onward:
                parent[other] = node
                queue.append(other)
        if sink is None:
            return flow, set(parent)
        path = [sink]
        while (before := parent[path[-1]]) is not None:
            path.append(before)
        path.reverse()
        steps = list(pairwise(path))
        back = [flow[b, a] for a, b in steps if (a, b) not in flow]
        amount = min([rest[path[0]], -rest[sink], *back])
        for a, b in steps:
            if (a, b) in flow:
                flow[a, b] += amount
            else:
                flow[b, a] -= amount
        rest[path[0]] -= amount
        rest[sink] += amount
