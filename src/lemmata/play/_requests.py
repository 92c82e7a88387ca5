"""What a page may ask, checked before anything is done about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lemmata._errors import InputError

SUFFIXES = (".txt", ".json", ".jsonl")

LONGEST_DATA = 200_000
LONGEST_TEXT = 4_000
MOST_OPTIONS = 50
MOST_SECONDS = 120.0
"""Of an attack."""

KINDS = ("analyze", "prepare", "train", "glance", "judge", "statement", "attack")
"""What is computed; each has one place in a tab, and a new one takes it over."""

CONTROLS = ("hold", "go", "halt")
"""What is done about training."""


@dataclass(frozen=True)
class Ask:
    """Something to compute.

    Attributes:
        kind: one of ``KINDS``.
        setting: the name of a setting.
        text: the data, as in a file.
        suffix: of that file.
        options: options of training as typed, by their names in Python.
        claim: what to attack, for so many ``seconds``.
    """

    kind: str
    setting: str
    text: str = ""
    suffix: str = ".txt"
    options: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    claim: str = ""
    seconds: float = 10.0

    @property
    def training(self) -> tuple[Any, ...]:
        """What the program of a training depends on."""
        return self.setting, self.text, self.suffix, self.options

    @property
    def file(self) -> str:
        """The name of a file with the data."""
        return f"play{self.suffix}"


def read_ask(kind: str, said: Mapping[str, Any]) -> Ask:
    """A request as a value; what it must not say is refused."""
    suffix = _text(said, "suffix", 10, ".txt")
    if suffix not in SUFFIXES:
        raise InputError(f"suffix is one of {', '.join(SUFFIXES)}")
    seconds = said.get("seconds", 10.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InputError("seconds must be a number")
    if not 0 <= seconds <= MOST_SECONDS:
        raise InputError(f"seconds must be between 0 and {MOST_SECONDS:g}")
    return Ask(
        kind,
        _text(said, "setting", 100),
        _text(said, "text", LONGEST_DATA),
        suffix,
        _options(said.get("options", {})),
        _text(said, "claim", 200),
        float(seconds),
    )


def _text(said: Mapping[str, Any], name: str, longest: int, usual: str = "") -> str:
    value = said.get(name, usual)
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text")
    if len(value) > longest:
        raise InputError(f"{name} is longer than {longest:,} characters; use the command line")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(f"{name} holds characters that no text file has")
    return value


def _options(said: Any) -> dict[str, str | tuple[str, ...]]:
    if not isinstance(said, dict) or len(said) > MOST_OPTIONS:
        raise InputError("options must be an object of texts")
    return {
        name: tuple(_text({name: item}, name, LONGEST_TEXT) for item in value[:MOST_OPTIONS])
        if isinstance(value, list)
        else _text({name: value}, name, LONGEST_TEXT)
        for name, value in said.items()
    }
