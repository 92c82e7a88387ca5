"""Nested values as HTML: tables where rows have the same shape, a line where they are short."""

from typing import Any

from lemmata._html import Markup, element, join
from lemmata._plain import plain
from lemmata.drawing import number

from ._pieces import column_look, scrolled


def show(value: Any) -> Markup:
    """Any result as a block; entries of a dictionary that need room get a heading of their own."""
    return _block(plain(value))


def line(value: Any) -> Markup:
    """Any result as running text: ``t = 30; samples = [a] -> b, [b] -> a``."""
    return _line(plain(value))


def _block(value: Any) -> Markup:
    if _is_table(value):
        return _table(value)
    if not isinstance(value, dict):
        return element("p", _line(value))
    blocks: list[Markup] = []
    short: dict[str, Any] = {}
    for name, item in value.items():
        if not _needs_room(item):
            short[name] = item
            continue
        if short:
            blocks.append(_pairs(short))
            short = {}
        blocks += [element("h4", name), _block(item)]
    return join(*blocks, _pairs(short) if short else None)


def _needs_room(value: Any) -> bool:
    """Whether there are containers inside containers."""
    inside = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(isinstance(x, dict | list) for x in inside)


def _line(value: Any) -> Markup:
    if isinstance(value, dict):
        return _separated([_named(name, item) for name, item in value.items()], ";")
    if isinstance(value, list):
        return _separated([_item(_line(item)) for item in value], ",")
    return join(_word(value))


def _named(name: str, value: Any) -> Markup:
    words = join(name, " = ", _line(value))
    return words if isinstance(value, dict | list) else _item(words)


def _item(words: Markup) -> Markup:
    """Words that move to the next line together if they fit there."""
    return element("span", words, class_="item")


def _separated(items: list[Markup], separator: str) -> Markup:
    return Markup(f"{separator} ".join(items)) if items else Markup("–")


def _word(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return str(value)


def _is_table(rows: Any) -> bool:
    """Whether these are dictionaries with the same keys."""
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, dict) and row and row.keys() == rows[0].keys() for row in rows)
    )


def _pairs(items: dict[str, Any]) -> Markup:
    rows = [
        element("tr", element("th", name, scope="row"), element("td", _line(item)))
        for name, item in items.items()
    ]
    return element("table", *rows, class_="pairs")


def _table(rows: list[dict[str, Any]]) -> Markup:
    style = {name: _style([row[name] for row in rows]) for name in rows[0]}
    head = [element("th", name, scope="col", class_=style[name]) for name in rows[0]]
    body = [
        element("tr", *[element("td", _line(row[name]), class_=style[name]) for name in row])
        for row in rows
    ]
    grid = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    return scrolled(grid, "numbers")


def _style(column: list[Any]) -> str | None:
    if all(isinstance(cell, int | float | None) for cell in column):
        return "number"
    return column_look([_line(cell) for cell in column])
