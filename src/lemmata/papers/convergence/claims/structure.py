"""Section 4.1: collocations, orders, roles, the assumptions, and Example 1."""

from collections.abc import Iterable, Sequence

from lemmata.old_claims import Bench, Judgement, fact
from lemmata.papers.convergence.claims._terms import (
    COLLOCATION,
    ORDERS,
    PREIMAGE,
    SINGLE_VALUED,
    claim,
)
from lemmata.papers.convergence.experiments import (
    STRUCTURES,
    Structures,
    witness,
)
from lemmata.tokens._orders import Role


def first_fault(part: str, faults: Iterable[tuple[str, dict]], what: str) -> Judgement:
    """Fails with the first fault found, holds if there is none."""
    found = next(iter(faults), None)
    if found is None:
        return fact(part, True, f"{part}: {what}")
    return fact(part, False, f"{part}: {found[0]}", found[1])


@claim(
    "definition-1",
    "Section 4.1",
    "Without confused tokens, x >_q x' is a strict partial order: irreflexive and transitive.",
    assumes=(SINGLE_VALUED, ORDERS),
    on=STRUCTURES,
    sharpened="the relation is also total",
)
def definition_1(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Both axioms for every query, by enumeration of pairs of edges."""

    def faults():
        for dataset in evidence.datasets:
            for query, graph in dataset.orders.graphs.items():
                edges = set(graph.evidence)
                wanted = {(a, c) for a, b in edges for b2, c in edges if b == b2}
                if sharpened:
                    nodes = range(dataset.K)
                    wanted = {(a, b) for a in nodes for b in nodes if a < b and (b, a) not in edges}
                for a, b in sorted(wanted - edges) + [(a, a) for a, b in edges if a == b]:
                    names = dataset.data.name
                    yield (
                        f"{names(a)} and {names(b)} under {names(query)}",
                        witness(dataset, query=names(query), pair=[names(a), names(b)]),
                    )

    return [first_fault("strict order", faults(), "every order is irreflexive and transitive")]


def _injectivity_counterexample(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.convergence._counterexamples import shared_next_token, vanishing_loss

    dataset = shared_next_token()
    losses = vanishing_loss(dataset)
    text = "n is not injective, yet the loss at (s W_ov*, s W_kq*) falls like e^-s"
    sizes = ", ".join(f"log L = {loss:.1f} at s = {s}" for s, loss in losses.items())
    return [
        fact(
            "injectivity",
            dataset.broken("collocation_not_injective") == [],
            f"{text}: {sizes}",
            witness(dataset, log_loss=losses),
        )
    ]


@claim(
    "section-4.1/injective",
    "Section 4.1",
    "If the training loss can be made arbitrarily small, then n is injective.",
    assumes=(SINGLE_VALUED, ORDERS, PREIMAGE),
    on=STRUCTURES,
    sharpened="n takes |V| + 1 values",
    counterexample=_injectivity_counterexample,
)
def injective_collocation(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """On data whose loss can vanish: single-valued n, preimages present, orders acyclic."""

    def faults():
        for dataset in evidence.datasets:
            distinct = len(set(dataset.collocation.following.values()))
            if distinct < dataset.K + sharpened:
                yield f"n takes {distinct} values on {dataset.K} tokens", witness(dataset)

    return [first_fault("injectivity", faults(), "n is injective on every dataset")]


@claim(
    "section-4.1/roles",
    "Section 4.1",
    "As printed, optimal, confused, non-optimal and non-comparable tokens are disjoint types.",
    assumes=(SINGLE_VALUED,),
    on=STRUCTURES,
    sharpened="no token is optimal",
)
def printed_roles(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Printed: optimal = nobody above, non-optimal = nobody below, non-comparable = neither."""

    def faults():
        for dataset in evidence.datasets:
            for query, graph in dataset.orders.graphs.items():
                above = {a for a, _ in graph.evidence}
                below = {b for _, b in graph.evidence}
                for token in range(dataset.K):
                    types = {
                        "optimal": token not in below,
                        "non-optimal": token not in above,
                        "non-comparable": token not in above | below,
                    }
                    held = [name for name, held in types.items() if held]
                    if len(held) > (0 if sharpened else 1):
                        name = dataset.data.name
                        yield (
                            f"{name(token)} is {' and '.join(held)} under {name(query)}",
                            witness(dataset, query=name(query), token=name(token), types=held),
                        )

    return [first_fault("types", faults(), "every token has one type")]


@claim(
    "assumption-1/regeneration",
    "Section 4.1, after Assumption 1",
    "n and the orders give back the data: the next token is n of the optimal token of the input.",
    assumes=(COLLOCATION, ORDERS, PREIMAGE),
    on=STRUCTURES,
    sharpened="the next token is n of the last token",
)
def regeneration(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Predict every sample from n and the role of its tokens alone."""

    def faults():
        for dataset in evidence.datasets:
            for sample in dataset.data.samples:
                best = [
                    x
                    for x in set(sample.tokens)
                    if dataset.orders.role(sample.query, x) == "optimal"
                ]
                chosen = [sample.query] if sharpened or len(set(sample.tokens)) == 1 else best
                predicted = {dataset.collocation.of(x) for x in chosen}
                if predicted != {sample.label}:
                    yield dataset.data.show(sample), witness(dataset)

    return [first_fault("regeneration", faults(), "every sample is predicted")]


def _lonely_query(bench: Bench) -> Sequence[Judgement]:
    from lemmata.papers.convergence.setting import Dataset

    return _absent(Structures((Dataset.from_sentences("ab", ["ab", "ba"]),)), False)


def _absent(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Look for a non-comparable token (or one of any role) in an input with that query."""
    absent = set(Role) if sharpened else {Role.NON_COMPARABLE}

    def faults():
        for dataset in evidence.datasets:
            for sample in dataset.data.samples:
                for token in set(sample.tokens):
                    role = dataset.orders.role(sample.query, token)
                    if role in absent:
                        name = dataset.data.name
                        yield (
                            f"{name(token)} is {role.replace('_', '-')} under "
                            f"{name(sample.query)} and occurs in {dataset.data.show(sample)}",
                            witness(dataset, token=name(token), query=name(sample.query)),
                        )

    return [first_fault("absence", faults(), "no non-comparable token occurs with its query")]


@claim(
    "section-6/non-comparable",
    "Section 6, after Proposition 2",
    "A token that is non-comparable under q occurs in no training input with query q.",
    assumes=(COLLOCATION, ORDERS, PREIMAGE),
    on=STRUCTURES,
    sharpened="no token occurs in an input with query q",
    counterexample=_lonely_query,
)
def non_comparable_is_absent(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """False for q itself when [q] is the only input that ends in q."""
    return _absent(evidence, sharpened)


@claim(
    "assumption-3/prose",
    "Section 5.2, Assumption 3",
    "The sentence (optimal tokens are at least as many as non-optimal ones) and the formula "
    "(as many as each non-optimal token) say the same.",
    assumes=(SINGLE_VALUED,),
    on=STRUCTURES,
    sharpened="the formula says that there are no non-optimal tokens",
)
def prose_assumption_3(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Compare the two readings on every input."""

    def faults():
        for dataset in evidence.datasets:
            for sample in dataset.data.samples:
                chosen = dataset.orders.selected(sample)
                optimal = sum(x in chosen for x in sample.tokens)
                others = [x for x in sample.tokens if x not in chosen]
                prose = optimal >= len(others)
                formula = all(optimal >= others.count(x) for x in others)
                if sharpened:
                    formula = not others
                if chosen and prose != formula:
                    yield (
                        f"{dataset.data.show(sample)} has {optimal} optimal and {len(others)} "
                        "non-optimal positions, each non-optimal token at most "
                        f"{max((others.count(x) for x in others), default=0)} times",
                        witness(dataset, sample=dataset.data.show(sample)),
                    )

    return [first_fault("prose", faults(), "the two readings agree on every input")]


@claim(
    "example-1",
    "Section 4.1, Example 1",
    "For {SVOP, VOP, OPP, PSV}: n is S→V→O→P→S, and S>P under S, V>S under V, O>S and O>V under "
    "O, O>P under P.",
    assumes=(),
    on=STRUCTURES,
    sharpened="P > O under P",
)
def example_1_claim(evidence: Structures, sharpened: bool) -> Sequence[Judgement]:
    """Recomputed from the four sentences."""
    from lemmata.papers.convergence.setting import example_1

    dataset = example_1()
    name = dataset.data.name
    found = {name(x): name(after) for x, after in dataset.collocation.following.items()}
    orders = {
        name(q): {f"{name(a)}>{name(b)}" for a, b in graph.edges}
        for q, graph in dataset.orders.graphs.items()
    }
    stated = {"S": {"S>P"}, "V": {"V>S"}, "O": {"O>S", "O>V"}, "P": {"O>P"}}
    if sharpened:
        stated["P"] = {"P>O"}
    given = {"collocation": found, "orders": {q: sorted(edges) for q, edges in orders.items()}}
    return [
        fact("collocation", found == dict(zip("SVOP", "VOPS", strict=True)), f"n = {found}", given),
        fact("orders", orders == stated, f"orders {given['orders']}", given),
    ]
