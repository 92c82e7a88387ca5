"""What can be separated when not everything can, by Farkas instead of a linear program."""

import numpy as np
import pytest
from oracles.graph_svm import graph_svm, nearest_contradiction, solved

from lemmata.margin import (
    Status,
    generalized_max_margin,
    max_margin_of_pairs,
    pair_rows,
    separable,
    span_basis,
)
from lemmata.margin._subspace import remove

Pair = tuple[int, tuple[int, int]]


def random_pairs(generator: np.random.Generator, K: int, n: int, T: int) -> list[Pair]:
    """The edges of n random sequences with random labels."""
    found: dict[Pair, None] = {}
    for _ in range(n):
        tokens = generator.permutation(K)[:T].tolist()
        label = tokens[int(generator.integers(T))]
        found |= {(tokens[-1], (label, x)): None for x in tokens if x != label}
    return list(found)


def draw(seed: int) -> tuple[list[Pair], np.ndarray]:
    generator = np.random.default_rng([17, seed])
    E = generator.standard_normal((8, 4))
    return random_pairs(generator, 8, 10, 6), E / np.linalg.norm(E, axis=1, keepdims=True)


@pytest.fixture(scope="module", params=range(10))
def instance(request) -> tuple[list[Pair], np.ndarray]:
    return draw(request.param)


def test_a_row_is_bound_exactly_when_the_others_contradict_it(instance):
    rows = pair_rows(*instance)
    mask = separable(rows)
    for number, free in enumerate(mask):
        residual, y = nearest_contradiction(rows, number)
        assert (residual > 1e-6) is bool(free)
        assert residual > 1e-6 or residual < 1e-9
        assert y.min() >= 0


def test_the_direction_separates_what_is_separable_and_ties_the_rest(instance):
    pairs, E = instance
    found = generalized_max_margin(pairs, E)
    assert sorted([*found.separable, *found.bound]) == sorted(pairs)
    if not found.separable:
        assert found.margin.status is Status.ZERO
        return
    margins, ties = pair_rows(found.separable, E), pair_rows(found.bound, E)
    matrix, scale = solved(found.margin)
    W = matrix.ravel()
    assert (margins @ W).min() >= 1 - 1e-11 * scale
    np.testing.assert_allclose(ties @ W, 0, atol=1e-10 * scale)
    expected = graph_svm(margins, ties)
    assert expected is not None
    np.testing.assert_allclose(W, expected, atol=1e-6 * scale)


def test_the_instances_are_not_all_alike():
    kinds = [generalized_max_margin(*draw(seed)) for seed in range(10)]
    assert any(found.separable and found.bound for found in kinds)
    assert any(found.bound == () for found in kinds)


@pytest.mark.parametrize("seed", range(4))
def test_feasible_programs_have_nothing_bound(seed):
    generator = np.random.default_rng([18, seed])
    E = generator.standard_normal((6, 8))
    order = generator.permutation(6).tolist()
    pairs = [(q, (order[i], order[i + 1])) for q in range(6) for i in range(5)]
    found = generalized_max_margin(pairs, E)
    assert found.bound == ()
    np.testing.assert_allclose(
        solved(found.margin)[0], solved(max_margin_of_pairs(pairs, [], E))[0], atol=1e-10
    )


def test_opposite_rows_are_bound_and_bystanders_are_not():
    rows = np.array([[1.0, 0, 0], [-2.0, 0, 0], [0, 1.0, 0], [0, 1.0, 1.0], [0, -1.0, 5.0]])
    assert separable(rows).tolist() == [False, False, True, True, True]
    assert separable(rows[:0]).tolist() == []
    assert separable(np.zeros((1, 3))).tolist() == [False]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_lengths_of_the_rows_do_not_matter(scale):
    pairs, E = draw(3)
    rows = pair_rows(pairs, E)
    lengths = scale * np.random.default_rng(0).uniform(1e-3, 1.0, len(rows))
    np.testing.assert_array_equal(separable(lengths[:, None] * rows), separable(rows))


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_a_basis_spans_what_its_rows_span(rank):
    generator = np.random.default_rng(rank)
    rows = generator.standard_normal((9, rank)) @ generator.standard_normal((rank, 7)) * 1e-5
    basis = span_basis(rows)
    assert len(basis) == rank == np.linalg.matrix_rank(rows)
    np.testing.assert_allclose(basis @ basis.T, np.eye(rank), atol=1e-13)
    np.testing.assert_allclose(rows @ basis.T @ basis, rows, atol=1e-18)


@pytest.mark.parametrize(("size", "rank"), [(1e-3, 2), (1e-6, 2), (1e-8, 2), (1e-12, 1)])
def test_directions_that_nearly_coincide_count_until_rounding_blurs_them(size, rank):
    rows = 1e4 * np.array([[1.0, 0.0, 0.0], [1.0, size, 0.0], [2.0, size, 0.0]])
    assert len(span_basis(rows)) == rank


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-8])
def test_a_small_part_outside_a_span_is_kept(size):
    rows = 1e4 * np.array([[1.0, size, 0.0], [1.0, 1e-12, 0.0]])
    rest = remove(rows, np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(rest[0], [0, 1e4 * size, 0], rtol=1e-7)
    np.testing.assert_array_equal(rest[1], 0)


def test_removing_a_span():
    generator = np.random.default_rng(2)
    rows = generator.standard_normal((6, 7))
    basis = span_basis(rows[:3])
    rest = remove(rows, basis)
    np.testing.assert_array_equal(rest[:3], 0)
    np.testing.assert_allclose(rest @ basis.T, 0, atol=1e-14)
    projector = np.linalg.pinv(rows[:3]) @ rows[:3]
    np.testing.assert_allclose(rest[3:], rows[3:] - rows[3:] @ projector, atol=1e-13)


def test_nothing_spans_nothing():
    assert span_basis(np.zeros((0, 4))).shape == (0, 4)
    assert span_basis(np.zeros((3, 4))).shape == (0, 4)
    rows = np.ones((2, 4))
    np.testing.assert_array_equal(remove(rows, span_basis(np.zeros((0, 4)))), rows)
