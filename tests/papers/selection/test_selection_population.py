"""The population loss and its gradient against quadrature, stored numbers and samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import sparse_selection as oracle
from oracles.sparse_selection import FACTS, SMALL

from lemmata.papers.selection.setting import Family, Task, Weights, population


def random_weights(d: int, d_e: int, seed: int) -> Weights:
    """Everything but the token rows of W is there, so that attention does not see the tokens."""
    draw = np.random.default_rng(seed)
    W = draw.standard_normal((d + d_e, d + d_e))
    W[:d] = 0
    return Weights(jnp.asarray(draw.standard_normal((d, d + d_e))), jnp.asarray(W))


def test_golden_loss_and_gradient():
    facts = FACTS["exact_population_generic"]
    family = Family.of(SMALL[None], Task(6, facts["q"], facts["d"]).all_subsets())
    weights = Weights(jnp.asarray(facts["V"]), jnp.asarray(facts["W"]))
    for average in ("inside", "outside"):
        found = population(family, weights, jnp.asarray(facts["x_query"]), average)
        assert float(found.loss) == pytest.approx(facts["loss"], rel=1e-12)
        np.testing.assert_allclose(found.gradient.V, facts["grad_V"], rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(found.gradient.W, facts["grad_W"], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("average", ["inside", "outside"])
@pytest.mark.parametrize(("T", "q", "d", "d_e", "members"), [(4, 2, 2, 3, 3), (5, 3, 1, 4, 2)])
def test_every_entry_of_the_gradient_by_quadrature(average, T, q, d, d_e, members):
    draw = np.random.default_rng(T)
    E = draw.standard_normal((members, d_e, T)) / 2
    x_query, weights = draw.standard_normal(d), random_weights(d, d_e, 2)
    family = Family.of(E, Task(T, q, d).all_subsets())
    found = population(family, weights, jnp.asarray(x_query), average)

    def loss(V: jax.Array, W: jax.Array) -> jax.Array:
        return oracle.population_loss(V, W, E, q, x_query, inside=average == "inside")

    expected, (V, W) = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))(*weights)
    assert float(found.loss) == pytest.approx(float(expected), rel=1e-12)
    np.testing.assert_allclose(found.gradient.V, V, atol=1e-12 * np.abs(V).max())
    np.testing.assert_allclose(found.gradient.W, W, atol=1e-12 * np.abs(W).max())
    assert np.abs(W[:d]).max() > 1e-3
    assert np.abs(W[:, :d]).max() > 1e-3


def test_samples_agree_within_their_error_bar():
    task, draw = Task(6, 2, 2), np.random.default_rng(6)
    x_query, weights = np.array([0.5, -1.0]), random_weights(2, 8, 7)
    X, y = task.draw_tokens(60_000, draw), task.draw_subsets(60_000, draw)
    e_y = {tuple(rows): oracle.subset_vector(SMALL, rows) for rows in task.all_subsets()}
    z = np.array([np.concatenate([x_query, e_y[tuple(rows)]]) for rows in y])
    outputs = jax.vmap(oracle.predict, in_axes=(None, None, 0, None, 0))(
        *weights, jnp.asarray(X), jnp.asarray(SMALL), jnp.asarray(z)
    )
    target = np.take_along_axis(X, y[:, None, :], axis=2).mean(axis=2)
    losses = 0.5 * ((target - np.asarray(outputs)) ** 2).sum(axis=1)
    error = losses.std() / np.sqrt(len(losses))
    family = Family.of(SMALL[None], task.all_subsets())
    exact = float(population(family, weights, jnp.asarray(x_query)).loss)
    assert error < 0.01 * exact
    assert abs(losses.mean() - exact) < 3.5 * error


def test_a_family_prepares_every_subset_under_every_member():
    E = np.stack([SMALL, SMALL[::-1] * np.arange(1, 7)])
    y = np.array([[0, 5], [1, 4], [2, 3]])
    family = Family.of(E, y)
    np.testing.assert_array_equal(family.Y, Task(6, 2, 1).indicators(y))
    for m, member in enumerate(E):
        for s, rows in enumerate(y):
            expected = oracle.subset_vector(member, rows)
            np.testing.assert_allclose(family.e_y[m, s], expected, atol=1e-13)
