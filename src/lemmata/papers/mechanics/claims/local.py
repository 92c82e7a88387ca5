"""Sections 5 and 6: what the paper reports about its experiments, and local convergence."""

from typing import Any

import numpy as np

from lemmata.claims import (
    Comparisons,
    Inequality,
    at_least,
    at_most,
    equal,
    mean_of,
    share_at_least,
    statements,
)
from lemmata.settings import Evidence, Grid

from ..experiments import (
    ACYCLIC_RUN,
    CROSS_ENTROPY_RUN,
    CYCLIC_RUN,
    LITERAL_SQUARED_RUN,
    SQUARED_RUN,
    Followed,
    softmax_of,
)
from ..setting import ACYCLIC_DATA, INDEPENDENT, NONZERO, REALIZABLE, Dataset
from ._shared import GLOBAL

claim = statements("mechanics", on=CROSS_ENTROPY_RUN)

REPORTED_DIGITS = 5e-4
"""The paper gives its numbers to three digits."""


def _mean(compare: Any, values: np.ndarray, bound: float, **options: Any) -> Any:
    """Compare the mean over all trials with a number; chance is in its standard error."""
    mean, error = mean_of(values[:, None])
    return compare(mean, bound, error=error, cases=[f"the mean of {len(values)} trials"], **options)


def _ends(evidence: Evidence[Any], name: str) -> np.ndarray:
    return evidence.columns[name][:, -1]


@claim(
    "figure-3",
    "Section 5, Figure 3",
    "On acyclic data the mean correlation with W^mm exceeds 0.99 after 4,000 normalized steps.",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, NONZERO),
    on=ACYCLIC_RUN,
)
def figure_3(evidence: Evidence[Dataset]) -> Comparisons:
    """All trials counted."""
    values = 1 - _ends(evidence, "one_minus_correlation")
    return _mean(at_least, values, 0.99, strict=True, part="correlation")


@claim(
    "figure-4",
    "Section 5, Figure 4",
    "On cyclic data the mean correlation is about 0.987, and the mean distance to W^cyc below "
    "0.01.",
    hypotheses=GLOBAL,
    on=CYCLIC_RUN,
)
def figure_4(evidence: Evidence[Dataset]) -> Comparisons:
    """The distance is to the exact W^cyc."""
    values = 1 - _ends(evidence, "one_minus_correlation")
    distance = _ends(evidence, "cyclic_distance")
    return [
        _mean(equal, values, 0.987, rounding=REPORTED_DIGITS, part="correlation"),
        _mean(at_most, distance, 0.01, strict=True, part="distance"),
    ]


def _selected(evidence: Evidence[Followed]) -> Grid:
    """How many tokens each sample selects."""
    return evidence.each(lambda case: [len(s) for s in case.pseudo["selected"].selected])


def _local_correlation(evidence: Evidence[Followed]) -> Inequality:
    values = 1 - _ends(evidence, "authors_one_minus_correlation")
    return _mean(at_least, values, 0.99, strict=True, part="local correlation")


@claim(
    "figure-5",
    "Section 6, Figure 5",
    "With the squared loss and C = E the mean correlation with the local W̃^mm exceeds 0.99, and "
    "the distance to the local W̃^cyc is 0: one token is selected per sequence.",
    on=SQUARED_RUN,
    kind="substance",
)
def figure_5(evidence: Evidence[Followed]) -> Comparisons:
    """With the loss of the authors' program, (1 − softmax(C X's)_y)²."""
    distance = _ends(evidence, "authors_cyclic_distance")
    return [
        _local_correlation(evidence),
        equal(distance[:, None], 0.0, size=evidence.rate, part="local distance"),
        equal(_selected(evidence), 1.0, part="tokens selected per sequence"),
    ]


@claim(
    "figure-5/literal",
    "Section 6, Figure 5 with l(u) = (1 − u)² as the text has it",
    "The same with the squared loss of the score itself.",
    on=LITERAL_SQUARED_RUN,
    kind="misprint",
)
def figure_5_literal(evidence: Evidence[Followed]) -> Comparisons:
    """The authors' program squares a softmax of the scores; this is the loss they name."""
    return _local_correlation(evidence)


@claim(
    "figure-6",
    "Section 6, Figure 6",
    "With cross-entropy and C = E the mean correlation with the local W̃^mm exceeds 0.99, and the "
    "weights are nearer to the local W̃^cyc than to W^cyc.",
)
def figure_6(evidence: Evidence[Followed]) -> Comparisons:
    """All trials counted; a few outliers dominate the mean distances."""
    nearer = _ends(evidence, "cyclic_distance") - _ends(evidence, "authors_cyclic_distance")
    part = "global minus local distance"
    return [_local_correlation(evidence), _mean(at_least, nearer, 0.0, strict=True, part=part)]


@claim(
    "section-6/global",
    "Section 6",
    "With a general head the weights align more closely with the local W̃^mm than with W^mm.",
)
def section_6_global(evidence: Evidence[Followed]) -> Comparisons:
    """The mean difference of the correlations."""
    apart = _ends(evidence, "one_minus_correlation")
    values = apart - _ends(evidence, "authors_one_minus_correlation")
    return _mean(at_least, values, 0.0, strict=True, part="local minus global correlation")


@claim(
    "section-6/pseudo-graph",
    "Section 6, item 2",
    "The pseudo graph, with an edge from x_t1 to every other token if s_t1 > 0, tells which tokens "
    "are selected.",
    kind="constant",
)
def pseudo_graph(evidence: Evidence[Followed]) -> Comparisons:
    """Attention is never 0 at finite weights, so that every token would be selected."""

    def positive(case: Followed) -> list[int]:
        dataset, counts = case.instance, []
        for s in dataset.data.samples:
            attention = softmax_of(dataset, list(s.tokens), s.query, case.weights[-1])
            counts.append(len({x for x, a in zip(s.tokens, attention, strict=True) if a > 0}))
        return counts

    part = "tokens with s_t > 0, and selected ones"
    return equal(evidence.each(positive), _selected(evidence), part=part)


@claim(
    "own/local-limit",
    "ours; docs/mechanics.md",
    "With the reduced data made of the selected tokens, the tied part of the weights ends within η "
    "of the nearest stationary point in at least three quarters of the runs.",
    hypotheses=(INDEPENDENT,),
)
def local_limit(evidence: Evidence[Followed]) -> Comparisons:
    """On the runs whose pseudo graph has ties; a few have stopped on their way."""
    some = evidence.where(lambda case: len(case.pseudo["selected"].tied) > 0)
    near = _ends(some, "selected_cyclic_distance") <= some.rate[:, 0]
    cases = [f"{len(some)} runs with ties"]
    return share_at_least(int(near.sum()), len(some), 0.75, part="runs within η", cases=cases)
