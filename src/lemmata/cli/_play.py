"""``lemmata play``."""

from pathlib import Path

from lemmata._errors import InputError

from ._terminal import messages


def command(file: Path | None, setting: str, port: int | None, quiet: bool) -> None:
    """Serve the page until Ctrl-C."""
    try:
        from lemmata.play import serve
    except ImportError as error:
        raise InputError(
            f"the page needs {error.name}: install it with pip install 'lemmata[play]'"
        ) from error

    def say(address: str) -> None:
        messages().print(
            f"the page: [bold]{address}[/]\nCtrl-C ends it.", highlight=False, soft_wrap=True
        )

    serve(file, setting, port, open_page=not quiet, say=say)
