"""Where tasks run: here, in processes of this machine, or on a Dask cluster.

A task is a value that can travel, and ``work`` a function at the top of a module. Processes are
spawned, because JAX does not survive a fork. A worker that dies takes its tasks with it; they are
handed out again, a few times.
"""

import multiprocessing
import os
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

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

Work = Callable[[TaskT], ResultT]
Done = Iterator[tuple[TaskT, ResultT]]
Engine = Callable[[Sequence[TaskT]], Done[TaskT, ResultT]]


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


def _in_a_pool(
    work: Work[TaskT, ResultT], tasks: Sequence[TaskT], workers: int
) -> Done[TaskT, ResultT]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context)
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


def dask(work: Work[TaskT, ResultT], address: str) -> Engine[TaskT, ResultT]:
    """On the workers of a running Dask scheduler, which needs lemmata on every one of them."""
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
            yield from _on_cluster(client, work, tasks)

    return run


def _on_cluster(
    client: Any, work: Work[TaskT, ResultT], tasks: Sequence[TaskT]
) -> Done[TaskT, ResultT]:
    import distributed

    losses = 0

    def submit(task: TaskT) -> Any:
        return client.submit(work, task, pure=False, retries=0)

    running = {submit(task): task for task in tasks}
    queue = distributed.as_completed(running, loop=client.loop)
    for future in queue:
        task = running.pop(future)
        try:
            result = future.result()
        except (distributed.KilledWorker, OSError) as error:
            losses += 1
            if losses > MOST_LOSSES:
                raise InputError(f"workers died {losses} times; is there enough memory?") from error
            again = submit(task)
            running[again] = task
            queue.add(again)
            continue
        with suppress(Exception):
            future.release()
        yield task, result
