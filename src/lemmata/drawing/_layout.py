"""Where the tokens of a priority graph go, from a handful to hundreds of them.

Winners are on top. Tied tokens share a box. Tokens that beat the same tokens and are beaten by the
same tokens stand together on a panel, so that one arrow serves them all. An arrow that follows
from others is left out. Layers that are too wide are wrapped.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lemmata.tokens import PriorityGraph

from ._letters import legible, text_width
from ._style import SMALL, TEXT_WIDTH

Edge = tuple[int, int]
Point = tuple[float, float]

_INCH = 72.0
_GAP = 6.0
_LAYER_GAP = 26.0
_PADDING = 5.0
_MARGIN = 4.0
_SWEEPS = 4
"""Rounds of moving each group above the middle of its neighbours."""

_ASPECT = 4.0
"""How much wider than high the tokens of a panel or a tie should be."""

_NARROW = 160.0
"""What fits in this many points is not wrapped."""


@dataclass(frozen=True)
class Box:
    """A rectangle in points, measured from the top left corner of the picture."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    def moved(self, right: float, down: float) -> "Box":
        """The same box elsewhere."""
        return Box(self.left + right, self.top + down, self.width, self.height)


@dataclass(frozen=True)
class GraphLayout:
    """A priority graph with a place for everything.

    Attributes:
        tokens: the box of every token.
        words: what each of them says.
        ties: the boxes around tied tokens.
        panels: the boxes around tokens that have the same place in the order.
        arrows: from the bottom of a winner to the top of a loser.
        idle: tokens that no edge touches, at the bottom.
        width, height: of the whole, in points.
        font: the size of the type, in points.
    """

    tokens: Mapping[int, Box]
    words: Mapping[int, str]
    ties: Sequence[Box]
    panels: Sequence[Box]
    arrows: Sequence[tuple[Point, Point]]
    idle: frozenset[int]
    width: float
    height: float
    font: float

    @property
    def size(self) -> tuple[float, float]:
        """The size of the figure to draw this in, in inches."""
        return self.width / _INCH, self.height / _INCH


@dataclass(frozen=True)
class _Piece:
    """Boxes that move together: a token, a tie, or a panel."""

    outline: Box
    tokens: Mapping[int, Box]
    ties: tuple[Box, ...] = ()
    panels: tuple[Box, ...] = ()

    def moved(self, right: float, down: float) -> "_Piece":
        return _Piece(
            self.outline.moved(right, down),
            {token: box.moved(right, down) for token, box in self.tokens.items()},
            tuple(box.moved(right, down) for box in self.ties),
            tuple(box.moved(right, down) for box in self.panels),
        )

    def framed(self) -> "_Piece":
        """With room on all sides."""
        inside = self.moved(_PADDING, _PADDING)
        width, height = (size + 2 * _PADDING for size in (self.outline.width, self.outline.height))
        return replace(inside, outline=Box(0.0, 0.0, width, height))


def lay_out_graph(
    edges: Sequence[Edge],
    labels: Mapping[int, str],
    *,
    idle: Sequence[int] = (),
    notes: Mapping[int, str] | None = None,
    width: float = TEXT_WIDTH,
    font: float = SMALL,
    substitute: bool = True,
) -> GraphLayout:
    """Find a place for every token, such that no two boxes overlap.

    Args:
        edges: (winner, loser) pairs.
        labels: the text of every token; long ones are cut.
        idle: tokens that no edge touches.
        notes: a word after a label, such as a share of the attention.
        width: how wide the picture may become, in inches, unless a single label is wider.
        font: the size of the type, in points.
        substitute: put squares for characters that the figures' font lacks.
    """
    nodes = {token for edge in edges for token in edge}
    graph = PriorityGraph(-1, tuple(sorted(nodes | set(idle))), dict.fromkeys(edges, 0))
    words = {token: legible(labels[token], substitute=substitute) for token in graph.nodes}
    words |= {token: f"{words[token]} {note}" for token, note in (notes or {}).items()}
    lonely = frozenset(graph.nodes) - nodes
    groups, layers, links = _groups(graph, lonely)
    most = width * _INCH - 2 * _MARGIN
    pieces = [_panel(group, words, font, most) for group in groups]
    rows = _rows(pieces, layers, links, most)
    placed, height = _stack(pieces, rows)
    return GraphLayout(
        tokens={token: box for piece in placed for token, box in piece.tokens.items()},
        words=words,
        ties=[box for piece in placed for box in piece.ties],
        panels=[box for piece in placed for box in piece.panels],
        arrows=[_arrow(placed[a].outline, placed[b].outline) for a, b in links],
        idle=lonely,
        width=max((piece.outline.right for piece in placed), default=0.0) + _MARGIN,
        height=height,
        font=font,
    )


def _groups(
    graph: PriorityGraph, lonely: frozenset[int]
) -> tuple[list[list[list[int]]], list[list[int]], list[Edge]]:
    """Components with the same place in the order; the groups of each layer; the arrows.

    Tokens that no edge touches make the last layer.
    """
    below = _reduction(graph)
    above: list[list[int]] = [[] for _ in below]
    for winner, losers in enumerate(below):
        for loser in losers:
            above[loser].append(winner)
    depth = [level for level, layer in enumerate(graph.layers) for _ in layer]
    number: dict[tuple[object, ...], int] = {}
    group_of: list[int] = []
    groups: list[list[list[int]]] = []
    layers: list[list[int]] = [[] for _ in range(len(graph.layers) + 1)]
    for c, tied in enumerate(graph.components):
        level = len(graph.layers) if tied[0] in lonely else depth[c]
        group = number.setdefault((level, *below[c], None, *above[c]), len(groups))
        if group == len(groups):
            groups.append([])
            layers[level].append(group)
        groups[group].append(tied)
        group_of.append(group)
    links = {(group_of[c], group_of[d]) for c, losers in enumerate(below) for d in losers}
    return groups, [layer for layer in layers if layer], sorted(links)


def _reduction(graph: PriorityGraph) -> list[list[int]]:
    """Which components each one beats directly: not through another that it beats."""
    number = graph.component_of
    beats: list[set[int]] = [set() for _ in graph.components]
    for winner, loser in graph.strict_edges:
        beats[number[winner]].add(number[loser])
    reached = [0] * len(beats)
    kept: list[list[int]] = [[] for _ in beats]
    for winner in reversed(range(len(beats))):
        # Components are numbered from the top, so whatever implies an arrow comes before it.
        for loser in sorted(beats[winner]):
            if not reached[winner] >> loser & 1:
                kept[winner].append(loser)
                reached[winner] |= 1 << loser | reached[loser]
    return kept


def _panel(group: list[list[int]], words: Mapping[int, str], font: float, most: float) -> _Piece:
    """The components of a group; several of them on a panel."""
    ties = [_tie(tied, words, font, most - 2 * _PADDING) for tied in group]
    if len(ties) == 1:
        return ties[0]
    inside = _flow(ties, most - 2 * _PADDING)
    panel = inside.framed()
    return replace(panel, panels=(panel.outline,))


def _tie(tied: list[int], words: Mapping[int, str], font: float, most: float) -> _Piece:
    """One token, or several in a box."""
    tokens = [_token(token, words[token], font) for token in tied]
    if len(tokens) == 1:
        return tokens[0]
    tie = _flow(tokens, most - 2 * _PADDING).framed()
    return replace(tie, ties=(tie.outline,))


def _token(token: int, words: str, font: float) -> _Piece:
    box = Box(0.0, 0.0, max(text_width(words) * font + font, 2 * font), 2 * font)
    return _Piece(box, {token: box})


def _flow(pieces: list[_Piece], most: float) -> _Piece:
    """Pieces in rows like words in a paragraph, of a pleasant shape."""
    area = sum((p.outline.width + _GAP) * (p.outline.height + _GAP) for p in pieces)
    widest = max(p.outline.width for p in pieces)
    limit = min(most, max(widest, _NARROW, math.sqrt(_ASPECT * area)))
    placed: list[_Piece] = []
    left = top = bottom = right = 0.0
    for piece in pieces:
        if placed and left + piece.outline.width > limit:
            left, top = 0.0, bottom + _GAP
        placed.append(piece.moved(left, top))
        left += piece.outline.width + _GAP
        right = max(right, placed[-1].outline.right)
        bottom = max(bottom, placed[-1].outline.bottom)
    return _Piece(
        Box(0.0, 0.0, right, bottom),
        {token: box for piece in placed for token, box in piece.tokens.items()},
        tuple(box for piece in placed for box in piece.ties),
    )


def _rows(
    pieces: list[_Piece], layers: list[list[int]], links: list[Edge], most: float
) -> list[list[list[int]]]:
    """The rows of each layer, and who stands where in them: near the middle of its neighbours."""
    neighbours: list[list[int]] = [[] for _ in pieces]
    for winner, loser in links:
        neighbours[winner].append(loser)
        neighbours[loser].append(winner)
    rows = [_wrap(pieces, layer, most) for layer in layers]
    middle: dict[int, float] = {}
    for layer in rows:
        middle |= _middles(pieces, layer)
    for sweep in range(_SWEEPS):
        for i in range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers))):
            wanted = {g: _mean([middle[n] for n in neighbours[g]], middle[g]) for g in layers[i]}
            rows[i] = _wrap(pieces, sorted(layers[i], key=lambda g: (wanted[g], g)), most)
            middle |= _middles(pieces, rows[i])
    return rows


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _wrap(pieces: list[_Piece], layer: list[int], most: float) -> list[list[int]]:
    """As few rows as fit; neighbours in the order go below each other rather than far away."""
    count = 1
    while count < len(layer) and any(
        _row_width(pieces, layer[i::count]) > most for i in range(count)
    ):
        count += 1
    return [layer[i::count] for i in range(count)]


def _row_width(pieces: list[_Piece], row: list[int]) -> float:
    return sum(pieces[g].outline.width for g in row) + 2 * _GAP * (len(row) - 1)


def _middles(pieces: list[_Piece], rows: list[list[int]]) -> dict[int, float]:
    """Where the middle of each piece is, if every row is centred at 0."""
    middles: dict[int, float] = {}
    for row in rows:
        left = -_row_width(pieces, row) / 2
        for g in row:
            middles[g] = left + pieces[g].outline.width / 2
            left += pieces[g].outline.width + 2 * _GAP
    return middles


def _stack(pieces: list[_Piece], layers: list[list[list[int]]]) -> tuple[list[_Piece], float]:
    """Put the rows under each other; the pieces in their places, and the height of the whole."""
    widest = max((_row_width(pieces, row) for layer in layers for row in layer), default=0.0)
    placed = list(pieces)
    top = _MARGIN
    for layer in layers:
        middles = _middles(pieces, layer)
        for row in layer:
            height = max(pieces[g].outline.height for g in row)
            for g in row:
                left = _MARGIN + widest / 2 + middles[g] - pieces[g].outline.width / 2
                placed[g] = pieces[g].moved(left, top + (height - pieces[g].outline.height) / 2)
            top += height + 2 * _GAP
        top += _LAYER_GAP - 2 * _GAP
    return placed, max(top - _LAYER_GAP, 0.0) + _MARGIN


def _arrow(winner: Box, loser: Box) -> tuple[Point, Point]:
    start = (winner.left + winner.width / 2, winner.bottom)
    return start, (loser.left + loser.width / 2, loser.top)
