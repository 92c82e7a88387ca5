"""A priority graph in the words of its data: who beats whom, as a picture and as a file."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from lemmata._errors import InputError, unknown_name
from lemmata._files import write_whole
from lemmata.tokens import PriorityGraph, Token

from ._files import METADATA, picture_bytes
from ._graph import draw_graph_layout
from ._layout import GraphLayout, lay_out_graph
from ._numbers import percent
from ._style import PALETTE, style
from ._tikz import tikz_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TOKENS = 200
MOST_LAYERS = 40
"""Graphs beyond these are better told than drawn."""

GRAPH_FORMATS = (*METADATA, "tex")

_FONT = 9.0
_WIDTH = 7.4

Component = list[int]


@dataclass(frozen=True)
class NamedGraph:
    """Who beats whom under one last token, in the words of its data.

    In a notebook it shows itself; ``save`` writes it for a paper.

    Attributes:
        graph: the tokens as numbers.
        vocabulary: the tokens as written.
        shares: the attention that a tied token gets in the end, where that is known.
    """

    graph: PriorityGraph
    vocabulary: Sequence[Token] = field(repr=False)
    shares: Mapping[int, float] = field(default_factory=dict)

    def word(self, token: int) -> Token:
        """A token as written."""
        return self.vocabulary[token]

    @property
    def query(self) -> Token:
        """The last token."""
        return self.word(self.graph.query)

    @property
    def edges(self) -> list[tuple[Token, Token]]:
        """All (winner, loser) pairs."""
        return [(self.word(winner), self.word(loser)) for winner, loser in self.graph.edges]

    @property
    def layers(self) -> list[list[list[Token]]]:
        """Tied tokens together, by the length of the longest chain above them."""
        return [
            [[self.word(token) for token in tied] for tied in layer] for layer in self.graph.layers
        ]

    @cached_property
    def compared(self) -> frozenset[int]:
        """The tokens that beat another one or are beaten."""
        return frozenset(token for edge in self.graph.evidence for token in edge)

    @cached_property
    def ranked(self) -> list[list[Component]]:
        """The layers without tokens that are never compared."""
        layers = [
            [tied for tied in layer if tied[0] in self.compared] for layer in self.graph.layers
        ]
        return [layer for layer in layers if layer]

    @property
    def winners(self) -> list[Component]:
        """What nothing beats, without tokens that are never compared."""
        return self.ranked[0] if self.ranked else []

    @property
    def idle(self) -> list[int]:
        """The tokens that are never compared with another one."""
        tokens = (token for tied in self.graph.components for token in tied)
        return [token for token in tokens if token not in self.compared]

    @property
    def ties(self) -> list[Component]:
        """The tied tokens, those with the larger share first."""
        return [self.by_share(tied) for tied in self.graph.components if len(tied) > 1]

    def by_share(self, tied: Component) -> Component:
        """Tied tokens, those with the larger share first."""
        return sorted(tied, key=lambda token: -self.shares.get(token, 0.0))

    @property
    def drawable(self) -> bool:
        """Whether there is something to see that fits a page."""
        small = len(self.graph.nodes) <= MOST_TOKENS and len(self.graph.layers) <= MOST_LAYERS
        return bool(self.graph.evidence) and small

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending says how: ``.pdf``, ``.svg``, ``.png`` or ``.tex``.

        The words of an SVG are text, and the viewer has fonts for all scripts; elsewhere, squares
        stand for characters that the figures' font lacks.
        """
        path = Path(path)
        kind = path.suffix.removeprefix(".").lower()
        if kind not in GRAPH_FORMATS:
            raise InputError(
                f"cannot write a graph as '{path.name}'; end the name in .pdf, .svg, .png or .tex"
            )
        write_whole(path, self.content(kind))
        return path

    def content(self, kind: str) -> bytes:
        """The picture as a file of the kind ``svg``, ``pdf``, ``png`` or ``tex``."""
        if kind == "tex":
            return tikz_picture(self.layout(), self._colours).encode()
        with style(), warnings.catch_warnings():
            # The library measures words whose glyphs it lacks, and says so.
            warnings.simplefilter("ignore", UserWarning)
            figure = self._figure(substitute=kind != "svg")
            return picture_bytes(figure, kind, {"svg.fonttype": "none"})

    def _repr_svg_(self) -> str | None:
        return self.content("svg").decode() if self.drawable else None

    def layout(self, *, substitute: bool = False, width: float = _WIDTH) -> GraphLayout:
        """A place for every token, in a picture of at most so many inches."""
        return lay_out_graph(
            self.graph.edges,
            {token: str(self.word(token)) for token in self.graph.nodes},
            idle=self.idle,
            notes={token: percent(share) for token, share in self.shares.items()},
            width=width,
            font=_FONT,
            substitute=substitute,
        )

    @property
    def _colours(self) -> dict[int, str]:
        """The outlines of what nothing beats."""
        return {token: PALETTE["red"] for tied in self.winners for token in tied}

    def _figure(self, substitute: bool) -> "Figure":
        from matplotlib.figure import Figure

        layout = self.layout(substitute=substitute)
        figure = Figure(figsize=layout.size)
        figure.set_layout_engine("none")
        draw_graph_layout(figure.add_axes((0.0, 0.0, 1.0, 1.0)), layout, colours=self._colours)
        return figure


class NamedGraphs(dict[int, PriorityGraph]):
    """The priority graphs of a dataset, by the number of their last token.

    A text finds the graph under the last token of that name, ready to be shown and saved:
    ``graphs["please"].save("please.pdf")``.
    """

    def __init__(self, graphs: Mapping[int, PriorityGraph], vocabulary: Sequence[Token]) -> None:
        super().__init__(graphs)
        self.vocabulary = vocabulary

    @overload
    def __getitem__(self, query: int, /) -> PriorityGraph: ...
    @overload
    def __getitem__(self, query: str, /) -> NamedGraph: ...
    def __getitem__(self, query: int | str, /) -> PriorityGraph | NamedGraph:
        return self.named(query) if isinstance(query, str) else super().__getitem__(query)

    def named(self, name: str, shares: Mapping[int, float] | None = None) -> NamedGraph:
        """The graph under the last token of this name, with the shares of tied tokens if given."""
        numbers = {str(self.vocabulary[query]): query for query in self}
        if name not in numbers:
            raise InputError(unknown_name("last token", name, numbers))
        return NamedGraph(super().__getitem__(numbers[name]), self.vocabulary, shares or {})
