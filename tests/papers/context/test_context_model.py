"""The transformer and its gradient: by hand, by derivatives, and where attention is saturated."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from oracles import in_context as oracle
from oracles.in_context import GOLDEN

from lemmata._errors import InputError
from lemmata.papers.context.setting import (
    Attention,
    Evaluation,
    Task,
    Weights,
    as_written,
    draw_weights,
    embed,
    evaluate,
    from_heads,
    pad_systems,
    pad_weights,
    system_of,
)

evaluated = jax.jit(evaluate)


def heads_first(Q: np.ndarray | jax.Array) -> np.ndarray:
    """One matrix a head, as the paper has it."""
    return np.asarray(Q).transpose(1, 0, 2)


@settings(max_examples=40)
@given(oracle.instances(), st.integers(1, 4), st.integers(0, 10_000))
def test_the_matrices_of_7_predict_8(instance, H, seed):
    Q, w = oracle.draw_heads(instance, H, seed)
    task, transformer = Task(*instance), as_written(from_heads(Q, w))
    y = np.random.default_rng(seed).normal(size=task.N)
    embedding = embed(task, y)
    outputs = transformer(embedding[:, : task.N], embedding)
    expected = oracle.predictions(instance, Q, w, y)
    np.testing.assert_allclose(np.diag(outputs), expected, rtol=1e-12, atol=1e-13)


def test_the_matrices_have_the_shape_of_7():
    instance = oracle.draw(2, 4, 3, 2, 0.1, 0)
    Q, w = oracle.draw_heads(instance, 2, 0)
    found = as_written(from_heads(Q, w))
    for h in range(2):
        joined = np.zeros((4, 4))
        joined[:3, :3] = Q[h]
        np.testing.assert_array_equal(found.keys[h].T @ found.queries[h], joined)
        np.testing.assert_array_equal(found.values[h], np.hstack([np.zeros((4, 3)), w[h][:, None]]))
    np.testing.assert_array_equal(found.output, np.hstack([np.eye(4), np.eye(4)]))


def test_the_label_of_a_query_is_not_shown():
    task = Task(*oracle.draw(2, 4, 3, 2, 0.1, 0))
    found = embed(task, np.array([5.0, 6.0]))
    np.testing.assert_array_equal(found[:3], task.tokens)
    np.testing.assert_array_equal(found[3], [5, 6, 0, 0])


SHAPES = [((1, 3, 4, 2), 2), ((4, 7, 3, 2), 5)]
"""N, K, d and m, and the heads."""


def drawn(sizes: tuple[int, ...], H: int) -> tuple[oracle.Instance, np.ndarray, np.ndarray]:
    instance = oracle.draw(*sizes, 0.2, sum(sizes))
    return instance, *oracle.draw_heads(instance, H, 1)


@pytest.mark.parametrize(("sizes", "H"), SHAPES)
def test_the_gradient_by_automatic_derivatives(sizes, H):
    instance, Q, w = drawn(sizes, H)
    tokens, labels = jnp.asarray(instance.tokens), jnp.asarray(oracle.prompts(instance))

    @jax.jit
    def loss(Q: jax.Array, w: jax.Array) -> jax.Array:
        return oracle.literal_loss(tokens, labels, instance.N, Q, w)

    value, (in_Q, in_w) = jax.value_and_grad(loss, argnums=(0, 1))(jnp.asarray(Q), jnp.asarray(w))
    task = Task(*instance)
    found = evaluated(system_of(task, H), from_heads(Q, w))
    assert float(found.gap) + task.minimum == pytest.approx(float(value), rel=1e-12)
    np.testing.assert_allclose(found.gradient.w, in_w, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(heads_first(found.gradient.Q), in_Q, rtol=1e-10, atol=1e-13)
    _, (slow_Q, slow_w) = oracle.slopes(instance, oracle.target(instance), Q, w)
    np.testing.assert_allclose(slow_Q, in_Q, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(slow_w, in_w, rtol=1e-10, atol=1e-13)


def test_the_gradient_by_finite_differences():
    instance = oracle.draw(3, 5, 5, 2, 0.3, 5)
    Q, w = oracle.draw_heads(instance, 2, 2)
    labels, h = oracle.prompts(instance), 1e-5
    found = evaluated(system_of(Task(*instance), 2), from_heads(Q, w)).gradient

    def loss(Q: np.ndarray, w: np.ndarray) -> float:
        return oracle.loss(labels, oracle.combined(instance, Q, w))

    for at, slope in np.ndenumerate(heads_first(found.Q)):
        step = np.zeros_like(Q)
        step[at] = h
        assert (loss(Q + step, w) - loss(Q - step, w)) / (2 * h) == pytest.approx(slope, abs=1e-8)
    for at, slope in np.ndenumerate(np.asarray(found.w)):
        step = np.zeros_like(w)
        step[at] = h
        assert (loss(Q, w + step) - loss(Q, w - step)) / (2 * h) == pytest.approx(slope, abs=1e-8)


@pytest.fixture(scope="module")
def padded() -> Evaluation:
    """The stored instances and those drawn, padded to a common size."""
    given = [*map(oracle.stored, GOLDEN), *(drawn(*shape) for shape in SHAPES)]
    system = pad_systems([Task(*one) for one, _, _ in given], [len(Q) for _, Q, _ in given])
    weights = pad_weights([from_heads(Q, w) for _, Q, w in given], system)
    return jax.jit(jax.vmap(evaluate))(system, weights)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_gradients(padded, name):
    instance, Q, w = oracle.stored(name)
    row, facts = list(GOLDEN).index(name), GOLDEN[name]
    gap, gradient = jax.tree.map(lambda leaf: np.asarray(leaf[row]), padded)
    in_Q, in_w, stored = heads_first(gradient.Q), gradient.w, facts["grad_w1"]
    assert gap == pytest.approx(facts["gap_w1"], rel=1e-9)
    H, d, K = Q.shape[0], Q.shape[1], w.shape[1]
    norms = np.linalg.norm(in_Q, axis=(1, 2))[:H]
    np.testing.assert_allclose(norms, stored["normQ_per_head"], rtol=1e-9)
    norms = np.linalg.norm(in_w, axis=1)[:H]
    np.testing.assert_allclose(norms, stored["norm_w_per_head"], rtol=1e-9)
    corners = (in_Q[0, 0, 0], in_Q[H - 1, d - 1, d - 1], in_w[0, 0], in_w[H - 1, K - 1])
    for key, value in zip(("gQ_0_00", "gQ_last", "gw_00", "gw_last"), corners, strict=True):
        assert value == pytest.approx(stored[key], rel=1e-9), key
    embedding = embed(Task(*instance), np.array(facts["y"]))
    predicted = np.diag(as_written(from_heads(Q, w))(embedding[:, : instance.N], embedding))
    np.testing.assert_allclose(predicted, facts["yhat_model_w1"], rtol=1e-9)


def saturated(gap: float) -> tuple[oracle.Instance, np.ndarray, np.ndarray]:
    """Logits that are exact numbers: 0, -gap and -1.5 gap, in an order that depends on h and k."""
    rng = np.random.default_rng(3)
    instance = oracle.Instance(np.eye(5), rng.uniform(-1, 1, (2, 5)), 3, 0.25)
    Q = np.zeros((2, 5, 5))
    for h, k in np.ndindex(2, 5):
        Q[h, :3, k] = rng.permutation([0, -gap, -1.5 * gap])
    return instance, Q, rng.normal(0, 1, (2, 5))


def relative_errors(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Entry by entry, where the exact number is not zero."""
    pairs = zip(found.ravel(), expected.ravel(), strict=True)
    return np.array([float(abs(a / b - 1)) for a, b in pairs if b])


@pytest.mark.parametrize("gap", [40.0, 400.0])
def test_the_gradient_where_attention_is_saturated(gap):
    """Every entry of the gradient in Q is right, be it 1e-18 or 1e-261."""
    instance, Q, w = saturated(gap)
    with mp.workdps(400):
        expected = oracle.exact_slopes(instance, Q, w)
        found = heads_first(evaluated(system_of(Task(*instance), 2), from_heads(Q, w)).gradient.Q)
        errors = relative_errors(found, expected)
    assert len(errors) == 30
    assert errors.max() < 1e-12
    assert 0 < np.abs(found).max() < math.exp(-gap)
    np.testing.assert_array_equal(found[:, 3:], 0)


@pytest.mark.parametrize("gap", [40.0, 400.0])
def test_the_plain_formula_is_wrong_where_attention_is_saturated(gap):
    """s_j (g_j - sum_i s_i g_i) cancels: what float64 leaves of it is rounding error."""
    instance, Q, w = saturated(gap)
    s = oracle.scores(instance, Q)
    g = instance.gram @ (np.einsum("hk,nhk->nk", w, s) - oracle.target(instance)) / instance.K
    logits = w * s * (g[:, None] - np.einsum("nhk,nk->hk", s, g))
    V = instance.tokens[:, :3]
    with mp.workdps(400):
        expected = oracle.exact_slopes(instance, Q, w)
        errors = relative_errors(np.einsum("an,nhk,bk->hab", V, logits, instance.tokens), expected)
    assert (errors > 0.5).sum() >= 10


def test_ties_in_attention_do_no_harm():
    """Two tokens attended to alike, both most."""
    instance = oracle.draw(3, 5, 5, 2, 0.2, 8)
    instance.tokens[:, 1] = instance.tokens[:, 0]
    Q, w = 30 * oracle.draw_heads(instance, 2, 3)[0], oracle.draw_heads(instance, 2, 3)[1]
    _, (in_Q, in_w) = oracle.slopes(instance, oracle.target(instance), Q, w)
    found = evaluated(system_of(Task(*instance), 2), from_heads(Q, w)).gradient
    np.testing.assert_allclose(heads_first(found.Q), in_Q, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.w, in_w, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("row", range(len(SHAPES)))
def test_padding_changes_nothing(padded, row):
    instance, Q, w = drawn(*SHAPES[row])
    alone = evaluated(system_of(Task(*instance), len(Q)), from_heads(Q, w))
    gap, gradient = jax.tree.map(lambda leaf: np.array(leaf[len(GOLDEN) + row]), padded)
    assert gap == pytest.approx(float(alone.gap), rel=1e-14)
    for whole, part in zip(gradient, alone.gradient, strict=True):
        inside = tuple(slice(size) for size in part.shape)
        np.testing.assert_allclose(whole[inside], part, rtol=1e-13, atol=1e-15)
        whole[inside] = 0
        np.testing.assert_array_equal(whole, 0)


def test_attention_is_kept_as_a_product():
    attention = Attention(jnp.array([[[1.0]], [[0.5]]]), jnp.array([[2 / 3]]))
    np.testing.assert_allclose(attention.scores, [[[2 / 3]], [[1 / 3]]], rtol=1e-15)
    np.testing.assert_allclose(attention.combine(jnp.array([[6.0]])), [[4.0], [2.0]], rtol=1e-15)


def test_first_weights():
    task = Task(*oracle.draw(2, 4, 20, 2, 0.1, 0))
    weights = draw_weights(task, 30, seed=1, scale=0.5)
    assert isinstance(weights, Weights)
    np.testing.assert_array_equal(weights.w, np.zeros((30, 4)))
    entries = 0.5 * np.random.default_rng(1).standard_normal((30, 20, 20))
    np.testing.assert_array_equal(heads_first(weights.Q), entries)
    assert float(jnp.std(weights.Q)) == pytest.approx(0.5, rel=0.02)
    with pytest.raises(InputError, match="needs at least one head; got H = 0"):
        draw_weights(task, 0, seed=1)
