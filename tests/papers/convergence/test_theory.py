"""Bounds and constants against the printed formulas in exact numbers, and against brute force."""

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import pytest

from lemmata.papers.convergence import theory
from lemmata.papers.convergence.setting import Dataset, Samples, example_1, generate
from lemmata.tokens import Role

# Example 1 as the paper trains it (n is the norm of W*, squared here), and two made-up settings.
SETTINGS = [
    {"K": 4, "N": 9, "L": 4, "n2_kq": Fraction(13, 6), "eta": "0.025", "eta0": "0.1"},
    {"K": 20, "N": 61, "L": 9, "n2_kq": Fraction(101, 7), "eta": "0.0112", "eta0": "0.0447"},
    {"K": 7, "N": 5, "L": 3, "n2_kq": Fraction(1, 2), "eta": "1.3", "eta0": "0.7"},
]


def exact(case: dict) -> dict:
    """The setting in fifteen more digits than the package has."""
    mpmath.mp.dps = 30
    n2 = mpmath.mpf(case["n2_kq"].numerator) / case["n2_kq"].denominator
    return {
        **{name: mpmath.mpf(case[name]) for name in ("K", "N", "L", "eta", "eta0")},
        "n": mpmath.sqrt(n2),
        "n_ov": mpmath.sqrt(case["K"] - 1),
    }


def floats(values: dict, *names: str) -> list[float]:
    return [float(values[name]) for name in names]


@pytest.mark.parametrize("case", SETTINGS, ids=lambda case: f"K{case['K']}")
class TestPrintedFormulas:
    """Each as the paper prints it, in high precision."""

    def test_proposition_1_and_3(self, case):
        e = exact(case)
        for t in (2, 900, 123456):
            for constant in (5, 12):
                printed = 1 - constant * e["n_ov"] ** 3 * mpmath.log(2 * e["K"]) * mpmath.log(t) / (
                    t * e["eta0"]
                )
                value = theory.value_cosine_bound(t, *floats(e, "eta0", "n_ov", "K"), constant)
                assert value == pytest.approx(float(printed), rel=1e-13)

    def test_theorem_1(self, case):
        e = exact(case)
        for t in (2, 900, 1e10):
            printed = 1 - 54 * e["N"] * e["L"] ** 4 * e["n"] ** 4 * mpmath.log(t) ** 2 / (
                t * e["eta"]
            )
            value = theory.attention_cosine_bound(t, *floats(e, "eta", "n", "N", "L"))
            assert value == pytest.approx(float(printed), rel=1e-13)

    def test_theorem_2(self, case):
        e = exact(case)
        C0 = e["eta0"] / (4 * e["n_ov"] ** 2)
        C1 = e["eta"] / (4 * e["L"] * e["n"] ** 2)
        assert theory.C0(*floats(e, "eta0", "n_ov")) == pytest.approx(float(C0), rel=1e-14)
        assert theory.C1(*floats(e, "eta", "n", "L")) == pytest.approx(float(C1), rel=1e-14)
        for t in (0, 1, 900, 20000):
            weight = 1 / (1 + e["L"] * mpmath.exp(-C1 * t))
            value = theory.attention_weight_bound(t, *floats(e, "eta", "n", "L"))
            assert value == pytest.approx(float(weight), rel=1e-13)
            T = 900
            log_loss = mpmath.log(e["K"]) - T * C0 * (
                1 - 2 * e["L"] / (e["L"] + mpmath.exp(C1 * t))
            )
            value = theory.log_loss_bound(t, T, float(C0), *floats(e, "eta", "n", "K", "L"))
            assert value == pytest.approx(float(log_loss), rel=1e-12, abs=1e-12)

    def test_lemma_7(self, case):
        e = exact(case)
        start = math.ceil(8 * case["L"] * case["n2_kq"] / Fraction(case["eta"]))
        assert theory.lemma_7_start(*floats(e, "eta", "n", "L")) == start
        for w in (0.5, 3.0, 1000.0):
            alpha = 4 * e["N"] * e["L"] ** 2 * e["n"] ** 2 / w * (1 + mpmath.log(2 * e["L"] * w))
            value = theory.lemma_7_alpha(w, *floats(e, "n", "N", "L"))
            assert value == pytest.approx(float(alpha), rel=1e-13)

    def test_threshold_of_theorem_2(self, case):
        """The root of t = 1696 N L^4 n^6 log^2 t / eta, above which it speaks."""
        e = exact(case)
        constant = 1696 * e["N"] * e["L"] ** 4 * e["n"] ** 6 / e["eta"]
        guess = constant * mpmath.log(constant) ** 2 * 1.7
        root = mpmath.findroot(lambda t: t - constant * mpmath.log(t) ** 2, guess)
        steps = theory.theorem_2_steps(*floats(e, "eta", "n", "N", "L"))
        assert steps == pytest.approx(float(mpmath.ceil(root)), abs=1, rel=1e-14)

    def test_corollary_1(self, case):
        e = exact(case)
        constant = 384 * e["n_ov"] ** 5 * mpmath.log(2 * e["K"]) / e["eta0"]
        guess = constant * mpmath.log(constant) * 1.3
        root = mpmath.findroot(lambda t: t - constant * mpmath.log(t), guess)
        steps = theory.corollary_1_steps(*floats(e, "eta0", "n_ov", "K"))
        assert steps == pytest.approx(float(mpmath.ceil(root)), abs=1, rel=1e-14)

    def test_loss_floor(self, case):
        e = exact(case)
        for T in (1, 900, 30000):
            margin = T * e["eta0"] / mpmath.sqrt(e["K"] - 1)
            printed = mpmath.log(mpmath.log1p((e["K"] - 1) * mpmath.exp(-margin)))
            value = theory.loss_floor(T, *floats(e, "eta0", "K"))
            assert value == pytest.approx(float(printed), rel=1e-12)


def test_constants_of_example_1():
    """The same by hand: ||W_kq*||² = 13/6, L = 4, eta = 1/40, eta_0 = 1/10, T = 900."""
    n = (13 / 6) ** 0.5
    assert theory.lemma_7_start(0.025, n, 4) == 2774  # 8320/3, rounded up
    assert theory.corollary_1_steps(0.1, 3**0.5, 4) == pytest.approx(1.79e6, rel=0.01)
    assert theory.proposition_2_column(2, 3) == (Fraction(3, 5), Fraction(-2, 5))


@pytest.mark.parametrize(("K", "eta0"), [(4, 0.1), (20, 0.2 / 20**0.5), (7, 1.3)])
@pytest.mark.parametrize("constant", [5, 12])
def test_cosine_bound_of_stage_1_becomes_positive_where_mpmath_says(K, eta0, constant):
    n = mpmath.sqrt(K - 1)
    slope = constant * n**3 * mpmath.log(2 * K) / eta0
    root = mpmath.findroot(lambda t: t - slope * mpmath.log(t), slope * mpmath.log(slope) * 1.5)
    start = theory.value_bound_starts(eta0, float(n), K, constant)
    assert start == int(mpmath.ceil(root))


def test_cosine_bound_of_theorem_1_becomes_positive_where_mpmath_says():
    n, N, L, eta = mpmath.sqrt(mpmath.mpf(13) / 6), 9, 4, mpmath.mpf(0.025)
    slope = 54 * N * L**4 * n**4 / eta
    root = mpmath.findroot(lambda t: t - slope * mpmath.log(t) ** 2, 1.3e10)
    start = theory.attention_bound_starts(0.025, float(n), N, L)
    assert start == pytest.approx(float(root), rel=1e-9)
    assert start == pytest.approx(1.26e10, rel=0.01)


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
