"""What can be predicted from a prompt, against least squares, samples and quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import in_context as oracle
from oracles.in_context import GOLDEN

from lemmata._errors import InputError
from lemmata.papers.context.setting import (
    Task,
    gap_to_best,
    posterior_mean,
    ridge_coefficients,
    ridge_predictions,
)


def least_squares(instance: oracle.Instance, labels: np.ndarray, regularizer: float) -> np.ndarray:
    """Ridge regression as least squares with m more labels, all zero."""
    Z, m = instance.representations[:, : instance.N], instance.m
    rows = np.vstack([Z.T, np.sqrt(regularizer) * np.eye(m)])
    return np.linalg.lstsq(rows, np.concatenate([labels, np.zeros(m)]), rcond=None)[0]


@settings(max_examples=40)
@given(oracle.instances(), st.integers(0, 10_000), st.sampled_from([0.05, 0.7, 20.0]))
def test_ridge_regression_is_least_squares(instance, seed, regularizer):
    task = Task(*instance)
    several = np.random.default_rng(seed).normal(size=(2, task.N))
    expected = np.array([least_squares(instance, labels, regularizer) for labels in several])
    found = ridge_coefficients(task, several, regularizer)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    predicted = ridge_predictions(task, several[0], regularizer)
    np.testing.assert_array_equal(predicted[: task.N], several[0])
    np.testing.assert_allclose(
        predicted[task.N :],
        expected[0] @ instance.representations[:, task.N :],
        rtol=1e-11,
        atol=1e-12,
    )


@settings(max_examples=40)
@given(oracle.instances(), st.integers(0, 10_000))
def test_the_target_predicts_ridge_regression(instance, seed):
    task = Task(*instance)
    labels = np.random.default_rng(seed).normal(size=task.N)
    np.testing.assert_allclose(
        oracle.target(instance).T @ labels,
        ridge_predictions(task, labels, task.ridge),
        rtol=1e-11,
        atol=1e-12,
    )


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_predictions(name):
    facts, task = GOLDEN[name], Task(*oracle.stored(name)[0])
    labels, best = np.array(facts["y"]), task.N * task.tau
    found = {
        "lambda_hat_20": ridge_coefficients(task, labels, task.ridge),
        "lambda_tau_25": ridge_coefficients(task, labels, best),
        "yhat_star": ridge_predictions(task, labels, task.ridge),
        "yhat_best": ridge_predictions(task, labels, best),
    }
    for key, values in found.items():
        np.testing.assert_allclose(values, facts[key], rtol=1e-9, err_msg=key)
    assert gap_to_best(task) == pytest.approx(facts["fig3_gap_in"], rel=1e-9, abs=1e-30)
    assert task.query_risks(task.ridge).mean() == pytest.approx(facts["risk_ridge_mtau"], rel=1e-9)
    assert task.query_risks(best).mean() == pytest.approx(facts["risk_ridge_Ntau"], rel=1e-9)


@settings(max_examples=40)
@given(oracle.instances())
def test_the_gap_to_the_best_choice_by_enumeration(instance):
    task, labels = Task(*instance), oracle.prompts(instance)[:, : instance.N]
    star, best = (
        np.array([least_squares(instance, y, r) for y in labels]) @ instance.representations
        for r in (task.ridge, task.N * task.tau)
    )
    expected = ((star - best)[:, task.N :] ** 2).sum() / (len(labels) * task.K)
    assert gap_to_best(task) == pytest.approx(expected, rel=1e-8, abs=1e-22)


def test_the_gap_to_the_best_choice_by_sampling():
    instance, rng = oracle.draw(6, 12, 3, 3, 0.3, 2), np.random.default_rng(2)
    task = Task(*instance)
    labels = oracle.sampled_prompts(instance, rng.normal(size=(40_000, 3)), rng)[:, :6]
    away = ridge_predictions(task, labels, 0.9) - ridge_predictions(task, labels, 1.8)
    squares = (away**2).mean(axis=1)
    bar = squares.std() / np.sqrt(len(squares))
    assert bar < 0.02 * gap_to_best(task)
    assert abs(squares.mean() - gap_to_best(task)) < 4 * bar


@pytest.mark.parametrize("size", [1, 3, 10])
def test_the_two_choices_are_one_where_n_is_m(size):
    assert gap_to_best(Task(*oracle.draw(size, size + 4, 3, size, 0.1, size))) == 0
    other = Task(*oracle.draw(size + 1, size + 4, 3, size, 0.1, size))
    assert gap_to_best(other) > 1e-6


def log_posterior(instance: oracle.Instance, labels: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """log p(y | lambda) p(lambda), label by label."""
    variance = instance.tau * (drawn**2).sum(axis=-1)
    found = -(drawn**2).sum(axis=-1) / 2
    for y, z in zip(labels, instance.representations.T[: instance.N], strict=True):
        found = found - (y - drawn @ z) ** 2 / (2 * variance) - np.log(variance) / 2
    return found


def quadrature_mean(instance: oracle.Instance, labels: np.ndarray) -> np.ndarray:
    """E[lambda | y] on a grid, which leaves out the origin."""
    points = 20_000 if instance.m == 1 else 900
    axis = 7 * (2 * np.arange(points) + 1 - points) / points
    grid = np.stack(np.meshgrid(*[axis] * instance.m), axis=-1).reshape(-1, instance.m)
    logs = log_posterior(instance, labels, grid)
    weights = np.exp(logs - logs.max())
    return weights @ grid / weights.sum()


@pytest.mark.parametrize(("N", "m", "tau"), [(2, 1, 0.3), (3, 2, 0.8), (1, 2, 0.8), (3, 1, 1.0)])
def test_the_posterior_mean_by_quadrature(N, m, tau):
    instance, rng = oracle.draw(N, 5, 2, m, tau, 3), np.random.default_rng(3)
    labels = oracle.sampled_prompts(instance, rng.normal(size=(1, m)), rng)[0, :N]
    expected, task = quadrature_mean(instance, labels), Task(*instance)
    runs = [posterior_mean(task, labels, samples=20_000, rng=rng) for _ in range(20)]
    means = np.array([found.coefficients for found in runs])
    bars = means.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert (bars < 0.04).all()
    assert (np.abs(means.mean(axis=0) - expected) < 4 * bars).all()
    assert all(1 < found.effective <= 20_000 for found in runs)


def test_the_effective_sample_size_tells_how_far_means_scatter():
    instance = oracle.draw(2, 5, 2, 1, 0.5, 6)
    task, labels, rng = Task(*instance), np.array([1.0, -0.7]), np.random.default_rng(6)
    runs = [posterior_mean(task, labels, samples=2_000, rng=rng) for _ in range(60)]
    axis = 7 * (2 * np.arange(20_000) + 1 - 20_000) / 20_000
    logs = log_posterior(instance, labels, axis[:, None])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    deviation = np.sqrt(weights @ axis**2 - (weights @ axis) ** 2)
    scatter = np.std([found.coefficients[0] for found in runs])
    predicted = deviation / np.sqrt(np.median([found.effective for found in runs]))
    assert 0.5 < scatter / predicted < 2


def test_the_posterior_mean_is_not_linear_in_the_labels():
    instance = oracle.draw(3, 5, 2, 2, 0.3, 4)
    labels = np.array([1.0, -0.5, 0.8])
    once, twice = (quadrature_mean(instance, scale * labels) for scale in (1, 2))
    assert np.abs(twice - 2 * once).max() > 0.05


def test_far_labels_do_not_underflow():
    task = Task(*oracle.draw(3, 5, 2, 2, 1e-4, 4))
    labels = np.array([60.0, -50.0, 80.0])
    found = posterior_mean(task, labels, samples=500, rng=np.random.default_rng(0))
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.effective)


def test_no_posterior_without_noise():
    task = Task(*oracle.draw(2, 3, 2, 2, 0.0, 4))
    with pytest.raises(InputError, match="without noise the posterior is no density"):
        posterior_mean(task, np.ones(2), samples=10, rng=np.random.default_rng(0))
