"""The catalogue: names, places and statements as data, for commands that load nothing else.

``python -m lemmata.papers`` writes it anew; a test compares it with the claims.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lemmata._files import write_whole

from ._paper import Paper, papers

PLACE = Path(__file__).parent / "catalogue.json"


def catalogue_of(chosen: Iterable[Paper]) -> dict[str, Any]:
    """What there is to list about papers."""
    return {"papers": [_entry(paper) for paper in chosen]}


def _entry(paper: Paper) -> dict[str, Any]:
    setting = paper.setting if paper.has_setting else None
    return {
        "key": paper.key,
        "title": paper.title,
        "authors": paper.authors,
        "year": paper.year,
        "figures": [{"name": f.name, "title": f.title} for f in paper.figures],
        "claims": [
            {"name": c.name, "where": c.where, "statement": c.statement} for c in paper.claims
        ],
        "options": [
            {"name": o.name, "flag": o.flag, "says": o.says}
            for o in (() if setting is None else setting.options)
        ],
        "columns": [
            {"name": c.name, "says": c.says} for c in (() if setting is None else setting.columns)
        ],
        "hypotheses": [
            {"name": h.name, "title": h.title, "says": h.says}
            for h in (() if setting is None else setting.hypotheses)
        ],
    }


def write_catalogue() -> None:
    """Write the catalogue of this package's own papers."""
    own = [paper for paper in papers().values() if isinstance(paper.contents, str)]
    own = [paper for paper in own if str(paper.contents).startswith("lemmata.papers.")]
    text = json.dumps(catalogue_of(own), indent=1, ensure_ascii=False)
    write_whole(PLACE, f"{text}\n".encode())
