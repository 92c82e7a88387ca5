"""The trained weights of a run, the same way in every setting: named matrices of each instance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from lemmata._errors import InputError

Matrices = Mapping[str, Float[np.ndarray, "..."]]


class TrainedWeights:
    """A sequence of named matrices, one mapping an instance, made when they are asked for.

    Args:
        instances: what was trained on.
        reasons: why an instance has no weights; None for those that have.
        make: the matrices of an instance that has them, by its number.
    """

    def __init__(
        self,
        instances: Sequence[Any],
        reasons: Sequence[str | None],
        make: Callable[[int], Matrices],
    ):
        self._names = [instance.name for instance in instances]
        self._reasons = list(reasons)
        self._make = make

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Matrices]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not isinstance(i, int | np.integer) or not -len(self) <= i < len(self):
            if isinstance(i, int | np.integer):
                raise IndexError(f"there is no instance {i}; there are {len(self)}")
            raise InputError(
                f"weights are asked for by the number of an instance, as in run.weights[0]; "
                f"got {i!r}"
            )
        i = int(i) % len(self)
        if self._reasons[i] is not None:
            raise InputError(f"{self._names[i]} was not trained: {self._reasons[i]}")
        return dict(self._make(i))

    def __repr__(self) -> str:
        count = len(self)
        return f"<trained weights of {count} instance{'s' * (count != 1)}: [0] are named matrices>"
