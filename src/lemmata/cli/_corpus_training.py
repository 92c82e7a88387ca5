"""``lemmata train`` on the store of a corpus."""

import json
from pathlib import Path
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata._files import make_folder, write_whole
from lemmata._plain import plain
from lemmata._verbs import train
from lemmata.corpus import Corpus, CorpusRun, Scores

from ._options import Flags
from ._progress import progress
from ._tables import side_by_side
from ._terminal import answers, messages, print_json

KINDS: dict[str, tuple[str, Any]] = {
    "--algorithm": ("algorithm", str),
    "--lr": ("rate", float),
    "--steps": ("steps", int),
    "--batch": ("batch", int),
    "--seed": ("seed", int),
    "--record": ("record", lambda text: tuple(int(step) for step in text.split(","))),
}
"""The options of training on a corpus: the name of each, and how it is read."""


def train_store(file: Path, flags: Flags, out: Path, as_json: bool) -> None:
    """Train on a store, print what was recorded, and write it."""
    options: dict[str, Any] = {}
    for flag, text in flags:
        if flag not in KINDS:
            raise InputError(unknown_name("option of training on a corpus", flag, KINDS))
        name, kind = KINDS[flag]
        if name in options:
            raise InputError(f"{flag} is given twice")
        try:
            options[name] = kind(text)
        except ValueError as error:
            raise InputError(f"{flag} cannot be '{text}'") from error
    with progress() as track:
        run: CorpusRun = train(Corpus(file), track=track, **options)
    document = plain(run.document())
    path = make_folder(out / "train") / f"{run.corpus.name}.json"
    write_whole(path, f"{json.dumps(document, ensure_ascii=False, allow_nan=False)}\n".encode())
    if as_json:
        print_json(document)
        return
    _show(run)
    messages().print(f"recorded: [bold]{path}[/]", highlight=False)


def _show(run: CorpusRun) -> None:
    console = answers()
    console.print(run.training.says, highlight=False, markup=False)
    texts = [["t", *(f"{step:g}" for step in run.steps)]]
    for name, values in run.columns.items():
        texts.append([name.replace("_", " "), *(f"{value:.5g}" for value in values)])
    for table in side_by_side(texts, console.width):
        console.print(table)
    for words in _told(run.scores):
        console.print(words, highlight=False, markup=False)


def _told(scores: Scores | None) -> list[str]:
    """The held-out part in words."""
    if scores is None:
        return ["nothing was held out: analyze with --held-out 0.1 to compare predictions"]
    n = scores.samples
    right = [
        f"{name} {getattr(scores, name) / n:.1%}"
        for name in ("trained", "limit", "bigram", "induction")
    ]
    return [
        f"held out: {n:,} samples, {scores.reached / n:.1%} with the label in the window",
        f"next token right: {', '.join(right)}",
        f"trained attention and the limit select the same token in {scores.agree / n:.1%}",
    ]
