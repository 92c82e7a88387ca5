"""What data breaks of the paper's assumptions, with the sample at fault."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from lemmata.margin import Status
from lemmata.tokens import PriorityGraph, Problem, TokenData

MOST_PROBLEMS = 1_000
"""Problems of one kind that are listed one by one."""


def labels_out_of_reach(data: TokenData) -> list[Problem]:
    """Assumption 2."""
    return [
        Problem(
            "label_not_in_sequence",
            sample.source,
            f"the label {data.name(sample.label)!r} does not occur in its sequence: Assumption 2 "
            "is broken, and with the identity head attention learns nothing from this sample",
        )
        for sample in data.samples
        if sample.label not in sample.tokens
    ]


def cycles(data: TokenData, graphs: Mapping[int, PriorityGraph]) -> list[Problem]:
    """Definition 2; ``data`` are the samples that the graphs were read off."""
    problems = []
    for query, graph in graphs.items():
        walk = graph.cycle()
        if walk is not None:
            sources = (data.samples[graph.evidence[edge]].source for edge in pairwise(walk))
            problems.append(
                Problem(
                    "cyclic",
                    f"last token {data.name(query)}; {', '.join(dict.fromkeys(sources))}",
                    f"{' beats '.join(map(data.name, walk))}: these tokens are tied, so the data "
                    "is not acyclic (Definition 2): they will share attention",
                )
            )
    return problems


def embedding_problems(
    embeddings: Float[np.ndarray, "tokens dimension"] | None, orthonormal: bool
) -> list[Problem]:
    """Assumption 4, and columns of W that do not decouple."""
    if embeddings is None:
        return []
    problems = []
    rank = int(np.linalg.matrix_rank(embeddings))
    if rank < len(embeddings):
        message = (
            f"the {len(embeddings)} embeddings span {rank} dimensions only, so no head has "
            "C E^T = I: Assumption 4 is broken"
        )
        problems.append(Problem("embeddings_dependent", "embeddings", message))
    if not orthonormal:
        message = "the embeddings are not orthonormal, so the columns of W do not decouple"
        problems.append(Problem("embeddings_not_orthonormal", "embeddings", message))
    return problems


def start_problems(
    initial_weights: Float[np.ndarray, "dimension dimension"] | None,
) -> list[Problem]:
    """A start that statements about training from zero do not cover."""
    if initial_weights is None or not initial_weights.any():
        return []
    return [Problem("nonzero_start", "initial weights", "W(0) is not 0")]


def limit_problems(status: Status) -> list[Problem]:
    """A Graph-SVM without a direction."""
    if status is Status.INFEASIBLE:
        message = (
            "Graph-SVM is infeasible: the embeddings cannot give every label a larger logit "
            "than the tokens it beats"
        )
        return [Problem("infeasible", "embeddings", message)]
    if status is Status.ZERO:
        message = "no token strictly beats another: W^mm is 0 and training stays finite"
        return [Problem("max_margin_zero", "all samples", message)]
    return []


def shortened(kinds: Iterable[list[Problem]]) -> tuple[Problem, ...]:
    """All problems; of many of one kind the first, and how many more there are."""
    return tuple(problem for kind in kinds for problem in _shorten(kind))


def _shorten(problems: list[Problem]) -> list[Problem]:
    if len(problems) <= MOST_PROBLEMS:
        return problems
    more = Counter(problem.code for problem in problems[MOST_PROBLEMS:])
    return problems[:MOST_PROBLEMS] + [
        Problem(code, "further samples", f"and {count:,} more like these")
        for code, count in more.items()
    ]
