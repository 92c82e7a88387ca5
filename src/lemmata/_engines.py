"""Where tasks run: here, in processes of this machine, or on a Dask cluster.

A task is a value that can travel, and ``work`` a function at the top of a module. Processes are
spawned, because JAX does not survive a fork. A worker that dies takes its tasks with it; they are
handed out again, a few times.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, TypeVar

from ._errors import InputError

MOST_LOSSES = 100
"""How often workers may die before all is given up."""

IN_FLIGHT = 3
"""Tasks that are handed out at a time, for each worker."""

PATIENCE = 10.0
"""Seconds for which a cluster may be without a worker before it is said."""

LOOK = 0.02
"""Seconds between two looks at what a cluster has done."""

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

Work = Callable[[TaskT], ResultT]
Done = Iterator[tuple[TaskT, ResultT]]
Engine = Callable[[Sequence[TaskT]], Done[TaskT, ResultT]]
Announce = Callable[[str], None]


def here(work: Work[TaskT, ResultT]) -> Engine[TaskT, ResultT]:
    """One task after the other, in this process."""
    return lambda tasks: ((task, work(task)) for task in tasks)


def processes(work: Work[TaskT, ResultT], workers: int | None = None) -> Engine[TaskT, ResultT]:
    """In spawned processes of this machine, as many as it has processors."""
    count = workers or os.cpu_count() or 1

    def run(tasks: Sequence[TaskT]) -> Done[TaskT, ResultT]:
        waiting, losses = list(tasks), 0
        while waiting:
            try:
                for task, result in _in_a_pool(work, waiting, min(count, len(waiting))):
                    waiting.remove(task)
                    yield task, result
            except BrokenProcessPool as error:
                losses += 1
                if losses > MOST_LOSSES:
                    raise InputError(
                        f"workers died {losses} times; is there enough memory?"
                    ) from error

    return run


def end_with_parent() -> None:
    """What a spawned process does first: if the command that wants its work is killed, it ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "only a spawned process has a parent"

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_it, daemon=True).start()


def _in_a_pool(
    work: Work[TaskT, ResultT], tasks: Sequence[TaskT], workers: int
) -> Done[TaskT, ResultT]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, end_with_parent)
    try:
        yield from _handed_out(tasks, workers, lambda task: pool.submit(work, task))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _handed_out(
    tasks: Sequence[TaskT], workers: int, submit: Callable[[TaskT], Any]
) -> Iterator[tuple[TaskT, Any]]:
    """Results as they come, with few tasks handed out at a time."""
    rest, running = list(tasks), {}
    while rest or running:
        while rest and len(running) < IN_FLIGHT * workers:
            task = rest.pop(0)
            running[submit(task)] = task
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            yield running.pop(future), future.result()


def dask(
    work: Work[TaskT, ResultT],
    address: str,
    announce: Announce = lambda _: None,
    patience: float = PATIENCE,
) -> Engine[TaskT, ResultT]:
    """On the workers of a running Dask scheduler, which needs lemmata on every one of them.

    ``announce`` is told when no worker has been there for so many seconds, and when one has come:
    a queue of a cluster may take hours, so that waiting is no error.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("--scheduler needs Dask: pip install 'lemmata[cluster]'") from error

    def run(tasks: Sequence[TaskT]) -> Done[TaskT, ResultT]:
        try:
            client = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
        with client:
            yield from _on_cluster(client, work, tasks, _Hands(client, announce, patience))

    return run


class _Hands:
    """Says when a cluster has been without workers for some time, and when it has some again."""

    def __init__(self, client: Any, announce: Announce, patience: float) -> None:
        self._client, self._announce, self._patience = client, announce, patience
        self._seen = self._asked = time.monotonic()
        self._missed = False

    def look(self) -> None:
        """Ask the scheduler, some times in the span of patience."""
        now = time.monotonic()
        if now - self._asked < self._patience / 5:
            return
        self._asked = now
        if self._client.nthreads():
            if self._missed:
                self._announce("a worker has joined the cluster")
            self._seen, self._missed = now, False
        elif now - self._seen > self._patience and not self._missed:
            self._announce(
                "no worker is on the cluster; it goes on when one joins (dask worker ADDRESS), and "
                "what is done is kept if you stop it"
            )
            self._missed = True


def _on_cluster(
    client: Any, work: Work[TaskT, ResultT], tasks: Sequence[TaskT], hands: _Hands
) -> Done[TaskT, ResultT]:
    import distributed

    losses = 0

    def submit(task: TaskT) -> Any:
        return client.submit(work, task, pure=False, retries=0)

    running = {submit(task): task for task in tasks}
    queue = distributed.as_completed(running, loop=client.loop)
    while running:
        finished = queue.next_batch(block=False)
        if not finished:
            hands.look()
            time.sleep(LOOK)
        for future in finished:
            task = running.pop(future)
            try:
                result = future.result()
            except (distributed.KilledWorker, OSError) as error:
                losses += 1
                if losses > MOST_LOSSES:
                    raise InputError(
                        f"workers died {losses} times; is there enough memory?"
                    ) from error
                again = submit(task)
                running[again] = task
                queue.add(again)
                continue
            with suppress(Exception):
                future.release()
            yield task, result
