"""A figure as it came out."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Drawing:
    """The picture, its caption, and the numbers in it."""

    picture: Any
    caption: str
    numbers: dict[str, Any]
