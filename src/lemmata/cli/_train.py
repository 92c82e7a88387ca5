"""``lemmata train``."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.table import Table

from lemmata._errors import InputError
from lemmata._files import make_folder, write_whole
from lemmata._plain import plain
from lemmata.corpus import is_store
from lemmata.papers import find_setting
from lemmata.report import cell, columns_of, write_training
from lemmata.settings import AbstractSetting, Run, options_in
from lemmata.training import Store

from ._corpus_training import train_store
from ._options import Flags, read_options
from ._progress import progress
from ._tables import side_by_side
from ._terminal import answers, messages, print_json

MOST_PROBLEMS = 12

FEW_COLUMNS = 5
MOST_DIGITS, LEAST_DIGITS = 9, 5
"""Of a number, with few columns and with more."""


def command(
    file: Path, setting: str, embeddings: Path | None, flags: Flags, out: Path, as_json: bool
) -> None:
    """Train, print what was recorded, and write it beside the runs."""
    if is_store(file):
        if setting != "mechanics" or embeddings is not None:
            raise InputError("a corpus takes no --setting and no --embeddings")
        train_store(file, flags, out, as_json)
        return
    home = find_setting(setting)
    options = {**options_in(file), **read_options(home, flags)}
    home.check(options)
    instances = home.read(file, embeddings)
    made = not out.exists()
    folder = make_folder(out)
    try:
        with progress() as track:
            run = home.train(instances, options, store=Store(folder / "runs"), track=track)
    except InputError:
        if made:
            with suppress(OSError):
                (folder / "runs").rmdir()
                folder.rmdir()
        raise
    document = plain(home.document(run))
    path = folder / "train" / f"{file.stem}.json"
    write_whole(path, f"{json.dumps(document, ensure_ascii=False, allow_nan=False)}\n".encode())
    page = write_training(path.parent, file.stem, home, run, file.name)
    if as_json:
        print_json(document)
        return
    _show(home, run)
    messages().print(f"recorded: [bold]{path}[/]", highlight=False)
    messages().print(f"page: [bold]{page}[/]", highlight=False)


def _show(home: AbstractSetting[Any], run: Run) -> None:
    console = answers()
    console.print(run.rule, highlight=False, markup=False)
    for i, instance in enumerate(run.instances):
        if len(run.instances) > 1:
            console.print(instance.name, style="bold", highlight=False, markup=False)
        for problem in instance.problems[:MOST_PROBLEMS]:
            text = f"{problem.code}: {problem.message} ({problem.where})"
            console.print(text, style="yellow", highlight=False, markup=False)
        if not run.trained[i]:
            console.print(f"not trained: {run.reasons[i]}", style="bold red", markup=False)
            continue
        for table in _tables(home, run, i, console.width):
            console.print(table)
        if run.reasons[i] is not None:
            console.print(run.reasons[i], style="bold red", markup=False)
        for asked in run.predictions[i] if run.predictions else ():
            console.print(str(asked), highlight=False, markup=False)


def _tables(home: AbstractSetting[Any], run: Run, i: int, width: int) -> list[Table]:
    """One row a record, one column a measurement; as many tables as the terminal's width needs."""
    columns = columns_of(home, run, i)
    digits = MOST_DIGITS if len(columns) <= FEW_COLUMNS else LEAST_DIGITS
    steps = ["t", *(f"{t:g}" for t in run.steps)]
    texts = [[title, *(cell(x, digits) for x in values)] for title, values in columns.items()]
    return side_by_side([steps, *texts], width)
