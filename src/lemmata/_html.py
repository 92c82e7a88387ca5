"""HTML that cannot be injected: whatever is not markup by construction is escaped."""

from collections.abc import Sequence
from html import escape

_VOID = frozenset({"img", "input", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """An element; children that are not markup are escaped, and None is left out.

    An attribute's trailing underscore is dropped and the others become hyphens; True stands for
    an attribute without a value.

    Examples:
        >>> element("p", "1 < 2", class_="note")
        '<p class="note">1 &lt; 2</p>'
    """
    words = [tag]
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words.append(f'{name}="{escape(str(value))}"')
    opening = f"<{' '.join(words)}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(*children)}</{tag}>")


def join(*children: object) -> Markup:
    """Children side by side, escaped where they are not markup."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(str(child))
            for child in children
            if child is not None
        )
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> Markup:
    """A small table, as notebooks show it."""
    cells = [element("tr", *[element("td", cell) for cell in row]) for row in rows]
    return element(
        "table",
        element("caption", caption, style="text-align:left") if caption else None,
        element("thead", element("tr", *[element("th", name) for name in head])),
        element("tbody", *cells),
    )
