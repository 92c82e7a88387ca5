"""Bounds and quantities of the proofs in exact numbers, worked out from the printed formulas."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from lemmata.papers.mechanics import theory
from lemmata.papers.mechanics.counterexamples import chain, cycle_above_last
from lemmata.papers.mechanics.experiments import (
    At,
    linear_head,
    log_linear_excess,
    log_odds_outside,
    other_direction,
    project,
    random_weights,
    worst_margin,
)
from lemmata.papers.mechanics.setting import Dataset, Recipe

LOGITS = np.log([[1.0, 1.0, 4.0], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
"""W on the chain 0 > 1 > 2: attention 4 : 2 : 1 on [0 1 2], and 2 : 1 on [1 2]."""


def test_the_radius_of_theorem_1():
    """(1/eps) log(2 n T^2 c_up c_max / (c_dn c_min)); here the argument is 2,700."""
    with mp.workdps(40):
        inside = 2 * mpf(3) * 25 * 2 * mpf("1.5") / (mpf("0.5") / 3)
        assert inside == 2700
        expected = float(4 * mp.log(inside))
    found = theory.theorem_1_radius(0.25, np.log(3), 5, (0.5, 2.0), (1 / 3, 1.5))
    assert found == pytest.approx(expected, rel=1e-14)
    assert found == pytest.approx(31.604, abs=1e-3)


def test_the_radius_of_lemma_4():
    """(1/eps) log(2 n T c_up c_j d_i^2 / (c_dn c_i d_j^2)) + 2 b / eps, the argument 4,000/3."""
    argument = Fraction(2 * 5 * 4) * 2 * 5 * 9 / (Fraction(1, 2) * 3 * Fraction(9, 5))
    assert argument == Fraction(4000, 3)
    with mp.workdps(40):
        expected = float(
            (mp.log(mpf(argument.numerator) / argument.denominator) + mpf(3)) / mpf("0.2")
        )
    found = theory.lemma_4_radius(
        0.2, np.log(5), 4, (0.5, 2.0), tuple(np.log([3, 3])), (np.log(5), np.log(9 / 5) / 2), 1.5
    )
    assert found == pytest.approx(expected, rel=1e-14)


def test_score_gaps_are_between_the_label_and_every_other_token():
    scores = np.array([[1.0, 0.25, 0.5], [0.0, 2.0, 1.5], [-1.0, 0.0, 0.75]])
    # 3/4, 1/2; 2, 1/2; 7/4, 3/4
    assert theory.score_gaps(scores) == (0.5, 2.0)


def test_the_range_of_ties():
    """(|C| - 1)(|I| L + log m)."""
    assert theory.tie_range_bound(4, 6 * 0.25, 1) == 4.5
    assert theory.tie_range_bound(3, 6 * 0.25, 2) == pytest.approx(3 + 2 * 0.6931471805599453)


def test_odds_and_excess_are_those_of_the_attention():
    dataset = chain()
    np.testing.assert_allclose(np.exp(log_odds_outside(dataset, LOGITS)), [3 / 4, 1 / 2])
    # With C = I the gaps are 1, so the excess is the mean of 3/7 and 1/3.
    found = np.exp(log_linear_excess(dataset, np.eye(3), LOGITS))
    assert found == pytest.approx(float(Fraction(8, 21)), rel=1e-14)
    # With c_0 = (1, 1/2, -1) and c_1 = (0, 1, 1/4): 2/7 * 1/2 + 1/7 * 2, and 1/3 * 3/4.
    head = np.array([[1.0, 0.5, -1.0], [0.0, 1.0, 0.25], [0.0, 0.0, 1.0]])
    expected = (Fraction(1, 7) + Fraction(2, 7) + Fraction(1, 4)) / 2
    assert np.exp(log_linear_excess(dataset, head, LOGITS)) == pytest.approx(float(expected))


def test_risk_gradient_and_curvature_at_given_attention():
    at = At(chain(), LOGITS)
    assert at.risk == pytest.approx((np.log(7 / 4) + np.log(3 / 2)) / 2, rel=1e-14)
    np.testing.assert_allclose(at.masses, [4 / 7, 2 / 7, 1 / 7, 2 / 3, 1 / 3])
    # Half of (-3/7, 2/7, 1/7) and of (0, -1/3, 1/3), all in the column of token 2.
    column = np.array([-3 / 14, 1 / 7 - 1 / 6, 1 / 14 + 1 / 6])
    np.testing.assert_allclose(at.gradient(), np.outer(column, [0, 0, 1]), atol=1e-15)
    covariance = np.zeros((3, 3))
    for p in (np.array([4, 2, 1]) / 7, np.array([0, 2, 1]) / 3):
        covariance += (np.diag(p) - np.outer(p, p)) / 2
    columns = np.stack([np.outer(unit, [0, 0, 1]).ravel() for unit in np.eye(3)])
    roots = at.curvature_roots(columns)
    np.testing.assert_allclose(
        np.sort(roots**2), np.linalg.eigvalsh(covariance), rtol=1e-12, atol=1e-15
    )


def test_rounding_grows_with_the_logits():
    dataset = chain()
    small, large = (At(dataset, scale * np.ones((3, 3))).rounding for scale in (1.0, 1e6))
    assert 1e-15 < small < 1e-13
    assert large / small == pytest.approx(5e5, rel=1e-5)


@pytest.mark.parametrize("number", range(4))
def test_other_directions_have_the_same_norm_and_a_smaller_margin(number: int):
    dataset = Recipe(5, 5, 4, 4, "acyclic").draw("one", np.random.default_rng(3))
    other = other_direction(dataset, number, dataset.free_basis)
    norm = np.linalg.norm(dataset.target)
    assert np.linalg.norm(other) == pytest.approx(norm, rel=1e-12)
    cosine = np.sum(other * dataset.target) / norm**2
    assert cosine == pytest.approx(np.cos((0.1, 0.3, 1.0, 2.0)[number]), rel=1e-9)
    margin, sample = worst_margin(dataset, other)
    assert margin < 1
    s = dataset.realizable.samples[sample]
    gaps = [
        (dataset.E[s.label] - dataset.E[x]) @ other @ dataset.E[s.query]
        for x in s.tokens
        if x != s.label
    ]
    assert min(gaps) == pytest.approx(margin, rel=1e-12)


def test_projection_keeps_what_tied_tokens_differ_by():
    dataset = cycle_above_last()
    for W in random_weights(dataset):
        inside = project(dataset.tied_basis, W)
        # 0 and 1 are tied under 2: (W_02 - W_12)/2 goes to one, minus that to the other.
        half = (W[0, 2] - W[1, 2]) / 2
        expected = np.zeros((3, 3))
        expected[0, 2], expected[1, 2] = half, -half
        np.testing.assert_allclose(inside, expected, atol=1e-14)


def test_the_head_of_the_linear_loss_scores_every_label_highest():
    unit = Recipe(5, 6, 4, 4, "acyclic").draw("unit", np.random.default_rng(3))
    assert linear_head(unit) is unit.E
    skewed = Dataset.from_samples("skewed", [[0, 1]], [0], np.array([[1.0, 0.0], [2.0, 1.0]]))
    np.testing.assert_allclose(linear_head(skewed) @ skewed.E.T, np.eye(2), atol=1e-14)
