"""What is computed for a page. Each job yields news: values that can be written as JSON."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata._verbs import analyze, checker, find_claims, setting_of
from lemmata.claims import Claim, worth
from lemmata.papers import find_setting, papers, settings, theorems_about
from lemmata.search import attack, unsearchable
from lemmata.settings import AbstractSetting, Track
from lemmata.training import Film

from ._analysis import analysis_document
from ._catalogue import catalogue_of
from ._formulas import with_formulas
from ._pictures import picture_document
from ._requests import Ask
from ._sheet import Sheet, read_sheet

News = dict[str, Any]

FIRST, FACTOR, SHARE = 16, 16, 8
"""Training is shown early: 16 steps, 256, ... as long as that is no more than an eighth of all."""

WARM = 2
"""Steps that are taken so that the program is compiled before it is needed."""

SECONDS_BETWEEN_LINES = 0.1


class HaltedError(Exception):
    """The page does not want it any more."""


class Jobs:
    """All jobs, with the settings that they are about.

    Attributes:
        settings: by name; ``own`` is a file with another one, from the command line.
        check_in: called now and then; waits while the page holds, raises ``HaltedError`` to stop.
        tell: takes news in the middle of something.
        compiled: the training whose program is there.
    """

    def __init__(self, own: str | None, check_in: Callable[[], None], tell: Callable[[News], None]):
        self.settings: dict[str, AbstractSetting[Any]] = dict(settings())
        self.own = None if own is None else find_setting(own)
        if self.own is not None:
            self.settings[self.own.key] = self.own
        self.check_in = check_in
        self.tell = throttled(tell)
        self.compiled: tuple[Any, ...] | None = None

    def run(self, ask: Ask) -> Iterator[News]:
        """The news of a job, one after the other."""
        if ask.kind == "catalogue":
            first = ask.setting if self.own is None else self.own.key
            yield catalogue_of(self.settings, first)
            return
        if ask.kind == "statement":  # one at a time: all of them would keep a page waiting
            yield with_formulas({"statement": self._claim(ask).statement})
            return
        if ask.setting not in self.settings:
            raise InputError(f"there is no setting '{ask.setting}'")
        jobs: dict[str, Callable[[Ask], Iterator[News]]] = {
            "analyze": self._analyze,
            "prepare": self._prepare,
            "train": self._train,
            "glance": self._judge,
            "judge": self._judge,
            "attack": self._attack,
        }
        yield from map(with_formulas, jobs[ask.kind](ask))

    def _sheet(self, ask: Ask) -> Sheet:
        return read_sheet(ask, self.settings[ask.setting])

    def _analyze(self, ask: Ask) -> Iterator[News]:
        """The data does not have to be trainable with the options at hand."""
        setting = self.settings[ask.setting]
        sheet = read_sheet(Ask(ask.kind, ask.setting, ask.text, ask.suffix), setting)
        analysis = analyze(sheet.instances[0], setting)
        yield analysis_document(setting, sheet.instances, analysis)

    def _prepare(self, ask: Ask) -> Iterator[News]:
        sheet = self._sheet(ask)
        if sheet.total is not None and sheet.total > WARM:
            short = sheet.shortened(WARM)
            sheet.setting.train(short.instances, short.options, store=Film(), track=self._track)
        self.compiled = ask.training
        yield {}

    def _train(self, ask: Ask) -> Iterator[News]:
        sheet = self._sheet(ask)
        steps, total = FIRST, sheet.total or 0
        while steps * SHARE <= total:
            film = Film(quick=steps == FIRST and self.compiled != ask.training)
            yield self._run(sheet.shortened(steps), film, final=False)
            steps *= FACTOR
        yield self._run(sheet, Film(), final=True)
        self.compiled = ask.training

    def _run(self, sheet: Sheet, film: Film, *, final: bool) -> News:
        setting = sheet.setting
        run = setting.train(sheet.instances, sheet.options, store=film, track=self._track)
        self.check_in()
        shown = run.trained[0]
        return {
            "final": final,
            "document": plain(setting.document(run)),
            "pictures": [picture_document(p) for p in setting.pictures(run, 0)] if shown else [],
            "command": sheet.command,
            "total": sheet.total,
        }

    @property
    def _track(self) -> Track:
        def track(title: str, total: int) -> Callable[[int], None]:
            return lambda done: self.check_in()

        return track

    def _judge(self, ask: Ask) -> Iterator[News]:
        """The theorems that apply, judged on this data; at a glance, without training."""
        sheet = self._sheet(ask)
        instance = sheet.instances[0]
        known = [p for p in papers().values() if p.has_setting and p.setting is sheet.setting]
        names = [
            (paper, theorem.name)
            for paper in known
            for theorem in theorems_about(paper, instance)
            if theorem.applies and (ask.kind == "judge" or not trains(paper.claims[theorem.name]))
        ]
        judged = checker(data=[instance], track=self._track)
        verdicts: list[News] = []
        for paper, name in names:
            self.check_in()
            yield {"verdicts": list(verdicts), "judging": name, "final": False}
            verdict = judged(paper.claims[name])
            verdicts.append(
                {
                    "name": name,
                    "status": verdict.status.value,
                    "reason": verdict.reason,
                    "worth": worth(verdict),
                }
            )
        yield {"verdicts": verdicts, "judging": None, "final": True}

    def _claim(self, ask: Ask) -> Claim:
        """A claim of a paper; files are for the command line."""
        if "/" not in ask.claim or ".py" in ask.claim:
            raise InputError(f"there is no claim '{ask.claim}'")
        return find_claims(ask.claim)[0]

    def _attack(self, ask: Ask) -> Iterator[News]:
        claim = self._claim(ask)
        setting = setting_of(claim)
        reason = unsearchable(claim, setting)
        if reason is not None:
            raise InputError(f"{claim.name} cannot be attacked: {reason}")
        finding = attack(claim, setting, budget=ask.seconds, watch=self._watch)
        document = plain(finding.document())
        witness = None if finding.witness is None else plain(finding.witness.file)
        yield {
            "claim": claim.name,
            "setting": setting.key,
            "finding": {name: value for name, value in document.items() if name != "worst"},
            "data": None
            if witness is None
            else json.dumps(witness, ensure_ascii=False, allow_nan=False),
            "final": True,
        }

    def _watch(self, line: str) -> None:
        """An attack that is called off gives what it has found so far."""
        try:
            self.check_in()
        except HaltedError as stop:
            raise KeyboardInterrupt from stop
        self.tell({"line": line, "final": False})


def trains(claim: Claim) -> bool:
    """Whether it takes training to check a claim; if not, it takes a fraction of a second."""
    return hasattr(claim.experiment.training, "steps")


def throttled(tell: Callable[[News], None]) -> Callable[[News], None]:
    """Only the news that come after a while; the others are soon outdated."""
    last = 0.0

    def rarely(news: News) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            tell(news)

    return rarely
