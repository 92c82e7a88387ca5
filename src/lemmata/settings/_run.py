"""What training gives: columns of numbers, and what the trained model does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata.settings._evidence import Evidence, Grid


@dataclass(frozen=True)
class Prediction:
    """What a trained model expects after an input."""

    input: str
    next: Any
    probability: float
    attention: Float[np.ndarray, "positions"]


@dataclass(frozen=True, eq=False)
class Run:
    """Instances that were trained together.

    Every recorded column is an attribute: ``run.norm`` has one row an instance and one column a
    record, in the order of ``run.instances``; rows of instances that could not be trained are
    NaN.

    Attributes:
        setting: the key of the setting.
        rule: what exactly ran, in one sentence.
        instances: what was trained on.
        evidence: steps and columns.
        reasons: why an instance was not trained, or diverged; None for the others.
        trained: which instances were.
        diverged: the step at which an instance diverged, or None.
        extras: further answers about each instance, ready for JSON.
        predictions: what was asked of each model.
        model: whatever the setting keeps of the trained weights.
    """

    setting: str
    rule: str
    instances: tuple[Any, ...]
    evidence: Evidence[Any]
    reasons: tuple[str | None, ...]
    trained: tuple[bool, ...]
    diverged: tuple[int | None, ...] = ()
    extras: tuple[dict[str, Any], ...] = ()
    predictions: tuple[tuple[Prediction, ...], ...] = ()
    model: Any = field(default=None, repr=False)

    def __getattr__(self, name: str) -> Grid:
        if name.startswith("_") or "evidence" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.evidence, name)

    def __getitem__(self, name: str) -> Grid:
        return getattr(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.evidence.columns})

    @property
    def names(self) -> list[str]:
        """The columns that were recorded."""
        return list(self.evidence.columns)

    @property
    def steps(self) -> Num[np.ndarray, "records"]:
        """The recorded steps."""
        assert self.evidence.steps is not None
        return self.evidence.steps

    def rows(self) -> Sequence[dict[str, Any]]:
        """One dictionary an instance and record: a long table."""
        table = []
        for i, instance in enumerate(self.instances):
            for j, t in enumerate(self.steps):
                values = {
                    name: float(grid[i, j if grid.shape[1] > 1 else 0])
                    for name, grid in self.evidence.columns.items()
                }
                table.append({"instance": instance.name, "steps": t.item(), **values})
        return table
