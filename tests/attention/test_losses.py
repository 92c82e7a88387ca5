"""Losses under a fixed head, against the formulas of the paper in thousands of digits."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import heads, textbook
from oracles.recorded import MECHANICS, recorded

from lemmata.attention import (
    FLAT,
    LINEAR,
    LOG,
    SQUARED,
    AbstractLoss,
    Evaluation,
    HeadLoss,
    Inputs,
    LogLoss,
    LogScaled,
    ScoreLoss,
    own_loss,
    pack,
)
from lemmata.attention._gradients import add_up, pair_gradient
from lemmata.tokens import TokenData

EPS = np.finfo(float).eps
K = 5

DATA = TokenData.from_samples(
    [
        ([0, 1, 2, 0], 1, 1, ""),
        ([2, 1, 0], 2, 3, ""),
        ([3, 4, 0, 1], 3, 1, ""),
        ([1, 3, 3, 1], 1, 2, ""),
        ([4], 4, 1, ""),
        ([2, 4, 3, 1], 4, 1, ""),
    ],
    range(K),
)
"""Repeated tokens, a label that is the query, counts, and a sequence of one token."""

SHAPES = {"log": LOG, "squared": SQUARED, "linear": LINEAR, "flat": FLAT}


def framed(data: TokenData) -> Inputs:
    """Padded to the shapes of DATA, so that all tests share the compiled functions."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data, DATA]))


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return framed(DATA)


def scores_of(head: str) -> np.ndarray:
    """C E^T of a head; the label always has the largest score."""
    generator = np.random.default_rng(8)
    if head == "identity":
        return np.eye(K)
    if head == "unit":
        E = generator.standard_normal((K, K))
        E /= np.linalg.norm(E, axis=1, keepdims=True)
        return E @ E.T - np.diag(np.einsum("kd,kd->k", E, E) - 1)
    positive = generator.uniform(0.05, 0.4, (K, K))
    return positive - np.diag(np.diag(positive)) + np.diag([0.9, 0.5, 0.7, 0.6, 0.8])


def score_loss(inputs: Inputs, table: np.ndarray, shape) -> ScoreLoss:
    tokens, label = np.asarray(inputs.tokens), np.asarray(inputs.label)
    exists = np.isfinite(np.asarray(inputs.log_multiplicity))
    scores = np.where(exists, table[label[:, None], tokens], 0.0)
    return ScoreLoss(jnp.asarray(scores), jnp.asarray(table[label, label]), shape)


def head_loss(inputs: Inputs, table: np.ndarray, squared: bool) -> HeadLoss:
    rows = table.T[np.asarray(inputs.tokens)]
    own = np.take_along_axis(rows, np.asarray(inputs.label)[:, None, None], axis=2)
    return HeadLoss(jnp.asarray(rows - own), squared)


def log_loss(inputs: Inputs) -> LogLoss:
    there = np.isfinite(np.asarray(inputs.log_multiplicity))
    return LogLoss(jnp.asarray((np.asarray(inputs.tokens) == inputs.label[:, None]) & there))


def named(inputs: Inputs, name: str, table: np.ndarray) -> AbstractLoss:
    if name == "label":
        return log_loss(inputs)
    if name in SHAPES:
        return score_loss(inputs, table, SHAPES[name])
    return head_loss(inputs, table, name == "softmax-squared")


@jax.jit
def evaluate(loss: AbstractLoss, inputs: Inputs, logits: jax.Array) -> Evaluation:
    return loss(inputs, logits)


@jax.jit
def part(loss: LogLoss, inputs: Inputs, logits: jax.Array, counted: jax.Array) -> LogScaled:
    return loss.gradient(inputs, logits, counted)


def at(inputs: Inputs, matrix: np.ndarray) -> jax.Array:
    return jnp.asarray(matrix[np.asarray(inputs.cell_token), np.asarray(inputs.cell_query)])


def by_cell(inputs: Inputs, values: Mapping[tuple[int, int], Any]) -> list[float]:
    """Numbers in the order of the cells; 0 for those that only fill up."""
    arrays = (inputs.cell_token, inputs.cell_query, inputs.cell_exists)
    cells = zip(*(np.asarray(array).tolist() for array in arrays), strict=True)
    return [float(values[token, query]) if real else 0.0 for token, query, real in cells]


def saturating(gap: float) -> np.ndarray:
    """Logits that put every label ahead of all others, by shares of the gap."""
    W = np.random.default_rng(3).uniform(-1, 0, (K, K)) * gap / 4
    for sample in DATA.samples:
        W[sample.label, sample.query] = 0.0
    # under query 1 both 3 and 4 are labels, of different samples
    return W + gap / 4 * (W == 0)


def check(inputs: Inputs, name: str, table: np.ndarray, W: np.ndarray, *, depth: float) -> None:
    """Direction, log-norm and log-loss against the formulas with enough digits."""
    found = evaluate(named(inputs, name, table), inputs, at(inputs, W))
    gap = float(np.ptp(W))
    formula = "log" if name == "label" else name
    with mp.workdps(textbook.digits_for(depth * gap)):
        loss, gradient = heads.evaluate(
            DATA,
            heads.as_scores(table),
            textbook.as_table(W),
            formula,
            excess=name in SHAPES,
        )
        length = textbook.norm(gradient)
        unit = by_cell(inputs, {cell: value / length for cell, value in gradient.items()})
        log_norm, log_value = float(mp.log(length)), float(mp.log(loss))
    tolerance = EPS * (200 + 20 * gap)
    np.testing.assert_allclose(found.gradient.unit, unit, rtol=0, atol=tolerance)
    assert float(found.gradient.log_norm) == pytest.approx(log_norm, abs=tolerance)
    assert float(found.log_loss) == pytest.approx(log_value, abs=tolerance)


GAPS = [0.5, 8.0, 24.0, 300.0, 1e4]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_log_loss_saturated_either_way(inputs, gap, sign):
    check(inputs, "label", np.eye(K), sign * saturating(gap), depth=2)


@pytest.mark.parametrize("gap", GAPS)
def test_log_loss_at_random_logits(inputs, gap):
    W = np.random.default_rng(0).uniform(-gap / 2, gap / 2, (K, K))
    check(inputs, "label", np.eye(K), W, depth=2)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    ("name", "head"),
    # with the head "unit" some scores are negative, and have no logarithm
    [("log", h) for h in ("identity", "general")]
    + [(n, h) for n in ("squared", "linear") for h in ("identity", "unit", "general")],
)
def test_score_losses_at_the_label(inputs, name, head, gap):
    check(inputs, name, scores_of(head), saturating(gap), depth=2.5)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("head", ["identity", "general"])
def test_the_flat_loss(inputs, head, gap):
    check(inputs, "flat", scores_of(head), saturating(gap), depth=3.5)


@pytest.mark.parametrize("gap", [0.5, 20.0, 300.0])
@pytest.mark.parametrize("head", ["identity", "unit"])
@pytest.mark.parametrize("name", ["cross-entropy", "softmax-squared"])
def test_losses_of_all_scores(inputs, name, head, gap):
    table = scores_of(head) * (1.0 if gap < 100 else 40.0)
    check(inputs, name, table, saturating(gap), depth=4)


ALL = ["label", "log", "squared", "linear", "flat", "cross-entropy", "softmax-squared"]


@pytest.mark.parametrize("name", ALL)
def test_finite_differences(inputs, name):
    table = np.eye(K) if name == "label" else scores_of("general")
    formula = "log" if name == "label" else name
    cells = heads.cells_of(DATA)
    W = np.random.default_rng(6).uniform(-1, 1, (K, K))

    def loss(point: np.ndarray) -> Any:
        logits = textbook.as_table(W) | dict(zip(cells, point, strict=True))
        return heads.evaluate(DATA, heads.as_scores(table), logits, formula, excess=False)[0]

    slope = textbook.finite_differences(loss, np.array([W[cell] for cell in cells]))
    expected = dict(zip(cells, map(float, slope), strict=True))
    found = evaluate(named(inputs, name, table), inputs, at(inputs, W))
    gradient = np.asarray(found.gradient.unit) * np.exp(float(found.gradient.log_norm))
    np.testing.assert_allclose(gradient, by_cell(inputs, expected), atol=1e-15)


LOG_GAPS = np.concatenate([np.linspace(-0.8, -6, 30), np.linspace(-6.5, -100, 60), [-2.31, -400]])
"""Gaps on both sides of every place where a formula gives way to its series."""


def slope_and_excess(name: str, top: float, log_gap: float) -> tuple[mpf, mpf]:
    """-l'(u) and l(u) - l(top) at the gap below the top."""
    u = mpf(top) - mp.exp(mpf(float(log_gap)))
    loss, slope = heads.LOSSES[name]([u], 0)
    return -slope[0], loss - heads.LOSSES[name]([mpf(top)], 0)[0]


@pytest.mark.parametrize("top", [1.0, 0.9995, 0.875, 0.5])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_at_any_gap(name, top):
    tops, log_gap = jnp.full(len(LOG_GAPS), top), jnp.asarray(LOG_GAPS)
    sign, log_slope = SHAPES[name].slope(tops, log_gap)
    log_excess = SHAPES[name].log_excess(tops, log_gap)
    with mp.workdps(textbook.digits_for(3 * 400)):
        rows = [slope_and_excess(name, top, z) for z in LOG_GAPS]
        expected = np.array([[float(mp.log(abs(x))) for x in row] for row in rows])
    np.testing.assert_array_equal(sign, 1)
    np.testing.assert_allclose(log_slope, expected[:, 0], rtol=4 * EPS, atol=8 * EPS)
    # just above a gap of 0.1 the flat loss loses two digits, and its series is as good just below
    slack = 1e-12 if name == "flat" else 32 * EPS
    np.testing.assert_allclose(log_excess, expected[:, 1], rtol=4 * EPS, atol=slack)


def test_beyond_a_score_of_one_the_squared_loss_rises():
    log_gap = jnp.log(jnp.array([0.125, 0.25, 0.5]))
    sign, log_slope = SQUARED.slope(jnp.full(3, 1.25), log_gap)
    np.testing.assert_array_equal(np.asarray(sign)[[0, 2]], [-1, 1])
    np.testing.assert_allclose(np.asarray(log_slope)[[0, 2]], np.log([0.25, 0.5]), rtol=1e-13)


@pytest.mark.parametrize("top", [1.25, 1.0005, 3.0])
def test_beyond_a_score_of_one_the_flat_loss_is_counted_from_the_label(top):
    """On both sides of u = 1, where its slope vanishes."""
    gaps = np.array([1e-6, 4e-4, 0.1, 0.2, 0.24, 0.3, 0.5, 0.9])
    log_excess = FLAT.log_excess(jnp.full(len(gaps), top), jnp.log(jnp.asarray(gaps)))
    with mp.workdps(50):
        rows = [slope_and_excess("flat", top, z) for z in np.log(gaps)]
        expected = [float(mp.log(excess)) for _, excess in rows]
    np.testing.assert_allclose(log_excess, expected, atol=1e-11)


def test_attention_leaves_the_label_where_its_score_is_too_large(inputs):
    table, W = 1.25 * np.eye(K), saturating(12.0)
    found = evaluate(score_loss(inputs, table, SQUARED), inputs, at(inputs, W)).gradient
    with mp.workdps(50):
        scores, logits = heads.as_scores(table), textbook.as_table(W)
        _, gradient = heads.evaluate(DATA, scores, logits, "squared", excess=False)
        length = textbook.norm(gradient)
        unit = by_cell(inputs, {cell: value / length for cell, value in gradient.items()})
    np.testing.assert_allclose(found.unit, unit, atol=1e-13)


OWN = {
    "log": (LOG, lambda u: -jnp.log(u)),
    "flat": (FLAT, lambda u: jnp.arctan(u - 1) - (u - 1)),
}


@pytest.mark.parametrize("name", OWN)
def test_a_loss_of_ones_own_agrees_with_the_built_in_one(inputs, name):
    shape, function = OWN[name]
    table, logits = scores_of("general"), at(inputs, saturating(2.0))
    own = evaluate(score_loss(inputs, table, own_loss(name, function)), inputs, logits)
    built_in = evaluate(score_loss(inputs, table, shape), inputs, logits)
    np.testing.assert_allclose(own.gradient.unit, built_in.gradient.unit, atol=1e-13)
    assert float(own.gradient.log_norm) == pytest.approx(float(built_in.gradient.log_norm))
    assert float(own.log_loss) == pytest.approx(float(built_in.log_loss), abs=1e-11)


GOLDEN_LOSSES = {
    "log_I": ("label", "identity", 0.0),
    "sq_I": ("squared", "identity", 0.0),
    "neg_I": ("linear", "identity", -1.0),
    "sq_CeqE": ("squared", "embedding", 0.0),
    "ce_CeqE": ("cross-entropy", "embedding", 0.0),
    "sqsm_CeqE": ("softmax-squared", "embedding", 0.0),
}


@pytest.mark.parametrize("name", GOLDEN_LOSSES)
def test_golden_losses_and_gradients(name):
    case = recorded("losses")
    facts, data, E = case.facts, case.dataset.data, case.dataset.E
    loss_name, head, infimum = GOLDEN_LOSSES[name]
    inputs = framed(data)
    table, W = np.eye(K), np.zeros((K, K))
    W[:4, :4] = E @ np.array(facts["W"]) @ E.T
    if head == "embedding":
        table[:4, :4] = E @ E.T
    if loss_name in SHAPES:
        np.fill_diagonal(table, 1.0)
    found = evaluate(named(inputs, loss_name, table), inputs, at(inputs, W))
    expected = facts["losses"][name]
    assert np.exp(float(found.log_loss)) + infimum == pytest.approx(expected["loss"], rel=1e-13)
    cells = np.asarray(found.gradient.unit) * np.exp(float(found.gradient.log_norm))
    gradient = np.einsum("c,cd,ce->de", cells, E[inputs.cell_token], E[inputs.cell_query])
    np.testing.assert_allclose(gradient, expected["grad"], atol=1e-14)


@jax.jit
def naive_gradient(inputs: Inputs, logits: jax.Array) -> jax.Array:
    """-log of the softmax at the label as one would write it, differentiated by machine."""

    def loss(logits: jax.Array) -> jax.Array:
        masses = jax.nn.softmax(inputs.log_multiplicity + logits[inputs.cells], axis=1)
        own = inputs.tokens == inputs.label[:, None]
        own &= jnp.isfinite(inputs.log_multiplicity)
        there = jnp.isfinite(inputs.log_frequency)
        return -jnp.sum(
            jnp.exp(inputs.log_frequency)
            * jnp.log(jnp.where(there, jnp.sum(jnp.where(own, masses, 0.0), axis=1), 1.0))
        )

    return jax.grad(loss)(logits)


CHAIN = TokenData.from_samples(
    [([0, 1, 2], 0, 1, ""), ([1, 2], 1, 1, ""), ([3, 4, 2], 3, 1, "")], range(K)
)
"""No ties: once training has separated the tokens, every label has all of the attention."""


@pytest.mark.parametrize(("size", "lowest"), [(5.0, 1 - 1e-10), (60.0, 0.0)])
def test_the_naive_gradient_turns_away_where_ours_does_not(size, lowest):
    inputs = framed(CHAIN)
    W = np.zeros((K, K))
    W[:, 2] = size * np.array([1.0, 0.0, -1.0, 0.5, -0.6])
    with mp.workdps(textbook.digits_for(4 * size)):
        table, logits = heads.as_scores(np.eye(K)), textbook.as_table(W)
        _, gradient = heads.evaluate(CHAIN, table, logits, "log", excess=False)
        length = textbook.norm(gradient)
        pairs = zip(inputs.cell_token.tolist(), inputs.cell_query.tolist(), strict=True)
        exact = np.array([float(gradient[cell] / length) for cell in pairs])
    exact = np.where(np.asarray(inputs.cell_exists), exact, 0.0)
    naive = np.asarray(naive_gradient(inputs, at(inputs, W)))
    ours = np.asarray(evaluate(log_loss(inputs), inputs, at(inputs, W)).gradient.unit)
    assert ours @ exact == pytest.approx(1, abs=1e-13)
    assert lowest <= naive @ exact / np.linalg.norm(naive)
    if lowest == 0:
        assert naive @ exact / np.linalg.norm(naive) < 0.8


def test_parts_of_the_log_loss_gradient_add_up(inputs):
    loss = log_loss(inputs)
    logits = at(inputs, saturating(8.0))
    there = jnp.isfinite(inputs.log_multiplicity)
    some = there & (inputs.tokens % 2 == 0)
    whole = evaluate(loss, inputs, logits).gradient
    parts = [part(loss, inputs, logits, c & ~loss.label) for c in (some, there & ~some)]
    total = sum(np.exp(float(found.log_norm)) * np.asarray(found.unit) for found in parts)
    expected = np.exp(float(whole.log_norm)) * np.asarray(whole.unit)
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-20)


def test_an_exponentially_small_part_keeps_its_direction(inputs):
    loss = log_loss(inputs)
    W = np.zeros((K, K))
    W[3] = -5000.0
    counted = jnp.isfinite(inputs.log_multiplicity) & (inputs.tokens == 3) & ~loss.label
    found = part(loss, inputs, at(inputs, W), counted)
    # token 3 is wrong in one sample of nine with counts: [2 4 3 1] -> 4, and in [1 3 3 1] -> 1
    with mp.workdps(3000):
        expected = {cell: mpf(0) for cell in heads.cells_of(DATA)}
        for s in DATA.samples:
            phi = textbook.softmax([mpf(float(W[x, s.query])) for x in s.tokens])
            for p, x in zip(phi, s.tokens, strict=True):
                if x == 3 != s.label:
                    expected[x, s.query] += mpf(s.count) / DATA.total * p
                    expected[s.label, s.query] -= mpf(s.count) / DATA.total * p
        length = textbook.norm(expected)
        unit = by_cell(inputs, {cell: value / length for cell, value in expected.items()})
        log_norm = float(mp.log(length))
    np.testing.assert_allclose(found.unit, unit, atol=1e-12)
    assert float(found.log_norm) == pytest.approx(log_norm, abs=1e-11)


@pytest.mark.parametrize("apart", [1e-3, 1e-7, 1e-12])
def test_slots_that_pull_almost_alike_are_not_tied(apart):
    masses = np.log([[0.5, 0.3, 0.2]])
    slots, scale = pair_gradient(jnp.asarray(masses), jnp.array([[1.0, 1.0 + apart, 1.0]]))
    M = np.exp(masses[0])
    expected = M * (np.array([0.0, apart, 0.0]) - M[1] * apart)
    found = np.asarray(slots)[0] * np.exp(float(scale[0]))
    np.testing.assert_allclose(found, expected, rtol=0.01 if apart < 1e-10 else 1e-6)


@pytest.mark.parametrize("spread", [1.0, 50.0, 5000.0])
def test_pair_gradient(spread):
    generator = np.random.default_rng(0)
    logits = generator.uniform(-spread, 0, (4, 6))
    logits[0, 2:] = -np.inf
    logits[1, 1] = logits[1].max()
    pull = generator.standard_normal((4, 6))
    pull[1, 1] = pull[1, logits[1].argmax()]
    pull[3] = 1.5
    masses = logits - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True))
    masses -= logits.max(1, keepdims=True)
    slots, scale = jax.jit(pair_gradient)(jnp.asarray(masses), jnp.asarray(pull))
    np.testing.assert_array_equal(slots[3], 0)
    with mp.workdps(textbook.digits_for(2 * spread)):
        for n in range(3):
            M = [mp.exp(mpf(float(m))) if np.isfinite(m) else mpf(0) for m in masses[n]]
            p = [mpf(float(x)) for x in pull[n]]
            rows = list(zip(M, p, strict=True))
            exact = [m * mp.fsum(other * (x - y) for other, y in rows) for m, x in rows]
            unit = mp.exp(mpf(float(scale[n])))
            expected = [float(x / unit) for x in exact]
            np.testing.assert_allclose(slots[n], expected, atol=EPS * (50 + 10 * spread))
            assert np.abs(slots[n]).max() > 1e-3  # nothing has sunk below the scale


def test_adding_up_without_a_table_of_contributions(inputs):
    assert inputs.contributions is not None
    without = jax.tree.map(lambda leaf: leaf, inputs)
    object.__setattr__(without, "contributions", None)
    array = jnp.asarray(np.random.default_rng(1).standard_normal(inputs.tokens.shape))
    there = jnp.isfinite(inputs.log_multiplicity) & jnp.isfinite(inputs.log_frequency)[:, None]
    array = jnp.where(there, array, 0.0)
    expected = np.zeros(len(inputs.cell_token))
    np.add.at(expected, np.asarray(inputs.cells), np.asarray(array))
    for found in (add_up(inputs, array), add_up(without, array)):
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_cell_that_is_used_very_often_has_no_table():
    rows = [([i, 200], i, 1, "") for i in range(200)]
    packed = pack([TokenData.from_samples(rows, range(201))])
    assert packed.contributions is None
    inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), packed)
    label = jnp.asarray(np.asarray(packed.tokens[0]) == packed.label[0][:, None])
    found = evaluate(LogLoss(label), inputs, jnp.zeros(201))
    # every label gains 1/400, and token 200 loses all of it
    pairs = zip(inputs.cell_token.tolist(), inputs.cell_query.tolist(), strict=True)
    cells = {pair: i for i, pair in enumerate(pairs)}
    gradient = np.asarray(found.gradient.unit) * np.exp(float(found.gradient.log_norm))
    assert gradient[cells[200, 200]] == pytest.approx(0.5, rel=1e-13)
    np.testing.assert_allclose([gradient[cells[i, 200]] for i in range(200)], -1 / 400, rtol=1e-13)
    assert float(found.log_loss) == pytest.approx(np.log(np.log(2)))


def test_padding_changes_nothing(inputs):
    larger = TokenData.from_samples([(range(8), i, 1, "") for i in range(8)], range(8))
    batch = pack([DATA, larger])
    padded = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), batch)
    W = np.zeros((8, 8))
    W[:K, :K] = saturating(60.0)
    table = np.eye(8)
    table[:K, :K] = scores_of("general")
    for name in ("label", "cross-entropy"):
        small = evaluate(named(inputs, name, table[:K, :K]), inputs, at(inputs, W))
        large = evaluate(named(padded, name, table), padded, at(padded, W))
        count = int(np.asarray(inputs.cell_exists).sum())
        np.testing.assert_allclose(
            large.gradient.unit[:count], small.gradient.unit[:count], atol=1e-13
        )
        np.testing.assert_array_equal(large.gradient.unit[count:], 0)
        if name != "cross-entropy":  # more tokens in the vocabulary are more wrong answers
            assert float(large.log_loss) == pytest.approx(float(small.log_loss), abs=1e-12)


WITNESSES = {
    "squared": (1, np.eye(5), [[1, 1, 0, 0, -2], [1, 1, 0, -3, 1]], 4),
    "flat": (2, np.diag([1.0, 0.5, 1.0]), [[1, 0, -1], [-1, 2, -1]], 2),
}
"""Which counterexample, C E^T, a plane that holds its limit and W^mm, and the column.

The linear one is not here: its limit is decided by terms that are e^-R beside a constant.
"""


@pytest.mark.parametrize("name", WITNESSES)
def test_limits_of_the_counterexamples(name):
    # on a circle of large radius the loss is smallest at the limit that the file gives
    number, head, plane, query = WITNESSES[name]
    facts = MECHANICS["counterexamples"][number]
    rows = zip(facts["sequences"], facts["labels"], strict=True)
    data = TokenData.from_samples([(x, y, 1, "") for x, y in rows], range(len(head)))
    inputs = framed(data)
    table = np.eye(K)
    table[: len(head), : len(head)] = head
    loss = score_loss(inputs, table, SHAPES[name])
    true = next(np.array(v, float) for k, v in facts.items() if k.startswith("true_limit"))
    basis = np.array(plane, dtype=float)
    basis[1] -= basis[1] @ basis[0] / (basis[0] @ basis[0]) * basis[0]
    basis /= np.linalg.norm(basis, axis=1, keepdims=True)
    np.testing.assert_allclose(basis.T @ (basis @ true), true, atol=1e-12)
    angles = np.linspace(0, 2 * np.pi, 721)
    values = []
    for angle in angles:
        W = np.zeros((K, K))
        W[: len(head), query] = 500 * (np.cos(angle) * basis[0] + np.sin(angle) * basis[1])
        values.append(float(evaluate(loss, inputs, at(inputs, W)).log_loss))
    best = angles[int(np.argmin(values))]
    found = np.cos(best) * basis[0] + np.sin(best) * basis[1]
    assert found @ true > np.cos(np.deg2rad(1.5))
    column = np.array([float(Fraction(v)) for v in facts[f"W_mm_column{query}"]])
    cosine = found @ column / np.linalg.norm(column)
    assert cosine == pytest.approx(facts["cosine_with_W_mm"], abs=0.02)
