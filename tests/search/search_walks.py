"""A setting so small that everything the adversary does on it is known beforehand.

A walk starts at a whole number and drifts by a whole number of rates a step: x(t) = start + rate
drift t. Training adds up in floating point; the replay multiplies in balls, of a width that a test
may choose.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx

from lemmata.claims import AbstractInstances, Bench, Claim, Experiment
from lemmata.settings import AbstractSetting, AbstractSpace, Evidence, Hypothesis, Scope
from lemmata.tokens import Problem

RATE = 0.1


@dataclass(frozen=True)
class Walk:
    start: int
    drift: int

    @property
    def name(self) -> str:
        return f"{self.start}{self.drift:+}"

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (Problem("falls", self.name, "it falls"),) if self.drift < 0 else ()

    def document(self) -> dict[str, int]:
        return {"start": self.start, "drift": self.drift}


RISES = Hypothesis("rises", "Assumption 1", "the drift is not negative", frozenset({"falls"}))


@dataclass(frozen=True)
class Training:
    """How far and how fast."""

    steps: int = 8
    rate: float = RATE

    @property
    def options(self) -> dict[str, Any]:
        return {"steps": self.steps, "rate": self.rate}


SEEN: list[int] = []
"""How many instances were measured together, time after time."""


def measure(experiment: Experiment[Any], instances: Sequence[Walk], bench: Bench) -> Evidence[Walk]:
    """Walks, added up step by step."""
    SEEN.append(len(instances))
    training = experiment.training
    steps = np.arange(training.steps + 1)
    increments = np.array([[w.drift * training.rate] * training.steps for w in instances])
    starts = np.array([[float(w.start)] for w in instances])
    x = np.cumsum(np.concatenate([starts, increments], axis=1), axis=1)
    return Evidence(tuple(instances), steps, {"x": x, "rate": np.full((len(x), 1), training.rate)})


def look(experiment: Experiment[Any], instances: Sequence[Walk], bench: Bench) -> Evidence[Walk]:
    """Nothing is trained."""
    return Evidence(tuple(instances))


@dataclass
class Space(AbstractSpace[Walk]):
    """Walks by the larger of their two numbers."""

    width: Callable[[int], Any] = lambda bits: 0
    """The radius of the balls, from the number of bits."""
    shift: float = 0.0
    """By how much the replay is off, in units of the width."""
    knows: bool = True
    uncertain: float = 0.0
    twin: Walk | None = None
    bits: list[int] = field(default_factory=list)
    replayed: list[int] = field(default_factory=list)

    limits = {"size": 3}  # noqa: RUF012

    def scopes(self, limits: Mapping[str, int]) -> Sequence[Scope[Walk]]:
        return [
            Scope(f"size {n}", {"size": n}, lambda n=n: _of_size(n))
            for n in range(limits["size"] + 1)
        ]

    def extremes(self) -> Iterator[Walk]:
        yield from (Walk(1000, 1), Walk(-1000, 1), Walk(0, 1000))

    def draw(self, generator: np.random.Generator) -> Walk:
        return Walk(*map(int, generator.integers(-50, 51, 2)))

    def vary(self, instance: Walk, generator: np.random.Generator) -> Walk:
        start, drift = map(int, generator.integers(-3, 4, 2))
        return Walk(instance.start + start, instance.drift + drift)

    def simpler(self, instance: Walk) -> Iterator[Walk]:
        start, drift = instance.start, instance.drift
        yield Walk(0, 0)
        yield Walk(start - int(np.sign(start)), drift)
        yield Walk(start, drift - int(np.sign(drift)))
        yield Walk(start + 1, drift)  # no simpler at all

    def size(self, instance: Walk) -> tuple[int]:
        return (abs(instance.start) + abs(instance.drift),)

    def degenerate(self, instance: Walk) -> str | None:
        return "it does not move" if instance.drift == 0 else None

    def doubt(self, instance: Walk) -> float:
        return self.uncertain

    def equivalents(self, instance: Walk) -> Iterator[Walk]:
        return iter(() if self.twin is None else (self.twin,))

    def changes(self, instance: Walk) -> Iterator[tuple[str, Walk]]:
        yield "the direction", Walk(instance.start, -instance.drift)
        yield "the start", Walk(0, instance.drift)

    def trainings(self) -> Sequence[Mapping[str, Any]]:
        return ({}, {"rate": 5.0}, {"steps": 2}, {"start": 3})

    def replay(
        self, instance: Walk, options: Mapping[str, Any], steps: np.ndarray
    ) -> dict[str, np.ndarray] | None:
        if not self.knows:
            return None
        self.bits.append(ctx.prec)
        self.replayed.append(int(steps[-1]))
        rate, width = arb(options["rate"]), arb(self.width(ctx.prec))
        x = [
            instance.start + rate * instance.drift * int(t) + arb(0, width) + self.shift * width
            for t in steps
        ]
        return {
            "x": np.array(x, dtype=object),
            "rate": np.array([rate], dtype=object),
        }


def _of_size(n: int) -> Iterator[Walk]:
    for start in range(-n, n + 1):
        for drift in range(-n, n + 1):
            if max(abs(start), abs(drift)) == n:
                yield Walk(start, drift)


class Setting(AbstractSetting[Walk]):
    key = "walks"

    def __init__(self, **options: Any) -> None:
        self.space: Any = Space(**options)

    def read(self, file: Path, embeddings: Path | None = None) -> list[Walk]:
        return [Walk(**json.loads(file.read_text()))]

    def draw(self, count: int, seed: int = 0) -> list[Walk]:
        raise NotImplementedError

    def analyze(self, instance: Walk) -> Any:
        raise NotImplementedError

    def train(self, instances: Any, options: Any, **rest: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Two(AbstractInstances):
    def draw(self, seed: int, scale: str) -> Sequence[Walk]:
        return [Walk(0, 1), Walk(1, 1)]

    @property
    def says(self) -> str:
        return "two walks"


def claim(check: Any, *hypotheses: Hypothesis, **training: Any) -> Claim:
    """A statement about trained walks; what is given in ``training`` is part of it."""
    free = tuple(name for name in ("steps", "rate") if name not in training)
    on = Experiment(Two(), measure, Training(**training), free=free)
    return Claim("walks/x", "", "walks are short", hypotheses, on, check)


def untrained(check: Any, *hypotheses: Hypothesis) -> Claim:
    return Claim("walks/x", "", "walks are short", hypotheses, Experiment(Two(), look), check)
