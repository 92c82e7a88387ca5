"""The parts of ``lemmata reproduce``: one a paper, side by side in processes of their own.

Figures and claims of a paper share experiments; those of two papers share nothing. Processes are
spawned, because JAX does not survive a fork.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from lemmata._engines import end_with_parent
from lemmata._errors import InputError
from lemmata._inventory import claims_beside
from lemmata.claims import Bench, Scale, Verdict, check
from lemmata.papers import CLAIMS, note_finished, papers, with_ledger
from lemmata.report import FigureEntry, save_drawing
from lemmata.training import Store

Track = Callable[[str, int], Callable[[int], None]]
Result = tuple[list[FigureEntry], list[Verdict]]

PAUSE = 0.1
"""Seconds between two looks at what the processes have to say."""


@dataclass(frozen=True)
class Part:
    """Figures and claims of one paper by name, and where and how they are reproduced."""

    paper: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    scale: Scale
    seed: int
    out: Path

    @property
    def pieces(self) -> tuple[str, ...]:
        """What is measured and finished by itself: each figure, and the claims together."""
        return (*self.figures, *([f"{self.paper}/{CLAIMS}"] if self.claims else []))


def most_processes(parts: Sequence[Part]) -> int:
    """How many parts are worked on at the same time."""
    return max(1, min(os.cpu_count() or 1, len(parts)))


def reproduce_all(parts: Sequence[Part], track: Track) -> list[Result]:
    """All parts, in their order: one alone here, several in processes."""
    if len(parts) < 2:
        return [reproduce_part(part, track) for part in parts]
    context = multiprocessing.get_context("spawn")
    heard = context.SimpleQueue()
    pool = ProcessPoolExecutor(most_processes(parts), context, _begin, (heard,))
    # The largest first, so that no process is left alone with it.
    order = sorted(parts, key=lambda part: -len(part.claims))
    running = {part: pool.submit(_reproduce_apart, part) for part in order}
    advance: dict[Any, Callable[[int], None]] = {}

    def listen() -> None:
        while not heard.empty():
            bar, *said = heard.get()
            if bar in advance:
                advance[bar](*said)
            else:
                advance[bar] = track(*said)

    try:
        while not any(future.done() and future.exception() for future in running.values()):
            waiting = wait(running.values(), PAUSE, FIRST_EXCEPTION).not_done
            listen()
            if not waiting:
                break
        return [running[part].result() for part in parts]
    except BrokenProcessPool as error:
        raise InputError("a process died; is there enough memory?") from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


def reproduce_part(part: Part, track: Track) -> Result:
    """Draw the figures, then check the claims."""
    paper, store = papers()[part.paper], Store(part.out / "runs")
    bench = Bench(seed=part.seed, scale=part.scale, store=store, track=track)
    entries: list[FigureEntry] = []

    def finished(piece: str) -> None:
        if part.scale == "paper":
            note_finished(piece, store, part.seed)

    done = track(f"{part.paper}: figures", len(part.figures))
    for name in part.figures:
        figure = paper.figures[name]
        drawing = figure.draw(bench)
        files = save_drawing(drawing, part.out / "reproduce", name)
        shown, beside = replace(drawing, picture=None), claims_beside(name)
        entries.append(FigureEntry(name, figure.title, shown, files, beside))
        finished(name)
        done(1)
    done = track(f"{part.paper}: claims", len(part.claims))
    verdicts = []
    for name in part.claims:
        verdicts.append(with_ledger(check(paper.claims[name], bench)))
        done(1)
    if set(paper.claims.names) <= set(part.claims):
        finished(f"{part.paper}/{CLAIMS}")
    return entries, verdicts


_heard: Any = None
"""In a process: where its progress goes."""


def _begin(heard: Any) -> None:
    """What a process does first. Ctrl-C is for the one that started it, which ends the others."""
    global _heard
    _heard = heard
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _reproduce_apart(part: Part) -> Result:
    bars = count()

    def track(title: str, total: int) -> Callable[[int], None]:
        bar = (part.paper, next(bars))
        _heard.put((bar, title, total))
        return lambda done: _heard.put((bar, done))

    return reproduce_part(part, track)
