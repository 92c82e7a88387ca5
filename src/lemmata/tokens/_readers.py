"""Token files: text, JSON Lines and JSON, checked once, at the boundary.

Text holds one sentence a line. JSON Lines holds ``{"sequence": [...], "label": ...}`` a line,
optionally with ``count``. JSON holds ``{"sequences": [...], "labels": [...]}``, optionally with
``counts``, ``frequencies`` or ``log_frequencies``, ``embeddings``, ``initial_weights``,
``initial_values``, a ``name`` and ``options`` of training, or ``{"instances": [...]}`` of such
objects. A key that is not known is an error.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError, unknown_name

from ._data import Token, TokenData
from ._embeddings import as_matrix, check_start

LONGEST_LINE = 1_000_000
LONGEST_SEQUENCE = 2_000
LARGEST_COUNT = 10**12

LINE_KEYS = ("sequence", "label", "count")
KEYS = (
    "name",
    "sequences",
    "labels",
    "counts",
    "frequencies",
    "log_frequencies",
    "embeddings",
    "initial_weights",
    "initial_values",
    "options",
)
SHARES = ("counts", "frequencies", "log_frequencies")
"""How often each sequence occurs, in one of three ways."""

Row = tuple[list[Token], Token, int, str]


@dataclass(frozen=True)
class Instance:
    """One dataset to train on, with whatever its file said about embeddings and weights.

    ``log_frequencies`` has the logarithm of the share of each sample, up to a common constant,
    where that is not written as counts. ``initial_values`` is where a linear layer after attention
    starts, one row a next token.
    """

    data: TokenData
    embeddings: Float[np.ndarray, "tokens dimension"] | None = None
    initial_weights: Float[np.ndarray, "dimension dimension"] | None = None
    name: str = ""
    log_frequencies: Float[np.ndarray, "samples"] | None = None
    initial_values: Float[np.ndarray, "vocabulary dimension"] | None = None

    def check_shapes(self, name: str) -> None:
        """Embeddings have a row a token, weights to start from their dimension and a norm."""
        size, embeddings, start = self.data.size, self.embeddings, self.initial_weights
        if embeddings is not None and len(embeddings) != size:
            raise InputError(f"{name}: {len(embeddings)} embedding rows for {size} tokens")
        dimension = size if embeddings is None else embeddings.shape[1]
        if start is not None and start.shape != (dimension, dimension):
            raise InputError(
                f"{name}: initial weights have shape {start.shape}; "
                f"expected {(dimension, dimension)}"
            )
        values = self.initial_values
        if values is not None and values.shape != (size, dimension):
            raise InputError(
                f"{name}: initial values have shape {values.shape}; expected {(size, dimension)}, "
                "one row a next token and one column a dimension of the embeddings"
            )
        for what, weights in (("initial weights", start), ("initial values", values)):
            if weights is not None:
                check_start(weights, f"{name}: {what}")


def read_instances(path: Path, *, prefixes: bool) -> list[Instance]:
    """Read a token file.

    With ``prefixes`` a text sentence contributes all of its prefixes; without, its last token
    is the label of the rest. JSON and JSON Lines always state their labels.
    """
    readers = {".txt": _read_text, ".jsonl": _read_json_lines, ".json": _read_json}
    if path.suffix not in readers:
        raise InputError(
            f"{path}: unknown format '{path.suffix}'; expected .txt (one sentence a line), "
            ".jsonl (one object a line) or .json"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected at least one sequence")
    return readers[path.suffix](text, str(path), prefixes)


def _read_text(text: str, where: str, prefixes: bool) -> list[Instance]:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        _check_line(line, f"{where}, line {number}")
        words: list[Token] = list(line.split())
        _check_length(words, f"{where}, line {number}")
        ends = range(1, len(words)) if prefixes else range(max(1, len(words) - 1), len(words))
        rows += [(words[:end], words[end], 1, f"line {number}") for end in ends]
    if not rows:
        raise InputError(
            f"{where}: no sentence has two tokens, so there is no next token to predict"
        )
    return [Instance(TokenData.from_samples(rows))]


def _read_json_lines(text: str, where: str, prefixes: bool) -> list[Instance]:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        place = f"{where}, line {number}"
        _check_line(line, place)
        if line.strip():
            entry = _parse(line, place)
            if not isinstance(entry, dict) or not {"sequence", "label"} <= entry.keys():
                raise InputError(f'{place}: expected {{"sequence": [...], "label": ...}}')
            _check_keys(entry, LINE_KEYS, place)
            count = entry.get("count", 1)
            rows.append(_row(entry["sequence"], entry["label"], count, place, f"line {number}"))
    _check_names(rows, where)
    return [Instance(TokenData.from_samples(rows, _vocabulary(rows, None)))]


def _read_json(text: str, where: str, prefixes: bool) -> list[Instance]:
    document = _parse(text, where)
    if not isinstance(document, dict):
        raise InputError(f'{where}: expected an object with "sequences" and "labels"')
    if "instances" not in document:
        return [_read_instance(document, where)]
    _check_keys(document, ("instances",), where)
    entries = document["instances"]
    if not isinstance(entries, list) or not entries:
        raise InputError(f'{where}: "instances" must be a list with at least one object')
    return [_read_instance(entry, f"{where}, instance {i}") for i, entry in enumerate(entries)]


def _read_instance(entry: Any, where: str) -> Instance:
    if not isinstance(entry, dict) or not {"sequences", "labels"} <= entry.keys():
        raise InputError(f'{where}: expected an object with "sequences" and "labels"')
    _check_keys(entry, KEYS, where)
    sequences, labels = entry["sequences"], entry["labels"]
    if not isinstance(sequences, list) or not isinstance(labels, list) or not sequences:
        raise InputError(f'{where}: "sequences" and "labels" must be lists that are not empty')
    if len(sequences) != len(labels):
        raise InputError(
            f"{where}: {len(sequences)} sequences but {len(labels)} labels; "
            "each sequence needs one label"
        )
    counts = entry.get("counts", [1] * len(sequences))
    if not isinstance(counts, list) or len(counts) != len(sequences):
        raise InputError(f'{where}: "counts" must be a list with one number a sequence')
    rows = [
        _row(sequence, label, count, f"{where}, sequence {i}", f"sequence {i}")
        for i, (sequence, label, count) in enumerate(zip(sequences, labels, counts, strict=True))
    ]
    _check_names(rows, where)
    embeddings = entry.get("embeddings")
    weights = entry.get("initial_weights")
    if embeddings is not None:
        embeddings = as_matrix(embeddings, f"{where}, embeddings")
    data = TokenData.from_samples(rows, _vocabulary(rows, embeddings, where))
    if weights is not None:
        weights = as_matrix(weights, f"{where}, initial_weights")
        dimension = data.size if embeddings is None else embeddings.shape[1]
        if weights.shape != (dimension, dimension):
            raise InputError(
                f"{where}, initial_weights: expected a square matrix of {dimension} rows, the "
                f"dimension of the embeddings; got shape {weights.shape}"
            )
    name = entry.get("name", "")
    if not isinstance(name, str) or not name.isprintable():
        raise InputError(f"{where}: name must be a text that can be printed; got {name!r}")
    values = entry.get("initial_values")
    if values is not None:
        values = as_matrix(values, f"{where}, initial_values")
    shares = _log_frequencies(entry, data, where)
    instance = Instance(data, embeddings, weights, name, shares, values)
    instance.check_shapes(where)
    return instance


def _log_frequencies(
    entry: dict[str, Any], data: TokenData, where: str
) -> Float[np.ndarray, "samples"] | None:
    """One number a sample, in the place of counts; samples that are equal cannot have two."""
    given = [key for key in SHARES if key in entry]
    if len(given) > 1:
        raise InputError(f'{where}: give "{given[0]}" or "{given[1]}", not both')
    if given in ([], ["counts"]):
        return None
    key, numbers = given[0], entry[given[0]]
    lowest = 0.0 if key == "frequencies" else -np.inf
    fits = isinstance(numbers, list) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and lowest < value < np.inf
        for value in numbers
    )
    if not fits or len(numbers) != len(entry["sequences"]):
        what = "positive number" if key == "frequencies" else "number"
        raise InputError(f'{where}: "{key}" must be a list with one {what} a sequence')
    if len(numbers) != len(data.samples):
        raise InputError(f'{where}: with "{key}" every sample may stand there only once')
    array = np.array(numbers, dtype=float)
    return np.log(array) if key == "frequencies" else array


def _row(sequence: Any, label: Any, count: Any, place: str, source: str) -> Row:
    if not isinstance(sequence, list) or not sequence:
        raise InputError(f"{place}: the sequence must be a list of at least one token")
    _check_length(sequence, place)
    for token in (*sequence, label):
        if isinstance(token, bool) or not isinstance(token, str | int):
            raise InputError(f"{place}: {token!r} is not a token; use strings or integers")
        if isinstance(token, str) and any("\ud800" <= letter <= "\udfff" for letter in token):
            raise InputError(f"{place}: {token!r} holds half of a surrogate pair, which is no text")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_COUNT:
        raise InputError(
            f"{place}: a count is a whole number from 1 to {LARGEST_COUNT:,}; got {count!r}"
        )
    return list(sequence), label, count, source


def _check_keys(entry: dict[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in entry:
        if key not in known:
            raise InputError(f"{place}: {unknown_name('key', key, known)}")


def _vocabulary(
    rows: list[Row], embeddings: np.ndarray | None, where: str = ""
) -> list[Token] | None:
    """Integer tokens are sorted, and own the embedding row of their number."""
    tokens = set(_tokens(rows))
    if not all(isinstance(token, int) for token in tokens):
        if embeddings is not None and len(embeddings) != len(tokens):
            raise InputError(
                f"{where}: {len(embeddings)} embedding rows for {len(tokens)} tokens; "
                "token i, in order of first appearance, owns row i"
            )
        return None
    numbers = sorted(token for token in tokens if isinstance(token, int))
    if embeddings is None:
        return list(numbers)
    if numbers[0] < 0 or numbers[-1] >= len(embeddings):
        raise InputError(
            f"{where}: tokens run from {numbers[0]} to {numbers[-1]} "
            f"but there are embeddings for 0 to {len(embeddings) - 1}"
        )
    return list(range(len(embeddings)))


def _check_names(rows: list[Row], where: str) -> None:
    """Two tokens that print alike (1 and "1") cannot be told apart in a report."""
    kinds: dict[str, type] = {}
    for token in _tokens(rows):
        if kinds.setdefault(str(token), type(token)) is not type(token):
            raise InputError(f"{where}: token {token} is written as a number and as a string")


def _tokens(rows: list[Row]) -> Iterable[Token]:
    return (token for sequence, label, _, _ in rows for token in (*sequence, label))


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error})") from error


def _check_line(line: str, place: str) -> None:
    if len(line) > LONGEST_LINE:
        raise InputError(
            f"{place}: the line has {len(line):,} characters (at most {LONGEST_LINE:,}); "
            "is it the right file?"
        )


def _check_length(sequence: list[Any], place: str) -> None:
    if len(sequence) > LONGEST_SEQUENCE:
        raise InputError(
            f"{place}: {len(sequence):,} tokens in one sequence (at most {LONGEST_SEQUENCE:,}); "
            "split it into sentences"
        )
