"""What a run leaves behind for people and for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._files import write_json, write_whole
from lemmata.claims import Verdict

from ._overview import FigureEntry
from ._page import page


def write_report(
    folder: Path,
    *,
    title: str,
    figures: Sequence[FigureEntry],
    verdicts: Sequence[Verdict],
    settings: Mapping[str, Any],
    papers: Mapping[str, str] | None = None,
) -> Path:
    """Write ``verdicts.json`` and ``index.html``, which opens from disk.

    The page shows the files of the figures beside it and loads nothing else.

    Args:
        folder: where the figures are, and where the report goes.
        title: the heading of the page.
        figures: in the order of the page.
        verdicts: in the order of the ledger.
        settings: what the run was asked for.
        papers: their titles, by the first word of the names of claims and figures.

    Returns:
        The path of the page.
    """
    document = {
        "settings": settings,
        "verdicts": verdicts,
        "figures": [
            {
                "name": figure.name,
                "title": figure.title,
                "caption": figure.drawing.caption,
                "files": dict(figure.files),
                "numbers": figure.drawing.numbers,
                "claims": list(figure.claims),
            }
            for figure in figures
        ],
    }
    html = page(title, figures, verdicts, settings, papers or {})
    write_json(folder / "verdicts.json", document)
    write_whole(folder / "index.html", html.encode())
    return folder / "index.html"
