"""The risk of attention and its minimisers, against plain loops, SLSQP, mpmath and ODE solvers."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import descent, heads, textbook
from oracles.deadline import within
from oracles.graph_svm import solved
from oracles.recorded import FACTS, bare, recorded
from scipy.integrate import solve_ivp
from scipy.optimize import minimize as scipy_minimize

from lemmata.attention import Risk, _minimise, _risk, minimise_logits
from lemmata.attention._minimise import _components
from lemmata.papers.mechanics.experiments._points import logits_at
from lemmata.papers.mechanics.setting import (
    ACYCLIC,
    CYCLIC,
    Dataset,
    Recipe,
    flow,
    generate,
    path,
)
from lemmata.papers.mechanics.setting._paths import path_points
from lemmata.papers.mechanics.setting._regularization import gradient_flow, regularization_path
from lemmata.tokens import TokenData

Rows = list[tuple[tuple[int, ...], int, int]]


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """A search that never ends fails its own test only."""
    with within(20):
        yield


def rows_of(dataset: Dataset) -> Rows:
    return [
        (s.tokens, s.label, s.query) for s in dataset.realizable.samples for _ in range(s.count)
    ]


REPEATS = Dataset.from_samples(
    "repeats",
    [[0, 1, 1, 2], [0, 1, 1, 2], [1, 2, 2], [0, 2, 0], [2, 2], [1, 0, 2]],
    [0, 0, 1, 2, 2, 1],
    np.random.default_rng(1).standard_normal((3, 3)),
)
"""Repeated tokens, repeated samples, a sequence without a choice."""


def logits_of(dataset: Dataset, W: np.ndarray) -> np.ndarray:
    E = dataset.E
    return np.array([E[x] @ W @ E[q] for x, q in dataset.cells])


@pytest.mark.parametrize("seed", range(3))
def test_value_gradient_and_hessian_of_a_matrix(seed):
    dataset = (REPEATS, *generate(CYCLIC, 2, 5))[seed]
    d = dataset.E.shape[1]
    W = np.random.default_rng(seed).standard_normal((d, d))
    risk, logits = dataset.risk, logits_of(dataset, W)
    loss, gradient = descent.risk(rows_of(dataset), dataset.E, W)
    assert risk.value(logits) == pytest.approx(loss, rel=1e-13)
    design = dataset.design(np.eye(d * d))
    masses = np.exp(risk.log_masses(logits))
    everything = np.ones(len(masses), dtype=bool)
    found = design.T @ risk.gradient(masses, everything)
    np.testing.assert_allclose(found, gradient.ravel(), atol=1e-14)
    if seed == 0:
        # positions of one token share its mass, so repeated labels bend the risk as well
        expected = descent.hessian(rows_of(dataset), dataset.E, W)
        np.testing.assert_allclose(risk.hessian(masses, design), expected, atol=1e-9)


@pytest.mark.parametrize("gap", [1.0, 4.0, 8.0, 10.0, 20.0, 30.0, 36.0, 40.0, 60.0, 850.0, 2000.0])
def test_the_logarithm_of_a_risk_that_has_underflowed(gap):
    case = bare("chain3")
    W = np.outer([1.0, 0.0, -0.9], [0.0, 0.0, gap])
    with mp.workdps(textbook.digits_for(2 * gap)):
        table = heads.as_scores(np.eye(3))
        loss, _ = heads.evaluate(case.data, table, textbook.as_table(W), "log", excess=False)
        expected = float(mp.log(loss))
    assert case.risk.log_value(logits_of(case, W)) == pytest.approx(expected, abs=1e-12 * gap)


def test_risks_of_many_points_are_those_of_each() -> None:
    datasets = (REPEATS, *generate(CYCLIC, 2, 5))
    for seed, dataset in enumerate(datasets):
        d = dataset.E.shape[1]
        points = np.random.default_rng(seed).standard_normal((2, 3, d, d))
        found = dataset.risk.log_values(logits_at(dataset, points))
        for index in np.ndindex(2, 3):
            loss, _ = descent.risk(rows_of(dataset), dataset.E, points[index])
            assert np.exp(found[index]) == pytest.approx(loss, rel=1e-13)


@pytest.mark.parametrize("few", [0, 300])
def test_the_coupling_of_cells_where_masses_round_to_one(few, monkeypatch):
    monkeypatch.setattr(_risk, "FEW_CELLS", few)
    rows = [([0, 1, 2], 0, 3, ""), ([1, 0, 2], 1, 1, "")]
    data = TokenData.from_samples(rows, range(3))
    cells = {(0, 2): 0, (1, 2): 1, (2, 2): 2}
    shares = {0: (0.75, [1.0, 1e-20, 1e-30]), 1: (0.25, [1e-9, 1.0, 1e-25])}
    expected = np.zeros((3, 3))
    for weight, mass in shares.values():
        for a, b in permutations(range(3), 2):
            expected[a, b] -= weight * mass[a] * mass[b]
            expected[a, a] += weight * mass[a] * mass[b]
    risk = Risk.of(data, cells, [frozenset()] * 2)
    assert risk.cell.tolist() == [0, 1, 2] * 2
    found = risk.coupling(np.array([m for _, mass in shares.values() for m in mass]))
    assert isinstance(found, np.ndarray) == (few > 3)
    dense = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(dense, expected, rtol=1e-14)


def test_the_tied_part_counts_samples_with_a_choice_alone():
    dataset = bare("fig2_reconstruction")
    reduced = dataset.risk.tied_only()
    assert len(reduced.weight) == len(FACTS["fig2_reconstruction"]["I"])
    assert reduced.weight.sum() == pytest.approx(1)
    rows = [(s.tokens, s.label, s.query) for s in dataset.cyclic.samples]
    W = np.random.default_rng(0).standard_normal((4, 4))
    assert reduced.value(logits_of(dataset, W)) == pytest.approx(
        descent.risk(rows, np.eye(4), W)[0], rel=1e-13
    )
    empty = bare("chain3").risk.tied_only()
    assert len(empty.weight) == 0
    assert empty.log_value(np.zeros(3)) == -np.inf
    assert minimise_logits(empty).gradient_norm == 0


def test_a_label_is_tied_with_itself():
    data = TokenData.from_samples([([2, 0, 2, 1], 2, 3, ""), ([0, 1], 0, 1, "")], range(3))
    cells = {(0, 1): 2, (1, 1): 0, (2, 1): 1}
    risk = Risk.of(data, cells, [frozenset({1}), frozenset()])
    assert risk.sample.tolist() == [0, 0, 0, 1, 1]
    assert risk.cell.tolist() == [2, 0, 1, 2, 0]
    np.testing.assert_allclose(np.exp(risk.log_multiplicity), [1, 1, 2, 1, 1], rtol=1e-15)
    assert risk.label.tolist() == [False, False, True, True, False]
    assert risk.tied.tolist() == [False, True, True, True, False]
    assert risk.weight.tolist() == [0.75, 0.25]


def test_components_are_cells_that_meet_in_samples():
    rows = [([0, 1], 0, 3, ""), ([1, 3, 1], 3, 2, ""), ([2, 4], 2, 4, ""), ([5], 5, 1, "")]
    data = TokenData.from_samples(rows, range(6))
    # one cell per token, in another order, and one that no sample uses
    cells = {(x, s.query): (5, 0, 4, 1, 2, 6)[x] for s in data.samples for x in s.tokens}
    cells[0, 0] = 3
    parts = {
        frozenset(own.tolist()): (part, share)
        for own, part, share in _components(Risk.of(data, cells, [frozenset()] * 4))
    }
    assert set(parts) == {frozenset({5, 0, 1}), frozenset({4, 2}), frozenset({6})}
    part, share = parts[frozenset({5, 0, 1})]
    assert share == pytest.approx(0.5)
    np.testing.assert_allclose(part.weight, [0.6, 0.4])
    assert part.cells == 3
    assert (part.sample.tolist(), part.cell.tolist()) == ([0, 0, 1, 1], [2, 0, 0, 1])
    assert part.label.tolist() == [True, False, False, True]


def test_the_gradients_of_all_components_add_up_by_their_shares(monkeypatch):
    # before the first step the gradient is that of the whole risk at 0
    monkeypatch.setattr(_minimise, "MOST_STEPS", 1)
    rows = [([0, 1, 1], 0, 5, ""), ([2, 3], 2, 2, ""), ([3, 2, 3], 3, 1, "")]
    data = TokenData.from_samples(rows, range(4))
    cells = {cell: i for i, cell in enumerate(heads.cells_of(data))}
    found = minimise_logits(Risk.of(data, cells, [frozenset()] * 3))
    plain = [(tuple(x), y, x[-1]) for x, y, count, _ in rows for _ in range(count)]
    _, gradient = descent.risk(plain, np.eye(4), np.zeros((4, 4)))
    np.testing.assert_array_equal(found.point, 0)
    assert found.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-13)


def test_a_two_cycle_in_fifty_digits():
    # labels a : b = 3 : 5 with tokens twice and once: the odds of the label decide
    dataset = Dataset.from_samples("two", [[0, 0, 1]] * 8, [0] * 3 + [1] * 5)
    with mp.workdps(50):
        # 2 e^z / (2 e^z + 1) = 3/8 for z = w_0 - w_1
        half = mp.log(mpf(3) / 5 / 2) / 2
    W = dataset.dense(dataset.correction)
    assert W[0, 1] == pytest.approx(float(half), rel=1e-14)
    assert W[1, 1] == pytest.approx(-float(half), rel=1e-14)
    assert dataset.correction.gradient_norm < 1e-15


@pytest.mark.parametrize("seed", range(4))
def test_newton_with_and_without_a_design_agree(seed):
    generator = np.random.default_rng([2, seed])
    rows = [generator.integers(0, 7, 6).tolist() for _ in range(60)]
    labels = [row[int(generator.integers(5))] for row in rows]
    plain = Dataset.from_samples("many ties", rows, labels)
    with_embeddings = Dataset("the same", plain.data, np.eye(plain.K))
    sparse, dense = (d.dense(d.correction) for d in (plain, with_embeddings))
    np.testing.assert_allclose(sparse, dense, atol=1e-11)
    assert max(plain.correction.gradient_norm, with_embeddings.correction.gradient_norm) < 1e-13
    # a minimum of the plain risk of the reduced samples
    reduced = [(s.tokens, s.label, s.query) for s in plain.cyclic.samples for _ in range(s.count)]
    gradient = descent.risk(reduced, np.eye(plain.K), sparse)[1]
    np.testing.assert_allclose(gradient, 0, atol=1e-13)


def test_a_lopsided_tie_is_found_although_newton_overshoots():
    rows, labels = [[0, 1]] * 20_001, [0] * 20_000 + [1]
    dataset = Dataset.from_samples("lopsided", rows, labels)
    assert dataset.dense(dataset.correction)[0, 1] == pytest.approx(np.log(20_000) / 2, rel=1e-12)


@pytest.mark.parametrize("digits", [12, 18, 100])
@pytest.mark.parametrize("embeddings", [None, np.array([[1.0, 0.5], [0.2, 1.0]])])
def test_a_tie_as_skewed_as_counts_can_be(digits, embeddings):
    plain = Dataset.from_sentences("skewed", {"a b a": 10**digits, "a b b": 1})
    dataset = Dataset("skewed", plain.data, embeddings)
    logits = dataset.E @ dataset.W_cyc @ dataset.E.T
    assert logits[0, 1] - logits[1, 1] == pytest.approx(digits * np.log(10), rel=1e-12)


def test_golden_regularization_path():
    case = recorded("peer_cyclic_1")
    facts = case.facts["reg_path"]
    curve = path(case.dataset, np.array([-row["mu"] for row in facts]))
    for i, row in enumerate(facts):
        assert curve.norm[i] == pytest.approx(row["R"], rel=1e-10)
        assert curve.one_minus_correlation[i] == pytest.approx(row["one_minus_corr"], rel=1e-9)
        assert curve.cyclic_distance[i] == pytest.approx(row["dist_cyc"], rel=1e-6, abs=2e-14)


@pytest.mark.parametrize("name", ["fig2_reconstruction", "cycle_plus_last", "chain3", "losses"])
def test_the_path_minimises_the_risk_on_balls(name):
    dataset = recorded(name).dataset
    rows, E = rows_of(dataset), dataset.E
    shape = (E.shape[1],) * 2
    curve = path(dataset, np.array([0.0, 2.0, 4.0]))
    for W, R in zip(curve.weights, curve.norm, strict=True):
        found = scipy_minimize(
            lambda w: descent.risk(rows, E, w.reshape(shape))[0],
            0.3 * W.ravel() + 0.01,
            jac=lambda w: descent.risk(rows, E, w.reshape(shape))[1].ravel(),
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda w, R=R: R * R - w @ w,
                "jac": lambda w: -2 * w,
            },
            options={"ftol": 1e-15, "maxiter": 500},
        )
        assert np.linalg.norm(found.x) <= R * (1 + 1e-6)
        assert descent.risk(rows, E, W)[0] == pytest.approx(found.fun, abs=1e-9)
        np.testing.assert_allclose(found.x.reshape(shape), W, atol=1e-4 * R)


@pytest.mark.parametrize("recipe", [ACYCLIC, CYCLIC], ids=["acyclic", "cyclic"])
def test_a_long_path_is_stationary_and_turns_at_its_rate(recipe):
    (dataset,) = generate(recipe, 1, 2)
    depths = np.array([1.0, 30.0, 300.0, 3000.0])
    points = path_points(dataset, depths)
    assert [point.log_ridge for point in points] == (-depths).tolist()
    assert max(point.residual for point in points) < 1e-11
    curve = path(dataset, depths)
    # 1 - corr ~ C / R^2, and the tied part arrives exponentially fast
    rate = curve.one_minus_correlation * curve.norm**2
    assert rate[-1] < 1.5 * rate[-2]
    assert curve.one_minus_correlation[-1] < 1e-6
    assert curve.cyclic_distance[-2:].max() < 1e-9
    # at moderate depth the plain gradient says so too
    W = curve.weights[0]
    gradient = descent.risk(rows_of(dataset), dataset.E, W)[1]
    np.testing.assert_allclose(gradient, -np.exp(-1.0) * W, atol=1e-12)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("name", ["peer_cyclic_1", "fig2_reconstruction"])
def test_the_path_is_that_of_mpmath_for_features_of_any_size(name, size):
    plain = recorded(name).dataset
    dataset = Dataset(name, plain.data, size * plain.E)
    shift = 4 * np.log(size)  # logits are size^2 times as large, the ridge of a logit size^4 times
    depths = np.array([1.0, 9.0]) - shift
    curve = path(dataset, depths)
    assert max(point.residual for point in path_points(dataset, depths)) < 1e-11
    with mp.workdps(40):
        for W, depth in zip(curve.weights, depths, strict=True):
            slope = mpmath_slope(rows_of(dataset), dataset.E, W)
            ridge = mp.exp(-mpf(float(depth)))
            for at in np.ndindex(W.shape):
                assert abs(slope[at] + ridge * mpf(W[at])) < 1e-9 * ridge * np.linalg.norm(W)


def mpmath_slope(rows: Rows, E: np.ndarray, W: np.ndarray) -> Any:
    """The gradient of the log loss, sample by sample."""
    exact, slope = mp.matrix(W.tolist()), mp.zeros(*W.shape)
    for tokens, label, query in rows:
        last = mp.matrix(E[query].tolist())
        keys = [mp.matrix(E[token].tolist()) for token in tokens]
        odds = [mp.exp((key.T * exact * last)[0]) for key in keys]
        right = sum(o for token, o in zip(tokens, odds, strict=True) if token == label)
        for token, key, o in zip(tokens, keys, odds, strict=True):
            share = o / sum(odds) - (o / right if token == label else 0)
            slope += share / len(rows) * (key * last.T)
    return slope


def test_the_path_of_infeasible_data_follows_the_generalized_direction():
    dataset = next(
        d
        for d in generate(Recipe(8, 4, 10, 6), 30, 11)
        if not d.feasible and d.generalized.separable and solved(d.generalized.margin)[1] < 100
    )
    curve = path(dataset, np.array([3.0, 3000.0]))
    assert curve.one_minus_correlation[-1] < 1e-3
    assert curve.cyclic_distance[-1] < 1e-6
    gradient = descent.risk(rows_of(dataset), dataset.E, curve.weights[0])[1]
    np.testing.assert_allclose(gradient, -np.exp(-3.0) * curve.weights[0], atol=1e-11)


def test_paths_of_degenerate_data():
    tied = path(recorded("purely_cyclic").dataset, np.array([2.0, 40.0]))
    assert tied.cyclic_distance[-1] < 1e-12
    assert np.isnan(tied.one_minus_correlation).all()
    lonely = path(Dataset.from_samples("lonely", [[0], [1]], [0, 1]), np.array([1.0]))
    assert lonely.norm == 0


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("name", ["fig2_reconstruction", "peer_cyclic_1"])
def test_gradient_flow_agrees_with_a_runge_kutta_method(name, size):
    plain = recorded(name).dataset
    start, E = plain.initial_weights, size * plain.E
    dataset = Dataset(name, plain.data, E, None if start is None else start / size**2)
    rows, shape = rows_of(dataset), (E.shape[1],) * 2
    start = np.zeros(shape) if start is None else start / size**2
    times = np.array([0.0, 0.5, 4.0, 20.0]) / size**4
    expected = solve_ivp(
        lambda _, w: -descent.risk(rows, E, w.reshape(shape))[1].ravel(),
        (0.0, times[-1]),
        start.ravel(),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-14 / size**2,
    )
    curve = flow(dataset, times)
    found = curve.weights.reshape(len(times), -1)
    np.testing.assert_allclose(found, expected.y.T, atol=1e-9 / size**2)
    for W, log_loss in zip(curve.weights, curve.log_loss, strict=True):
        assert log_loss == pytest.approx(np.log(descent.risk(rows, E, W)[0]), abs=1e-12)


def test_the_free_functions_take_their_own_coordinates():
    dataset = bare("cycle_plus_last")
    tied, free = dataset.design(dataset.tied_basis), dataset.design(dataset.free_basis)
    (point,) = regularization_path(dataset.risk, tied, free, [-3.0])
    logits = tied @ point.tied + free @ point.free
    risk: Risk = dataset.risk
    slope = risk.gradient(np.exp(risk.log_masses(logits)), np.ones(len(risk.cell), dtype=bool))
    np.testing.assert_allclose(tied.T @ slope, -np.exp(-3.0) * point.tied, atol=1e-14)
    np.testing.assert_allclose(free.T @ slope, -np.exp(-3.0) * point.free, atol=1e-14)
    assert point.radius == pytest.approx(np.sqrt(np.sum(point.tied**2) + np.sum(point.free**2)))
    both = np.concatenate([tied, free], axis=1)
    moved = gradient_flow(risk, both, np.zeros(2), np.array([0.0, 1e-4]))
    slope = risk.gradient(np.exp(risk.log_masses(np.zeros(3))), np.ones(9, dtype=bool))
    np.testing.assert_allclose(moved[1], -1e-4 * both.T @ slope, rtol=1e-3)


def test_gradient_flow_over_no_time_stays():
    dataset = bare("cycle_plus_last")
    both = dataset.design(np.concatenate([dataset.tied_basis, dataset.free_basis]))
    start = np.array([0.5, -2.0])
    stayed = gradient_flow(dataset.risk, both, start, np.zeros(3))
    np.testing.assert_array_equal(stayed, [start] * 3)
