"""Experiments as values, run once on a bench and shared by all claims that look at them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

EvidenceT = TypeVar("EvidenceT")


@dataclass(frozen=True)
class Experiment(Generic[EvidenceT]):
    """A named recipe that turns a bench into evidence.

    Attributes:
        name: a short name, unique within its paper.
        says: what is run, in words, with its numbers.
        run: the recipe.
    """

    name: str
    says: str
    run: Callable[["Bench"], EvidenceT]


@dataclass
class Bench:
    """Where experiments run: a seed, a scale, a place for results, and perhaps the user's data.

    Attributes:
        seed: everything random depends on it alone.
        paper_scale: run at the paper's own sizes rather than in seconds.
        store: where training runs are kept and resumed from; None keeps nothing.
        track: called with a title and a number of steps; returns the progress callback.
        instances: the user's data as their paper reads it, which replaces the default datasets.
        options: further settings of the user's for training runs.
    """

    seed: int = 0
    paper_scale: bool = False
    store: Any = None
    track: Callable[[str, int], Callable[[int], None]] = lambda title, total: lambda done: None
    instances: Sequence[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    _evidence: dict[Experiment[Any], Any] = field(default_factory=dict)

    def evidence(self, experiment: Experiment[EvidenceT]) -> EvidenceT:
        """Run the experiment, or return what it gave the first time."""
        if experiment not in self._evidence:
            self._evidence[experiment] = experiment.run(self)
        return self._evidence[experiment]
