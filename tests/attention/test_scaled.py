"""Numbers beyond floating point: log-scaled arrays, log softplus, 1 - cos."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf

from lemmata.attention import LogScaled, cosine_gap, log_softplus
from lemmata.attention._scaled import scale_out


@pytest.mark.parametrize("span", [(-1e4, -700), (-700, -21), (-20.5, -19.5), (-20, 3), (3, 50)])
def test_log_softplus(span):
    points = np.append(np.linspace(*span, 41), [-20.0, np.nextafter(-20, -21)])
    found = jax.jit(log_softplus)(jnp.asarray(points))
    with mp.workdps(60):
        expected = [float(mp.log(mp.log1p(mp.exp(mpf(float(x)))))) for x in points]
    np.testing.assert_allclose(found, expected, rtol=2e-16, atol=2e-16)


def test_log_softplus_at_the_ends():
    np.testing.assert_array_equal(
        log_softplus(jnp.array([-np.inf, 1e300])), [-np.inf, np.log(1e300)]
    )


def exact_gap(a: np.ndarray, b: np.ndarray) -> float:
    with mp.workdps(80):
        x, y = ([mpf(float(t)) for t in v.ravel()] for v in (a, b))
        inner = mp.fsum(s * t for s, t in zip(x, y, strict=True))
        return float(1 - inner / mp.sqrt(mp.fsum(s * s for s in x) * mp.fsum(t * t for t in y)))


@pytest.mark.parametrize("angle", [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_cosine_gap_of_nearly_parallel_vectors(angle, scale):
    generator = np.random.default_rng(0)
    a, away = generator.standard_normal((2, 4, 4))
    b = scale * (a + angle * away)
    exact = exact_gap(a, b)
    error = abs(float(cosine_gap(jnp.asarray(a), jnp.asarray(b))) - exact)
    # each unit vector is rounded to about eps, and the gap is half a squared distance
    assert error <= 8 * np.finfo(float).eps * np.sqrt(exact) + 1e-31
    if angle == 1e-6:
        assert error < 1e-8 * exact


def test_cosine_gap_at_special_angles():
    e, f = jnp.eye(2)
    assert float(cosine_gap(e, e)) == 0
    assert float(cosine_gap(e, f)) == pytest.approx(1)
    assert float(cosine_gap(e, -3 * e)) == pytest.approx(2)
    assert np.isnan(float(cosine_gap(e, 0 * e)))


def test_log_scaled_array_is_unit_times_exponential():
    array = jnp.array([[3.0, 0.0], [0.0, -4.0]])
    found = LogScaled.from_parts(array, jnp.array(-5000.0))
    np.testing.assert_allclose(found.unit, [[0.6, 0], [0, -0.8]], rtol=1e-15)
    assert float(found.log_norm) == pytest.approx(-5000 + np.log(5), abs=1e-12)


def test_log_scaled_zero():
    found = LogScaled.from_parts(jnp.zeros(3), jnp.array(7.0))
    np.testing.assert_array_equal(found.unit, 0)
    assert float(found.log_norm) == -np.inf


def test_scale_out_leaves_a_largest_entry_of_one():
    array, scale = scale_out(jnp.array([1.0, -1.0, 1.0]), jnp.array([-9000.0, -9001.0, -jnp.inf]))
    np.testing.assert_allclose(array, [1, -np.exp(-1), 0], rtol=1e-15)
    assert float(scale) == -9000
    array, scale = scale_out(jnp.ones(2), jnp.array([-jnp.inf, -jnp.inf]))
    np.testing.assert_array_equal(array, 0)
    assert float(scale) == 0
