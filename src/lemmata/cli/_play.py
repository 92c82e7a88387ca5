"""``lemmata play``."""

from pathlib import Path

from lemmata._errors import InputError, unknown_name

from ._list import read_catalogue
from ._terminal import messages


def command(file: Path | None, setting: str, port: int | None, quiet: bool) -> None:
    """Serve the page until Ctrl-C."""
    try:
        from lemmata.play import serve
    except ImportError as error:
        raise InputError(
            f"the page needs {error.name}: install it with pip install 'lemmata[play]'"
        ) from error
    _check_setting(setting)
    serve(file, setting, port, open_page=not quiet, say=_say)


def _check_setting(setting: str) -> None:
    """It is loaded later, by other processes; what is wrong with its name is said now."""
    if setting.split("::")[0].endswith(".py"):
        if not Path(setting.split("::")[0]).is_file():
            raise InputError(f"{setting}: there is no such file")
        return
    known = [entry["key"] for entry in read_catalogue()["papers"]]
    if setting not in known:
        raise InputError(unknown_name("setting", setting, known))


def _say(address: str) -> None:
    text = f"the page: [bold]{address}[/]\nCtrl-C ends it."
    messages().print(text, highlight=False, soft_wrap=True)
