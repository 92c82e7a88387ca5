"""Sections 4.1 and 4.2: what a vanishing loss asks of the data, and what the two losses share."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.special import softmax

from lemmata.claims import (
    Bench,
    Comparison,
    at_least,
    at_most,
    equal,
    repaired,
    statements,
    tends_to,
)
from lemmata.margin import Status
from lemmata.settings import Evidence, Grid

from ..counterexamples import bag_decides, without_preimage
from ..experiments import AMBIGUOUS, GROWING, PRINTED, STRUCTURES, loss
from ..setting import (
    ASSUMPTION_2,
    AT_POINTS,
    CHOICE,
    COLLOCATION,
    ORDERS,
    PREFIXES,
    PREIMAGE,
    SINGLE_VALUED,
    STAGE_2,
    TWO_TOKENS,
    Dataset,
)
from ._facts import Fault, no_fault, on_its_own

DATA = (SINGLE_VALUED, PREFIXES, ASSUMPTION_2)
"""Columns of W_ov are free only if embeddings are independent."""

claim = statements("convergence", on=STRUCTURES, hypotheses=DATA)
anywhere = statements("convergence", on=PRINTED, hypotheses=AT_POINTS)


def can_vanish(dataset: Dataset, weights: np.ndarray) -> bool:
    """Whether some W_ov gives every label a margin of 1 under this attention: a linear program."""
    K, rows = dataset.K, []
    for sample in dataset.data.samples:
        mean = np.zeros(K)
        np.add.at(mean, list(sample.tokens), softmax(weights[list(sample.tokens), sample.query]))
        for v in range(K):
            if v != sample.label:
                row = np.zeros((K, K))
                row[:, v], row[:, sample.label] = mean, -mean
                rows.append(row.ravel())
    limits = -np.ones(len(rows))
    return linprog(np.zeros(K * K), A_ub=np.array(rows), b_ub=limits, bounds=(None, None)).success


def _uniform(dataset: Dataset) -> np.ndarray:
    return np.zeros((dataset.K, dataset.K))


@anywhere(
    "section-4.1/one-token",
    "Section 4.1",
    "On an input of one token, repeated or not, the output is softmax(W_ov x), whatever W_kq is.",
)
def one_token(evidence: Evidence[Dataset]) -> Comparison:
    """The losses of all [x x], at random weights, against L₀ as displayed in Section 4.2."""
    return equal(
        evidence.repeated_loss,
        evidence.collocation_loss,
        part="loss",
        size=evidence.collocation_loss + evidence.value_size,
    )


@anywhere(
    "section-4.1/collocation-loss",
    "Section 4.1",
    "If the training loss vanishes along some weights, so does the collocation loss: L₀ ≤ L/min π "
    "over the inputs of one token.",
    hypotheses=(*AT_POINTS, PREFIXES),
)
def collocation_loss(evidence: Evidence[Dataset]) -> Comparison:
    """Inputs of one token are a part of the data, which weighs them."""
    least = np.where(evidence.least_first > 0, evidence.least_first, np.nan)
    bound = evidence.loss_grouped / least
    return at_most(evidence.collocation_loss, bound, part="L₀", size=bound + evidence.value_size)


@anywhere(
    "section-4.2/length-two",
    "Section 4.2",
    "The loss of stage 1 is that of the sentences of length two.",
    hypotheses=(*AT_POINTS, PREFIXES),
    kind="hypothesis",
    versions=[
        repaired(
            "The sentences of length two weigh each token by its frequency as a first one: their "
            "loss lies between min π and max π over them, times L₀.",
            bounds=True,
        )
    ],
)
def length_two(evidence: Evidence[Dataset], bounds: bool = False) -> list[Comparison]:
    """As averages. They are equal if all first tokens are equally frequent; L₀ counts each once."""
    size = evidence.most_first * (evidence.collocation_loss + evidence.value_size)
    if bounds:
        least = evidence.least_first * evidence.collocation_loss
        most = evidence.most_first * evidence.collocation_loss
        return [
            at_least(evidence.first_loss, least, part="above", size=size),
            at_most(evidence.first_loss, most, part="below", size=size),
        ]
    mean = evidence.each(_first_shares) * evidence.collocation_loss
    return [equal(evidence.first_loss, mean, part="loss", size=size)]


def _first_shares(dataset: Dataset) -> float:
    """The mean π of an input of one token."""
    rows = zip(dataset.data.samples, np.exp(dataset.log_pi), strict=True)
    return float(sum(pi for sample, pi in rows if len(sample.tokens) == 1) / dataset.K)


@claim(
    "section-4.1/entropy",
    "Section 4.1",
    "A first token with several continuations keeps the loss above its share of the data times the "
    "entropy of the continuations, at all weights.",
    on=AMBIGUOUS,
    hypotheses=(TWO_TOKENS,),
)
def entropy(evidence: Evidence[Dataset]) -> Comparison:
    """At random weights, and at the best ones, where it is attained.

    The paper says it of two tokens with one continuation, which costs nothing.
    """
    return at_least(evidence.weighted_loss, evidence.each(entropy_floor), part="loss")


def entropy_floor(dataset: Dataset) -> float:
    """Σ over first tokens of π · entropy of what follows them."""
    shares: dict[int, dict[int, float]] = {}
    for sample, pi in zip(dataset.data.samples, dataset.frequencies, strict=True):
        if len(set(sample.tokens)) == 1:
            after = shares.setdefault(sample.query, {})
            after[sample.label] = after.get(sample.label, 0.0) + float(pi)
    return sum(
        part * np.log(sum(after.values()) / part)
        for after in shares.values()
        for part in after.values()
    )


def _at_odds(bench: Bench) -> list[Comparison]:
    """Columns (0, 3, 2.9) of a and (3, 0, 2.9) of b: their mean peaks at the third token."""
    dataset, values = without_preimage()
    logits = values[[0, 1]].mean(axis=0)
    lead = np.array([[logits[:2].max() - logits[2]]])
    part = "likeliest successor, ahead of the rest"
    return [at_least(lead, 0.0, part=part, cases=[dataset], places=[0])]


@anywhere(
    "section-4.1/peaks",
    "Section 4.1",
    "If W_ov x peaks at n(x) for every token, the output peaks at the successor of a token of the "
    "input.",
    kind="hypothesis",
    counterexample=_at_odds,
    versions=[
        repaired(
            "If besides all wrong logits of each column tie, as from a start at zero (Lemma 3), "
            "the output peaks at the successor of a token of the input.",
            tied=True,
        )
    ],
)
def peaks(evidence: Evidence[Dataset], tied: bool = False) -> Comparison:
    """At random W_kq, and random W_ov whose columns peak where they should."""
    lead = evidence.tied_peak if tied else evidence.peak
    return at_least(lead, 0.0, part="lead of a successor", size=evidence.value_size)


def _vanishes(bench: Bench) -> list[Comparison]:
    """The loss of {abc, ba, cc} vanishes along W_ov with those columns, at W_kq = 0."""
    dataset, values = without_preimage()
    scales = np.geomspace(100, 1_000, 9)
    losses = np.array([[loss(dataset, s * values, _uniform(dataset)).real for s in scales]])
    return [
        tends_to(losses, 0.0, part="loss", cases=[dataset], places=scales),
        *on_its_own(Evidence((dataset,)), preimage(Evidence((dataset,)))),
    ]


@claim(
    "section-4.1/preimage",
    "Section 4.1",
    "If the training loss can be made arbitrarily small, every input contains a token that the "
    "collocation sends to its next token.",
    kind="hypothesis",
    counterexample=_vanishes,
    versions=[
        repaired(
            "If the wrong logits of each column tie, an input without such a token keeps its loss "
            "above log 2, whatever W_kq is.",
            hypotheses=(SINGLE_VALUED, TWO_TOKENS),
            on=AMBIGUOUS,
            tied=True,
        )
    ],
)
def preimage(evidence: Evidence[Dataset], tied: bool = False) -> list[Comparison]:
    """It may vanish at W_kq = 0, with columns of W_ov that nearly tie between two tokens.

    If they tie, the next token gets no more than the successor of any token of the input.
    """
    if tied:
        return [at_least(evidence.orphan_loss, np.log(2), part="loss of the input", size=1.0)]
    return _orphans(evidence)


@no_fault("preimage")
def _orphans(dataset: Dataset) -> Iterator[Fault]:
    broken = PREIMAGE.broken(dataset.problems)
    if broken and can_vanish(dataset, _uniform(dataset)):
        where = broken[0].where
        yield f"{where} lacks it, and the loss vanishes at W_kq = 0", {"where": where}


@claim(
    "section-4.1/larger-weight",
    "Section 4.1",
    "If the training loss can be made arbitrarily small, attention prefers the tokens that the "
    "collocation sends to the label.",
    hypotheses=(*DATA, ORDERS, PREIMAGE, CHOICE),
    kind="hypothesis",
    versions=[
        repaired(
            "With equal margins of W_ov, a label that is the likeliest next token has the token "
            "with the largest attention sent to it.",
            hypotheses=(*DATA, COLLOCATION, ORDERS, PREIMAGE, CHOICE),
            equal_margins=True,
        )
    ],
)
def larger_weight(evidence: Evidence[Dataset], equal_margins: bool = False) -> list[Comparison]:
    """W_kq = −W_kq*/4 prefers the others under every query; margins of W_ov can make up for it."""
    check = no_fault("preference")(_preferred if equal_margins else _disliked)
    return check(evidence)


def _disliked(dataset: Dataset) -> Iterator[Fault]:
    weights = dataset.attention_margin.weights
    if weights is not None and can_vanish(dataset, -weights / 4):
        yield "the loss vanishes at W_kq = −W_kq*/4, with another W_ov", {}


def _preferred(dataset: Dataset) -> Iterator[Fault]:
    """At random W_kq; with equal margins the logit of n(x) is the attention on x, times Δ."""
    draw = np.random.default_rng(dataset.K)
    for sample in dataset.data.samples:
        tokens = list(sample.tokens)
        mass = np.zeros(dataset.K)
        np.add.at(mass, tokens, softmax(draw.standard_normal(dataset.K)[tokens]))
        values = np.zeros(dataset.K)
        for x in set(tokens):
            values[dataset.collocation.following[x]] += mass[x]
        likeliest = int(np.argmax(values)) == sample.label
        heaviest = dataset.collocation.following[int(np.argmax(mass))] == sample.label
        if likeliest and not heaviest:
            yield f"in {dataset.data.show(sample)} another token is heavier", {}


def _decided_by_counts(bench: Bench) -> list[Comparison]:
    alone = Evidence((bag_decides(),))
    return on_its_own(alone, well_defined(alone))


@claim(
    "section-4.1/well-defined",
    "Section 4.1",
    "If the training loss can be made arbitrarily small, every query's relation is a strict "
    "partial order.",
    kind="hypothesis",
    counterexample=_decided_by_counts,
    versions=[
        repaired(
            "Where no relation has a cycle and no token is confused, every query's relation is a "
            "strict partial order.",
            hypotheses=(*DATA, ORDERS),
        )
    ],
)
@no_fault("strict orders")
def well_defined(dataset: Dataset) -> Iterator[Fault]:
    """Numbers of copies can decide where tokens beat each other; chains lack their ends."""
    for query, graph in dataset.orders.graphs.items():
        edges, name = set(graph.evidence), dataset.data.name
        pairs = {(a, d) for (a, b), (c, d) in product(edges, edges) if b == c}
        missing = sorted(pairs - edges) + sorted((a, b) for a, b in edges if a == b)
        if missing and _loss_vanishes(dataset):
            a, b = missing[0]
            what = "a cycle" if (b, a) in edges or a == b else "no transitivity"
            yield (
                f"under {name(query)} {name(a)}, {name(b)} show {what}, and the loss vanishes",
                {"query": name(query), "pair": [name(a), name(b)]},
            )


def _loss_vanishes(dataset: Dataset) -> bool:
    """Along the max-margin solutions, or at uniform attention."""
    reached = not PREIMAGE.broken(dataset.problems) and not dataset.broken("ambiguous_label")
    along = reached and dataset.attention_status is not Status.INFEASIBLE
    return along or can_vanish(dataset, _uniform(dataset))


@claim(
    "section-4.2/decoupling",
    "Sections 1 and 4.2",
    "Training one layer after the other loses no optimality: the loss tends to 0, its infimum over "
    "both layers, as T and t grow together.",
    on=GROWING,
    hypotheses=STAGE_2,
    unbreakable="it speaks of a limit, which no finite run can refute",
)
def decoupling(evidence: Evidence[Dataset]) -> Comparison:
    """log L over −Tη₀/√(|V|−1), its floor, tends to 1: the loss falls as fast as W_ov allows."""
    relative = evidence.log_loss / _floor(evidence)
    return tends_to(relative, 1.0, part="log-loss over its floor", trend=1 / evidence.records)


@claim(
    "section-5.2/label-probability",
    "Section 5.2, after Theorem 2",
    "For T and t of order log(1/ε₀) every training input gives its label a probability of "
    "1 − O(ε₀).",
    on=GROWING,
    hypotheses=STAGE_2,
    unbreakable="it hides its constants",
)
def label_probability(evidence: Evidence[Dataset]) -> Comparison:
    """With T and t in proportion the logarithm of the largest miss falls as fast as T allows."""
    relative = evidence.log_miss / _floor(evidence)
    return tends_to(relative, 1.0, part="log of the largest miss", trend=1 / evidence.records)


def _floor(evidence: Evidence[Dataset]) -> Grid:
    """log((|V| − 1) exp(−Tη₀/√(|V|−1))): a miss, and nearly the loss, under perfect attention."""
    K = evidence.each(lambda d: d.K)
    return np.log(K - 1) - evidence.records * evidence.value_rate / np.sqrt(K - 1)
