"""The one error that a user is meant to see."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""


class StatementError(InputError):
    """A statement of the user's that raises, or gives something that is no comparison."""


@contextmanager
def named(name: str) -> Iterator[None]:
    """Say of which statement something is wrong, unless that is said already."""
    try:
        yield
    except StatementError as error:
        if str(error).startswith(name):
            raise
        raise StatementError(f"{name}: {error}") from error


def line_in(error: BaseException, file: str) -> str:
    """Where in a file an error arose, as ``, line 5``; nothing if it arose elsewhere."""
    if isinstance(error, SyntaxError) and (error.filename is None or error.filename == file):
        return f", line {error.lineno}"
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f", line {lines[-1]}" if lines else ""


def told(error: BaseException, function: Callable[..., Any]) -> str:
    """What a function of the user's raised, and at which line of its file or cell."""
    file = function.__code__.co_filename if hasattr(function, "__code__") else ""
    line = line_in(error, file)
    name = Path(file).name if Path(file).is_file() else "in a cell"
    return f"raised {type(error).__name__}{f' ({name}{line})' if line else ''}: {error}"


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is not known, which is nearest, and which there are."""
    names = [str(other) for other in known]
    lower = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), list(lower), n=1, cutoff=0.5)
    hint = f"; did you mean '{lower[close[0]]}'?" if close else ""
    shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
    return f"unknown {what} '{name}'{hint} (known: {shown or 'none'})"
