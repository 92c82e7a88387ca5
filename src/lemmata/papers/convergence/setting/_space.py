"""How datasets vary: what an adversary goes through, climbs over and shrinks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from lemmata.settings import AbstractSpace, Balls, Scope
from lemmata.tokens import (
    FAMILY_SIZES,
    GEOMETRIES,
    Contest,
    Sample,
    TokenData,
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
from ._factored import Factored
from ._generators import Realizable
from ._options import request_of
from ._replay import replay, replay_joint
from ._scopes import realizable_sentences, small_datasets, with_pairs
from ._two_stage import Joint

RATES = (1e-3, 0.1, 1.0, 10.0, 100.0)
"""Step sizes from far below to far beyond the stable range."""

COUNTS = (1, 2, 10, 1_000, 1_000_000)
RARE = (-5.0, -50.0, -1_000.0, -10_000.0, -1e11)
"""Counts, and logarithms of frequencies, from even to absurdly skewed."""

SCALES = (1e-3, 0.1, 10.0, 1e3)
STARTS = (0.01, 1.0, 30.0)
"""Of embeddings and of W_kq(0)."""

ARRAYS = ("embeddings", "initial_weights", "initial_values", "log_frequency")
MOST_TOKENS, LONGEST = 6, 6

BASES = (
    ("aba", "ba"),
    ("aba", "bab"),
    ("abab", "ba"),
    ("abca", "bc", "cab"),
    ("abcb", "bc", "ca"),
    ("abcc", "bcc", "ca"),
    ("aaba", "bb"),
    ("abbb", "ba"),
    ("yqq", "zqq", "wxqq", "qx", "xq"),
    ("211", "43010", "00", "12", "34"),
    ("ab", "bc", "cd", "de", "ea", "abce>b", "dbe>e", "cabe>d"),
    ("ab", "bc", "ca", f"abbbbbb{'c' * 30}>b", "abbc>b"),
)
"""Data at which extremes are tried: sentences, and inputs with a next token after ``>``."""


class SentenceSpace(AbstractSpace[Dataset]):
    """Samples, counts or log-frequencies, embeddings and W_kq(0)."""

    limits: ClassVar = {"K": 3, "T": 3, "n": 4}

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Dataset]]:
        K, T, most = (limits.get(name, self.limits[name]) for name in ("K", "T", "n"))
        by_number = [
            Scope(
                f"K <= {K}, T <= {T}, n = {n}: prefix-closed data, and realizable data",
                {"K": K, "T": T, "n": n},
                lambda n=n: _named(small_datasets(K, T, n)),
            )
            for n in range(1, most + 1)
        ]
        longer = Scope(
            f"K <= {K + 1}, T <= {T + 1}: prefix-closed realizable data",
            {"K": K + 1, "T": T + 1},
            lambda: _named(realizable_sentences(K + 1, T + 1)),
        )
        return [*by_number[:2], longer, *by_number[2:]]

    def extremes(self) -> Iterator[Dataset]:
        """Skewed frequencies, embeddings of every geometry and scale, W_kq(0); also in pairs;
        then orders of many tokens."""
        for base in BASES:
            yield from _prejudiced(Dataset("prejudiced", _parse(base)))
        for number, (data, log_pi, geometry, scale, start) in enumerate(_combinations(), start=1):
            draw = np.random.default_rng(number)
            E = draw_embeddings(geometry, data.size, draw)
            E = np.eye(data.size) if E is None and start else E
            W = start * draw.standard_normal((E.shape[1],) * 2) if start and E is not None else None
            scaled = None if E is None else E * scale
            yield Dataset(f"extreme {number}", data, scaled, W, log_pi)
        for size in FAMILY_SIZES:
            for number, contests in enumerate(order_families(size)):
                yield Dataset(f"family {number} of {size}", _parse(_sentences(contests)))

    def draw(self, generator: np.random.Generator) -> Dataset:
        if generator.random() < 0.3:
            data = with_pairs(_lettered(draw_data(generator)))
        else:
            K = int(generator.integers(2, MOST_TOKENS + 1))
            recipe = Realizable(
                K,
                int(generator.integers(1, K)),
                float(generator.random()),
                K - 1,
                int(generator.integers(3, LONGEST + 2)),
                bool(generator.random() < 0.7),
            )
            data = _lettered(recipe.draw(generator))
        dataset = Dataset("drawn", data)
        return _dress(dataset, generator) if generator.random() < 0.4 else dataset

    def vary(self, instance: Dataset, generator: np.random.Generator) -> Dataset:
        if generator.random() < 0.2:
            return _dress(Dataset(instance.name, instance.data), generator)
        closed = not instance.broken("not_prefix_closed")
        data = (_vary_sentences if closed else _vary_samples)(instance.data, generator)
        inputs, before = ([s.tokens for s in d.samples] for d in (data, instance.data))
        counted = any(sample.count > 1 for sample in data.samples)
        log_pi = None if counted else instance.log_frequency
        if inputs != before:
            return Dataset(instance.name, data)
        return replace(instance, data=data, log_frequency=log_pi)

    def simpler(self, instance: Dataset) -> Iterator[Dataset]:
        """Without embeddings, W_kq(0) or skew, without samples and tokens, with smaller counts."""
        if any(getattr(instance, name) is not None for name in ARRAYS):
            yield Dataset(instance.name, instance.data)
            yield replace(instance, initial_weights=None)
            yield replace(instance, initial_values=None)
            yield replace(instance, log_frequency=None)
            yield from with_simpler_arrays(instance, ARRAYS)
        for data in (*_shorter_sentences(instance.data), *simpler_data(instance.data)):
            free = instance.embeddings is None and instance.initial_values is None
            fits = free or data.size == instance.K
            log_pi = _restricted(instance, data)
            if fits and (log_pi is None) == (instance.log_frequency is None):
                yield replace(instance, data=data, log_frequency=log_pi)

    def size(self, instance: Dataset) -> tuple[float | int, ...]:
        """Samples, tokens, lengths, repetitions, and numbers in the arrays."""
        return (
            *data_size(instance.data),
            digits_of(*(getattr(instance, name) for name in ARRAYS)),
        )

    def degenerate(self, instance: Dataset) -> str | None:
        if instance.broken("single_token", "nothing_to_attend"):
            return "attention has nothing to choose from"
        if instance.embeddings is not None and not instance.embeddings.any(axis=1).all():
            return "an embedding is 0"
        return None

    def doubt(self, instance: Dataset) -> float:
        """Of W_kq*, which is exact with orthonormal embeddings."""
        if instance.orthonormal:
            return 0.0
        bound, norm = instance.attention_margin.error_bound, instance.attention_margin.norm
        return bound / norm if bound and norm else 0.0

    def changes(self, instance: Dataset) -> Iterator[tuple[str, Dataset]]:
        samples = instance.data.samples
        if len(samples) > 1 and instance.log_frequency is None:
            counted = tuple(replace(s, count=s.count + i) for i, s in enumerate(samples))
            data = TokenData(instance.data.vocabulary, counted)
            yield "how often each sample occurs", replace(instance, data=data)
        if instance.embeddings is None:
            tilted = draw_embeddings("rotated", instance.K, np.random.default_rng(0))
            yield "which orthonormal family it is", replace(instance, embeddings=tilted)

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        """Step sizes and steps of both stages; the algorithm is part of a statement."""
        return (
            {},
            *({"rate": rate} for rate in RATES),
            {"steps": 10},
            {"steps": 10_000},
            {"stage1_steps": 1},
            {"stage1_rate": 100.0},
            *({"rate": rate, "stage1_steps": 1} for rate in (0.1, 10.0)),
            *({"rate": rate, "stage1_rate": 100.0} for rate in (0.1, 10.0)),
        )

    def replay(
        self, instance: Dataset, options: Mapping[str, Any], steps: Int[np.ndarray, "records"]
    ) -> Balls | None:
        training = request_of(options).training
        if not instance.has_collocation or isinstance(training, Factored):
            return None
        if isinstance(training, Joint):
            return (
                None if instance.embeddings is not None else replay_joint(instance, training, steps)
            )
        return replay(instance, training, steps)


def _named(many: Iterator[TokenData]) -> Iterator[Dataset]:
    for i, data in enumerate(many, start=1):
        yield Dataset(f"dataset {i}", data)


def _combinations() -> Iterator[tuple[TokenData, np.ndarray | None, str, float, float]]:
    """Data, log-frequencies, and geometry, scale and start, each at its extremes."""
    for base in BASES:
        data = _parse(base)
        skewed = list(_skewed(data))
        for plain, log_pi in ((data, None), *skewed):
            yield plain, log_pi, "orthonormal", 1.0, 0.0
        rare = (data, None), skewed[0], skewed[-1]
        for (plain, log_pi), geometry in product(rare, GEOMETRIES):
            yield from ((plain, log_pi, geometry, 1.0, start) for start in STARTS)
            if geometry != "orthonormal":
                yield from ((plain, log_pi, geometry, scale, 0.0) for scale in (1.0, *SCALES))


def _prejudiced(dataset: Dataset) -> Iterator[Dataset]:
    """W_kq(0) prefers all tokens but one under one query, each a little more than the last."""
    for token, query in product(range(dataset.K), repeat=2):
        for start in (3.0, 20.0):
            W = np.zeros((dataset.K, dataset.K))
            W[:, query] = start + 0.3 * np.arange(dataset.K)
            W[token, query] = 0.0
            yield replace(dataset, embeddings=np.eye(dataset.K), initial_weights=W)


def _skewed(data: TokenData) -> Iterator[tuple[TokenData, np.ndarray | None]]:
    """One input with a choice is frequent or rare, or every second one is."""
    choices = [i for i, s in enumerate(data.samples) if len(set(s.tokens)) > 1]
    for chosen in (*([i] for i in choices), choices[::2]):
        for count in COUNTS[2:]:
            counted = (
                replace(s, count=count) if i in chosen else s for i, s in enumerate(data.samples)
            )
            yield TokenData(data.vocabulary, tuple(counted)), None
        for rare in RARE:
            yield data, np.where(np.isin(np.arange(len(data.samples)), chosen), rare, 0.0)


def _parse(lines: Sequence[str]) -> TokenData:
    rows = []
    for number, line in enumerate(lines, start=1):
        words, _, after = line.partition(">")
        ends = (len(words),) if after else range(1, len(words))
        rows += [(words[:end], (words + after)[end], 1, f"sentence {number}") for end in ends]
    return TokenData.from_samples(rows)


def _sentences(contests: Sequence[Contest]) -> list[str]:
    """Each token is followed by the next one, and an input by the follower of its best token."""
    names = letters(1 + max(max(tokens) for tokens, _ in contests))
    after = [*names[1:], names[0]]
    pairs = [f"{name}{following}" for name, following in zip(names, after, strict=True)]
    inputs = [f"{''.join(names[t] for t in tokens)}>{after[best]}" for tokens, best in contests]
    return pairs + inputs


def _dress(dataset: Dataset, generator: np.random.Generator) -> Dataset:
    """With embeddings, with W_kq(0), with skewed frequencies, or with several of these."""
    K, skew = dataset.K, None
    if generator.random() < 0.5:
        skew = generator.choice((0.0, 0.0, *RARE), len(dataset.data.samples))
    geometry = GEOMETRIES[int(generator.integers(len(GEOMETRIES)))]
    E = None if generator.random() < 0.4 else draw_embeddings(geometry, K, generator)
    W = None
    if generator.random() < 0.4:
        E = np.eye(K) if E is None else E
        W = 10 ** generator.uniform(-2, 1.5) * generator.standard_normal((E.shape[1],) * 2)
    ones = tuple(replace(s, count=1) for s in dataset.data.samples)
    data = dataset.data if skew is None else TokenData(dataset.data.vocabulary, ones)
    return Dataset(dataset.name, data, E, W, skew)


def _restricted(instance: Dataset, data: TokenData) -> np.ndarray | None:
    """The log-frequencies of what is left of the samples; None if some of it is new."""
    if instance.log_frequency is None:
        return None
    known = dict(zip(_rows(instance.data), instance.log_frequency, strict=True))
    rows = _rows(data)
    return np.array([known[row] for row in rows]) if all(row in known for row in rows) else None


def _rows(data: TokenData) -> list[tuple[Any, ...]]:
    """The samples with the names of their tokens."""
    names = data.vocabulary
    return [(tuple(names[t] for t in s.tokens), names[s.label]) for s in data.samples]


def _longest(data: TokenData) -> list[int]:
    """The samples that are no proper prefix of another one, pairs excepted."""
    prefixes = {s.tokens[:end] for s in data.samples for end in range(1, len(s.tokens))}
    return [i for i, s in enumerate(data.samples) if s.tokens not in prefixes and len(s.tokens) > 1]


def _vary_sentences(data: TokenData, generator: np.random.Generator) -> TokenData:
    """A sentence is longer or shorter, ends differently, or occurs more often."""
    samples, kind = list(data.samples), int(generator.integers(4))
    after = {s.tokens[0]: s.label for s in samples if len(s.tokens) == 1}
    at = int(generator.choice(_longest(data) or len(samples)))
    chosen = samples[at]
    if kind == 0 and len(chosen.tokens) < LONGEST:
        longer = (*chosen.tokens, chosen.label)
        winner = longer[int(generator.integers(len(longer)))]
        samples.append(Sample(longer, after.get(winner, winner), chosen.count, chosen.source))
    elif kind == 1 and len(chosen.tokens) > 1:
        del samples[at]
    elif kind == 2 and len(chosen.tokens) > 1:
        winner = chosen.tokens[int(generator.integers(len(chosen.tokens)))]
        samples[at] = replace(chosen, label=after.get(winner, winner))
    else:
        at = int(generator.integers(len(samples)))
        samples[at] = replace(samples[at], count=int(generator.choice(COUNTS)))
    return _numbered(data, samples)


def _vary_samples(data: TokenData, generator: np.random.Generator) -> TokenData:
    """Other inputs, where every token is sent to itself; elsewhere another count."""
    rest = [s for s in data.samples if len(s.tokens) > 1]
    plain = all(s.label == s.tokens[0] for s in data.samples if len(s.tokens) == 1)
    if plain and rest:
        return with_pairs(vary_data(TokenData(data.vocabulary, tuple(rest)), generator))
    return _vary_sentences(data, generator)


def _shorter_sentences(data: TokenData) -> Iterator[TokenData]:
    """Without the end of a sentence, or all of it; prefix-closed data stays so."""
    for at in _longest(data):
        end = data.samples[at]
        for kept in range(2, len(end.tokens) + 1):
            gone = {end.tokens[:length] for length in range(kept, len(end.tokens) + 1)}
            yield _numbered(data, [s for s in data.samples if s.tokens not in gone])


def _numbered(data: TokenData, samples: Sequence[Sample]) -> TokenData:
    """The samples, with their tokens numbered by first appearance, as a file would have it."""
    rows = _rows(TokenData(data.vocabulary, tuple(samples)))
    return TokenData.from_samples(
        (*row, s.count, s.source) for row, s in zip(rows, samples, strict=True)
    )


def _lettered(data: TokenData) -> TokenData:
    """Tokens called a, b, c by first appearance."""
    numbered = _numbered(data, data.samples)
    return TokenData(tuple(letters(numbered.size)), numbered.samples)
