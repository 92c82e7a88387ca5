"""Theorem C.3's attention: against many digits, worst tokens, samples, and Eq. (8) written out."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from mpmath import mp, mpf
from oracles.sparse_selection import FACTS, SMALL, subset_vector

from lemmata._errors import InputError
from lemmata.papers.selection import theory
from lemmata.papers.selection.experiments.construction import encode
from lemmata.papers.selection.setting import Plan, Task, inner_products, one_hot
from lemmata.papers.selection.setting._construction import (
    attend_by_scale,
    equation_8,
    largest_off_subset,
    misled_encodings,
    printed_self_attention,
    self_attention,
    tight_encodings,
)


def exact_weights(E: np.ndarray, y: tuple[int, ...], scale: float) -> list[mpf]:
    """softmax(scale <e_i, e_y>) in fifty digits, with <e_i, e_y> from a solved system."""
    with mp.workdps(50):
        T = E.shape[1]
        gram = mp.matrix(T, T)
        for i in range(T):
            for j in range(T):
                gram[i, j] = mp.fsum(
                    mpf(float(a)) * mpf(float(b)) for a, b in zip(E[:, i], E[:, j], strict=True)
                )
        block = mp.matrix([[gram[a, b] for b in y] for a in y])
        c = mp.lu_solve(block, mp.matrix([1] * len(y)))
        g = [mp.fsum(gram[i, a] * c[k] for k, a in enumerate(y)) for i in range(T)]
        powers = [mp.exp(scale * x) for x in g]
        total = mp.fsum(powers)
        return [p / total for p in powers]


@pytest.mark.parametrize("scale", [0.0, 2.0, 20.0, 300.0])
def test_weights_and_errors_in_many_digits(scale: float):
    """To relative accuracy, also where 1/q minus the weight would be lost to rounding."""
    y = Task(6, 2, 1).all_subsets()
    found = attend_by_scale(inner_products(SMALL, y), y, scale)
    for row, subset in enumerate(map(tuple, y[:6])):
        S = exact_weights(SMALL, subset, scale)
        with mp.workdps(50):
            worst = mp.fsum(abs((mpf(1) / 2 if i in subset else 0) - S[i]) for i in range(6))
            square = mp.fsum(((mpf(1) / 2 if i in subset else 0) - S[i]) ** 2 for i in range(6))
        assert found.chosen[row] == pytest.approx(float(S[subset[0]]), rel=1e-12)
        assert found.worst_error[row] == pytest.approx(float(worst), rel=1e-10)
        assert found.mean_square(3)[row] == pytest.approx(float(3 * square), rel=1e-10)


def test_stored_errors():
    y = Task(6, 2, 1).all_subsets()
    g = inner_products(SMALL, y)
    for row in FACTS["c3"]["worst_error_small_encoding"]:
        errors = attend_by_scale(g, y, row["alpha"]).worst_error
        assert errors.max() == pytest.approx(row["worst_over_y"], rel=1e-10)
        assert errors.mean() == pytest.approx(row["mean_over_y"], rel=1e-10)


def test_stored_scales():
    for row in FACTS["c3"]["alpha_printed"]:
        assert theory.printed_scale(row["T"], row["eps"]) == row["alpha"]


def full_weights(E: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    logits = scale * (E.T @ subset_vector(E, y))
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def test_the_worst_tokens():
    """No tokens of norm at most 1 have a larger error; signs along one line attain it."""
    draw = np.random.default_rng(0)
    y = np.array([[1, 4]])
    found = attend_by_scale(inner_products(SMALL, y), y, 3.0).worst_error[0]
    S = full_weights(SMALL, y[0], 3.0)
    for _ in range(200):
        X = draw.standard_normal((3, 6))
        X /= np.maximum(np.linalg.norm(X, axis=0), 1)
        assert np.linalg.norm(X @ S - X[:, y[0]].mean(axis=1)) <= found
    direction = draw.standard_normal(3)
    direction /= np.linalg.norm(direction)
    signs = np.array([-1.0 if i in y[0] else 1.0 for i in range(6)])
    X = np.outer(direction, signs)
    assert np.linalg.norm(X @ S - X[:, y[0]].mean(axis=1)) == pytest.approx(found, rel=1e-12)


def test_gaussian_tokens():
    draw = np.random.default_rng(1)
    y = np.array([[0, 3]])
    S = full_weights(SMALL, y[0], 2.0)
    X = draw.standard_normal((40_000, 4, 6))
    squares = ((X @ S - X[:, :, y[0]].mean(axis=2)) ** 2).sum(axis=1)
    found = attend_by_scale(inner_products(SMALL, y), y, 2.0).mean_square(4)[0]
    assert abs(squares.mean() - found) < 4 * squares.std() / math.sqrt(40_000)


@pytest.mark.parametrize("epsilon", [1.5, 0.5, 0.01])
def test_the_least_scale_is_exact_for_one_hot_encodings(epsilon: float):
    y = Task(9, 2, 1).all_subsets()
    g = inner_products(one_hot(9), y)
    scale = theory.least_scale(9, 2, epsilon, 0.0)
    assert attend_by_scale(g, y, scale).worst_error == pytest.approx(epsilon, rel=1e-12)
    with mp.workdps(30):
        u = 7 * mp.exp(-scale) / (2 + 7 * mp.exp(-scale))
        assert float(2 * u) == pytest.approx(epsilon, rel=1e-12)
    assert scale < math.log(2 * 7 / (2 * epsilon))


def test_scales_that_are_not_needed():
    assert theory.least_scale(5, 5, 0.1, 0.0) == 0
    assert theory.least_scale(9, 2, 2.0, 0.0) == 0
    assert theory.least_scale(9, 2, 1.9, 0.0) == 0
    wide = theory.least_scale(9, 2, 0.1, 0.5) / theory.least_scale(9, 2, 0.1, 0.0)
    assert wide == pytest.approx(2)


@pytest.mark.parametrize("T", [2, 3, 20, 1000])
@pytest.mark.parametrize("epsilon", [1.0, 0.3, 0.02])
def test_the_proofs_weights_are_enough(T: int, epsilon: float):
    """With every inner product off the subset at 1/2, as bad as the proof allows."""
    q = max(1, T // 7)
    scale = theory.printed_scale(T, epsilon)
    low, high = theory.weight_bounds(T, q, epsilon)
    with mp.workdps(40):
        others = mp.exp(mpf(-scale) / 2)
        total = q + (T - q) * others
        assert mpf(1) / total >= low
        assert others / total <= high
        assert 2 * (T - q) * others / total <= epsilon


def test_equation_8_is_the_transformer_of_definition_2_4():
    """Literal matrices, softmax of the literal product, last column; and f of Eq. (2)."""
    draw = np.random.default_rng(2)
    X, y, scale = draw.standard_normal((3, 6)), np.array([0, 5]), 1.7
    inputs = equation_8(X, SMALL, y)
    assert inputs.shape == (3 + 16, 6)
    np.testing.assert_array_equal(inputs[:3], X)
    np.testing.assert_array_equal(inputs[11:], SMALL)
    assert not inputs[3:11, :-1].any()
    np.testing.assert_allclose(inputs[3:11, -1], subset_vector(SMALL, y), atol=1e-14)
    model = self_attention(3, 8, scale)
    assert model.Q.shape == model.K.shape == (8, 19)
    assert model.V.shape == (3, 19)
    product = inputs.T @ model.K.T @ model.Q @ inputs
    powers = np.exp(product)
    softmax = powers / powers.sum(axis=0)
    np.testing.assert_allclose(model.weights(inputs), softmax[:, -1], rtol=1e-12)
    np.testing.assert_allclose(model(inputs), (model.V @ inputs @ softmax)[:, -1], rtol=1e-12)
    np.testing.assert_allclose(model.weights(inputs), full_weights(SMALL, y, scale), rtol=1e-12)
    Z = np.concatenate([X, SMALL])
    W = np.zeros((11, 11))
    W[3:, 3:] = scale * np.eye(8)
    z = np.concatenate([draw.standard_normal(3), subset_vector(SMALL, y)])
    attention = np.exp(Z.T @ W @ z)
    np.testing.assert_allclose(model(inputs), X @ attention / attention.sum(), rtol=1e-12)


def test_the_printed_matrices():
    with pytest.raises(InputError, match="blocks with 3 and 8 rows"):
        printed_self_attention(3, 8)
    model = printed_self_attention(6, 6)
    inputs = equation_8(np.zeros((6, 6)), one_hot(6), np.array([1, 2]))
    np.testing.assert_allclose(model.weights(inputs), full_weights(one_hot(6), [1, 2], 1.0))


def fraction_inner(signs: np.ndarray, i: int, y: list[int]) -> Fraction:
    """<e_i, e_y> for sign vectors whose chosen ones are orthogonal."""
    d_e = len(signs)
    assert all(int(signs[:, a] @ signs[:, b]) == 0 for a, b in combinations(y, 2))
    return sum((Fraction(int(signs[:, i] @ signs[:, a]), d_e) for a in y), Fraction(0))


def test_misled_encodings_in_whole_numbers():
    E = misled_encodings()
    signs = np.rint(E * math.sqrt(96)).astype(int)
    np.testing.assert_allclose(np.abs(signs), 1)
    inner = signs.T @ signs - 96 * np.eye(6, dtype=int)
    assert np.abs(inner).max() == 24
    assert fraction_inner(signs, 5, [0, 1, 2, 3, 4]) == Fraction(5, 4)
    y = np.arange(5)[None]
    g = inner_products(E, y)
    assert largest_off_subset(g, y) == pytest.approx(1.25, rel=1e-12)
    errors = [attend_by_scale(g, y, scale).worst_error[0] for scale in (1.0, 10.0, 10_000.0)]
    assert errors[0] < errors[1] < errors[2] == pytest.approx(2)


def test_tight_encodings_in_whole_numbers():
    E = tight_encodings()
    signs = (4 * E).astype(int)
    assert (signs.T @ signs).tolist() == [[16, -4, 4], [-4, 16, 4], [4, 4, 16]]
    y = np.array([[0, 1]])
    assert inner_products(E, y)[0, 2] == pytest.approx(2 / 3, rel=1e-14)


def test_attention_missed_in_logarithms():
    """Also where it is too small for a number."""
    task = Task(12, 2, 1)
    case = encode(Plan("small", task, 1.0, 0.1, d_e=60, threshold=0.5))
    direct = max(2 * float(case.attention(9.0).missed.max()), 0.0)
    assert 2 * math.exp(case.log_missed(9.0)) == pytest.approx(direct, rel=1e-12)
    assert -math.inf < case.log_missed(5_000.0) < -1_000
    assert encode(Plan("all", Task(3, 3, 1), 1.0, 0.1)).log_missed(1.0) == -math.inf
