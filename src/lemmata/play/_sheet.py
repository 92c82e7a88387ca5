"""A request in the terms of its setting: instances and options, and the command for the same."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata.settings import AbstractSetting, Option, options_in

from ._requests import Ask

END = "END"


@dataclass(frozen=True)
class Sheet:
    """What is on a page.

    Attributes:
        ask: as the page said it.
        setting: what it belongs to.
        instances: what was read.
        options: of training: those of the data, and those of the page.
    """

    ask: Ask
    setting: AbstractSetting[Any]
    instances: list[Any]
    options: dict[str, Any]

    @property
    def command(self) -> str:
        """What to paste into a terminal for the same numbers."""
        end = END
        while end in self.ask.text.splitlines():
            end += "_"
        words = ["lemmata", "train", self.ask.file, "--setting", self.setting.key]
        for name, value in self.ask.options.items():
            flag = _option(self.setting, name).flag
            for text in value if isinstance(value, tuple) else (value,):
                words += [f"{flag}={text}"]
        text = self.ask.text if self.ask.text.endswith("\n") else f"{self.ask.text}\n"
        return f"cat > {self.ask.file} <<'{end}'\n{text}{end}\n{shlex.join(words)}\n"

    def shortened(self, steps: int) -> "Sheet":
        """The same training, stopped early."""
        record = self.options.get("record")
        kept = {} if not record else {"record": tuple(t for t in record if t <= steps) or (steps,)}
        return replace(self, options={**self.options, "steps": steps, **kept})

    @property
    def total(self) -> int | None:
        """How many steps there will be, as far as that is known before."""
        recorded = any(option.name == "record" for option in self.setting.options)
        return self.setting.steps_of(self.options) if recorded else None


def read_sheet(ask: Ask, setting: AbstractSetting[Any]) -> Sheet:
    """Read the data through a file of its own, in the working folder."""
    file = Path(ask.file)
    text = ask.text if not ask.text or ask.text.endswith("\n") else f"{ask.text}\n"
    file.write_text(text, encoding="utf-8", newline="")
    try:
        instances = setting.read(file)
        in_file = options_in(file)
    finally:
        file.unlink()
    options = {**in_file, **_read_options(setting, ask.options)}
    _refuse_files(setting, options)
    setting.check(options)
    return Sheet(ask, setting, instances, options)


def _read_options(
    setting: AbstractSetting[Any], said: Mapping[str, str | tuple[str, ...]]
) -> dict[str, Any]:
    """Options by the parsers that the command line uses."""
    values: dict[str, Any] = {}
    for name, value in said.items():
        option = _option(setting, name)
        if option.many:
            texts = value if isinstance(value, tuple) else (value,)
            values[name] = tuple(option.read(text) for text in texts)
        elif isinstance(value, tuple):
            raise InputError(f"{name} is given twice")
        else:
            values[name] = option.read(value)
    return values


def _option(setting: AbstractSetting[Any], name: str) -> Option:
    known = {option.name: option for option in setting.options}
    if name not in known:
        raise InputError(unknown_name(f"option of the {setting.key} setting", name, known))
    return known[name]


def _refuse_files(setting: AbstractSetting[Any], options: Mapping[str, Any]) -> None:
    """A page, or data on it, must not name a file to read."""
    for option in setting.options:
        value = options.get(option.name)
        if option.file and isinstance(value, str) and value not in option.words:
            words = " or ".join(option.words) or "nothing"
            raise InputError(f"{option.name} takes {words} here; files are for the command line")
