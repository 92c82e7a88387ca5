"""``lemmata analyze`` on a whole corpus."""

import os
import re
from pathlib import Path
from typing import Any

from lemmata._errors import InputError
from lemmata._files import make_folder
from lemmata._plain import plain
from lemmata._verbs import analyze
from lemmata.corpus import (
    Choice,
    Corpus,
    Query,
    describe_choice,
    describe_corpus,
    describe_query,
    is_store,
)
from lemmata.report import write_corpus

from ._progress import progress
from ._terminal import announce, answers, messages, print_json

READING = ("window", "tokenizer", "min_count", "column", "held_out")
"""How a corpus is read; a store has been."""

COUNTING = ("memory", "workers", "scheduler")
ASKING = ("query", "context")

UNITS = {"": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}


def means_corpus(file: Path, given: dict[str, Any]) -> bool:
    """Whether a file is a corpus, or a store of one; refuses what would have no effect."""
    if is_store(file):
        _refuse(given, READING + COUNTING, "a store has been read and counted already")
        return True
    if given["window"] is not None or given["tokenizer"] is not None:
        return True
    _refuse(given, READING + COUNTING + ASKING, "it is for a corpus, which needs --window")
    if file.is_dir() or file.name.endswith((".gz", ".parquet")):
        raise InputError(f"{file} is read as a corpus, which needs --window (as in --window 32)")
    return False


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if given[name] is not None:
            raise InputError(f"--{name.replace('_', '-')} has no effect: {why}")


def analyze_corpus(file: Path, out: Path | None, as_json: bool, given: dict[str, Any]) -> None:
    """Count what is not counted yet; tell about the whole, a last token or a context."""
    query, context = given.pop("query"), given.pop("context")
    options = {name: value for name, value in given.items() if value is not None}
    if "memory" in options:
        options["memory"] = read_size(options["memory"])
    if is_store(file):
        if out is not None:
            raise InputError("--out has no effect: a store stays where it is")
        corpus = Corpus(file)
    else:
        options.setdefault("workers", os.cpu_count() or 1)
        folder = make_folder((out or Path("lemmata-out")) / "analyze")
        with progress() as track:
            store = folder / store_name(file)
            corpus = analyze(file, store=store, track=track, announce=announce, **options)
    _tell(corpus, query, context, as_json)


def store_name(file: Path) -> str:
    """A store is named after its file or folder."""
    return re.sub(r"(\.(txt|jsonl|parquet))?(\.gz)?$", "", file.resolve().name) or "corpus"


def read_size(text: str) -> int:
    """A number of bytes, as in 2GB."""
    match = re.fullmatch(r"([0-9.]+)\s*([a-z]*)", text.strip().lower())
    try:
        return int(float(match[1]) * UNITS[match[2]]) if match else int(text)
    except (KeyError, ValueError) as error:
        raise InputError(f"--memory takes a size, as in 512MB or 2GB; got '{text}'") from error


def _tell(corpus: Corpus, query: str | None, context: str | None, as_json: bool) -> None:
    asked: Query | None = None if query is None else corpus[query]
    choice: Choice | None = None if context is None else corpus.choose(context)
    if asked is None and choice is None:
        page = write_corpus(corpus)
        messages().print(f"store: [bold]{corpus.folder}[/]", highlight=False)
        messages().print(f"report: [bold]{page}[/]", highlight=False)
    if as_json:
        document = corpus.document() if asked is None and choice is None else {}
        document |= {} if asked is None else {"query": asked.document()}
        document |= {} if choice is None else {"choice": choice}
        print_json(plain(document))
        return
    console = answers()
    items = [] if asked is None else list(describe_query(asked))
    if choice is not None:
        items += describe_choice(choice, corpus[choice.query])
    for item in items or describe_corpus(corpus):
        console.print(item, highlight=False)
