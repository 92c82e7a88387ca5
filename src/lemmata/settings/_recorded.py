"""Columns that know to which step each of their numbers belongs."""

from typing import Any

import numpy as np
from jaxtyping import Num

Steps = Num[np.ndarray, "records"]


class Recorded(np.ndarray):
    """A column of a run; what is cut out of it, or computed from it, still knows its steps.

    Numbers made from those of several steps, such as differences, belong to the latest of them.

    Attributes:
        steps: one a column of the array; None once that is lost.
    """

    steps: Steps | None

    def __array_finalize__(self, origin: Any) -> None:
        self.steps = None

    @classmethod
    def of(cls, grid: np.ndarray, steps: Steps) -> "Recorded":
        """A grid with one column a step."""
        column = np.asarray(grid).view(cls)
        column.steps = steps
        return column

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        both = isinstance(key, tuple) and len(key) == 2 and self.ndim == 2
        if isinstance(part, Recorded) and both and self.steps is not None:
            part.steps = np.atleast_1d(self.steps[key[1]])
        return part

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Recorded) else x for x in inputs]
        if options.get("out") is not None:
            options["out"] = tuple(np.asarray(target) for target in options["out"])
        result = getattr(ufunc, method)(*plain, **options)
        if method not in ("__call__", "accumulate") or not isinstance(result, np.ndarray):
            return result
        steps = steps_of(inputs, result.shape[-1] if result.ndim else 1)
        return result if steps is None else Recorded.of(result, steps)


def steps_of(sides: Any, width: int) -> Steps | None:
    """The steps to which ``width`` columns belong that were made from these; None if unknown."""
    known = [
        side.steps
        for side in sides
        if isinstance(side, Recorded) and side.steps is not None and len(side.steps) == width
    ]
    return np.maximum.reduce(known) if known else None
