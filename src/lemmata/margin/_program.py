"""Max-margin over priority graphs, with a certificate that does not trust the solver."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from lemmata.tokens import PriorityGraph

from ._certificate import check_infeasibility, check_optimality
from ._exact import Edge, Potentials, separate
from ._many import WeightedGraph, separate_all

MANY_EDGES = 2_000
"""From here on the vectorised solver is the faster one."""


class Status(StrEnum):
    """How a max-margin program ended."""

    SOLVED = "solved"
    ZERO = "zero"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class MaxMargin:
    """The solution of min ||W|| subject to a margin of 1 on every edge of every graph.

    Attributes:
        status: solved, zero (there is no constraint) or infeasible.
        matrix: W in the space of general embeddings; None for orthonormal ones.
        size: the number of tokens, for orthonormal embeddings.
        norm_squared_exact: the squared norm as a fraction, where the solution is rational.
        error_bound: ||W - W*|| is at most this; 0 for an exact solution.
        multipliers: a weight for each edge of each query, which proves optimality (0 where
            missing); for an infeasible program, weights whose combination of the constraints
            reads 0 >= 1. With ties, an edge joins the first tokens of two components.
        entries: the exact entries by (token, query), where the solution is rational.
    """

    status: Status
    matrix: Float[np.ndarray, "dimension dimension"] | None = None
    size: int = 0
    norm_squared_exact: Fraction | None = None
    error_bound: float = 0.0
    multipliers: Mapping[int, Mapping[Edge, Fraction | float]] = field(default_factory=dict)
    entries: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)

    @cached_property
    def weights(self) -> Float[np.ndarray, "rows columns"] | None:
        """W as a dense matrix, ``weights[token, query]`` for orthonormal embeddings."""
        if self.status is Status.INFEASIBLE or self.matrix is not None:
            return self.matrix
        dense = np.zeros((self.size, self.size))
        for (token, query), value in self.entries.items():
            dense[token, query] = float(value)
        return dense

    @property
    def norm(self) -> float | None:
        """||W||, from the exact square where there is one."""
        if self.status is Status.INFEASIBLE:
            return None
        if self.norm_squared_exact is not None:
            return float(np.sqrt(float(self.norm_squared_exact)))
        return float(np.linalg.norm(self.matrix)) if self.matrix is not None else 0.0


def max_margin(graphs: Mapping[int, PriorityGraph], size: int, *, ties: bool = False) -> MaxMargin:
    """Solve exactly for orthonormal embeddings, one column per last token.

    Without ties a graph with a cycle makes the program infeasible; the cycle is the proof,
    because its constraints add up to 0 >= its length. With ties the tokens of a component share
    a value (Graph-SVM), and the program on the components is never infeasible.
    """
    if not ties:
        for query, graph in graphs.items():
            walk = graph.cycle()
            if walk is not None:
                share = Fraction(1, len(walk) - 1)
                farkas = dict.fromkeys(pairwise(walk), share)
                check_infeasibility(farkas)
                return MaxMargin(Status.INFEASIBLE, multipliers={query: farkas})
    columns = {query: _condense(graph) for query, graph in graphs.items() if graph.strict_edges}
    entries: dict[tuple[int, int], Fraction] = {}
    multipliers: dict[int, Mapping[Edge, Fraction]] = {}
    squares: Counter[int] = Counter()
    for query, solution in zip(columns, _separate(list(columns.values())), strict=True):
        column = columns[query]
        check_optimality(solution.values, solution.multipliers, column.edges, column.sizes)
        multipliers[query] = solution.multipliers
        for tied in graphs[query].components:
            value = solution.values.get(tied[0], Fraction(0))
            squares[value.denominator] += len(tied) * value.numerator**2
            entries.update(((token, query), value) for token in tied)
    squared = sum((Fraction(top, below**2) for below, top in squares.items()), Fraction(0))
    status = Status.SOLVED if entries else Status.ZERO
    return MaxMargin(status, None, size, squared, 0.0, multipliers, entries)


def _condense(graph: PriorityGraph) -> WeightedGraph:
    edges, sizes, depth = graph.condensation()
    return WeightedGraph(edges, sizes, {node: -level for node, level in depth.items()})


def _separate(columns: Sequence[WeightedGraph]) -> list[Potentials]:
    """Many edges go to the solver for many graphs; what it leaves over, and few, one by one."""
    many = sum(len(column.edges) for column in columns) > MANY_EDGES
    found = separate_all(columns) if many else [None] * len(columns)
    return [
        separate(column.edges, column.sizes) if solution is None else solution
        for column, solution in zip(columns, found, strict=True)
    ]
