"""From attempts that break a statement to the smallest witness that is proved."""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lemmata._errors import InputError
from lemmata._files import write_json
from lemmata.settings import AbstractSetting, AbstractSpace

from ._certify import certify
from ._clock import Clock, TooSlowError
from ._finding import Witness
from ._hunt import Hunt, is_long
from ._score import Attempt, try_all, with_judgement

PLAIN = 1e-6
"""A witness is made smaller only while the violation stays as plain as this, or half as large."""

SMALLEST = 3
"""So many violations are tried, and the most violated one, before none is said to be proved."""


TOGETHER = 64
"""So many simpler instances are tried at once."""

PATIENCE = 15.0
"""Seconds after which a witness is small enough."""


class Proofs:
    """What has been proved of what a hunt found.

    Attributes:
        witness: the smallest that is proved; as long as none is, the last that was tried.
        worst: the most violated.
        rounding: whether all that was tried turned out to be rounding.
    """

    def __init__(self, hunt: Hunt, setting: AbstractSetting[Any], space: AbstractSpace[Any]):
        self._hunt, self._setting, self._space = hunt, setting, space
        self.witness: Witness | None = None
        self.worst: Witness | None = None
        self.rounding = True
        self._largest: Any = None

    def succeed(self) -> bool:
        """Shrink and prove what was found since the last time.

        Whether that worked, or could never work, as with limits.
        """
        size, hunt = self._space.size, self._hunt
        broken = hunt.fresh or hunt.broken
        hunt.looked_at = len(hunt.found)
        by_size = sorted(broken, key=lambda attempt: (size(attempt.instance), attempt.score))
        worst = min(broken, key=lambda attempt: attempt.score)
        self._largest = by_size[-1].instance
        self.worst = self._witness(worst)
        self.rounding &= self.worst.certificate.rounding
        for attempt in [*by_size[:SMALLEST], worst]:
            self.witness = self._witness(self._shrunk(attempt))
            self.rounding &= self.witness.certificate.rounding
            if self.witness.certificate.proved or self.witness.certificate.hopeless:
                return True
            if hunt.over:
                break
        if self.worst.certificate.proved:
            shrunk = self._witness(self._shrunk(worst))
            self.witness = shrunk if shrunk.certificate.proved else self.worst
        return self.worst.certificate.proved

    def _try(
        self, instances: Sequence[Any], options: Mapping[str, Any], clock: Clock
    ) -> list[Attempt]:
        """Those that can be tried in time: all of them, or none."""
        try:
            return try_all(
                self._hunt.claim, instances, options, self._hunt.seed, None, clock, self._largest
            )
        except TooSlowError:
            return []

    def _shrunk(self, attempt: Attempt) -> Attempt:
        """Without what can be left out while the statement is still plainly broken."""
        hunt, space = self._hunt, self._space
        enough = -min(PLAIN, -attempt.score / 2)
        idle = space.degenerate(attempt.instance) is not None
        clock = Clock(hunt.finish).within(PATIENCE)
        while True:
            hunt.watch(f"shrinking: {space.size(attempt.instance)}")
            smaller = [
                instance
                for instance in space.simpler(attempt.instance)
                if space.size(instance) < space.size(attempt.instance)
                and (space.degenerate(instance) is None or idle)
            ]
            tried: list[Attempt] = []
            for start in range(0, len(smaller), TOGETHER):
                if clock.left > 0:
                    some = smaller[start : start + TOGETHER]
                    tried += self._try(some, attempt.options, clock)
            broken = sorted(
                (a for a in tried if a.score <= enough), key=lambda a: space.size(a.instance)
            )
            smallest = next((a for a in broken if hunt.readable(a.instance)), None)
            if smallest is None or clock.left < 0:
                return self._with_fewer_options(attempt, enough, clock)
            attempt = smallest

    def _with_fewer_options(self, attempt: Attempt, enough: float, clock: Clock) -> Attempt:
        """Without options of training that do not matter, or with milder values of them.

        What makes a long training short is needed for a proof.
        """
        long = is_long(self._hunt.claim.experiment.training, {})
        for name in [name for name in attempt.options if not (long and name == "steps")]:
            rest = {key: value for key, value in attempt.options.items() if key != name}
            milder = [{**rest, name: value} for value in self._milder(name, attempt)]
            for options in [rest, *milder]:
                if clock.left < 0:
                    return attempt
                again = self._try([attempt.instance], options, clock)
                if again and again[0].score <= enough:
                    attempt = again[0]
                    break
        return attempt

    def _milder(self, name: str, attempt: Attempt) -> list[Any]:
        """Numbers that the space tries for an option, of a smaller order of magnitude."""
        found = attempt.options[name]
        values = [o[name] for o in self._space.trainings() if set(o) == {name}]
        if not all(isinstance(value, int | float) and value > 0 for value in (found, *values)):
            return []
        milder = [value for value in values if abs(math.log(value)) < abs(math.log(found))]
        return sorted(milder, key=lambda value: abs(math.log(value)))

    def _witness(self, attempt: Attempt) -> Witness:
        """The attempt with its place, its proof, and what does not matter in it."""
        hunt, space, clock = self._hunt, self._space, Clock(self._hunt.finish)
        alone = self._try([attempt.instance], attempt.options, clock)
        attempt = alone[0] if alone and alone[0].broken else attempt
        hunt.watch("proving")
        certificate = certify(
            hunt.claim,
            space,
            attempt,
            lambda case: read_back(self._setting, case),
            clock,
            self._largest,
        )
        if certificate.worst is not None:
            attempt = with_judgement(attempt, certificate.worst)
        return Witness(
            attempt.instance,
            attempt.options,
            attempt.score,
            attempt.place or {},
            space.size(attempt.instance),
            certificate,
            space.degenerate(attempt.instance),
            tuple(self._idle(attempt, clock)),
        )

    def _idle(self, attempt: Attempt, clock: Clock) -> Iterator[str]:
        """What can be changed, in every way that is tried, without mending the statement."""
        changes = list(self._space.changes(attempt.instance))
        tried = self._try([changed for _, changed in changes], attempt.options, clock)
        broken = {id(again.instance) for again in tried if again.broken}
        matters = {what for what, changed in changes if id(changed) not in broken}
        yield from dict.fromkeys(what for what, _ in changes if what not in matters)


def read_back(setting: AbstractSetting[Any], instance: Any) -> Any:
    """The instance as its file holds it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "witness.json"
        write_json(file, instance.document())
        return setting.read(file)[0]


def is_readable(setting: AbstractSetting[Any], instance: Any) -> bool:
    """Whether the setting takes the instance from its file."""
    try:
        read_back(setting, instance)
    except InputError:
        return False
    return True
