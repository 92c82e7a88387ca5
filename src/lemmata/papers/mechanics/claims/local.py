"""Sections 5 and 6: what the paper reports about its experiments, and local convergence."""

from typing import Any

import numpy as np

from lemmata.claims import (
    Bench,
    Comparisons,
    Inequality,
    at_least,
    at_most,
    equal,
    mean_of,
    share_at_least,
    statements,
    tends_to,
)
from lemmata.settings import Evidence, Grid

from ..counterexamples import cycle_above_last
from ..experiments import (
    ACYCLIC_RUN,
    CROSS_ENTROPY_RUN,
    CYCLIC_RUN,
    LINEAR_IDENTITY,
    LITERAL_SQUARED_RUN,
    SQUARED_IDENTITY,
    SQUARED_RUN,
    SUBDATA,
    UNREACHABLE,
    Followed,
    softmax_of,
)
from ..setting import ACYCLIC_DATA, INDEPENDENT, NONZERO, REALIZABLE, Dataset
from ._shared import GLOBAL, aligns

claim = statements("mechanics", on=CROSS_ENTROPY_RUN)

REPORTED_DIGITS = 5e-4
"""The paper gives its numbers to three digits."""

GLOBAL_DISTANCE = 9.59
"""What it reports of Figure 6."""


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
@claim(
    "section-6/figure-5",
    "Section 6, Figure 5",
    "With the squared loss and a general head the weights align more closely with the local W̃^mm "
    "than with W^mm, and end nearer to the local W̃^cyc.",
    on=SQUARED_RUN,
    distances=True,
)
@claim(
    "section-6/squared-loss",
    "Section 6, general loss function",
    "With the squared loss and C E^T = I the weights align more closely with the local W̃^mm than "
    "with W^mm.",
    on=SQUARED_IDENTITY,
)
def section_6_global(evidence: Evidence[Followed], distances: bool = False) -> Comparisons:
    """The mean differences of the correlations, and of the distances."""
    apart = _ends(evidence, "one_minus_correlation")
    values = apart - _ends(evidence, "authors_one_minus_correlation")
    part = "local minus global correlation"
    parts = [_mean(at_least, values, 0.0, strict=True, part=part)]
    if distances:
        nearer = _ends(evidence, "cyclic_distance") - _ends(evidence, "authors_cyclic_distance")
        part = "global minus local distance"
        parts.append(_mean(at_least, nearer, 0.0, strict=True, part=part))
    return parts


def _majority(bench: Bench) -> Comparisons:
    """Two of three tied samples have the label 1: under −u attention selects it alone."""
    dataset = cycle_above_last()
    run = LINEAR_IDENTITY.training.run([dataset])
    gaps = run["one_minus_correlation"]
    return aligns(gaps, places=run.steps, part="1 − corr", cases=[dataset])


@claim(
    "section-6/identity-head",
    "Section 6, extended linear head",
    "With C E^T = I the label outscores all other tokens, so that descent on any loss of "
    "Assumption 1 goes to W^mm.",
    hypotheses=GLOBAL,
    on=LINEAR_IDENTITY,
    kind="substance",
    counterexample=_majority,
)
def identity_is_global(evidence: Evidence[Dataset]) -> Comparisons:
    """−u: among tied tokens one wins, and the part of W in S_cyc grows as fast as the rest."""
    return aligns(evidence.one_minus_correlation, part="1 − corr")


@claim(
    "section-3.3/selects-another",
    "Section 3.3, after Assumption 2",
    "Under C = E a sample without its label selects the token of highest score, and the weights "
    "turn to the max-margin direction that separates that token: 1 − corr goes to 0.",
    on=UNREACHABLE,
)
def selects_another(evidence: Evidence[Followed]) -> Comparisons:
    """−u, single samples from zero (1 for yes)."""

    def best(case: Followed) -> bool:
        (sample,) = case.instance.data.samples
        scores = case.instance.E @ case.instance.E[sample.label]
        top = max(sample.tokens, key=lambda token: scores[token])
        return case.pseudo["selected"].selected == (frozenset({top}),)

    gaps = evidence.columns["selected_one_minus_correlation"]
    return [
        equal(evidence.each(best), 1.0, part="the highest score is selected"),
        tends_to(
            gaps,
            above=True,
            places=evidence.records,
            part="1 − correlation with its direction",
        ),
    ]


@claim(
    "appendix-d/descent",
    "Appendix D, W^cyc by descent",
    "Normalized descent from zero on the cyclic subdata ends within η of W^cyc.",
    on=SUBDATA,
)
def by_descent(evidence: Evidence[Dataset]) -> Comparisons:
    """The authors' W^cyc; it is on the orbit of radius η/2 itself."""
    distance = evidence.cyclic_distance[:, -1:]
    return at_most(distance, evidence.rate, part="distance to the exact W^cyc")


@claim(
    "appendix-d/frequent",
    "Appendix D, why the distance of Figure 5 is zero",
    "With the squared loss every sample selects the token of its sequence that is the most "
    "frequent label.",
    on=SQUARED_RUN,
    kind="substance",
)
def most_frequent(evidence: Evidence[Followed]) -> Comparisons:
    """Among the samples with the same last token, which share a graph (1 for yes)."""

    def agrees(case: Followed) -> list[bool]:
        samples, found = case.instance.data.samples, []
        for sample, chosen in zip(samples, case.pseudo["selected"].selected, strict=True):
            labels = [s.label for s in samples if s.query == sample.query]
            counts = {token: labels.count(token) for token in sample.tokens}
            found.append({counts[token] for token in chosen} == {max(counts.values())})
        return found

    return equal(evidence.each(agrees), 1.0, part="a most frequent label is selected")


@claim(
    "appendix-d/distances",
    "Appendix D, distances of Figure 6",
    "When the mean distance to W^cyc is 9.59, that to the local W̃^cyc is about 0.09: it is below "
    "η = 0.1 in at least four fifths of the runs.",
)
def reported_distances(evidence: Evidence[Followed]) -> Comparisons:
    """The paper names no number of steps, and the first distance grows with them; the mean of the
    second is that of a single trial, where there is an outlier.
    """
    wide = evidence.cyclic_distance.mean(axis=0)
    at = int(np.argmin(abs(wide - GLOBAL_DISTANCE)))
    near = evidence.authors_cyclic_distance[:, at] < evidence.rate[:, 0]
    cases = [f"{len(near)} trials"]
    return share_at_least(int(near.sum()), len(near), 0.8, part="local distance", cases=cases)


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
