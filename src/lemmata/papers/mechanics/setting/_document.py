"""The analysis of a dataset as values that can be written as JSON."""

from collections.abc import Sequence
from typing import Any

from lemmata.margin import MaxMargin, Pair, Status
from lemmata.settings import certificate_of, problems_document

from ._batch import WIDEST_NUCLEAR
from ._dataset import Dataset
from ._degeneracy import MOST_PAIRS
from ._reading import Query, Reading

MOST_ENTRIES = 20_000
"""Entries and multipliers of W^mm that are printed one by one."""

LONGEST_FRACTION = 1_000
"""Digits of an exact fraction worth printing."""


def document(reading: Reading) -> dict[str, Any]:
    """Graphs, components and both limits."""
    dataset = reading.dataset
    data = dataset.data
    return {
        "vocabulary": list(data.vocabulary),
        **reading.facts,
        **problems_document(dataset.problems, reading.broken),
        "queries": {
            data.name(number): _query(dataset, query) for number, query in reading.queries.items()
        },
        "max_margin": _margin(dataset) | {"degeneracy": _degeneracy(reading)},
        "nuclear_margin": _nuclear(dataset),
        "generalized": None if dataset.feasible else _generalized(dataset),
        "cyclic_correction": _correction(dataset),
        "predictions": _predictions(reading),
    }


def _query(dataset: Dataset, query: Query) -> dict[str, Any]:
    words, graph = dataset.data.vocabulary, query.graph
    return {
        "samples": query.samples,
        "edges": [[words[a], words[b]] for a, b in graph.edges],
        "components": [[words[x] for x in tied] for tied in graph.components],
        "layers": [[[words[x] for x in tied] for tied in layer] for layer in graph.layers],
        "reachable_labels": [words[x] for x in query.reachable],
        "unreachable_labels": [words[x] for x in query.unreachable],
        "tied": [
            {"tokens": [words[x] for x in tie], "probabilities": list(tie.values())}
            for tie in query.ties
        ],
    }


def _margin(dataset: Dataset) -> dict[str, Any]:
    """W^mm with its entries, and the multipliers that certify it."""
    solution, words = dataset.margin, dataset.data.vocabulary
    answer = _summary(solution)
    certificate = [
        {"query": words[q], "winner": words[a], "loser": words[b], "multiplier": str(value)}
        for q, a, b, value in certificate_of(solution)
    ]
    certificate = certificate if len(certificate) <= MOST_ENTRIES else []
    if solution.status is Status.INFEASIBLE:
        return answer | {"infeasibility": certificate}
    few = len(solution.entries) <= MOST_ENTRIES
    entries = [
        {"token": words[t], "query": words[q], "value": str(value)}
        for (t, q), value in (solution.entries.items() if few else ())
    ]
    return answer | {
        "entries": entries,
        "entries_total": len(solution.entries),
        "matrix": solution.matrix,
        "multipliers": certificate,
    }


def _summary(solution: MaxMargin) -> dict[str, Any]:
    exact = solution.norm_squared_exact
    short = exact is not None and exact.denominator < 10**LONGEST_FRACTION
    return {
        "status": solution.status.value,
        "norm": solution.norm,
        "norm_squared_exact": str(exact) if short else None,
        "error_bound": None if solution.status is Status.INFEASIBLE else solution.error_bound,
        "certified": certified(solution),
    }


def certified(solution: MaxMargin) -> str:
    """How the solution is certified, in words."""
    if solution.status is Status.INFEASIBLE:
        return "by constraints that contradict each other"
    return "by a duality gap" if solution.norm_squared_exact is None else "exactly"


def _degeneracy(reading: Reading) -> dict[str, Any] | None:
    """Tight constraints, those that are idle, and the rate that follows."""
    found = reading.degeneracy
    if found is None:
        return None
    return {
        "tight": _show(reading.dataset, found.tight),
        "idle": _show(reading.dataset, found.idle),
        "dependent": found.dependent,
        "rate": found.says,
    }


def _nuclear(dataset: Dataset) -> dict[str, Any] | None:
    """The least nuclear norm with the same margins, for W = K Q^T; None for large data."""
    pairs = len(dataset.strict_pairs)
    if dataset.E.shape[1] > WIDEST_NUCLEAR or pairs > MOST_PAIRS or not dataset.feasible:
        return None
    found = dataset.nuclear
    return {"norm": found.norm, "lower_bound": found.lower, "matrix": found.weights}


def _show(dataset: Dataset, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Pairs by the names of their tokens."""
    words = dataset.data.vocabulary
    return [{"query": words[q], "winner": words[a], "loser": words[b]} for q, (a, b) in pairs]


def _generalized(dataset: Dataset) -> dict[str, Any]:
    """What training does instead, when Graph-SVM is infeasible."""
    generalized = dataset.generalized
    return {
        "direction": _summary(generalized.margin) | {"matrix": generalized.margin.matrix},
        "separable": _show(dataset, generalized.separable),
        "bound": _show(dataset, generalized.bound),
        "finite_norm": dataset.finite_part.norm,
        "finite_gradient_norm": dataset.finite_part.gradient_norm,
    }


def _correction(dataset: Dataset) -> dict[str, Any]:
    words, correction = dataset.data.vocabulary, dataset.correction
    few = len(correction.entries) <= MOST_ENTRIES
    return {
        "norm": correction.norm,
        "gradient_norm": correction.gradient_norm,
        "tied_samples": dataset.cyclic.total,
        "entries": [
            {"token": words[t], "query": words[q], "value": value}
            for (t, q), value in (correction.entries.items() if few else ())
        ],
        "matrix": correction.matrix,
    }


def _predictions(reading: Reading) -> list[dict[str, Any]]:
    """What attention selects from each sample in the limit: the tied tokens, in their shares."""
    words = reading.dataset.data.vocabulary
    return [
        {
            "sequence": [words[token] for token in selection.sample.tokens],
            "label": words[selection.sample.label],
            "count": selection.sample.count,
            "source": selection.sample.source,
            "selected": [words[token] for token in selection.tokens],
            "probabilities": selection.shares,
        }
        for selection in reading.predictions
    ]
