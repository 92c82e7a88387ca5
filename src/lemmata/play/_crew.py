"""The processes that compute, and who does what: jobs wait in turn, and can be called off."""

import asyncio
import itertools
import multiprocessing
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ._requests import Ask

ROLES: Mapping[str, str] = {
    "catalogue": "reading",
    "analyze": "reading",
    "statement": "reading",
    "prepare": "training",
    "train": "training",
    "glance": "judging",
    "judge": "judging",
    "attack": "judging",
}
"""Reading must not wait for training, nor training for a long attack."""

MOST = {"reading": 1, "training": 2, "judging": 2}
"""Processes of each role."""

PATIENCE = 30.0
"""Seconds after which a job that does not stop is ended with its process: compiling cannot be
called off, and a process that has compiled something is worth keeping."""

LONGEST = {"analyze": 30.0}
"""Seconds that a job of a kind may take, once its process is there."""

Tell = Callable[[str, Any], None]
"""Called with ``news``, ``done``, ``halted`` or ``refused``, and what goes with it."""


@dataclass(eq=False)
class Job:
    """Something to compute, and who wants to know."""

    ask: Ask
    tell: Tell
    number: int = field(default_factory=itertools.count(1).__next__)
    halted: bool = False


class Worker:
    """One process with its pipe; a thread listens to it."""

    def __init__(self, crew: "Crew", role: str):
        context = multiprocessing.get_context("spawn")
        self.crew, self.role = crew, role
        self.folder = tempfile.TemporaryDirectory(prefix="lemmata-play-")
        self.pipe, child = context.Pipe()
        self.halt, self.hold = context.Event(), context.Event()
        arguments = (child, self.halt, self.hold, crew.own, self.folder.name)
        self.process = context.Process(target=_begin, args=arguments, daemon=True)
        self.process.start()
        child.close()
        self.job: Job | None = None
        self.compiled: Ask | None = None
        self.there = False
        self.ends: asyncio.TimerHandle | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        message: tuple[int, str, Any] | None = (0, "", None)
        while message is not None:
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                message = None
            with suppress(RuntimeError):  # the loop is closed: nobody wants to know
                self.crew.loop.call_soon_threadsafe(self.crew.heard, self, message)

    def start(self, job: Job) -> None:
        """Begin a job."""
        self.job = job
        self.halt.clear()
        self.hold.clear()
        with suppress(OSError):  # it has died; the listener will say so
            self.pipe.send((job.number, job.ask))
        self.limit()

    def finish(self, kind: str) -> None:
        """The job has ended, in a way of this kind."""
        if self.job is not None and kind == "done" and self.job.ask.kind in ("prepare", "train"):
            self.compiled = self.job.ask
        self.job = None
        if self.ends is not None:
            self.ends.cancel()

    def limit(self) -> None:
        """End the process if its job takes too long; the time to load it does not count."""
        if self.there and self.job is not None and self.job.ask.kind in LONGEST:
            self.ends = self.crew.loop.call_later(LONGEST[self.job.ask.kind], self.end)

    def stop(self) -> None:
        """Call the job off, kindly at first."""
        self.halt.set()
        job = self.job
        self.crew.loop.call_later(PATIENCE, lambda: self.end() if self.job is job else None)

    def end(self) -> None:
        """End the process."""
        self.process.kill()

    def close(self) -> None:
        """After the process has ended."""
        if self.ends is not None:
            self.ends.cancel()
        self.folder.cleanup()


class Crew:
    """All processes, and the jobs that wait for one."""

    def __init__(self, own: str | None):
        self.own = own
        self.loop = asyncio.get_running_loop()
        self.workers: list[Worker] = []
        self.waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        """Compute something as soon as there is a process for it."""
        self.waiting.append(job)
        self._assign()

    def halt(self, job: Job) -> None:
        """Call a job off; it says ``halted`` when that is done."""
        job.halted = True
        if job in self.waiting:
            self.waiting.remove(job)
            job.tell("halted", None)
        for worker in self.workers:
            if worker.job is job:
                worker.stop()

    def hold(self, job: Job, wait: bool) -> None:
        """Let a job wait, or go on."""
        for worker in self.workers:
            if worker.job is job:
                (worker.hold.set if wait else worker.hold.clear)()

    def ready(self, role: str) -> None:
        """Have a process of this role."""
        if not any(worker.role == role for worker in self.workers):
            self.workers.append(Worker(self, role))

    def _assign(self) -> None:
        for job in list(self.waiting):
            mine = [worker for worker in self.workers if worker.role == ROLES[job.ask.kind]]
            if job.ask.kind == "prepare" and _has(mine, job.ask):
                self.waiting.remove(job)
                job.tell("done", None)
            elif (worker := self._choose(job, mine)) is not None:
                self.waiting.remove(job)
                worker.start(job)

    def _choose(self, job: Job, mine: list[Worker]) -> Worker | None:
        """A process for a job; None if it has to wait.

        Only the first one compiles beforehand, so that another one is free for who cannot wait. A
        program that is being compiled is waited for: nothing is compiled twice.
        """
        role = ROLES[job.ask.kind]
        if any(_prepares(worker, job) for worker in mine):
            return None
        open_to = mine[:1] if job.ask.kind == "prepare" else mine
        idle = [worker for worker in open_to if worker.job is None]
        idle.sort(key=lambda worker: not _same(worker.compiled, job.ask))
        if not idle and len(mine) < MOST[role] and (job.ask.kind != "prepare" or not mine):
            idle = [Worker(self, role)]
            self.workers += idle
        return idle[0] if idle else None

    def heard(self, worker: Worker, message: tuple[int, str, Any] | None) -> None:
        """What a process says; None if it has ended."""
        job = worker.job
        if message is None:
            self._lost(worker, job)
        elif message[1] == "ready":
            worker.there = True
            worker.limit()
        elif message[1] == "broken" and job is not None:
            worker.finish("refused")
            job.tell("refused", message[2])
        elif job is not None and message[0] == job.number:
            _, kind, news = message
            if kind != "news":
                worker.finish(kind)
                self._spare(job)
            if not job.halted or kind != "news":
                job.tell(kind, news)
        self._assign()

    def _spare(self, done: Job) -> None:
        """Once something is compiled: a process for who trains while the first one compiles."""
        mine = [worker for worker in self.workers if worker.role == "training"]
        if done.ask.kind == "prepare" and len(mine) < MOST["training"]:
            self.workers.append(Worker(self, "training"))

    def _lost(self, worker: Worker, job: Job | None) -> None:
        if worker in self.workers:
            self.workers.remove(worker)
        worker.close()
        if job is not None and job.halted:
            job.tell("halted", None)
        elif job is not None:
            job.tell("refused", "this took too long, or too much memory, and was ended")

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers:
            worker.end()
            worker.process.join()
            worker.close()
        self.workers = []


def _same(known: Ask | None, ask: Ask) -> bool:
    """Whether two ask for the same training."""
    return known is not None and known.training == ask.training


def _has(workers: list[Worker], ask: Ask) -> bool:
    """Whether the program of this training is compiled, or will be without being asked for."""
    trained = [w.job.ask for w in workers if w.job is not None and w.job.ask.kind == "train"]
    return any(_same(known, ask) for known in (*trained, *(w.compiled for w in workers)))


def _prepares(worker: Worker, job: Job) -> bool:
    """Whether a process is compiling what this job needs."""
    current = worker.job
    return (
        current is not None
        and current.ask.kind == "prepare"
        and not current.halted
        and _same(current.ask, job.ask)
    )


def _begin(*arguments: Any) -> None:
    """What a new process does; it loads JAX, which this one never does."""
    import_module("lemmata.play._worker").work(*arguments)
