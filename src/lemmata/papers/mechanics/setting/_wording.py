"""The analysis in words, for a person who has not read the paper."""

from collections.abc import Iterator
from itertools import pairwise

from rich.table import Table
from rich.text import Text

from lemmata.settings import certificate_of
from lemmata.tokens import PriorityGraph, Token

from ._document import certified
from ._reading import Query, Reading

MOST_QUERIES = 12
MOST_LINES = 12
MOST_EDGES = 300
"""Larger graphs are not told chain by chain."""


def _line(text: str, style: str = "") -> Text:
    """Text for a terminal; what does not print, such as control codes in tokens, is a dot."""
    return Text("".join(c if c.isprintable() else "·" for c in text), style=style)


def describe(reading: Reading) -> Iterator[Text | Table]:
    """What one attention layer will learn: first the summary, then the graphs, then the limits."""
    dataset = reading.dataset
    yield _line(
        f"{dataset.K:,} tokens, {dataset.data.total:,} samples, {len(reading.queries):,} last "
        f"tokens, sequences of up to {dataset.data.longest_input} tokens"
    )
    yield _line(
        "A label beats the other tokens of its sequence, given the last token. Attention learns to "
        "select the tokens that nothing else beats; tokens that beat each other are tied and share "
        "the attention."
    )
    yield _queries(reading)
    hidden = len(reading.queries) - MOST_QUERIES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more last tokens (--json lists all)", style="dim")
    yield from _limits(reading)
    for problem in dataset.problems[:MOST_LINES]:
        yield _line(f"{problem.code}: {problem.message} ({problem.where})", style="yellow")
    hidden = len(dataset.problems) - MOST_LINES
    if hidden > 0:
        yield _line(f"... and {hidden:,} more problems", style="yellow")


def _queries(reading: Reading) -> Table:
    """The last tokens with the most samples, and what wins under each."""
    table = Table("after", "samples", "priority, highest first", "labels out of reach", box=None)
    words = reading.dataset.data.vocabulary
    busiest = sorted(reading.queries.values(), key=lambda query: -query.samples)[:MOST_QUERIES]
    for query in busiest:
        table.add_row(
            _line(str(words[query.graph.query])),
            f"{query.samples:,}",
            _line(_order(query, words)),
            _line(" ".join(str(words[label]) for label in query.unreachable) or "-"),
        )
    return table


def _order(query: Query, words: tuple[Token, ...]) -> str:
    """Who beats whom; tied tokens in braces with their shares of the attention."""
    shares = query.shares

    def show(tied: list[int]) -> str:
        if len(tied) == 1:
            return str(words[tied[0]])
        return "{" + ", ".join(f"{words[token]} {shares[token]:.0%}" for token in tied) + "}"

    layers = query.graph.layers
    if _is_layered(query.graph):
        text = " > ".join(", ".join(map(show, layer)) for layer in layers)
    elif len(query.graph.edges) > MOST_EDGES:
        text = "by longest chain above: " + " | ".join(", ".join(map(show, x)) for x in layers)
    else:
        named = {tied[0]: show(tied) for layer in layers for tied in layer}
        text = "; ".join(" > ".join(named[x] for x in chain) for chain in _chains(query.graph))
    return f"{text[:300]} ..." if len(text) > 300 else text or "-"


def _is_layered(graph: PriorityGraph) -> bool:
    """Whether every component of a layer beats every one of the next."""
    edges = set(graph.condensation()[0])
    return all(
        (above[0], below[0]) in edges
        for upper, lower in pairwise(graph.layers)
        for above in upper
        for below in lower
    )


def _chains(graph: PriorityGraph) -> list[list[int]]:
    """Chains that together say everything, with as few words as that takes: none twice.

    Edges that follow from others are left out; components are named by their first token.
    """
    edges, _, depth = graph.condensation()
    below: dict[int, set[int]] = {}
    for first in sorted(depth, key=lambda name: -depth[name]):
        direct = [b for a, b in edges if a == first]
        below[first] = {*direct, *(x for b in direct for x in below[b])}
    left = [
        (a, b) for a, b in edges if not any(b in below[x] for y, x in edges if y == a and x != b)
    ]
    chains = []
    for start in sorted(depth, key=lambda name: (depth[name], name)):
        while any(a == start for a, _ in left):
            chain = [start]
            while (step := next((edge for edge in left if edge[0] == chain[-1]), None)) is not None:
                left.remove(step)
                chain.append(step[1])
            chains.append(chain)
    alone = [[name] for name in depth if not any(name in edge for edge in edges)]
    return chains + alone


def _limits(reading: Reading) -> Iterator[Text]:
    dataset = reading.dataset
    margin, words = dataset.margin, dataset.data.vocabulary
    exact = margin.norm_squared_exact
    size = "" if margin.norm is None else f", norm {margin.norm:.9g}"
    short = exact is not None and max(exact.numerator, exact.denominator) < 10**30
    square = f", norm² = {exact}" if short else ""
    yield _line(
        f"W^mm, the direction of training: {margin.status.value}{size}{square}"
        f" (certified {certified(margin)})"
    )
    yield from _degenerate(reading)
    if not dataset.feasible:
        for query, winner, loser, weight in list(certificate_of(margin))[:MOST_LINES]:
            yield _line(
                f"  {words[winner]} > {words[loser]} under {words[query]}, weight {weight}: "
                "together these constraints say 0 >= 1"
            )
        generalized = dataset.generalized
        yield _line(
            f"  so training separates {len(generalized.separable)} of "
            f"{len(generalized.separable) + len(generalized.bound)} pairs (direction of norm "
            f"{generalized.margin.norm:.6g}) and stays finite on the rest (norm "
            f"{dataset.finite_part.norm:.6g})"
        )
    yield _line(
        f"W^cyc, what decides ties: norm {dataset.correction.norm:.9g} from "
        f"{dataset.cyclic.total:,} samples with ties"
    )


def _degenerate(reading: Reading) -> Iterator[Text]:
    """What is special about the tight constraints, if anything is."""
    found, words = reading.degeneracy, reading.dataset.data.vocabulary
    if found is None or not (found.idle or found.dependent):
        return
    shown = [f"{words[a]} > {words[b]} under {words[q]}" for q, (a, b) in found.idle[:MOST_LINES]]
    facts = []
    if found.idle:
        verb = "has" if len(found.idle) == 1 else "have"
        facts.append(
            f"{len(found.idle)} {verb} multiplier 0 in every certificate ({', '.join(shown)})"
        )
    if found.dependent:
        what = "is a combination" if found.dependent == 1 else "are combinations"
        facts.append(f"{found.dependent} {what} of the others (multipliers are not unique)")
    yield _line(f"  of {len(found.tight)} tight constraints {' and '.join(facts)}: {found.says}")
