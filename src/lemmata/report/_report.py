"""What a run leaves behind for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._files import write_json, write_whole
from lemmata.claims import Verdict
from lemmata.drawing import Drawing

from ._page import page

FigureEntry = tuple[str, str, Drawing, Mapping[str, str]]
"""A figure's name and title, its drawing, and the files that ``save_drawing`` wrote."""


def write_report(
    folder: Path,
    *,
    title: str,
    figures: Sequence[FigureEntry],
    verdicts: Sequence[Verdict],
    settings: Mapping[str, Any],
) -> Path:
    """Write ``verdicts.json`` and ``index.html``, which opens from disk and loads nothing.

    Args:
        folder: where the figures are, and where the report goes.
        title: the heading of the page.
        figures: in the order of the page.
        verdicts: in the order of the ledger.
        settings: what the run was asked for.

    Returns:
        The path of the page.
    """
    document = {
        "settings": settings,
        "verdicts": verdicts,
        "figures": [
            {
                "name": name,
                "title": heading,
                "caption": drawing.caption,
                "files": dict(files),
                "numbers": drawing.numbers,
            }
            for name, heading, drawing, files in figures
        ],
    }
    sections = [
        (*entry, (folder / entry[3]["svg"]).read_text(encoding="utf-8")) for entry in figures
    ]
    html = page(title, sections, verdicts, settings)
    write_json(folder / "verdicts.json", document)
    write_whole(folder / "index.html", html.encode())
    return folder / "index.html"
