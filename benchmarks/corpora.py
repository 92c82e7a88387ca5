"""Large synthetic corpora: tokens by Zipf's law, labels by a hidden order."""

import numpy as np

from lemmata.papers.mechanics.setting import Dataset

LENGTH = 16
"""Tokens of a sequence."""

PRIME = 999_983


def corpus(vocabulary: int, sequences: int, seed: int) -> Dataset:
    """Sequences labelled by a random order per last token, with orthonormal embeddings.

    The order is a pseudo-random number per (last token, token), so no table of all pairs is
    needed; it has no cycles, so no tokens tie.
    """
    draw = np.random.default_rng(seed)
    chance = 1 / np.arange(1, vocabulary + 1)
    tokens = draw.choice(vocabulary, (sequences, LENGTH), p=chance / chance.sum())
    mixed = (tokens * 7_919 + tokens[:, -1:] * 104_729) % PRIME
    height = (mixed * mixed + 12_345 * mixed) % PRIME
    labels = np.take_along_axis(tokens, height.argmax(axis=1)[:, None], axis=1)[:, 0]
    name = f"zipf-{vocabulary}-{sequences}"
    return Dataset.from_samples(name, tokens.tolist(), labels.tolist())
