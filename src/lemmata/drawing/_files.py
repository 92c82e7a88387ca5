"""Pictures as the bytes of a file; the same picture gives the same bytes."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from ._style import style

METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "Lemmata"},
    "pdf": {"CreationDate": None, "Creator": "Lemmata", "Producer": "Lemmata"},
    "png": {"Software": "Lemmata"},
}
"""What a file says about itself, by format: no dates."""


def picture_bytes(picture: Any, kind: str, look: Mapping[Any, Any] | None = None) -> bytes:
    """A matplotlib figure as ``svg``, ``pdf`` or ``png``; ``look`` changes the style."""
    import matplotlib

    content = BytesIO()
    with style(), matplotlib.rc_context(dict(look or {})), _without_font_gossip():
        picture.savefig(content, format=kind, metadata=METADATA[kind])
    return content.getvalue()


@contextmanager
def _without_font_gossip() -> Iterator[None]:
    """Keep quiet about the dates inside the Computer Modern fonts, which are of no consequence."""
    logger = logging.getLogger("fontTools")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
