"""Experiments as values: instances, training, seed and scale; and the bench they run on."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from lemmata._errors import InputError, unknown_name

EvidenceT = TypeVar("EvidenceT")
Scale = Literal["quick", "paper"]

MOST_NAMES = 3


class AbstractInstances(abc.ABC):
    """Where instances come from: a frozen dataclass, whose fields a sweep may vary."""

    @abc.abstractmethod
    def draw(self, seed: int, scale: Scale) -> Sequence[Any]:
        """The instances; everything random depends on the seed alone."""

    def settled(self, seed: int, scale: Scale) -> "AbstractInstances":
        """A source of the same instances, equal for all that draw the same with this seed."""
        return self

    @property
    @abc.abstractmethod
    def says(self) -> str:
        """What they are, in words made from the fields."""


@dataclass(frozen=True, eq=False)
class Own(AbstractInstances):
    """The user's own instances; equal to another source of the very same."""

    instances: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self._identities == other._identities

    def __hash__(self) -> int:
        return hash(self._identities)

    @property
    def _identities(self) -> tuple[int, ...]:
        return tuple(map(id, self.instances))

    def draw(self, seed: int, scale: Scale) -> Sequence[Any]:
        return self.instances

    @property
    def says(self) -> str:
        names = [str(getattr(instance, "name", "data")) for instance in self.instances]
        more = len(names) - MOST_NAMES
        listed = ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        return f"your data: {listed}"


@dataclass(frozen=True)
class Several(AbstractInstances):
    """Instances from several sources, one after the other."""

    sources: tuple[AbstractInstances, ...]

    def draw(self, seed: int, scale: Scale) -> Sequence[Any]:
        return [instance for source in self.sources for instance in source.draw(seed, scale)]

    @property
    def says(self) -> str:
        return ", ".join(source.says for source in self.sources)


@dataclass(frozen=True)
class Experiment(Generic[EvidenceT]):
    """Instances and what is done with them. A value: equal fields mean the same experiment.

    Attributes:
        instances: where they come from; the user's data takes their place.
        measure: ``measure(experiment, instances, bench)`` gives the evidence; the first line of
            its docstring says what is measured.
        training: how the instances are trained, if they are.
        paper_training: how they are at the paper's scale, if differently.
        own: the statement is about these very instances, as one about a figure is; then the
            user's data cannot take their place.
        free: options of training that the statement leaves open, so that an adversary may
            choose them.
        fits: which instances are looked at at all; an adversary passes over the others.
        seed, scale: set by the bench.
    """

    instances: AbstractInstances
    measure: "Callable[[Experiment[EvidenceT], Sequence[Any], Bench], EvidenceT]"
    training: Any = None
    paper_training: Any = None
    own: bool = False
    free: tuple[str, ...] = ()
    fits: Callable[[Any], bool] = lambda instance: True
    seed: int = 0
    scale: Scale = "quick"

    @property
    def says(self) -> str:
        """What is run, derived from the fields."""
        training = describe_training(self.training)
        done = (self.measure.__doc__ or "").strip().split("\n")[0].rstrip(".")
        return "; ".join(filter(None, (self.instances.says, training, _lower(done))))

    def run(self, bench: "Bench") -> EvidenceT:
        """Draw the instances, and measure."""
        return self.measure(self, self.instances.draw(self.seed, self.scale), bench)


def describe_training(training: Any) -> str:
    """A training in words: its own, or its fields."""
    if training is None:
        return ""
    if hasattr(training, "says"):
        return training.says
    if is_dataclass(training):
        return ", ".join(f"{f.name} {getattr(training, f.name)}" for f in fields(training))
    return str(training)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def override(training: Any, options: dict[str, Any]) -> Any:
    """The training with some of its fields changed; an unknown one is an error."""
    if hasattr(training, "changed"):
        return training.changed(options)
    known = [f.name for f in fields(training) if f.init]
    for name in options:
        if name not in known:
            raise InputError(unknown_name("option of this training", name, known))
    return replace(training, **options)


@dataclass
class Bench:
    """Where experiments run: a seed, a scale, a place for results, and perhaps the user's data.

    Attributes:
        seed: everything random depends on it alone.
        scale: in seconds, or at the paper's own sizes.
        store: where training runs are kept and resumed from; None keeps nothing.
        track: called with a title and a number of steps; returns the progress callback.
        instances: the user's data, which takes the place of an experiment's instances.
        options: fields of the training that the user changes.
    """

    seed: int = 0
    scale: Scale = "quick"
    store: Any = None
    track: Callable[[str, int], Callable[[int], None]] = lambda title, total: lambda done: None
    instances: Sequence[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    _evidence: dict[Any, Any] = field(default_factory=dict)

    def bind(self, experiment: Experiment[EvidenceT]) -> Experiment[EvidenceT]:
        """The experiment as it runs here: with the user's data, options, seed and scale."""
        bound = replace(experiment, seed=self.seed, scale=self.scale)
        if self.scale == "paper" and experiment.paper_training is not None:
            bound = replace(bound, training=experiment.paper_training)
        if self.instances is not None and not experiment.own:
            bound = replace(bound, instances=Own(tuple(self.instances)))
        if self.options and bound.training is not None:
            bound = replace(bound, training=override(bound.training, self.options))
        return bound

    def evidence(self, experiment: Experiment[EvidenceT]) -> EvidenceT:
        """Run the experiment, or return what it gave the first time."""
        bound = self.bind(experiment)
        settled = replace(bound, instances=bound.instances.settled(self.seed, self.scale))
        if settled not in self._evidence:
            self._evidence[settled] = settled.run(self)
        return self._evidence[settled]
