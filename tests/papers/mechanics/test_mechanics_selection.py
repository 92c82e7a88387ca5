"""Attention alone under a fixed head, one step at a time, against the chain rule in plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import descent

from lemmata.attention import CellCoordinates, Inputs, LogLoss, LogScaled, pack
from lemmata.papers.mechanics.setting._dynamics import (
    BlockTraining,
    FactoredTraining,
    SelectionTraining,
    TiedSpace,
    measure_ties,
)
from lemmata.tokens import TokenData
from lemmata.training import TrainingState, common_measurements, descend

ROWS: list[descent.Row] = [([0, 1, 2, 1], 0), ([1, 0, 3, 1], 1), ([0, 3, 1], 3), ([2, 3, 3], 2)]
"""Under query 1 tokens 0, 1 and 3 are tied and beat 2; under query 3 token 2 beats 3."""

DATA = TokenData.from_samples([(x, y, 1, "") for x, y in ROWS], range(4))
E = np.random.default_rng(20).standard_normal((4, 3))
W, TARGET, CORRECTION = np.random.default_rng(21).standard_normal((3, 3, 3))
RATE = 0.3

INPUTS: Inputs = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), pack([DATA]))
CELLS = list(zip(INPUTS.cell_token.tolist(), INPUTS.cell_query.tolist(), strict=True))
LABEL = (INPUTS.tokens == INPUTS.label[:, None]) & jnp.isfinite(INPUTS.log_multiplicity)
COORDINATES = CellCoordinates(
    jnp.asarray(E[[x for x, _ in CELLS]]), jnp.asarray(E[[q for _, q in CELLS]])
)
TIED_MATRICES = [np.outer(E[a] - E[b], E[1]) for a, b in ((0, 1), (1, 3))]


def tied_space() -> TiedSpace:
    """The span of the differences, from a QR decomposition."""
    q, _ = np.linalg.qr(np.array([m.ravel() for m in TIED_MATRICES]).T)
    return TiedSpace(basis=jnp.asarray(q.T.reshape(-1, 3, 3)))


def inside(matrix: np.ndarray) -> np.ndarray:
    """The part in the span of the ties, by the pseudoinverse."""
    return (descent.tied_span(TIED_MATRICES) @ matrix.ravel()).reshape(3, 3)


SHARED = {
    "inputs": INPUTS,
    "loss": LogLoss(LABEL),
    "target": jnp.asarray(TARGET),
    "correction": jnp.asarray(CORRECTION),
    "ties": tied_space(),
    "rate": jnp.array(RATE),
    "coordinates": COORDINATES,
}


def assert_measured(found: dict[str, jax.Array], expected: dict[str, float]) -> None:
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, rel=1e-11)


def tie_measurements(here: np.ndarray, after: np.ndarray) -> dict[str, float]:
    return {
        "cyclic_distance": float(np.linalg.norm(inside(here) - CORRECTION)),
        "midpoint_distance": float(np.linalg.norm(inside((here + after) / 2) - CORRECTION)),
        "free_norm": float(np.linalg.norm(here - inside(here))),
    }


def test_the_part_inside_the_span_of_ties():
    np.testing.assert_allclose(tied_space().project(jnp.asarray(W)), inside(W), atol=1e-13)


def test_the_part_inside_the_span_of_tied_cells():
    # cells 0, 2 and 5 are one component, 1 and 4 another, and 3 is alone
    space = TiedSpace(group=jnp.array([0, 1, 0, 2, 1, 0]), members=jnp.array([3.0, 2, 1, 1, 1, 1]))
    weights = np.random.default_rng(30).standard_normal(6)
    unit = np.eye(6)
    ties = [unit[0] - unit[2], unit[2] - unit[5], unit[1] - unit[4]]
    expected = descent.tied_span(ties) @ weights
    np.testing.assert_allclose(space.project(jnp.asarray(weights)), expected, atol=1e-14)


def test_distances_from_the_finite_limit_now_and_midway():
    after = np.random.default_rng(31).standard_normal((3, 3))
    found = measure_ties(tied_space(), jnp.asarray(CORRECTION), jnp.asarray(W), jnp.asarray(after))
    assert_measured(found, tie_measurements(W, after))


@pytest.mark.parametrize(
    ("rule", "epsilon"), [("ngd", 0.0), ("ngd", 0.2), ("ngd", 50.0), ("gd", 0.0), ("gd", 0.2)]
)
def test_a_step_of_each_rule(rule, epsilon):
    gradient, weights = np.random.default_rng(32).standard_normal((2, 5))
    size = np.linalg.norm(gradient)
    scaled = LogScaled(jnp.asarray(gradient / size), jnp.asarray(np.log(size)))
    found = descend(rule, jnp.array(RATE), jnp.asarray(weights), scaled, epsilon)
    length = 1.0 if rule == "gd" else size + epsilon
    np.testing.assert_allclose(found, weights - RATE * gradient / length, rtol=1e-13)


def test_an_epsilon_starves_a_gradient_that_has_underflowed():
    gradient = LogScaled(jnp.array([1.0, 0.0]), jnp.array(-100.0))
    found = descend("ngd", jnp.array(1.0), jnp.zeros(2), gradient, 1e-8)
    np.testing.assert_allclose(found, [-np.exp(-100) / 1e-8, 0], rtol=1e-13)


def test_how_weights_and_descent_agree_with_the_target():
    gradient = np.random.default_rng(33).standard_normal((3, 3))
    size = np.linalg.norm(gradient)
    scaled = LogScaled(jnp.asarray(gradient / size), jnp.asarray(np.log(size)))
    state = TrainingState(jnp.asarray(W), jnp.array(-2.5), scaled)
    assert_measured(
        common_measurements(state, jnp.asarray(TARGET)),
        {
            "log_loss": -2.5,
            "log_gradient_norm": float(np.log(size)),
            "norm": float(np.linalg.norm(W)),
            "one_minus_correlation": 1 - descent.correlation(W, TARGET),
            "descent_on_target": descent.correlation(-gradient, TARGET),
            "descent_on_weights": descent.correlation(-gradient, W),
        },
    )


@pytest.mark.parametrize(("rule", "epsilon"), [("ngd", 0.0), ("ngd", 0.1), ("gd", 0.0)])
def test_selection_training_takes_the_step_of_the_plain_loop(rule, epsilon):
    training = SelectionTraining(start=jnp.asarray(W), rule=rule, epsilon=epsilon, **SHARED)
    state = training.init()
    expected = descent.train(ROWS, E, W, RATE, 2, normalized=rule == "ngd", epsilon=epsilon)
    np.testing.assert_allclose(training.step(state).weights, expected[1], atol=1e-13)
    loss, gradient = descent.risk(ROWS, E, W)
    assert_measured(
        training.measure(state),
        {
            "log_loss": float(np.log(loss)),
            "log_gradient_norm": float(np.log(np.linalg.norm(gradient))),
            "one_minus_correlation": 1 - descent.correlation(W, TARGET),
            **tie_measurements(W, expected[1]),
        },
    )


def untied_gradient() -> np.ndarray:
    """The sum over tokens that are not tied with the label of mass times (e_x - e_y) e_q^T."""
    total = np.zeros((3, 3))
    for tokens, label in ROWS:
        q = tokens[-1]
        masses = descent.softmax(E[tokens] @ W @ E[q])
        tied = {0, 1, 3} if q == 1 else {label}
        for mass, x in zip(masses, tokens, strict=True):
            if x not in tied:
                total += mass * np.outer(E[x] - E[label], E[q]) / len(ROWS)
    return total


def test_block_training_is_plain_inside_the_ties_and_normalized_outside():
    tied_rate = 0.7
    tied = (INPUTS.query[:, None] == 1) & (INPUTS.tokens != 2)
    untied = jnp.isfinite(INPUTS.log_multiplicity) & ~tied & ~LABEL
    training = BlockTraining(
        start=jnp.asarray(W), untied=untied, tied_rate=jnp.array(tied_rate), **SHARED
    )
    state = training.init()
    loss, gradient = descent.risk(ROWS, E, W)
    free = untied_gradient()
    free -= inside(free)
    expected = W - RATE * free / np.linalg.norm(free) - tied_rate * inside(gradient)
    np.testing.assert_allclose(training.step(state).weights, expected, atol=1e-13)
    assert_measured(
        training.measure(state), {"log_loss": float(np.log(loss)), **tie_measurements(W, expected)}
    )


def test_factored_training_descends_on_both_factors_at_once():
    keys, queries = np.random.default_rng(34).standard_normal((2, 3, 2))
    training = FactoredTraining(
        start_keys=jnp.asarray(keys),
        start_queries=jnp.asarray(queries),
        winner=jnp.array([0]),
        loser=jnp.array([1]),
        nuclear=jnp.asarray(TARGET),
        **SHARED,
    )
    state = training.init()
    here, after = descent.train_factors(ROWS, E, keys, queries, RATE, 1)
    np.testing.assert_allclose(state.weights, here, atol=1e-14)
    np.testing.assert_allclose(training.step(state).weights, after, atol=1e-13)
    loss, gradient = descent.risk(ROWS, E, here)
    # (s + t)^2 = s^2 + t^2 + 2 s t for the two singular values s and t
    product = np.linalg.det(keys.T @ keys) * np.linalg.det(queries.T @ queries)
    nuclear = float(np.sqrt(np.sum(here**2) + 2 * np.sqrt(product)))
    logits = [E[x] @ here @ E[q] for x, q in CELLS]
    margin = float(logits[0] - logits[1])
    slopes = np.concatenate([(gradient @ queries).ravel(), (gradient.T @ keys).ravel()])
    assert_measured(
        training.measure(state),
        {
            "log_loss": float(np.log(loss)),
            "log_gradient_norm": float(np.log(np.linalg.norm(slopes))),
            "norm": float(np.linalg.norm(here)),
            "nuclear_norm": nuclear,
            "nuclear_shortfall": 1 - margin * np.linalg.norm(TARGET, "nuc") / nuclear,
            "one_minus_correlation": 1 - descent.correlation(here, TARGET),
            "one_minus_nuclear_correlation": 1 - descent.correlation(here, TARGET),
            **tie_measurements(here, after),
        },
    )
