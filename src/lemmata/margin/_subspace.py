"""Subspaces of matrices, as orthonormal rows."""

import numpy as np
from jaxtyping import Float

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""

Rows = Float[np.ndarray, "rows variables"]
Basis = Float[np.ndarray, "rank variables"]


def span_basis(rows: Rows) -> Basis:
    """An orthonormal basis of the span of the rows."""
    if not len(rows):
        return rows
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[sizes > RANK * max(sizes[0], np.finfo(float).tiny)]


def remove(rows: Rows, basis: Basis) -> Rows:
    """The rows without their part in the span of ``basis``; a row inside it becomes exactly 0."""
    rest = rows - (rows @ basis.T) @ basis
    inside = np.linalg.norm(rest, axis=1) <= RANK * np.linalg.norm(rows, axis=1)
    return np.where(inside[:, None], 0.0, rest)
