"""A setting in a file, whose numbers are known: after s steps of size r, w = c (1 - r)^s.

It says when it works, and can be made to die once, so that tests see what runs and how often.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import lemmata as lm


@dataclass(frozen=True)
class Walk:
    name: str
    start: float
    problems: tuple[lm.Problem, ...] = ()

    def document(self) -> dict[str, object]:
        return {"name": self.name, "start": self.start}


@dataclass(frozen=True)
class WalkAnalysis(lm.AbstractAnalysis):
    walk: Walk

    def document(self) -> dict[str, object]:
        return {"inner": {"square": self.walk.start**2}, "words": "three"}

    def describe(self):
        yield self.walk.name


class WalkSetting(lm.AbstractSetting[Walk]):
    key = "walk"
    instance_type = Walk
    columns = (lm.Column("place", "place"), lm.Column("hidden", ""))
    options = (
        lm.Option("rate", "--lr", "the step size (0.5)", float, "a number"),
        lm.Option("steps", "--steps", "how many (3)", int, "a whole number"),
    )
    parameters = (
        lm.Parameter("c", "a factor", 1.0, float),
        lm.Parameter("kind", "a word", "plain", str, ("plain", "other")),
    )

    def read(self, file: Path, embeddings: Path | None = None) -> list[Walk]:
        raise lm.InputError("there is nothing to read")

    def draw(self, count: int, seed: int = 0) -> list[Walk]:
        return [self.make({}, seed + i) for i in range(count)]

    def make(self, sizes, seed=0) -> Walk:
        if log := os.environ.get("WALK_LOG"):
            with open(log, "a") as file:
                file.write(f"{dict(sizes)} {seed}\n")
        if (mark := os.environ.get("WALK_DEATHS")) and len(os.listdir(mark)) < 2:
            (Path(mark) / f"{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        factor = sizes.get("c", 1.0) * (2 if sizes.get("kind") == "other" else 1)
        return Walk(f"seed {seed}", factor * (1 + seed))

    def analyze(self, instance: Walk) -> WalkAnalysis:
        return WalkAnalysis(instance)

    def train(self, instances, options, *, store=None, track=None):
        rate, steps = options.get("rate", 0.5), np.arange(options.get("steps", 3) + 1)
        grid = np.array([[w.start] for w in instances]) * (1 - rate) ** steps
        columns = {"place": grid, "hidden": -grid, "rate": np.full((len(instances), 1), rate)}
        evidence = lm.Evidence(tuple(instances), steps, columns)
        everything = (True,) * len(instances)
        reasons = (None,) * len(instances)
        return lm.Run(self.key, "walks", tuple(instances), evidence, reasons, everything)


SETTING = WalkSetting()


@lm.claim("The place is at most 4.", setting=SETTING)
def near(run):
    return lm.at_most(run.place, 4.0)
