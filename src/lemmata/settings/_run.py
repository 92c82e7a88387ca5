"""What training gives: columns of numbers, and what the trained model does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Num

from lemmata._errors import InputError, unknown_name
from lemmata._html import table
from lemmata.drawing import plot_column

from ._evidence import Evidence
from ._weights import TrainedWeights

TIE = 1e-9
"""Tokens whose probabilities differ by less than this share of them are equally likely."""


@dataclass(frozen=True)
class Prediction:
    """What a trained model expects after an input.

    Attributes:
        input: what was asked.
        next: the likeliest token; None if several are equally likely.
        probability: of the likeliest token.
        attention: the weight of each position.
        tied: the likeliest tokens, if they are several.
    """

    input: str
    next: Any
    probability: float
    attention: Float[np.ndarray, "positions"]
    tied: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        text: str,
        vocabulary: Sequence[Any],
        chances: Float[np.ndarray, "vocabulary"],
        attention: Float[np.ndarray, "positions"],
    ) -> "Prediction":
        """The likeliest token, or all of them: a tie predicts nothing."""
        top = float(chances.max())
        best = [vocabulary[int(v)] for v in np.flatnonzero(chances >= top * (1 - TIE))]
        if len(best) == 1:
            return cls(text, best[0], top, attention)
        return cls(text, None, top, attention, tuple(best))

    def __str__(self) -> str:
        if self.tied:
            words = " and ".join(map(str, self.tied))
            answer, each = f"no prediction: {words} tie", " each"
        else:
            answer, each = self.next, ""
        return f"{self.input} -> {answer}  (probability {self.probability:.4f}{each})"


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Instances that were trained together.

    Every recorded column is an attribute: ``run.norm`` has one row an instance and one column a
    record, in the order of ``run.instances``; rows of instances that could not be trained are
    NaN. So is what the instances know themselves: ``run.W_mm`` has one matrix an instance.

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
        model: whatever the setting keeps of the training.
        options: what was asked for.
        weights: the trained matrices of each instance by name: ``run.weights[0]["W"]``; empty
            where the setting hands out none.
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
    model: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: TrainedWeights | tuple[()] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "evidence" not in self.__dict__:
            raise AttributeError(name)
        of_instances = name not in self.evidence.columns and hasattr(self.instances[0], name)
        if of_instances:
            return tuple(getattr(instance, name) for instance in self.instances)
        if name not in self.evidence.columns and len(self.weights):
            known = unknown_name("column", name, self.evidence.columns)
            raise AttributeError(f"{known}; trained matrices are in run.weights[0]")
        return getattr(self.evidence, name)

    def __getitem__(self, name: str) -> Any:
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

    def row(self, i: int) -> int:
        """The place of instance i among those that were trained."""
        return sum(self.trained[:i])

    def document(self) -> dict[str, Any]:
        """The run as values that can be written as JSON, one entry an instance."""
        return {
            "setting": self.setting,
            "rule": self.rule,
            "instances": [self._entry(i) for i in range(len(self.instances))],
        }

    def _entry(self, i: int) -> dict[str, Any]:
        instance, trained = self.instances[i], self.trained[i]
        columns = {
            name: (float(grid[i, 0]) if name == "rate" else grid[i]) if trained else []
            for name, grid in self.evidence.columns.items()
        }
        predictions = self.predictions[i] if self.predictions else ()
        return {
            "name": instance.name,
            "trained": trained,
            "problems": [vars(problem) for problem in instance.problems],
            "reason": self.reasons[i],
            "diverged": self.diverged[i] if self.diverged else None,
            "steps": self.steps if trained else [],
            **columns,
            "predictions": [vars(prediction) for prediction in predictions],
            **(self.extras[i] if self.extras else {}),
        }

    def to_pandas(self) -> Any:
        """A long table as a pandas data frame; needs pandas."""
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise InputError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        columns = list(self.evidence.columns)
        rows = [
            [instance.name, *(f"{grid[i, -1]:.6g}" for grid in self.evidence.columns.values())]
            for i, instance in enumerate(self.instances)
        ]
        caption = f"{self.rule}; the last record of {len(self.steps)}"
        return table(["instance", *columns], rows, caption)

    def __repr__(self) -> str:
        last, count = int(self.steps[-1]) if len(self.steps) else 0, len(self.instances)
        return (
            f"<Run of {count} instance{'s' * (count != 1)} ({self.setting}) to step {last}: "
            f"{', '.join(self.names)}>"
        )

    def plot(self, name: str, band: str = "quantiles", log: bool = True) -> Any:
        """A figure of one column against the steps: every instance, and a band over them.

        ``band`` is ``quantiles`` (5 % to 95 %), ``ci95`` (of the mean) or ``none``.
        """
        return plot_column(self.steps, getattr(self, name), name, band=band, log=log)

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
