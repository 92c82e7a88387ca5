"""Weights in the space of the embeddings: bilinear forms and their adjoints."""

import jax.numpy as jnp
import numpy as np
import pytest

from lemmata.attention import CellCoordinates, LogScaled, ValueCoordinates

RNG = np.random.default_rng(0)
E = RNG.standard_normal((4, 3))
TOKENS, QUERIES = np.array([0, 1, 3, 3]), np.array([2, 2, 0, 1])
CELLS = CellCoordinates(jnp.asarray(E[TOKENS]), jnp.asarray(E[QUERIES]))
VALUES = ValueCoordinates(jnp.asarray(E))


def scaled(array: np.ndarray) -> LogScaled:
    return LogScaled.from_parts(jnp.asarray(array), jnp.array(-2.0))


def full(gradient: LogScaled) -> np.ndarray:
    return np.asarray(gradient.unit) * np.exp(float(gradient.log_norm))


def test_cell_logits_are_the_bilinear_form():
    W = RNG.standard_normal((3, 3))
    expected = [E[t] @ W @ E[q] for t, q in zip(TOKENS, QUERIES, strict=True)]
    np.testing.assert_allclose(CELLS.logits(jnp.asarray(W)), expected, rtol=1e-13)


def test_value_logits_are_linear_in_the_embedding():
    W = RNG.standard_normal((3, 4))
    expected = [[sum(E[x, i] * W[i, v] for i in range(3)) for v in range(4)] for x in range(4)]
    np.testing.assert_allclose(VALUES.values(jnp.asarray(W)), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_pulling_back_is_the_adjoint(seed):
    generator = np.random.default_rng(seed)
    gradient, W = generator.standard_normal(4), generator.standard_normal((3, 3))
    pulled = CELLS.pull_back(scaled(gradient))
    forward = np.asarray(CELLS.logits(jnp.asarray(W)))
    assert np.sum(full(pulled) * W) == pytest.approx(np.exp(-2) * gradient @ forward, rel=1e-12)
    assert np.linalg.norm(pulled.unit) == pytest.approx(1, rel=1e-14)
    gradient, W = generator.standard_normal((4, 4)), generator.standard_normal((3, 4))
    pulled = VALUES.pull_back(scaled(gradient))
    forward = np.asarray(VALUES.values(jnp.asarray(W)))
    assert np.sum(full(pulled) * W) == pytest.approx(np.exp(-2) * np.sum(gradient * forward))


def test_a_scale_beyond_floating_point_is_kept():
    gradient = LogScaled(jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.array(-1e5))
    pulled = CELLS.pull_back(gradient)
    size = np.linalg.norm(np.outer(E[0], E[2]))
    assert float(pulled.log_norm) == pytest.approx(-1e5 + np.log(size), abs=1e-10)
    np.testing.assert_allclose(pulled.unit, np.outer(E[0], E[2]) / size, rtol=1e-13)


def test_without_embeddings_nothing_changes():
    gradient = scaled(RNG.standard_normal(4))
    assert CellCoordinates().pull_back(gradient) is gradient
    assert ValueCoordinates().pull_back(gradient) is gradient
    weights = jnp.arange(4.0)
    assert CellCoordinates().logits(weights) is weights
