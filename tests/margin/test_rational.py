"""The program in fractions: where floating point cannot tell constraints apart."""

from fractions import Fraction

import numpy as np
import pytest

from lemmata.margin import Status, max_margin_of_pairs, pair_rows
from lemmata.margin._rational import solve_in_fractions

EPS = float(np.finfo(float).eps)


def nearly(seed: int, apart: float) -> tuple[list, np.ndarray]:
    """Pairs under one query whose constraints are nearly parallel or nearly opposite."""
    draw = np.random.default_rng(seed)
    directions = draw.standard_normal((2, 4))
    signs = draw.choice([-1, 1], size=(4, 1))
    rows = directions[[0, 0, 1, 1]] * signs + apart * draw.standard_normal((4, 4))
    embeddings = np.vstack([rows, np.zeros(4), draw.standard_normal(4)])
    return [(5, (i, 4)) for i in range(4)], embeddings


def exact_rows(pairs: list, embeddings: np.ndarray) -> list[list[Fraction]]:
    E = [[Fraction(float(x)) for x in row] for row in embeddings]
    return [
        [(x - y) * z for x, y in zip(E[a], E[b], strict=True) for z in E[q]] for q, (a, b) in pairs
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("apart", [1.0, 1e-4, 1e-9])
def test_optimality_in_fractions(seed: int, apart: float) -> None:
    """Margins, stationarity and slackness, each up to the rounding of the answer's own entries."""
    pairs, embeddings = nearly(seed, apart)
    rows = exact_rows(pairs, embeddings)
    W, multipliers = solve_in_fractions(pairs, [], embeddings)
    if W is None:
        assert multipliers.sum() == pytest.approx(1)
        combination = [
            sum(Fraction(float(y)) * row[i] for y, row in zip(multipliers, rows, strict=True))
            for i in range(16)
        ]
        assert max(map(abs, combination)) < 1e-15
        return
    w = [Fraction(float(x)) for x in W.ravel()]
    norm = np.linalg.norm(W)
    allowed = 8 * EPS * norm * max(np.linalg.norm([float(x) for x in row]) for row in rows)
    margins = [sum(x * y for x, y in zip(row, w, strict=True)) for row in rows]
    assert all(float(margin - 1) >= -allowed for margin in margins)
    assert (multipliers >= 0).all()
    for margin, multiplier in zip(margins, multipliers, strict=True):
        assert multiplier == 0 or abs(float(margin - 1)) <= allowed
    assert multipliers.sum() == pytest.approx(norm**2, rel=1e-12)


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-8, 1e-12, 1e-30])
def test_nearly_opposite_constraints_have_a_long_solution(apart: float) -> None:
    embeddings = np.array([[1, apart], [0, 0], [0, apart], [1, 0], [1.0, 0]])
    W, multipliers = solve_in_fractions([(4, (0, 1)), (4, (2, 3))], [], embeddings)
    np.testing.assert_allclose(W, [[0, 0], [1 / apart, 0]], rtol=1e-15)
    np.testing.assert_allclose(multipliers, 0.5 / apart**2, rtol=1e-15)


def test_opposite_constraints_cannot_be_met() -> None:
    embeddings = np.array([[1.0, 0], [0, 0], [1.0, 0]])
    W, weights = solve_in_fractions([(2, (0, 1)), (2, (1, 0))], [], embeddings)
    assert W is None
    np.testing.assert_array_equal(weights, [0.5, 0.5])


@pytest.mark.parametrize("seed", range(6))
def test_ties_as_in_floating_point(seed: int) -> None:
    draw = np.random.default_rng(seed)
    embeddings = draw.standard_normal((7, 4))
    pairs = [(0, (1, 2)), (0, (3, 4)), (5, (1, 3)), (5, (6, 2))]
    tied = [(0, (1, 3)), (5, (2, 4)), (5, (2, 4)), (6, (0, 1))]
    usual = max_margin_of_pairs(pairs, tied, embeddings)
    W, _ = solve_in_fractions(pairs, tied, embeddings)
    assert usual.weights is not None
    assert W is not None
    np.testing.assert_allclose(W, usual.weights, atol=1e-7 * np.linalg.norm(W))
    ties = pair_rows(tied, embeddings) @ W.ravel()
    np.testing.assert_allclose(ties, 0.0, atol=1e-13 * np.linalg.norm(W))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("apart", [1e-4, 1e-7, 1e-9])
def test_what_is_solved_is_certified(seed: int, apart: float) -> None:
    """It used to be called solved with an infinite error bound."""
    pairs, embeddings = nearly(seed, apart)
    solution = max_margin_of_pairs(pairs, [], embeddings)
    if solution.status is Status.SOLVED:
        assert solution.norm is not None
        assert solution.error_bound <= 1e-6 * solution.norm
        W, _ = solve_in_fractions(pairs, [], embeddings)
        assert W is not None
        assert np.linalg.norm(solution.weights - W) <= solution.error_bound * (1 + 1e-9)
