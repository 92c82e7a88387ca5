"""Options of training as typed, read by the schema of a setting."""

from collections.abc import Sequence
from typing import Any

from lemmata._errors import InputError, unknown_name
from lemmata.settings import AbstractSetting

Flags = Sequence[tuple[str, str]]


def read_options(setting: AbstractSetting[Any], flags: Flags) -> dict[str, Any]:
    """The values of the options; one that the setting does not have is an error."""
    known = {option.flag: option for option in setting.options}
    values: dict[str, Any] = {}
    for flag, text in flags:
        if flag not in known:
            what = f"option of the {setting.key} setting"
            raise InputError(unknown_name(what, flag, known))
        option = known[flag]
        value = option.read(text)
        if option.many:
            values[option.name] = (*values.get(option.name, ()), value)
        elif option.name in values:
            raise InputError(f"{flag} is given twice")
        else:
            values[option.name] = value
    return values
