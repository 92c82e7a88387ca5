"""Attention held fixed: eigenvalues in many digits, and descent on w by a loop."""

import math
from itertools import islice

import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import in_context as oracle
from oracles.in_context import FACTS, GOLDEN

from lemmata.papers.context.setting import (
    FrozenAttention,
    Task,
    attention_of,
    draw_task,
    draw_weights,
    exact_eigenvalue,
    exact_zeta,
    from_heads,
    frozen,
)

SHAPES = [((2, 4, 3, 2), 3), ((3, 6, 4, 5), 3), ((3, 5, 4, 2), 7), ((1, 3, 2, 2), 1)]
"""N, K, d and m, and the heads."""


def case(sizes: tuple[int, ...], H: int) -> tuple[oracle.Instance, np.ndarray, FrozenAttention]:
    instance = oracle.draw(*sizes, 0.2, H)
    Q, w = oracle.draw_heads(instance, H, H)
    return instance, Q, frozen(Task(*instance), from_heads(Q, w))


def singular_values(instance: oracle.Instance, Q: np.ndarray, k: int) -> list[mpf]:
    """Of B_k, with the square root of Z'Z + m tau I from its eigenvectors; the largest first."""
    values, vectors = mp.eigsy(oracle.exact_gram(instance))
    root = vectors * mp.diag([mp.sqrt(x) for x in values]) * vectors.T
    found = mp.svd_r(root * oracle.exact_scores(instance, Q, k), compute_uv=False)
    return sorted(found, reverse=True)


@pytest.mark.parametrize(("sizes", "H"), SHAPES)
def test_singular_values_and_zeta(sizes, H):
    instance, Q, found = case(sizes, H)
    np.testing.assert_allclose(found.attention, oracle.scores(instance, Q), rtol=1e-12)
    np.testing.assert_array_equal(found.attention, attention_of(found.task, Q.transpose(1, 0, 2)))
    with mp.workdps(40):
        expected = [singular_values(instance, Q, k) for k in range(instance.K)]
    sizes_found = np.array([[float(x) for x in row] for row in expected])
    np.testing.assert_allclose(found.sizes, sizes_found, rtol=1e-10)
    assert found.zeta == pytest.approx(float(min(row[-1] for row in expected) ** 2), rel=1e-10)
    assert found.resolved


def test_fewer_heads_than_examples():
    _, _, found = case((4, 6, 3, 2), 2)
    assert found.sizes.shape == (6, 4)
    np.testing.assert_array_equal(found.sizes[:, 2:], 0)
    assert found.zeta == 0
    assert not found.resolved


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_zeta(name):
    instance, Q, w = oracle.stored(name)
    task, weights = Task(*instance), from_heads(Q, w)
    assert frozen(task, weights).zeta == pytest.approx(GOLDEN[name]["zeta0"], rel=1e-6)
    exact = exact_zeta(task, weights, list(range(task.K)))
    assert float(exact) == pytest.approx(GOLDEN[name]["zeta0"], rel=1e-6)


def test_golden_range_of_zeta_at_the_size_of_the_paper():
    task = draw_task(30, 200, 100, 20, 0.01, seed=0)
    least, _, most = FACTS["paper_scale"]["zeta0_40seeds_quantiles_0_50_100"]
    assert 0.8 * least < frozen(task, draw_weights(task, 64, seed=1000)).zeta < 1.2 * most


def saturated(N: int, strength: float) -> tuple[oracle.Instance, np.ndarray]:
    """All heads look at the same token, and differ by as little as e^-strength elsewhere."""
    instance = oracle.draw(N, N + 1, N, 2, 0.3, N)
    instance.tokens[:, :N] = np.eye(N)
    Q, _ = oracle.draw_heads(instance, N, 5)
    Q[:, 0] += strength
    return instance, Q


@pytest.mark.parametrize("strength", [30.0, 150.0, 400.0])
def test_an_eigenvalue_of_two_by_the_quadratic_formula(strength):
    """B B' has the trace and the determinant of (Z'Z + m tau I) C C'."""
    instance, Q = saturated(2, strength)
    with mp.workdps(1_000):
        C = oracle.exact_scores(instance, Q, 0)
        square = oracle.exact_gram(instance) * C * C.T
        trace, product = square[0, 0] + square[1, 1], mp.det(square)
        largest = (trace + mp.sqrt(trace**2 - 4 * product)) / 2
        least, most = exact_eigenvalue(Task(*instance), Q.transpose(1, 0, 2), 0)
        assert abs(least / (product / largest) - 1) < mpf(10) ** -20
        assert abs(most / largest - 1) < mpf(10) ** -20
    assert -3 * strength < math.log(10) * float(mp.log10(least)) < -1.5 * strength


def test_an_eigenvalue_of_three_by_singular_values():
    instance, Q = saturated(3, 60.0)
    with mp.workdps(300):
        expected = singular_values(instance, Q, 1)
        least, most = exact_eigenvalue(Task(*instance), Q.transpose(1, 0, 2), 1)
        assert abs(least / expected[-1] ** 2 - 1) < mpf(10) ** -20
        assert abs(most / expected[0] ** 2 - 1) < mpf(10) ** -20
    assert least < 1e-40
    assert not FrozenAttention(Task(*instance), Q.transpose(1, 0, 2)).resolved


def test_an_eigenvalue_that_is_zero():
    """Two heads that are the same, and two tokens that are."""
    instance, Q, _ = case((2, 3, 2, 2), 2)
    Q[1] = Q[0]
    least, most = exact_eigenvalue(Task(*instance), Q.transpose(1, 0, 2), 2)
    assert least == 0
    assert most > 0


@pytest.mark.parametrize("H", [1, 2, 3, 5])
def test_the_floor_is_that_of_least_squares(H):
    instance, Q, found = case((4, 6, 5, 2), H)
    root = np.linalg.cholesky(instance.gram).T
    A, s = oracle.target(instance), oracle.scores(instance, Q)
    lost = 0.0
    for k in range(instance.K):
        B, wanted = root @ s[:, :, k], root @ A[:, k]
        left = wanted - B @ np.linalg.lstsq(B, wanted, rcond=None)[0]
        lost += left @ left / (2 * instance.K)
    assert found.floor == pytest.approx(lost, rel=1e-9, abs=1e-24)
    assert (lost > 1e-6) == (H < 4)


def test_the_floor_with_two_equal_tokens_is_that_of_least_squares():
    instance, Q, _ = case((4, 6, 5, 2), 7)
    tokens = instance.tokens.copy()
    tokens[:, 1] = tokens[:, 0]
    task = Task(tokens, instance.representations, instance.N, instance.tau)
    found = FrozenAttention(task, Q.transpose(1, 0, 2))
    lost = 0.0
    for k in range(task.K):
        B, wanted = found.scores[k], task.root @ task.target[:, k]
        left = wanted - B @ np.linalg.lstsq(B, wanted, rcond=1e-10)[0]
        lost += left @ left / (2 * task.K)
    assert found.floor == pytest.approx(lost, rel=1e-9)
    assert lost > 1e-3


def test_a_floor_that_float64_cannot_tell_is_not_told():
    """Saturated attention: any cut-off would give another number, and the truth is 0."""
    task = draw_task(5, 7, 30, 3, 0.1, seed=3, unit=False)
    found = frozen(task, draw_weights(task, 5, seed=4))
    assert found.floor is None
    rate = 0.98 * found.largest_stable_rate
    root, A = task.root, task.target
    u = np.stack([root @ A[:, k] for k in range(task.K)])
    steps = np.eye(task.N) - rate / task.K * found.scores @ found.scores.transpose(0, 2, 1)
    for _ in range(9):
        steps = np.stack([np.linalg.matrix_power(own, 10) for own in steps])
    left = np.sum(np.einsum("kij,kj->ki", steps, u) ** 2) / (2 * task.K)
    assert found.left_in_practice == pytest.approx(left, rel=1e-6)
    assert left > 1e-3


@pytest.mark.parametrize(
    ("sizes", "H", "part"),
    [
        ((3, 5, 4, 2), 7, 0.45),
        ((3, 5, 4, 2), 7, 0.97),
        ((4, 6, 5, 2), 2, 0.8),
        ((2, 4, 3, 2), 3, 1.1),
    ],
)
def test_descent_on_w_by_a_loop(sizes, H, part):
    """At a small rate, an oscillating one, with fewer heads, and one that diverges."""
    instance, Q, found = case(sizes, H)
    rate = part * found.largest_stable_rate
    path = oracle.descent(instance, Q, np.zeros((H, instance.K)), (0.0, rate))
    points = {t: point for t, point in enumerate(islice(path, 41)) if t in (0, 1, 2, 17, 40)}
    logs = found.log_gap(np.array(list(points), dtype=float), rate)
    expected = [math.log(point.gap) for point in points.values()]
    np.testing.assert_allclose(logs, expected, rtol=1e-9, atol=1e-10)
    for t, point in points.items():
        scale = max(1e-3, np.abs(point.w).max())
        np.testing.assert_allclose(
            found.weights_after(float(t), rate), point.w, rtol=1e-8, atol=1e-9 * scale
        )


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_descent_at_the_rate_of_the_theory(name):
    instance, Q, w = oracle.stored(name)
    facts, found = GOLDEN[name], frozen(Task(*instance), from_heads(Q, w))
    steps = list(facts["lazy_gap_at_theory_etaw"])
    logs = found.log_gap(np.array(steps, dtype=float), facts["constants"]["etaw_L61"])
    expected = list(facts["lazy_gap_at_theory_etaw"].values())
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-6)
    assert found.floor == 0


def test_small_singular_values_count_after_many_steps():
    """A step shrinks by 1 - 1e-13, which float64 rounds by a part in a thousand."""
    instance, Q, found = case((2, 4, 3, 2), 3)
    steps, rate = np.array([1e12, 1e14]), 2e-13
    root = np.linalg.cholesky(instance.gram).T
    A, s = oracle.target(instance), oracle.scores(instance, Q)
    with mp.workdps(50):
        parts = []
        for k in range(instance.K):
            U, sizes, _ = mp.svd_r(oracle.exact(root @ s[:, :, k]), full_matrices=True)
            along = U.T * oracle.exact((root @ A[:, k])[:, None])
            parts += [(along[j], 1 - mpf(rate) * sizes[j] ** 2 / instance.K) for j in range(2)]
        expected = [
            float(mp.log(mp.fsum((p * q ** mpf(t)) ** 2 for p, q in parts) / (2 * instance.K)))
            for t in steps
        ]
    np.testing.assert_allclose(found.log_gap(steps, rate), expected, rtol=1e-9, atol=1e-10)
    after = found.weights_after(1e14, rate)
    gap = float(found.task.gap(np.einsum("hk,nhk->nk", after, s)))
    assert math.log(gap) == pytest.approx(expected[1], rel=1e-7, abs=1e-7)


def test_the_largest_stable_rate_divides_convergence_from_divergence():
    instance, Q, found = case((3, 5, 4, 2), 4)
    A, s = oracle.target(instance), oracle.scores(instance, Q)
    gaps = {}
    for factor in (0.99, 1.01):
        w = np.zeros((4, instance.K))
        for _ in range(2_000):
            away = instance.gram @ (np.einsum("hk,nhk->nk", w, s) - A) / instance.K
            w = w - factor * found.largest_stable_rate * np.einsum("nhk,nk->hk", s, away)
        gaps[factor] = found.task.gap(np.einsum("hk,nhk->nk", w, s)) / found.task.initial_gap
    assert gaps[0.99] < 0.1
    assert gaps[1.01] > 1e6


def test_one_step_can_be_all_it_takes():
    """With a rate of K over a squared singular value its part is gone at once."""
    instance, _, found = case((1, 3, 2, 2), 1)
    rates = instance.K / found.sizes[:, 0] ** 2
    np.testing.assert_allclose(rates, rates[0], rtol=1e-12)
    gaps = found.log_gap(np.array([0.0, 1.0]), float(rates[0]))
    assert gaps[0] == pytest.approx(math.log(found.task.initial_gap), rel=1e-12)
    assert gaps[1] < -60
    np.testing.assert_array_equal(found.weights_after(0.0, float(rates[0])), 0)
