"""An analysis as a page in the words of its setting: what the terminal says, as HTML."""

import re
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics

from ._pieces import clean, table

CITES = "Numbers in brackets, as in (1), are equations of the paper."

LOOKS = {"bold red": "caution", "yellow": "caution", "dim": "note"}
"""How a style of the terminal looks on a page."""


def article(items: Iterable[str | Text | Table]) -> Markup:
    """Bold lines as headings, other lines as paragraphs, tables as tables."""
    shown = [_table(item) if isinstance(item, Table) else _line(item) for item in items]
    cites = any(re.search(r"\s\(\d+\)", piece) for piece in shown)
    return element("article", *shown, element("p", CITES, class_="note") if cites else None)


def _line(line: str | Text) -> Markup:
    text = Text(line) if isinstance(line, str) else line
    if text.style == "bold":
        return element("h2", clean(text.plain))
    return element("p", mathematics(clean(text.plain)), class_=LOOKS.get(str(text.style)))


def _table(found: Table) -> Markup:
    head = [_heading(clean(column.header)) for column in found.columns]
    rows = [
        [clean(cell) for cell in row]
        for row in zip(*(column.cells for column in found.columns), strict=True)
    ]
    return element("div", table(head, rows, len(rows), "rows"), class_="exact")


def _heading(text: str) -> Markup:
    """A heading with its formulas; one that is nothing else is also told in letters, unseen."""
    shown = mathematics(text)
    if not (shown.startswith("<math>") and shown.endswith("</math>")):
        return shown
    letters = element("span", text, class_="unseen")
    return join(letters, element("span", shown, aria_hidden="true"))
