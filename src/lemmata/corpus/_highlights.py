"""What stands out in a corpus: where attention can know, who wins, what is clear, what is not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._corpus import Corpus
from ._query import Fact

FEW_SAMPLES = 0.0002
"""The share of all samples from which on a last token is worth a line."""

REACH = """
SELECT query, samples, reached FROM {} WHERE samples >= ? AND samples >= 20
ORDER BY reached / samples DESC, query
"""

HUBS = """
SELECT token, count(*) FILTER (WHERE layer = 0 AND top > 0) AS firsts, count(*) AS seen
FROM {} GROUP BY token ORDER BY firsts DESC, token LIMIT ?
"""

CLEAR = """
SELECT query, winner, loser, count, 0 AS against FROM {}
WHERE strict AND winner != query AND loser != query
QUALIFY row_number() OVER (PARTITION BY query ORDER BY count DESC, winner, loser) = 1
ORDER BY count DESC, query LIMIT ?
"""

CONTESTED = """
WITH often AS (SELECT * FROM {} WHERE NOT strict AND winner != query AND loser != query
  QUALIFY row_number() OVER (PARTITION BY query ORDER BY count DESC, winner, loser) <= 100)
SELECT a.query, a.winner, a.loser, a.count, b.count AS against
FROM often a JOIN often b ON a.query = b.query AND a.winner = b.loser AND a.loser = b.winner
WHERE a.count > b.count OR (a.count = b.count AND a.winner < b.winner)
QUALIFY row_number() OVER (PARTITION BY a.query ORDER BY b.count DESC, a.winner, a.loser) = 1
ORDER BY b.count DESC, a.query LIMIT ?
"""

SIZES = """
SELECT largest_component AS size, count(*) AS queries, sum(reached) AS reached
FROM {} WHERE reached > 0 GROUP BY size ORDER BY size
"""

WINNERS = """
SELECT query, winner, sum(count) AS wins FROM {} WHERE query < ? GROUP BY query, winner
QUALIFY row_number() OVER (PARTITION BY query ORDER BY wins DESC, winner) <= ?
ORDER BY query, wins DESC, winner
"""


@dataclass(frozen=True)
class Reach:
    """How often the label of a last token stands in its window."""

    query: str
    samples: int
    reached: int


@dataclass(frozen=True)
class Hub:
    """A token that nothing beats, after how many last tokens, and of how many."""

    token: str
    firsts: int
    seen: int


@dataclass(frozen=True)
class Found:
    """A fact about a last token."""

    query: str
    fact: Fact


class Highlights:
    """What stands out; each property asks the store once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def _rows(self, table: str, question: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        found = self.corpus.table(table, question, *values)
        return zip(*(column.tolist() for column in found.values()), strict=True)

    def reach(self) -> list[Reach]:
        """Frequent last tokens, those first whose label is most often in reach."""
        least = self.corpus.samples * FEW_SAMPLES
        names = self.corpus.names
        return [Reach(names[q], n, r) for q, n, r in self._rows("queries", REACH, least)]

    def reach_of(self, most: int) -> list[Reach]:
        """The same for the most frequent last tokens, in their order."""
        question = "SELECT query, samples, reached FROM {} WHERE query < ? ORDER BY query"
        names = self.corpus.names
        return [Reach(names[q], n, r) for q, n, r in self._rows("queries", question, most)]

    def hubs(self, most: int = 10) -> list[Hub]:
        """Tokens that nothing beats after the most last tokens."""
        names = self.corpus.names
        return [Hub(names[t], f, s) for t, f, s in self._rows("tokens", HUBS, most)]

    def clear(self, most: int = 10) -> list[Found]:
        """The strict edges that are said most often, one a last token."""
        return self._facts(CLEAR, most)

    def contested(self, most: int = 10) -> list[Found]:
        """The pairs that beat each other most often, one a last token."""
        return self._facts(CONTESTED, most)

    def _facts(self, question: str, most: int) -> list[Found]:
        names = self.corpus.names
        return [
            Found(names[q], Fact(names[a], names[b], n, m))
            for q, a, b, n, m in self._rows("edges", question, most)
        ]

    def sizes(self) -> list[tuple[int, int, int]]:
        """The size of the largest tie: after how many last tokens, with how many samples."""
        return [(int(s), int(q), int(r)) for s, q, r in self._rows("queries", SIZES)]

    def winners(self, queries: int, most: int = 6) -> dict[str, list[tuple[str, int]]]:
        """The labels that win most often after each of the most frequent tokens."""
        names = self.corpus.names
        found: dict[str, list[tuple[str, int]]] = {}
        for query, winner, wins in self._rows("edges", WINNERS, queries, most):
            found.setdefault(names[query], []).append((names[winner], int(wins)))
        return found
