"""Options of training: one schema a setting, for the command line and for Python alike."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from lemmata._errors import InputError, unknown_name

LARGEST_RATE = 1e60


@dataclass(frozen=True)
class Option:
    """Something that can be said about training.

    Attributes:
        name: the keyword in Python.
        flag: the option of the command line.
        says: what it is, with its usual value.
        parse: from text as typed; raises ``ValueError`` for what it cannot be.
        expects: what it takes, for messages: ``a number``.
        algorithms: the ones that it has an effect on; all of them if empty.
        choices: the words it may be, if there are only some.
        many: whether it may be given several times.
        words: words that mean something where it may also be a number, a text or a file.
        file: whether any other text is the path of a file.
        usual: its value where nothing is said, by algorithm if that matters; None if that
            depends on the data.
    """

    name: str
    flag: str
    says: str
    parse: Callable[[str], Any] = str
    expects: str = "a text"
    algorithms: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    many: bool = False
    words: tuple[str, ...] = ()
    file: bool = False
    usual: Any = None

    @property
    def is_number(self) -> bool:
        """Whether it says how far or how fast training goes, rather than what is trained."""
        return self.parse is not str

    def usual_for(self, algorithm: str | None) -> Any:
        """Its value where nothing is said."""
        if isinstance(self.usual, Mapping):
            return self.usual.get(algorithm)
        return self.usual

    def read(self, text: str) -> Any:
        """The value of what was typed."""
        try:
            return self.parse(text)
        except ValueError as error:
            raise InputError(f"{self.flag} takes {self.expects}; got '{text}'") from error


@dataclass(frozen=True)
class Parameter:
    """A size, or another choice, with which instances of a setting are made.

    Attributes:
        name: as the paper writes it: ``K``, ``d_e``.
        says: what it is.
        usual: its value where nothing is said.
        parse: from text as typed; raises ``ValueError`` for what it cannot be.
        choices: the words it may be, if there are only some.
    """

    name: str
    says: str
    usual: Any
    parse: Callable[[str], Any] = int
    choices: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """The value of what was typed, or of what was given as a value."""
        if self.choices and value not in self.choices:
            raise InputError(unknown_name(self.name, str(value), self.choices))
        try:
            return self.parse(value if isinstance(value, str) else f"{value}")
        except ValueError as error:
            kind = {int: "a whole number", float: "a number"}.get(self.parse, self.says)
            raise InputError(f"{self.name} takes {kind}; got '{value}'") from error


def step_numbers(text: str) -> tuple[int, ...]:
    """A parser of step numbers like 1,100,900."""
    return tuple(int(word) for word in text.split(","))


RECORD = Option(
    "record",
    "--record",
    "the steps to record; usually about sixty log-spaced ones",
    step_numbers,
    "step numbers like 1,100,900",
)


def whole_number(
    name: str,
    says: str,
    *algorithms: str,
    usual: Any = None,
    expects: str = "a whole number",
) -> Option:
    """A count, under its own name on the command line."""
    return Option(name, _flag(name), says, int, expects, algorithms, usual=usual)


def real_number(
    name: str, says: str, *algorithms: str, usual: Any = None, expects: str = "a number"
) -> Option:
    """A size, under its own name on the command line."""
    return Option(name, _flag(name), says, float, expects, algorithms, usual=usual)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def number_or(*words: str) -> Callable[[str], float | str]:
    """A parser of a number, or of one of some words."""

    def parse(text: str) -> float | str:
        return text if text in words else float(text)

    return parse


def check_options(setting: str, options: Sequence[Option], given: Mapping[str, Any]) -> None:
    """Refuse what the setting does not know, and what would have no effect."""
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            shown = ", ".join(f"{option.name} ({option.flag})" for option in options)
            raise InputError(f"unknown option of the {setting} setting '{name}'; it takes {shown}")
    _check_choices(known, given)
    for name, value in given.items():
        _check_number(known[name], value)
    algorithm = given.get("algorithm")
    usual = known["algorithm"].choices[0] if "algorithm" in known else ""
    name_of = algorithm if isinstance(algorithm, str) else usual
    for name, value in given.items():
        option = known[name]
        if value is not None and option.algorithms and name_of not in option.algorithms:
            fits = [o.flag for o in options if not o.algorithms or name_of in o.algorithms]
            raise InputError(
                f"{option.flag} ({name}) has no effect with algorithm {name_of}; it is for "
                f"{', '.join(option.algorithms)}. {name_of} takes {', '.join(fits)}"
            )


def _check_number(option: Option, value: Any) -> None:
    """Refuse what is no number where only a number can be meant."""
    if value is None or option.parse not in (int, float):
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or (option.parse is int and value != value // 1):
        raise InputError(f"{option.name} takes {option.expects}; got {value!r}")


def check_rate(value: float | int, name: str = "step size") -> None:
    """Refuse a step size that is none, or with which weights would have no norm."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"the {name} must be a positive number; got {value}")
    if value > LARGEST_RATE:
        raise InputError(f"a {name} of {value:g} is too large (at most {LARGEST_RATE:g})")


def _check_choices(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        choices = known[name].choices
        if choices and isinstance(value, str) and value not in choices:
            raise InputError(unknown_name(name, value, choices))
