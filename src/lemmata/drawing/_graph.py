"""Priority graphs in layers, the winners on top: sketches of small ones, layouts of any."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lemmata.tokens import PriorityGraph

from ._layout import Box, GraphLayout, Point
from ._letters import legible
from ._style import PALETTE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

Edge = tuple[int, int]
Place = tuple[float, float]

HEAD = 5.0
"""The length of an arrow's head, in points."""

ARROW = "#A0A0A0"
PANEL = "#F6F6F6"
TIE = "#DDEFFA"

_SWEEPS = 4
"""Rounds of moving each node above the middle of its neighbours."""


def draw_priority_graph(
    axes: "Axes",
    edges: Sequence[Edge],
    labels: Mapping[int, str],
    *,
    idle: Sequence[int] = (),
    colours: Mapping[int, str] | None = None,
    radius: float = 8.5,
) -> None:
    """Draw who beats whom: an arrow goes down from a winner to a loser.

    Tokens that beat each other through a cycle share a layer. Meant for about ten nodes with
    short names; ``lay_out_graph`` takes any.

    Args:
        axes: where to draw; its frame is removed.
        edges: (winner, loser) pairs.
        labels: the text of every node.
        idle: nodes that no edge touches, drawn grey at half height.
        colours: the outline of a node; black where missing.
        radius: of a node, in points.
    """
    layers = _layers(edges)
    places = _places(layers, edges)
    widest = max((x for x, _ in places.values()), default=-1.0)
    middle = -(len(layers) - 1) / 2
    for i, node in enumerate(idle):
        places[node] = (widest + 1 + i, middle)
    level = {node: depth for depth, layer in enumerate(layers) for node in layer}
    for winner, loser in edges:
        straight = level[loser] - level[winner] == 1
        _arrow(axes, places[winner], places[loser], radius, 0.0 if straight else 0.28)
    for node, place in places.items():
        grey = node in set(idle)
        outline = (colours or {}).get(node, PALETTE["grey"] if grey else PALETTE["black"])
        _node(axes, place, labels[node], outline, radius, grey)
    _frame(axes, places)


def draw_map(
    axes: "Axes", following: Mapping[int, int], labels: Mapping[int, str], *, radius: float = 8.5
) -> None:
    """Draw a map from tokens to tokens on a ring, each cycle in its own order."""
    around: dict[int, None] = {}
    for start in following:
        node = start
        while node not in around:
            around[node] = None
            node = following[node]
    turns = np.linspace(0, 2 * np.pi, len(around), endpoint=False)
    places = {
        node: (float(np.sin(turn)), float(np.cos(turn)))
        for node, turn in zip(around, turns, strict=True)
    }
    for node, after in following.items():
        _arrow(axes, places[node], places[after], radius, -0.2)
    for node, place in places.items():
        _node(axes, place, labels[node], PALETTE["black"], radius, False)
    _frame(axes, places)
    axes.set_aspect("equal", adjustable="datalim")


def draw_graph_layout(
    axes: "Axes", layout: GraphLayout, *, colours: Mapping[int, str] | None = None
) -> None:
    """Draw a graph that has its layout, arrows behind boxes.

    Args:
        axes: where to draw, of at least the layout's size; its frame is removed.
        layout: from ``lay_out_graph``.
        colours: the outline of a token; black where missing.
    """
    grey, light = PALETTE["grey"], PALETTE["light"]
    _shape(axes, [_curve(*arrow) for arrow in layout.arrows], "none", ARROW, 1)
    _shape(
        axes,
        [_head(end) for end in dict.fromkeys(end for _, end in layout.arrows)],
        ARROW,
        "none",
        1,
    )
    _shape(axes, [_rounded(box, 5.0) for box in layout.panels], PANEL, light, 2)
    _shape(axes, [_rounded(box, 7.0) for box in layout.ties], TIE, PALETTE["blue"], 3)
    outlines: dict[str, list[Box]] = {}
    for token, box in layout.tokens.items():
        plain = grey if token in layout.idle else PALETTE["black"]
        outlines.setdefault((colours or {}).get(token, plain), []).append(box)
    for colour, boxes in outlines.items():
        _shape(axes, [_rounded(box, 3.0) for box in boxes], "white", colour, 4)
    for token, box in layout.tokens.items():
        axes.text(
            box.left + box.width / 2,
            box.top + box.height / 2 + 0.36 * layout.font,
            layout.words[token],
            ha="center",
            va="baseline",
            fontsize=layout.font,
            color=grey if token in layout.idle else PALETTE["black"],
            parse_math=False,
            zorder=5,
        )
    axes.set_xlim(0, max(layout.width, 1), auto=None)
    axes.set_ylim(max(layout.height, 1), 0, auto=None)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _shape(axes: "Axes", paths: list["Path"], fill: str, outline: str, height: int) -> None:
    """All paths as one shape, which keeps files small."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if paths:
        shape = Path.make_compound_path(*paths)
        look = {"facecolor": fill, "edgecolor": outline, "linewidth": 0.6, "zorder": height}
        axes.add_artist(PathPatch(shape, **look))


def _curve(start: Point, end: Point) -> "Path":
    """Leaves a winner downwards, and arrives from above."""
    from matplotlib.path import Path

    tip = (end[0], end[1] - HEAD)
    bend = 0.5 * (tip[1] - start[1])
    corners = [start, (start[0], start[1] + bend), (tip[0], tip[1] - bend), tip]
    return Path(corners, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])


def _head(end: Point) -> "Path":
    from matplotlib.path import Path

    x, y = end
    return Path([(x - HEAD / 2, y - HEAD), (x + HEAD / 2, y - HEAD), end, end], closed=True)


def _rounded(box: Box, radius: float) -> "Path":
    from matplotlib.path import Path

    left, top, right, bottom = box.left, box.top, box.right, box.bottom
    corners = [
        (left + radius, top),
        (right - radius, top),
        (right, top),
        (right, top + radius),
        (right, bottom - radius),
        (right, bottom),
        (right - radius, bottom),
        (left + radius, bottom),
        (left, bottom),
        (left, bottom - radius),
        (left, top + radius),
        (left, top),
        (left + radius, top),
        (left + radius, top),
    ]
    turn = [Path.LINETO, Path.CURVE3, Path.CURVE3]
    return Path(corners, [Path.MOVETO, *turn, *turn, *turn, *turn, Path.CLOSEPOLY])


def _layers(edges: Sequence[Edge]) -> list[list[int]]:
    """Nodes by the length of the longest chain above them, cycles taken as one."""
    nodes = tuple(sorted({node for edge in edges for node in edge}))
    layers = PriorityGraph(-1, nodes, dict.fromkeys(edges, 0)).layers
    return [[node for component in layer for node in component] for layer in layers]


def _places(layers: list[list[int]], edges: Sequence[Edge]) -> dict[int, Place]:
    """One row a layer, centred; nodes near the middle of their neighbours to avoid crossings."""
    neighbours: dict[int, list[int]] = {node: [] for layer in layers for node in layer}
    for winner, loser in edges:
        neighbours[winner].append(loser)
        neighbours[loser].append(winner)
    across = {node: float(i) for layer in layers for i, node in enumerate(layer)}
    width = max(map(len, layers), default=0)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = {n: float(np.mean([across[m] for m in neighbours[n]])) for n in layer}
            layer.sort(key=lambda node: (wanted[node], node))
            start = (width - len(layer)) / 2
            across |= {node: start + i for i, node in enumerate(layer)}
    return {
        node: (across[node], -float(depth)) for depth, layer in enumerate(layers) for node in layer
    }


def _arrow(axes: "Axes", tail: Place, head: Place, radius: float, bend: float) -> None:
    axes.annotate(
        "",
        xy=head,
        xytext=tail,
        arrowprops={
            "arrowstyle": "-|>,head_length=0.28,head_width=0.14",
            "shrinkA": radius,
            "shrinkB": radius,
            "linewidth": 0.8,
            "color": PALETTE["black"],
            "connectionstyle": f"arc3,rad={bend}",
        },
    )


def _node(axes: "Axes", place: Place, label: str, outline: str, radius: float, grey: bool) -> None:
    """A circle, or a box where the label is long."""
    boxed = len(label) > 3
    if not boxed:
        axes.plot(
            *place,
            marker="o",
            markersize=2 * radius - 2,
            markerfacecolor="white",
            markeredgecolor=outline,
            markeredgewidth=0.9,
            zorder=3,
        )
    frame = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": outline}
    axes.text(
        *place,
        legible(label, substitute=True),
        ha="center",
        va="center_baseline",
        parse_math=False,
        fontsize=SMALL,
        color=PALETTE["grey"] if grey else PALETTE["black"],
        bbox=frame if boxed else None,
        zorder=4,
    )


def _frame(axes: "Axes", places: Mapping[int, Place]) -> None:
    """Room for half a node around the graph; limits may still give way to an aspect ratio."""
    across = [x for x, _ in places.values()] or [0.0]
    down = [y for _, y in places.values()] or [0.0]
    axes.set_xlim(min(across) - 0.6, max(across) + 0.6, auto=None)
    axes.set_ylim(min(down) - 0.45, max(down) + 0.45, auto=None)
    axes.set_axis_off()
