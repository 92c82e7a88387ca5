"""What all commands share: output and errors."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

from lemmata._errors import InputError

BAD_INPUT = 2
INTERRUPTED = 130


def messages() -> "Console":
    """Progress and messages go to standard error."""
    from rich.console import Console

    return Console(stderr=True)


def announce(line: str) -> None:
    """A line of its own between progress."""
    messages().print(line, highlight=False, markup=False)


def answers() -> "Console":
    """Results go to standard output."""
    from rich.console import Console

    return Console()


def print_json(document: Any) -> None:
    """One JSON document of plain values on standard output, and nothing else."""
    sys.stdout.write(f"{json.dumps(document, ensure_ascii=False, allow_nan=False)}\n")


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
