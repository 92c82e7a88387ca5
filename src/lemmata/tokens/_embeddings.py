"""Token embeddings: canonical, random orthonormal, or from a file. Token i owns row i."""

import json
from pathlib import Path

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError

Embeddings = Float[np.ndarray, "tokens dimension"]
LARGEST = 1e60
"""Larger entries of weights would have norms and logits that are no numbers."""


def canonical_embeddings(size: int) -> Embeddings:
    """The unit vectors of R^size."""
    return np.eye(size)


def random_orthonormal_embeddings(
    size: int, dimension: int, generator: np.random.Generator
) -> Embeddings:
    """A uniformly random orthonormal family, which needs dimension >= size."""
    if dimension < size:
        raise InputError(
            f"{size} orthonormal embeddings do not fit into dimension {dimension}: "
            f"choose a dimension of at least {size}"
        )
    q, r = np.linalg.qr(generator.standard_normal((dimension, size)))
    return (q * np.sign(np.diag(r))).T


def orthonormality_error(embeddings: Embeddings) -> float:
    """The largest entry of E E^T - I in absolute value."""
    gram = embeddings @ embeddings.T
    return float(np.abs(gram - np.eye(len(gram))).max())


def read_embeddings(path: Path) -> Embeddings:
    """Read a matrix, one row a token, from ``.npy`` or ``.json`` (a list of rows)."""
    try:
        if path.suffix == ".npy":
            matrix = np.load(path, allow_pickle=False)
        elif path.suffix == ".json":
            matrix = json.loads(path.read_text(encoding="utf-8"))
        else:
            raise InputError(f"{path}: embeddings must be .npy or .json, not '{path.suffix}'")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except InputError:
        raise
    except (ValueError, EOFError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a matrix ({error})") from error
    return as_matrix(matrix, str(path))


def check_start(weights: Float[np.ndarray, "rows columns"], where: str) -> None:
    """Refuse weights whose norm is not a number."""
    largest = float(np.abs(weights).max())
    if largest > LARGEST:
        raise InputError(
            f"{where}: an entry of size {largest:g} is too large (at most {LARGEST:g})"
        )


def as_matrix(rows: object, where: str) -> Embeddings:
    """A finite float matrix, or a sentence that says what is wrong with it."""
    try:
        given = np.asarray(rows)
        if given.dtype.kind in "USc":
            raise TypeError("entries are text or complex")
        matrix = given.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{where}: expected rows of numbers, all of the same length ({error})"
        ) from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{where}: expected a matrix, one row a token; got shape {matrix.shape}")
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"{where}: entry [{row}][{column}] is {matrix[row, column]}; "
            "every entry must be a finite number"
        )
    return matrix
