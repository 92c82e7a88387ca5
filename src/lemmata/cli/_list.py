"""``lemmata list``: read from the catalogue, so that nothing has to be loaded."""

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata._inventory import Item, inventory_of, summary

from ._terminal import print_json

CATALOGUE = Path(__file__).parents[1] / "papers" / "catalogue.json"
"""Read by its place, because asking the package for it would load all papers."""


def command(paper: str | None, coverage: bool, as_json: bool) -> None:
    """Papers, figures, claims, and what a setting takes, records and supposes, with one line each.

    With ``coverage``, what each paper says, item by item, and what covers it.
    """
    known = {entry["key"]: entry for entry in read_catalogue()["papers"]}
    if paper is not None and paper not in known:
        raise InputError(unknown_name("paper", paper, known))
    entries = list(known.values()) if paper is None else [known[paper]]
    if coverage:
        _show_coverage([entry["key"] for entry in entries], as_json)
        return
    if as_json:
        print_json({"papers": entries})
        return
    lines = [line for entry in entries for line in _lines(entry)]
    sys.stdout.write("\n".join(lines) + "\n")


def read_catalogue() -> dict[str, Any]:
    """The catalogue of this package; papers of other packages are loaded and added."""
    catalogue = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    if entry_points(group="lemmata.papers"):
        from lemmata.papers import catalogue_of, papers

        own = {entry["key"] for entry in catalogue["papers"]}
        others = [paper for key, paper in papers().items() if key not in own]
        catalogue["papers"] += catalogue_of(others)["papers"]
    return catalogue


def _lines(entry: dict[str, Any]) -> list[str]:
    """One line a thing, so that it can be searched when piped."""
    width = max((len(x["name"]) for x in (*entry["figures"], *entry["claims"])), default=0)
    lines = [f"{entry['key']}  {entry['authors']} {entry['year']}. {entry['title']}"]
    lines += [f"  {f['name']:<{width}}  {f['title']}" for f in entry["figures"]]
    lines += [f"  {c['name']:<{width}}  {c['statement']}" for c in entry["claims"]]
    for kind, named in (("train", "options"), ("column", "columns"), ("hypothesis", "hypotheses")):
        for thing in entry[named]:
            label = f"{kind} {thing.get('flag', thing['name'])}"
            lines.append(f"  {label:<{width}}  {thing['says']}")
    return lines


def _show_coverage(keys: list[str], as_json: bool) -> None:
    """The inventories of papers; one without is an error only if it is asked for alone."""
    listed = {key: items for key in keys if (items := inventory_of(key)) is not None}
    if not listed:
        raise InputError(f"nobody has listed what the paper {keys[0]} says")
    if as_json:
        documents = [
            {"key": key, "items": [item.document() for item in items]}
            for key, items in listed.items()
        ]
        print_json({"papers": documents})
        return
    lines = [line for key, items in listed.items() for line in _coverage_lines(key, items)]
    sys.stdout.write("\n".join(lines) + "\n")


def _coverage_lines(key: str, items: list[Item]) -> list[str]:
    """The counts, then one line an item."""
    covered = sum(item.covered for item in items)
    kinds = ", ".join(
        f"{kind} {total}" if total == done else f"{kind} {done} of {total}"
        for kind, total, done in summary(items)
    )
    width = max(len(item.item) for item in items)
    return [
        f"{key}: {covered} of {len(items)} items are covered ({kinds})",
        *(f"  {item.item:<{width}}  {item.about}  [{item.by}]" for item in items),
    ]
