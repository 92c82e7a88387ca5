"""A graph that has its layout, as a TikZ picture for a LaTeX file."""

from collections.abc import Mapping

from lemmata._latex import latex

from ._graph import ARROW, HEAD, PANEL, TIE
from ._layout import Box, GraphLayout, Point
from ._style import PALETTE


def tikz_picture(layout: GraphLayout, colours: Mapping[int, str]) -> str:
    """The picture in points, y downwards as in the layout; words are set by LaTeX.

    Args:
        layout: from ``lay_out_graph``.
        colours: the outline of a token; black where missing, grey for idle ones.
    """
    black, grey = PALETTE["black"], PALETTE["grey"]
    shapes = [_arrow(*arrow) for arrow in layout.arrows]
    shapes += [_box(box, 5.0, PANEL, PALETTE["light"]) for box in layout.panels]
    shapes += [_box(box, 7.0, TIE, PALETTE["blue"]) for box in layout.ties]
    for token, box in layout.tokens.items():
        plain = grey if token in layout.idle else black
        shapes.append(_box(box, 3.0, "#FFFFFF", colours.get(token, plain)))
        middle = (box.left + box.width / 2, box.top + box.height / 2 + 0.36 * layout.font)
        shapes.append(
            rf"\node[anchor=base, inner sep=0pt, text={_name(plain)}] at {_point(middle)} "
            f"{{{latex(layout.words[token])}}};"
        )
    used = [ARROW, PANEL, TIE, "#FFFFFF", black, grey, *colours.values()]
    used += [PALETTE["light"], PALETTE["blue"]]
    font = rf"\fontsize{{{layout.font:g}}}{{{1.2 * layout.font:g}}}\selectfont"
    return "\n".join(
        [
            "% needs the package tikz; words in other scripts need LuaLaTeX or XeLaTeX",
            *(f"\\definecolor{{{_name(c)}}}{{HTML}}{{{c[1:]}}}" for c in dict.fromkeys(used)),
            rf"\begin{{tikzpicture}}[x=1bp, y=-1bp, line width=0.6bp, font={font}]",
            *shapes,
            r"\end{tikzpicture}",
            "",
        ]
    )


def _name(colour: str) -> str:
    """What LaTeX calls a colour."""
    return f"lemmata{colour[1:].lower()}"


def _point(point: Point) -> str:
    return f"({point[0]:.2f}, {point[1]:.2f})"


def _box(box: Box, radius: float, fill: str, outline: str) -> str:
    look = f"rounded corners={radius:g}bp, fill={_name(fill)}, draw={_name(outline)}"
    corners = _point((box.left, box.top)), _point((box.right, box.bottom))
    return rf"\filldraw[{look}] {corners[0]} rectangle {corners[1]};"


def _arrow(start: Point, end: Point) -> str:
    """Leaves a winner downwards, and arrives from above."""
    bend = 0.5 * (end[1] - HEAD - start[1])
    ways = (start[0], start[1] + bend), (end[0], end[1] - HEAD - bend)
    return (
        rf"\draw[-latex, {_name(ARROW)}] {_point(start)} .. controls {_point(ways[0])} and "
        rf"{_point(ways[1])} .. {_point(end)};"
    )
