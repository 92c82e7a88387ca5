"""How datasets vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product, repeat
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from lemmata.settings import AbstractSpace, Balls, Scope, as_balls
from lemmata.tokens import (
    FAMILY_SIZES,
    GEOMETRIES,
    Contest,
    TokenData,
    all_datasets,
    data_size,
    digits_of,
    draw_data,
    draw_embeddings,
    letters,
    order_families,
    simpler_data,
    vary_data,
    with_simpler_arrays,
)

from ._dataset import Dataset
from ._enclosures import direction_ball, length, tied_balls
from ._heads import HEADS
from ._options import CURVES, request_of
from ._replay import replay

RATES = (10.0, 100.0, 1.0, 0.1, 1e-3, 1e4, 1e-6)
"""Step sizes from far below to far beyond the stable range; those that break most come first."""

SKEWS = (-0.1, 1_000, 10**12, -50.0, -10_000.0)
"""How often every second sample occurs, against once; or the logarithm of that."""

RARE = (0.0, 0.0, -5.0, -50.0, -1_000.0, -10_000.0)
"""Logarithms of frequencies to choose from."""

SCALES = (1e-4, 0.1, 10.0, 1e4)
STARTS = (0.01, 1.0, 30.0, 1e3)
"""Of embeddings, against 1, and of W(0)."""

ARRAYS = ("embeddings", "initial_weights", "log_frequency")
"""What an instance may hold beside its samples."""

EVERY_GEOMETRY = ("stretched", *GEOMETRIES, "uneven")
LENGTHS, LONGER = (1.0, 2.0, 0.5), 30.0
"""Of orthogonal vectors, and of the last vector against the others."""

SCORE_LOSSES = ("flat", "squared", "linear")
"""Losses of the label's score; those that are flat at 1 first."""

HAIR = 2.0**-43
"""Embeddings are moved by this much to see what is rounding."""


BASES = (
    ("a b -> a", "b a -> b"),
    ("a b c -> a", "a b c -> b", "a b -> a"),
    ("a b -> a",),
    ("a b -> a", "b b a -> a"),
    ("a b -> a", "a b -> b"),
    ("a b c -> a", "a b c -> b", "b c -> b"),
    ("a b c -> a", "b c -> b", "c a b -> b"),
    ("a a b c -> c", "c b -> c", "b c a -> a"),
)
"""Data at which extremes are tried: without ties, with ties, with both."""


class TokenSpace(AbstractSpace[Dataset]):
    """Samples, counts or log-frequencies, embeddings and W(0)."""

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
        """Skewed frequencies, embeddings of every geometry and scale, and W(0), also in pairs;
        then orders of many tokens."""
        for number, (base, geometry, skew, scale, start) in enumerate(_combinations()):
            draw = np.random.default_rng(number)
            data = _parse(base, int(max(skew, 1)))
            rare = np.where(np.arange(len(base)) % 2, skew, 0.0) if skew < 0 else None
            E = _embeddings(geometry, data.size, draw)
            width = data.size if E is None else E.shape[1]
            W = None if start == 0 else start * draw.standard_normal((width, width))
            if W is not None and E is None:
                E = np.eye(data.size)
            yield Dataset(f"extreme {number}", data, None if E is None else E * scale, W, rare)
        for size in FAMILY_SIZES:
            for number, contests in enumerate(order_families(size)):
                yield Dataset(f"family {number} of {size}", _samples(contests))

    def draw(self, generator: np.random.Generator) -> Dataset:
        dataset = Dataset("drawn", draw_data(generator))
        return self._dress(dataset, generator) if generator.random() < 0.3 else dataset

    def vary(self, instance: Dataset, generator: np.random.Generator) -> Dataset:
        if generator.random() < 0.2:
            return self._dress(Dataset(instance.name, instance.data), generator)
        data = vary_data(instance.data, generator)
        if data.size != instance.data.size:
            return Dataset(instance.name, data)
        return replace(instance, data=data, log_frequency=_carried_over(instance, data))

    def _dress(self, dataset: Dataset, generator: np.random.Generator) -> Dataset:
        """With skewed frequencies, or with embeddings, W(0), or several of these."""
        samples = dataset.data.samples
        if len(samples) > 1 and generator.random() < 0.3:
            data = replace(dataset.data, samples=tuple(replace(s, count=1) for s in samples))
            rare = generator.choice(RARE, len(samples))
            dataset = replace(dataset, data=data, log_frequency=rare)
            if generator.random() < 0.5:
                return dataset
        geometry = EVERY_GEOMETRY[int(generator.integers(len(EVERY_GEOMETRY)))]
        E = _embeddings(geometry, dataset.K, generator)
        W = None
        if E is None or generator.random() < 0.3:
            E = np.eye(dataset.K) if E is None else E
            W = 10 ** generator.uniform(-2, 1) * generator.standard_normal(2 * E.shape[1:])
        return replace(dataset, embeddings=E, initial_weights=W)

    def simpler(self, instance: Dataset) -> Iterator[Dataset]:
        if any(getattr(instance, name) is not None for name in ARRAYS):
            yield Dataset(instance.name, instance.data)
            yield replace(instance, initial_weights=None)
            yield replace(instance, log_frequency=None)
            yield from _of_size_one(instance)
            yield from with_simpler_arrays(instance, ARRAYS)
        for data in simpler_data(instance.data):
            if instance.embeddings is None or data.size == instance.data.size:
                rare = _carried_over(instance, data)
                yield replace(instance, data=data, log_frequency=rare)

    def size(self, instance: Dataset) -> tuple[float | int, ...]:
        """Samples, tokens, lengths, repetitions, and numbers in the arrays."""
        digits = digits_of(*(getattr(instance, name) for name in ARRAYS))
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
        rare = None if instance.log_frequency is None else instance.log_frequency[::-1]
        data = replace(instance.data, samples=instance.data.samples[::-1])
        yield replace(instance, data=data, log_frequency=rare)
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
        if len(samples) > 1 and instance.log_frequency is None:
            for counts in (range(1, len(samples) + 1), range(len(samples), 0, -1), repeat(1)):
                counted = (replace(s, count=n) for s, n in zip(samples, counts, strict=False))
                yield "how often each sample occurs", self._with(instance, tuple(counted))
        longer = tuple(replace(s, tokens=(s.tokens[0], *s.tokens)) for s in samples)
        yield "how often a token is repeated", self._with(instance, longer)
        if instance.embeddings is None:
            tilted = draw_embeddings("rotated", instance.K, np.random.default_rng(0))
            yield "which orthonormal family it is", replace(instance, embeddings=tilted)

    def _with(self, instance: Dataset, samples: tuple[Any, ...]) -> Dataset:
        return replace(instance, data=TokenData(instance.data.vocabulary, samples))

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Step sizes, numbers of steps, losses and heads, for statements that leave them open."""
        alone = [*({"rate": rate} for rate in RATES), {"steps": 10}, {"steps": 20_000}]
        pairs = [{"rate": rate, "steps": 10} for rate in RATES]
        losses = [{"loss": loss} for loss in SCORE_LOSSES]
        heads = [{"loss": SCORE_LOSSES[0], "head": head} for head in HEADS]
        return ({}, *alone, *pairs, *losses, *heads)

    def replay(
        self, instance: Dataset, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        request = request_of(options)
        if request.algorithm in CURVES:
            return None
        return replay(instance, request.training, request.training.rate_of(instance), steps)


def _carried_over(instance: Dataset, data: TokenData) -> np.ndarray | None:
    """The log-frequencies of what is left of the samples; new ones are as frequent as any."""
    if instance.log_frequency is None:
        return None
    old = [(s.tokens, s.label) for s in instance.data.samples]
    known = dict(zip(old, instance.log_frequency, strict=True))
    return np.array([known.get((s.tokens, s.label), 0.0) for s in data.samples])


def _of_size_one(instance: Dataset) -> Iterator[Dataset]:
    """With embeddings of about 1, by a power of ten; W(0) is left as it is."""
    if instance.embeddings is None:
        return
    tens = np.floor(np.log10(max(float(np.abs(instance.embeddings).max()), 1e-300)))
    if tens:
        yield replace(instance, embeddings=instance.embeddings * 10.0**-tens)


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


def _samples(contests: Sequence[Contest]) -> TokenData:
    """One sample a contest: its label is the token that beats the others."""
    names = letters(1 + max(max(tokens) for tokens, _ in contests))
    return TokenData.from_samples(
        ([names[token] for token in tokens], names[best], 1, f"sample {number}")
        for number, (tokens, best) in enumerate(contests, start=1)
    )


def _combinations() -> Iterator[tuple[Sequence[str], str, float, float, float]]:
    """Base, geometry, skew of frequencies, scale of embeddings and of W(0).

    First every base in every geometry; then scales at their extremes, the other one as usual.
    """
    for base, geometry in product(BASES, EVERY_GEOMETRY):
        yield base, geometry, 1, 1.0, 0.0
    for base, geometry, skew in product(BASES, EVERY_GEOMETRY, (1, *SKEWS)):
        if skew != 1:
            yield base, geometry, skew, 1.0, 0.0
        if geometry != "orthonormal":
            yield from ((base, geometry, skew, scale, 0.0) for scale in SCALES)
        yield from ((base, geometry, skew, 1.0, start) for start in STARTS)


def _embeddings(geometry: str, size: int, generator: np.random.Generator) -> np.ndarray | None:
    """Those of a geometry; ``stretched`` ones are orthogonal, ``uneven`` ones are not."""
    if geometry == "stretched":
        return np.diag(np.resize(LENGTHS, size))
    if geometry == "uneven":
        lengths = np.where(np.arange(size) < size - 1, 1.0, LONGER)
        return lengths[:, None] * generator.standard_normal((size, size))
    return draw_embeddings(geometry, size, generator)
