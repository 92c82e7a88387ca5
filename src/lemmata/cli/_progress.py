"""Progress for people: bars in a terminal, lines in a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from ._terminal import messages

SILENCE = 2.0
"""Seconds after which a log hears of progress."""


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


@contextmanager
def watching() -> Iterator[Callable[[str], None]]:
    """One line that changes in a terminal; elsewhere a line now and then."""
    console = messages()
    if console.is_terminal:
        with console.status("") as status:
            yield status.update
        return
    start = time.monotonic()
    state = {"next": SILENCE}

    def tell(line: str) -> None:
        passed = time.monotonic() - start
        if passed >= state["next"]:
            state["next"] = min(2 * passed, passed + 60)
            console.print(f"{line} after {passed:.0f} s", highlight=False, markup=False)

    yield tell


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
