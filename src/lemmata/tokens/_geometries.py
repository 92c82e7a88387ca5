"""Embeddings of every geometry, and how much there is to type in an array: for adversaries."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ._embeddings import Embeddings

GEOMETRIES = ("orthonormal", "rotated", "general", "close", "dependent")


def draw_embeddings(geometry: str, size: int, generator: np.random.Generator) -> Embeddings | None:
    """Embeddings of a geometry; None for an orthonormal family, whichever it is."""
    if geometry == "orthonormal":
        return None
    if geometry == "rotated":
        return np.linalg.qr(generator.standard_normal((size, size)))[0]
    if geometry == "close":
        return np.ones((size, size)) + 0.1 * np.eye(size)
    dimension = size + 1 if geometry == "general" else max(size - 1, 1)
    return generator.standard_normal((size, dimension))


SCALES = (1.0, 2.0, 5.0, 0.5, 0.1, 10.0, 0.01, 100.0, 1e-4, 1e4)
"""Of unit vectors that may do as well as other embeddings."""

MOST_ENTRIES = 36
"""Of an array whose entries are left out one by one."""


def with_simpler_arrays(instance: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The instance with one of these arrays made plainer, or all of them rounded."""
    arrays = {name: a for name in names if (a := getattr(instance, name)) is not None}
    for name, array in arrays.items():
        for scale in SCALES if array.ndim == 2 else ():
            units = scale * np.eye(*array.shape)
            if digits_of(units) <= digits_of(array):
                yield replace(instance, **{name: units})
    for digits in (1, 2, 3):
        rounded = {name: _rounded(array, digits) for name, array in arrays.items()}
        if any((rounded[name] != array).any() for name, array in arrays.items()):
            yield replace(instance, **rounded)
    for name, array in arrays.items():
        for at in np.argwhere(array) if array.size <= MOST_ENTRIES else ():
            emptied = array.copy()
            emptied[tuple(at)] = 0.0
            yield replace(instance, **{name: emptied})


def _rounded(array: np.ndarray, digits: int) -> np.ndarray:
    """To so many digits of the largest entry."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest == 0:
        return array
    return np.round(array, digits - 1 - int(np.floor(np.log10(largest))))


def digits_of(*arrays: np.ndarray | None) -> int:
    """How much there is to type."""
    known = [array for array in arrays if array is not None]
    return sum(len(f"{value:g}") for array in known for value in array.ravel() if value)
