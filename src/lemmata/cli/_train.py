"""``lemmata train``."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from lemmata._errors import InputError
from lemmata._files import make_folder, write_whole
from lemmata._plain import plain
from lemmata.papers import find_setting
from lemmata.settings import AbstractSetting, Run, options_in
from lemmata.training import Store

from ._options import Flags, read_options
from ._progress import progress
from ._terminal import answers, messages, print_json

MOST_PROBLEMS = 12

FEW_COLUMNS = 5
"""So many leave room for nine digits."""


def command(
    file: Path, setting: str, embeddings: Path | None, flags: Flags, out: Path, as_json: bool
) -> None:
    """Train, print what was recorded, and write it beside the runs."""
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
    document = plain(run.document())
    path = folder / "train" / f"{file.stem}.json"
    write_whole(path, f"{json.dumps(document, ensure_ascii=False, allow_nan=False)}\n".encode())
    if as_json:
        print_json(document)
        return
    _show(home, run)
    messages().print(f"recorded: [bold]{path}[/]", highlight=False)


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
        console.print(_table(home, run, i))
        if run.reasons[i] is not None:
            console.print(run.reasons[i], style="bold red", markup=False)
        for asked in run.predictions[i] if run.predictions else ():
            text = f"{asked.input} -> {asked.next}  (probability {asked.probability:.4f})"
            console.print(text, highlight=False, markup=False)


def _table(home: AbstractSetting[Any], run: Run, i: int) -> Table:
    """One row a record, one column a measurement; then the losses of other tasks, if any."""
    columns: dict[str, Any] = {"t": run.steps}
    columns |= {
        column.title: run.evidence.columns[column.name][i]
        for column in home.columns
        if column.title
        and column.name in run.evidence.columns
        and not np.isnan(run.evidence.columns[column.name][i]).all()
    }
    extras = run.extras[i] if run.extras else {}
    columns |= {f"loss {task}": losses for task, losses in extras.get("tests", {}).items()}
    digits = 9 if len(columns) <= FEW_COLUMNS + 1 else 5
    table = Table(*columns, box=None)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*("-" if np.isnan(value) else f"{value:.{digits}g}" for value in row))
    return table
