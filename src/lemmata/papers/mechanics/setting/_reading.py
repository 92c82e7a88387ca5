"""What is read off a dataset: ties with their shares, predictions, and what it breaks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from lemmata.drawing import NamedGraph
from lemmata.settings import Selection
from lemmata.tokens import PriorityGraph, Problem

from ._dataset import Dataset
from ._degeneracy import Degeneracy, degeneracy
from ._hypotheses import ACYCLIC_DATA, FEASIBLE, INDEPENDENT, NONZERO, REALIZABLE

ASSUMPTIONS = {
    "assumption_2": REALIZABLE,
    "assumption_4": INDEPENDENT,
    "definition_2": ACYCLIC_DATA,
    "feasible": FEASIBLE,
    "max_margin_nonzero": NONZERO,
}
"""The hypotheses by the names that an analysis has for them."""

MOST_SAMPLES = 200
"""Samples whose prediction is spelled out."""


@dataclass(frozen=True)
class Query:
    """What is known about one last token.

    Attributes:
        graph: who beats whom; without tokens if no label occurs in its sequence.
        samples: how many there are.
        reachable: labels that occur in their sequences, the most frequent first.
        unreachable: labels that never do.
        ties: tied tokens with their shares of the attention, the largest first.
    """

    graph: PriorityGraph
    samples: int
    reachable: tuple[int, ...]
    unreachable: tuple[int, ...]
    ties: tuple[dict[int, float], ...]

    @property
    def shares(self) -> dict[int, float]:
        """The share of every tied token, if each occurred once."""
        return {token: share for tie in self.ties for token, share in tie.items()}


@dataclass(frozen=True)
class Reading:
    """A dataset as the paper reads it.

    Attributes:
        dataset: with the limits ``W_mm`` and ``W_cyc``, and ``margin`` and ``correction`` that
            certify them.
    """

    dataset: Dataset

    @cached_property
    def graphs(self) -> dict[str, NamedGraph]:
        """The graphs by the name of their last token: ``graphs["c"].save("c.pdf")``."""
        graphs = self.dataset.graphs
        names = {self.dataset.data.name(query): query for query in graphs}
        return {name: graphs.named(name, self.queries[q].shares) for name, q in names.items()}

    @cached_property
    def queries(self) -> dict[int, Query]:
        """What is known about each last token, ties with their shares included."""
        graphs = self.dataset.graphs
        reached: dict[int, Counter[int]] = {}
        missed: dict[int, Counter[int]] = {}
        for sample in self.dataset.data.samples:
            table = reached if sample.label in sample.tokens else missed
            table.setdefault(sample.query, Counter())[sample.label] += sample.count
        answers = {}
        for query in sorted({*reached, *missed}):
            found, lost = reached.get(query, Counter()), missed.get(query, Counter())
            graph = graphs[query] if query in graphs else PriorityGraph(query, (), {})
            answers[query] = Query(
                graph,
                found.total() + lost.total(),
                tuple(label for label, _ in found.most_common()),
                tuple(label for label, _ in lost.most_common() if label not in found),
                tuple(self._tie(query, tied) for tied in graph.components if len(tied) > 1),
            )
        return answers

    def _tie(self, query: int, tied: list[int]) -> dict[int, float]:
        shares = softmax(self._logits(tied, query))
        return {tied[i]: float(shares[i]) for i in np.argsort(-shares, kind="stable")}

    def _logits(self, tokens: list[int], query: int) -> Float[np.ndarray, "tokens"]:
        """e_x^T W^cyc e_q; with infeasible Graph-SVM, those of the finite part."""
        finite, E = self.dataset.finite_part, self.dataset.E
        if finite.matrix is None:
            return np.array([finite.entries.get((token, query), 0.0) for token in tokens])
        return E[tokens] @ (finite.matrix @ E[query])

    @cached_property
    def predictions(self) -> tuple[Selection, ...]:
        """What attention selects from each sample in the limit; nothing for many samples."""
        samples = self.dataset.realizable.samples
        if len(samples) > MOST_SAMPLES:
            return ()
        selections = []
        for sample, tied in zip(samples, self.dataset.bound_tokens, strict=True):
            tokens = sorted({*tied, sample.label})
            counts = np.array([sample.tokens.count(token) for token in tokens])
            shares = softmax(self._logits(tokens, sample.query) + np.log(counts))
            selections.append(Selection(sample, tuple(tokens), shares))
        return tuple(selections)

    @cached_property
    def degeneracy(self) -> Degeneracy | None:
        """Tight constraints of Graph-SVM that slow training down, if they were looked for."""
        return degeneracy(self.dataset)

    @cached_property
    def broken(self) -> Mapping[str, tuple[Problem, ...]]:
        """Each assumption with the problems that break it."""
        problems = self.dataset.problems
        return {name: tuple(asked.broken(problems)) for name, asked in ASSUMPTIONS.items()}

    @property
    def facts(self) -> dict[str, int | bool]:
        """Short answers about the data."""
        data = self.dataset.data
        return {
            "samples": data.total,
            "distinct_inputs": len({sample.tokens for sample in data.samples}),
            "longest_sequence": data.longest_input,
            "realizable": not self.broken["assumption_2"],
            "acyclic": self.dataset.acyclic,
        }
