"""The one error that a user is meant to see."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""


class StatementError(InputError):
    """A statement of the user's that raises, or gives something that is no comparison."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is not known, which is nearest, and which there are."""
    names = [str(other) for other in known]
    lower = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), list(lower), n=1, cutoff=0.5)
    hint = f"; did you mean '{lower[close[0]]}'?" if close else ""
    shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
    return f"unknown {what} '{name}'{hint} (known: {shown or 'none'})"
