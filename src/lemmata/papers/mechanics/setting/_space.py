"""How datasets vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from lemmata.settings import AbstractSpace, Balls, Scope
from lemmata.tokens import (
    GEOMETRIES,
    TokenData,
    all_datasets,
    data_size,
    digits_of,
    draw_data,
    draw_embeddings,
    simpler_data,
    vary_data,
    with_simpler_arrays,
)

from ._dataset import Dataset
from ._enclosures import as_balls, direction_ball, length, tied_balls
from ._options import CURVES, request_of
from ._replay import replay

RATES = (1e-3, 0.1, 1.0, 10.0, 100.0, 1e-6, 1e4)
"""Step sizes from far below to far beyond the stable range."""

SKEWS = (1_000, 10**12)
SCALES = (1e-4, 0.1, 10.0, 1e4)
STARTS = (0.01, 1.0, 30.0, 1e3)
"""Of counts and of embeddings, against 1; and of W(0)."""

HAIR = 2.0**-43
"""Embeddings are moved by this much to see what is rounding."""


BASES = (
    ("a b -> a",),
    ("a b -> a", "b a -> b"),
    ("a b -> a", "b b a -> a"),
    ("a b -> a", "a b -> b"),
    ("a b c -> a", "a b c -> b", "b c -> b"),
    ("a b c -> a", "b c -> b", "c a b -> b"),
    ("a a b c -> c", "c b -> c", "b c a -> a"),
)
"""Data at which extremes are tried: without ties, with ties, with both."""


class TokenSpace(AbstractSpace[Dataset]):
    """Samples, counts, embeddings and W(0)."""

    limits: ClassVar = {"K": 3, "T": 3, "n": 4}

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Dataset]]:
        K, T, most = (limits.get(name, self.limits[name]) for name in ("K", "T", "n"))
        return [
            Scope(
                f"K <= {K}, T <= {T}, n = {n}",
                {"K": K, "T": T, "n": n},
                lambda n=n: _named(all_datasets(K, T, n)),
            )
            for n in range(1, most + 1)
        ]

    def extremes(self) -> Iterator[Dataset]:
        """Skewed counts, embeddings of every geometry and scale, and W(0), alone and in pairs."""
        number = 0
        for base, geometry, skew in product(BASES, GEOMETRIES, (1, *SKEWS)):
            data = _parse(base, skew)
            for scale, start in _pairs_of_scales(geometry):
                number += 1
                draw = np.random.default_rng(number)
                E = draw_embeddings(geometry, data.size, draw)
                width = data.size if E is None else E.shape[1]
                W = None if start == 0 else start * draw.standard_normal((width, width))
                if W is not None and E is None:
                    E = np.eye(data.size)
                yield Dataset(f"extreme {number}", data, None if E is None else E * scale, W)

    def draw(self, generator: np.random.Generator) -> Dataset:
        dataset = Dataset("drawn", draw_data(generator))
        return self._dress(dataset, generator) if generator.random() < 0.3 else dataset

    def vary(self, instance: Dataset, generator: np.random.Generator) -> Dataset:
        if generator.random() < 0.2:
            return self._dress(replace(instance, embeddings=None, initial_weights=None), generator)
        data = vary_data(instance.data, generator)
        if data.size == instance.data.size:
            return replace(instance, data=data)
        return Dataset(instance.name, data)

    def _dress(self, dataset: Dataset, generator: np.random.Generator) -> Dataset:
        """With embeddings, with W(0), or with both."""
        geometry = GEOMETRIES[int(generator.integers(len(GEOMETRIES)))]
        E = draw_embeddings(geometry, dataset.K, generator)
        W = None
        if E is None or generator.random() < 0.3:
            E = np.eye(dataset.K) if E is None else E
            W = 10 ** generator.uniform(-2, 1) * generator.standard_normal(2 * E.shape[1:])
        return replace(dataset, embeddings=E, initial_weights=W)

    def simpler(self, instance: Dataset) -> Iterator[Dataset]:
        if instance.embeddings is not None or instance.initial_weights is not None:
            yield Dataset(instance.name, instance.data)
            yield replace(instance, initial_weights=None)
            yield from with_simpler_arrays(instance, ("embeddings", "initial_weights"))
        for data in simpler_data(instance.data):
            if instance.embeddings is None:
                yield Dataset(instance.name, data)
            elif data.size == instance.data.size:
                yield replace(instance, data=data)

    def size(self, instance: Dataset) -> tuple[float | int, ...]:
        """Samples, tokens, lengths, repetitions, and numbers in embeddings and W(0)."""
        digits = digits_of(instance.embeddings, instance.initial_weights)
        return (*data_size(instance.data), digits)

    def degenerate(self, instance: Dataset) -> str | None:
        E = instance.E
        if not any(np.any(E[a] != E[b]) and np.any(E[q]) for q, (a, b) in instance.pairs):
            return "no sample has a gradient"
        return None

    def doubt(self, instance: Dataset) -> float:
        """Of W^mm, which is exact with orthonormal embeddings."""
        bound, norm = instance.margin.error_bound, instance.margin.norm
        return bound / norm if bound and norm else 0.0

    def equivalents(self, instance: Dataset) -> Iterator[Dataset]:
        """Samples in the other order; unit vectors, or all vectors moved by a hair together.

        That keeps what is linearly dependent, and the name, from which random points come.
        """
        yield replace(instance, data=replace(instance.data, samples=instance.data.samples[::-1]))
        if instance.embeddings is None:
            yield replace(instance, embeddings=np.eye(instance.K))
            return
        for number in range(2):
            noise = np.random.default_rng(number).standard_normal(2 * instance.E.shape[1:])
            moved = instance.embeddings @ (np.eye(len(noise)) + HAIR * noise)
            yield replace(instance, embeddings=moved)

    def enclosures(self, instance: Dataset) -> Mapping[str, Any]:
        """Embeddings and start as they are written, and the limits."""
        target, ties = direction_ball(instance), tied_balls(instance)
        balls = {"E": as_balls(instance.E)}
        if instance.embeddings is not None:
            balls["embeddings"] = balls["E"]
        if instance.initial_weights is not None:
            balls["initial_weights"] = as_balls(instance.initial_weights)
        if target is not None:
            balls |= {"W_mm": target, "target": target}
        if ties is not None:
            balls["W_cyc"] = ties.limit
        norm = {} if target is None else {"norm": length(target)}
        return {
            name: np.array(matrix.tolist(), dtype=object) for name, matrix in balls.items()
        } | norm

    def changes(self, instance: Dataset) -> Iterator[tuple[str, Dataset]]:
        samples = instance.data.samples
        counted = tuple(replace(s, count=s.count + i) for i, s in enumerate(samples))
        if len(samples) > 1:
            yield "how often each sample occurs", self._with(instance, counted)
        longer = tuple(replace(s, tokens=(s.tokens[0], *s.tokens)) for s in samples)
        yield "how often a token is repeated", self._with(instance, longer)
        if instance.embeddings is None:
            tilted = draw_embeddings("rotated", instance.K, np.random.default_rng(0))
            yield "which orthonormal family it is", replace(instance, embeddings=tilted)

    def _with(self, instance: Dataset, samples: tuple[Any, ...]) -> Dataset:
        return replace(instance, data=TokenData(instance.data.vocabulary, samples))

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Step sizes and numbers of steps; the algorithm and the loss are part of a statement."""
        alone = [*({"rate": rate} for rate in RATES), {"steps": 10}, {"steps": 20_000}]
        return ({}, *alone, *({"rate": rate, "steps": 10} for rate in RATES))

    def replay(
        self, instance: Dataset, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        request = request_of(options)
        if request.algorithm in CURVES:
            return None
        return replay(instance, request.training, request.training.rate_of(instance), steps)


def _named(many: Iterator[TokenData]) -> Iterator[Dataset]:
    for i, data in enumerate(many, start=1):
        yield Dataset(f"dataset {i}", data)


def _parse(lines: Sequence[str], skew: int) -> TokenData:
    """Samples such as ``a b -> a``; every second one occurs ``skew`` times."""
    rows = []
    for i, line in enumerate(lines):
        tokens, label = line.split(" -> ")
        rows.append((tokens.split(), label, skew if i % 2 else 1, f"sample {i + 1}"))
    return TokenData.from_samples(rows)


def _pairs_of_scales(geometry: str) -> Iterator[tuple[float, float]]:
    """A scale of the embeddings and one of W(0): each at its extremes, the other as usual."""
    yield 1.0, 0.0
    if geometry != "orthonormal":
        yield from ((scale, 0.0) for scale in SCALES)
    yield from ((1.0, start) for start in STARTS)
