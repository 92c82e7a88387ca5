"""Ranks, floors and bounds in ball arithmetic, and averages that are finite sums."""

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from lemmata.claims import Bench, Identity, Inequality, as_list
from lemmata.papers.context.claims import CLAIMS
from lemmata.papers.context.claims._averages import NORMAL, SIGN, prompts_under, values_of
from lemmata.papers.context.counterexamples import one_hot_tokens, two_equal_tokens
from lemmata.papers.context.experiments.initialization import Growth
from lemmata.papers.context.experiments.points import KINDS, POINTS, weights_of
from lemmata.papers.context.setting import (
    Plan,
    Task,
    determinants,
    draw_labels,
    draw_task,
    least_gap,
    shifted_law,
    standard_law,
)

ALL = {claim.name.removeprefix("context/"): claim for claim in CLAIMS}

PLAN = Plan(draw_task(3, 5, 4, 2, 0.3, seed=3), heads=4, seed=5)
GAUSSIAN = Plan(draw_task(2, 4, 6, 3, 0.2, seed=4, unit=False), heads=2, seed=6)


def attention(plan: Plan, k: int) -> mpmath.matrix:
    """C_k in the precision that is set, one column a head."""
    columns = []
    for Q in np.asarray(plan.start.Q).transpose(1, 0, 2):
        logits = mpmath.matrix(plan.task.prompt.T.tolist()) * (
            mpmath.matrix(Q.tolist()) * mpmath.matrix(plan.task.tokens[:, k].tolist())
        )
        powers = [mpmath.exp(x) for x in logits]
        columns.append([power / mpmath.fsum(powers) for power in powers])
    return mpmath.matrix(columns).T


@pytest.mark.parametrize("plan", [PLAN, GAUSSIAN, replace(PLAN, heads=3, scale=90.0)])
def test_determinants_are_those_of_mpmath(plan: Plan):
    found = determinants(plan)
    with mpmath.workdps(400):
        for k, value in enumerate(found):
            C = attention(plan, k)
            expected = mpmath.log(mpmath.det(C * C.T))
            with ctx.workprec(400):
                assert float(value.log().mid()) == pytest.approx(float(expected), rel=1e-12)


def test_a_rank_that_float64_cannot_tell_is_full():
    plan = replace(PLAN, heads=3, scale=90.0)
    assert not plan.frozen.resolved
    assert all(value != 0 for value in determinants(plan))


@pytest.mark.parametrize("plan", [replace(PLAN, heads=2), two_equal_tokens(0)])
def test_fewer_heads_or_equal_tokens_leave_no_full_rank(plan: Plan):
    assert determinants(plan) == [arb(0)] * plan.task.K


def test_one_hot_tokens_have_full_rank_against_assumption_3():
    plan = one_hot_tokens(0)
    assert not plan.task.has_distinct_row
    assert all(value != 0 for value in determinants(plan))


@pytest.mark.parametrize("plan", [replace(PLAN, heads=2), replace(PLAN, heads=1), GAUSSIAN])
def test_the_least_gap_is_what_least_squares_leave(plan: Plan):
    task, left = plan.task, 0.0
    for k in range(task.K):
        B = task.root @ plan.frozen.attention[:, :, k]
        wanted = task.root @ task.target[:, k]
        left += np.sum((B @ np.linalg.lstsq(B, wanted)[0] - wanted) ** 2)
    found = float(least_gap(plan).mid())
    assert found == pytest.approx(left / (2 * task.K), rel=1e-9, abs=1e-13)
    assert (least_gap(plan) > 0) == (plan.heads < task.N)


def test_heads_that_attend_alike_leave_the_floor_unknown():
    """With one token twice in the prompt and nowhere else, all attention is (1/2, 1/2)."""
    task = Task(np.ones((1, 3)), np.array([[1.0, 2.0, 3.0]]), 2, 0.1)
    assert not least_gap(Plan(task, heads=2)).is_finite()


BOUNDS = ("lemma-7/gaussian", "equation-46/gaussian", "equation-59", "lemma-10")


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("plan", [PLAN, GAUSSIAN, replace(PLAN, heads=1, seed=8)])
def test_bounds_in_balls_are_the_squares_of_those_in_floats(name: str, plan: Plan):
    claim = ALL[name]
    (first, *_) = claim.compare(Bench(instances=[plan]).evidence(POINTS))
    assert isinstance(first, Inequality)
    assert claim.exact is not None
    with ctx.workprec(200):
        exact = as_list(claim.exact(plan, {}))
        for row, comparison in enumerate(exact):
            for side in ("left", "right"):
                squares = np.ravel(np.asarray(getattr(comparison, side), dtype=object))
                expected = np.ravel(
                    np.broadcast_to(getattr(first, side), np.shape(first.left))[row]
                )
                found = [float(value.sqrt().mid()) for value in squares]
                np.testing.assert_allclose(found, expected[: len(found)], rtol=1e-7, atol=1e-11)
    assert len(exact) == len(KINDS)


def test_the_spectral_norm_is_enclosed_in_balls():
    claim = ALL["equation-70/loss"]
    (floats,) = claim.compare(Bench(instances=[PLAN]).evidence(POINTS))
    assert isinstance(floats, Identity)
    assert claim.exact is not None
    with ctx.workprec(200):
        for row, comparison in enumerate(as_list(claim.exact(PLAN, {}))):
            spectral = 2 * PLAN.task.K * np.ravel(floats.left)[row]
            assert comparison.left.contains(arb(float(spectral)))
            total = 2 * PLAN.task.K * np.ravel(floats.right)[row]
            assert float(comparison.right.mid()) == pytest.approx(total, rel=1e-9)
            assert not comparison.left.overlaps(comparison.right)


def test_points_belong_to_a_plan():
    """Whatever else is looked at, and in which order."""
    alone = Bench(instances=[PLAN]).evidence(POINTS)
    among = Bench(instances=[GAUSSIAN, PLAN], seed=3).evidence(POINTS)
    for one, other in zip(alone, among.cases[len(KINDS) :], strict=True):
        np.testing.assert_array_equal(one.here.Q, other.here.Q)
        np.testing.assert_array_equal(one.there.w, other.there.w)
        assert one.gamma == other.gamma


def test_special_points_are_flat_or_saturated():
    for (here, there), kind in zip(weights_of(PLAN), KINDS, strict=True):
        w, other = np.asarray(here.w), np.asarray(there.w)
        moved = np.linalg.norm(np.asarray(there.Q - here.Q), axis=(0, 2))
        np.testing.assert_allclose(moved, kind.distance, rtol=1e-6)
        if kind.special is None:
            assert len(np.unique(w)) == w.size
            continue
        assert (w == kind.size).all()
        assert (other == (-w if kind.special == "flip" else w)).all()
        sizes = np.linalg.norm(np.asarray(here.Q), axis=(0, 2))
        np.testing.assert_allclose(sizes, 8 if kind.special == "one-hot" else 0, rtol=1e-12)


def test_a_normal_variable_has_its_moments_up_to_the_fifth():
    values, chances = values_of(NORMAL, 1)
    moments = [chances @ values[:, 0] ** power for power in range(7)]
    np.testing.assert_allclose(moments[:6], [1, 0, 1, 0, 3, 0], atol=1e-14)
    assert moments[6] == pytest.approx(9)  # and not 15


@pytest.mark.parametrize(("variable", "count", "size"), [(NORMAL, 3, 27), (SIGN, 4, 16)])
def test_independent_variables_take_all_their_values(variable: Any, count: int, size: int):
    values, chances = values_of(variable, count)
    assert values.shape == (size, count)
    assert len(np.unique(values, axis=0)) == size
    assert chances.sum() == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose((values * chances[:, None]).T @ values, np.eye(count), atol=1e-14)


@pytest.mark.parametrize("law", [standard_law(2), standard_law(2, "rademacher"), shifted_law(2)])
def test_prompts_have_the_moments_of_drawn_ones(law: Any):
    labels, chances = prompts_under(PLAN.task, law)
    assert chances.sum() == pytest.approx(1, rel=1e-13)
    drawn = draw_labels(PLAN.task, law, np.random.default_rng(0), 40_000)
    products = drawn[:, :, None] * drawn[:, None, :]
    error = products.std(axis=0) / 200
    found = np.einsum("p,pi,pj->ij", chances, labels, labels)
    assert (np.abs(found - products.mean(axis=0)) < 5 * error).all()
    mean_error = drawn.std(axis=0) / 200
    assert (np.abs(chances @ labels - drawn.mean(axis=0)) < 5 * mean_error).all()


def test_more_heads_keep_those_before_and_fewer_tokens_the_first():
    growth = Growth(PLAN)
    assert growth.heads == (4, 8, 16, 32)
    assert growth.sizes == (3, 4, 5)
    more = replace(PLAN, heads=8)
    np.testing.assert_array_equal(np.asarray(more.start.Q)[:, :4], np.asarray(PLAN.start.Q))
    smallest = [np.linalg.svd(B)[1][-1] ** 2 for B in PLAN.frozen.scores]
    for K, rate in zip(growth.sizes, growth.rates_by_size(best=True), strict=True):
        expected = min(smallest[:K]) / (2 * 2**0.5 * 4 * PLAN.task.spectral**2)
        assert rate == pytest.approx(expected, rel=1e-9)
