"""Descent in ball arithmetic against training, and against the loss differentiated numerically."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

import lemmata as lm
from lemmata.claims import Bench
from lemmata.papers.selection.claims.definitions import separation_in_fractions
from lemmata.papers.selection.claims.stages import first_bound, growth_at_zero
from lemmata.papers.selection.claims.stochastic import (
    at_first_stage,
    at_first_stage_in_balls,
    later_growth,
    later_growth_in_balls,
)
from lemmata.papers.selection.counterexamples import plan_of, three_vectors, with_more_positions
from lemmata.papers.selection.experiments.descents import ONE_HOT, STOCHASTIC
from lemmata.papers.selection.setting import SETTING, OnlineChoices, Plan, Task, walsh
from lemmata.papers.selection.setting._replay import First, Slope, State

SPACE = SETTING.space
GIVEN = np.array([[1.0, 0.0, 1.0, -0.5], [0.0, 1.0, 1.5, 0.25], [0.25, 0.0, 0.0, 1.0]])
WALSH = walsh(3)[:, :7] / np.sqrt(8)
STEPS = np.array([0, 1, 2, 7, 60])

PLANS = {
    "one-hot": Plan("p", Task(7, 3, 4), 0.4, 1e-3),
    "large steps": Plan("p", Task(5, 1, 2), 7.0, 1e-3),
    "long": Plan("p", Task(90_000, 2, 1_000), 1e-4, 1e-3),
    "given": Plan("p", Task(4, 2, 3), 0.3, 1e-3, 3, encodings=GIVEN),
    "orthogonal": Plan("p", Task(7, 2, 2), 0.3, 1e-3, 8, encodings=WALSH),
    "random": Plan("p", Task(6, 2, 2), 0.3, 1e-3, 16, 0.5),
}


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 2_000
    yield
    ctx.prec = old


@pytest.mark.parametrize("kind", PLANS)
def test_training_agrees_with_balls(kind: str) -> None:
    plan = PLANS[kind]
    steps = STEPS[:4] if kind == "random" else STEPS
    run = lm.train([plan], record=tuple(steps.tolist()), steps=int(steps[-1]))
    columns = SPACE.replay(plan, {}, steps)
    assert columns is not None
    # random encodings are interpolated in training
    tolerance = 1e-8 if kind == "random" else 1e-12
    for name in ("loss", "alpha", "C", "missed", "rate"):
        balls = columns[name]
        middle = np.array([float(ball.mid()) for ball in balls])
        values = np.asarray(getattr(run, name))[0]
        np.testing.assert_allclose(values, middle, rtol=tolerance, atol=tolerance)
        assert all(float(ball.rad()) < 1e-60 for ball in balls)


def subsets_of(plan: Plan) -> list[tuple[tuple[int, ...], list[mpmath.mpf]]]:
    """Every subset with <e_i, e_y>, where e_y solves E_y' e_y = 1 within the span of E_y."""
    E = np.eye(plan.T) if plan.encodings is None else plan.encodings
    E = mpmath.matrix(E.tolist())
    found = []
    for y in combinations(range(plan.T), plan.q):
        E_y = mpmath.matrix([[E[k, i] for i in y] for k in range(E.rows)])
        e_y = E_y * mpmath.lu_solve(E_y.T * E_y, mpmath.ones(plan.q, 1))
        found.append((y, list(E.T * e_y)))
    return found


def loss_of(plan: Plan, alpha: mpmath.mpf, C: mpmath.mpf) -> mpmath.mpf:
    """d/2 times the mean over subsets of |Y/q - alpha softmax|^2."""
    total, subsets = mpmath.mpf(0), subsets_of(plan)
    for y, inner in subsets:
        powers = [mpmath.exp(C * g) for g in inner]
        for i, power in enumerate(powers):
            target = mpmath.mpf(i in y) / plan.q
            total += (target - alpha * power / mpmath.fsum(powers)) ** 2
    return plan.d * total / 2 / len(subsets)


@pytest.mark.parametrize("kind", ["one-hot", "large steps", "given"])
def test_balls_contain_numerical_descent(kind: str) -> None:
    """Lemmas D.5 and E.7: alpha moves by 1/d of a partial derivative, C by 1/(T-1) or 1/d_e."""
    plan, steps = PLANS[kind], np.arange(4)
    columns = SPACE.replay(plan, {}, steps)
    assert columns is not None
    with mpmath.workdps(60):
        alpha, C, rate = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(plan.rate)
        for step in steps:
            for name, value in (("alpha", alpha), ("C", C), ("loss", loss_of(plan, alpha, C))):
                ball = columns[name][step]
                assert abs(mpmath.mpf(ball.mid().str(50, radius=False)) - value) < 1e-20
            d_alpha, d_C = (
                mpmath.diff(lambda a, c: loss_of(plan, a, c), (alpha, C), order)
                for order in ((1, 0), (0, 1))
            )
            alpha, C = alpha - rate * d_alpha / plan.d, C - rate * d_C / plan.inertia


def test_a_run_that_blows_up_stays_where_it_was() -> None:
    plan, steps = Plan("p", Task(3, 1, 1), 1e3, 1e-3), np.arange(12)
    run = lm.train([plan], record=tuple(steps.tolist()), steps=11)
    assert run.diverged[0] is not None
    columns = SPACE.replay(plan, {}, steps)
    assert columns is not None
    middle = [float(ball.mid()) for ball in columns["alpha"]]
    np.testing.assert_allclose(run.alpha[0], middle, rtol=1e-9)
    assert middle[-1] == middle[-2] != 0


def test_balls_use_the_step_size_that_was_asked_for() -> None:
    columns = SPACE.replay(PLANS["one-hot"], {"rate": 0.25, "steps": 3}, np.array([0, 1]))
    assert columns is not None
    assert float(columns["alpha"][1].mid()) == pytest.approx(0.25 / 7, rel=1e-15)


def test_balls_know_what_they_do_not_cover() -> None:
    steps = np.array([0, 3])
    assert SPACE.replay(PLANS["one-hot"], {"algorithm": "sgd"}, steps) is None
    many = Plan("p", Task(40, 5, 1), 0.1, 1e-3, 64, encodings=np.triu(np.ones((64, 40))))
    assert SPACE.replay(many, {}, steps) is None
    assert SPACE.replay(PLANS["random"], {"average": "inside"}, steps) is None
    even = Plan("p", Task(40, 5, 1), 0.1, 1e-3, 64, encodings=walsh(6)[:, :40] / 8.0)
    assert SPACE.replay(even, {}, steps) is not None


@pytest.mark.parametrize("kind", ["one-hot", "orthogonal", "given"])
def test_balls_know_all_columns_of_descents(kind: str) -> None:
    """What claims about descents use, against the experiments' own recursion."""
    plan = replace(PLANS[kind], rate=0.5, epsilon=0.4)
    if kind == "given":  # with q = 2 the run starts at half of the attention exactly
        plan = replace(plan, task=Task(4, 1, 3))
    experiment = ONE_HOT if kind == "one-hot" else STOCHASTIC
    evidence = Bench(instances=[plan], options={"steps": 150}).evidence(experiment)
    columns = SPACE.replay(plan, {"steps": 150, "average": "inside"}, evidence.records)
    assert columns is not None
    assert set(columns) == set(evidence.columns)
    assert 0 < evidence.grown[0, 0] < 150
    for name, grid in evidence.columns.items():
        middle = np.array([float(ball.mid()) for ball in columns[name]])
        came = np.isfinite(middle)
        tolerance = 1e-6 if kind == "given" else 1e-11
        np.testing.assert_allclose(grid[0][came], middle[came], rtol=tolerance, atol=tolerance)
        late = name in ("reached", "halved") and not came.all()
        assert came.all() or (late and (grid[0][~came] > 150).all())


def test_a_time_is_known_only_if_it_can_be_told() -> None:
    """At half of the attention exactly, a wide ball leaves everything open from then on."""
    slope = Slope(arb(0), arb(0), arb(0), arb("0.5 +/- 0.1"))
    halved = First(lambda now: now.slope.missed, "<=", arb(1) / 2)
    assert halved.phase == 1
    halved.look(3, State(arb(0), arb(0), slope))
    assert halved.step.is_nan()
    halved.look(4, State(arb(0), arb(0), replace(slope, missed=arb("0.1"))))
    assert halved.step.is_nan()
    assert halved.phase.is_nan()


def test_a_query_changes_nothing_in_two_numbers() -> None:
    plan = PLANS["one-hot"]
    other = Plan("p", plan.task, plan.rate, 1e-3, training=OnlineChoices(x_query="fixed"))
    ends = [SPACE.replay(one, {}, STEPS) or {} for one in (plan, other)]
    assert float(ends[0]["C"][-1].mid()) == float(ends[1]["C"][-1].mid())


def test_growth_at_later_values_in_balls() -> None:
    """Ten sign vectors with delta = sqrt(2)/16: the factor and both bounds, against numbers."""
    signs = with_more_positions(three_vectors(32))
    plan = plan_of("ten", signs, 2)
    lower, upper = later_growth_in_balls(plan, {})
    evidence = Bench(instances=[plan], options={"steps": 5}).evidence(STOCHASTIC)
    known = later_growth(evidence.cases[0])
    np.testing.assert_allclose([float(x.mid()) for x in lower.left], known, rtol=1e-10)
    delta = np.sqrt(2) / 16
    assert float(lower.right.mid()) == pytest.approx((1 - 3 * delta) / (1 - 2 * delta), rel=1e-9)
    assert float(upper.right.mid()) == pytest.approx((1 - delta) / (1 - 2 * delta), rel=1e-9)
    assert lower.left[-1] < lower.right
    assert known[-1] == pytest.approx(7 / 8, rel=1e-4)
    reached = [float(x.mid()) for x in at_first_stage_in_balls(plan, {}).left]
    numbers = at_first_stage(evidence.cases[0])
    assert (min(reached), max(reached)) == pytest.approx((numbers.min(), numbers.max()), rel=1e-9)
    zero = growth_at_zero(plan, {})
    assert evidence.C[0, 1] == zero.left[0] == 0
    assert float(zero.right[0]) == pytest.approx(7 / 16 * first_bound(evidence)[0, 0], rel=1e-9)


def test_separation_in_fractions() -> None:
    """1/5 against 1/8 in 20 dimensions, and nothing broken by orthogonal vectors."""
    (broken,) = separation_in_fractions(plan_of("three", three_vectors(20), 2), {})
    assert max(broken.left) == Fraction(1, 5)
    assert broken.right == Fraction(1, 8)
    (even,) = separation_in_fractions(plan_of("four", walsh(2)[:, :3], 2), {})
    assert max(even.left) == even.right == 0
