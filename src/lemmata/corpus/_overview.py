"""The whole corpus in numbers, from the tables of all partitions."""

from pathlib import Path
from typing import Any

from ._encode import Encoded
from ._tables import Table, ask

QUERIES = """
SELECT count(*) AS queries, sum(samples) AS samples, sum(reached) AS reached,
  sum(tokens) AS cells, sum(edges) AS edges, sum(strict_edges) AS strict_edges,
  sum(facts) AS facts, sum(strict_facts) AS strict_facts,
  sum(components) AS components, sum(tied_tokens) AS tied_tokens,
  max(largest_component) AS largest_component, max(layers) AS layers,
  sum(tied_samples) AS tied_samples, sum(tight) AS tight, sum(idle) AS idle,
  sqrt(sum(norm * norm)) AS norm, max(tie_gradient) AS tie_gradient,
  count(*) FILTER (WHERE reached = 0) AS silent,
  count(*) FILTER (WHERE reached > 0 AND labels_out_of_reach = 0) AS realizable,
  count(*) FILTER (WHERE reached > 0 AND tied_tokens = 0 AND norm > 0) AS acyclic,
  count(*) FILTER (WHERE tied_tokens > 0 AND norm > 0) AS cyclic,
  count(*) FILTER (WHERE reached > 0 AND norm = 0) AS without_direction,
  count(*) FILTER (WHERE idle > 0) AS degenerate,
  count(*) FILTER (WHERE unsolved_ties > 0) AS unsolved
FROM read_parquet(?)
"""

KIND = {"norm": float, "tie_gradient": float}
"""What is not a whole number."""


def overview(folder: Path, window: int) -> dict[str, Any]:
    """How much there is of everything, as plain values."""
    corpus = Encoded.read(folder)
    found = ask(QUERIES, _files(folder, "queries"))
    numbers = {name: KIND.get(name, int)(column[0]) for name, column in found.items()}
    return {
        "window": window,
        "tokens": len(corpus.tokens),
        "documents": len(corpus.places),
        "vocabulary": len(corpus.names),
        "rare": int(len(corpus.tokens) - corpus.counts.sum()),
        "partitions": len(_files(folder, "queries")),
        **numbers,
    }


def _files(folder: Path, table: str) -> list[str]:
    return [str(path) for path in sorted((folder / table).glob("*.parquet"))]


def tables(folder: Path, table: str, question: str, *values: Any) -> Table:
    """An answer in SQL about all partitions; ``{}`` in the question is the table."""
    return ask(question.format("read_parquet(?)"), _files(folder, table), *values)
