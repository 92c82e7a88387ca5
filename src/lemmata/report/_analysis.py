"""The analysis of a user's data as a page, for a person who is new to the theory.

An analysis of token sequences gives its orders, which are drawn and told. Any other is told in the
words of its setting.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from lemmata._files import write_whole
from lemmata._html import Markup, element
from lemmata._mathml import mathematics
from lemmata.drawing import percent
from lemmata.settings import AbstractAnalysis, OrdersView

from ._document import document
from ._limits import limits, statements
from ._order import Order
from ._orders_page import order_section, orders_table
from ._pieces import (
    MOST_ROWS,
    chip,
    chips,
    clean,
    count,
    facts,
    folded,
    more_line,
    separated,
    table,
)
from ._words_page import article

MOST_INSTANCES = 10

MOST_SECTIONS = 24
"""Last tokens that get a closer look, over all instances."""

MOST_TOKENS_DRAWN = 2_000
"""Tokens in all graphs together: what a page can hold and a person can wait for."""

MOST_IN_A_SEQUENCE = 60

LONGEST_NAME = 40
"""Letters of a token in the name of a file."""

LEGEND = (
    "In the graphs, an arrow points from a winner down to what it beats; an arrow that follows "
    "from others is left out. Red: nothing beats it. Blue box: tied. Grey panel: tokens with the "
    "same place in the order. Grey token: never compared."
)

SILENCE = (
    "No theorem speaks about this data as a whole. These are the orders that its samples define, "
    "and what attention would learn from samples like these that meet the assumptions."
)

GLOSSARY = {
    "token": "what sequences are made of: a word, a letter, a number",
    "sample": "a sequence with its label, the token that should come next",
    "last token": "the token at the end of a sequence. It asks the question: attention compares "
    "the tokens of the sequence in its eyes, and each last token has an order of its own",
    "beats": "under a last token, the token that should be selected beats every other token of "
    "its sequence",
    "priority graph": "all that is known about who beats whom under one last token; arrows point "
    "from winners to losers",
    "tied": "tokens that beat each other, directly or through others; they share a blue box, and "
    "the attention",
    "label out of reach": "a label that does not occur in its sequence. Attention can only select "
    "what is there, so it learns nothing from such a sample",
    "realizable": "whether every sample can be answered by selecting the right token",
    "acyclic": "whether no tokens are tied",
    "certificate": "numbers that prove a result to anyone who adds them up, without trust in the "
    "program that found it",
}


def write_analysis(
    folder: Path,
    analyses: Sequence[AbstractAnalysis],
    *,
    source: str,
    figures: Sequence[str] = ("svg",),
) -> Path:
    """Write ``index.html``, which loads nothing, and a file for each graph on it.

    Args:
        folder: where they go.
        analyses: one an instance.
        source: the name of what was analyzed.
        figures: the formats of the graphs, ``svg``, ``pdf``, ``png`` or ``tex``; a graph is named
            after its last token, as in ``graph-please.svg``.

    Returns:
        The path of the page.
    """
    shown = analyses[:MOST_INSTANCES]
    views = [view for view in (analysis.orders_view() for analysis in shown) if view is not None]
    hidden = more_line(len(analyses) - len(shown), "instances")
    if len(views) < len(shown):
        title = f"What to expect from {clean(source, 120)}"
        told = [article(analysis.describe()) for analysis in shown]
        page = document(title, element("header", element("h1", title)), *told, hidden)
    else:
        album = _Album(folder, figures, len(analyses) > 1)
        title = f"What attention will learn from {clean(source, 120)}"
        page = _orders_page(title, views, len(analyses), hidden, album)
    write_whole(folder / "index.html", page.encode())
    return folder / "index.html"


class _Album:
    """Draws orders into files that are named after their last tokens, as long as there is room."""

    def __init__(self, folder: Path, kinds: Sequence[str], several: bool) -> None:
        self.folder = folder
        self.kinds = kinds
        self.several = several
        self.room = MOST_TOKENS_DRAWN
        self.taken: set[str] = set()

    def draw(self, instance: int, order: Order) -> tuple[list[str], str] | None:
        """The names of the files and the SVG, or None where the order is better told."""
        graph = order.graph
        size = len(graph.graph.nodes)
        if not graph.drawable or size > self.room:
            return None
        self.room -= size
        stem = self._stem(f"{instance}-" if self.several else "", str(graph.query))
        svg = graph.content("svg")
        names = [f"{stem}.{kind}" for kind in self.kinds]
        for name, kind in zip(names, self.kinds, strict=True):
            write_whole(self.folder / name, svg if kind == "svg" else graph.content(kind))
        return names, svg.decode()

    def _stem(self, prefix: str, token: str) -> str:
        """A name that every file system takes, and that no other graph has."""
        first = stem = f"graph-{prefix}{file_name(token)}"
        number = 2
        while stem.casefold() in self.taken:
            stem = f"{first}-{number}"
            number += 1
        self.taken.add(stem.casefold())
        return stem


def file_name(token: str) -> str:
    """A token as part of a file's name: letters and digits; a dash for everything else.

    Examples:
        >>> file_name("please"), file_name("../a b?"), file_name("?")
        ('please', 'a-b', 'token')
    """
    letters = unicodedata.normalize("NFC", token)[:LONGEST_NAME]
    plain = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in letters)
    return "-".join(plain.split()) or "token"


def _orders_page(
    title: str, views: Sequence[OrdersView], total: int, hidden: Markup | None, album: _Album
) -> str:
    sections = MOST_SECTIONS // max(len(views), 1)
    words: dict[str, str] = {}
    for view in views:
        words |= view.glossary
    return document(
        title,
        element(
            "header",
            element("h1", title),
            element("p", f"{total:,} instances") if total > 1 else None,
        ),
        _in_words(views[0]) if views else None,
        *[_instance(view, i, total, sections, album) for i, view in enumerate(views)],
        hidden,
        element(
            "section",
            element("h2", "Glossary"),
            facts((GLOSSARY | words).items()),
            class_="glossary",
        ),
    )


def _in_words(view: OrdersView) -> Markup:
    """The theory in three sentences."""
    return element(
        "section",
        element("h2", "In plain words"),
        element(
            "p",
            "Given a sequence, attention looks from its last token at all of its tokens and "
            f"selects some. From each sample it learns that, under this last token, {view.winner} ",
            element("strong", "beats"),
            " the other tokens of the sequence.",
        ),
        element(
            "p",
            "After long training, attention selects the token that no other token of the sequence "
            "beats. Everything else gets nothing, in the limit.",
        ),
        element(
            "p",
            "Tokens that beat each other, directly or through others, are ",
            element("strong", "tied"),
            mathematics(f". {view.ties}"),
        ),
        element(
            "p",
            "All of this is theory. Below is also what it takes for granted, and whether this "
            "data complies.",
            class_="note",
        ),
    )


def _instance(view: OrdersView, index: int, total: int, sections: int, album: _Album) -> Markup:
    """Everything about one dataset."""
    orders = _busiest(view)
    closer = [o for o in orders[:sections] if o.graph.graph.evidence or o.unreachable]
    places = {o.graph.graph.query: f"data-{index}-order-{i}" for i, o in enumerate(closer, 1)}
    return element(
        "article",
        element("h1", f"Instance {index}") if total > 1 else None,
        _read(view),
        _orders(view, orders, places),
        *[
            order_section(o, places[o.graph.graph.query], lambda o: album.draw(index, o))
            for o in closer
        ],
        more_line(len(view.queries) - len(closer), "last tokens"),
        _predictions(view),
        limits(view),
        statements(view),
        id=f"data-{index}",
    )


def _busiest(view: OrdersView) -> list[Order]:
    """The last tokens with the most samples; where these are not counted, with the most edges."""

    def busy(query: int) -> tuple[int, int]:
        graph = view.graphs.get(query)
        return view.samples.get(query, 0), 0 if graph is None else len(graph.evidence)

    return [Order.of(view, query) for query in sorted(view.queries, key=busy, reverse=True)][
        :MOST_ROWS
    ]


def _read(view: OrdersView) -> Markup:
    """What the data is."""
    words = view.vocabulary
    pairs = [[chip(words[token]), chip(words[after])] for token, after in view.collocation.items()]
    return element(
        "section",
        element("h2", "What was read"),
        facts(
            [
                *((clean(name).replace("_", " "), _value(x)) for name, x in view.facts.items()),
                ("tokens", f"{len(words):,}"),
                ("last tokens", f"{len(view.queries):,}"),
            ]
        ),
        folded("The tokens", element("p", chips(words))),
        folded(
            "The collocation: which token follows which",
            table(["token", "followed by"], pairs[:MOST_ROWS], len(pairs), "tokens"),
        )
        if pairs
        else None,
    )


def _value(value: str | int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else clean(value)


def _orders(view: OrdersView, orders: Sequence[Order], places: dict[int, str]) -> Markup:
    """The table of last tokens, and how to read the graphs after it."""
    caution = view.caution or (None if _supported(view) else SILENCE)
    wins = "winner" if caution else "attention will select"
    return element(
        "section",
        element("h2", "What attention will learn"),
        element("p", _tally(view)),
        element("p", caution, class_="caution") if caution else None,
        orders_table(orders, len(view.queries), places, wins),
        element("p", LEGEND, class_="note"),
    )


def _supported(view: OrdersView) -> bool:
    """Whether some theorem speaks about this data, or none is listed."""
    return not view.theorems or not all(view.theorems.values())


def _tally(view: OrdersView) -> str:
    """Under how many last tokens there are ties, and labels out of reach."""
    tied = sum(not graph.acyclic for graph in view.graphs.values())
    lost = sum(bool(labels) for labels in view.unreachable.values())
    total = count(len(view.queries), "last token")
    ties = f"Under {tied:,} of {total} some tokens are tied." if tied else "No tokens are tied."
    if not lost:
        return ties
    return f"{ties} Under {lost:,} of {total} some label does not occur in its sequence."


def _predictions(view: OrdersView) -> Markup | None:
    """What will be selected from each sample."""
    if view.predictions is None:
        return None
    words = view.vocabulary
    rows = [
        [
            chips([words[token] for token in selection.sample.tokens], MOST_IN_A_SEQUENCE),
            chip(words[selection.sample.label]),
            separated(
                [
                    chip(words[token], percent(float(share)))
                    for token, share in zip(selection.tokens, selection.shares, strict=True)
                ],
                " ",
            ),
            selection.sample.count,
            clean(selection.sample.source),
        ]
        for selection in view.predictions[:MOST_ROWS]
    ]
    head = ["sequence", "label", "attention will select", "count", "where"]
    return element(
        "section",
        element("h2", "Sample by sample"),
        table(head, rows, len(view.predictions), "samples")
        if rows
        else element(
            "p",
            "No sample is spelled out: there are too many, or there is none to learn from.",
        ),
    )
