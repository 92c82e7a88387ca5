"""Tabs: what each has asked for, and the latest news of it, for as long as it is open."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from lemmata._errors import InputError

from ._crew import Crew, Job
from ._requests import Ask

MOST_TABS = 64
MOST_STREAMS = 64

FRAME = 1 / 30
"""Seconds between two messages to a page, at least."""

BEAT = 15.0
"""Seconds after which a silent stream shows that it is alive."""

NAME = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass
class Latest:
    """The last news of one kind; older ones are not kept."""

    version: int = 0
    said: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Tab:
    """One page in a browser. News of each kind replace those before, so that nothing piles up."""

    crew: Crew
    jobs: dict[str, Job] = field(default_factory=dict)
    latest: dict[str, Latest] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    streams: int = 0

    def submit(self, ask: Ask, label: Any) -> None:
        """Compute something in the place of what is computed of this kind."""
        self.halt(ask.kind)
        self._say(ask.kind, {"label": label, "state": "running"})

        def tell(kind: str, news: Any) -> None:
            if self.jobs.get(ask.kind) is not job:
                return
            now = self.latest[ask.kind].said
            if kind == "news":
                self._say(ask.kind, {**now, "state": "running", "news": news})
            else:
                del self.jobs[ask.kind]
                self._say(ask.kind, {**now, "state": kind, "reason": news})

        prepared = self.jobs.get("prepare")
        if ask.kind == "train" and prepared is not None and prepared.ask.training != ask.training:
            self.halt("prepare")  # nobody waits for it any more
        job = self.jobs[ask.kind] = Job(ask, tell)
        self.crew.submit(job)

    def halt(self, kind: str) -> None:
        """Call off what is computed of a kind; what it has said so far stays."""
        job = self.jobs.get(kind)
        if job is not None:
            self.crew.halt(job)

    def hold(self, kind: str, wait: bool) -> None:
        """Let it wait, or go on."""
        job = self.jobs.get(kind)
        if job is not None:
            self.crew.hold(job, wait)

    def _say(self, kind: str, said: dict[str, Any]) -> None:
        latest = self.latest.setdefault(kind, Latest())
        latest.version += 1
        latest.said = said
        self.changed.set()

    async def news(self) -> AsyncIterator[tuple[str, dict[str, Any]] | None]:
        """Whatever is new, at most so many times a second; None now and then if nothing is."""
        seen: dict[str, int] = {}
        while True:
            fresh = {k: v for k, v in self.latest.items() if v.version != seen.get(k)}
            for kind, latest in fresh.items():
                seen[kind] = latest.version
                yield kind, latest.said
            self.changed.clear()
            await asyncio.sleep(FRAME)
            try:
                await asyncio.wait_for(self.changed.wait(), BEAT)
            except TimeoutError:
                yield None


class Tabs:
    """All tabs, as many as there may be."""

    def __init__(self, crew: Crew):
        self.crew = crew
        self.tabs: dict[str, Tab] = {}

    def find(self, name: Any) -> Tab:
        """The tab of a name; a new one if there is none. The one unused for longest makes room."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError("a tab has a name of 8 to 64 letters and digits")
        tab = self.tabs.pop(name, None)
        if tab is None:
            self._make_room()
            tab = Tab(self.crew)
        self.tabs[name] = tab
        return tab

    def _make_room(self) -> None:
        if len(self.tabs) < MOST_TABS:
            return
        for name, tab in self.tabs.items():
            if not tab.streams:
                for kind in list(tab.jobs):
                    tab.halt(kind)
                del self.tabs[name]
                return
        raise CrowdedError(f"{MOST_TABS} pages are open already; close some")

    @property
    def streams(self) -> int:
        """Open streams of all tabs."""
        return sum(tab.streams for tab in self.tabs.values())


class CrowdedError(Exception):
    """There is no room for more."""
