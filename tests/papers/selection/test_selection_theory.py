"""Constants and bounds of the paper in exact numbers, from the printed formulas."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from lemmata.papers.selection import theory

STATES = [
    (T, q, d, u)
    for T, q, d in ((9, 2, 3), (20, 2, 1), (50, 3, 5), (200, 3, 1))
    for u in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))
]
SIZES = [(9, 2, 3, Fraction(1, 100)), (20, 2, 1, Fraction(1, 2000)), (50, 3, 5, Fraction(1, 64))]


@pytest.mark.parametrize(("T", "q", "d", "u"), STATES)
def test_states_in_fractions(T: int, q: int, d: int, u: Fraction):
    """D = T q s^2 - 2 q s + 1, alpha* = (T-q) s / D and r = (1 - q s) / (q s (T s - 1))."""
    s = (1 - u) / q
    D = T * q * s**2 - 2 * q * s + 1
    best = (T - q) * s / D
    r = (1 - q * s) / (q * s * (T * s - 1))
    share = Fraction(8 * d - 1, 8 * d)
    alpha = Fraction(6, 5)
    known = [
        (theory.chosen(float(u), q), s),
        (theory.denominator(float(u), T, q), D),
        (theory.best_alpha(float(u), T, q), best),
        (theory.overshoot(float(u), T, q), r),
        (theory.ceiling(float(u), T, q, float(share)), (1 + share * r) * best),
        (theory.gamma(1.2, float(u), T, q), (alpha / best - 1) / r),
        (
            theory.two_level_loss(1.2, float(u), T, q, d),
            Fraction(d, 2) * ((1 - q * alpha * s) ** 2 / q + alpha**2 * u**2 / (T - q)),
        ),
    ]
    for computed, exact in known:
        assert computed == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("T", "q", "d", "u"), STATES)
def test_alpha_rests_at_the_least_loss(T: int, q: int, d: int, u: Fraction):
    """The derivative of Lemma D.2's loss in alpha is 0 at alpha*, in fractions."""
    s = (1 - u) / q
    best = Fraction(T - q) * s / (T * q * s**2 - 2 * q * s + 1)
    assert -s * (1 - q * best * s) + best * u**2 / (T - q) == 0
    assert theory.best_alpha(float(u), T, q) == pytest.approx(float(best), rel=1e-13)


@pytest.mark.parametrize(("T", "q", "d", "epsilon"), SIZES)
def test_thresholds_in_many_digits(T: int, q: int, d: int, epsilon: Fraction):
    """kappa, and the three values of C that the proofs name."""
    with mp.workdps(40):
        eps = mp.mpf(epsilon.numerator) / epsilon.denominator
        kappa = mp.sqrt(q * (T - q) * eps / (d * T))
        delta = mp.mpf(1) / 12
        needed = mp.log((T - q) * (1 - kappa) / (q * kappa))
        printed = mp.log(mp.sqrt(d * T / (q * (T - q) * eps)) / q)
        reached = (1 - 2 * delta) / (1 - 3 * delta) * mp.log((T - q) / (q * kappa))
    sizes = (T, q, d, float(epsilon))
    assert theory.kappa(*sizes) == pytest.approx(float(kappa), rel=1e-14)
    assert theory.concentration_needed(*sizes) == pytest.approx(float(needed), rel=1e-13)
    assert theory.concentration_printed(*sizes) == pytest.approx(float(printed), rel=1e-13)
    assert theory.concentration_reached(*sizes, 1 / 12) == pytest.approx(float(reached), rel=1e-13)
    # At the needed C the attention that misses the subset is kappa itself.
    assert theory.missed(float(needed), T, q) == pytest.approx(float(kappa), rel=1e-12)


def test_thresholds_with_numbers():
    """T = 20, q = 2, d = 1, epsilon = 1/2000 by hand: kappa = sqrt(0.0009) = 0.03."""
    sizes = (20, 2, 1, 1 / 2000)
    assert theory.kappa(*sizes) == pytest.approx(0.03, rel=1e-14)
    assert theory.concentration_needed(*sizes) == pytest.approx(np.log(291.0), rel=1e-14)
    assert theory.concentration_printed(*sizes) == pytest.approx(np.log(1 / 0.06), rel=1e-14)
    assert theory.concentration_reached(*sizes, 0.1) == pytest.approx(8 / 7 * np.log(300.0))
    assert theory.NEEDED_DELTA == 0.1


@pytest.mark.parametrize("gap", [1.0, 0.75])
def test_missed_attention_by_its_softmax(gap: float):
    logits = np.array([2.5] * 3 + [2.5 * (1 - gap)] * 7)
    weights = np.exp(logits) / np.exp(logits).sum()
    assert theory.missed(2.5, 10, 3, gap) == pytest.approx(weights[3:].sum(), rel=1e-14)


def test_gaps_of_lemma_a3_in_fractions():
    low, high = theory.gap_bounds(1 / 16)
    assert (low, high) == pytest.approx((13 / 14, 15 / 14), rel=1e-15)


def test_late_laws_with_numbers():
    """(T-1)/(4 eta t), and C with u = e^-C (T-q)/q there: L = d u^2 / (2 (T-q))."""
    assert theory.late_loss(1_000, 0.5, 8) == 8 / 2_000
    T, q, d, rate, t = 9, 2, 3, 0.5, 10**6
    C = theory.late_concentration(t, T, q, d, rate)
    u = (T - q) / q * np.exp(-C)
    assert d * u**2 / (2 * (T - q)) == pytest.approx((T - 1) / (4 * rate * t), rel=1e-12)


@pytest.mark.parametrize(
    ("T1", "T2", "q", "ratio"),
    [(50, 100, 3, Fraction(2791, 141)), (9, 9, 2, Fraction(1)), (20, 40, 4, Fraction(17, 2))],
)
def test_length_ratios_in_fractions(T1: int, T2: int, q: int, ratio: Fraction):
    """47 (50/47)^2 / 3 + 97/47 = 2791/141, and so on, by hand."""
    assert theory.length_ratio(T1, T2, q) == pytest.approx(float(ratio), rel=1e-14)


def test_length_ratio_is_the_ratio_of_losses():
    """Near alpha* of T1, for a small u, by the loss itself."""
    T1, T2, q, d, C = 50, 100, 3, 5, 18.0
    alpha = theory.best_alpha(theory.missed(C, T1, q), T1, q)
    losses = [theory.two_level_loss(alpha, theory.missed(C, T, q), T, q, d) for T in (T1, T2)]
    assert losses[1] / losses[0] == pytest.approx(theory.length_ratio(T1, T2, q), rel=1e-5)


@pytest.mark.parametrize(("T", "q", "d"), [(2, 1, 3), (5, 2, 1), (10, 3, 2), (200, 3, 5)])
def test_widths_in_fractions(T: int, q: int, d: int):
    """(T-q)/(qT(T-1)), 1/T and d/q; the law adds up the eigenvalues that are left."""
    bulk = Fraction(T - q) / (q * T * (T - 1))
    assert theory.zero_sum_eigenvalue(T, q) == bulk
    assert theory.mean_eigenvalue(T) == Fraction(1, T)
    assert theory.trivial_loss(q, d) == Fraction(d, q) == (T - 1) * d * bulk + Fraction(d, T)
    assert theory.width_law(T, q, d, T * d - 1) == bulk
    assert theory.width_law(T, q, d, d) == (T - 1) * d * bulk
    assert theory.width_law(T, q, d, 0) == Fraction(d, q)
    assert theory.width_law(T, q, d, T * d) == 0


def test_one_position_has_no_tokens_that_add_up_to_zero():
    assert theory.zero_sum_eigenvalue(1, 1) == 0
    assert [theory.width_law(1, 1, 3, width) for width in range(4)] == [3, 2, 1, 0]


def test_worst_cases_in_fractions():
    assert [theory.proof_pair_error(q) for q in (1, 3)] == [Fraction(1, 4), Fraction(1, 36)]
    assert [theory.printed_worst_case(q) for q in (1, 3)] == [Fraction(1, 2), Fraction(1, 6)]
    assert [theory.unit_ball_error(q) for q in (1, 3)] == [1, Fraction(1, 3)]
    assert [theory.narrow_error(q) for q in (1, 3)] == [1, Fraction(1, 5)]


def test_scales_with_numbers():
    """ceil(2 log(40) / 0.5) = 15; log(1.5 * 17/1.5) = log 17 for one-hot encodings."""
    assert theory.printed_scale(20, 0.5) == 15
    assert theory.least_scale(20, 3, 0.5, 0.0) == pytest.approx(np.log(17), rel=1e-14)
    assert theory.least_scale(20, 3, 0.5, 0.25) == pytest.approx(np.log(17) / 0.75, rel=1e-14)
    assert theory.weight_bounds(20, 3, 0.5) == (0.25, 0.0125)
