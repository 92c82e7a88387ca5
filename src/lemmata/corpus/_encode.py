"""The corpus as one long row of token numbers on disk, with its vocabulary and its documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from lemmata._errors import InputError
from lemmata._files import write_json
from lemmata.settings import Track

from ._sources import Piece, pieces
from ._tables import read_table, write_table
from ._tokenizers import AbstractTokenizer

RARE = -1
"""The number of every token that is too rare to be one: it only fills its place."""

MOST_TOKENS = 2_000_000
"""Of a vocabulary: three of them and a last token's place must fit into 64 bits."""

BLOCK = 1 << 22
"""Tokens that are renumbered at a time."""


@dataclass(frozen=True)
class Encoded:
    """A corpus in numbers; the most frequent token is 0.

    Attributes:
        tokens: all of them in order; ``RARE`` where one is too rare.
        names: of the vocabulary.
        counts: how often each occurs.
        starts: where each document starts, and where the last one ends.
        places: the file and the row of each document.
    """

    tokens: Int[np.ndarray, "corpus"]
    names: list[str]
    counts: Int[np.ndarray, "vocabulary"]
    starts: Int[np.ndarray, "documents_and_end"]
    places: Int[np.ndarray, "documents two"]

    @classmethod
    def read(cls, folder: Path) -> "Encoded":
        """What ``encode`` wrote."""
        words = read_table(folder / "vocabulary.parquet")
        documents = read_table(folder / "documents.parquet")
        tokens = np.load(folder / "tokens.npy", mmap_mode="r")
        return cls(
            tokens,
            words["token"].tolist(),
            words["count"],
            np.append(documents["start"], len(tokens)),
            np.stack([documents["file"], documents["row"]], axis=1),
        )


class _Numbers(dict[Any, int]):
    """A number for each new token, in the order of coming."""

    def __init__(self) -> None:
        super().__init__()
        self._next = count()

    def __missing__(self, token: Any) -> int:
        number = next(self._next)
        self[token] = number
        return number


def encode(
    files: Sequence[Path],
    tokenizer: AbstractTokenizer,
    folder: Path,
    *,
    column: str | None,
    min_count: int,
    track: Track,
) -> None:
    """Read everything once, as a stream, and write it as numbers."""
    numbers = _Numbers()
    starts: list[int] = []
    places: list[tuple[int, int]] = []
    total = 0
    raw = folder / "tokens.raw"
    done = track("bytes read", sum(file.stat().st_size for file in files))
    with raw.open("wb") as stream:
        for piece, ids in _numbered(files, tokenizer, numbers, column):
            if piece.first:
                starts.append(total)
                places.append((piece.file, piece.row))
            if len(ids) and int(ids.max()) >= 1 << 31:
                raise InputError("a corpus has at most 2,147,483,648 different tokens")
            stream.write(ids.astype(np.int32).tobytes())
            total += len(ids)
            done(len(piece.content))
    if total < 2:
        raise InputError(
            f"there is nothing to learn from: {total} token{'s' * (total != 1)} in all"
        )
    _vocabulary(folder, raw, total, list(numbers), tokenizer, min_count)
    write_table(
        folder / "documents.parquet",
        {
            "start": np.array(starts, dtype=np.int64),
            "file": np.array([file for file, _ in places], dtype=np.int32),
            "row": np.array([row for _, row in places], dtype=np.int64),
        },
    )
    raw.unlink()
    write_json(folder / "encoded.json", {"tokens": total, "documents": len(starts)})


def _numbered(
    files: Sequence[Path], tokenizer: AbstractTokenizer, numbers: _Numbers, column: str | None
) -> Iterator[tuple[Piece, Int[np.ndarray, "piece"]]]:
    """Pieces as numbers; text is cut where tokens end, and the rest waits for the next piece."""
    rest = ""
    for piece, last in _with_last(pieces(files, column)):
        content = piece.content
        if isinstance(content, str):
            text = rest + content
            cut = tokenizer.cut(text)
            end = len(text) if last else cut
            rest = text[end:]
            tokens = list(tokenizer.tokens(text[:end]))
        else:
            tokens = content
            for number in {min(tokens), max(tokens)} if tokens else ():
                tokenizer.check_number(number, f"{files[piece.file]}, document {piece.row + 1:,}")
        ids = np.fromiter(map(numbers.__getitem__, tokens), np.int64, len(tokens))
        yield piece, ids


def _with_last(stream: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Each piece, and whether its document ends with it."""
    before = next(stream, None)
    for piece in stream:
        assert before is not None
        yield before, piece.first
        before = piece
    if before is not None:
        yield before, True


def _vocabulary(
    folder: Path,
    raw: Path,
    total: int,
    tokens: list[Any],
    tokenizer: AbstractTokenizer,
    min_count: int,
) -> None:
    """Number the tokens by how often they occur, and leave out the rare ones."""
    drafts = np.memmap(raw, dtype=np.int32, mode="r", shape=(total,))
    blocks = [slice(at, at + BLOCK) for at in range(0, total, BLOCK)]
    counts = np.zeros(len(tokens), dtype=np.int64)
    for block in blocks:
        counts += np.bincount(drafts[block], minlength=len(tokens))
    tokenizer.check_fit(tokens, counts)
    names = [tokenizer.name(token) for token in tokens]
    order = sorted(range(len(tokens)), key=lambda i: (-counts[i], names[i]))
    kept = [i for i in order if counts[i] >= min_count]
    if len(kept) < 2:
        raise InputError(
            f"{len(kept)} of {len(tokens):,} tokens occur at least {min_count} times; "
            "say a smaller --min-count"
        )
    if len(kept) > MOST_TOKENS:
        raise InputError(
            f"{len(kept):,} different tokens, at most {MOST_TOKENS:,}; say a larger --min-count"
        )
    number = np.full(len(tokens), RARE, dtype=np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    final = np.lib.format.open_memmap(
        folder / "tokens.npy", mode="w+", dtype=np.int32, shape=(total,)
    )
    for block in blocks:
        final[block] = number[drafts[block]]
    final.flush()
    write_table(
        folder / "vocabulary.parquet",
        {
            "token": np.array([names[i] for i in kept], dtype=object),
            "count": counts[kept],
        },
    )
