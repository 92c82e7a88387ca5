"""Instances that show themselves: a line in a terminal, a table in a notebook."""

import abc
from typing import Any

from lemmata._html import table

MOST_ROWS = 12
"""Of a list in a notebook."""

LONGEST = 80
"""Letters of a value in a notebook."""


class Shown(abc.ABC):
    """What a file would hold, in short; for dataclasses that are made with ``repr=False``."""

    name: Any

    @property
    @abc.abstractmethod
    def summary(self) -> str:
        """Its sizes, in a line."""

    @abc.abstractmethod
    def document(self) -> dict[str, Any]:
        """What a file would hold."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.summary}>"

    def _repr_html_(self) -> str:
        rows = [row for name, value in self.document().items() for row in _rows(name, value)]
        return table(["", "in its file"], rows, f"{self.name}: {self.summary}")


def _rows(name: str, value: Any) -> list[tuple[str, str]]:
    """A value, or the first of a list of lists one by one."""
    if not isinstance(value, list | tuple):
        return [(name, _short(value))]
    if not any(isinstance(item, list | tuple | dict) for item in value):
        return [(name, _short(list(value)))]
    shown = [(f"{name}[{i}]", _short(item)) for i, item in enumerate(value[:MOST_ROWS])]
    hidden = len(value) - len(shown)
    return [*shown, (name, f"and {hidden} more")] if hidden else shown


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
