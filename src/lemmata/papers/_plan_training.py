"""What training plans takes in every paper: an algorithm, a step size, how many steps, records."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from lemmata._errors import InputError, unknown_name
from lemmata.training import log_spaced, record_steps

MOST_STEPS = 1_000_000_000


@dataclass(frozen=True)
class AbstractPlanTraining:
    """How plans are trained; None means as the plan has it, or the usual choice.

    Attributes:
        usual_steps: how many steps an algorithm takes, for all that there are.
        algorithm: one of them.
        rate: the step size.
        steps: how many.
        record: which to record; spread evenly over their logarithm unless given.
    """

    usual_steps: ClassVar[dict[str, int]]

    algorithm: str = "gd"
    rate: float | str | None = None
    steps: int | None = None
    record: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.algorithm not in self.usual_steps:
            raise InputError(unknown_name("algorithm", self.algorithm, self.usual_steps))
        if isinstance(self.rate, str):
            raise InputError(f"--lr takes a number here; got '{self.rate}'")
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"the step size must be a positive number; got {self.rate}")
        if self.total > MOST_STEPS:
            raise InputError(f"{self.total:,} steps are too many (at most {MOST_STEPS:,})")
        _ = self.recorded

    @property
    def total(self) -> int:
        """How many steps."""
        return self.usual_steps[self.algorithm] if self.steps is None else self.steps

    @property
    def recorded(self) -> Int[np.ndarray, "records"]:
        """The steps to record, the last one always."""
        if self.record is None and self.total >= 0:
            return log_spaced(self.total)
        return record_steps((*(self.record or ()), self.total), self.total)
