"""The orders of an analysis as parts of a page: a table of all, and a closer look at some."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from lemmata._html import Markup, element, join
from lemmata.drawing import percent
from lemmata.tokens import Token

from ._document import inline_svg
from ._order import Order
from ._pieces import (
    MOST_ROWS,
    chip,
    chips,
    clean,
    count,
    folded,
    more,
    more_line,
    scrolled,
    separated,
    table,
)

MOST_IN_A_CELL = 8
MOST_IN_A_LAYER = 60
MOST_LAYERS_TOLD = 40

Component = list[int]

Draw = Callable[[Order], tuple[Sequence[str], str] | None]
"""Draws an order and returns the names of files and its SVG; None if it is told, not drawn."""


def orders_table(
    orders: Sequence[Order], total: int, places: Mapping[int, str], wins: str
) -> Markup:
    """A row per last token: what wins under it, and which labels are out of reach.

    ``places`` are the identifiers of those that get a closer look; ``wins`` is what it
    means here that nothing beats a token.
    """
    counted = any(order.samples is not None for order in orders)
    lost = any(order.unreachable for order in orders)
    head = ["last token", *["samples"] * counted, wins]
    head += ["labels out of reach"] * lost
    rows = []
    for order in orders:
        name, place = chip(order.graph.query), places.get(order.graph.graph.query)
        row: list[object] = [element("a", name, href=f"#{place}") if place else name]
        row += [order.samples] * counted
        row.append(_selected(order))
        row += [chips(order.unreachable, MOST_IN_A_CELL)] * lost
        rows.append(row)
    return table(head, rows, total, "last tokens")


def _selected(order: Order) -> Markup:
    """What nothing beats; several of these are never in one sequence, or nobody said."""
    winners = order.graph.winners
    if not order.graph.graph.nodes:
        return join("nothing: no label occurs in its sequence")
    if not winners:
        return join("no choice: each sequence holds one token")
    shown = [_component(order, tied) for tied in winners[:MOST_IN_A_CELL]]
    return join(separated(shown, " or "), more(len(winners) - MOST_IN_A_CELL, "that nothing beats"))


def _component(order: Order, tied: Component) -> Markup:
    """A token, or tied tokens in one frame with their shares."""
    if len(tied) == 1:
        return chip(order.graph.word(tied[0]))
    ranked = order.graph.by_share(tied)
    shown = [_share(order, token) for token in ranked[:MOST_IN_A_CELL]]
    rest = more(len(tied) - MOST_IN_A_CELL, "tied tokens")
    return element("span", separated(shown, " "), rest, class_="tie")


def _share(order: Order, token: int) -> Markup:
    share = order.graph.shares.get(token)
    return chip(order.graph.word(token), None if share is None else percent(share))


def order_section(order: Order, place: str, draw: Draw) -> Markup:
    """The graph of one last token, its layers, its ties, and who beats whom."""
    title = f"After {clean(order.graph.query, 60)}"
    samples = None if order.samples is None else count(order.samples, "sample")
    edges = order.graph.edges
    return element(
        "section",
        element("h3", title, element("small", samples) if samples else None),
        _picture(order, title, place, draw),
        _ranking(order),
        _ties(order),
        _lost(order),
        folded(f"Who beats whom: {count(len(edges), 'pair')}", _pairs(edges)) if edges else None,
        id=place,
        class_="order",
    )


def _picture(order: Order, title: str, place: str, draw: Draw) -> Markup | None:
    drawn = draw(order)
    if drawn is None:
        size = count(len(order.graph.graph.nodes), "token")
        told = f"The graph of {size} is not drawn: too large for this page."
        return element("p", told, class_="note") if order.graph.graph.evidence else None
    names, svg = drawn
    label = f"{title}: who beats whom. The same is told below."
    return element(
        "figure",
        scrolled(inline_svg(svg, f"{place}-", label), title, "graph"),
        element(
            "p",
            separated([element("a", name, href=quote(name)) for name in names], " "),
            class_="files",
        )
        if names
        else None,
    )


def _ranking(order: Order) -> Markup | None:
    """The layers in words, the highest first."""
    ranked = order.graph.ranked
    layers = [
        element(
            "li",
            separated([_component(order, tied) for tied in layer[:MOST_IN_A_LAYER]], " "),
            more(len(layer) - MOST_IN_A_LAYER, "in this layer"),
        )
        for layer in ranked[:MOST_LAYERS_TOLD]
    ]
    idle = [order.graph.word(token) for token in order.graph.idle]
    return join(
        element("p", "The order, from the top:") if layers else None,
        element("ol", *layers, class_="layers") if layers else None,
        more_line(len(ranked) - MOST_LAYERS_TOLD, "layers"),
        element("p", "Never compared with another token: ", chips(idle, MOST_IN_A_LAYER))
        if idle
        else None,
    )


def _ties(order: Order) -> Markup | None:
    rows = [
        element(
            "li",
            separated([_share(order, token) for token in tied[:MOST_IN_A_LAYER]], ", "),
            more(len(tied) - MOST_IN_A_LAYER, "tied tokens"),
        )
        for tied in order.graph.ties[:MOST_IN_A_LAYER]
    ]
    if not rows:
        return None
    shared = ", in the end as the percentages say if each of them occurs once:"
    words = f"These beat each other and share the attention{shared if order.graph.shares else ':'}"
    return join(element("p", words), element("ul", *rows))


def _lost(order: Order) -> Markup | None:
    if not order.unreachable:
        return None
    return element("p", "Labels that their sequences do not hold: ", chips(order.unreachable))


def _pairs(edges: Sequence[tuple[Token, Token]]) -> Markup:
    """All pairs by their winner, up to a limit."""
    beaten: dict[Token, list[Token]] = {}
    for winner, loser in edges[:MOST_ROWS]:
        beaten.setdefault(winner, []).append(loser)
    rows = [
        element("li", chip(winner), " beats ", chips(losers)) for winner, losers in beaten.items()
    ]
    hidden = more_line(len(edges) - MOST_ROWS, "pairs")
    return join(element("ul", *rows, class_="pairs-list"), hidden)
