"""Single steps of every dynamics: plain descent, joint training, general embeddings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from mpmath import mp, mpf
from oracles import textbook
from oracles.golden import GOLDEN, cases

from lemmata.attention import CellCoordinates, ValueCoordinates, pack, value_margins
from lemmata.papers.convergence.setting import Dataset, Joint, TwoStage, TwoStageRun, example_1
from lemmata.papers.convergence.setting._dynamics import (
    AbstractProbe,
    AttentionTraining,
    CollocationTraining,
    JointTraining,
)
from lemmata.tokens import random_orthonormal_embeddings
from lemmata.training import Measurements

EMBEDDINGS = np.random.default_rng(0).standard_normal((4, 3))
START = np.random.default_rng(1).standard_normal((3, 3))
GENERAL = Dataset("general", example_1().data, EMBEDDINGS, START)
"""Four tokens in three dimensions, neither orthogonal nor of length one, from random weights."""

ORTHONORMAL = Dataset(
    "orthonormal",
    example_1().data,
    random_orthonormal_embeddings(4, 6, np.random.default_rng(2)),
    np.zeros((6, 6)),
)


def embedded_run(stage1_steps: int, steps: int) -> TwoStageRun:
    """Three datasets whose weights live in spaces of dimension 3, 6 and 4."""
    algorithm = TwoStage(stage1_steps=stage1_steps, steps=steps, record=(0, 1, 2, 10, 100))
    return algorithm.run([GENERAL, ORTHONORMAL, example_1()])


def bilinear(left: np.ndarray, W: np.ndarray, right: np.ndarray) -> textbook.Table:
    """left W right^T, entry by entry in the numbers of W."""
    E, F = ([[mpf(float(x)) for x in row] for row in m] for m in (left, right))
    product = np.dot(np.dot(np.array(E, dtype=object), W), np.array(F, dtype=object).T)
    return dict(np.ndenumerate(product))


def descend(function, point: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Normalized descent along finite differences."""
    for _ in range(steps):
        slope = textbook.finite_differences(function, point)
        length = float(mp.sqrt(mp.fsum(x * x for x in slope.ravel())))
        point = point - rate * (slope / length).astype(float)
    return point


def test_stage_1_with_general_embeddings_follows_finite_differences():
    found = embedded_run(2, 0)
    following = [1, 2, 3, 0]

    def loss(W: np.ndarray) -> mpf:
        return textbook.collocation(bilinear(EMBEDDINGS, W, np.eye(4)), following)[0]

    expected = descend(loss, np.zeros((3, 4)), found.rate_ov[0], 2)
    np.testing.assert_allclose(found.stage1.final.weights[0, :3], expected, atol=1e-14)
    np.testing.assert_array_equal(found.stage1.final.weights[0, 3:], 0)
    np.testing.assert_allclose(found.value_logits(0), EMBEDDINGS @ expected, atol=1e-14)


@pytest.mark.parametrize("steps", [1, 3])
def test_stage_2_with_general_embeddings_follows_finite_differences(steps):
    found = embedded_run(30, steps)
    values = textbook.as_table(found.value_logits(0))

    def loss(W: np.ndarray) -> mpf:
        return textbook.log_loss(GENERAL.data, values, bilinear(EMBEDDINGS, W, EMBEDDINGS))

    expected = descend(loss, START, found.rate_kq[0], steps)
    np.testing.assert_allclose(found.stage2.final.weights[0, :3, :3], expected, atol=1e-13)
    np.testing.assert_array_equal(found.stage2.final.weights[0, 3:], 0)
    np.testing.assert_array_equal(found.stage2.final.weights[0, :, 3:], 0)
    np.testing.assert_allclose(found.key_query(0), EMBEDDINGS @ expected @ EMBEDDINGS.T, atol=1e-12)


def test_orthonormal_embeddings_change_nothing():
    found = embedded_run(900, 100)
    for row in (1, 2):
        for step, facts in GOLDEN["example1"]["trajectory"]["stage2"].items():
            if int(step) <= 100:
                at = found.stage2.at(int(step))
                series = {name: rows[row, at] for name, rows in found.stage2.series.items()}
                assert series["log_loss"] == pytest.approx(facts["log_loss"], abs=1e-8)
                assert series["norm"] == pytest.approx(facts["norm"], rel=1e-9)
                gap = series["one_minus_correlation"]
                assert gap == pytest.approx(facts["one_minus_cos"], abs=1e-9)
    np.testing.assert_allclose(found.key_query(1), found.key_query(2), atol=1e-11)


def test_plain_descent_moves_by_the_gradient():
    member = Dataset("K6", cases()["random_K6"].data)
    found = TwoStage(
        rule="gd", stage1_steps=2, stage1_rate=0.7, steps=2, rate=0.3, record="every"
    ).run([member])
    K, data = member.K, member.data
    following = [member.collocation.of(x) for x in range(K)]
    with mp.workdps(40):
        values = {(x, v): mpf(0) for x in range(K) for v in range(K)}
        weights = dict(values)
        for _ in range(2):
            _, gradient = textbook.collocation(values, following)
            values = textbook.descend(values, gradient, 0.7, mpf(1))
        for _ in range(2):
            gradient = textbook.gradients(data, values, weights).weights
            weights = textbook.descend(weights, gradient, 0.3, mpf(1))
        np.testing.assert_allclose(found.value_logits(0), textbook.to_array(values, K), atol=1e-15)
        np.testing.assert_allclose(found.key_query(0), textbook.to_array(weights, K), atol=1e-16)


class Both(AbstractProbe):
    """The logits that a probe is given, now and after the next step."""

    def __call__(self, logits: Array, next_logits: Array) -> Measurements:
        return {"now": logits, "next": next_logits}


def test_a_probe_sees_the_logits_before_and_after_a_step_of_stage_1():
    W = np.random.default_rng(6).standard_normal((3, 4))
    training = CollocationTraining(
        start=jnp.asarray(W),
        following=jnp.array([1, 2, 3, 0]),
        vocabulary=jnp.ones(4, dtype=bool),
        target=jnp.ones((3, 4)),
        rate=jnp.array(0.2),
        coordinates=ValueCoordinates(jnp.asarray(EMBEDDINGS)),
        probe=Both(),
        rule="gd",
    )

    def loss(W: np.ndarray) -> mpf:
        return textbook.collocation(bilinear(EMBEDDINGS, W, np.eye(4)), [1, 2, 3, 0])[0]

    after = W - 0.2 * textbook.finite_differences(loss, W).astype(float)
    found = training.measure(training.init())
    np.testing.assert_allclose(found["now"], EMBEDDINGS @ W, rtol=1e-12)
    np.testing.assert_allclose(found["next"], EMBEDDINGS @ after, rtol=1e-12)


def test_a_probe_sees_the_logits_before_and_after_a_step_of_stage_2():
    data = example_1().data
    inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data]))
    token, query = EMBEDDINGS[inputs.cell_token], EMBEDDINGS[inputs.cell_query]
    values = np.random.default_rng(7).standard_normal((4, 4))
    training = AttentionTraining(
        start=jnp.asarray(START),
        inputs=inputs,
        margins=value_margins(inputs, jnp.asarray(values)),
        target=jnp.ones((3, 3)),
        rate=jnp.array(0.2),
        coordinates=CellCoordinates(jnp.asarray(token), jnp.asarray(query)),
        probe=Both(),
        rule="gd",
    )

    def loss(W: np.ndarray) -> mpf:
        logits = bilinear(EMBEDDINGS, W, EMBEDDINGS)
        return textbook.log_loss(data, textbook.as_table(values), logits)

    after = START - 0.2 * textbook.finite_differences(loss, START).astype(float)
    found = training.measure(training.init())
    for name, W in (("now", START), ("next", after)):
        np.testing.assert_allclose(found[name], np.sum(token @ W * query, axis=1), rtol=1e-11)


def test_joint_training_compares_either_layer_with_its_own_target():
    data = example_1().data
    inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([data]))
    values, star = np.random.default_rng(4).standard_normal((2, 4, 4))
    weights, direction = np.random.default_rng(5).standard_normal((2, len(inputs.cell_token)))
    training = JointTraining(
        start_values=jnp.asarray(values),
        start_weights=jnp.asarray(weights),
        inputs=inputs,
        target_values=jnp.asarray(star),
        target_weights=jnp.asarray(direction),
        rate=jnp.array(0.1),
    )
    found = training.measure(training.init())
    for prefix, a, b in (("value_", values, star), ("", weights, direction)):
        cosine = np.sum(a * b) / np.linalg.norm(a) / np.linalg.norm(b)
        gap = float(found[f"{prefix}one_minus_correlation"])
        assert gap == pytest.approx(1 - cosine, rel=1e-12)
        assert float(found[f"{prefix}norm"]) == pytest.approx(np.linalg.norm(a), rel=1e-14)


def test_joint_training_against_the_textbook():
    members = [Dataset("K6", cases()["random_K6"].data), example_1()]
    found = Joint(steps=25, rate=0.4).run(members).recording
    with mp.workdps(60):
        for i, member in enumerate(members):
            K = member.K
            values = {(x, v): mpf(0) for x in range(K) for v in range(K)}
            weights = dict(values)
            for t in range(26):
                exact = textbook.gradients(member.data, values, weights)
                length = textbook.norm(exact.values, exact.weights)
                expected = {
                    "log_loss": mp.log(exact.loss),
                    "log_gradient_norm": mp.log(length),
                    "norm": textbook.norm(weights),
                    "value_norm": textbook.norm(values),
                }
                for name, value in expected.items():
                    assert found.series[name][i, t] == pytest.approx(float(value), abs=1e-12)
                if t < 25:
                    values = textbook.descend(values, exact.values, 0.4, length)
                    weights = textbook.descend(weights, exact.weights, 0.4, length)
            np.testing.assert_allclose(
                found.final.values[i, :K, :K], textbook.to_array(values, K), atol=1e-12
            )
