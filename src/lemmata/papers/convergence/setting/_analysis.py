"""What a dataset means to the paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from lemmata.margin import MaxMargin, Status
from lemmata.settings import AbstractAnalysis, OrdersView, problems_document
from lemmata.tokens import Collocation, PartialOrders, Problem, Role

from ._dataset import Dataset
from ._hypotheses import (
    ASSUMPTION_2,
    ASSUMPTION_3,
    CHOICE,
    COLLOCATION,
    ORDERS,
    PREFIXES,
    PREIMAGE,
    REALIZABLE,
    ZERO_START,
)
from ._outlook import Outlook
from ._page import orders_view
from ._wording import describe

ASSUMPTIONS = {
    "assumption_1_collocation": COLLOCATION,
    "assumption_1_orders": ORDERS,
    "assumption_2": ASSUMPTION_2,
    "assumption_3": ASSUMPTION_3,
    "prefix_closed": PREFIXES,
    "preimage_in_sentence": PREIMAGE,
    "zero_initialization": ZERO_START,
    "attention_has_a_choice": CHOICE,
}
"""What is said to hold or to be broken, by the names of the answer."""


@dataclass(frozen=True)
class ConvergenceAnalysis(AbstractAnalysis):
    """Collocation, orders, both max-margin solutions, and what is wrong with the data.

    Attributes:
        dataset: what was analysed.
        collocation: n.
        orders: one a query.
        attention_margin: W_kq*, with its certificate.
        value_margin: W_ov*.
    """

    dataset: Dataset
    collocation: Collocation
    orders: PartialOrders
    attention_margin: MaxMargin
    value_margin: MaxMargin

    @classmethod
    def of(cls, dataset: Dataset) -> "ConvergenceAnalysis":
        """Everything the paper reads off the dataset."""
        return cls(
            dataset,
            dataset.collocation,
            dataset.orders,
            dataset.attention_margin,
            dataset.value_margin,
        )

    @property
    def realizable(self) -> bool:
        """Whether the loss can vanish."""
        return not REALIZABLE.broken(self.dataset.problems)

    @property
    def acyclic(self) -> bool:
        """Whether no tokens beat each other."""
        return all(graph.acyclic for graph in self.orders.graphs.values())

    @property
    def facts(self) -> Mapping[str, int]:
        """Short answers about the data."""
        return {
            "samples": self.dataset.data.total,
            "distinct_inputs": self.dataset.N,
            "longest_sentence": self.dataset.L_max,
            "realizable": self.realizable,
            "acyclic": self.acyclic,
        }

    @property
    def assumptions(self) -> Mapping[str, Sequence[Problem]]:
        """What breaks each assumption."""
        problems = self.dataset.problems
        return {name: hypothesis.broken(problems) for name, hypothesis in ASSUMPTIONS.items()}

    def document(self) -> dict[str, Any]:
        dataset, data, orders = self.dataset, self.dataset.data, self.orders
        words = data.vocabulary
        return {
            "vocabulary": list(words),
            **self.facts,
            **problems_document(dataset.problems, self.assumptions),
            "collocation": {
                data.name(x): words[after] for x, after in self.collocation.following.items()
            },
            "queries": {
                data.name(query): {
                    "edges": [[words[a], words[b]] for a, b in graph.edges],
                    "components": [[words[x] for x in tied] for tied in graph.components],
                }
                for query, graph in orders.graphs.items()
            },
            "roles": {
                data.name(query): {
                    role.value: [words[x] for x in orders.having(query, role)] for role in Role
                }
                for query in orders.graphs
            },
            "max_margin": self._attention_document(),
            "max_margin_ov": _summary(self.value_margin),
            "cyclic_correction": None,
            **self.outlook.document(),
        }

    def _attention_document(self) -> dict[str, Any]:
        """W_kq* with its entries, and the multipliers that certify it."""
        words, solution = self.dataset.data.vocabulary, self.attention_margin
        certificate = [
            {"query": words[q], "winner": words[a], "loser": words[b], "multiplier": str(value)}
            for q, table in solution.multipliers.items()
            for (a, b), value in table.items()
        ]
        if solution.status is Status.INFEASIBLE:
            return _summary(solution) | {"infeasibility": certificate}
        entries = [
            {"token": words[t], "query": words[q], "value": str(value)}
            for (t, q), value in solution.entries.items()
        ]
        return _summary(solution) | {"entries": entries, "multipliers": certificate}

    @property
    def outlook(self) -> Outlook:
        """Floors, start times and the true rate, at the settings of Section 7."""
        return Outlook(self.dataset)

    def describe(self) -> Iterator[Text | Table]:
        yield from describe(self.dataset, self.assumptions)
        yield from self.outlook.describe()

    def orders_view(self) -> OrdersView:
        """The same for a page."""
        facts = {"setting": "convergence", **self.facts}
        asks = {name: hypothesis.says for name, hypothesis in ASSUMPTIONS.items()}
        return orders_view(self.dataset, facts, self.assumptions, asks)


def _summary(solution: MaxMargin) -> dict[str, Any]:
    exact = solution.norm_squared_exact
    return {
        "status": solution.status.value,
        "norm": solution.norm,
        "norm_squared_exact": None if exact is None else str(exact),
        "error_bound": None if solution.status is Status.INFEASIBLE else solution.error_bound,
    }
