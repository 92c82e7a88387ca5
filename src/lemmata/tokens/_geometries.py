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


def with_fewer_digits(instance: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The instance with these arrays rounded, where that changes something."""
    for digits in (0, 1, 2):
        arrays = {
            name: np.round(array, digits)
            for name in names
            if (array := getattr(instance, name)) is not None
        }
        if any((arrays[name] != getattr(instance, name)).any() for name in arrays):
            yield replace(instance, **arrays)


def digits_of(*arrays: np.ndarray | None) -> int:
    """How much there is to type."""
    known = [array for array in arrays if array is not None]
    return sum(len(f"{value:g}") for array in known for value in array.ravel() if value)
