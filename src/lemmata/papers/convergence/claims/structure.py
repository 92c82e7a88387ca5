"""Section 4.1: collocations, orders, roles, the assumptions, and Example 1."""

from collections.abc import Iterator

import numpy as np

from lemmata.claims import Bench, Comparison, Fact, equal, statements, tends_to
from lemmata.settings import Evidence
from lemmata.tokens import Role

from ..counterexamples import shared_by_two
from ..experiments import EXAMPLE_STRUCTURE, STRUCTURES, loss
from ..setting import COLLOCATION, ORDERS, PREFIXES, PREIMAGE, SINGLE_VALUED, Dataset
from ._facts import Fault, no_fault, on_its_own

claim = statements("convergence", on=STRUCTURES)


@claim(
    "definition-1",
    "Section 4.1",
    "Without confused tokens, x >_q x' is a strict partial order: irreflexive and transitive.",
    hypotheses=(SINGLE_VALUED, ORDERS),
)
@no_fault("strict order")
def definition_1(dataset: Dataset) -> Iterator[Fault]:
    """Both axioms for every query, by enumeration of pairs of edges."""
    names = dataset.data.name
    for query, graph in dataset.orders.graphs.items():
        edges = set(graph.evidence)
        follows = {(a, c) for a, b in edges for b2, c in edges if b == b2}
        for a, b in sorted(follows - edges) + [(a, a) for a, b in edges if a == b]:
            yield (
                f"{names(a)} and {names(b)} under {names(query)}",
                {"query": names(query), "pair": [names(a), names(b)]},
            )


def _vanishing_loss_without_injectivity(bench: Bench) -> list[Comparison]:
    """The loss at (s W_ov*, s W_kq*) vanishes as s grows, and n is not injective."""
    dataset = shared_by_two()
    values, weights = dataset.value_margin.weights, dataset.attention_margin.weights
    assert values is not None
    assert weights is not None
    scales = np.geomspace(10, 1000, 9)
    losses = np.array([[loss(dataset, s * values.T, s * weights).real for s in scales]])
    return [
        tends_to(losses, 0.0, part="loss", cases=[dataset], places=scales),
        *on_its_own(Evidence((dataset,)), injective_collocation(Evidence((dataset,)))),
    ]


@claim(
    "section-4.1/injective",
    "Section 4.1",
    "If the training loss can be made arbitrarily small, then n is injective.",
    hypotheses=(SINGLE_VALUED, ORDERS, PREIMAGE, PREFIXES),
    kind="substance",
    counterexample=_vanishing_loss_without_injectivity,
)
def injective_collocation(evidence: Evidence[Dataset]) -> Comparison:
    """On data whose loss can vanish: single-valued n, preimages present, orders acyclic."""
    distinct = evidence.each(lambda d: len(set(d.collocation.following.values())))
    return equal(distinct, evidence.each(lambda d: d.K), part="values of n")


@claim(
    "section-4.1/roles",
    "Section 4.1",
    "As printed, optimal, confused, non-optimal and non-comparable tokens are disjoint types.",
    hypotheses=(SINGLE_VALUED,),
    kind="misprint",
)
@no_fault("types")
def printed_roles(dataset: Dataset) -> Iterator[Fault]:
    """Printed: optimal = nobody above, non-optimal = nobody below, non-comparable = neither.

    A slip of wording: "strict" roles, which also beat or are beaten by somebody, are meant.
    """
    name = dataset.data.name
    for query, graph in dataset.orders.graphs.items():
        above = {a for a, _ in graph.evidence}
        below = {b for _, b in graph.evidence}
        for token in range(dataset.K):
            types = {
                "optimal": token not in below,
                "non-optimal": token not in above,
                "non-comparable": token not in above | below,
            }
            held = [name for name, holds in types.items() if holds]
            if len(held) > 1:
                yield (
                    f"{name(token)} is {' and '.join(held)} under {name(query)}",
                    {"query": name(query), "token": name(token), "types": held},
                )


@claim(
    "assumption-1/regeneration",
    "Section 4.1, after Assumption 1",
    "n and the orders give back the data: the next token is n of the optimal token of the input.",
    hypotheses=(COLLOCATION, ORDERS, PREIMAGE),
)
@no_fault("regeneration")
def regeneration(dataset: Dataset) -> Iterator[Fault]:
    """Predict every sample from n and the role of its tokens alone."""
    for sample in dataset.data.samples:
        distinct = set(sample.tokens)
        best = {x for x in distinct if dataset.orders.role(sample.query, x) == Role.OPTIMAL}
        chosen = distinct if len(distinct) == 1 else best
        if {dataset.collocation.of(x) for x in chosen} != {sample.label}:
            yield dataset.data.show(sample), {"sample": dataset.data.show(sample)}


def _lonely_query(bench: Bench) -> list[Comparison]:
    """In {ab, ba} no token is compared with another."""
    alone = Evidence((Dataset.from_sentences("ab, ba", ["ab", "ba"]),))
    return on_its_own(alone, non_comparable_is_absent(alone))


@claim(
    "section-6/non-comparable",
    "Section 6, after Proposition 2",
    "A token that is non-comparable under q occurs in no training input with query q.",
    hypotheses=(COLLOCATION, ORDERS, PREIMAGE),
    kind="misprint",
    counterexample=_lonely_query,
)
@no_fault("absence")
def non_comparable_is_absent(dataset: Dataset) -> Iterator[Fault]:
    """A slip of wording: it is so for all tokens but q itself, when [q] is its only input."""
    name = dataset.data.name
    for sample in dataset.data.samples:
        for token in set(sample.tokens):
            if dataset.orders.role(sample.query, token) == Role.NON_COMPARABLE:
                yield (
                    f"{name(token)} is non-comparable under {name(sample.query)} and occurs "
                    f"in {dataset.data.show(sample)}",
                    {"token": name(token), "query": name(sample.query)},
                )


@claim(
    "assumption-3/prose",
    "Section 5.2, Assumption 3",
    "The sentence (optimal tokens are at least as many as non-optimal ones) and the formula "
    "(as many as each non-optimal token) say the same.",
    hypotheses=(SINGLE_VALUED,),
    kind="misprint",
)
@no_fault("prose")
def prose_assumption_3(dataset: Dataset) -> Iterator[Fault]:
    """Compare the two readings on every input."""
    for sample in dataset.data.samples:
        chosen = dataset.orders.selected(sample)
        optimal = sum(x in chosen for x in sample.tokens)
        others = [x for x in sample.tokens if x not in chosen]
        most = max((others.count(x) for x in others), default=0)
        if chosen and (optimal >= len(others)) != (optimal >= most):
            yield (
                f"{dataset.data.show(sample)} has {optimal} optimal and {len(others)} "
                f"non-optimal positions, each non-optimal token at most {most} times",
                {"sample": dataset.data.show(sample)},
            )


@claim(
    "example-1",
    "Section 4.1, Example 1",
    "For {SVOP, VOP, OPP, PSV}: n is S→V→O→P→S, and S>P under S, V>S under V, O>S and O>V under "
    "O, O>P under P.",
    on=EXAMPLE_STRUCTURE,
)
def example_1_structure(evidence: Evidence[Dataset]) -> list[Comparison]:
    """Recomputed from the four sentences."""
    (dataset,) = evidence.cases
    name = dataset.data.name
    following = {name(x): name(after) for x, after in dataset.collocation.following.items()}
    orders = {
        name(q): sorted(f"{name(a)}>{name(b)}" for a, b in graph.edges)
        for q, graph in dataset.orders.graphs.items()
    }
    stated = {"S": ["S>P"], "V": ["V>S"], "O": ["O>S", "O>V"], "P": ["O>P"]}
    read = {"collocation": following, "orders": orders}
    right = following == dict(zip("SVOP", "VOPS", strict=True))
    return [
        Fact(right, f"n = {following}", part="collocation", witness=read, case=0),
        Fact(orders == stated, f"orders {orders}", part="orders", witness=read, case=0),
    ]
