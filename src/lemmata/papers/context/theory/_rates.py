"""Step sizes, the guaranteed rate, and the number of steps of Theorem 2."""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath

from ._constants import Constants, Real, least_gamma, smoothness


@dataclass(frozen=True)
class Rates:
    """The step sizes of (16).

    Attributes:
        gamma: sqrt(eta_w / eta_Q).
        Q, w: eta_Q and eta_w.
        guaranteed: eta_w zeta_0 / (2K), by which the gap shrinks in every step (18).
    """

    gamma: Real
    Q: Real
    w: Real
    guaranteed: Real


def theory_rates(
    c: Constants,
    *,
    gamma: Real | None = None,
    share: float = 1.0,
    bound: Callable[[Constants, Real], Real] = smoothness,
) -> Rates:
    """Steps that (16) allows: the largest, or a share of them, for the least gamma or another."""
    chosen: Real = least_gamma(c) if gamma is None else gamma
    rate = share / bound(c, chosen)
    return Rates(chosen, rate, chosen**2 * rate, chosen**2 * rate * c.zeta / (2 * c.K))


def best_rate(c: Constants) -> Real:
    """The supremum of the guaranteed rate over gamma, zeta_0 / (2 sqrt(2) H ||Z-bar||^2)."""
    return c.zeta / (2 * 2**0.5 * c.H * c.spectral**2)


def label_bound(c: Constants, *, signal: Real, tau: Real, delta: float, bound: float) -> Real:
    """What ||y|| exceeds with probability at most delta, if ||lambda|| <= bound (69).

    ``signal`` is the spectral norm of Z.
    """
    log = -mpmath.log(delta)
    chi_square = c.N + 2 * mpmath.sqrt(c.N * log) + 2 * log
    return bound * (signal + mpmath.sqrt(tau * chi_square))


def steps_for_inference(c: Constants, guaranteed: Real, *, labels: Real, epsilon: float) -> Real:
    """T of (21), for labels with a norm of at most ``labels``."""
    needed = mpmath.log(labels**2 * c.gap / (c.ridge * epsilon))
    return max(mpmath.mpf(0), needed / -mpmath.log1p(-guaranteed))
