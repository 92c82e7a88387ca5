"""Starting the server: the port, the token, the address to open."""

import os
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from lemmata._errors import InputError

from ._requests import LONGEST_DATA, SUFFIXES
from ._server import Beginning, make_app

HOST = "127.0.0.1"
PORT = 8470
OTHER_PORTS = 20
"""If the usual one is taken, so many after it are tried."""


def serve(
    file: Path | None,
    setting: str,
    port: int | None,
    *,
    open_page: bool,
    say: Callable[[str], None],
) -> None:
    """Serve the page until interrupted.

    Args:
        file: data to open with.
        setting: the name of a setting, or a file with one.
        port: any free one near the usual one if left out.
        open_page: whether to open a browser.
        say: told the address.
    """
    beginning = _beginning(file, setting)
    listener = _listen(port)
    number = listener.getsockname()[1]
    token = _token()
    address = f"http://{HOST}:{number}/{token}/"
    config = uvicorn.Config(
        make_app(beginning, token, number),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ws="none",
    )
    say(address)
    if open_page:
        with suppress(webbrowser.Error):
            webbrowser.open(address)
    with listener, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listener])


def _beginning(file: Path | None, setting: str) -> Beginning:
    own = setting if setting.split("::")[0].endswith(".py") else None
    if own is not None:
        own = str(Path(own).resolve())
    if file is None:
        return Beginning(setting, own)
    if file.suffix not in SUFFIXES:
        raise InputError(f"{file}: the page takes {', '.join(SUFFIXES)}")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text (byte {error.start})") from error
    if len(text) > LONGEST_DATA:
        raise InputError(
            f"{file}: {len(text):,} characters are too many for a page (at most "
            f"{LONGEST_DATA:,}); lemmata analyze and lemmata train take any size"
        )
    return Beginning(setting, own, text, file.suffix)


def _listen(port: int | None) -> socket.socket:
    """A socket at a port of this machine that nobody else can reach."""
    ports = list(range(PORT, PORT + OTHER_PORTS)) if port is None else [port]
    while True:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, ports.pop(0)))
        except (OSError, OverflowError) as error:
            listener.close()
            if not ports:
                raise InputError(f"cannot listen: {error}; say another --port") from error
        else:
            listener.listen()  # so that a browser which comes too early waits
            return listener


def _token() -> str:
    """A secret that nobody can guess; the same after a restart, so that open pages go on.

    It is kept where only the user can read it; where that cannot be, it lasts for this run.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = home / "lemmata" / "play-token"
    with suppress(OSError, ValueError):
        kept = place.read_text(encoding="ascii").strip()
        if len(kept) >= 32 and kept.isalnum() and place.stat().st_mode & 0o077 == 0:
            return kept
    token = secrets.token_hex(24)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(token)
    return token
