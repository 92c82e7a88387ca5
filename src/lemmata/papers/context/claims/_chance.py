"""Judging averages of samples: with error bars, and undecided where they do not tell."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from lemmata.old_claims import Judgement, Status

DEVIATIONS = 5.0
"""So many standard errors from the stated value, an average counts as different."""


def mean_is(
    part: str, rows: Iterable[tuple[str, np.ndarray, Any]], deviations: float = DEVIATIONS
) -> Judgement:
    """Judge that averages over draws (first axis) are what is stated, name by name."""
    worst, place = 0.0, {}
    for name, draws, stated in rows:
        mean = draws.mean(axis=0)
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        differs = np.where(mean == stated, 0.0, np.inf)
        away = np.divide(np.abs(mean - stated), error, out=differs, where=error > 0)
        at = np.unravel_index(int(np.argmax(away)), np.shape(away))
        if not place or float(np.asarray(away)[at]) > worst:
            worst = float(np.asarray(away)[at])
            left, right = (float(np.broadcast_to(x, np.shape(away))[at]) for x in (mean, stated))
            place = {"dataset": name, "left": left, "right": right}
    if not place:
        return Judgement(part, Status.INAPPLICABLE, f"{part}: there is nothing to average")
    reason = (
        f"{part}: at most {worst:.2f} standard errors from what is stated, on {place['dataset']} "
        f"({place['left']:.5g} against {place['right']:.5g})"
    )
    status = Status.HOLDS if worst <= deviations else Status.FAILS
    return Judgement(part, status, reason, deviations - worst, witness=place)
