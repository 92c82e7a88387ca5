"""Tables whose numbers are never cut: as many, one below the other, as the width needs."""

from rich.table import Column, Table

GAP = 2
"""Spaces beside a column."""

Text = list[str]
"""A column of text: its title and its cells."""


def side_by_side(texts: list[Text], width: int, keys: int = 1) -> list[Table]:
    """Columns of text as tables that fit; each starts with the first ``keys`` columns.

    Titles are broken at their spaces if that is what it takes.
    """
    return [_table(group) for group in _groups(texts, width, keys)]


def _table(group: list[tuple[Text, int]]) -> Table:
    heads = (Column(text[0], justify="right", width=size) for text, size in group)
    table = Table(*heads, box=None)
    for row in zip(*(text[1:] for text, _ in group), strict=True):
        table.add_row(*row)
    return table


def _groups(texts: list[Text], width: int, keys: int) -> list[list[tuple[Text, int]]]:
    """Columns and their widths, as many in a group as fit."""
    whole = [max(map(len, text)) for text in texts]
    broken = [max(map(len, (*text[0].split(), *text[1:]))) for text in texts]
    sizes = whole if sum(whole) + GAP * len(whole) <= width else broken
    columns = list(zip(texts, sizes, strict=True))
    first, rest = columns[:keys], columns[keys:]
    groups, room = [list(first)], width - sum(size + GAP for _, size in first)
    for text, size in rest:
        if size + GAP > room and len(groups[-1]) > keys:
            groups.append(list(first))
            room = width - sum(size + GAP for _, size in first)
        groups[-1].append((text, size))
        room -= size + GAP
    return groups
