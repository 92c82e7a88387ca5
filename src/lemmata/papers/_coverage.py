"""A page about what the papers say and what covers it, from the inventories."""

from collections.abc import Sequence

from lemmata._inventory import KINDS, Item, inventory_of

from ._paper import papers

HEAD = """# What is covered

Every definition, statement, display, remark with content, footnote, figure, experiment and
reported number of the four papers was listed, in the order of the papers. An item is covered by
claims or figures that would notice if it were false, or by the definition in code that it became.
`lemmata list --coverage` prints all of them (`lemmata list mechanics --coverage` those of one
paper, `--json` for programs). This page is made by `python -m lemmata.papers coverage`.
"""


def coverage() -> str:
    """The whole page."""
    listed = {key: items for key in papers() if (items := inventory_of(key)) is not None}
    return "\n".join([HEAD, *_table(listed), "", *_reasons(listed)]) + "\n"


def _table(listed: dict[str, list[Item]]) -> list[str]:
    """Items of each kind in each paper, and how many of them are covered."""
    rows = [f"| kind | {' | '.join(listed)} |", "|---|" + "---:|" * len(listed)]
    for kind in KINDS:
        cells = [_cell([item for item in items if item.kind == kind]) for items in listed.values()]
        if any(cells):
            rows.append(f"| {kind} | {' | '.join(cells)} |")
    rows.append(f"| all | {' | '.join(_cell(items) for items in listed.values())} |")
    return rows


def _cell(items: Sequence[Item]) -> str:
    covered = sum(item.covered for item in items)
    if not items:
        return ""
    return f"{covered:,}" if covered == len(items) else f"{covered:,} of {len(items):,}"


def _reasons(listed: dict[str, list[Item]]) -> list[str]:
    """What cannot be checked, and why."""
    lines = ["## What cannot be checked", "", "| paper | item | because |", "|---|---|---|"]
    for key, items in listed.items():
        lines += [
            f"| {key} | {_plain(item.item)} | {_plain(item.because)} |"
            for item in items
            if item.because and not (item.claims or item.figures or item.code)
        ]
    return lines


def _plain(text: str) -> str:
    """Words that do not end a cell."""
    return text.replace("|", "\\|")
