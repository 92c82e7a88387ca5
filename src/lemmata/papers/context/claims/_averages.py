"""Averages of samples against what is stated."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from lemmata.claims import Identity, equal, mean_of
from lemmata.settings import Case, Evidence, as_rows

CaseT = TypeVar("CaseT", bound=Case)


def mean_is(
    part: str,
    evidence: Evidence[CaseT],
    draws: Callable[[CaseT], np.ndarray],
    stated: Callable[[CaseT], Any],
    size: Callable[[CaseT], Any] | None = None,
) -> Identity:
    """The average over draws (first axis) of each case is what is stated.

    ``size`` is what a wrong average would be compared with, where zero is stated.
    """
    averages = [mean_of(draws(case)) for case in evidence]
    return equal(
        as_rows([mean for mean, _ in averages]),
        evidence.each(stated),
        error=as_rows([error for _, error in averages]),
        size=None if size is None else evidence.each(size),
        part=part,
        cases=evidence.cases,
    )
