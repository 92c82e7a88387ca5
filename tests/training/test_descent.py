"""One step of each rule, and what is measured of a state, in numbers that are known."""

import jax.numpy as jnp
import numpy as np
import pytest

from lemmata.attention import LogScaled
from lemmata.training import TrainingState, common_measurements, descend

WEIGHTS = jnp.array([3.0, 4.0])
UNIT = jnp.array([0.6, -0.8])


def gradient(log_norm: float, unit=UNIT) -> LogScaled:
    return LogScaled(unit, jnp.array(log_norm))


def moved(rule, log_norm: float, epsilon: float = 0.0, unit=UNIT) -> np.ndarray:
    at = descend(rule, jnp.array(0.5), WEIGHTS, gradient(log_norm, unit), epsilon)
    return np.asarray(at - WEIGHTS)


def test_plain_descent_moves_by_the_gradient():
    np.testing.assert_allclose(moved("gd", np.log(8.0)), [-2.4, 3.2], rtol=1e-14)
    np.testing.assert_allclose(moved("gd", np.log(8.0), 1e-3), [-2.4, 3.2], rtol=1e-14)
    np.testing.assert_array_equal(moved("gd", -2000.0), 0.0)


@pytest.mark.parametrize("log_norm", [np.log(8.0), 0.0, -2000.0])
def test_normalized_descent_moves_by_the_step_size(log_norm: float):
    np.testing.assert_allclose(moved("ngd", log_norm), [-0.3, 0.4], rtol=1e-14)


@pytest.mark.parametrize("norm", [8.0, 1e-3, 1e-9])
def test_an_epsilon_is_added_to_the_norm(norm: float):
    share = norm / (norm + 1e-3)
    found = moved("ngd", float(np.log(norm)), 1e-3)
    np.testing.assert_allclose(found, np.array([-0.3, 0.4]) * share, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("rule", ["gd", "ngd"])
def test_a_zero_gradient_moves_nothing(rule):
    np.testing.assert_array_equal(moved(rule, -np.inf, 0.0, jnp.zeros(2)), 0.0)
    np.testing.assert_array_equal(moved(rule, -np.inf, 1e-3, jnp.zeros(2)), 0.0)


def test_measurements():
    """Weights of length 5, a target of length 2 along the first axis."""
    state = TrainingState(WEIGHTS, jnp.array(-7.0), gradient(-9.0))
    found = {k: float(v) for k, v in common_measurements(state, jnp.array([2.0, 0.0])).items()}
    assert found == pytest.approx(
        {
            "log_loss": -7.0,
            "log_gradient_norm": -9.0,
            "norm": 5.0,
            "one_minus_correlation": 0.4,
            "descent_on_target": -0.6,
            "descent_on_weights": (-0.6 * 3 + 0.8 * 4) / 5,
        },
        rel=1e-14,
    )
