"""Drawings as files."""

from pathlib import Path

from lemmata._files import write_whole
from lemmata.drawing import Drawing, picture_bytes


def save_drawing(drawing: Drawing, folder: Path, stem: str) -> dict[str, str]:
    """Write the picture as SVG and PDF; the same picture gives the same bytes.

    Parts of it are laid out for the first file, and stay where they are for the second.

    Args:
        drawing: what to write.
        folder: where results go.
        stem: the name without its ending; slashes in it become folders.

    Returns:
        The file names relative to the folder, by format.
    """
    names = {kind: f"{stem}.{kind}" for kind in ("svg", "pdf")}
    for kind, name in names.items():
        write_whole(folder / name, picture_bytes(drawing.picture, kind))
        drawing.picture.set_layout_engine(None)
    return names
