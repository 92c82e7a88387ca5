"""Drawings as files."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from lemmata._files import write_whole
from lemmata.drawing import Drawing, style

_METADATA = {
    "svg": {"Date": None, "Creator": "Lemmata"},
    "pdf": {"CreationDate": None, "Creator": "Lemmata", "Producer": "Lemmata"},
}


def save_drawing(drawing: Drawing, folder: Path, stem: str) -> dict[str, str]:
    """Write the picture as SVG and PDF; the same picture gives the same bytes.

    Args:
        drawing: what to write.
        folder: where results go.
        stem: the name without its ending; slashes in it become folders.

    Returns:
        The file names relative to the folder, by format.
    """
    names = {}
    for kind, metadata in _METADATA.items():
        buffer = BytesIO()
        with style(), _without_font_gossip():
            drawing.picture.savefig(buffer, format=kind, metadata=metadata)
        names[kind] = f"{stem}.{kind}"
        write_whole(folder / names[kind], buffer.getvalue())
    return names


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
