"""Bounds and constants against high precision and brute force."""

from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest

from lemmata.papers.convergence import theory
from lemmata.papers.convergence.setting import Dataset, Samples, example_1, generate
from lemmata.tokens import Role


@pytest.mark.parametrize(("K", "eta0"), [(4, 0.1), (20, 0.2 / 20**0.5), (7, 1.3)])
@pytest.mark.parametrize("constant", [5, 12])
def test_cosine_bound_of_stage_1_becomes_positive_where_mpmath_says(K, eta0, constant):
    n = mpmath.sqrt(K - 1)
    slope = constant * n**3 * mpmath.log(2 * K) / eta0
    root = mpmath.findroot(lambda t: t - slope * mpmath.log(t), slope * mpmath.log(slope) * 1.5)
    found = theory.first_step(
        lambda t: float(theory.value_cosine_bound(t, eta0, float(n), K, constant)),
        0.0,
        np.e,
    )
    assert found == int(mpmath.ceil(root))


def test_cosine_bound_of_theorem_1_becomes_positive_where_mpmath_says():
    n, N, L, eta = mpmath.sqrt(mpmath.mpf(13) / 6), 9, 4, mpmath.mpf(0.025)
    slope = 54 * N * L**4 * n**4 / eta
    root = mpmath.findroot(lambda t: t - slope * mpmath.log(t) ** 2, 1.3e10)
    found = theory.first_step(
        lambda t: float(theory.attention_cosine_bound(t, 0.025, float(n), N, L)),
        0.0,
        np.e**2,
    )
    assert found == pytest.approx(float(root), rel=1e-9)
    assert found == pytest.approx(1.26e10, rel=0.01)


def test_thresholds_of_theorem_2_and_corollary_1():
    assert theory.corollary_1_steps(0.1, 3**0.5, 4) == pytest.approx(1.79e6, rel=0.01)
    assert theory.corollary_1_steps(0.2 / 20**0.5, 19**0.5, 20) == pytest.approx(1.03e9, rel=0.01)
    start = theory.weight_bound_starts(0.025, (13 / 6) ** 0.5, 4)
    bound = [
        float(theory.attention_weight_bound(t, 0.025, (13 / 6) ** 0.5, 4))
        for t in (start - 1, start)
    ]
    assert bound[0] <= 1 / 3 < bound[1]
    assert theory.weight_bound_starts(1.0, 1.0, 2) == np.inf


def test_loss_bound_is_silent_for_ever_in_the_papers_own_experiment():
    K, eta0 = 20, 0.2 / 20**0.5
    C0 = eta0 / (4 * 19)
    assert theory.loss_bound_starts(900, C0, 0.0112, 3.79, K, 9) == np.inf
    assert np.isfinite(theory.loss_bound_starts(3227, C0, 0.0112, 3.79, K, 9))
    t = theory.loss_bound_starts(900, 0.1 / 12, 0.025, (13 / 6) ** 0.5, 4, 4)
    logs = [
        float(theory.log_loss_bound(s, 900, 0.1 / 12, 0.025, (13 / 6) ** 0.5, 4, 4))
        for s in (t - 1, t)
    ]
    assert logs[1] < np.log(np.log(4)) <= logs[0]


def test_loss_floor_is_the_limit_of_the_loss():
    assert theory.loss_floor(900, 0.1, 4) == pytest.approx(-50.86291193839821, abs=1e-9)
    assert theory.loss_floor(900, 0.2 / 20**0.5, 20) == pytest.approx(np.log(0.001854), abs=1e-3)


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (example_1(), 0.25062760821954805),
        (Dataset.from_sentences("abab", ["abab", "ba"]), 0.060056626739775174),
    ],
)
def test_limit_constant_against_recorded_values(dataset, expected):
    assert theory.limit_constant(dataset.orders, dataset.data.frequencies) == pytest.approx(
        expected, rel=1e-12
    )


def test_normalized_matching_against_all_subsets():
    decided = set()
    for dataset in generate(Samples(vocabulary=8, optimal=3, inputs_per_optimal=1), 30, seed=1):
        if dataset.broken("confused_token"):
            continue
        for query, graph in dataset.orders.graphs.items():
            if graph.evidence:
                expected = _hall(dataset, query)
                assert theory.normalized_matching(dataset.orders, query) == expected
                decided.add(expected)
    assert decided == {True, False}


def _hall(dataset: Dataset, query: int) -> bool:
    optimal = dataset.orders.having(query, Role.OPTIMAL)
    others = dataset.orders.having(query, Role.NON_OPTIMAL)
    edges = dataset.orders.graphs[query].edges
    for size in range(1, len(optimal) + 1):
        for chosen in combinations(optimal, size):
            reached = {b for x, b in edges if x in chosen}
            if Fraction(len(reached), len(chosen)) < Fraction(len(others), len(optimal)):
                return False
    return True
