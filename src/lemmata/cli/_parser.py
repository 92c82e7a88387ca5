"""Reading the words of a command: whatever is wrong with them is said in a sentence."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from lemmata._errors import InputError, unknown_name

TRAINING = "flags"
"""Where options of training go: pairs of a flag and its value, in the order of typing."""


class Parser(ArgumentParser):
    """What follows the name of a command.

    A setting knows its own options of training and refuses all others, so that a command that
    trains takes whatever looks like one. What an unknown option may have meant is ``advice``.
    """

    trains: bool = False
    advice: str = ""

    def option(self, flag: str, says: str, **how: Any) -> None:
        """An option with a value, which is shown if it has a default."""
        default = how.get("default")
        shown = "" if default is None else f" [default: {default}]"
        self.add_argument(flag, help=says + shown, **how)

    def switch(self, flag: str, says: str, **how: Any) -> None:
        """An option without a value."""
        self.add_argument(flag, action="store_true", help=says, **how)

    def training(self, **options: str) -> None:
        """Options of training by what they are for; others may be typed as well."""
        self.trains = True
        for name, says in options.items():
            self.add_argument(f"--{name}", dest=TRAINING, metavar=name.upper(), help=says)

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The values of arguments and options, wherever they stand."""
        options, names, flags = self._sort(words)
        start = Namespace(**{TRAINING: flags}) if self.trains else Namespace()
        return vars(self.parse_args([*options, "--", *names] if names else options, start))

    def _sort(self, words: Sequence[str]) -> tuple[list[str], list[str], list[tuple[str, str]]]:
        """Options of the command, each with its value; names; and options of training."""
        options: list[str] = []
        names: list[str] = []
        flags: list[tuple[str, str]] = []
        known = self._option_string_actions
        rest = iter(words)
        for word in rest:
            if not word.startswith("-") or _is_number(word):
                names.append(word)
                continue
            flag, equals, value = word.partition("=")
            option = known.get(flag)
            if option is None and not (self.trains and flag.startswith("--")):
                said = unknown_name(f"option of {self.prog}", flag, known)
                raise InputError(said + self.advice)
            if option is not None and option.nargs == 0:
                options.append(word)
                continue
            if not equals:
                value = next(rest, "--")
                if value.startswith("--"):
                    raise InputError(f"{flag} needs a value")
            if option is None or option.dest == TRAINING:
                flags.append((flag, value))
            else:
                options.append(f"{flag}={value}")
        return options, names, flags

    def error(self, message: str) -> NoReturn:
        """Refuse, and say where to look."""
        raise InputError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def at_least_zero(kind: Callable[[str], float | int], words: str) -> Callable[[str], float | int]:
    """A reader of numbers that are not negative; ``words`` say what is expected."""

    def read(text: str) -> float | int:
        try:
            value = kind(text)
        except ValueError:
            value = -1
        if not value >= 0:
            raise ArgumentTypeError(f"takes {words} that is not negative; got '{text}'")
        return value

    return read


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
