"""Local convergence (Section 6): graphs read off what a trained model selects.

With a general head or loss, descent may select other tokens than the labels. The *pseudo* graphs
take the selected tokens as winners. ``authors`` is the recipe of the authors' program, with its
thresholds; ``selected`` is the definition that we find right: the reduced data keeps the selected
tokens of each sample (not those around the true label), and the finite limit is the stationary
point of its risk next to where training went.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from lemmata._errors import InputError
from lemmata.margin import (
    MaxMargin,
    Pair,
    Status,
    generalized_max_margin,
    max_margin_of_pairs,
    pair_rows,
    span_basis,
)
from lemmata.tokens import PriorityGraph, Sample, TokenData, priority_graphs

from ._batch import Limit
from ._dataset import Dataset
from ._heads import LOSSES, scores
from ._training import Training, reduced_dataset

SELECTED = 1e-2
"""Attention above this counts as selection."""

IGNORED = 9e-3
"""The authors' program draws no edge to a token whose attention is between this and SELECTED."""

SCORE_DERIVATIVES: dict[str, Callable[[float], tuple[float, float]]] = {
    "log": lambda u: (-1 / u, 1 / u**2),
    "squared": lambda u: (-2 * (1 - u), 2.0),
    "linear": lambda u: (-1.0, 0.0),
    "exponential": lambda u: (-np.exp(-u), np.exp(-u)),
    "flat": lambda u: (
        1 / (1 + (u - 1) ** 2) - 1,
        -2 * (u - 1) / (1 + (u - 1) ** 2) ** 2,
    ),
}
"""l'(u) and l''(u)."""

Definition = Literal["authors", "selected"]


@dataclass(frozen=True)
class Pseudo:
    """What a trained model selects, and the local limits that it defines.

    Attributes:
        selected: the selected tokens of each sample.
        graphs: one per last token; selected tokens beat all others and tie with each other.
        strict: the pairs to separate.
        tied: neighbours inside each component (of a label, by the authors' recipe).
        reduced: the data whose risk has the finite limit.
        margin: the max-margin direction of the strict pairs.
        finite: the finite limit.
    """

    selected: tuple[frozenset[int], ...]
    graphs: dict[int, PriorityGraph]
    strict: tuple[Pair, ...]
    tied: tuple[Pair, ...]
    reduced: TokenData
    margin: MaxMargin
    finite: Float[np.ndarray, "dimension dimension"]

    @property
    def limit(self) -> Limit:
        """As something to compare a run with."""
        assert self.margin.weights is not None
        return Limit(self.margin.weights, self.finite, self.tied)


def pseudo_limits(
    datasets: Sequence[Dataset],
    weights: Sequence[Float[np.ndarray, "_ _"]],
    how: Training,
    definition: Definition,
) -> list[Pseudo]:
    """The pseudo graphs of trained weights, and both local limits."""
    drafts = [_draft(d, W, definition) for d, W in zip(datasets, weights, strict=True)]
    if definition == "selected":
        found = [
            stationary_point(d, draft.reduced, draft.tied, W, how)
            for d, draft, W in zip(datasets, drafts, weights, strict=True)
        ]
    else:
        found = _trained_limits(datasets, drafts, how)
    return [replace(draft, finite=finite) for draft, finite in zip(drafts, found, strict=True)]


def token_masses(
    dataset: Dataset, sample: Sample, weights: Float[np.ndarray, "dimension dimension"]
) -> dict[int, float]:
    """The attention on each distinct token of a sample."""
    tokens = list(sample.tokens)
    attention = softmax(dataset.E[tokens] @ (weights @ dataset.E[sample.query]))
    masses: dict[int, float] = {}
    for token, share in zip(tokens, attention, strict=True):
        masses[token] = masses.get(token, 0.0) + float(share)
    return masses


def _draft(
    dataset: Dataset, weights: Float[np.ndarray, "dimension dimension"], definition: Definition
) -> Pseudo:
    data = dataset.data
    masses = [token_masses(dataset, sample, weights) for sample in data.samples]
    selected = tuple(frozenset(t for t, p in table.items() if p > SELECTED) for table in masses)
    ignored = [
        frozenset(t for t, p in table.items() if IGNORED < p <= SELECTED)
        if definition == "authors"
        else frozenset()
        for table in masses
    ]
    graphs = priority_graphs(_without(data, ignored), selected, mutual=True)
    every = priority_graphs(data, selected, mutual=True)
    component = {q: graph.component_of for q, graph in graphs.items()}
    strict = tuple(
        (q, (a, b))
        for q, graph in every.items()
        for a, b in graph.edges
        if component[q].get(a) != component[q].get(b)
    )
    tied = ties = tuple(
        (q, edge)
        for q, graph in graphs.items()
        for tokens in graph.components
        for edge in pairwise(tokens)
    )
    reduced = _reduced(data, selected, component, definition)
    if definition == "authors":
        used = {(s.query, component[s.query][s.label]) for s in reduced.samples}
        tied = tuple(pair for pair in tied if (pair[0], component[pair[0]][pair[1][0]]) in used)
    margin = max_margin_of_pairs(strict, ties, dataset.E)
    if margin.status is Status.INFEASIBLE:
        both = [*strict, *ties, *((q, (b, a)) for q, (a, b) in ties)]
        margin = generalized_max_margin(both, dataset.E).margin
    zero = np.zeros_like(weights)
    return Pseudo(selected, graphs, strict, tied, reduced, margin, zero)


def _without(data: TokenData, ignored: Sequence[frozenset[int]]) -> TokenData:
    """The samples without the tokens to ignore; the query stays."""
    return TokenData(
        data.vocabulary,
        tuple(
            replace(
                sample,
                tokens=tuple(t for t in sample.tokens if t not in drop),
                asked_by=sample.query,
            )
            for sample, drop in zip(data.samples, ignored, strict=True)
        ),
    )


def _reduced(
    data: TokenData,
    selected: Sequence[frozenset[int]],
    component: dict[int, dict[int, int]],
    definition: Definition,
) -> TokenData:
    """The selected tokens of each sample; by the authors' recipe, those tied with the label."""
    kept = []
    for sample, chosen in zip(data.samples, selected, strict=True):
        table = component[sample.query]
        own = table.get(sample.label, -1)
        inside = [
            t
            for t in sample.tokens
            if (t in chosen if definition == "selected" else table.get(t, -2) == own)
        ]
        if len(set(inside)) > 1:
            kept.append(replace(sample, tokens=tuple(inside), asked_by=sample.query))
    return TokenData(data.vocabulary, tuple(kept))


def _trained_limits(
    datasets: Sequence[Dataset], drafts: Sequence[Pseudo], how: Training
) -> list[Float[np.ndarray, "dimension dimension"]]:
    """By training from zero on the reduced data, as the authors do."""
    found = [np.zeros_like(draft.finite) for draft in drafts]
    busy = [i for i, draft in enumerate(drafts) if draft.reduced.samples]
    if busy:
        parts = [reduced_dataset(datasets[i], drafts[i].reduced) for i in busy]
        short = replace(how, record=(how.steps,))
        run = short.run(parts, limits=[drafts[i].limit for i in busy])
        for row, i in enumerate(busy):
            found[i] = run.weights(row)
    return found


def stationary_point(
    dataset: Dataset,
    reduced: TokenData,
    tied: Sequence[Pair],
    weights: Float[np.ndarray, "dimension dimension"],
    how: Training,
) -> Float[np.ndarray, "dimension dimension"]:
    """The stationary point of the reduced risk next to the weights' part in the span of ties.

    Newton's method on the gradient; the risk of a general head is not convex, so the nearest
    zero of the gradient is what is meant.
    """
    basis = span_basis(pair_rows(tied, dataset.E))
    if not len(basis) or not reduced.samples:
        return np.zeros(weights.shape)
    loss = how.loss if isinstance(how.loss, str) else how.loss.name
    if loss not in LOSSES:
        raise InputError(f"no second derivative is known for the loss '{loss}'; use {LOSSES}")
    width = dataset.E.shape[1]
    matrices = basis.reshape(-1, width, width)
    table = scores(dataset, how.head)
    samples = [
        (
            np.einsum("td,rde,e->tr", dataset.E[list(s.tokens)], matrices, dataset.E[s.query]),
            table[:, list(s.tokens)],
            s,
        )
        for s in reduced.samples
    ]
    point = basis @ weights.ravel()
    for _ in range(100):
        slope, curvature = np.zeros(len(basis)), np.zeros((len(basis),) * 2)
        for design, gains, sample in samples:
            first, second = _expand(design @ point, gains, sample.label, loss)
            slope += sample.count / reduced.total * (design.T @ first)
            curvature += sample.count / reduced.total * (design.T @ second @ design)
        if np.linalg.norm(slope) < 1e-14:
            break
        step = np.linalg.lstsq(curvature, -slope, rcond=1e-12)[0]
        point = point + step * min(1.0, 1.0 / max(float(np.linalg.norm(step)), 1e-300))
    return (point @ basis).reshape(weights.shape)


def _expand(
    logits: Float[np.ndarray, "positions"],
    gains: Float[np.ndarray, "labels positions"],
    label: int,
    loss: str,
) -> tuple[Float[np.ndarray, "positions"], Float[np.ndarray, "positions positions"]]:
    """Gradient and Hessian of one sample's loss in its attention logits."""
    s = softmax(logits)
    outer, inner = _expand_loss(gains @ s, label, loss)
    pull = gains.T @ outer
    lead = s * (pull - s @ pull)
    jacobian = np.diag(s) - np.outer(s, s)
    curved = np.diag(lead) - np.outer(s, lead) - np.outer(lead, s)
    return lead, jacobian @ (gains.T @ inner @ gains) @ jacobian + curved


def _expand_loss(
    predicted: Float[np.ndarray, "labels"], label: int, loss: str
) -> tuple[Float[np.ndarray, "labels"], Float[np.ndarray, "labels labels"]]:
    """Gradient and Hessian of the loss in the predicted scores."""
    own = np.eye(len(predicted))[label]
    if loss in ("cross-entropy", "softmax-squared"):
        p = softmax(predicted)
        spread = np.diag(p) - np.outer(p, p)
        if loss == "cross-entropy":
            return p - own, spread
        q = p[label]
        slope = -2 * (1 - q) * q
        return slope * (own - p), (4 * q - 2) * q * np.outer(own - p, own - p) - slope * spread
    first, second = SCORE_DERIVATIVES[loss](float(predicted[label]))
    return first * own, second * np.outer(own, own)
