"""The model on a batch: the kernel form against the definition, entry by entry."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import sparse_selection as oracle
from oracles.sparse_selection import FACTS, SMALL

from lemmata.papers.selection.setting import (
    Batch,
    Family,
    Task,
    Weights,
    attend,
    draw_batch,
    loss_and_gradient,
    losses,
    population,
    token_free_losses,
)
from lemmata.training import fold, normals, stream, subsets

D, D_E, T, SAMPLES = 3, 11, 9, 6


def random_weights(seed: int, d: int = D, d_e: int = D_E, scale: float = 0.4) -> Weights:
    draw = np.random.default_rng(seed)
    V = draw.standard_normal((d, d + d_e))
    return Weights(jnp.asarray(V), jnp.asarray(scale * draw.standard_normal((d + d_e, d + d_e))))


def queries(kind: str, d: int = D, samples: int = SAMPLES) -> np.ndarray:
    draw = np.random.default_rng(3)
    if kind == "zero":
        return np.zeros((samples, d))
    if kind == "fixed":
        return np.tile(draw.standard_normal(d), (samples, 1))
    return draw.standard_normal((samples, d))


def sample(q: int, kind: str) -> tuple[Batch, np.ndarray]:
    task, draw = Task(T, q, D), np.random.default_rng(q)
    X, y = task.draw_tokens(SAMPLES, draw), task.draw_subsets(SAMPLES, draw)
    y = draw.permuted(y, axis=1)
    E, x_query = draw.standard_normal((D_E, T)) / 3, queries(kind)
    given = None if kind == "zero" else jnp.asarray(x_query)
    return Batch(jnp.asarray(X), jnp.asarray(y), jnp.asarray(E), given), x_query


@jax.jit
def evaluate(weights: Weights, batch: Batch) -> tuple[jax.Array, Weights, jax.Array, jax.Array]:
    return *loss_and_gradient(weights, batch), losses(weights, batch), attend(weights, batch)


def test_golden_step():
    facts = FACTS["batch_step"]
    X, y = np.array(facts["X"]), np.array(facts["idx"])
    x_query = jnp.asarray(np.tile(facts["x_query"], (3, 1)))
    batch = Batch(jnp.asarray(X), jnp.asarray(y), jnp.asarray(SMALL), x_query)
    weights = Weights(jnp.asarray(facts["V"]), jnp.asarray(facts["W"]))
    loss, gradient, each, S = evaluate(weights, batch)
    assert float(loss) == pytest.approx(facts["loss"], rel=1e-12)
    np.testing.assert_allclose(S, facts["softmax"], rtol=1e-11)
    np.testing.assert_allclose(gradient.V, facts["grad_V"], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(gradient.W, facts["grad_W"], rtol=1e-10, atol=1e-14)
    targets = np.array([tokens[:, rows].mean(axis=1) for tokens, rows in zip(X, y, strict=True)])
    errors = 0.5 * ((targets - facts["output"]) ** 2).sum(axis=1)
    np.testing.assert_allclose(each, errors, rtol=1e-11)


@pytest.mark.parametrize(("q", "kind"), [(1, "zero"), (2, "fixed"), (4, "zero"), (5, "random")])
def test_the_gradient_by_hand_is_that_of_the_definition(q, kind):
    batch, x_query = sample(q, kind)
    weights = random_weights(q)
    X, y, E = (np.asarray(part) for part in batch[:3])

    each, (V, W) = oracle.batch_gradient(*weights, oracle.Samples.of(X, y, E, x_query))
    found, gradient, found_each, S = evaluate(weights, batch)
    assert float(found) == pytest.approx(float(each.mean()), rel=1e-11)
    np.testing.assert_allclose(found_each, each, rtol=1e-11)
    np.testing.assert_allclose(gradient.V, V, rtol=0, atol=1e-11 * np.abs(V).max())
    np.testing.assert_allclose(gradient.W, W, rtol=0, atol=1e-11 * np.abs(W).max())
    blocks = [W[:D, :D], W[:D, D:], W[D:, :D], W[D:, D:]]
    assert [bool(np.abs(block).max() > 1e-3) for block in blocks] == (
        [False, True, False, True] if kind == "zero" else [True] * 4
    )
    z = [
        np.concatenate([x, oracle.subset_vector(E, rows)])
        for x, rows in zip(x_query, y, strict=True)
    ]
    for i in range(SAMPLES):
        Z = np.concatenate([X[i], E])
        powers = np.exp(Z.T @ np.asarray(weights.W) @ z[i])
        np.testing.assert_allclose(S[i], powers / powers.sum(), rtol=1e-10)


def test_padding_changes_nothing():
    # shorter sequences and smaller subsets, in the shape of longer and larger ones
    batch, _ = sample(3, "random")
    weights = random_weights(4)
    chosen = Task(6, 3, D).draw_subsets(SAMPLES, np.random.default_rng(1))
    y = jnp.concatenate([jnp.asarray(chosen), jnp.full((SAMPLES, 2), -1)], axis=1)
    short = Batch(batch.X[:, :, :6], y[:, :3], batch.E[:, :6], batch.x_query)
    padded = Batch(batch.X, y, batch.E, batch.x_query, jnp.asarray(6))
    expected, found = evaluate(weights, short), evaluate(weights, padded)
    for name, a, b in zip(("loss", "gradient", "each"), expected, found, strict=False):
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-12, err_msg=name), b, a)
    np.testing.assert_allclose(found[3][:, :6], expected[3], rtol=1e-12)
    np.testing.assert_array_equal(found[3][:, 6:], 0)
    free = jax.jit(token_free_losses)
    np.testing.assert_allclose(
        free(weights, y, batch.E, jnp.asarray(6)), free(weights, y[:, :3], short.E), rtol=1e-11
    )


def free_of_tokens(weights: Weights) -> Weights:
    return Weights(weights.V, weights.W.at[: len(weights.V)].set(0.0))


@pytest.mark.parametrize("q", [1, 3])
def test_losses_without_tokens_are_the_population_loss(q):
    weights = free_of_tokens(random_weights(5, 2, 8))
    y = Task(6, q, 2).draw_subsets(7, np.random.default_rng(q))
    found = jax.jit(token_free_losses)(weights, jnp.asarray(y[:, ::-1]), jnp.asarray(SMALL))
    for i, rows in enumerate(y):
        one = population(Family.of(SMALL[None], rows[None]), weights, jnp.zeros(2))
        assert float(found[i]) == pytest.approx(float(one.loss), rel=1e-12)


def test_losses_without_tokens_by_samples():
    task, count = Task(6, 2, 2), 20_000
    weights = free_of_tokens(random_weights(8, 2, 8))
    y = np.array([[4, 1], [0, 5]])
    exact = np.asarray(jax.jit(token_free_losses)(weights, jnp.asarray(y), jnp.asarray(SMALL)))
    X = jnp.asarray(task.draw_tokens(count, np.random.default_rng(9)))
    for rows, expected in zip(y, exact, strict=True):
        z = jnp.asarray(np.concatenate([np.zeros(2), oracle.subset_vector(SMALL, rows)]))
        outputs = jax.vmap(oracle.predict, in_axes=(None, None, 0, None, None))(
            *weights, X, jnp.asarray(SMALL), z
        )
        found = 0.5 * np.sum((np.asarray(X)[:, :, rows].mean(axis=2) - outputs) ** 2, axis=1)
        error = found.std() / np.sqrt(count)
        assert error < 0.02 * expected
        assert abs(found.mean() - expected) < 3.5 * error


def test_batches_are_tokens_and_subsets_of_their_own_streams():
    source, E = stream(4), jnp.asarray(SMALL, dtype=jnp.float32)
    draw = jax.jit(draw_batch, static_argnums=(1, 2, 3))
    batch = draw(source, 5, 2, 3, E, None)
    X = normals(fold(source, jnp.uint32(0)), (5, 3, 6))
    np.testing.assert_array_equal(batch.X, X)
    np.testing.assert_array_equal(batch.y, subsets(fold(source, jnp.uint32(1)), 5, 2, 6))
    np.testing.assert_array_equal(batch.E, E)
    assert batch.x_query is None
    doubled = draw(source, 5, 2, 3, jnp.asarray(SMALL), jnp.ones((5, 3)))
    assert doubled.X.dtype == jnp.float64
    np.testing.assert_array_equal(doubled.X, np.asarray(X, dtype=float))
    np.testing.assert_array_equal(doubled.x_query, 1)


def test_what_is_taken_off_the_diagonal_of_positions():
    """With one position asked for, its logit falls by just that; all else is the definition."""
    draw = np.random.default_rng(5)
    d, d_e, T = 2, 6, 5
    V, W = draw.standard_normal((d, d + d_e)), draw.standard_normal((d + d_e, d + d_e))
    W[:d] = 0
    E, less = draw.standard_normal((d_e, T)), draw.uniform(0.5, 2.0, T)
    E /= np.linalg.norm(E, axis=0)
    found = token_free_losses(
        Weights(jnp.asarray(V), jnp.asarray(W)),
        jnp.arange(T)[:, None],
        jnp.asarray(E),
        less=jnp.asarray(less),
    )
    for i in range(T):
        logits = E.T @ W[d:, d:] @ E[:, i] - less[i] * np.eye(T)[i]
        s = np.exp(logits) / np.exp(logits).sum()
        tokens = np.einsum("ij,t->itj", V[:, :d], s) - np.einsum(
            "ij,t->itj", np.eye(d), np.eye(T)[i]
        )
        wanted = 0.5 * (np.sum(tokens**2) + np.sum((V[:, d:] @ E @ s) ** 2))
        np.testing.assert_allclose(found[i], wanted, rtol=1e-12)
