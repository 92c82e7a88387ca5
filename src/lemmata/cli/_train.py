"""``lemmata train``."""

from pathlib import Path
from typing import Any

from rich.table import Table

from lemmata._errors import InputError
from lemmata._files import make_folder
from lemmata.cli._files import read, setting_of
from lemmata.cli._terminal import answers, print_json, progress_bars
from lemmata.report import plain

COLUMNS = {
    "steps": "t",
    "log_loss": "log loss",
    "norm": "norm",
    "correlation": "correlation",
    "one_minus_correlation": "1 - correlation",
    "cyclic_distance": "distance to W^cyc",
}

MOST_PROBLEMS = 12


def train(
    file: Path,
    setting: str,
    embeddings: Path | None,
    options: dict[str, Any],
    record: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Train and print what was recorded."""
    room = setting_of(setting)
    request = room.TrainingRequest(**options, record=_steps(record))
    instances = read(file, embeddings, prefixes=room.PREFIXES)
    request.validate(instances)
    from lemmata.training import Store

    store = Store(make_folder(out) / "runs")
    with progress_bars() as track:
        answer = plain(room.train(instances, request, store=store, track=track))
    if as_json:
        print_json(answer)
    else:
        _show(answer)


def _steps(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError as error:
        raise InputError(f"--record takes step numbers like 1,100,900; got '{text}'") from error


def _show(answer: dict[str, Any]) -> None:
    console = answers()
    console.print(answer["rule"], highlight=False, markup=False)
    for instance in answer["instances"]:
        for problem in instance["problems"][:MOST_PROBLEMS]:
            text = f"{problem['code']}: {problem['message']} ({problem['where']})"
            console.print(text, style="yellow", highlight=False, markup=False)
        if not instance["trained"]:
            console.print(f"not trained: {instance['reason']}", style="bold red", markup=False)
            continue
        columns = {name: title for name, title in COLUMNS.items() if instance[name] is not None}
        table = Table(*columns.values(), box=None)
        for row in zip(*(instance[name] for name in columns), strict=True):
            table.add_row(*("-" if value is None else f"{value:.9g}" for value in row))
        console.print(table)
        for prediction in instance.get("predictions", ()):
            chance = prediction["probability"]
            text = f"{prediction['input']} -> {prediction['next']}  (probability {chance:.4f})"
            console.print(text, highlight=False, markup=False)
