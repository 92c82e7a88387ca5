"""What several statements about training say."""

import numpy as np

from lemmata.claims import Comparison, at_least, at_most, equal
from lemmata.settings import Evidence, Grid

from ..setting import Dataset

EPS = float(np.finfo(float).eps)


def norm_bounds(evidence: Evidence[Dataset], divisor: Grid) -> list[Comparison]:
    """t eta >= ||W(t)|| >= t eta / divisor, for a start at zero."""
    reach = evidence.records * evidence.rate
    norm = evidence.norm
    return [
        at_least(norm, reach / divisor, part="norm, lower", baseline=0.0, from_step=1),
        at_most(norm, reach, part="norm, upper"),
    ]


def update_rule(evidence: Evidence[Dataset]) -> Comparison:
    """||W(t+1)||² = ||W(t)||² + 2 eta <W(t), -g/||g||> + eta² where consecutive steps are known."""
    follows = np.diff(evidence.records) == 1
    before, after = evidence.norm[:, :-1], evidence.norm[:, 1:]
    along = np.where(before == 0, 0.0, evidence.descent_on_weights[:, :-1])
    moved = np.sqrt(before**2 + 2 * evidence.rate * before * along + evidence.rate**2)
    expected = np.where(follows, moved, np.nan)
    return equal(after, expected, part="update", size=before + evidence.rate)


def smallest_optimal_mass(evidence: Evidence[Dataset]) -> Grid:
    """min over inputs of phi_+, from log-odds that do not saturate."""
    return 1 / (1 + np.exp(-np.minimum(evidence.smallest_log_odds, 700.0)))
