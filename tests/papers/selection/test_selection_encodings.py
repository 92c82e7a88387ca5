"""Encodings: of subsets, by rejection, and all of them."""

import math
from fractions import Fraction
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import sparse_selection as oracle
from oracles.deadline import within
from oracles.sparse_selection import FACTS, SMALL
from scipy.stats import chisquare

from lemmata._errors import InputError
from lemmata.papers.selection.setting import (
    Task,
    all_near_orthogonal,
    check_threshold,
    exceed_probability,
    expected_draws,
    inner_products,
    near_orthogonal,
    near_orthogonal_family,
    one_hot,
    subset_encodings,
    welch_bound,
)
from lemmata.papers.selection.setting._encodings import SPARE
from lemmata.training import fold, signs, stream

drawn_signs = jax.jit(signs, static_argnums=1)


def candidates(source, blocks: int, d_e: int, T: int) -> np.ndarray:
    """What rejection draws from a stream, block after block."""
    drawn = [drawn_signs(fold(source, jnp.uint32(b)), (T + SPARE, d_e)) for b in range(blocks)]
    return np.concatenate([np.asarray(block) for block in drawn]).astype(int)


def test_golden_encodings_of_subsets():
    facts = FACTS["small_encoding"]
    np.testing.assert_allclose(SMALL.T @ SMALL, facts["gram"], atol=1e-15)
    y = np.array([row["y"] for row in facts["subsets"]])
    found = subset_encodings(SMALL, y)
    np.testing.assert_allclose(found, [row["e_y"] for row in facts["subsets"]], atol=1e-14)
    inner = inner_products(SMALL, y)
    np.testing.assert_allclose(inner, [row["inner"] for row in facts["subsets"]], atol=1e-14)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(lengths, [row["norm"] for row in facts["subsets"]], rtol=1e-14)


@pytest.mark.parametrize("q", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["signs", "gaussian"])
def test_the_encoding_of_a_subset_is_the_shortest_with_products_one(q, kind):
    E = np.random.default_rng(0).standard_normal((9, 7))
    if kind == "signs":
        E = np.sign(E) / 3
    y = Task(7, q, 1).draw_subsets(30, np.random.default_rng(1))
    expected = np.array([oracle.subset_vector(E, rows) for rows in y])
    np.testing.assert_allclose(subset_encodings(E, y), expected, rtol=1e-10, atol=1e-12)
    inner = inner_products(E, y)
    np.testing.assert_allclose(inner, expected @ E, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(inner, y, axis=1), 1, rtol=1e-11)


def test_one_hot_subsets_are_sums_of_columns():
    y = np.array([[0, 2], [1, 3]])
    np.testing.assert_array_equal(subset_encodings(one_hot(4), y), [[1, 0, 1, 0], [0, 1, 0, 1]])
    np.testing.assert_array_equal(inner_products(one_hot(4), y), [[1, 0, 1, 0], [0, 1, 0, 1]])


def test_golden_exceed_probabilities():
    for threshold, value in FACTS["pair_exceed_prob_de170"].items():
        assert exceed_probability(170, float(threshold)) == pytest.approx(value, rel=1e-10)


THRESHOLDS = ["0", "0.1", "0.2", "0.3", "1/3", "0.4", "0.5", "0.58", "0.7", "0.9", "0.999", "1"]


@pytest.mark.parametrize("d_e", [1, 2, 3, 6, 7, 10, 30, 100, 170])
def test_exceed_probabilities_in_fractions(d_e):
    # 0.58 * 100 is a little below 58 in floating point
    for threshold in map(Fraction, THRESHOLDS):
        ways = sum(math.comb(d_e, k) for k in range(d_e + 1) if abs(d_e - 2 * k) > threshold * d_e)
        expected = float(Fraction(ways, 2**d_e))
        assert exceed_probability(d_e, float(threshold)) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("threshold", "few", "many"),
    [
        (0.15, 1.4e6, 1.1e11),
        (0.18, 1771, 58307),
        (0.2, 441, 2271),
        (0.25, 219.5, 483),
        (0.3, 201.6, 406.6),
        (0.35, 200.1, 400.4),
    ],
)
def test_recorded_numbers_of_draws(threshold, few, many):
    assert expected_draws(170, 200, threshold) == pytest.approx(few, rel=0.03, abs=0.06)
    assert expected_draws(170, 400, threshold) == pytest.approx(many, rel=0.03, abs=0.06)


@pytest.mark.parametrize(("d_e", "T", "threshold"), [(60, 30, 0.25), (40, 20, 0.3)])
def test_the_number_of_draws_by_monte_carlo(d_e, T, threshold):
    draw, runs = np.random.default_rng(7), 250
    looked = [
        oracle.rejection(draw.choice([-1, 1], (400, d_e)), T, threshold * d_e)[1]
        for _ in range(runs)
    ]
    error = np.std(looked) / np.sqrt(runs)
    expected = expected_draws(d_e, T, threshold)
    assert expected > 1.4 * T
    assert error < 0.02 * expected
    # clashes are not quite independent: accepted vectors avoid each other, which costs 2 per cent
    assert abs(np.mean(looked) - expected) < 0.025 * expected + 3 * error


@pytest.mark.parametrize(
    ("d_e", "T", "threshold", "several"),
    [(30, 12, 0.5, False), (64, 60, 0.25, True), (8, 8, 0.0, True)],
)
def test_blocks_accept_what_one_vector_after_the_other_does(d_e, T, threshold, several):
    limit = math.floor(threshold * d_e + 1e-9)
    most = 0
    for seed in (0, 1, 2):
        expected, looked = oracle.rejection(candidates(stream(seed), 40, d_e, T), T, limit)
        assert len(expected) == T
        found = near_orthogonal(d_e, T, threshold, seed) * math.sqrt(d_e)
        np.testing.assert_allclose(found, expected.T, rtol=1e-14)
        gram = np.abs(found.T @ found) - d_e * np.eye(T)
        assert gram.max() <= threshold * d_e + 1e-9
        most = max(most, looked)
    assert (most > T + SPARE) == several


def test_members_of_a_family_are_drawn_one_after_the_other():
    family = near_orthogonal_family(4, 30, 12, 0.3, seed=5)
    for i, member in enumerate(family):
        drawn = candidates(fold(stream(5), jnp.uint32(i)), 20, 30, 12)
        expected, _ = oracle.rejection(drawn, 12, 9)
        np.testing.assert_allclose(member * math.sqrt(30), expected.T, rtol=1e-14)


def test_families_follow_the_law_of_rejection():
    # three vectors in four dimensions: the first two are uniform over the 16 * 14 allowed pairs
    family = near_orthogonal_family(4_000, 4, 2, 0.5, seed=3) > 0
    codes = np.einsum("mdt,d->mt", family, 1 << np.arange(4))
    pairs, counts = np.unique(codes, axis=0, return_counts=True)
    assert len(pairs) == 16 * 14
    assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(("T", "count"), [(2, 224), (4, 26_880), (5, 215_040)])
def test_the_number_of_near_orthogonal_sign_matrices(T, count):
    found = all_near_orthogonal(4, T, 0.5)
    assert found.shape == (count, 4, T)
    np.testing.assert_array_equal(np.abs(found), 0.5)
    codes = np.einsum("mdt,dt->m", found > 0, 1 << np.arange(4 * T).reshape(4, T))
    assert len(np.unique(codes)) == count
    inner = np.einsum("mdt,mdu->mtu", found, found) - np.eye(T)
    assert np.abs(inner).max() <= 0.5


def test_enumeration_leaves_out_nothing_allowed():
    every = np.array(list(product((1, -1), repeat=9))).reshape(-1, 3, 3)
    inner = np.einsum("mdt,mdu->mtu", every, every) - 3 * np.eye(3)
    allowed = {member.tobytes() for member in every[np.abs(inner).max(axis=(1, 2)) <= 1]}
    found = np.rint(all_near_orthogonal(3, 3, 1 / 3) * math.sqrt(3)).astype(every.dtype)
    assert {member.tobytes() for member in found} == allowed
    assert len(found) == len(allowed) == 192


def test_the_welch_bound_is_attained_and_never_beaten():
    # four sign vectors in three dimensions are the corners of a regular simplex
    assert welch_bound(3, 4) == pytest.approx(1 / 3, rel=1e-15)
    assert len(all_near_orthogonal(3, 4, welch_bound(3, 4))) == 384
    assert welch_bound(4, 4) == welch_bound(5, 4) == welch_bound(1, 1) == 0
    assert welch_bound(1, 2) == 1
    draw = np.random.default_rng(0)
    for d_e, T in ((2, 3), (2, 5), (3, 7), (6, 16)):
        E = draw.standard_normal((200, d_e, T))
        E /= np.linalg.norm(E, axis=1, keepdims=True)
        gram = np.einsum("mdt,mdu->mtu", E, E) - np.eye(T)
        assert np.abs(gram).max(axis=(1, 2)).min() >= welch_bound(d_e, T)
    angles = np.pi * np.arange(3) / 3
    lines = np.array([np.cos(angles), np.sin(angles)])
    assert np.abs(lines.T @ lines - np.eye(3)).max() == pytest.approx(welch_bound(2, 3), rel=1e-14)


@pytest.mark.parametrize(
    ("d_e", "T", "threshold", "message"),
    [
        (0, 4, 0.5, "d_e must be a positive whole number; got 0"),
        (4, 4, -0.1, "the threshold must be between 0 and 1; got -0.1"),
        (4, 4, 1.5, "the threshold must be between 0 and 1; got 1.5"),
        (4, 4, math.nan, "the threshold must be between 0 and 1; got nan"),
        (3, 5, 0.3, r"no 5 unit vectors in 3 dimensions .* at least 0.4082 \(Welch\)"),
        (7, 2, 0.0, "about inf draws would be needed for 2 sign vectors in 7 dimensions"),
        (170, 400, 0.15, r"about 1.1e\+11 draws would be needed for 400 sign vectors"),
        (4, 9, 0.5, "found only 8 of 9 sign vectors in 4 dimensions with inner products within"),
    ],
)
def test_thresholds_that_cannot_be_kept_stop_at_once(d_e, T, threshold, message):
    with within(20):
        with pytest.raises(InputError, match=message):
            near_orthogonal(d_e, T, threshold)
        with pytest.raises(InputError, match=message):
            near_orthogonal_family(2, d_e, T, threshold)


def test_one_vector_is_near_orthogonal_to_nothing():
    check_threshold(7, 1, 0.0)
    assert expected_draws(7, 1, 0.0) == 1
    assert near_orthogonal(7, 1, 0.0).shape == (7, 1)


def test_too_many_matrices_are_not_enumerated():
    with pytest.raises(InputError, match=r"2\^21 sign matrices are too many"):
        all_near_orthogonal(3, 7, 0.5)


@pytest.mark.parametrize("kind", ["negated", "gaussian"])
def test_dependent_columns_have_no_encoding(kind):
    # rounding lets a solver answer about half of these systems, with what is no encoding
    for seed in range(60):
        draw = np.random.default_rng(seed)
        d_e = int(draw.integers(3, 9))
        E = draw.standard_normal((d_e, d_e + 1))
        y = np.array([range(d_e + 1), np.roll(range(d_e + 1), 2)])
        assert np.isfinite(subset_encodings(E, y[:, 1:-1])).all()
        if kind == "negated":
            E = np.sign(E) / math.sqrt(d_e)
            E[:, 1] = -E[:, 2]
        for encode in (subset_encodings, inner_products):
            with pytest.raises(InputError, match="linearly dependent, so e_y does not exist"):
                encode(E, y)


def test_a_doubled_column_is_refused():
    for seed in range(30):
        E = np.random.default_rng(seed).choice([-1.0, 1.0], (11, 4)) / math.sqrt(11)
        E[:, 1] = E[:, 3]
        with pytest.raises(InputError, match="linearly dependent, so e_y does not exist"):
            subset_encodings(E, np.array([[0, 1, 3]]))


@pytest.mark.parametrize("apart", [1e-1, 1e-2, 1e-3])
def test_a_nearly_doubled_column_is_encoded_rightly(apart: float):
    """The condition grows like apart^-2, and so may the error."""
    for seed in range(10):
        draw = np.random.default_rng(seed)
        E = draw.choice([-1.0, 1.0], (11, 4)) / math.sqrt(11)
        E[:, 1] = E[:, 3] + apart * draw.standard_normal(11)
        encoded = subset_encodings(E, np.array([[0, 1, 3]]))[0]
        expected = oracle.subset_vector(E, (0, 1, 3))
        np.testing.assert_allclose(encoded, expected, rtol=1e-13 / apart**2, atol=1e-13 / apart**3)
        np.testing.assert_allclose(E[:, [0, 1, 3]].T @ encoded, 1, rtol=1e-13 / apart**2)
