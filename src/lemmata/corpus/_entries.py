"""Samples of a corpus as entries: one a sample and distinct token, with its cell of W."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ._corpus import Corpus
from ._windows import Positions, Samples

UNSEEN = -1
"""The cell of a token that was never compared after this last token: W is 0 there, for ever."""


@dataclass(frozen=True)
class Cells:
    """All entries of W that training moves, with both limits.

    Attributes:
        key: (last token, token) as one number; sorted.
        component: numbered over all last tokens.
        value: of W^mm, the exact one rounded once.
        logit: of W^cyc; 0 where nothing is tied.
        tied: whether the token shares its component.
    """

    size: int
    key: Int[np.ndarray, "cells"]
    component: Int[np.ndarray, "cells"]
    value: Float[np.ndarray, "cells"]
    logit: Float[np.ndarray, "cells"]
    tied: Bool[np.ndarray, "cells"]

    @classmethod
    def of(cls, corpus: Corpus) -> "Cells":
        """Those of a store; ties that were too large are solved now."""
        found = corpus.table("tokens", "SELECT * FROM {} ORDER BY query, token")
        size = len(corpus.names)
        query = found["query"].astype(np.int64)
        logit = np.array(found["logit"])
        for open_ in np.unique(query[np.isnan(logit)]):
            logit[query == open_] = corpus[corpus.names[open_]].logits
        group = query * size + found["component"]
        return cls(
            size,
            query * size + found["token"],
            np.unique(group, return_inverse=True)[1],
            found["top"] / found["bottom"],
            logit,
            found["tied"] > 1,
        )

    def at(self, query: np.ndarray, token: np.ndarray) -> Int[np.ndarray, "entries"]:
        """The cell of each pair, ``UNSEEN`` where there is none."""
        wanted = query.astype(np.int64) * self.size + token
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[place] == wanted, place, UNSEEN)

    def centred(self, weights: Float[np.ndarray, "cells"]) -> Float[np.ndarray, "cells"]:
        """The part of W inside the space of ties: what tied tokens differ by."""
        count = np.bincount(self.component)
        mean = np.bincount(self.component, weights) / count
        return np.where(self.tied, weights - mean[self.component], 0.0)


@dataclass(frozen=True)
class Batch:
    """Samples with their distinct tokens, sorted by sample.

    Attributes:
        sample, token, cell: of each entry.
        log_times: the logarithm of how often the token occurs.
        start: where the entries of each sample begin.
        label: the next token of each sample.
        query: its last token.
    """

    sample: Int[np.ndarray, "entries"]
    token: Int[np.ndarray, "entries"]
    cell: Int[np.ndarray, "entries"]
    log_times: Float[np.ndarray, "entries"]
    start: Int[np.ndarray, "samples"]
    label: Int[np.ndarray, "samples"]
    query: Int[np.ndarray, "samples"]

    @classmethod
    def of(cls, samples: Samples, cells: Cells) -> "Batch":
        """Samples as entries."""
        sample, token, times = samples.entries()
        start = np.searchsorted(sample, np.arange(len(samples.label)))
        cell = cells.at(samples.query[sample], token)
        return cls(sample, token, cell, np.log(times), start, samples.label, samples.query)

    @property
    def is_label(self) -> Bool[np.ndarray, "entries"]:
        """Which entries are the label of their sample."""
        return self.token == self.label[self.sample]

    def slots(self, weights: Float[np.ndarray, "cells"]) -> Float[np.ndarray, "entries"]:
        """Logits plus logarithms of multiplicity."""
        return np.where(self.cell == UNSEEN, 0.0, weights[self.cell]) + self.log_times

    def best(self, score: Float[np.ndarray, "entries"]) -> Int[np.ndarray, "samples"]:
        """The token with the highest score in each sample; of equals, the most frequent."""
        top = np.maximum.reduceat(score, self.start)[self.sample]
        none = np.iinfo(self.token.dtype).max
        return np.minimum.reduceat(np.where(score == top, self.token, none), self.start)

    def chosen(self, weights: Float[np.ndarray, "cells"]) -> Int[np.ndarray, "samples"]:
        """The token that attention with these weights puts most of its mass on."""
        return self.best(self.slots(weights))

    def chosen_in_the_limit(self, cells: Cells) -> Int[np.ndarray, "samples"]:
        """The token that the limits select: the highest value, and among tied ones by W^cyc."""
        value = np.where(self.cell == UNSEEN, 0.0, cells.value[self.cell])
        top = np.maximum.reduceat(value, self.start)[self.sample]
        return self.best(np.where(value == top, self.slots(cells.logit), -np.inf))


def reachable(corpus: Corpus) -> Positions:
    """The positions of all samples whose label stands in their window."""
    every = corpus.index.positions[: corpus.index.first[-1]]
    found = [b.position[b.reached] for b in corpus.windows.all_at(every)]
    return np.sort(np.concatenate(found))
