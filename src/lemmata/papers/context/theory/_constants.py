"""The constants of Theorem 1: gamma, alpha and the smoothness L in its four versions."""

from dataclasses import dataclass
from typing import Any, TypeAlias

Real: TypeAlias = Any
"""A float, or a number of more digits."""


@dataclass(frozen=True)
class Constants:
    """What Theorem 1 needs to know of a task and its initialization.

    Attributes:
        N, K, H: examples, tokens, heads.
        ridge: m tau.
        zeta: zeta_0, the least eigenvalue of all B_k B_k' at the start (14).
        gap: Delta^(0), the gap at the start (11).
        spectral: the spectral norm of Z-bar (12).
        largest_column: f-max (12).
        target: the spectral norm of A (34).
        cross: the spectral norm of Z' Z-hat, which bounds the former in (17).
    """

    N: int
    K: int
    H: int
    ridge: Real
    zeta: Real
    gap: Real
    spectral: Real
    largest_column: Real
    target: Real
    cross: Real


def least_gamma(c: Constants) -> Real:
    """The smallest gamma that (15) allows."""
    factor = 128 * 2**0.5 / (2**0.5 - 1)
    inner = factor * c.spectral**2 * c.H**0.5 * c.largest_column * c.K**1.5 * c.gap
    return c.zeta ** (-1.25) * inner**0.5


def radius(c: Constants, gamma: Real) -> Real:
    """alpha of (44), within which every |alpha_{h,k}| stays."""
    return (2 * c.K) ** 0.5 * 4 * c.spectral / (gamma * c.zeta) * c.gap**0.5


def smoothness(c: Constants, gamma: Real, alpha: Real | None = None) -> Real:
    """L of Lemma 10 as printed in (61); alpha is that of (44) unless given."""
    alpha = radius(c, gamma) if alpha is None else alpha
    prefactor = 8 * gamma * c.largest_column * c.spectral
    return (_in_alpha(c, gamma, alpha) + prefactor * _in_Q(c, gamma, alpha)) ** 0.5


def smoothness_repaired(c: Constants, gamma: Real, alpha: Real | None = None) -> Real:
    """L of Lemma 10 with the prefactor of (58) squared on the way to (59), as it has to be."""
    alpha = radius(c, gamma) if alpha is None else alpha
    prefactor = 16 * (gamma * c.largest_column * c.spectral) ** 2 / c.K
    return (_in_alpha(c, gamma, alpha) + prefactor * _in_Q(c, gamma, alpha)) ** 0.5


def _in_alpha(c: Constants, gamma: Real, alpha: Real) -> Real:
    """The square of the Lipschitz constant of the gradient in alpha (55)."""
    mixed = 2 * gamma * c.spectral**2 * (2 * gamma * c.H * alpha + c.target)
    return 2 * (mixed**2 / c.K + gamma**4 * c.H**2 * c.spectral**4 / c.K**2)


def _in_Q(c: Constants, gamma: Real, alpha: Real) -> Real:
    """What (59) multiplies its prefactor with."""
    moved = alpha * gamma * c.H
    bracket = moved**2 + 4 * c.N * (moved + c.target) ** 2
    return max(1, 4 * c.K * alpha**2) * bracket


def smoothness_needed(c: Constants, gamma: Real) -> Real:
    """An L with which the proof of Theorem 1 gives (18) for every t.

    It is that of the repaired (61) in the ball in which descent really stays. Let B_k move by at
    most e sqrt(zeta_0) and q = (1 - e)^2. Then (49) holds with 2 q sigma, the gap falls by
    1 - q eta_Q sigma in a step, Step 3 gives alpha / (2q) for alpha, and (47) and (48) a quarter of
    their bounds over q^2: e is as small as that says.
    """
    least = (1 - 0.5**0.5) / 4 * (least_gamma(c) / gamma) ** 2
    moved = least
    for _ in range(100):
        moved = least / (1 - moved) ** 4
    return smoothness_repaired(c, gamma, radius(c, gamma) / (2 * (1 - moved) ** 2))


def smoothness_simplified(c: Constants, gamma: Real) -> Real:
    """L as printed in (17)."""
    bracket = _bracket(c, power=2)
    first = 8 * gamma**2 / c.K + 4096 * c.K**2 * c.N * c.gap / (gamma * c.zeta**2)
    late = 16384 * c.K**3 * c.spectral**2 * c.gap**2 / (gamma * c.zeta**4)
    second = gamma**4 / c.K**2 + late
    return c.spectral**2 * (bracket**2 * first + 2 * c.H**2 * second) ** 0.5


def smoothness_simplified_repaired(c: Constants, gamma: Real) -> Real:
    """What (17) has to be to bound the repaired (61), where f-max <= ||Z-bar|| is used.

    The bracket has the first power of ||Z-bar||, and both branches of max{1, 4 K alpha^2} count.
    """
    alpha = radius(c, gamma)
    branch = max(1, 4 * c.K * alpha**2)
    first = 8 * gamma**2 / c.K * (1 + 8 * c.N * branch)
    second = gamma**4 / c.K**2 * (1 + 8 * c.K * alpha**2 * branch)
    return c.spectral**2 * (_bracket(c, power=1) ** 2 * first + 2 * c.H**2 * second) ** 0.5


def _bracket(c: Constants, *, power: int) -> Real:
    """What stands for 2 gamma H alpha + ||A|| in (17)."""
    reached = 8 * 2**0.5 * c.H * c.K**0.5 * c.spectral**power / c.zeta * c.gap**0.5
    return reached + 1 + c.cross / c.ridge
