"""``lemmata train``."""

from pathlib import Path
from typing import Any

from rich.table import Table

from lemmata._errors import InputError
from lemmata._files import make_folder
from lemmata.cli._files import setting_of
from lemmata.cli._terminal import answers, print_json, progress_bars
from lemmata.report import plain

COLUMNS = {
    "steps": "t",
    "log_loss": "log loss",
    "loss": "loss",
    "norm": "norm",
    "correlation": "correlation",
    "one_minus_correlation": "1 - correlation",
    "cyclic_distance": "distance to W^cyc",
    "alpha": "alpha",
    "C": "C",
    "missed": "attention missed",
    "cosine_V": "cosine of V",
    "cosine_W": "cosine of W",
    "gap": "loss - L*",
    "guarantee": "at most (18)",
    "in_domain": "error in domain",
    "out_of_domain": "out of domain",
    "moved_Q": "Q moved by",
}
"""What a setting may record; it is shown in this order."""

MOST_PROBLEMS = 12

FEW_COLUMNS = 5
"""So many leave room for nine digits."""


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
    asked = {name: value for name, value in options.items() if value is not None}
    request = room.TrainingRequest(**asked, record=_steps(record))
    instances = room.read(file, embeddings)
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
        console.print(_table(instance))
        if instance.get("diverged") is not None:
            console.print(instance["reason"], style="bold red", markup=False)
        for prediction in instance.get("predictions", ()):
            chance = prediction["probability"]
            text = f"{prediction['input']} -> {prediction['next']}  (probability {chance:.4f})"
            console.print(text, highlight=False, markup=False)


def _table(instance: dict[str, Any]) -> Table:
    """One row a record, one column a measurement; then the losses of other tasks, if any."""
    columns = {
        title: instance[name] for name, title in COLUMNS.items() if instance.get(name) is not None
    }
    columns |= {f"loss {task}": losses for task, losses in instance.get("tests", {}).items()}
    digits = 9 if len(columns) <= FEW_COLUMNS else 5
    table = Table(*columns, box=None)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*("-" if value is None else f"{value:.{digits}g}" for value in row))
    return table
