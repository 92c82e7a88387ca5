"""Averages of samples against what is stated."""

from typing import Any

import numpy as np

from lemmata.claims import Identity, equal, mean_of

BY_CHANCE = "it is judged on averages over drawn prompts, where a search would find chance"


def mean_is(part: str, draws: np.ndarray, stated: Any, size: Any = None) -> Identity:
    """The average over draws (first axis) is what is stated.

    ``size`` is what a wrong average would be compared with, where zero is stated.
    """
    mean, error = mean_of(draws)
    return equal(mean, stated, error=error, size=size, part=part)
