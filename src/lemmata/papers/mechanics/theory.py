"""What the paper predicts: constants, thresholds and bounds of the proofs as functions."""

import numpy as np
from jaxtyping import Float


def score_gaps(scores: Float[np.ndarray, "labels tokens"]) -> tuple[float, float]:
    """c_min and c_max of Theorem 1's proof: the range of (e_k - e_i)^T c_k over i != k."""
    gaps = np.diag(scores)[:, None] - scores
    others = gaps[~np.eye(len(gaps), dtype=bool)]
    return float(others.min()), float(others.max())


def theorem_1_radius(
    epsilon: float, n: int, T: int, slopes: tuple[float, float], gaps: tuple[float, float]
) -> float:
    """(1/eps) log(2 n T^2 c_up c_max / (c_dn c_min)), after Eq. (9)."""
    (c_dn, c_up), (c_min, c_max) = slopes, gaps
    return float(np.log(2 * n * T**2 * c_up * c_max / (c_dn * c_min)) / epsilon)


def lemma_4_radius(
    epsilon: float,
    n: int,
    T: int,
    slopes: tuple[float, float],
    weak: tuple[float, float],
    strong: tuple[float, float],
    largest: float,
) -> float:
    """R_eps of Eq. (13); ``weak`` and ``strong`` are (c, d) of the samples i and j."""
    (c_dn, c_up), (c_i, d_i), (c_j, d_j) = slopes, weak, strong
    inside = 2 * n * T * c_up * c_j * d_i**2 / (c_dn * c_i * d_j**2)
    return float(np.log(inside) / epsilon + 2 * largest / epsilon)


def tie_range_bound(size: int, samples: int, risk: float, most: int) -> float:
    """How far apart tied logits can be at a given risk of the cyclic subdata.

    Along every edge y -> x inside a component some sample loses at least v_x - v_y - log m, where
    its label occurs m <= ``most`` times, and no two tokens are more than |C| - 1 edges apart: the
    range is at most (|C| - 1)(|I| Lbar + log m).
    """
    return (size - 1) * (samples * risk + float(np.log(most)))
