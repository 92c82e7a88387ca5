"""What experiments say of themselves, and what the user's options do to them."""

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.claims import Bench
from lemmata.papers.selection.experiments.descents import ONE_HOT, STOCHASTIC
from lemmata.papers.selection.experiments.long_descents import LENGTHS
from lemmata.papers.selection.experiments.networks import FIRST_LAYERS
from lemmata.papers.selection.experiments.plans import Descending, Plans, Size, numbers_of
from lemmata.papers.selection.experiments.runs import ADAM, QUICK, SGD_RANDOM, Online, OnlinePlans


def test_sizes_become_plans():
    sizes = (Size(9, 2, 3), Size(16, 2, 1, 40, 0.4, 0.5))
    first, second = Plans(sizes, shares=(0.5,)).draw(0, "quick")
    assert (first.name, second.name) == ("T=9 q=2 d=3", "T=16 q=2 d=1 d_e=40 eta=0.4")
    assert first.rate == 1 / 180
    assert first.epsilon == pytest.approx(0.5 * 27 / 1400, rel=1e-15)
    assert (second.d_e, second.rate, second.threshold, second.inertia) == (40, 0.4, 0.5, 40)
    assert numbers_of([first, second])["inertia"].tolist() == [[8.0], [40.0]]


def test_losses_to_reach_and_the_papers_scale():
    plans = Plans((Size(9, 2, 3),), epsilons=(0.5, 0.1), at_paper_scale=(Size(200, 3, 5),))
    assert [plan.epsilon for plan in plans.draw(0, "quick")] == [0.5, 0.1]
    assert [plan.task.T for plan in plans.draw(0, "paper")] == [9, 9, 200, 200]
    assert plans.says == (
        "a plan with T = 9, q = 2, d = 3, epsilon 0.5 and 0.1 "
        "(at paper scale also a plan with T = 200, q = 3, d = 5)"
    )


def test_descriptions_follow_the_fields():
    said = Bench(options={"steps": 500, "rate": 0.01}).bind(ONE_HOT).says
    assert "11 plans with T = 9 to 200" in said
    assert "500 steps of the recursion with eta = 0.01" in said
    assert "500,000 steps" in STOCHASTIC.says
    assert "6 plans" in FIRST_LAYERS.says
    assert "step size 0.001" in ADAM.says
    assert "Gaussian weights" in SGD_RANDOM.says
    assert "6,000 steps" in SGD_RANDOM.says
    assert "100,000 steps" in SGD_RANDOM.says


def test_records_are_dense_at_first():
    steps = Descending(1_000_000).recorded
    assert steps[:301].tolist() == list(range(301))
    assert steps[-1] == 1_000_000
    assert Descending(3_000_000, first=1_000).recorded[0] >= 1_000
    assert Descending(50, first=1_000).recorded.tolist() == [50]
    assert Descending(90_000, last=9).recorded[-10:].tolist() == list(range(89_991, 90_001))


def test_online_training_takes_options():
    training = Online("sgd", steps=120, rate=0.5).of(QUICK, "fixed", seed=7)
    assert (training.steps, training.rate, training.seed) == (120, 0.5, 7)
    assert training.record[-1] == 120
    with pytest.raises(InputError, match="epsilon"):
        Bench(options={"epsilon": 1.0}).bind(ADAM)


def test_online_plans_hold_what_is_trained():
    plans = OnlinePlans().draw(3, "quick")
    assert [plan.training.seed for plan in plans] == [3, 4, 5]
    assert plans[0].training.tests == QUICK.tests
    assert (plans[0].task.T, plans[0].d_e, plans[0].threshold) == (40, 40, 0.6)


def test_columns_are_those_of_the_cases():
    plan = Plans((Size(9, 2, 3, rate=1.0),)).draw(0, "quick")[0]
    evidence = Bench(instances=[plan], options={"steps": 30_000}).evidence(LENGTHS)
    (case,) = evidence
    np.testing.assert_array_equal(evidence.loss[0], case.loss_at(9))
    assert case.instance is plan
    assert evidence.steps is not None
    assert evidence.steps[0] >= 2_000
