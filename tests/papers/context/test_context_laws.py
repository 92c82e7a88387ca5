"""Laws of the coefficients: what is drawn, and the losses under each of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import in_context as oracle
from oracles.in_context import GOLDEN
from scipy.stats import ks_2samp, kstest

from lemmata._errors import InputError
from lemmata.papers.context.setting import (
    Law,
    Task,
    correlated_law,
    draw_labels,
    loss_under,
    prediction_error,
    shifted_law,
    standard_law,
)

LAWS = {
    "gaussian": standard_law(3),
    "rademacher": standard_law(3, "rademacher"),
    "shifted": shifted_law(3),
    "correlated": correlated_law(3, 0.6),
    "mixed signs": Law(np.array([0.5, 0.0, -1.0]), np.arange(9.0).reshape(3, 3) / 5, "rademacher"),
}


def random_map(instance: oracle.Instance, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.6, (instance.N, instance.K))


def literal(law: Law, rng: np.random.Generator, count: int) -> np.ndarray:
    """Coefficients, one vector at a time."""
    m = len(law.mean)
    signs = law.entries == "rademacher"
    entries = [
        2.0 * rng.integers(0, 2, m) - 1 if signs else rng.normal(size=m) for _ in range(count)
    ]
    return np.array([law.mean + law.mixing @ xi for xi in entries])


@settings(max_examples=40)
@given(oracle.instances(), st.integers(0, 10_000))
def test_losses_by_enumeration(instance, seed):
    """For signs the prompts are all there are, up to the noise; other laws share their moments."""
    task, combined = Task(*instance), random_map(instance, seed)
    rng = np.random.default_rng(seed)
    law = Law(rng.normal(size=task.m), rng.normal(size=(task.m, task.m)), "rademacher")
    labels = oracle.prompts(instance, law.mean, law.mixing)
    assert loss_under(task, law, combined) == pytest.approx(
        oracle.loss(labels, combined), rel=1e-11
    )
    away = combined - oracle.target(instance)
    expected = ((labels[:, : task.N] @ away) ** 2).mean()
    assert prediction_error(task, law, combined) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_losses_by_sampling(name):
    instance, rng = oracle.draw(3, 5, 3, 3, 0.3, 4), np.random.default_rng(4)
    combined, law = random_map(instance, 5), LAWS[name]
    labels = oracle.sampled_prompts(instance, literal(law, rng, 30_000), rng)
    away = combined - oracle.target(instance)
    sampled = {
        "loss": oracle.squared_errors(labels, combined).mean(axis=1) / 2,
        "error": ((labels[:, :3] @ away) ** 2).mean(axis=1),
    }
    task = Task(*instance)
    exact = {
        "loss": loss_under(task, law, combined),
        "error": prediction_error(task, law, combined),
    }
    for what, values in sampled.items():
        bar = values.std() / np.sqrt(len(values))
        assert bar < 0.02 * exact[what]
        assert abs(values.mean() - exact[what]) < 4 * bar, what


@settings(max_examples=40)
@given(oracle.instances(), st.integers(0, 10_000))
def test_the_standard_law_has_the_loss_of_the_task(instance, seed):
    task, combined = Task(*instance), random_map(instance, seed)
    for entries in ("gaussian", "rademacher"):
        law = standard_law(task.m, entries)
        assert loss_under(task, law, combined) == pytest.approx(
            float(task.loss(combined)), rel=1e-11
        )
        twice = 2 * float(task.gap(combined))
        assert prediction_error(task, law, combined) == pytest.approx(twice, rel=1e-12)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_errors_of_inference(name):
    instance, facts = oracle.stored(name)[0], GOLDEN[name]
    task, combined = Task(*instance), np.array(facts["Ahat_w1"])
    inside = prediction_error(task, standard_law(task.m), combined)
    outside = prediction_error(task, shifted_law(task.m), combined)
    assert inside == pytest.approx(facts["inference_in_domain_w1"], rel=1e-9)
    assert outside == pytest.approx(facts["inference_ood_w1"], rel=1e-9)
    assert outside > 4 * inside


@pytest.mark.parametrize("name", sorted(LAWS))
def test_drawn_coefficients_have_the_moments(name):
    law, rng = LAWS[name], np.random.default_rng(6)
    drawn = law.draw(rng, 40_000)
    products = drawn[:, :, None] * drawn[:, None, :]
    for found, expected in ((drawn, law.mean), (products, law.second_moment)):
        bars = found.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - expected) < 4.5 * bars + 1e-12).all()


def test_entries_are_normal_or_signs():
    rng = np.random.default_rng(7)
    shifted = (shifted_law(2).draw(rng, 3_000) - 1) / 2
    assert kstest(shifted.ravel(), "norm").pvalue > 1e-3
    signs = standard_law(3, "rademacher").draw(rng, 500)
    assert set(signs.ravel().tolist()) == {-1.0, 1.0}
    assert len(np.unique(signs, axis=0)) == 8


@pytest.mark.parametrize("name", ["gaussian", "rademacher", "shifted"])
def test_labels_have_the_law_of_1(name):
    """Noise that is drawn label by label, with a variance that depends on lambda."""
    instance, rng = oracle.draw(2, 3, 2, 3, 0.8, 9), np.random.default_rng(9)
    law, count = LAWS[name], 8_000
    drawn = draw_labels(Task(*instance), law, rng, count)
    expected = oracle.sampled_prompts(instance, literal(law, rng, count), rng)
    for statistic in (
        lambda y: y[:, 0],
        lambda y: y[:, 2],
        lambda y: y[:, 0] * y[:, 1],
        lambda y: np.linalg.norm(y, axis=1),
    ):
        assert ks_2samp(statistic(drawn), statistic(expected)).pvalue > 1e-3


def test_without_noise_labels_are_linear_in_lambda():
    task = Task(*oracle.draw(2, 4, 2, 2, 0.0, 1))
    drawn = draw_labels(task, standard_law(2), np.random.default_rng(0), 50)
    assert np.linalg.matrix_rank(drawn) == 2


@pytest.mark.parametrize("correlation", [-0.49, 0.0, 0.7])
def test_a_common_correlation(correlation):
    moment = correlated_law(3, correlation).second_moment
    expected = np.full((3, 3), correlation)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(moment, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("m", "correlation"), [(3, -0.5), (3, 1.0), (2, -1.0), (1, 1.0), (5, -0.3)]
)
def test_correlations_that_cannot_be(m, correlation):
    with pytest.raises(InputError, match=rf"a common correlation of {m} entries lies between"):
        correlated_law(m, correlation)


def test_one_entry_has_no_correlation():
    np.testing.assert_array_equal(correlated_law(1, 0.5).second_moment, [[1.0]])
