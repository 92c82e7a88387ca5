"""Small pieces of a page about someone's own tokens: chips, shares, tables that end in time."""

import re
from collections.abc import Iterable, Sequence

from lemmata._html import Markup, element, join
from lemmata.drawing import legible
from lemmata.tokens import Token

LONGEST_TOKEN = 60
LONGEST_TEXT = 600

MOST_ROWS = 200
"""Rows of any table."""

LONG_CELL = 30
"""Letters of a cell that needs room for a sentence, also on a phone."""

DARKEST = 0.45
"""How much of the full colour stands behind a token; letters stay legible on it."""


def clean(text: object, longest: int = LONGEST_TEXT) -> str:
    """Someone's words without invisible characters, which could reorder or break the page."""
    return legible(str(text), substitute=False, longest=longest)


def chip(token: Token, note: str | None = None, shade: float = 0.0) -> Markup:
    """A token in a frame, so that its ends show; a long one is cut and whole in the tooltip.

    ``shade``, from 0 to 1, is how dark its ground is.
    """
    shown = clean(token, LONGEST_TOKEN)
    whole = clean(token) if len(str(token)) > LONGEST_TOKEN else None
    words = join(shown, element("small", f" {note}")) if note else join(shown)
    ground = f"--shade:{DARKEST * shade:.0%}" if shade > 0 else None
    return element("span", words, class_="token", title=whole, style=ground)


def chips(tokens: Sequence[Token], most: int = MOST_ROWS) -> Markup:
    """Tokens side by side; of many, the first and how many more there are."""
    if not tokens:
        return Markup("–")
    shown = separated([chip(token) for token in tokens[:most]], " ")
    return join(shown, more(len(tokens) - most, "tokens"))


def separated(pieces: Iterable[Markup], separator: str) -> Markup:
    """Pieces with something between them."""
    return Markup(join(separator).join(pieces))


def count(many: int, one: str, several: str | None = None) -> str:
    """A number with its noun: ``1 sample``, ``2,000 samples``."""
    return f"{many:,} {one if many == 1 else several or f'{one}s'}"


def more(hidden: int, what: str) -> Markup | None:
    """What is not shown, if anything."""
    words = f" and {hidden:,} more {what}, not shown"
    return element("span", words, class_="more") if hidden > 0 else None


def more_line(hidden: int, what: str) -> Markup | None:
    """The same as a paragraph."""
    words = more(hidden, what)
    return None if words is None else element("p", "…", words)


def table(head: Sequence[str], rows: Sequence[Sequence[object]], total: int, what: str) -> Markup:
    """A table of the given rows, and below it how many of the total are missing.

    A column of whole numbers is aligned to the right; numbers of other kinds come as text.
    """
    look = [column_look([row[i] for row in rows]) for i in range(len(head))]
    top = [element("th", name, scope="col", class_=c) for name, c in zip(head, look, strict=True)]
    body = [
        element("tr", *[element("td", _cell(x), class_=c) for x, c in zip(row, look, strict=True)])
        for row in rows
    ]
    grid = element("table", element("thead", element("tr", *top)), element("tbody", *body))
    return join(scrolled(grid, what), more_line(total - len(rows), what))


def column_look(cells: Sequence[object]) -> str | None:
    """How a column looks: numbers to the right; sentences get room, and the page scrolls."""
    if cells and all(isinstance(cell, int) for cell in cells):
        return "number"
    letters = [re.sub("<[^>]*>", "", str(cell)) for cell in cells]
    return "prose" if any(len(text) > LONG_CELL for text in letters) else None


def scrolled(content: Markup, label: str, look: str = "wide") -> Markup:
    """Content that scrolls sideways where it is wider than the page, by keys as well."""
    return element("div", content, class_=look, tabindex=0, role="group", aria_label=label)


def _cell(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def facts(rows: Iterable[tuple[object, object]]) -> Markup:
    """Names and values; values that are None are left out."""
    return element(
        "dl",
        *[
            join(element("dt", name), element("dd", value))
            for name, value in rows
            if value is not None
        ],
    )


def folded(title: str, *content: object) -> Markup:
    """Content behind a line that opens it."""
    return element("details", element("summary", title), *content)
