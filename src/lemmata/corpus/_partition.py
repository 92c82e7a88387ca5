"""One partition of a corpus: the last tokens of a range, from samples to limits, in four files."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError

from ._counting import Edges, Labels, count
from ._index import Index
from ._orders import Margins, Orders, margins, norms_squared, orders
from ._tables import MISSING, Table, write_table
from ._ties import Ties, tied_entries, ties
from ._windows import Windows

TABLES = ("edges", "labels", "tokens", "queries")
"""The files of a partition; the last one says that the partition is whole."""


@dataclass(frozen=True)
class Partition:
    """A task that can go to another process or machine that sees the same folder.

    Attributes:
        folder: of the store in the making.
        number: which partition it is.
        low, high: its last tokens, from ``low`` to below ``high``.
        window: T.
    """

    folder: str
    number: int
    low: int
    high: int
    window: int

    def path(self, table: str) -> Path:
        """Where one of its tables is."""
        return table_path(Path(self.folder), table, self.number)

    @property
    def done(self) -> bool:
        """Whether it need not be counted again."""
        return self.path(TABLES[-1]).exists()


def table_path(folder: Path, table: str, number: int) -> Path:
    """Where a table of a partition is."""
    return folder / table / f"{number:05}.parquet"


def solve(partition: Partition) -> int:
    """Count, solve and write; returns the number of samples.

    With one thread for linear algebra: the matrices are small, the cores are busy with other
    partitions, and sums in another order would give other bits.
    """
    with one_thread():
        return _solve(partition)


def one_thread() -> Any:
    """Linear algebra by one thread, in a block."""
    try:
        import threadpoolctl
    except ImportError as error:
        raise InputError(MISSING) from error
    return threadpoolctl.threadpool_limits(1)


def _solve(partition: Partition) -> int:
    folder = Path(partition.folder)
    windows, index = Windows.read(folder, partition.window), Index.read(folder)
    size = len(windows.corpus.names)
    positions = index.of(partition.low, partition.high)
    edges, labels = count(windows.all_at(positions), partition.low, size)
    found = orders(edges, np.unique(labels.query[labels.reached > 0]), size)
    solution = margins(found)
    tied = [index.of(query) for query in np.unique(found.query[found.tied]).tolist()]
    again = np.concatenate([positions[:0], *tied])
    shared = ties(*tied_entries(windows.all_at(again), found, size), found)
    tables = {
        "edges": _edges(edges, found),
        "labels": {
            "query": labels.query.astype(np.int32),
            "label": labels.label.astype(np.int32),
            "reached": labels.reached,
            "missed": labels.missed,
        },
        "tokens": _tokens(found, solution, shared),
        "queries": _queries(edges, labels, found, solution, shared),
    }
    try:
        for name in TABLES:
            write_table(partition.path(name), tables[name])
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return len(positions)


def _edges(edges: Edges, found: Orders) -> Table:
    return {
        "query": edges.query.astype(np.int32),
        "winner": edges.winner.astype(np.int32),
        "loser": edges.loser.astype(np.int32),
        "count": edges.count.astype(np.int32),
        "strict": found.strict,
    }


def _tokens(found: Orders, solution: Margins, shared: Ties) -> Table:
    """Each token under each last token: its place in the order and its entries of the limits."""
    first = np.searchsorted(found.owner, found.query)
    return {
        "query": found.query.astype(np.int32),
        "token": found.token.astype(np.int32),
        "component": (found.component - first).astype(np.int32),
        "tied": found.sizes[found.component].astype(np.int32),
        "layer": found.layer[found.component].astype(np.int32),
        "top": solution.top[found.component],
        "bottom": solution.bottom[found.component],
        "logit": shared.logit,
    }


def _queries(edges: Edges, labels: Labels, found: Orders, solution: Margins, shared: Ties) -> Table:
    """One row a last token: how much there is of everything."""
    query = np.unique(labels.query)
    norms = norms_squared(found, solution)
    exact = [norms.get(int(k), Fraction(0)) for k in query]
    owner, strict = found.owner, found.strict

    def total(of: np.ndarray, amount: np.ndarray) -> np.ndarray:
        sums = np.zeros(len(query), dtype=np.int64)
        np.add.at(sums, np.searchsorted(query, of), amount)
        return sums

    def largest(of: np.ndarray, amount: np.ndarray) -> np.ndarray:
        most = np.zeros(len(query), dtype=amount.dtype)
        np.maximum.at(most, np.searchsorted(query, of), amount)
        return most

    one = np.int64(1)
    return {
        "query": query.astype(np.int32),
        "samples": total(labels.query, labels.reached + labels.missed),
        "reached": total(labels.query, labels.reached),
        "labels": total(labels.query, np.full(len(labels.query), one)),
        "labels_out_of_reach": total(labels.query, (labels.reached == 0).astype(np.int64)),
        "tokens": total(found.query, np.full(len(found.query), one)),
        "edges": total(edges.query, np.full(len(edges.query), one)),
        "strict_edges": total(edges.query, strict.astype(np.int64)),
        "strict_facts": total(edges.query, np.where(strict, edges.count, 0)),
        "facts": total(edges.query, edges.count),
        "components": total(owner, np.full(len(owner), one)),
        "tied_tokens": total(found.query, found.tied.astype(np.int64)),
        "largest_component": largest(owner, found.sizes),
        "layers": largest(owner, found.layer) + (total(owner, np.full(len(owner), one)) > 0),
        "tight": total(owner[found.above], solution.tight.astype(np.int64)),
        "idle": total(owner[found.above], solution.idle.astype(np.int64)),
        "norm": np.array([float(value) ** 0.5 for value in exact]),
        "norm_squared": np.array([str(value) for value in exact], dtype=object),
        "tied_samples": total(owner, shared.samples),
        "unsolved_ties": total(found.query, np.isnan(shared.logit).astype(np.int64)),
        "tie_gradient": largest(owner, shared.gradient),
    }
