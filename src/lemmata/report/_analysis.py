"""The analysis of a user's sequences as a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lemmata._files import write_whole
from lemmata.report._html import element


def write_analysis(folder: Path, answer: Mapping[str, Any], *, source: str) -> Path:
    """Write ``index.html`` and return its path."""
    page = element("html", element("body", element("h1", source)))
    write_whole(folder / "index.html", f"<!DOCTYPE html>\n{page}\n".encode())
    return folder / "index.html"
