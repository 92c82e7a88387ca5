"""Gradients in the log domain against the textbook in thousands of digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import textbook
from oracles.golden import GOLDEN, cases

from lemmata.attention import (
    Evaluation,
    Inputs,
    attention_gradient,
    collocation_gradient,
    joint_gradient,
    pack,
    value_margins,
)
from lemmata.tokens import TokenData

EPS = np.finfo(float).eps

measure = jax.jit(value_margins)
attend = jax.jit(attention_gradient)
join = jax.jit(joint_gradient)
collocate = jax.jit(collocation_gradient)

REPEATS = TokenData.from_sentences(["abcab", "bcabb", "caabc", "ab", "bc", "ca"])
"""Repeated tokens, several inputs per query, unequal frequencies; roles do not matter here."""


FRAME = TokenData.from_sentences(["abcdefa", "bcdefab", "cdefabc", "ab", "bb", "cb", "db", "eb"])
"""Larger than the datasets below in every way: beside it they all get the same padded shapes."""


def alone(data: TokenData) -> Inputs:
    """The packed inputs of one dataset, without the batch axis and without padding."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data]))


def framed(data: TokenData) -> Inputs:
    """The same with padding, so that all tests share one compiled function."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data, FRAME]))


def embed(matrix: np.ndarray, inputs: Inputs) -> np.ndarray:
    """A matrix padded to the vocabulary of the inputs, with numbers that must not matter."""
    size = len(inputs.vocabulary)
    padded = np.full((size, size), 0.5)
    padded[: len(matrix), : len(matrix)] = matrix
    return padded


def cells(inputs: Inputs, matrix: np.ndarray) -> jax.Array:
    """The entries of a dense W_kq that attention looks at."""
    return jnp.asarray(matrix[np.asarray(inputs.cell_token), np.asarray(inputs.cell_query)])


def dense(inputs: Inputs, vector: jax.Array, size: int) -> np.ndarray:
    """The opposite of ``cells``; every other entry is 0."""
    matrix = np.zeros((size, size))
    known = np.asarray(inputs.cell_exists)
    at = np.asarray(inputs.cell_token)[known], np.asarray(inputs.cell_query)[known]
    matrix[at] = np.asarray(vector)[known]
    return matrix


def evaluate(
    data: TokenData, values: np.ndarray, weights: np.ndarray, prepare=framed
) -> tuple[Evaluation, np.ndarray]:
    """What the package finds, and the direction as a dense matrix."""
    inputs = prepare(data)
    margins = measure(inputs, jnp.asarray(embed(values, inputs)))
    found = attend(inputs, margins, cells(inputs, embed(weights, inputs)))
    return found, dense(inputs, found.gradient.unit, data.size)


def assert_agrees(
    found: Evaluation, direction: np.ndarray, expected: textbook.Gradients, length: mpf, gap: float
) -> None:
    """Direction, log-norm and log-loss, as exactly as inputs of size ``gap`` allow."""
    size = len(direction)
    tolerance = 10 * EPS * (10 + gap)
    exact = textbook.to_array(expected.weights, size, length)
    np.testing.assert_allclose(direction, exact, rtol=0, atol=tolerance)
    assert float(found.gradient.log_norm) == pytest.approx(float(mp.log(length)), abs=tolerance)
    assert float(found.log_loss) == pytest.approx(float(mp.log(expected.loss)), abs=tolerance)


def check(data: TokenData, values: np.ndarray, weights: np.ndarray, prepare=framed) -> None:
    """Compare with the textbook, at as many digits as the saturation asks for."""
    gap = float(np.ptp(values) + np.ptp(weights))
    found, direction = evaluate(data, values, weights, prepare)
    with mp.workdps(textbook.digits_for(gap)):
        expected = textbook.gradients(data, textbook.as_table(values), textbook.as_table(weights))
        length = textbook.norm(expected.weights)
        assert_agrees(found, direction, expected, length, gap)


def equal_margins(data: TokenData, following: list[int], delta: float) -> np.ndarray:
    """The values that stage 1 leaves: delta on n(x), 0 elsewhere."""
    values = np.zeros((data.size, data.size))
    values[np.arange(data.size), following] = delta
    return values


@pytest.mark.parametrize("scale", [1.0, 4.0, 10.0, 30.0, 300.0, 2500.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_values_and_weights(seed, scale):
    generator = np.random.default_rng(seed)
    values, weights = generator.uniform(-scale, scale, (2, 3, 3))
    check(REPEATS, values, weights)


@pytest.mark.parametrize("size", [3.0, 8.0, 20.0, 60.0, 1000.0, 5000.0])
def test_along_the_max_margin_direction_with_equal_margins(size):
    case = cases()["example1"]
    data = case.data
    star = np.zeros((4, 4))
    for cell, value in case.facts["W_kq_star"]["entries"].items():
        star[tuple(data.vocabulary.index(x) for x in cell.split("|"))] = float(mpf(value))
    check(data, equal_margins(data, [1, 2, 3, 0], 2 * size), size * star)


@pytest.mark.parametrize("gap", [1.0, 50.0, 1e4])
def test_values_and_attention_saturate_one_without_the_other(gap):
    data = cases()["example1"].data
    check(data, equal_margins(data, [1, 2, 3, 0], gap), np.zeros((4, 4)))
    spread = np.arange(16).reshape(4, 4) * gap / 15
    check(data, equal_margins(data, [1, 2, 3, 0], 2.0), spread)


@pytest.mark.parametrize("size", [1.0, 60.0, 2000.0])
@pytest.mark.parametrize("name", ["drop_injectivity_k3_m2", "drop_injectivity_k2_m3"])
def test_non_injective_collocations(name, size):
    case = cases()[name]
    data = case.data
    following = [data.vocabulary.index(case.facts["collocation"][x]) for x in data.vocabulary]
    generator = np.random.default_rng(4)
    check(data, equal_margins(data, following, size), size * generator.uniform(-1, 1, (5, 5)))


@pytest.mark.parametrize("gap", [5.0, 100.0, 3000.0])
@pytest.mark.parametrize(
    ("slots", "first", "second", "prepare"),
    [(3, 0, 1, framed), (4, 1, 3, framed), (12, 0, 8, alone), (12, 3, 4, alone)],
)
def test_tied_tokens_share_the_attention(slots, first, second, prepare, gap):
    # all mass is on two tokens that pull alike: what is left of the gradient is e^-gap
    size = 14 if slots > 6 else 6
    data = TokenData.from_samples([(list(range(slots)), size - 1, 1, "")], range(size))
    values = np.random.default_rng(0).uniform(-3, 3, (size, size))
    values[second] = values[first]
    weights = np.full((size, size), -gap)
    weights[[first, second]] = 0
    check(data, values, weights, prepare)


def test_all_tokens_tied_means_no_gradient_at_all():
    data = TokenData.from_samples([(list(range(12)), 13, 1, "")], range(14))
    generator = np.random.default_rng(0)
    values = np.tile(generator.standard_normal(14), (14, 1))
    found, direction = evaluate(data, values, generator.standard_normal((14, 14)), alone)
    assert float(found.gradient.log_norm) == -np.inf
    np.testing.assert_array_equal(direction, 0)


@pytest.mark.parametrize("number", range(len(GOLDEN["gradient_points"])))
def test_golden_gradient_points(number):
    point = GOLDEN["gradient_points"][number]
    data = cases()[point["dataset"]].data
    delta = point["T"] * point["eta0"] / np.sqrt(3)
    values = equal_margins(data, [1, 2, 3, 0], delta)
    found, direction = evaluate(data, values, np.array(point["W_kq"]))
    np.testing.assert_allclose(direction, point["direction_mpmath"], rtol=0, atol=1e-13)
    assert float(found.gradient.log_norm) == pytest.approx(point["log_gradient_norm"], abs=1e-11)
    assert float(found.log_loss) == pytest.approx(point["log_loss"], abs=1e-11)


def test_entries_far_below_the_largest_keep_their_digits():
    # query V is saturated by e^-300 more than the others, yet its entries are right
    data = cases()["example1"].data
    weights = np.zeros((4, 4))
    weights[1, 1], weights[0, 1] = 150.0, -150.0
    values = equal_margins(data, [1, 2, 3, 0], 3.0)
    _, found = evaluate(data, values, weights)
    with mp.workdps(200):
        exact = textbook.gradients(data, textbook.as_table(values), textbook.as_table(weights))
        expected = textbook.to_array(exact.weights, 4, textbook.norm(exact.weights))
    assert 0 < abs(expected[1, 1]) < 1e-120
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def evaluate_both(
    values: np.ndarray, weights: np.ndarray, data: TokenData = REPEATS
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """log-loss, both directions as dense matrices, and the log-norm they share."""
    inputs = framed(data)
    loss, for_values, for_cells, log_norm = join(
        inputs, jnp.asarray(embed(values, inputs)), cells(inputs, embed(weights, inputs))
    )
    return (
        float(loss),
        np.asarray(for_values)[:3, :3],
        dense(inputs, for_cells, 3),
        float(log_norm),
    )


@pytest.mark.parametrize("scale", [1.0, 40.0, 3000.0])
def test_joint_gradient(scale):
    values, weights = np.random.default_rng(2).uniform(-scale, scale, (2, 3, 3))
    loss, for_values, for_weights, log_norm = evaluate_both(values, weights)
    tolerance = 10 * EPS * (10 + 4 * scale)
    with mp.workdps(textbook.digits_for(4 * scale)):
        exact = textbook.gradients(REPEATS, textbook.as_table(values), textbook.as_table(weights))
        length = textbook.norm(exact.values, exact.weights)
        for found, expected in ((for_values, exact.values), (for_weights, exact.weights)):
            unit = textbook.to_array(expected, 3, length)
            np.testing.assert_allclose(found, unit, rtol=0, atol=tolerance)
        assert log_norm == pytest.approx(float(mp.log(length)), abs=tolerance)
        assert loss == pytest.approx(float(mp.log(exact.loss)), abs=tolerance)


@pytest.mark.parametrize("size", [4.0, 10.0, 25.0, 60.0, 1500.0])
def test_joint_gradient_with_every_input_saturated(size):
    # every input attends to the token before its label, and predicts it: all that is left is tiny
    data = TokenData.from_sentences(["abca", "bcab", "cabc"])
    values = equal_margins(data, [1, 2, 0], size)
    weights = size * np.eye(3)
    loss, for_values, for_weights, log_norm = evaluate_both(values, weights, data)
    assert log_norm < -size / 3
    tolerance = 10 * EPS * (10 + 4 * size)
    with mp.workdps(textbook.digits_for(4 * size)):
        exact = textbook.gradients(data, textbook.as_table(values), textbook.as_table(weights))
        length = textbook.norm(exact.values, exact.weights)
        for found, expected in ((for_values, exact.values), (for_weights, exact.weights)):
            unit = textbook.to_array(expected, 3, length)
            np.testing.assert_allclose(found, unit, rtol=0, atol=tolerance)
        assert log_norm == pytest.approx(float(mp.log(length)), abs=tolerance)
        assert loss == pytest.approx(float(mp.log(exact.loss)), abs=tolerance)


@pytest.mark.parametrize("scale", [0.0, 1.0, 40.0, 1000.0, 5000.0])
@pytest.mark.parametrize("following", [[1, 2, 3, 0], [1, 1, 3, 1]])
def test_collocation_gradient(following, scale):
    values = np.random.default_rng(3).uniform(-scale, scale, (4, 4))
    found = collocate(jnp.asarray(values), jnp.asarray(following), jnp.ones(4, dtype=bool))
    tolerance = 10 * EPS * (10 + 2 * scale)
    with mp.workdps(textbook.digits_for(2 * scale)):
        loss, gradient = textbook.collocation(textbook.as_table(values), following)
        length = textbook.norm(gradient)
        np.testing.assert_allclose(
            found.gradient.unit, textbook.to_array(gradient, 4, length), rtol=0, atol=tolerance
        )
        assert float(found.gradient.log_norm) == pytest.approx(float(mp.log(length)), abs=tolerance)
        assert float(found.log_loss) == pytest.approx(float(mp.log(loss)), abs=tolerance)


@pytest.mark.parametrize("margin", [1.0, 100.0, 1e4])
def test_saturated_collocation_keeps_its_direction(margin):
    values = margin * np.roll(np.eye(5), 1, axis=1)
    found = collocate(jnp.asarray(values), jnp.array([1, 2, 3, 4, 0]), jnp.ones(5, dtype=bool))
    star = np.roll(np.eye(5), 1, axis=1) - 1 / 5
    np.testing.assert_allclose(found.gradient.unit, -star / 2, rtol=EPS * (100 + margin))


@jax.jit
def naive(
    tokens: jax.Array, there: jax.Array, label: jax.Array, share: jax.Array, W: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """What one would write first: softmax, softmax, logarithm; differentiated by machine."""

    def loss(both: jax.Array) -> jax.Array:
        values, weights = both
        logits = jnp.where(there, weights[tokens, tokens[:, -1:]], -jnp.inf)
        attended = jnp.einsum("nl,nlv->nv", jax.nn.softmax(logits, axis=1), values[tokens])
        guess = jax.nn.log_softmax(attended, axis=1)
        return -jnp.sum(share * jnp.take_along_axis(guess, label[:, None], axis=1)[:, 0])

    return jax.value_and_grad(loss)(W)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_automatic_differentiation_where_nothing_saturates(seed):
    W = jnp.asarray(np.random.default_rng(seed).standard_normal((2, 3, 3)))
    longest = REPEATS.longest_input
    before = [(longest - len(s.tokens)) * [0] for s in REPEATS.samples]
    tokens = jnp.array([[*b, *s.tokens] for b, s in zip(before, REPEATS.samples, strict=True)])
    there = jnp.array([[i >= len(b) for i in range(longest)] for b in before])
    label = jnp.array([s.label for s in REPEATS.samples])
    loss, gradient = naive(tokens, there, label, jnp.asarray(REPEATS.frequencies), W)
    found, direction = evaluate(REPEATS, np.asarray(W[0]), np.asarray(W[1]))
    length = np.exp(float(found.gradient.log_norm))
    np.testing.assert_allclose(length * direction, gradient[1], atol=1e-14)
    assert np.exp(float(found.log_loss)) == pytest.approx(float(loss), rel=1e-13)
    _, for_values, for_weights, log_norm = evaluate_both(*np.asarray(W))
    scale = np.exp(log_norm)
    np.testing.assert_allclose(scale * for_values, gradient[0], atol=1e-14)
    np.testing.assert_allclose(scale * for_weights, gradient[1], atol=1e-14)


def test_a_padded_batch_gives_each_instance_what_it_gets_alone():
    family = [cases()["lemma7_witness"].data, cases()["random_K6"].data, REPEATS]
    batch = pack(family)
    width = batch.vocabulary.shape[1]
    values, weights = 200 * np.random.default_rng(5).standard_normal((2, 3, width, width))
    rows = np.arange(3)[:, None]
    logits = jnp.asarray(weights[rows, batch.cell_token, batch.cell_query])

    @jax.jit
    @jax.vmap
    def everything(inputs, values, logits):
        found = attention_gradient(inputs, value_margins(inputs, values), logits)
        return found, joint_gradient(inputs, values, logits)

    on_device = jax.tree.map(jnp.asarray, batch)
    found = everything(on_device, jnp.asarray(values), logits)
    together, both = jax.tree.map(np.asarray, found)
    for i, data in enumerate(family):
        K = data.size
        single, direction = evaluate(data, values[i, :K, :K], weights[i, :K, :K])
        member = jax.tree.map(lambda leaf, i=i: leaf[i], batch)
        unit = together.gradient.unit[i]
        np.testing.assert_allclose(dense(member, unit, K), direction, atol=1e-13)
        np.testing.assert_array_equal(unit[~member.cell_exists], 0)
        for a, b in (
            (together.gradient.log_norm[i], single.gradient.log_norm),
            (together.log_loss[i], single.log_loss),
            (both[0][i], single.log_loss),
        ):
            assert float(a) == pytest.approx(float(b), abs=1e-12)
        np.testing.assert_array_equal(both[1][i, K:], 0)
        np.testing.assert_array_equal(both[1][i, :, K:], 0)
        np.testing.assert_array_equal(both[2][i][~member.cell_exists], 0)


def test_a_padded_collocation_gives_what_it_gets_alone():
    values = np.random.default_rng(6).standard_normal((5, 5))
    exists = jnp.arange(5) < 3
    padded = collocate(jnp.asarray(values), jnp.array([1, 2, 0, 0, 0]), exists)
    single = collocate(jnp.asarray(values[:3, :3]), jnp.array([1, 2, 0]), exists[:3])
    np.testing.assert_allclose(padded.gradient.unit[:3, :3], single.gradient.unit, atol=1e-15)
    np.testing.assert_array_equal(padded.gradient.unit[3:], 0)
    np.testing.assert_array_equal(padded.gradient.unit[:, 3:], 0)
    assert float(padded.log_loss) == pytest.approx(float(single.log_loss), abs=1e-14)


def test_a_vocabulary_of_one_token_leaves_nothing_to_learn():
    data = TokenData.from_samples([("aa", "a", 1, "")])
    inputs = alone(data)
    values, weights = jnp.array([[2.0]]), jnp.array([3.0])
    margins = jax.jit(value_margins)(inputs, values)
    attention = jax.jit(attention_gradient)(inputs, margins, weights)
    collocation = jax.jit(collocation_gradient)(values, jnp.array([0]), jnp.array([True]))
    for found in (attention, collocation):
        assert float(found.log_loss) == float(found.gradient.log_norm) == -np.inf
        np.testing.assert_array_equal(found.gradient.unit, jnp.zeros_like(found.gradient.unit))
    loss, for_values, for_cells, log_norm = jax.jit(joint_gradient)(inputs, values, weights)
    assert float(loss) == float(log_norm) == -np.inf
    assert float(for_values[0, 0]) == float(for_cells[0]) == 0


def test_inputs_of_one_token_have_no_gradient():
    data = TokenData.from_sentences(["ab", "ba", "aa"])
    found, direction = evaluate(data, np.arange(4.0).reshape(2, 2), np.zeros((2, 2)))
    assert float(found.gradient.log_norm) == -np.inf
    np.testing.assert_array_equal(direction, 0)
    assert np.isfinite(float(found.log_loss))
