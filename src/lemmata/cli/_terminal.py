"""What all commands share: output, progress and errors."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from lemmata._errors import InputError

BAD_INPUT = 2
INTERRUPTED = 130

SILENCE = 2.0
"""Seconds after which a log hears of progress."""


def messages() -> Console:
    """Progress and messages go to standard error."""
    return Console(stderr=True)


def answers() -> Console:
    """Results go to standard output."""
    return Console()


def print_json(document: Any) -> None:
    """One JSON document of plain values on standard output, and nothing else."""
    sys.stdout.write(f"{json.dumps(document, ensure_ascii=False, allow_nan=False)}\n")


@contextmanager
def progress() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Progress on standard error: bars in a terminal, now and then a line elsewhere.

    Gives a function that starts a bar and returns its callback.
    """
    console = messages()
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as bars:

        def track(title: str, total: int) -> Callable[[int], None]:
            task = bars.add_task(title, total=total)
            return lambda done: bars.advance(task, done)

        yield track


def _lines(console: Console) -> Callable[[str, int], Callable[[int], None]]:
    """Progress for a log: a line after some seconds, then ever more rarely."""

    def track(title: str, total: int) -> Callable[[int], None]:
        start = time.monotonic()
        state = {"done": 0, "next": SILENCE}

        def advance(done: int) -> None:
            state["done"] += done
            passed = time.monotonic() - start
            if passed >= state["next"]:
                state["next"] = 2 * passed
                share = state["done"] / max(total, 1)
                text = f"{title}: {state['done']:,} of {total:,} ({share:.0%}) after {passed:.0f} s"
                console.print(text, highlight=False, markup=False)

        return advance

    return track


@contextmanager
def errors_for_people() -> Iterator[None]:
    """Turn bad input into one sentence and exit code 2, and Ctrl-C into a hint."""
    try:
        yield
    except InputError as error:
        messages().print(f"[bold red]error:[/] {_literal(error)}", highlight=False, soft_wrap=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        text = "stopped; the same command goes on where this one left off"
        messages().print(f"[bold]{text}[/]")
        sys.exit(INTERRUPTED)


def _literal(error: Exception) -> str:
    return str(error).replace("[", "\\[")
