"""Query-dependent partial orders on tokens, and the role that each token plays in them."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from ._collocation import Collocation
from ._data import Sample, TokenData
from ._priority import PriorityGraph, priority_graphs
from ._problems import Problem


class Role(StrEnum):
    """What a token is under a query; exactly one of the four applies."""

    OPTIMAL = "optimal"
    CONFUSED = "confused"
    NON_OPTIMAL = "non_optimal"
    NON_COMPARABLE = "non_comparable"


@dataclass(frozen=True)
class PartialOrders:
    """The orders that a dataset and its collocation induce, one per query.

    x beats x' under q when some input ending in q contains both and n(x) is its next token
    while n(x') is not. The roles are the strict ones: an optimal token beats somebody and is
    beaten by nobody, and so on, so that they are disjoint.
    """

    data: TokenData
    collocation: Collocation
    graphs: dict[int, PriorityGraph]

    def selected(self, sample: Sample) -> frozenset[int]:
        """The tokens of the input that the collocation sends to its next token."""
        return frozenset(x for x in sample.tokens if self.collocation.of(x) == sample.label)

    def role(self, query: int, token: int) -> Role:
        """The role of a token under a query."""
        return self._roles.get(query, {}).get(token, Role.NON_COMPARABLE)

    def having(self, query: int, role: Role) -> list[int]:
        """All tokens of the vocabulary with this role under the query."""
        return [x for x in range(self.data.size) if self.role(query, x) == role]

    @cached_property
    def _roles(self) -> dict[int, dict[int, Role]]:
        roles: dict[int, dict[int, Role]] = {}
        for query, graph in self.graphs.items():
            above = {winner for winner, _ in graph.evidence}
            below = {loser for _, loser in graph.evidence}
            roles[query] = (
                dict.fromkeys(above - below, Role.OPTIMAL)
                | dict.fromkeys(below - above, Role.NON_OPTIMAL)
                | dict.fromkeys(above & below, Role.CONFUSED)
            )
        return roles

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that keeps the data from being realizable, each with its sentence."""
        return (
            *self._ambiguous_labels(),
            *self.collocation.problems,
            *self._missing_preimages(),
            *self._confused_tokens(),
            *self._cycles(),
            *self._open_prefixes(),
            *self._outnumbered(),
        )

    def _ambiguous_labels(self) -> list[Problem]:
        """Inputs of length one are the collocation's business."""
        first: dict[tuple[int, ...], Sample] = {}
        problems = []
        for sample in self.data.samples:
            known = first.setdefault(sample.tokens, sample)
            if known.label != sample.label and len(sample.tokens) > 1:
                where = f"{self.data.show(known)}; {self.data.show(sample)}"
                message = "one input has two next tokens: no model can predict both"
                problems.append(Problem("ambiguous_label", where, message))
        return problems

    def _missing_preimages(self) -> list[Problem]:
        problems = []
        for sample in self.data.samples:
            if not self.selected(sample):
                label = self.data.name(sample.label)
                names = [self.data.name(x) for x in self.collocation.preimages(sample.label)]
                what = f"n^-1({label}) = {' or '.join(names)}" if names else f"n^-1({label})"
                verb = "is not in the input" if names else "does not exist"
                message = f"{what} {verb}: no token is worth attending to"
                problems.append(
                    Problem("preimage_not_in_sentence", self.data.show(sample), message)
                )
        return problems

    def _confused_tokens(self) -> list[Problem]:
        problems = []
        for query, graph in self.graphs.items():
            for token in self.having(query, Role.CONFUSED):
                above = next(edge for edge in graph.edges if edge[1] == token)
                below = next(edge for edge in graph.edges if edge[0] == token)
                where = "; ".join(
                    self.data.show(self.data.samples[graph.evidence[edge]])
                    for edge in (above, below)
                )
                name, q = self.data.name(token), self.data.name(query)
                message = (
                    f"under query {q}: {self.data.name(above[0])} > {name} > "
                    f"{self.data.name(below[1])}, so {name} is confused"
                )
                problems.append(Problem("confused_token", where, message))
        return problems

    def _cycles(self) -> list[Problem]:
        problems = []
        for query, graph in self.graphs.items():
            walk = graph.cycle()
            if walk is not None:
                steps = list(pairwise(walk))
                where = "; ".join(
                    self.data.show(self.data.samples[graph.evidence[edge]]) for edge in steps
                )
                message = (
                    f"under query {self.data.name(query)}: "
                    f"{' > '.join(map(self.data.name, walk))}: the order is not well defined"
                )
                problems.append(Problem("order_not_well_defined", where, message))
        return problems

    def _open_prefixes(self) -> list[Problem]:
        known = {(sample.tokens, sample.label) for sample in self.data.samples}
        problems = []
        for sample in self.data.samples:
            tokens = sample.tokens
            for end in range(len(tokens) - 1, 0, -1):
                if (tokens[:end], tokens[end]) not in known:
                    prefix = " ".join(map(self.data.name, tokens[:end]))
                    message = (
                        f"its prefix [{prefix}] -> {self.data.name(tokens[end])} is not a sample"
                    )
                    problems.append(Problem("not_prefix_closed", self.data.show(sample), message))
                    break
        return problems

    def _outnumbered(self) -> list[Problem]:
        problems = []
        for sample in self.data.samples:
            chosen = self.selected(sample)
            optimal = sum(token in chosen for token in sample.tokens)
            # No chosen token occurs more often than all chosen ones together.
            worst = max(sample.tokens, key=sample.tokens.count)
            if chosen and sample.tokens.count(worst) > optimal:
                message = (
                    f"{self.data.name(worst)} occurs {sample.tokens.count(worst)} times but the "
                    f"optimal token only {optimal}: Assumption 3 does not hold"
                )
                problems.append(Problem("assumption_3", self.data.show(sample), message))
        return problems


def partial_orders(data: TokenData, collocation: Collocation) -> PartialOrders:
    """Build the orders of Definition 1 (Huang, Liang, Yang 2024) from the data."""
    selected = [
        frozenset(x for x in sample.tokens if collocation.of(x) == sample.label)
        for sample in data.samples
    ]
    return PartialOrders(data, collocation, priority_graphs(data, selected))
