"""What several statements about training say."""

from typing import Any

import numpy as np

from lemmata.claims import Comparison, at_least, at_most
from lemmata.settings import Evidence, Grid

from ..setting import Dataset

EPS = float(np.finfo(float).eps)


def norm_bounds(evidence: Evidence[Any], rate: Grid, divisor: Grid) -> list[Comparison]:
    """t eta + ||W(0)|| >= ||W(t)|| >= t eta / divisor - ||W(0)||."""
    reach, norm, start = evidence.records * rate, evidence.norm, evidence.norm[:, :1]
    size = norm + reach + start
    return [
        at_least(
            norm, reach / divisor - start, part="norm, lower", baseline=0.0, from_step=1, size=size
        ),
        at_most(norm, reach + start, part="norm, upper", size=size),
    ]


def largest_inverse_frequency(dataset: Dataset) -> float:
    """1/min π, at least N; e^600 where it is even larger."""
    return float(np.exp(min(-dataset.log_pi.min(), 600.0)))


def optimal_mass(log_odds: Grid) -> Grid:
    """φ₊ from log-odds, which do not saturate."""
    return 1 / (1 + np.exp(-np.maximum(np.minimum(log_odds, 700.0), -700.0)))
