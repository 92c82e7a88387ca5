"""The ledger of claims in a terminal."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rich import box
from rich.console import Console, ConsoleOptions
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lemmata.claims import Status, Verdict, worth

COLOURS = {
    Status.HOLDS: "green",
    Status.VACUOUS: "yellow",
    Status.FAILS: "bold red",
    Status.INAPPLICABLE: "blue",
    Status.UNDECIDED: "magenta",
}


NARROW = 100
"""Columns of a terminal in which a table would fold words into strips."""

INDENT = max(len(status.value) for status in Status) + 2


class LedgerTable:
    """Claims under the name of their paper: a row each, or a paragraph each where it is narrow.

    Words are taken literally, so that brackets in them are not markup.
    """

    def __init__(self, verdicts: Iterable[Verdict]) -> None:
        self.verdicts = list(verdicts)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Table | Text | Padding]:
        if options.max_width >= NARROW:
            yield _table(self.verdicts)
        else:
            yield from _paragraphs(self.verdicts)


def _by_paper(verdicts: list[Verdict]) -> Iterator[tuple[str, list[Verdict]]]:
    for paper, group in groupby(verdicts, key=lambda verdict: verdict.claim.split("/")[0]):
        yield paper, list(group)


def _paragraphs(verdicts: list[Verdict]) -> Iterator[Text | Padding]:
    """The status and the claim; then, indented, what its verdict is worth, and the reason."""
    for paper, group in _by_paper(verdicts):
        yield Text(paper, style="bold")
        for verdict in group:
            status = Text(verdict.status.value.ljust(INDENT), style=COLOURS[verdict.status])
            yield status + Text(verdict.claim.removeprefix(f"{paper}/"))
            margin = "" if verdict.margin is None else f"margin {_short(verdict.margin)}"
            numbers = ", ".join(filter(None, (margin, worth(verdict))))
            for words in filter(None, (numbers, verdict.reason)):
                yield Padding(Text(words), (0, 0, 0, INDENT))


def _table(verdicts: list[Verdict]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("status", no_wrap=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("margin", justify="right", no_wrap=True)
    table.add_column("worth", overflow="fold")
    table.add_column("reason", overflow="fold")
    for paper, group in _by_paper(verdicts):
        table.add_section()
        table.add_row("", Text(paper, style="bold"))
        for verdict in group:
            table.add_row(
                Text(verdict.status.value, style=COLOURS[verdict.status]),
                Text(verdict.claim.removeprefix(f"{paper}/")),
                Text(_short(verdict.margin)),
                Text(worth(verdict)),
                Text(verdict.reason),
            )
    return table


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
