"""The ledger of claims in a terminal."""

from collections.abc import Iterable
from itertools import groupby

from rich import box
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


def terminal_table(verdicts: Iterable[Verdict]) -> Table:
    """One row a claim, under the name of its paper.

    Words are taken literally, so that brackets in them are not markup.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("status", no_wrap=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("margin", justify="right", no_wrap=True)
    table.add_column("worth", overflow="fold")
    table.add_column("reason", overflow="fold")
    for paper, group in groupby(verdicts, key=lambda verdict: verdict.claim.split("/")[0]):
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
