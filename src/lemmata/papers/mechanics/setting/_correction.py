"""W^cyc, the finite limit inside the space of ties."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from lemmata.attention import Minimum
from lemmata.tokens import PriorityGraph

Cell = tuple[int, int]


@dataclass(frozen=True)
class Correction:
    """W^cyc, the finite limit inside the space of ties (Definition 3).

    Attributes:
        entries: by (token, query), for orthonormal embeddings.
        matrix: for general embeddings.
        gradient_norm: of the risk of the cyclic subdata; 0 would be exact.
    """

    norm: float
    gradient_norm: float
    entries: dict[Cell, float]
    matrix: Float[np.ndarray, "dimension dimension"] | None = None

    def dense(self, size: int) -> Float[np.ndarray, "dimension dimension"]:
        """As a matrix; ``size`` is the number of tokens."""
        if self.matrix is not None:
            return self.matrix
        matrix = np.zeros((size, size))
        for cell, value in self.entries.items():
            matrix[cell] = value
        return matrix


def by_cell(
    minimum: Minimum, graphs: Mapping[int, PriorityGraph], cells: Mapping[Cell, int]
) -> Correction:
    """The entries of tied tokens; orthonormal embeddings have one variable a cell."""
    entries: dict[Cell, float] = {}
    for query, graph in graphs.items():
        for component in graph.components:
            if len(component) > 1:
                tied = [(token, query) for token in component]
                values = minimum.point[[cells[cell] for cell in tied]].tolist()
                entries.update(zip(tied, values, strict=True))
    norm = float(np.sqrt(sum(value * value for value in entries.values())))
    return Correction(norm, minimum.gradient_norm, entries)


def in_span(minimum: Minimum, basis: Float[np.ndarray, "rank variables"]) -> Correction:
    """The same as a combination of basis matrices."""
    size = round(basis.shape[1] ** 0.5)
    matrix = (minimum.point @ basis).reshape(size, size)
    return Correction(float(np.linalg.norm(matrix)), minimum.gradient_norm, {}, matrix)
