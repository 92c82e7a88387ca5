"""The user's own sequences: what one attention layer will make of them. JSON-able answers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmata.margin import MaxMargin, Status
from lemmata.papers.mechanics.setting._dataset import Dataset
from lemmata.tokens import Instance, PriorityGraph

SETTING = "mechanics"

PREFIXES = False
"""A text sentence is one sample: its last token is the label of the rest."""

ASSUMPTIONS = {
    "assumption_2": ("label_not_in_sequence",),
    "assumption_4": ("embeddings_dependent",),
    "definition_2": ("cyclic",),
    "feasible": ("infeasible",),
    "max_margin_nonzero": ("max_margin_zero",),
}

THEOREMS = {
    "theorem-1": ("assumption_2", "definition_2", "feasible"),
    "theorem-2": ("assumption_2", "assumption_4", "feasible", "max_margin_nonzero"),
    "theorem-3": ("assumption_2", "assumption_4", "feasible", "max_margin_nonzero"),
    "theorem-4": ("assumption_2", "assumption_4", "feasible", "max_margin_nonzero"),
}
"""What each theorem asks of the data; what it asks of the loss and the step is up to training."""

MOST_ENTRIES = 20_000
"""Entries and multipliers of W^mm that are printed one by one."""

MOST_SAMPLES = 200
"""Samples whose prediction is spelled out."""

LONGEST_FRACTION = 1_000
"""Digits of an exact fraction worth printing."""


def analyze(instances: Sequence[Instance]) -> dict[str, Any]:
    """What the data means to the paper; several instances are listed under ``instances``."""
    answers = [analyze_dataset(dataset) for dataset in datasets_of(instances)]
    if len(answers) == 1:
        return {"setting": SETTING} | answers[0]
    return {"setting": SETTING, "instances": answers}


def datasets_of(instances: Sequence[Instance]) -> list[Dataset]:
    """The instances of a token file, named."""
    many = len(instances) > 1
    return [
        Dataset.from_instance(f"instance {i}" if many else "data", instance)
        for i, instance in enumerate(instances)
    ]


def analyze_dataset(dataset: Dataset) -> dict[str, Any]:
    """Graphs, components, both limits, and which theorems apply."""
    data = dataset.data
    broken = {name: dataset.broken(*codes) for name, codes in ASSUMPTIONS.items()}
    return {
        "vocabulary": list(data.vocabulary),
        "samples": data.total,
        "distinct_inputs": len({sample.tokens for sample in data.samples}),
        "longest_sequence": data.longest_input,
        "realizable": not broken["assumption_2"],
        "acyclic": dataset.acyclic,
        "problems": [
            {"code": p.code, "where": p.where, "message": p.message} for p in dataset.problems
        ],
        "assumptions": {
            name: {"holds": not found, "problems": list(dict.fromkeys(p.code for p in found))}
            for name, found in broken.items()
        },
        "theorems": {
            name: {
                "applies": not any(broken[needed] for needed in asks),
                "broken": [needed for needed in asks if broken[needed]],
            }
            for name, asks in THEOREMS.items()
        },
        "queries": _queries(dataset),
        "max_margin": _margin(dataset),
        "generalized": None if dataset.feasible else _generalized(dataset),
        "cyclic_correction": _correction(dataset),
        "predictions": _predictions(dataset),
    }


def _queries(dataset: Dataset) -> dict[str, Any]:
    data = dataset.data
    words = data.vocabulary
    right: dict[int, Counter[int]] = {}
    lost: dict[int, Counter[int]] = {}
    for sample in data.samples:
        table = right if sample.label in sample.tokens else lost
        table.setdefault(sample.query, Counter())[sample.label] += sample.count
    answers = {}
    for query in sorted({*right, *lost}):
        graph = dataset.graphs.get(query, PriorityGraph(query, (), {}))
        reached, missed = right.get(query, Counter()), lost.get(query, Counter())
        answers[data.name(query)] = {
            "samples": reached.total() + missed.total(),
            "edges": [[words[a], words[b]] for a, b in graph.edges],
            "components": [[words[x] for x in tied] for tied in graph.components],
            "layers": [[[words[x] for x in tied] for tied in layer] for layer in graph.layers],
            "reachable_labels": [words[x] for x, _ in reached.most_common()],
            "unreachable_labels": [words[x] for x, _ in missed.most_common() if x not in reached],
            "tied": [_tie(dataset, query, tied) for tied in graph.components if len(tied) > 1],
        }
    return answers


def _tie(dataset: Dataset, query: int, tied: list[int]) -> dict[str, Any]:
    """The shares of attention among tied tokens, if each occurred once."""
    shares = _softmax(_limit_logits(dataset, tied, query))
    order = np.argsort(-shares, kind="stable")
    return {
        "tokens": [dataset.data.vocabulary[tied[i]] for i in order],
        "probabilities": shares[order],
    }


def _limit_logits(dataset: Dataset, tokens: Sequence[int], query: int) -> np.ndarray:
    """e_x^T W^cyc e_q; with infeasible Graph-SVM, those of the finite part."""
    finite = dataset.finite_part
    if finite.matrix is None:
        return np.array([finite.entries.get((token, query), 0.0) for token in tokens])
    return dataset.E[list(tokens)] @ (finite.matrix @ dataset.E[query])


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def _margin(dataset: Dataset) -> dict[str, Any]:
    """W^mm with its entries, and the multipliers that certify it."""
    solution = dataset.margin
    answer = _summary(solution)
    certificate = _multipliers(dataset, solution)
    if solution.status is Status.INFEASIBLE:
        return answer | {"infeasibility": certificate}
    words = dataset.data.vocabulary
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
        "certified": _certificate(solution),
    }


def _certificate(solution: MaxMargin) -> str:
    if solution.status is Status.INFEASIBLE:
        return "by constraints that contradict each other"
    return "by a duality gap" if solution.norm_squared_exact is None else "exactly"


def _multipliers(dataset: Dataset, solution: MaxMargin) -> list[dict[str, Any]]:
    words = dataset.data.vocabulary
    rows = [
        {"query": words[q], "winner": words[a], "loser": words[b], "multiplier": str(value)}
        for q, table in solution.multipliers.items()
        for (a, b), value in table.items()
        if value
    ]
    return rows if len(rows) <= MOST_ENTRIES else []


def _generalized(dataset: Dataset) -> dict[str, Any]:
    """What training does instead, when Graph-SVM is infeasible."""
    words, found = dataset.data.vocabulary, dataset.generalized

    def show(pairs: Sequence[tuple[int, tuple[int, int]]]) -> list[dict[str, Any]]:
        return [{"query": words[q], "winner": words[a], "loser": words[b]} for q, (a, b) in pairs]

    return {
        "direction": _summary(found.margin) | {"matrix": found.margin.matrix},
        "separable": show(found.separable),
        "bound": show(found.bound),
        "finite_norm": dataset.finite_part.norm,
        "finite_gradient_norm": dataset.finite_part.gradient_norm,
    }


def _correction(dataset: Dataset) -> dict[str, Any]:
    words, found = dataset.data.vocabulary, dataset.correction
    few = len(found.entries) <= MOST_ENTRIES
    return {
        "norm": found.norm,
        "gradient_norm": found.gradient_norm,
        "tied_samples": dataset.cyclic.total,
        "entries": [
            {"token": words[t], "query": words[q], "value": value}
            for (t, q), value in (found.entries.items() if few else ())
        ],
        "matrix": found.matrix,
    }


def _predictions(dataset: Dataset) -> list[dict[str, Any]]:
    """What attention selects from each sample in the limit: the tied tokens, in their shares."""
    words = dataset.data.vocabulary
    found = []
    samples = dataset.realizable.samples
    if len(samples) > MOST_SAMPLES:
        return found
    for sample, tied in zip(samples, dataset.bound_tokens, strict=True):
        tokens = sorted({*tied, sample.label})
        counts = np.array([sample.tokens.count(token) for token in tokens])
        logits = _limit_logits(dataset, tokens, sample.query) + np.log(counts)
        shares = _softmax(logits)
        found.append(
            {
                "sequence": [words[token] for token in sample.tokens],
                "label": words[sample.label],
                "count": sample.count,
                "source": sample.source,
                "selected": [words[token] for token in tokens],
                "probabilities": shares,
            }
        )
    return found
