"""How token data varies: neighbours for a climb, and what is left if something is left out."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError

from ._data import Sample, TokenData
from ._enumerate import letters

MOST_TOKENS, MOST_SAMPLES, LONGEST = 6, 8, 6
"""How large varied data grows."""

COUNTS = (1, 2, 10, 1_000, 1_000_000)


def draw_data(generator: np.random.Generator) -> TokenData:
    """A few random samples, whose labels mostly occur in them."""
    K = int(generator.integers(2, MOST_TOKENS + 1))
    count = int(generator.integers(1, MOST_SAMPLES + 1))
    return _tidy([_draw_sample(K, generator) for _ in range(count)])


def _draw_sample(K: int, generator: np.random.Generator) -> Sample:
    length = int(generator.integers(2, LONGEST + 1))
    tokens = tuple(int(t) for t in generator.integers(0, K, length))
    label = tokens[int(generator.integers(length))]
    if generator.random() < 0.05:
        label = int(generator.integers(K))
    return Sample(tokens, label)


def vary_data(data: TokenData, generator: np.random.Generator) -> TokenData:
    """One sample more or less, another token, another label, or another count."""
    samples, K = list(data.samples), max(data.size, 2)
    at = int(generator.integers(len(samples)))
    chosen, kind = samples[at], int(generator.integers(6))
    if kind == 0 and len(samples) < MOST_SAMPLES:
        samples.append(_draw_sample(min(K + 1, MOST_TOKENS), generator))
    elif kind == 1 and len(samples) > 1:
        del samples[at]
    elif kind == 2:
        samples[at] = replace(
            chosen, label=chosen.tokens[int(generator.integers(K)) % len(chosen.tokens)]
        )
    elif kind == 3:
        count = int(generator.choice((*COUNTS, chosen.count + 1, samples[at - 1].count + 1)))
        samples[at] = replace(chosen, count=count)
    else:
        tokens = list(chosen.tokens)
        tokens[int(generator.integers(len(tokens)))] = int(generator.integers(K))
        label = chosen.label if chosen.label in tokens else tokens[0]
        samples[at] = Sample(tuple(tokens), label, chosen.count)
    return _tidy(samples)


def simpler_data(data: TokenData) -> Iterator[TokenData]:
    """Without a sample, with two tokens made one, without a token, with smaller counts."""
    samples = list(data.samples)
    for at in range(len(samples)) if len(samples) > 1 else ():
        yield _tidy(samples[:at] + samples[at + 1 :])
    for kept in range(data.size):
        for gone in range(kept + 1, data.size):
            yield _tidy([_renamed(sample, gone, kept) for sample in samples])
    for at, sample in enumerate(samples):
        for shorter in _shorter(sample):
            yield _tidy([*samples[:at], shorter, *samples[at + 1 :]])
    if any(sample.count > 1 for sample in samples):
        yield _tidy([replace(sample, count=1) for sample in samples])
    for at, sample in enumerate(samples):
        for count in {1, sample.count // 10, sample.count // 2} - {0, sample.count}:
            yield _tidy([*samples[:at], replace(sample, count=count), *samples[at + 1 :]])


def _shorter(sample: Sample) -> Iterator[Sample]:
    """Without one of its tokens, the last one and the label excepted."""
    for i in range(len(sample.tokens) - 1):
        rest = sample.tokens[:i] + sample.tokens[i + 1 :]
        if len(rest) > 1 and (sample.label in rest or sample.label not in sample.tokens):
            yield replace(sample, tokens=rest)


def _renamed(sample: Sample, gone: int, kept: int) -> Sample:
    tokens = tuple(kept if token == gone else token for token in sample.tokens)
    return replace(sample, tokens=tokens, label=kept if sample.label == gone else sample.label)


def _tidy(samples: list[Sample]) -> TokenData:
    """Equal samples counted together, tokens a, b, c by first appearance."""
    merged: dict[tuple[tuple[int, ...], int], int] = {}
    for sample in samples:
        key = ((*sorted(sample.tokens[:-1]), sample.tokens[-1]), sample.label)
        merged[key] = merged.get(key, 0) + sample.count
    used = dict.fromkeys(t for tokens, label in merged for t in (*tokens, label))
    number = {token: i for i, token in enumerate(used)}
    rows = tuple(
        Sample(tuple(number[t] for t in tokens), number[label], count, f"sample {i}")
        for i, ((tokens, label), count) in enumerate(merged.items(), start=1)
    )
    return TokenData(tuple(letters(len(used))), rows)


def data_size(data: TokenData) -> tuple[int, int, int, int]:
    """Samples, tokens, their lengths together, and how often they are repeated."""
    lengths = sum(len(sample.tokens) for sample in data.samples)
    return len(data.samples), data.size, lengths, data.total - len(data.samples)


def skewed(ratio: float, samples: int) -> Float[np.ndarray, "samples"] | None:
    """Log-frequencies that fall evenly, the first ``ratio`` times the last; None for ratio 1."""
    if not (math.isfinite(ratio) and ratio > 0):
        raise InputError(f"skew must be a positive number; got {ratio}")
    return None if ratio == 1 else -math.log(ratio) * np.linspace(0.0, 1.0, samples)
