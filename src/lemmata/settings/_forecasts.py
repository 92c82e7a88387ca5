"""What theory says about a run: curves to draw beside its own, and attention to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Forecast:
    """What theory says about a column of a run.

    Attributes:
        column: the name of the column.
        values: one a record; NaN where nothing is said.
        says: what is drawn, in a few words: ``limit``, ``at most (18)``, ``like 1/t²``.
    """

    column: str
    values: Float[np.ndarray, "records"]
    says: str

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {"column": self.column, "says": self.says, "values": self.values}


@dataclass(frozen=True)
class Look:
    """How a model attends to one input, before and after training.

    Attributes:
        title: what asks, or what should be selected.
        tokens: the input, position by position.
        before, after: the attention on each position.
    """

    title: str
    tokens: Sequence[str]
    before: Float[np.ndarray, "positions"]
    after: Float[np.ndarray, "positions"]

    def document(self) -> dict[str, Any]:
        """As values that can be written as JSON."""
        return {
            "title": self.title,
            "input": list(self.tokens),
            "before": self.before,
            "after": self.after,
        }


def anchored(
    values: Float[np.ndarray, "records"], law: Float[np.ndarray, "records"]
) -> Float[np.ndarray, "records"]:
    """A law that is known up to a factor, through the last value; far above the others, NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        curve = law * (values[-1] / law[-1])
    return np.where(curve <= 2 * np.nanmax(values, initial=0.0), curve, np.nan)
