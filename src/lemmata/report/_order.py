"""The order under one last token, as a page shows it."""

from dataclasses import dataclass

from lemmata.drawing import NamedGraph
from lemmata.settings import OrdersView
from lemmata.tokens import PriorityGraph, Token


@dataclass(frozen=True)
class Order:
    """What beats what under one last token.

    Attributes:
        graph: in the words of the data.
        samples: how many samples have this last token, where that is known.
        unreachable: labels that do not occur in their sequences, so that nothing is learned.
    """

    graph: NamedGraph
    samples: int | None
    unreachable: tuple[Token, ...]

    @classmethod
    def of(cls, view: OrdersView, query: int) -> "Order":
        """From a view of all orders."""
        graph = view.graphs.get(query, PriorityGraph(query, (), {}))
        words = view.vocabulary
        return cls(
            NamedGraph(graph, words, view.shares.get(query, {})),
            view.samples.get(query),
            tuple(words[label] for label in view.unreachable.get(query, ())),
        )
