"""When to record: a sorted list of step numbers, always with the first and the last."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Int

from lemmata._errors import InputError

Steps = Int[np.ndarray, "records"]
MOST_STEPS = 1_000_000_000


def check_total(total: int) -> None:
    """Refuse a number of steps that no run has."""
    if total < 0:
        raise InputError(f"the number of steps must not be negative; got {total}")
    if total > MOST_STEPS:
        raise InputError(f"{total:,} steps are too many (at most {MOST_STEPS:,})")


def record_steps(wanted: Iterable[int], total: int) -> Steps:
    """The given steps, sorted and unique; a step outside 0..total is an error."""
    check_total(total)
    steps = sorted(set(wanted))
    if steps and not 0 <= steps[0] <= steps[-1] <= total:
        raise InputError(f"can only record steps 0 to {total}; got {steps[0]} to {steps[-1]}")
    return np.array(steps or [total], dtype=np.int64)


def every(total: int) -> Steps:
    """Every step from 0 to ``total``."""
    return np.arange(total + 1)


def log_spaced(total: int, count: int = 60) -> Steps:
    """About ``count`` steps, evenly spaced on a logarithmic axis, with 0 and ``total``."""
    check_total(total)
    steps = np.unique(np.rint(np.geomspace(1, max(total, 1), count)).astype(np.int64))
    return np.unique(np.concatenate([[0], steps[steps <= total], [total]]))
