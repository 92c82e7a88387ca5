"""Section 3.3 and Appendix C: what the width of a first layer costs, how sharp attention must be.

A fully connected net sees tokens and subset through m numbers. Whatever it does with them, it
misses the part of the target that lies in the kernel of its first layer, and that part is a trace
of M = (E[YY'] / q^2) (x) I_d. Losses here are mean squared errors, without the 1/2 of Eq. (3), as
Theorem 3.5 has them.
"""

import math
from fractions import Fraction

from ._recursion import Real


def zero_sum_eigenvalue(T: int, q: int) -> Fraction:
    """(T-q) / (qT(T-1)): M on tokens that add up to zero; multiplicity (T-1) d.

    This is the bound of Theorems 3.5 and C.1 as well. With one position there are no such tokens.
    """
    return Fraction(T - q, q * T * (T - 1)) if T > 1 else Fraction(0)


def mean_eigenvalue(T: int) -> Fraction:
    """1/T: M on tokens that are all equal; multiplicity d."""
    return Fraction(1, T)


def trivial_loss(q: int, d: int) -> Fraction:
    """d/q, the loss of the zero predictor: the trace of M."""
    return Fraction(d, q)


def width_law(T: int, q: int, d: int, width: int) -> Fraction:
    """Our law: the least loss of a first layer with so many neurons.

    The sum of the Td - width smallest eigenvalues of M: the d neurons that matter most hold the
    mean of all tokens, and each further one removes the bound of Theorem 3.5 once.
    """
    means = max(d - width, 0)
    others = max(T * d - max(width, d), 0)
    return others * zero_sum_eigenvalue(T, q) + means * mean_eigenvalue(T)


def proof_pair_error(q: int) -> Fraction:
    """The squared error that the pair in the proof of Theorem C.2 forces."""
    return Fraction(1, 4 * q**2)


def printed_worst_case(q: int) -> Fraction:
    """The squared error that Theorem C.2 claims."""
    return Fraction(1, 2 * q)


def unit_ball_error(q: int) -> Fraction:
    """The error (a norm) that the same pair forces when it fills the unit ball."""
    return Fraction(1, q)


def narrow_error(q: int) -> Fraction:
    """Our bound for tokens in the unit ball and any width below Td: the error is at least this.

    With one token 1 and all others -1/(2q-1), a subset sees 1/(2q-1) of the kernel whether it has
    the first token or not; every other kernel shows more to some subset.
    """
    return Fraction(1, 2 * q - 1)


def printed_scale(T: int, epsilon: float) -> int:
    """The alpha of Theorem C.3's proof, the scale of its logits."""
    return math.ceil(2 * math.log(2 * T) / epsilon)


def least_scale(T: int, q: int, epsilon: float, closest: float) -> float:
    """Our scale for an error of epsilon, if <e_i, e_y> <= closest < 1 off the subset.

    It is the least one if all these inner products are equal, as with one-hot encodings. The
    simpler log(2(T-q) / (q epsilon)) / (1 - closest) is a little more. No error exceeds 2.
    """
    if q == T or epsilon >= 2:
        return 0.0
    odds = (2 - epsilon) * (T - q) / (q * epsilon)
    return max(math.log(odds), 0.0) / (1 - closest)


def weight_bounds(T: Real, q: Real, epsilon: Real) -> tuple[Real, Real]:
    """(1 - epsilon/2) / q and epsilon/(2T): what the proof of Theorem C.3 needs of the weights.

    The first from below on the subset, the second from above off it.
    """
    return (1 - epsilon / 2) / q, epsilon / (2 * T)
