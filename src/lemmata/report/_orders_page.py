"""The orders of an analysis as parts of a page: a table of all, and a closer look at some."""

from collections.abc import Callable, Mapping, Sequence

from lemmata._html import Markup, element, join
from lemmata.report._order import Component, Order
from lemmata.report._page import inline_svg
from lemmata.report._pieces import (
    MOST_ROWS,
    Token,
    chip,
    chips,
    clean,
    count,
    folded,
    more,
    more_line,
    percent,
    separated,
    table,
)

MOST_IN_A_CELL = 8
MOST_IN_A_LAYER = 60
MOST_LAYERS_TOLD = 40

Draw = Callable[[Order], tuple[str, str] | None]
"""Draws an order and returns the file's name and its SVG; None if it is told, not drawn."""


def orders_table(
    orders: Sequence[Order], total: int, places: Mapping[Token, str], wins: str
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
        name, place = chip(order.query), places.get(order.query)
        row: list[object] = [element("a", name, href=f"#{place}") if place else name]
        row += [order.samples] * counted
        row.append(_selected(order))
        row += [chips(order.unreachable, MOST_IN_A_CELL)] * lost
        rows.append(row)
    return table(head, rows, total, "last tokens")


def _selected(order: Order) -> Markup:
    """What nothing beats; several of these are never in one sequence, or nobody said."""
    if not order.layers:
        return join("nothing: no label occurs in its sequence")
    if not order.winners:
        return join("no choice: each sequence holds one token")
    shown = [_component(order, tied) for tied in order.winners[:MOST_IN_A_CELL]]
    return join(
        separated(shown, " or "), more(len(order.winners) - MOST_IN_A_CELL, "that nothing beats")
    )


def _component(order: Order, tied: Component) -> Markup:
    """A token, or tied tokens in one frame with their shares."""
    if len(tied) == 1:
        return chip(tied[0])
    ranked = sorted(tied, key=lambda token: -(order.shares.get(token) or 0.0))
    shown = [_share(order, token) for token in ranked[:MOST_IN_A_CELL]]
    rest = more(len(tied) - MOST_IN_A_CELL, "tied tokens")
    return element("span", separated(shown, " "), rest, class_="tie")


def _share(order: Order, token: Token) -> Markup:
    share = order.shares.get(token)
    return chip(token, None if share is None else percent(share))


def order_section(order: Order, place: str, draw: Draw) -> Markup:
    """The graph of one last token, its layers, its ties, and who beats whom."""
    title = f"After {clean(order.query, 60)}"
    samples = None if order.samples is None else count(order.samples, "sample")
    return element(
        "section",
        element("h3", title, element("small", samples) if samples else None),
        _picture(order, title, place, draw),
        _ranking(order),
        _ties(order),
        _lost(order),
        folded(f"Who beats whom: {count(len(order.edges), 'pair')}", _pairs(order))
        if order.edges
        else None,
        id=place,
        class_="order",
    )


def _picture(order: Order, title: str, place: str, draw: Draw) -> Markup | None:
    drawn = draw(order)
    if drawn is None:
        size = count(len(order.tokens), "token")
        told = f"The graph of {size} is not drawn: too large for this page."
        return element("p", told, class_="note") if order.edges else None
    name, svg = drawn
    label = f"{title}: who beats whom. The same is told below."
    return element(
        "figure",
        element("div", inline_svg(svg, f"{place}-", label), class_="graph"),
        element("p", element("a", name, href=name), class_="files"),
    )


def _ranking(order: Order) -> Markup | None:
    """The layers in words, the highest first."""
    layers = [
        element(
            "li",
            separated([_component(order, tied) for tied in layer[:MOST_IN_A_LAYER]], " "),
            more(len(layer) - MOST_IN_A_LAYER, "in this layer"),
        )
        for layer in order.ranked[:MOST_LAYERS_TOLD]
    ]
    idle = element("p", "Never compared with another token: ", chips(order.idle, MOST_IN_A_LAYER))
    return join(
        element("p", "The order, from the top:") if layers else None,
        element("ol", *layers, class_="layers") if layers else None,
        more_line(len(order.ranked) - MOST_LAYERS_TOLD, "layers"),
        idle if order.idle else None,
    )


def _ties(order: Order) -> Markup | None:
    rows = [
        element(
            "li",
            separated([_share(order, token) for token in tied[:MOST_IN_A_LAYER]], ", "),
            more(len(tied) - MOST_IN_A_LAYER, "tied tokens"),
        )
        for tied in order.ties[:MOST_IN_A_LAYER]
    ]
    if not rows:
        return None
    words = "These beat each other and share the attention" + (
        ", in the end as the percentages say if each of them occurs once:" if order.shares else ":"
    )
    return join(element("p", words), element("ul", *rows))


def _lost(order: Order) -> Markup | None:
    if not order.unreachable:
        return None
    return element("p", "Labels that their sequences do not hold: ", chips(order.unreachable))


def _pairs(order: Order) -> Markup:
    """All pairs by their winner, up to a limit."""
    beaten: dict[Token, list[Token]] = {}
    for winner, loser in order.edges[:MOST_ROWS]:
        beaten.setdefault(winner, []).append(loser)
    rows = [
        element("li", chip(winner), " beats ", chips(losers)) for winner, losers in beaten.items()
    ]
    hidden = more_line(len(order.edges) - MOST_ROWS, "pairs")
    return join(element("ul", *rows, class_="pairs-list"), hidden)
