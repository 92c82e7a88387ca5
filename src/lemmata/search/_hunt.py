"""A hunt in progress: what was tried, what broke, what came closest, how much time is left."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from lemmata._errors import StatementError
from lemmata.claims import Claim
from lemmata.settings import AbstractSpace

from ._clock import Clock, TooSlowError
from ._score import FOREVER, Attempt, try_all

Watch = Callable[[str], None]
"""Called with a line that says how far the hunt has come."""

SIZES = (1, 4, 32, 256, 2_048)
"""Instances that are tried together."""

FEW, TOGETHER = SIZES.index(4), SIZES.index(256)
"""Where it begins: with few, so that an answer comes soon; where runs of the setting do, which are
trained side by side by one compiled program.
"""

LONG = 20_000
"""Trainings of more steps are long."""

MOST_PROOFS = 6
"""So often is it tried to prove what was found; then the hunt goes on without."""

MOST_ERRORS = 100
"""A statement that raises on so many instances, and on none of them not, is at fault itself."""

PATIENCE = 0.1
"""More are tried together if these took no more than this share of the time that is left."""

FAIR, FIRST = 0.25, 0.6
"""A batch, and the first one, may take this share of all time that is left, if that of the stage is
less.
"""


def is_long(training: Any, options: Mapping[str, Any]) -> bool:
    """Whether it takes so many steps that few instances are trained together."""
    return (options.get("steps") or getattr(training, "steps", None) or 0) > LONG


@dataclass
class Hunt:
    """What is known so far.

    Attributes:
        ends: when time is up, by ``time.monotonic``.
        tried: instances within the hypotheses that were evaluated.
        set_aside: instances outside them, or that could not be evaluated.
        closest: the least score of an instance that does not break the statement.
        broken: everything that does; ``found`` is what of it is no degenerate case.
        looked_at: so many of those found have been shrunk and tried to prove.
        readable: whether the setting reads an instance back from its file; what it refuses there
            is no instance.
        prove: shrinks and proves what is ``fresh``; says whether that worked.
        proofs: how often that was tried.
        settled: whether something is proved, or broken and can never be; then the hunt may end.
        scopes: what was gone through whole.
        at_once: so many instances were tried together last.
        stage: what is going on, for whoever watches.
        deadline: when the whole hunt must end, by ``time.monotonic``.
        finish: when shrinking and proving must.
        batches: how many were tried together; the first whatever stage it is.
        errors: what the statement itself raised.
        slow: why some could not be tried for lack of time.
        seconds: how long the last batch took.
    """

    claim: Claim
    space: AbstractSpace[Any]
    seed: int
    ends: float
    watch: Watch
    tried: int = 0
    set_aside: int = 0
    closest: Attempt | None = None
    broken: list[Attempt] = field(default_factory=list)
    found: list[Attempt] = field(default_factory=list)
    looked_at: int = 0
    readable: Callable[[Any], bool] = lambda instance: True
    prove: Callable[[], bool] = lambda: False
    proofs: int = 0
    settled: bool = False
    scopes: list[str] = field(default_factory=list)
    at_once: int = SIZES[FEW]
    stage: str = ""
    deadline: float = math.inf
    finish: float = math.inf
    batches: int = 0
    errors: list[StatementError] = field(default_factory=list)
    slow: TooSlowError | None = None
    seconds: float = 0.0
    _cut: bool = False
    _costs: dict[Any, float] = field(default_factory=dict)

    @property
    def fresh(self) -> list[Attempt]:
        """What was found and not looked at yet."""
        return self.found[self.looked_at :]

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() > self.ends

    def evaluate(
        self, instances: Sequence[Any], options: Mapping[str, Any], clock: Clock = FOREVER
    ) -> list[Attempt]:
        """Try instances together, and remember what matters."""
        begun = time.monotonic()
        attempts = [
            attempt
            for attempt in try_all(self.claim, instances, options, self.seed, self.errors, clock)
            if not attempt.broken or self.readable(attempt.instance)
        ]
        self.seconds = time.monotonic() - begun
        if instances and options.get("steps") in self._costs:
            self._costs[options.get("steps")] = self.seconds / len(instances)
        self.tried += len(attempts)
        if not self.tried and len(self.errors) > MOST_ERRORS:
            raise self.errors[0]
        self.set_aside += len(instances) - len(attempts)
        for attempt in attempts:
            if attempt.broken:
                self.broken.append(attempt)
                if self.space.degenerate(attempt.instance) is None:
                    self.found.append(attempt)
            elif self.closest is None or _nearness(attempt) < _nearness(self.closest):
                self.closest = attempt
        self.watch(self.says)
        if self.fresh and not self.settled and self.proofs < MOST_PROOFS:
            self.proofs += 1
            self.settled = self.prove()
        return attempts

    def within(self, instances: Iterable[Any], *, whole: bool = True) -> Iterator[Any]:
        """Those that are looked at and meet the hypotheses, so that no other is trained.

        Unless the ``whole`` is wanted, there are no more when time is up.
        """
        self._cut = False
        fits, hypotheses = self.claim.experiment.fits, self.claim.hypotheses
        for instance in instances:
            if not whole and self.over and self.batches:
                self._cut = True
                return
            if not fits(instance) or any(h.broken(instance.problems) for h in hypotheses):
                self.set_aside += 1
            else:
                yield instance

    def go_through(
        self,
        instances: Iterable[Any],
        options: Mapping[str, Any],
        *,
        whole: bool,
        keep: list[Attempt] | None = None,
    ) -> bool:
        """Try all of them in batches that fit into the time; whether that was done.

        Unless the ``whole`` is wanted, it ends when time is up or a violation is proved, and leaves
        out what takes too long alone. What was tried is added to ``keep``.
        """
        source, waiting, done = self.within(instances, whole=whole), [], True
        level = self._level(options)
        while True:
            waiting += islice(source, max(0, SIZES[level] - len(waiting)))
            if not waiting and not self._cut:
                return done
            if not whole and (self.settled or (self.over and self.batches)):
                return False
            batch = waiting[: SIZES[level]]
            self.at_once = SIZES[level]
            try:
                attempts = self.evaluate(batch, options, FOREVER if whole else self._clock(level))
            except TooSlowError as error:
                self.slow = error
                self._costs[options.get("steps")] = error.seconds / len(batch)
                if level:
                    level = min(level - 1, self._level(options))
                elif self.over or not self.batches:
                    return False
                else:  # without this one
                    self.set_aside, waiting, done = self.set_aside + 1, waiting[1:], False
                continue
            if keep is not None:
                keep += attempts
            self.batches += 1
            waiting = waiting[len(batch) :]
            if whole or self.seconds <= PATIENCE * (self.ends - time.monotonic() + self.seconds):
                level = min(level + 1, len(SIZES) - 1)

    def _clock(self, level: int) -> Clock:
        """The time that a batch may take: that of its stage, or a fair share of all.

        The first may take more, since programs are compiled; and one instance alone, as long as
        none was tried, all there is.
        """
        if not level and not self.batches:
            return Clock(self.deadline)
        now = time.monotonic()
        share = FAIR if self.batches else FIRST
        return Clock(max(self.ends, now + share * (self.deadline - now)))

    def _level(self, options: Mapping[str, Any]) -> int:
        """How many to begin with: fewer if it is known that an instance takes long."""
        training = self.claim.experiment.training
        quick = hasattr(training, "options") and not is_long(training, options)
        level = TOGETHER if quick else FEW
        cost = self._costs.get(options.get("steps"), 0.0)
        while level and SIZES[level] * cost > self._clock(level).left:
            level -= 1
        return level

    @property
    def says(self) -> str:
        """One line for a person."""
        near = "" if self.closest is None else f", closest {self.closest.score:.3g}"
        found = f", {len(self.broken):,} break it" if self.broken else ""
        return f"{self.stage}: {self.tried:,} tried{near}{found}"


def _nearness(attempt: Attempt) -> tuple[float, bool]:
    """Of two that are as near, one that may break a strict statement comes first."""
    return attempt.score, not attempt.touches
