"""The states behind the proofs of Theorems D.4 and E.6, held against high precision and by hand."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from lemmata.claims import Bench, check
from lemmata.papers import papers
from lemmata.papers.selection.claims import _induction, closing
from lemmata.papers.selection.counterexamples import walsh_plan
from lemmata.papers.selection.experiments.settled import SETTLED
from lemmata.papers.selection.experiments.states import STATES
from lemmata.papers.selection.experiments.steps import STEPS, StepGrid, steps_of
from lemmata.papers.selection.setting import Plan, Task

ALL = {claim.name.removeprefix("selection/"): claim for claim in papers()["selection"].claims}


def exact_step(plan: Plan, g: list[list[Fraction]], C: Any, alpha: Any) -> dict[str, Any]:
    """One step over a family with these <e_i, e_y> off y, from the definitions, in 40 digits."""
    T, q, d, eta = plan.task.T, plan.task.q, plan.task.d, mp.mpf(plan.rate)
    C, alpha = mp.mpf(C), mp.mpf(alpha)

    def attention(C: Any) -> list[list[Any]]:
        rows = [[mp.e ** (C * mp.mpf(x.numerator) / x.denominator) for x in row] for row in g]
        return [[w / (q * mp.e**C + mp.fsum(row)) for w in row] for row in rows]

    def mean(values: list[Any]) -> Any:
        return mp.fsum(values) / len(values)

    def weighted(row: list[Fraction]) -> Any:
        gaps = [1 - mp.mpf(x.numerator) / x.denominator for x in row]
        return mp.fsum(mp.e ** (-C * gap) * gap for gap in gaps)

    S = attention(C)
    s = [(1 - mp.fsum(row)) / q for row in S]
    mean_s = mean(s)
    factor = 1 - q * alpha * (T * mean_s - 1) / (T - q)
    # Terms 1 and 2 of the proof of Lemma E.7.
    drawn = [
        a
        * (
            1
            - q * a
            - mp.fsum(w * mp.mpf(x.numerator) / x.denominator for w, x in zip(row, xs, strict=True))
        )
        for a, row, xs in zip(s, S, g, strict=True)
    ]
    turn = eta * d * alpha / plan.inertia * mean(drawn) * factor
    later = [(1 - mp.fsum(row)) / q for row in attention(C + turn)]
    square = q * mean_s**2 + (1 - q * mean_s) ** 2 / (T - q)
    return {
        "u": 1 - q * mean_s,
        "turn": turn,
        "next_alpha": alpha + eta * (mean_s - alpha * square),
        "next_u": 1 - q * mean(later),
        "moved": mean(later) - mean_s,
        "spread": mean([a * (1 - q * a) for a in s]),
        "sum": turn * max(map(weighted, g)),
    }


def concentration_at(gaps: np.ndarray, u: Any) -> Any:
    """The C at which so much attention misses two of nine positions; tables do not record it."""

    def missed(C: Any) -> Any:
        others = [mp.fsum(mp.e ** (-C * gap) for gap in row) for row in gaps]
        return mp.fsum(w / (2 + w) for w in others) / len(gaps)

    return mp.findroot(lambda C: missed(C) - u, mp.log(7 * (1 - u) / (2 * u)))


@pytest.mark.parametrize("even", [True, False])
def test_steps_in_high_precision(even: bool):
    """All columns of a plan, for orthogonal encodings and for two uneven subsets."""
    plan = Plan("mine", Task(9, 2, 3), 0.7, 0.01, d_e=64)
    g = (
        [[Fraction(0)] * 7]
        if even
        else [[Fraction(k, 40) for k in range(-3, 4)], [Fraction(1, 9)] * 7]
    )
    gaps = np.array([[float(1 - x) for x in row] for row in g])
    table = steps_of(plan, gaps)
    rows = np.flatnonzero(~np.isnan(table["turn"]))
    with mp.workdps(40):
        for row in rows[[0, 5, len(rows) // 2, -1]]:
            C = concentration_at(gaps, mp.mpf(float(table["u"][row])))
            exact = exact_step(plan, g, C, float(table["alpha"][row]))
            for name, value in exact.items():
                found = float(table[name][row])
                assert found == pytest.approx(float(value), rel=1e-9), (name, row)


def test_a_step_with_orthogonal_encodings_is_that_of_one_hot_ones():
    """The two tables agree where both speak, with T - 1 for d_e."""
    plan = Plan("mine", Task(13, 3, 2), 1 / 80, 0.01, d_e=12)
    table = steps_of(plan, np.ones((1, 10)))
    u, alpha = table["u"], table["alpha"]
    T, q, d = 13, 3, 2
    s = (1 - u) / q
    turn = plan.rate * alpha * d / 12 * s * u * (1 + q * alpha / (T - q) * (1 - T * s))
    np.testing.assert_allclose(table["turn"], turn, rtol=1e-7)  # terms of 1 cancel by hand
    np.testing.assert_allclose(table["spread"], s * u, rtol=1e-12)
    found = _induction.Step(Bench(instances=[plan]).evidence(STATES), _induction.ONE_HOT)
    less = np.exp(-found.turn)
    others = found.u / (1 - found.u)
    later = 1 / (1 + others * less) / q
    np.testing.assert_allclose(found.moved, later - found.s, rtol=0, atol=4e-16)
    assert np.nanmax(found.moved / found.s) > 1e-6


def test_the_smallest_state_that_breaks_s4():
    """(S4) fails with 0 > gamma, T = 1000: in 30 digits, from the recursion of Lemma E.7."""
    T, q, d, d_e = 1000, 2, 1, 1024
    with mp.workdps(30):
        eta = mp.mpf(d_e) ** 2 / (40 * d**2 * T)
        kappa = mp.sqrt(mp.mpf("0.9")) / 10

        def best(s: Any) -> Any:
            return (T - q) * s / (T * q * s**2 - 2 * q * s + 1)

        def r(s: Any) -> Any:
            return (1 - q * s) / (q * s * (T * s - 1))

        s, alpha, b = mp.mpf("0.23"), 1 - kappa / 10, mp.mpf(d_e) / (T * d)
        assert s >= 1 / mp.sqrt(T * q)
        gamma = (alpha / best(s) - 1) / r(s)
        assert gamma < 0
        turn = eta * d * alpha / d_e * s * (1 - q * s) * (1 - q * alpha * (T * s - 1) / (T - q))
        later = 1 / (q + (1 / s - q) * mp.e ** (-turn))
        after = (1 + (1 - b / 8) * r(later)) * best(later)
        before = (1 + (1 - b / 4) * r(s)) * best(s)
        assert after < before - mp.mpf("1e-5")
        # The conclusion (S3) holds there all the same.
        assert alpha + eta * s * (1 - alpha / best(s)) > alpha


@pytest.mark.parametrize(
    ("name", "plan", "status"),
    [
        ("theorem-e.6/s4", walsh_plan(Task(1000, 2, 1), 1024, rate=26.2, epsilon=4e-3), "fails"),
        ("theorem-e.6/s4", walsh_plan(Task(9, 2, 1), 16, rate=0.7), "holds"),
        ("theorem-e.6/needed-for-s4", walsh_plan(Task(400, 2, 3), 512, rate=1.8), "fails"),
        ("theorem-e.6/below-best", walsh_plan(Task(9, 2, 1), 64, rate=11.0), "fails"),
        ("theorem-e.6/below-best", walsh_plan(Task(9, 2, 1), 64, rate=3.0), "holds"),
        ("theorem-e.6/s4-implies-s3", walsh_plan(Task(9, 2, 1), 32, rate=2.5), "fails"),
        ("theorem-e.6/s4-implies-s3", walsh_plan(Task(9, 2, 1), 32, rate=1.9), "holds"),
        ("theorem-e.6/growth-by-mean-attention", walsh_plan(Task(9, 2, 1), 96, rate=3.9), "fails"),
        (
            "theorem-e.6/triple-star/repaired",
            walsh_plan(Task(9, 2, 1), 48, rate=3.9),
            "inapplicable",
        ),
        ("theorem-e.6/up1/repaired", walsh_plan(Task(20, 2, 2), 32, rate=0.3), "holds"),
    ],
)
def test_users_states(name: str, plan: Plan, status: str):
    assert check(ALL[name], Bench(instances=[plan])).status.value == status


def test_the_interval_of_corollary_e8_in_fractions():
    """r = q kappa/(T-q) is 1.28 times too small at T = 41, q = 10, kappa = 1/10."""
    T, q, kappa = 41, 10, Fraction(1, 10)
    s = (1 - kappa) / q
    r = (1 - q * s) / (q * s * (T * s - 1))
    assert float(r / (q * kappa / (T - q))) == pytest.approx(1.2805, abs=1e-4)
    assert r == kappa / ((1 - kappa) * (T * (1 - kappa) / q - 1))
    best = (T - q) * s / (T * q * s**2 - 2 * q * s + 1)
    assert (1 + r) * best < 1 + Fraction(8, 5) * kappa < (1 + Fraction(6, 5) * kappa) * (1 + r)


def test_the_third_line_in_fractions():
    """(q alpha s - 1)^2 is not below (q s - 1 + 0.1 q s kappa)^2."""
    q, s, kappa = 2, Fraction(19, 40), Fraction(1, 10)
    alpha = 1 - kappa / 10
    assert (q * alpha * s - 1) ** 2 > (q * s - 1 + q * s * kappa / 10) ** 2
    assert (q * alpha * s - 1) ** 2 == (q * s - 1 - q * s * kappa / 10) ** 2


def test_endings_by_the_loss_itself():
    """The loss at the ends of (IH1), against a sum over positions."""
    plan = Plan("mine", Task(9, 2, 3), 0.005, 0.01)
    evidence = Bench(instances=[plan]).evidence(SETTLED)
    at: Any = closing.Ending(evidence)
    u, alpha = float(at.u[0, 7]), float(at.top[0, 7])
    S = np.full(9, u / 7)
    S[:2] = (1 - u) / 2
    Y = np.where(np.arange(9) < 2, 0.5, 0.0)
    expected = 1.5 * float(np.sum((Y - alpha * S) ** 2))
    assert float(at.loss(at.top)[0, 7]) == pytest.approx(expected, rel=1e-12)
    assert float(at.best[0, 7]) == pytest.approx(float(Y @ S / (S @ S)), rel=1e-12)


def test_without_encodings_by_counting():
    """The variance of STS_q given the tokens is (1/q - 1/T) a coordinate, in fractions."""
    T, q = 5, 2
    subsets = list(combinations(range(T), q))
    mean = [Fraction(sum(i in y for y in subsets), q * len(subsets)) for i in range(T)]
    assert mean == [Fraction(1, T)] * T
    spread = sum(
        (Fraction(int(i in y), q) - mean[i]) ** 2 for y in subsets for i in range(T)
    ) / len(subsets)
    assert spread == Fraction(1, q) - Fraction(1, T)


def test_a_family_that_is_empty_says_so():
    """With d_e far above T d there is no alpha in (IH2) at most u."""
    plan = walsh_plan(Task(9, 2, 1), 2048, rate=3.0)
    grid = Bench(instances=[plan]).evidence(STEPS)
    (case,) = grid.cases
    assert isinstance(case, StepGrid)
    assert "wide_encodings" in {problem.code for problem in case.problems}
    late = grid.u[0] <= 1 - np.sqrt(2 / 9)
    assert np.isnan(grid.alpha[0][late & (grid.u[0] > 0.1)]).all()
    assert not np.isnan(grid.alpha[0][~late]).any()
