"""A process that computes for pages: one job at a time, news through a pipe."""

import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any

from lemmata._errors import InputError

from ._jobs import HaltedError, Jobs
from ._requests import Ask

WAIT = 0.05


def work(pipe: Connection, halt: Event, hold: Event, own: str | None, folder: str) -> None:
    """Do jobs until the pipe is closed.

    Args:
        pipe: (number, ask) comes in; (number, kind of news, news) goes out.
        halt: set to stop the job at hand.
        hold: set to let it wait.
        own: a file with a setting, from the command line.
        folder: a private place for the data of a job.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that serves
    number = 0

    def check_in() -> None:
        while hold.is_set() and not halt.is_set():
            time.sleep(WAIT)
        if halt.is_set():
            raise HaltedError

    def tell(news: dict[str, Any]) -> None:
        pipe.send((number, "news", news))

    try:
        jobs = Jobs(own, check_in, tell)
    except InputError as error:
        pipe.send((0, "broken", str(error)))
        return
    os.chdir(folder)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send((0, "ready", None))
        while True:
            number, ask = pipe.recv()
            pipe.send((number, *_outcome(jobs, ask, tell)))


def _outcome(jobs: Jobs, ask: Ask, tell: Any) -> tuple[str, str | None]:
    """How a job ended; whatever goes wrong is told, not raised."""
    try:
        for news in jobs.run(ask):
            tell(news)
    except HaltedError:
        return "halted", None
    except InputError as error:
        return "refused", str(error)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise
    except MemoryError:
        return "refused", "there is not enough memory for this"
    except Exception as error:
        print(f"lemmata play: {ask.kind} failed: {error!r}", file=sys.stderr)
        return "refused", f"something unexpected went wrong: {type(error).__name__}: {error}"
    return "done", None
