"""What the paper predicts: constants, thresholds and bounds of the proofs as functions."""

import numpy as np
from jaxtyping import Float


def score_gaps(scores: Float[np.ndarray, "labels tokens"]) -> tuple[float, float]:
    """c_min and c_max of Theorem 1's proof: the range of (e_k - e_i)^T c_k over i != k."""
    gaps = np.diag(scores)[:, None] - scores
    others = gaps[~np.eye(len(gaps), dtype=bool)]
    return float(others.min()), float(others.max())


def theorem_1_radius(
    epsilon: float, log_n: float, T: int, slopes: tuple[float, float], gaps: tuple[float, float]
) -> float:
    """(1/eps) log(2 n T^2 c_up c_max / (c_dn c_min)), after Eq. (9)."""
    (c_dn, c_up), (c_min, c_max) = slopes, gaps
    return float((log_n + np.log(2 * T**2 * c_up * c_max / (c_dn * c_min))) / epsilon)


def lemma_4_radius(
    epsilon: float,
    log_n: float,
    T: int,
    slopes: tuple[float, float],
    weak: tuple[float, float],
    strong: tuple[float, float],
    largest: float,
) -> float:
    """R_eps of Eq. (13); ``weak`` and ``strong`` are the logarithms of c and d of i and j."""
    (c_dn, c_up), (c_i, d_i), (c_j, d_j) = slopes, weak, strong
    log_inside = log_n + np.log(2 * T * c_up / c_dn) + c_j - c_i + 2 * (d_i - d_j)
    return float((log_inside + 2 * largest) / epsilon)


def tie_range_bound(size: int, losses: float, most: int) -> float:
    """How far apart tied logits can be at a given risk of the cyclic subdata.

    Along every edge y -> x inside a component some sample loses at least v_x - v_y - log m, where
    its label occurs m <= ``most`` times, and no two tokens are more than |C| - 1 edges apart: the
    range is at most (|C| - 1)(|I| Lbar + log m); ``losses`` is |I| Lbar, their sum.
    """
    return (size - 1) * (losses + float(np.log(most)))
