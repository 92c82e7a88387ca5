"""A store of graphs and limits, which can be asked without reading the corpus again."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError, unknown_name
from lemmata._html import table

from ._build import FORMAT
from ._counting import Edges
from ._index import Index
from ._overview import tables
from ._partition import TABLES, table_path
from ._query import Choice, Query
from ._tables import MANIFEST, read_table
from ._tokenizers import AbstractTokenizer, tokenizer_of
from ._windows import Windows

MARKS = ("Ġ", "▁", "##")
"""What tokenizers write before a word that follows a blank, or a part of one."""


def is_store(path: Path) -> bool:
    """Whether a folder holds a store."""
    return (path / MANIFEST).is_file()


class Corpus:
    """What one attention layer would learn from a corpus.

    Every number of the overview is an attribute: ``corpus.samples``, ``corpus.edges``; and
    ``corpus["the"]`` is what is known about one last token.

    Attributes:
        folder: of the store.
        numbers: the overview.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.manifest = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            form = self.manifest["format"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.folder} is no store of a corpus: {error}") from error
        if form != FORMAT:
            raise InputError(f"{self.folder} has format {form}; this is for {FORMAT}: analyze anew")
        about = ("format", "lemmata", "reading", "files")
        self.numbers = {k: v for k, v in self.manifest.items() if k not in about}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "numbers" not in self.__dict__ or name not in self.numbers:
            raise AttributeError(name)
        return self.numbers[name]

    def __repr__(self) -> str:
        share = self.reached / max(self.samples, 1)
        return (
            f"<Corpus {self.folder.name}: {self.tokens:,} tokens, {self.vocabulary:,} different, "
            f"{share:.0%} of the labels in their window>"
        )

    def _repr_html_(self) -> str:
        return table(
            ("", ""), [(k.replace("_", " "), v) for k, v in self.numbers.items()], self.name
        )

    @property
    def name(self) -> str:
        """The name of the store."""
        return self.folder.name

    @cached_property
    def windows(self) -> Windows:
        """All samples."""
        return Windows.read(self.folder, self.manifest["window"])

    @cached_property
    def index(self) -> Index:
        """Samples by last token."""
        return Index.read(self.folder)

    @property
    def names(self) -> list[str]:
        """The vocabulary, the most frequent token first."""
        return self.windows.corpus.names

    @cached_property
    def numbered(self) -> dict[str, int]:
        """The number of each token."""
        return {name: number for number, name in enumerate(self.names)}

    @property
    def tokenizer(self) -> AbstractTokenizer:
        """What made tokens of the text."""
        return tokenizer_of(self.manifest["reading"]["tokenizer"])

    @cached_property
    def _partition_of(self) -> dict[int, tuple[int, dict[str, Any]]]:
        """Where each last token is, and its numbers."""
        found = {}
        for number in range(self.manifest["partitions"]):
            table = read_table(table_path(self.folder, TABLES[-1], number))
            columns = {name: column.tolist() for name, column in table.items()}
            for i, query in enumerate(columns["query"]):
                found[query] = number, {name: values[i] for name, values in columns.items()}
        return found

    def find(self, token: str) -> int:
        """The number of a token; a tokenizer's mark for a blank may be left out."""
        for name in (token, *(f"{mark}{token}" for mark in MARKS), token.lower()):
            if name in self.numbered:
                return self.numbered[name]
        raise InputError(unknown_name("token", token, self.names))

    def __getitem__(self, token: str) -> Query:
        number = self.find(token)
        if number not in self._partition_of:
            raise InputError(f"no sample ends in '{token}'")
        partition, numbers = self._partition_of[number]
        edges, tokens, labels = (
            read_table(table_path(self.folder, table, partition), "query = ?", number)
            for table in ("edges", "tokens", "labels")
        )
        counted = Edges(*(edges[name] for name in ("query", "winner", "loser", "count")))
        files = [source["file"] for source in self.manifest["files"]]
        strict = edges["strict"].astype(bool)
        return Query(
            number, numbers, counted, strict, tokens, labels, self.windows, self.index, files
        )

    def choose(self, context: str | Sequence[str]) -> Choice:
        """What attention selects from a text, whose last token asks, in the limit."""
        tokens = self._split(context) if isinstance(context, str) else list(context)
        tokens = tokens[-self.manifest["window"] :]
        if not tokens:
            raise InputError("the context has no token")
        return self[tokens[-1]].choose(tokens)

    def _split(self, text: str) -> list[str]:
        tokenizer = self.tokenizer
        return [tokenizer.name(token) for token in tokenizer.tokens(text)]

    def table(self, name: str, question: str, *values: Any) -> dict[str, np.ndarray]:
        """An answer in SQL about a table of all partitions, which stands as ``{}``."""
        return dict(tables(self.folder, name, question, *values))

    def document(self) -> dict[str, Any]:
        """The overview as values that can be written as JSON."""
        return dict(self.manifest)
