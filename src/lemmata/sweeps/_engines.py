"""Where groups of tasks run: here, in processes of this machine, or on a Dask cluster.

Processes are spawned, because JAX does not survive a fork. A worker that dies takes its groups
with it; they are handed out again, a few times.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from lemmata._errors import InputError

from ._tasks import Group, Row, run_group

MOST_LOSSES = 100
"""How often workers may die before a sweep gives up."""

IN_FLIGHT = 3
"""Groups that are handed out at a time, for each worker."""

Done = Iterator[tuple[Group, list[Row]]]
Engine = Callable[[Sequence[Group]], Done]


def here(measure: Callable[[Group], list[Row]] = run_group) -> Engine:
    """One group after the other, in this process."""
    return lambda groups: ((group, measure(group)) for group in groups)


def processes(workers: int | None = None) -> Engine:
    """In spawned processes of this machine, as many as it has processors."""
    count = workers or os.cpu_count() or 1

    def run(groups: Sequence[Group]) -> Done:
        waiting, losses = list(groups), 0
        while waiting:
            try:
                for group, rows in _in_a_pool(waiting, min(count, len(waiting))):
                    waiting.remove(group)
                    yield group, rows
            except BrokenProcessPool as error:
                losses += 1
                if losses > MOST_LOSSES:
                    raise InputError(
                        f"workers died {losses} times; is there enough memory?"
                    ) from error

    return run


def _in_a_pool(groups: Sequence[Group], workers: int) -> Done:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context)
    try:
        yield from _handed_out(groups, workers, pool.submit)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _handed_out(groups: Sequence[Group], workers: int, submit: Callable[..., Any]) -> Done:
    """Results as they come, with few groups handed out at a time."""
    rest, running = list(groups), {}
    while rest or running:
        while rest and len(running) < IN_FLIGHT * workers:
            group = rest.pop(0)
            running[submit(run_group, group)] = group
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            yield running.pop(future), future.result()


def dask(address: str) -> Engine:
    """On the workers of a running Dask scheduler, which needs lemmata on every one of them."""
    try:
        import distributed
    except ImportError as error:
        raise InputError("--scheduler needs Dask: pip install 'lemmata[cluster]'") from error

    def run(groups: Sequence[Group]) -> Done:
        try:
            client = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
        with client:
            yield from _on_cluster(client, groups)

    return run


def _on_cluster(client: Any, groups: Sequence[Group]) -> Done:
    import distributed

    losses = 0

    def submit(group: Group) -> Any:
        return client.submit(run_group, group, pure=False, retries=0)

    running = {submit(group): group for group in groups}
    queue = distributed.as_completed(running, loop=client.loop)
    for future in queue:
        group = running.pop(future)
        try:
            rows = future.result()
        except (distributed.KilledWorker, OSError) as error:
            losses += 1
            if losses > MOST_LOSSES:
                raise InputError(f"workers died {losses} times; is there enough memory?") from error
            again = submit(group)
            running[again] = group
            queue.add(again)
            continue
        with suppress(Exception):
            future.release()
        yield group, rows
