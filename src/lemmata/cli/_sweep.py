"""``lemmata sweep``."""

import os
from pathlib import Path

from lemmata._files import make_folder, write_json, write_whole
from lemmata._plain import plain
from lemmata.report import save_drawing
from lemmata.sweeps import SweepTable, draw_sweep, sweep

from ._progress import progress
from ._tables import side_by_side
from ._terminal import announce, answers, print_json

MOST_ROWS = 60
"""Rows of the table in a terminal; the file has them all."""


def command(
    target: str,
    over: list[str],
    zip: bool,
    seeds: int,
    measure: str,
    workers: int | None,
    scheduler: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run what is missing, print the table, and write pictures with the table beside them."""
    folder = make_folder(out / "sweep" / _folder(target))
    with progress() as track:
        table = sweep(
            target,
            over or (),
            together=zip,
            seeds=seeds,
            measure=[name for name in measure.split(",") if name],
            out=folder / "results",
            workers=(os.cpu_count() or 1) if workers is None else workers,
            scheduler=scheduler,
            track=track,
            announce=announce,
        )
    document = plain(table.document())
    write_json(folder / "table.json", document)
    write_whole(folder / "table.csv", table.csv().encode())
    for old in folder.glob("picture.*"):
        old.unlink()
    drawing = draw_sweep(table) if len(table.varied) in (1, 2) else None
    files = [] if drawing is None else list(save_drawing(drawing, folder, "picture").values())
    if as_json:
        print_json(document)
        return
    _show(table)
    for name in ("table.csv", *files):
        announce(f"{folder / name}")


def _folder(target: str) -> str:
    """A folder for a target: a file's path does not lead out of it."""
    return target.replace("::", "-").replace("/", "-").replace("..", "").lstrip(".-") or "target"


def _show(table: SweepTable) -> None:
    names = (*table.parameters, "seed", *table.measured)
    console = answers()
    texts = [[name, *(_text(row.get(name)) for row in table.rows[:MOST_ROWS])] for name in names]
    for part in side_by_side(texts, console.width, keys=len(table.parameters) + 1):
        console.print(part)
    if len(table) > MOST_ROWS:
        console.print(f"and {len(table) - MOST_ROWS:,} more")
    for fit in table.fits():
        console.print(fit.says, highlight=False, markup=False)
    for known, other in table.disagreements:
        text = f"two results for one task: {known} and {other}"
        console.print(text, style="bold red", highlight=False, markup=False)


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
