"""The analysis of a user's sequences as a page, for a person who is new to the theory.

The page knows an answer by its keys. Only ``vocabulary``, ``queries`` and ``max_margin`` must be
there; each part that another key feeds is left out without it. An answer without ``queries`` is
not about sequences, and is told in the words of its setting.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._files import write_whole
from lemmata._html import Markup, element
from lemmata.report._limits import limits, statements
from lemmata.report._order import Order
from lemmata.report._orders_page import order_section, orders_table
from lemmata.report._page import document
from lemmata.report._pieces import (
    MOST_ROWS,
    Token,
    chip,
    chips,
    clean,
    count,
    facts,
    folded,
    more_line,
    percent,
    separated,
    table,
)
from lemmata.report._words_page import article

MOST_INSTANCES = 10

MOST_SECTIONS = 24
"""Last tokens that get a closer look, over all instances."""

MOST_TOKENS_DRAWN = 2_000
"""Tokens in all graphs together: what a page can hold and a person can wait for."""

MOST_IN_A_SEQUENCE = 60

LEGEND = (
    "In the graphs, an arrow points from a winner down to what it beats; an arrow that follows "
    "from others is left out. Red: nothing beats it. Blue box: tied. Grey panel: tokens with the "
    "same place in the order. Grey token: never compared."
)

INFEASIBLE = (
    "The embeddings contradict these orders, so attention cannot follow all of them: a winner "
    "below may have to share. See where the weights go."
)

UNSUPPORTED = (
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
    "W^mm": "the max-margin solution: the direction in which the weights of attention grow. The "
    "harder they grow, the closer attention comes to selecting one token only",
    "W^cyc": "the finite part of the weights, which decides among tied tokens",
    "certificate": "numbers that prove a result to anyone who adds them up, without trust in the "
    "program that found it",
}


Words = Callable[[Mapping[str, Any]], Iterable[Any]]
"""What to say about an answer, line by line, as in a terminal."""


def write_analysis(
    folder: Path, answer: Mapping[str, Any], *, source: str, words: Words | None = None
) -> Path:
    """Write ``index.html``, which loads nothing, and a ``graph-N.svg`` for each graph on it.

    Args:
        folder: where they go.
        answer: an analysis in plain values, or several under ``instances``.
        source: the name of what was analyzed.
        words: what to say about an answer that is not about sequences.

    Returns:
        The path of the page.
    """
    answers: Sequence[Mapping[str, Any]] = answer.get("instances", [answer])
    shown = answers[:MOST_INSTANCES]
    if words is not None and "queries" not in shown[0]:
        told = [article(words(one)) for one in shown]
        hidden = more_line(len(answers) - len(shown), "instances")
        title = f"What to expect from {clean(source, 120)}"
        return _write(
            folder, document(title, element("header", element("h1", title)), *told, hidden)
        )
    sections = MOST_SECTIONS // max(len(shown), 1)
    album = _Album(folder)
    title = f"What attention will learn from {clean(source, 120)}"
    page = document(
        title,
        element(
            "header",
            element("h1", title),
            element("p", f"{len(answers):,} instances") if len(answers) > 1 else None,
        ),
        _in_words(shown),
        *[_instance(a, i, len(answers), sections, album) for i, a in enumerate(shown)],
        more_line(len(answers) - len(shown), "instances"),
        _glossary(),
    )
    return _write(folder, page)


def _write(folder: Path, page: str) -> Path:
    write_whole(folder / "index.html", page.encode())
    return folder / "index.html"


class _Album:
    """Draws orders into numbered files, as long as there is room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drawn = 0
        self.room = MOST_TOKENS_DRAWN

    def draw(self, order: Order) -> tuple[str, str] | None:
        """The name and the content of the file, or None where the order is better told."""
        if not order.drawable or len(order.tokens) > self.room:
            return None
        self.room -= len(order.tokens)
        self.drawn += 1
        name, content = f"graph-{self.drawn}.svg", order.svg()
        write_whole(self.folder / name, content)
        return name, content.decode()


def _in_words(answers: Sequence[Mapping[str, Any]]) -> Markup:
    """The theory in three sentences."""
    winner = "the label"
    if any("collocation" in answer for answer in answers):
        winner = "the token that the collocation sends to the label"
    return element(
        "section",
        element("h2", "In plain words"),
        element(
            "p",
            "Given a sequence, attention looks from its last token at all of its tokens and "
            f"selects some. From each sample it learns that, under this last token, {winner} ",
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
            ". They share the attention. The shares do not depend on chance: they are given by "
            "a matrix W^cyc that the samples determine.",
        ),
        element(
            "p",
            "All of this is theory. Below is also what it takes for granted, and whether this "
            "data complies.",
            class_="note",
        ),
    )


def _instance(
    answer: Mapping[str, Any], index: int, total: int, sections: int, album: _Album
) -> Markup:
    """Everything about one dataset."""
    orders = _busiest(answer["queries"])
    closer = [order for order in orders[:sections] if order.edges or order.unreachable]
    places = {order.query: f"data-{index}-order-{i}" for i, order in enumerate(closer, start=1)}
    return element(
        "article",
        element("h1", f"Instance {index}") if total > 1 else None,
        _read(answer),
        _orders(answer, orders, places),
        *[order_section(order, places[order.query], album.draw) for order in closer],
        more_line(len(answer["queries"]) - len(closer), "last tokens"),
        _predictions(answer["predictions"]) if "predictions" in answer else None,
        limits(answer),
        statements(answer),
        id=f"data-{index}",
    )


def _busiest(queries: Mapping[str, Mapping[str, Any]]) -> list[Order]:
    """The last tokens with the most samples; where these are not counted, with the most edges."""

    def busy(name: str) -> tuple[int, int]:
        return queries[name].get("samples", 0), len(queries[name]["edges"])

    names = sorted(queries, key=busy, reverse=True)[:MOST_ROWS]
    return [Order.read(name, queries[name]) for name in names]


def _read(answer: Mapping[str, Any]) -> Markup:
    """What the data is; any short value of the answer counts."""
    short = [(name, value) for name, value in answer.items() if isinstance(value, str | int)]
    words, collocation = answer["vocabulary"], answer.get("collocation", {})
    pairs = [[chip(token), chip(after)] for token, after in collocation.items()]
    return element(
        "section",
        element("h2", "What was read"),
        facts(
            [
                *((clean(name).replace("_", " "), _value(value)) for name, value in short),
                ("tokens", f"{len(words):,}"),
                ("last tokens", f"{len(answer['queries']):,}"),
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


def _orders(
    answer: Mapping[str, Any], orders: Sequence[Order], places: Mapping[Token, str]
) -> Markup:
    """The table of last tokens, and how to read the graphs after it."""
    infeasible = answer["max_margin"]["status"] == "infeasible"
    caution = INFEASIBLE if infeasible else None if _supported(answer) else UNSUPPORTED
    wins = "attention will select" if caution is None else "winner"
    return element(
        "section",
        element("h2", "What attention will learn"),
        element("p", _tally(answer["queries"])),
        element("p", caution, class_="caution") if caution else None,
        orders_table(orders, len(answer["queries"]), places, wins),
        element("p", LEGEND, class_="note"),
    )


def _supported(answer: Mapping[str, Any]) -> bool:
    """Whether some theorem speaks about this data, or none is listed."""
    theorems = answer.get("theorems", {})
    return not theorems or any(state["applies"] for state in theorems.values())


def _tally(queries: Mapping[str, Mapping[str, Any]]) -> str:
    """Under how many last tokens there are ties, and labels out of reach."""
    tied = sum(any(len(c) > 1 for c in found["components"]) for found in queries.values())
    lost = sum(bool(found.get("unreachable_labels")) for found in queries.values())
    total = count(len(queries), "last token")
    ties = f"Under {tied:,} of {total} some tokens are tied." if tied else "No tokens are tied."
    if not lost:
        return ties
    return f"{ties} Under {lost:,} of {total} some label does not occur in its sequence."


def _predictions(found: Sequence[Mapping[str, Any]]) -> Markup:
    """What will be selected from each sample."""
    rows = [
        [
            chips(sample["sequence"], MOST_IN_A_SEQUENCE),
            chip(sample["label"]),
            separated(
                [
                    chip(token, percent(share))
                    for token, share in zip(
                        sample["selected"], sample["probabilities"], strict=True
                    )
                ],
                " ",
            ),
            sample["count"],
            clean(sample["source"]),
        ]
        for sample in found[:MOST_ROWS]
    ]
    head = ["sequence", "label", "attention will select", "count", "where"]
    return element(
        "section",
        element("h2", "Sample by sample"),
        table(head, rows, len(found), "samples")
        if rows
        else element(
            "p",
            "No sample is spelled out: there are too many, or there is none to learn from.",
        ),
    )


def _glossary() -> Markup:
    return element("section", element("h2", "Glossary"), facts(GLOSSARY.items()), class_="glossary")
