"""The space of plans, and how an attack on a lemma about them ends."""

from dataclasses import replace
from itertools import islice

import numpy as np

import lemmata as lm
from lemmata.papers.context.setting import SETTING, Plan, Task
from lemmata.papers.context.setting._parts import Parts, plain_representations
from lemmata.papers.context.setting._plan_training import PlanTraining
from lemmata.search import read_back
from lemmata.training import _run

SPACE = SETTING.space


def test_scopes_are_whole_and_hold_nothing_twice() -> None:
    """Tokens up to order, all representations: 2 and 12 dictionaries of 2 tokens in 1 and 2 d."""
    first, second = SPACE.scopes({"N": 2, "K": 3, "d": 2, "m": 2, "H": 2})
    plans = list(first.instances())
    assert len(plans) == (2 + 12) * (3**2 + 3**2) * 2 * 2
    keys = {str({**plan.document(), "name": ""}) for plan in plans}
    assert len(keys) == len(plans)
    assert len(list(second.instances())) == (12 + 12) * (3**3 + 3**3) * 2 * 2
    for plan in plans[::97]:
        assert plan.task.N < plan.task.K == 2
        assert not {"not_unit", "no_noise"} & {problem.code for problem in plan.problems}
    sizes = [SPACE.size(plan)[0] for plan in plans]
    assert sizes == sorted(sizes)


def test_extremes_can_be_read_back() -> None:
    extremes = list(SPACE.extremes())
    assert len(extremes) > 500
    for plan in extremes[::31]:
        again = read_back(SETTING, plan)
        assert again.document() == plan.document()
    taus = {plan.task.tau for plan in extremes}
    assert min(taus) == 0.0
    assert max(taus) == 1e4
    assert {plan.task.N for plan in extremes} == {1, 2, 3}
    assert {plan.task.K for plan in extremes} == {3, 4, 8}
    assert {plan.task.d for plan in extremes} == {1, 2, 4}
    assert {plan.task.m for plan in extremes} == {1, 2, 6, 16}
    assert {plan.heads for plan in extremes} == {1, 2, 3, 4, 40}
    sizes = [np.abs(plan.task.representations).max() for plan in extremes]
    assert min(sizes) < 1e-3
    assert max(sizes) > 1e3


def test_simpler_plans_are_plans() -> None:
    generator = np.random.default_rng(0)
    for _ in range(10):
        plan = SPACE.draw(generator)
        for simpler in SPACE.simpler(plan):
            assert simpler.task.N < simpler.task.K
            assert simpler.task.tokens.shape[1] == simpler.task.representations.shape[1]
        moved = SPACE.vary(plan, generator)
        assert read_back(SETTING, moved).document() == moved.document()
        assert min(map(SPACE.size, SPACE.simpler(plan))) < SPACE.size(plan)


def test_unit_tokens_stay_unit() -> None:
    generator = np.random.default_rng(1)
    plan = Plan(lm.papers["context"].setting.draw(1)[0].task, 3)
    for other in [*SPACE.simpler(plan), *(SPACE.vary(plan, generator) for _ in range(40))]:
        np.testing.assert_allclose(other.task.norms, 1.0, rtol=1e-12)


def test_what_nobody_means_is_degenerate() -> None:
    tokens, features = np.eye(2), np.array([[1.0, 2.0]])
    assert SPACE.degenerate(Plan(Task(tokens, features, 1, 0.1), 1)) is None
    assert "label" in str(SPACE.degenerate(Plan(Task(tokens, features, 2, 0.1), 2)))
    assert "same" in str(SPACE.degenerate(Plan(Task(np.ones((1, 2)), features, 1, 0.1), 1)))
    assert "noise" in str(SPACE.degenerate(Plan(Task(tokens, 0 * features, 1, 0.1), 1)))


def test_batches_of_any_size_share_a_program() -> None:
    """Other plans and other numbers of them: nothing is compiled again."""
    training = PlanTraining(rate=0.1, steps=5)
    plans = list(islice(SPACE.scopes(SPACE.limits)[0].instances(), 64))
    training.run(plans[:20], store=None, progress=lambda _: None)
    compiled = _run._advance_well._cached._cache_size()
    for count in (17, 33, 64):
        trained = training.run(plans[:count], store=None, progress=lambda _: None)
        assert len(trained) == count
    assert _run._advance_well._cached._cache_size() == compiled


def test_a_plan_without_a_step_size_does_not_stop_the_others() -> None:
    good = Plan(lm.papers["context"].setting.draw(1)[0].task, 6)
    silent = replace(good, task=replace(good.task, tau=0.0))
    run = SETTING.train([silent, good], {"steps": 5, "record": (5,)})
    assert run.trained == (False, True)
    assert "tau = 0" in str(run.reasons[0])
    assert np.isnan(run.gap[0]).all()
    alone = SETTING.train([good], {"steps": 5, "record": (5,)})
    np.testing.assert_allclose(run.gap[1], alone.gap[0], rtol=1e-12)


@lm.claim("out of domain is harder", setting="context", on=lm.experiment("context", steps=20))
def harder(run):
    return lm.at_least(run.out_of_domain, 4 * run.in_domain, rounding=1e-11)


@lm.claim("it is five times as hard", setting="context", on=lm.experiment("context", steps=20))
def five_times(run):
    return lm.at_most(run.out_of_domain, 5.2 * run.in_domain)


def test_a_false_lemma_breaks_with_a_proof() -> None:
    finding = lm.falsify(five_times, budget=30.0)
    assert finding.status == "fails"
    assert finding.certified
    assert finding.witness.size[0] <= 7
    assert finding.witness.degenerate is None


def test_a_true_lemma_survives() -> None:
    finding = lm.falsify(harder, budget=2.0)
    assert finding.status == "survived"
    assert finding.tried > 0  # how many depends on the machine


def test_the_scale_of_a_query_is_that_of_the_last_token_alone():
    usual, longer = (Parts(query_scale=c).plan("a plan", 3).task for c in (1.0, 100.0))
    expected = usual.representations * np.array([1.0, 1.0, 1.0, 100.0])
    np.testing.assert_array_equal(longer.representations, expected)
    np.testing.assert_array_equal(longer.tokens, usual.tokens)


def test_one_representation_is_made_plain_and_the_others_stay() -> None:
    features = np.array([[1.26, -2.51, 0.3], [0.04, 7.77, 0.5]])
    columns = ([0.0, 0.0], [1.0, 1.0], [-3.0, 8.0], [-3.0, 8.0], [-2.5, 7.8])
    for found, column in zip(plain_representations(features, 1), columns, strict=True):
        np.testing.assert_array_equal(found[:, 1], column)
        np.testing.assert_array_equal(found[:, [0, 2]], features[:, [0, 2]])
    everywhere = next(iter(plain_representations(features, None)))
    np.testing.assert_array_equal(everywhere, 0.0)


def test_only_zero_queries_have_no_representation() -> None:
    parts = Parts(N=2, K=4, m=3)
    zero = replace(parts, representations="zero queries").plan("zero", 1).task
    usual = parts.plan("usual", 1).task
    np.testing.assert_array_equal(zero.Z_query, 0.0)
    assert zero.Z.all()
    assert usual.representations.all()
