"""Formulas in what a page is told: MathML for every text that has some."""

from collections.abc import Iterator
from typing import Any

from lemmata._mathml import mathematics

SHOWN = frozenset(
    {"about", "broken", "goal_title", "head", "open"}
    | {"ranges", "rule", "says", "statement", "title"}
)
"""Under these names stand texts in which letters are mathematics."""

WORDS = frozenset({"examples", "options", "problems"})
"""In these, letters are words: of the data, or of the command line."""

LONGEST = 4_000


def with_formulas(news: dict[str, Any]) -> dict[str, Any]:
    """The news, and markup for its texts; the texts themselves stay as they are."""
    markup = {text: mathematics(text) for text in set(_texts(news))}
    return {**news, "formulas": {text: html for text, html in markup.items() if "<" in html}}


def _texts(value: Any, shown: bool = False) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in WORDS:
                yield from _texts(item, name in SHOWN)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, shown)
    elif isinstance(value, str) and shown and len(value) <= LONGEST:
        yield value
