"""Max-margin over priority graphs, with a certificate that does not trust the solver."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from lemmata.margin._certificate import check_infeasibility, check_optimality
from lemmata.margin._exact import Edge, separate
from lemmata.tokens import PriorityGraph


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
        weights: W in token coordinates, ``weights[token, query]``; None if infeasible.
        norm_squared_exact: the squared norm as a fraction, where the solution is rational.
        error_bound: ||W - W*|| is at most this; 0 for an exact solution.
        multipliers: a weight for each edge of each query, which proves optimality; for an
            infeasible program, weights whose combination of the constraints reads 0 >= 1.
        entries: the exact non-zero entries by (token, query), where the solution is rational.
    """

    status: Status
    weights: Float[np.ndarray, "tokens queries"] | None
    norm_squared_exact: Fraction | None = None
    error_bound: float = 0.0
    multipliers: Mapping[int, Mapping[Edge, Fraction | float]] = field(default_factory=dict)
    entries: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)

    @property
    def norm(self) -> float | None:
        """||W||, from the exact square where there is one."""
        if self.weights is None:
            return None
        if self.norm_squared_exact is not None:
            return float(np.sqrt(float(self.norm_squared_exact)))
        return float(np.linalg.norm(self.weights))


def max_margin(graphs: Mapping[int, PriorityGraph], size: int) -> MaxMargin:
    """Solve exactly for orthonormal embeddings, one column per last token.

    A graph with a cycle makes the program infeasible; the cycle is the proof, because its
    constraints add up to 0 >= its length.
    """
    for query, graph in graphs.items():
        walk = graph.cycle()
        if walk is not None:
            share = Fraction(1, len(walk) - 1)
            farkas = dict.fromkeys(pairwise(walk), share)
            check_infeasibility(farkas)
            return MaxMargin(Status.INFEASIBLE, None, multipliers={query: farkas})
    weights = np.zeros((size, size))
    entries: dict[tuple[int, int], Fraction] = {}
    multipliers: dict[int, Mapping[Edge, Fraction]] = {}
    squared = Fraction(0)
    for query, graph in graphs.items():
        if graph.evidence:
            solution = separate(graph.edges)
            check_optimality(solution.values, solution.multipliers, graph.edges)
            multipliers[query] = solution.multipliers
            for token, value in solution.values.items():
                entries[token, query] = value
                weights[token, query] = float(value)
                squared += value * value
    status = Status.SOLVED if entries else Status.ZERO
    return MaxMargin(status, weights, squared, 0.0, multipliers, entries)
