"""Quantities of the proofs of Theorems D.4 and E.6, and the laws of the two-scalar dynamics.

Written in u = 1 - q s_+, the attention that misses the subset, so that nothing cancels as u -> 0.
"""

import numpy as np
from jaxtyping import Num

NEEDED_DELTA = 0.1
"""Theorem 3.3 asks for the restricted isometry property with a delta below this."""

Real = int | float | Num[np.ndarray, "..."]


def chosen(u: Real, q: Real) -> Real:
    """s_+, the attention on one chosen position."""
    return (1 - u) / q


def denominator(u: Real, T: Real, q: Real) -> Real:
    """D = T q s_+^2 - 2 q s_+ + 1, as a sum of squares."""
    return (T - q) * (1 - u) ** 2 / q + u**2


def best_alpha(u: Real, T: Real, q: Real) -> Real:
    """alpha*, where alpha would rest if s_+ did."""
    return (T - q) * (1 - u) / (q * denominator(u, T, q))


def overshoot(u: Real, T: Real, q: Real) -> Real:
    """r = (1 - q s_+) / (q s_+ (T s_+ - 1)): alpha = (1 + gamma r) alpha* defines gamma."""
    return u / ((1 - u) * (T * chosen(u, q) - 1))


def ceiling(u: Real, T: Real, q: Real, share: Real) -> Real:
    """(1 + share r) alpha*, the upper end of (IH1), (IH2) and of the bands in their proofs."""
    return (1 + share * overshoot(u, T, q)) * best_alpha(u, T, q)


def gamma(alpha: Real, u: Real, T: Real, q: Real) -> Real:
    """How far alpha is above alpha*, in units of r alpha*."""
    return (alpha / best_alpha(u, T, q) - 1) / overshoot(u, T, q)


def kappa(T: Real, q: Real, d: Real, epsilon: Real) -> Real:
    """sqrt(q (T-q) epsilon / (d T)): a loss of epsilon needs u below about this."""
    return np.sqrt(q * (T - q) * epsilon / (d * T))


def two_level_loss(alpha: Real, u: Real, T: Real, q: Real, d: Real) -> Real:
    """Lemma D.2 for attention that is the same on all positions outside the subset."""
    return 0.5 * d * ((1 - alpha + alpha * u) ** 2 / q + alpha**2 * u**2 / (T - q))


def missed(C: Real, T: Real, q: Real, gap: Real = 1.0) -> Real:
    """u at C if every <e_i, e_y> outside y is 1 - gap (Lemma E.15); one-hot encodings: gap 1."""
    others = (T - q) * np.exp(-gap * np.asarray(C))
    return others / (q + others)


def gap_bounds(delta: Real) -> tuple[Real, Real]:
    """(1-3 delta)/(1-2 delta) and (1-delta)/(1-2 delta): where Lemma A.3 has 1 - <e_i, e_y>."""
    return (1 - 3 * delta) / (1 - 2 * delta), (1 - delta) / (1 - 2 * delta)


def concentration_needed(T: Real, q: Real, d: Real, epsilon: Real) -> Real:
    """The C of one-hot encodings at which s_+ = (1 - kappa) / q."""
    k = kappa(T, q, d, epsilon)
    return np.log((T - q) * (1 - k) / (q * k))


def concentration_printed(T: Real, q: Real, d: Real, epsilon: Real) -> Real:
    """The same as the proof of Theorem D.4 prints it."""
    return -np.log(q * kappa(T, q, d, epsilon))


def concentration_reached(T: Real, q: Real, d: Real, epsilon: Real, delta: Real) -> Real:
    """The C of Corollary E.8."""
    return np.log((T - q) / (q * kappa(T, q, d, epsilon))) / gap_bounds(delta)[0]


def late_loss(t: Real, rate: Real, inertia: Real) -> Real:
    """Our law for large t: (T-1)/(4 eta t), with d_e for T-1 if encodings are random."""
    return inertia / (4 * rate * np.asarray(t))


def late_concentration(t: Real, T: Real, q: Real, d: Real, rate: Real) -> Real:
    """Our law for C with one-hot encodings."""
    return np.log((T - q) / q) + 0.5 * np.log(2 * rate * d * np.asarray(t) / ((T - 1) * (T - q)))


def length_ratio(T1: Real, T2: Real, q: Real) -> Real:
    """Our law for L(T2) / L(T1) along training at T1, in the limit and with orthogonal encodings.

    Training at T1 ends near alpha* of T1, where the loss is d u^2 / (2 (T1 - q)); at T2 the same
    C misses rho = (T2 - q) / (T1 - q) times as much, and alpha is wrong by (rho - 1) u.
    """
    rho = (T2 - q) / (T1 - q)
    return (T1 - q) * ((rho - 1) ** 2 / q + rho**2 / (T2 - q))
