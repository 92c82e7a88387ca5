"""What is known about one last token: the order after it, why, and what attention selects."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import softmax

from lemmata._errors import InputError, unknown_name
from lemmata._html import table

from ._counting import Edges
from ._index import Index
from ._orders import orders
from ._tables import Table
from ._ties import tied_entries, ties
from ._windows import Windows

EVERYTHING = 1 << 62
"""No component is too large for who asks for it."""


@dataclass(frozen=True)
class Place:
    """Where a sample stands: the file, the document in it (from 1), and its words."""

    file: str
    document: int
    position: int
    words: tuple[str, ...]
    label: str

    def __str__(self) -> str:
        return f"... {' '.join(self.words)} [{self.label}]"


@dataclass(frozen=True)
class Fact:
    """That one token beats another after a last token, in how many samples, and how often not."""

    winner: str
    loser: str
    count: int
    against: int

    def __str__(self) -> str:
        other = f", and loses {self.against:,}" if self.against else ", and never loses"
        return f"{self.winner} beats {self.loser} {times(self.count)}{other}"


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count:,} times"


@dataclass(frozen=True)
class Choice:
    """What attention selects from a context, in the limit.

    Attributes:
        context: the distinct tokens that were compared, with the value that W^mm gives to each.
        selected: those with the highest value, with their shares of the attention.
        decided: whether these are tied, or one; between others of equal value theory is silent.
        unknown: tokens that the corpus does not have.
    """

    query: str
    context: dict[str, Fraction]
    selected: dict[str, float]
    decided: bool
    unknown: tuple[str, ...]


class Query:
    """One last token of a corpus.

    Attributes:
        name: the token.
        numbers: samples, edges, components and so on, by name.
    """

    def __init__(
        self,
        number: int,
        numbers: dict[str, Any],
        edges: Edges,
        strict: Bool[np.ndarray, "edges"],
        tokens: Table,
        labels: Table,
        windows: Windows,
        index: Index,
        files: Sequence[str],
    ) -> None:
        self.number = number
        self.numbers = numbers
        self._edges, self._strict = edges, strict
        self._tokens, self._labels = tokens, labels
        self._windows, self._index, self._files = windows, index, files
        self._names = windows.corpus.names
        self.name = self._names[number]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "numbers" not in self.__dict__ or name not in self.numbers:
            raise AttributeError(name)
        return self.numbers[name]

    def __repr__(self) -> str:
        return f"<Query {self.name}: {self.samples:,} samples, {self.edges:,} edges>"

    def _repr_html_(self) -> str:
        layers = ((i, ", ".join(layer[:10])) for i, layer in enumerate(self.layers, 1))
        return table(("layer", "tokens"), list(layers), f"after {self.name}")

    @cached_property
    def values(self) -> dict[str, Fraction]:
        """The exact entries of W^mm, the highest first."""
        columns = (self._tokens[name].tolist() for name in ("token", "top", "bottom"))
        found = {
            self._names[token]: Fraction(top, bottom)
            for token, top, bottom in zip(*columns, strict=True)
        }
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def norm_squared(self) -> Fraction:
        """Of this column of W^mm, exactly."""
        return Fraction(self.numbers["norm_squared"])

    @cached_property
    def logits(self) -> Float[np.ndarray, "tokens"]:
        """W^cyc of each token in the table; what was left open is solved now."""
        logit = self._tokens["logit"]
        if not np.isnan(logit).any():
            return logit
        size = len(self._names)
        found = orders(self._edges, np.array([self.number]), size)
        batches = self._windows.all_at(self._index.of(self.number))
        return ties(*tied_entries(batches, found, size, EVERYTHING), found).logit

    @cached_property
    def ties(self) -> list[dict[str, float]]:
        """Tied tokens with their shares, if each occurred once; the largest component first."""
        component, tied = self._tokens["component"], self._tokens["tied"]
        groups = np.unique(component[tied > 1])
        found = []
        for group in groups:
            inside = np.flatnonzero(component == group)
            shares = softmax(self.logits[inside])
            order = np.argsort(-shares, kind="stable")
            tokens = self._tokens["token"][inside[order]]
            named = zip((self._names[t] for t in tokens), shares[order].tolist(), strict=True)
            found.append(dict(named))
        return sorted(found, key=len, reverse=True)

    @cached_property
    def layers(self) -> list[list[str]]:
        """The tokens by the longest chain above them; in a layer, those with most wins first."""
        layer, token = self._tokens["layer"], self._tokens["token"]
        wins = np.zeros(len(self._names), dtype=np.int64)
        np.add.at(wins, self._edges.winner, self._edges.count)
        order = np.lexsort((token, -wins[token], layer))
        parts = np.split(token[order], np.flatnonzero(np.diff(layer[order])) + 1)
        return [[self._names[t] for t in part] for part in parts]

    @cached_property
    def labels(self) -> dict[str, tuple[int, int]]:
        """How often each token comes next: with itself in the window, and without."""
        columns = (self._labels[name].tolist() for name in ("label", "reached", "missed"))
        found = {self._names[label]: (r, m) for label, r, m in zip(*columns, strict=True)}
        return dict(sorted(found.items(), key=lambda item: -sum(item[1])))

    @property
    def out_of_reach(self) -> list[str]:
        """Labels that never stand in their window, the most frequent first."""
        return [label for label, (reached, _) in self.labels.items() if not reached]

    @cached_property
    def _opposite(self) -> Int[np.ndarray, "edges"]:
        """How often each edge is contradicted by the one in the other direction."""
        size, edges = len(self._names), self._edges
        keys = edges.winner.astype(np.int64) * size + edges.loser
        other = edges.loser.astype(np.int64) * size + edges.winner
        at = np.minimum(np.searchsorted(keys, other), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(0, dtype=np.int64)
        return np.where(keys[at] == other, edges.count[at], 0)

    def facts(self, most: int = 10) -> list[Fact]:
        """What is said most often and never contradicted, directly or through others."""
        clear = np.flatnonzero(self._strict)
        return self._told(clear[np.argsort(-self._edges.count[clear], kind="stable")[:most]])

    def contested(self, most: int = 10) -> list[Fact]:
        """Pairs that beat each other, the most balanced and frequent first."""
        least = np.minimum(self._edges.count, self._opposite)
        first = self._edges.count > self._opposite
        first |= (self._edges.count == self._opposite) & (self._edges.winner < self._edges.loser)
        pairs = np.flatnonzero((least > 0) & first)
        return self._told(pairs[np.argsort(-least[pairs], kind="stable")[:most]])

    def _told(self, edges: Int[np.ndarray, "chosen"]) -> list[Fact]:
        return [
            Fact(
                self._names[self._edges.winner[e]],
                self._names[self._edges.loser[e]],
                int(self._edges.count[e]),
                int(self._opposite[e]),
            )
            for e in edges
        ]

    def beats(self, winner: str, loser: str) -> int:
        """In how many samples one token beats another."""
        a, b = self._known(winner), self._known(loser)
        chosen = (self._edges.winner == a) & (self._edges.loser == b)
        return int(self._edges.count[chosen].sum())

    def places(self, winner: str, loser: str, most: int = 3) -> list[Place]:
        """The first samples in which one token beats another."""
        a, b = self._known(winner), self._known(loser)
        found: list[Place] = []
        for batch in self._windows.all_at(self._index.of(self.number)):
            here = (batch.label == a) & batch.reached & (batch.window == b).any(axis=1)
            for i in np.flatnonzero(here)[: most - len(found)]:
                found.append(self._place(int(batch.position[i]), batch.window[i], a))
            if len(found) == most:
                break
        return found

    def _place(self, position: int, window: np.ndarray, label: int) -> Place:
        corpus = self._windows.corpus
        document = int(np.searchsorted(corpus.starts, position, side="right")) - 1
        file, row = (int(number) for number in corpus.places[document])
        words = tuple(self._names[t] if t >= 0 else "·" for t in window)
        padding = next((i for i, word in enumerate(words) if word != "·"), 0)
        return Place(self._files[file], row + 1, position, words[padding:], self._names[label])

    def _known(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError as error:
            near = [self._names[t] for t in self._tokens["token"]]
            raise InputError(unknown_name("token", name, near)) from error

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {
            "query": self.name,
            **{name: value for name, value in self.numbers.items() if name != "query"},
            "layers": self.layers,
            "values": self.values,
            "tied": self.ties,
            "unreachable_labels": self.out_of_reach,
            "uncontested": self.facts(),
            "contested": self.contested(),
        }

    def choose(self, context: Sequence[str]) -> Choice:
        """What attention selects from tokens, the last of which asks."""
        number = {name: i for i, name in enumerate(self._names)}
        unknown = tuple(dict.fromkeys(name for name in context if name not in number))
        known = [name for name in context if name in number]
        names = list(dict.fromkeys(known))
        at = {int(token): i for i, token in enumerate(self._tokens["token"])}
        rows = [at.get(number[name]) for name in names]
        top, bottom = self._tokens["top"], self._tokens["bottom"]
        values = [
            Fraction(0) if row is None else Fraction(int(top[row]), int(bottom[row]))
            for row in rows
        ]
        best = max(values)
        chosen = [i for i, value in enumerate(values) if value == best]
        logit = [0.0 if (row := rows[i]) is None else float(self.logits[row]) for i in chosen]
        times = np.log([known.count(names[i]) for i in chosen])
        shares = softmax(np.array(logit) + times)
        component = self._tokens["component"]
        groups = {-1 - i if (row := rows[i]) is None else int(component[row]) for i in chosen}
        ranked = sorted(zip(chosen, shares.tolist(), strict=True), key=lambda pair: -pair[1])
        return Choice(
            self.name,
            dict(sorted(zip(names, values, strict=True), key=lambda item: -item[1])),
            {names[i]: share for i, share in ranked},
            len(groups) == 1,
            unknown,
        )
