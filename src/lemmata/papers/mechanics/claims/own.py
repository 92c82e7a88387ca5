"""What the paper does not say: findings of ours, checked like the rest."""

import numpy as np

from lemmata.claims import (
    Bench,
    Comparisons,
    at_least,
    at_most,
    equal,
    mean_of,
    statements,
    tends_to,
)
from lemmata.margin import embedded_max_margin
from lemmata.settings import Evidence
from lemmata.tokens import PriorityGraph

from ..counterexamples import unrealizable
from ..experiments import (
    FACTORED,
    IDLE,
    INFEASIBLE,
    SAMPLE,
    STRUCTURES,
    At,
    Followed,
    random_weights,
)
from ..setting import ACYCLIC_DATA, INDEPENDENT, NONZERO, REALIZABLE, Dataset, Training
from ..theory import tie_range_bound
from ._shared import SHORTEST, Numbers, aligns, at_points, settled, with_ties

claim = statements("mechanics", on=STRUCTURES)

LARGEST_LOG = 700.0
"""Bounds beyond its exponential exclude nothing."""


@claim(
    "own/feasible",
    "ours; docs/mechanics.md",
    "Linearly independent embeddings make Graph-SVM feasible, so Theorems 2 and 3 need not suppose "
    "it.",
    hypotheses=(INDEPENDENT,),
)
def feasible(evidence: Evidence[Dataset]) -> Comparisons:
    """Heights of the components as logits, which E W E^T = M can always attain (1 for yes)."""
    return equal(evidence.each(lambda dataset: dataset.feasible), 1.0, part="feasible")


@claim(
    "own/tie-range",
    "ours; docs/mechanics.md",
    "Tied logits differ by at most (|C| − 1)(|I| L̄(W) + log m), m the largest number of times a "
    "label occurs in its sequence: a bound for Lemma 7, whose proof gives none.",
    hypotheses=(REALIZABLE,),
    on=SAMPLE,
)
@at_points(at_most, part="range", only=with_ties)
def tie_range(dataset: Dataset) -> Numbers:
    """At W^cyc and at random W, for every component."""
    reduced = dataset.risk.tied_only()
    log_samples = -float(reduced.log_weight.min())
    if dataset.log_frequency is None:
        log_samples = np.log(dataset.cyclic.total)
    most = max(s.tokens.count(s.label) for s in dataset.cyclic.samples)
    for W in (dataset.W_cyc, *random_weights(dataset)[:6]):
        log_losses = log_samples + reduced.log_value(At(dataset, W).logits)
        losses = np.exp(min(log_losses, LARGEST_LOG))
        for query, graph in dataset.graphs.items():
            for tied in graph.components:
                if len(tied) > 1:
                    logits = dataset.E[tied] @ W @ dataset.E[query]
                    yield float(np.ptp(logits)), tie_range_bound(len(tied), losses, most)


@claim(
    "own/infeasible-direction",
    "ours; docs/mechanics.md",
    "Where Graph-SVM is infeasible, training separates the separable pairs along their max-margin "
    "direction and leaves the rest at the finite minimiser of their risk.",
    hypotheses=(REALIZABLE,),
    on=INFEASIBLE,
)
def infeasible_direction(evidence: Evidence[Dataset]) -> Comparisons:
    """The block scheme with the bound pairs in the place of ties; some datasets stay finite."""
    moving = evidence.where(lambda d: d.generalized.margin.status == "solved")
    rate = evidence.each(lambda d: 1 / max(d.lipschitz_tight, SHORTEST))
    distance = settled(evidence, rate, evidence.cyclic_distance)
    finite = tends_to(distance, 0.0, part="distance to the finite part")
    if not len(moving):
        return finite
    gaps = moving.one_minus_correlation
    return [aligns(gaps, part="1 − corr", places=moving.steps, cases=moving.cases), finite]


@claim(
    "own/factored",
    "ours; docs/mechanics.md",
    "Trained through W = K Q^T from small factors, the direction is not W^mm but one of lower "
    "rank, with a larger margin per nuclear norm.",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, NONZERO),
    on=FACTORED,
    unbreakable="it speaks of an average over datasets",
)
def factored(evidence: Evidence[Dataset]) -> Comparisons:
    """Margins per nuclear norm and effective ranks at the end, over those of W^mm; on average."""
    ranks, rank_error = mean_of(evidence.trained_rank / evidence.limit_rank)
    gains, gain_error = mean_of(evidence.trained_margin / evidence.limit_margin)
    trials = [f"the mean of {len(evidence)} datasets"]
    return [
        at_most(ranks, 1.0, strict=True, error=rank_error, part="effective rank", cases=trials),
        at_least(gains, 1.0, strict=True, error=gain_error, part="margin", cases=trials),
    ]


@claim(
    "own/nuclear-limit",
    "ours; docs/mechanics.md",
    "Trained through W = K Q^T from small factors, the least margin per nuclear norm comes nearer "
    "to the most it can be than that of W^mm is.",
    hypotheses=(REALIZABLE, ACYCLIC_DATA, NONZERO),
    on=FACTORED,
    unbreakable="it speaks of an average over datasets",
)
def nuclear_limit(evidence: Evidence[Dataset]) -> Comparisons:
    """What each lacks of the most, 1 / ‖W‖_* of the certified solution; on average."""
    most = evidence.each(lambda dataset: 1 / dataset.nuclear.norm)
    lacks = 1 - evidence.limit_margin / most
    gain, error = mean_of(lacks - evidence.nuclear_shortfall[:, -1:])
    trials = [f"the mean of {len(evidence)} datasets"]
    return at_least(gain, 0.0, strict=True, error=error, part="what W^mm lacks more", cases=trials)


def _literal_graph(bench: Bench) -> Comparisons:
    """The graph with edges from labels that are not there turns elsewhere than training."""
    dataset = unrealizable()
    edges = {
        (sample.label, token): i
        for i, sample in enumerate(dataset.data.samples)
        for token in sample.tokens
        if token != sample.label
    }
    graph = PriorityGraph(3, (0, 1, 2, 3), edges)
    literal = embedded_max_margin({3: graph}, dataset.E, ties=True).weights
    assert literal is not None
    run = Training(rate=0.1, steps=20_000).run([dataset])
    W = run.weights(0)
    cosine = np.sum(W * literal) / np.linalg.norm(W) / np.linalg.norm(literal)
    gaps = run["one_minus_correlation"]
    return [
        aligns(gaps, places=run.steps, part="1 − corr", cases=[dataset]),
        at_most(
            gaps[0, -1],
            1 - cosine,
            strict=True,
            part="1 − corr, against that with the literal graph",
            cases=[dataset],
        ),
    ]


@claim(
    "own/realizable-graph",
    "ours: Section 3.1 with unrealizable samples left out",
    "Training follows the graphs built from realizable samples alone; samples whose label is not "
    "in their sequence must not add edges.",
    hypotheses=(INDEPENDENT,),
    counterexample=_literal_graph,
)
@at_points(equal, part="edges")
def realizable_graph(dataset: Dataset) -> Numbers:
    """Every edge has a sample that holds both of its tokens, and the label wins (1 for yes)."""
    for graph in dataset.graphs.values():
        for (winner, loser), number in graph.evidence.items():
            sample = dataset.realizable.samples[number]
            yield {winner, loser} <= set(sample.tokens) and sample.label == winner, 1.0


@claim(
    "own/idle-rate",
    "ours; docs/mechanics.md",
    "Where a tight constraint has multiplier 0 in every certificate, 1 − corr falls slower than "
    "1/R²: on (0 1 2) → 1, (3 2) → 3 the rest of W̄_R grows by log R.",
    on=IDLE,
)
def idle_rate(evidence: Evidence[Followed]) -> Comparisons:
    """y = R √(2 (1 − corr)) solves y + log y = log R + O(1): its growth per e-fold of R."""
    R = evidence.norm
    y = R * np.sqrt(2 * evidence.one_minus_correlation)
    growth = np.diff(y + np.log(y), axis=1) / np.diff(np.log(R), axis=1)
    return tends_to(growth, 1.0, places=R[0, 1:], part="growth per e-fold")
