"""The order under one last token, as an analysis gives it, and its picture."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from lemmata.drawing import PALETTE, draw_graph_layout, lay_out_graph, style
from lemmata.report._pieces import Token, percent
from lemmata.tokens import PriorityGraph

MOST_TOKENS = 200
MOST_LAYERS = 40
"""Graphs beyond these are told, not drawn."""

_FONT = 9.0
_WIDTH = 7.4

Component = list[Token]


@dataclass(frozen=True)
class Order:
    """What beats what under one last token.

    Attributes:
        query: the last token.
        samples: how many samples have it, where that is known.
        edges: (winner, loser) pairs.
        layers: components by the length of the longest chain above them.
        shares: the attention that a tied token gets in the end, where that is known.
        unreachable: labels that do not occur in their sequences, so that nothing is learned.
    """

    query: Token
    samples: int | None
    edges: list[tuple[Token, Token]]
    layers: list[list[Component]]
    shares: Mapping[Token, float | None]
    unreachable: list[Token]

    @classmethod
    def read(cls, query: Token, found: Mapping[str, Any]) -> "Order":
        """From an entry of ``queries``; all but its components and edges may be missing."""
        edges = [(winner, loser) for winner, loser in found["edges"]]
        return cls(
            query,
            found.get("samples"),
            edges,
            found.get("layers") or _layers(found["components"], edges),
            {
                token: share
                for tie in found.get("tied", ())
                for token, share in zip(tie["tokens"], tie["probabilities"], strict=True)
            },
            found.get("unreachable_labels", []),
        )

    @cached_property
    def tokens(self) -> list[Token]:
        """Every token, the winning ones first."""
        return [token for layer in self.layers for tied in layer for token in tied]

    @cached_property
    def compared(self) -> frozenset[Token]:
        """The tokens that beat another one or are beaten."""
        return frozenset(token for edge in self.edges for token in edge)

    @property
    def winners(self) -> list[Component]:
        """The components that nothing beats, without tokens that are never compared."""
        return [tied for tied in self.layers[0] if tied[0] in self.compared] if self.layers else []

    @property
    def idle(self) -> list[Token]:
        """The tokens that are never compared with another one."""
        return [token for token in self.tokens if token not in self.compared]

    @property
    def ranked(self) -> list[list[Component]]:
        """The layers without tokens that are never compared."""
        layers = [[tied for tied in layer if tied[0] in self.compared] for layer in self.layers]
        return [layer for layer in layers if layer]

    @property
    def ties(self) -> list[Component]:
        """The tied tokens, those with the larger share first."""
        return [
            sorted(tied, key=lambda token: -(self.shares.get(token) or 0.0))
            for layer in self.layers
            for tied in layer
            if len(tied) > 1
        ]

    @property
    def drawable(self) -> bool:
        """Whether there is something to see that fits a page."""
        small = len(self.tokens) <= MOST_TOKENS and len(self.layers) <= MOST_LAYERS
        return bool(self.edges) and small

    def svg(self) -> bytes:
        """The graph as an SVG file, whose words are text: the viewer has fonts for all scripts."""
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        number = {token: i for i, token in enumerate(self.tokens)}
        layout = lay_out_graph(
            [(number[winner], number[loser]) for winner, loser in self.edges],
            {i: str(token) for token, i in number.items()},
            idle=[number[token] for token in self.idle],
            notes={number[token]: percent(share) for token, share in self.shares.items()},
            width=_WIDTH,
            font=_FONT,
            substitute=False,
        )
        winners = {number[token]: PALETTE["red"] for tied in self.winners for token in tied}
        content = BytesIO()
        with style(), matplotlib.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
            # The library measures words whose glyphs it lacks, and says so.
            warnings.simplefilter("ignore", UserWarning)
            figure = Figure(figsize=layout.size)
            figure.set_layout_engine("none")
            draw_graph_layout(figure.add_axes((0.0, 0.0, 1.0, 1.0)), layout, colours=winners)
            metadata = {"Date": None, "Creator": "Lemmata"}
            FigureCanvasSVG(figure).print_svg(content, metadata=metadata)
        return content.getvalue()


def _layers(components: list[Component], edges: list[tuple[Token, Token]]) -> list[list[Component]]:
    """The layers, for an analysis that leaves them out."""
    words = [token for tied in components for token in tied]
    number = {token: i for i, token in enumerate(words)}
    facts = {(number[winner], number[loser]): 0 for winner, loser in edges}
    graph = PriorityGraph(-1, tuple(range(len(words))), facts)
    return [[[words[i] for i in tied] for tied in layer] for layer in graph.layers]
