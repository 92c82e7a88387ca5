"""The claims about encodings, gradients and dynamics: default verdicts, controls, users' plans."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from lemmata.old_claims import Bench, Status, Verdict, check
from lemmata.papers import papers
from lemmata.papers.selection.counterexamples import (
    ExactEncodings,
    three_vectors,
    with_more_positions,
)
from lemmata.papers.selection.claims import (
    bands,
    definitions,
    gradients,
    isometry,
    length,
    one_hot,
    own,
    phases,
    stochastic,
    symmetries,
)
from lemmata.papers.selection.setting import Plan, Task, measure_isometry

HERE = (
    definitions,
    isometry,
    one_hot,
    phases,
    bands,
    gradients,
    symmetries,
    stochastic,
    length,
    own,
)
ALL = {claim.name.removeprefix("selection/"): claim for claim in papers()["selection"].claims}
CLAIMS = {
    name: claim
    for name, claim in ALL.items()
    if any(claim in vars(module).values() for module in HERE)
}

FALSE = {
    "definition-2.3/separation",
    "lemma-a.3",
    "lemma-d.5/recalled-gradients",
    "lemma-d.5/attention",
    "theorem-d.4/squared-bound",
    "theorem-d.4/growth-of-c",
    "theorem-d.4/reversed-step",
    "theorem-d.4/growth-in-phase-1",
    "theorem-d.4/threshold",
    "theorem-d.4/best-loss",
    "theorem-3.3",
    "theorem-e.6",
    "theorem-e.6/power",
    "theorem-e.6/ih2",
    "theorem-e.6/first-stage",
    "lemma-e.2",
    "lemma-e.7",
    "lemma-e.14/proof",
    "lemma-e.15",
    "corollary-3.6",
    "corollary-e.9/four-terms",
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(seed=0)


@pytest.mark.parametrize("name", CLAIMS)
def test_default_verdicts(bench: Bench, name: str):
    verdict = check(CLAIMS[name], bench)
    assert verdict.status is (Status.FAILS if name in FALSE else Status.HOLDS), verdict.reason
    assert verdict.control is Status.FAILS
    if name in FALSE:
        broken = [part for part in verdict.parts if part.status is Status.FAILS]
        assert any(part.witness for part in broken)


def on(plan: Plan, name: str) -> Verdict:
    return check(ALL[name], Bench(seed=0, instances=[plan]))


@pytest.mark.parametrize(
    ("plan", "name", "assumption"),
    [
        (Plan("wide", Task(7, 2, 1), 0.05, 1e-3), "theorem-3.1", "2 <= q < T/4"),
        (Plan("one", Task(9, 1, 1), 0.05, 1e-3), "theorem-3.1", "2 <= q < T/4"),
        (Plan("loose", Task(9, 2, 1), 0.05, 0.5), "theorem-d.4", "epsilon in"),
        (Plan("fast", Task(9, 2, 1), 0.06, 1e-3), "theorem-d.4/ih1", "eta <="),
        (Plan("wide", Task(7, 2, 1), 0.05, 1e-3), "theorem-d.4/s2", "2 <= q < T/4"),
        (Plan("d_e", Task(9, 2, 3), 0.1, 0.01, d_e=40), "theorem-3.3", "delta < 1/10"),
        (Plan("d_e", Task(9, 2, 3), 10.0, 0.01, d_e=100), "theorem-e.6", "eta <= d_e^2"),
    ],
)
def test_unmet_hypotheses_are_named(plan: Plan, name: str, assumption: str):
    verdict = on(plan, name)
    assert verdict.status is Status.INAPPLICABLE
    assert assumption in verdict.reason


def test_a_plan_without_random_encodings_has_nothing_to_say_about_them():
    plan = Plan("one-hot", Task(9, 2, 1), 0.05, 0.005)
    assert on(plan, "theorem-3.3").status is Status.INAPPLICABLE
    assert on(plan, "lemma-a.3").status is Status.INAPPLICABLE
    assert on(plan, "lemma-d.1").status is Status.INAPPLICABLE


@pytest.mark.parametrize(
    ("plan", "name", "reason"),
    [
        (Plan("long", Task(10, 1, 1), 0.05, 1e-3, d_e=60), "lemma-a.2", "T up to 9"),
        (Plan("long", Task(21, 2, 1), 0.05, 1e-3), "equation-6/flow", "T up to 20"),
    ],
)
def test_nothing_passes_without_being_looked_at(plan: Plan, name: str, reason: str):
    verdict = on(plan, name)
    assert verdict.status is Status.INAPPLICABLE
    assert reason in verdict.reason


def test_a_users_plan_is_judged_alone():
    plan = Plan("mine", Task(9, 2, 1), 0.05, 0.005)
    verdict = on(plan, "theorem-3.1")
    assert verdict.status is Status.HOLDS
    assert "mine" in verdict.reason
    assert on(plan, "theorem-d.4/threshold").status is Status.FAILS


def test_users_encodings_are_used():
    """The counterexample to Lemma A.3, brought as data: it fails there without our witness."""
    signs = with_more_positions(three_vectors(32))
    E = signs / np.sqrt(len(signs))
    plan = Plan("mine", Task(10, 2, 1), 1.0, 0.005, d_e=len(signs), encodings=E)
    verdict = on(plan, "lemma-a.3")
    assert verdict.status is Status.FAILS
    assert on(plan, "lemma-a.3/repaired").status is Status.HOLDS


def test_time_to_epsilon_that_does_not_come_is_not_a_verdict():
    plan = Plan("slow", Task(9, 2, 1), 1e-6, 1e-3)
    assert on(plan, "theorem-3.1").status is Status.UNDECIDED


@pytest.mark.parametrize("d_e", [20, 32, 64])
def test_witness_vectors_by_their_definition(d_e: int):
    v = three_vectors(d_e)
    assert set(np.unique(v)) <= {-1, 1}
    assert (v.T @ v).tolist() == [[d_e, 0, 2], [0, d_e, 2], [2, 2, d_e]]
    assert ExactEncodings(v, 2).inner(2, (0, 1)) == Fraction(4, d_e)


def test_exact_delta_agrees_with_floating_point():
    signs = with_more_positions(three_vectors(32))
    found = ExactEncodings(signs, 2)
    measured = measure_isometry(signs / np.sqrt(len(signs)), 2)
    assert measured.exact
    assert measured.delta == pytest.approx(np.sqrt(2) / 16, rel=1e-12)
    assert found.delta_at_most(Fraction(1, 128))
    assert not found.delta_at_most(Fraction(1, 129))


def test_stall_in_high_precision():
    """The counterexample to Theorem 3.3 in 60 digits: no rounding makes the loss stay up."""
    with mp.workdps(60):
        T, q, d, d_e, eta = 9, 2, 1, 48, 6
        assert eta <= d_e**2 / (40 * d**2 * T)
        alpha, C = mp.mpf(0), mp.mpf(0)
        losses = []
        for _ in range(20_000):
            s = 1 / (q + (T - q) * mp.e ** (-C))
            u = 1 - q * s
            error = (1 - q * alpha * s) ** 2 / q + alpha**2 * u**2 / (T - q)
            losses.append(float(mp.mpf(d) / 2 * error))
            grow = s - alpha * (q * s**2 + u**2 / (T - q))
            turn = alpha * d / d_e * s * u * (1 - q * alpha * (T * s - 1) / (T - q))
            alpha, C = alpha + eta * grow, C + eta * turn
    assert min(losses[13_500:]) > 1e-3


def test_euler_error_shrinks_with_the_step():
    """Eq. (6) as a flow, by an own integrator."""
    T, q, d = 9.0, 2.0, 1.0

    def field(alpha: float, C: float) -> tuple[float, float]:
        s = 1 / (q + (T - q) * np.exp(-C))
        D = T * q * s * s - 2 * q * s + 1
        grow = s - alpha * D / (T - q)
        turn = alpha * d / (T - 1) * s * (1 - q * s) * (1 + q * alpha * (1 - T * s) / (T - q))
        return grow, turn

    def euler(rate: float) -> np.ndarray:
        state = np.zeros(2)
        for _ in range(round(72 / rate)):
            state = state + rate * np.array(field(*state))
        return state

    found = [euler(rate) for rate in (0.2, 0.1, 0.0125)]
    ratio = np.abs(found[0] - found[2]).max() / np.abs(found[1] - found[2]).max()
    assert ratio == pytest.approx((0.2 - 0.0125) / (0.1 - 0.0125), rel=0.05)
