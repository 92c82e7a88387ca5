"""A server with a crew that computes nothing, for what does not need one that does."""

import asyncio
import socket
import threading
import time
from typing import Any

import uvicorn

from lemmata.play._crew import Crew, Job
from lemmata.play._server import Beginning, make_app

TOKEN = "t" * 48


class IdleCrew(Crew):
    """Takes every job and does nothing about it."""

    def __init__(self, own: str | None = None):
        self.own = own
        self.loop = asyncio.get_running_loop()
        self.taken: list[Job] = []
        self.halted: list[Job] = []

    def submit(self, job: Job) -> None:
        self.taken.append(job)
        if job.ask.kind == "catalogue":
            job.tell("news", {"first": job.ask.setting, "settings": []})

    def halt(self, job: Job) -> None:
        self.halted.append(job)

    def hold(self, job: Job, wait: bool) -> None:
        job.held = wait  # type: ignore[attr-defined]

    def ready(self, role: str) -> None:
        """There is nobody."""

    def close(self) -> None:
        """There is nobody."""


class Served:
    """A server in a thread, and its crew."""

    def __init__(self) -> None:
        self.crews: list[IdleCrew] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        app = make_app(Beginning("mechanics"), TOKEN, self.port, self._hire)
        config = uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],))
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def _hire(self, own: str | None) -> IdleCrew:
        self.crews.append(IdleCrew(own))
        return self.crews[0]

    @property
    def crew(self) -> IdleCrew:
        return self.crews[0]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def tell(self, job: Job, kind: str, news: Any) -> None:
        """As a process would, from the loop of the server."""
        self.crew.loop.call_soon_threadsafe(job.tell, kind, news)

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()
