"""From what a user writes to samples, and back to what a token file says."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError
from lemmata.tokens import Token, TokenData

Sentence = str | Sequence[Token]
"""Words with blanks between them, or a list of tokens."""

Sentences = Mapping[Sentence, int] | Iterable[Sentence]
"""Sentences, or how often each occurs."""


def samples_of(sentences: Sentences) -> TokenData:
    """The last token of each sentence is the label of the rest.

    Examples:
        >>> data = samples_of({"a b a": 1000, "b a b": 1})
        >>> [(sample.tokens, sample.label, sample.count) for sample in data.samples]
        [((0, 1), 0, 1000), ((1, 0), 1, 1)]
    """
    if isinstance(sentences, str):
        raise InputError(f"give a list of sentences, not one text: [{sentences!r}]")
    counted = (
        sentences.items() if isinstance(sentences, Mapping) else ((one, 1) for one in sentences)
    )
    rows = []
    for number, (sentence, count) in enumerate(counted, start=1):
        if not isinstance(sentence, str | Sequence):
            raise InputError(f"sentence {number} is a text or a list of tokens; got {sentence!r}")
        tokens = list(sentence.split() if isinstance(sentence, str) else sentence)
        if len(tokens) < 2:
            raise InputError(
                f"sentence {number} ({sentence!r}) needs two tokens: the last one is the label of "
                "the rest"
            )
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(
                f"sentence {number} ({sentence!r}) cannot occur {count!r} times; give a positive "
                "whole number"
            )
        rows.append((tokens[:-1], tokens[-1], count, f"sentence {number}"))
    if not rows:
        raise InputError("there is no sentence: give at least one")
    return TokenData.from_samples(rows)


def document_of(
    data: TokenData,
    embeddings: Float[np.ndarray, "tokens dimension"] | None,
    initial_weights: Float[np.ndarray, "dimension dimension"] | None,
    log_frequency: Float[np.ndarray, "samples"] | None = None,
) -> dict[str, Any]:
    """What a JSON token file says about the same data.

    A reader numbers tokens as they first appear, or by their size if all are integers, so the
    rows of embeddings follow the tokens; rows of tokens that never appear are left out, unless
    tokens are their own rows.
    """
    if any(sample.query != sample.tokens[-1] for sample in data.samples):
        raise InputError("samples that lost their last token cannot be written to a file")
    names, rows = data.vocabulary, _reading_order(data, embeddings is not None)
    if embeddings is not None and _integers(data):
        names, rows = range(data.size), list(range(data.size))
    document: dict[str, Any] = {
        "sequences": [[names[token] for token in sample.tokens] for sample in data.samples],
        "labels": [names[sample.label] for sample in data.samples],
    }
    if log_frequency is None:
        document["counts"] = [sample.count for sample in data.samples]
    else:
        document["log_frequencies"] = log_frequency.tolist()
    if embeddings is not None:
        document["embeddings"] = embeddings[rows].tolist()
    if initial_weights is not None:
        moved = initial_weights if embeddings is not None else initial_weights[np.ix_(rows, rows)]
        document["initial_weights"] = moved.tolist()
    return document


def _reading_order(data: TokenData, embedded: bool) -> list[int]:
    """The tokens in the order in which a reader numbers them."""
    seen = dict.fromkeys(
        token for sample in data.samples for token in (*sample.tokens, sample.label)
    )
    if _integers(data) and not embedded:
        return sorted(seen, key=lambda token: int(data.vocabulary[token]))
    return list(seen)


def _integers(data: TokenData) -> bool:
    """Whether every token that appears is an integer."""
    used = {token for sample in data.samples for token in (*sample.tokens, sample.label)}
    return all(isinstance(data.vocabulary[token], int) for token in used)
