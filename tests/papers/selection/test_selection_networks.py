"""First layers and what they cost: against enumeration, quadrature, linear programs and samples."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles.sparse_selection import FACTS
from scipy.optimize import linprog

from lemmata._errors import InputError
from lemmata.papers.selection import theory
from lemmata.papers.selection.setting import (
    SETTING,
    OnlineChoices,
    Plan,
    Task,
    select_tokens,
)
from lemmata.papers.selection.setting._networks import (
    ExplicitNet,
    FirstLayer,
    best_directions,
    best_output,
    estimate_loss,
    kernel,
    least_loss,
)
from lemmata.papers.selection.setting._trained_networks import NetTraining, train_nets
from lemmata.papers.selection.setting._worst_case import (
    blind_pair,
    lopsided_layer,
    visible_share,
)
from lemmata.training import Store, fold, stream

TASKS = [(4, 1, 2), (5, 2, 1), (6, 2, 2), (6, 4, 1), (7, 7, 1)]


def averaging(T: int, y: tuple[int, ...], d: int) -> np.ndarray:
    """A_y, which takes x_vec to the mean of the chosen tokens, entry by entry."""
    A = np.zeros((d, T * d))
    for i in y:
        for k in range(d):
            A[k, i * d + k] = 1 / len(y)
    return A


def moment(T: int, q: int, d: int) -> np.ndarray:
    """M = E_y[A_y' A_y], by going through all subsets."""
    every = [averaging(T, y, d) for y in combinations(range(T), q)]
    return np.mean([A.T @ A for A in every], axis=0)


@pytest.mark.parametrize(("T", "q", "d"), TASKS)
def test_the_law_is_a_sum_of_eigenvalues(T: int, q: int, d: int):
    values = np.linalg.eigvalsh(moment(T, q, d))
    for width in range(T * d + 3):
        wanted = values[: max(T * d - width, 0)].sum()
        assert float(theory.width_law(T, q, d, width)) == pytest.approx(wanted, abs=1e-14)
    assert theory.width_law(T, q, d, 0) == theory.trivial_loss(q, d)


@pytest.mark.parametrize(("T", "q"), [(5, 2), (6, 2), (7, 3), (8, 1), (4, 3)])
def test_eigenvalues_in_fractions(T: int, q: int):
    """E[YY']/q^2 on a constant vector, and on one whose entries add up to zero."""
    subsets = list(combinations(range(T), q))

    def apply(v: list[int]) -> list[Fraction]:
        sums = [(y, sum(v[i] for i in y)) for y in subsets]
        scale = len(subsets) * q * q
        return [Fraction(sum(s for y, s in sums if i in y), scale) for i in range(T)]

    assert apply([1] * T) == [theory.mean_eigenvalue(T)] * T
    v = [*range(T - 1), -sum(range(T - 1))]
    assert apply(v) == [theory.zero_sum_eigenvalue(T, q) * x for x in v]


def test_stored_bounds():
    for row in FACTS["fcn"]["bound_no_half"]:
        value = float(theory.zero_sum_eigenvalue(row["T"], row["q"]))
        assert value == pytest.approx(row["value"], rel=1e-13)
    for row in FACTS["fcn"]["width_m_no_half"]:
        value = float(theory.width_law(row["T"], row["q"], row["d"], row["m"]))
        assert value == pytest.approx(row["value"], rel=1e-13)
    stored = FACTS["fcn"]["moment_eigs"]
    assert float(theory.zero_sum_eigenvalue(10, 3)) == pytest.approx(stored["bulk"], rel=1e-14)
    assert float(theory.mean_eigenvalue(10)) == pytest.approx(stored["ones_direction"], rel=1e-14)


@pytest.mark.parametrize(("T", "q", "d"), TASKS[:4])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_least_loss_by_enumeration(T: int, q: int, d: int, width: int):
    """E_y tr(A_y P A_y') with P = I - pinv(A) A; a dependent neuron changes nothing."""
    A = np.random.default_rng(width).standard_normal((width, T * d))
    P = np.eye(T * d) - np.linalg.pinv(A) @ A
    losses = [
        np.trace(B @ P @ B.T) for B in (averaging(T, y, d) for y in combinations(range(T), q))
    ]
    for rows in (A, np.concatenate([A, A[:1] * 2])):
        assert least_loss(Task(T, q, d), rows) == pytest.approx(np.mean(losses), rel=1e-12)


def test_many_subsets_are_counted_instead():
    """Past the limit the moment is a formula; the best directions know the loss in both cases."""
    task = Task(60, 3, 1)
    assert task.subset_count > 20_000
    for width in (1, 30, 59):
        law = float(theory.width_law(60, 3, 1, width))
        assert least_loss(task, best_directions(task, width)) == pytest.approx(law, rel=1e-12)


def test_kernels_are_orthonormal_and_unseen():
    A = np.random.default_rng(0).standard_normal((5, 12))
    basis = kernel(np.concatenate([A, A[:2]]))
    assert basis.shape == (7, 12)
    np.testing.assert_allclose(basis @ basis.T, np.eye(7), atol=1e-14)
    np.testing.assert_allclose(A @ basis.T, 0, atol=1e-13)
    assert kernel(np.zeros((0, 3))).shape == (3, 3)


@pytest.mark.parametrize(("T", "q", "d"), TASKS[:4])
def test_random_first_layers_lose_more(T: int, q: int, d: int):
    task, draw = Task(T, q, d), np.random.default_rng(0)
    for width in range(1, T * d):
        loss = least_loss(task, draw.standard_normal((width, T * d)))
        law = float(theory.width_law(T, q, d, width))
        assert loss >= law - 1e-14
        assert least_loss(task, best_directions(task, width)) == pytest.approx(law, abs=1e-14)


def conditional_mean(a: np.ndarray, b: float, h: float) -> float:
    """E[x_y | a'x + b y = h] for two tokens and one position, by integrating over x_1."""
    x = np.linspace(-12, 12, 20_001)
    total = weighted = 0.0
    for y in (0, 1):
        other = (h - b * (y + 1) - a[0] * x) / a[1]
        density = np.exp(-(x**2 + other**2) / 2)
        total += density.sum()
        weighted += (density * (x, other)[y]).sum()
    return weighted / total


@pytest.mark.parametrize("b", [0.0, 0.7, 5.0])
def test_best_output_is_the_conditional_mean(b: float):
    task, a = Task(2, 1, 1), np.array([0.8, -1.3])
    layer = FirstLayer(task, a[None], np.array([[b]]))
    hidden = np.linspace(-3, 9, 7)
    wanted = [conditional_mean(a, b, h) for h in hidden]
    np.testing.assert_allclose(best_output(layer, hidden[:, None])[:, 0], wanted, atol=1e-9)


def test_best_output_leaves_nothing_to_learn():
    """Its error is orthogonal to every function of the neurons, here to a few, on samples."""
    task, draw = Task(5, 2, 2), np.random.default_rng(3)
    A, B = draw.standard_normal((4, 10)), 0.5 * draw.standard_normal((4, 2))
    layer, samples = FirstLayer(task, A, B), 40_000
    X, y = task.draw_tokens(samples, draw), task.draw_subsets(samples, draw)
    hidden = layer(X, y)
    error = select_tokens(X, y) - best_output(layer, hidden)
    tests = np.concatenate([hidden, hidden**2, np.abs(hidden), np.ones((samples, 1))], axis=1)
    products = error[:, :, None] * tests[:, None, :]
    z = products.mean(axis=0) / (products.std(axis=0) / np.sqrt(samples))
    assert np.abs(z).max() < 4
    assert estimate_loss(layer, 4_000).loss > least_loss(task, A)


def test_a_first_layer_is_a_matrix():
    """[A B] times [x_1; ...; x_T; y_1; ...; y_q], positions counted from 1."""
    task, draw = Task(4, 2, 3), np.random.default_rng(1)
    layer = FirstLayer(task, draw.standard_normal((5, 12)), draw.standard_normal((5, 2)))
    X, y = task.draw_tokens(3, draw), task.draw_subsets(3, draw)
    W = np.concatenate([layer.tokens, layer.subset], axis=1)
    for n in range(3):
        inputs = np.concatenate([*(X[n, :, i] for i in range(4)), y[n] + 1])
        np.testing.assert_allclose(layer(X, y)[n], W @ inputs, rtol=1e-12)


@pytest.mark.parametrize("width", [0, 1, 2, 3, 6, 11, 12])
def test_the_explicit_net_attains_the_law(width: int):
    task = Task(6, 3, 2)
    net = ExplicitNet(task, width)
    assert net.layer.tokens.shape == (width, 12)
    assert net.layer.subset.shape == (width, 3)
    found = estimate_loss(net, 20_000, seed=5)
    law = float(theory.width_law(6, 3, 2, width))
    assert abs(found.loss - law) <= 4 * found.error + 1e-15
    assert net.excess() < 1e-40
    if 0 < width < 12:
        assert 0 < found.error < 0.02 * law


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_codes_are_read_back(width: int):
    """Every subset, with noise of just under half a step on every neuron."""
    task = Task(7, 3, 1)
    net, y = ExplicitNet(task, width), task.all_subsets()
    codes = (y + 1.0) @ net.layer.subset.T
    noise = np.random.default_rng(0).choice([-0.499, 0.499], codes.shape) * net.scale
    tokens = noise @ net.layer.tokens
    np.testing.assert_allclose(
        net.output(codes + noise), select_tokens(tokens[:, None, :], y), rtol=1e-10, atol=1e-12
    )


def test_a_coarse_code_costs_no_more_than_it_may():
    """With steps of one standard deviation codes are often wrong, and the bound covers it."""
    net = ExplicitNet(Task(6, 2, 1), 3, scale=1.0)
    found = estimate_loss(net, 20_000)
    law = float(theory.width_law(6, 2, 1, 3))
    assert law + 5 * found.error < found.loss < law + net.excess()


def test_widths_have_limits():
    with pytest.raises(InputError, match="between 0 and T d = 10; got 11"):
        best_directions(Task(5, 2, 2), 11)
    with pytest.raises(InputError, match=r"between 1 and \(T-q\+1\) d - 1 = 7; got 8"):
        blind_pair(Task(5, 2, 2), 8, np.random.default_rng(0))


@pytest.mark.parametrize(("T", "q", "d", "width"), [(5, 2, 1, 3), (6, 3, 2, 7), (6, 3, 2, 4)])
def test_blind_pairs(T: int, q: int, d: int, width: int):
    """The targets of u and -u, from the definition, and the matrix product term by term."""
    pair = blind_pair(Task(T, q, d), width, np.random.default_rng(width))
    u, y = pair.tokens, pair.y
    assert pair.layer.shape == (width, T * d + q)
    assert not u[: q - 1].any()
    assert u.any()
    assert pair.alike
    for row in pair.layer.tolist():
        assert sum(w * x for w, x in zip(row, u.ravel().tolist(), strict=False)) == 0
    longest = max(sum(int(x) ** 2 for x in token) for token in u)
    target = [Fraction(sum(int(u[i - 1, k]) for i in y), q) for k in range(d)]
    squared = sum(x * x for x in target) / longest
    assert pair.forced(Fraction(1)) == squared == theory.unit_ball_error(q) ** 2
    assert pair.forced(Fraction(1, 4)) == theory.proof_pair_error(q)
    assert pair.forced(Fraction(1, 4)) < theory.printed_worst_case(q)


def test_a_layer_that_tells_the_pair_apart_is_noticed():
    pair = blind_pair(Task(5, 2, 1), 3, np.random.default_rng(3))
    position = int(np.flatnonzero(pair.tokens.ravel())[0])
    pair.layer[0, position] += 1
    assert not pair.alike


@pytest.mark.parametrize(("T", "q"), [(3, 1), (4, 2), (6, 2), (7, 3), (5, 4)])
def test_the_least_visible_kernel_by_linear_programming(T: int, q: int):
    """Minimise max_y |mean of v over y| with v_1 = 1 and |v_i| <= 1, over all v."""
    rows = np.array(
        [[1 / q if i in y else 0.0 for i in range(T)] for y in combinations(range(T), q)]
    )
    ones = np.ones((len(rows), 1))
    found = linprog(
        [*[0.0] * T, 1.0],
        A_ub=np.block([[rows, -ones], [-rows, -ones]]),
        b_ub=np.zeros(2 * len(rows)),
        bounds=[(1, 1), *[(-1, 1)] * (T - 1), (0, None)],
    )
    assert found.fun == pytest.approx(float(theory.narrow_error(q)), abs=1e-9)


def test_visible_shares_by_enumeration():
    draw = np.random.default_rng(4)
    for T, q in ((4, 2), (6, 3), (5, 1), (5, 4)) * 4:
        v = draw.standard_normal(T)
        means = [abs(v[list(y)].mean()) for y in combinations(range(T), q)]
        assert visible_share(v, T, q) == pytest.approx(max(means) / np.abs(v).max(), rel=1e-12)
    v = draw.standard_normal((5, 3))
    sizes = np.linalg.norm(v, axis=1)
    seen = max(np.linalg.norm(v[list(y)].mean(axis=0)) for y in combinations(range(5), 2))
    assert visible_share(v.ravel(), 5, 2) <= seen / sizes.max() + 1e-12


def test_the_lopsided_layer_misses_one_direction():
    rows = lopsided_layer(Task(4, 2, 2))
    v = np.array([1, 0, -1, 0, -1, 0, -1, 0]) / np.array([1, 1, 3, 1, 3, 1, 3, 1])
    assert rows.shape == (7, 8)
    assert np.linalg.matrix_rank(rows) == 7
    np.testing.assert_allclose(rows @ v, 0, atol=1e-14)


def training(width: int, widest: int) -> NetTraining:
    return NetTraining(
        source=fold(stream(0), jnp.uint32(1)),
        open=jnp.asarray(np.arange(widest) < width, dtype=jnp.float32),
        task=Task(4, 2, 2),
        hidden=6,
        samples=32,
        rate=0.01,
        steps=10,
    )


def test_trained_nets_by_hand():
    """The losses of the first weights, layer by layer in plain loops."""
    dynamics = training(3, 5)
    w = [np.asarray(leaf, dtype=float) for leaf in jax.tree.leaves(dynamics.init().weights)]
    inputs, target = (np.asarray(a, dtype=float) for a in dynamics._draw(stream(3), 8))
    for n in range(8):
        x, Y = inputs[n, :8].reshape(4, 2), inputs[n, 8:]
        assert sorted(Y) == [0, 0, 1, 1]
        np.testing.assert_allclose(target[n], Y @ x / 2, rtol=1e-5)
    first = (inputs @ w[0].T)[:, :3]
    second = np.maximum(first @ w[1][:, :3].T + w[4], 0)
    third = np.maximum(second @ w[2].T + w[5], 0)
    losses = ((third @ w[3].T + w[6] - target) ** 2).sum(axis=1)
    found = dynamics._losses(dynamics.init().weights, *dynamics._draw(stream(3), 8))
    np.testing.assert_allclose(found, losses, rtol=1e-4)


def test_closed_neurons_stay_closed():
    """Training a net of three neurons never touches the weights of a fourth."""
    dynamics = training(3, 5)
    start = dynamics.init()
    state, step = start, eqx.filter_jit(dynamics.step)
    for _ in range(4):
        state = step(state)
    moved = np.abs(np.asarray(state.weights.first) - np.asarray(start.weights.first)).max(axis=1)
    assert (moved[:3] > 1e-4).all()
    assert (moved[3:] == 0).all()
    np.testing.assert_array_equal(state.weights.second[:, 3:], start.weights.second[:, 3:])


def test_a_step_is_adam_on_the_mean_loss():
    """The first step of Adam moves every weight by the step size, against the gradient."""
    dynamics = training(5, 5)
    start = dynamics.init()
    after = eqx.filter_jit(dynamics.step)(start)
    source = fold(fold(dynamics.source, jnp.uint32(1)), jnp.uint32(0))
    drawn = dynamics._draw(source, 32)

    def mean(first: np.ndarray) -> float:
        weights = start.weights._replace(first=jnp.asarray(first, dtype=jnp.float32))
        return float(jnp.mean(dynamics._losses(weights, *drawn)))

    first = np.asarray(start.weights.first, dtype=float)
    step = np.asarray(after.weights.first, dtype=float) - first
    for i, j in ((0, 0), (2, 5), (4, 11)):
        bump = np.zeros_like(first)
        bump[i, j] = 1e-2
        slope = (mean(first + bump) - mean(first - bump)) / 2e-2
        assert step[i, j] == pytest.approx(-0.01 * np.sign(slope), rel=1e-3)


def test_training_reaches_the_law_and_resumes(tmp_path):
    """One neuron for one token of three: the law is reached in a second, to the same bits."""
    task, how = Task(3, 1, 1), {"steps": 600, "hidden": 32, "rate": 0.01}
    narrow, wide = train_nets(task, [1, 3], **how, store=Store(tmp_path))
    law = float(theory.width_law(3, 1, 1, 1))
    assert least_loss(task, narrow.tokens) >= law - 1e-12
    assert narrow.tokens.shape == (1, 3)
    assert narrow.estimate.loss > law - 4 * narrow.estimate.error
    assert narrow.estimate.loss < 1.15 * law
    assert wide.estimate.loss < 0.1
    again = train_nets(task, [1, 3], **how, store=Store(tmp_path))
    assert again[1].estimate == wide.estimate


def test_a_plan_trains_a_net_with_the_transformers_loss():
    """Half the squared error, beside half of what the law of its width allows."""
    plan = Plan("small", Task(3, 1, 1), 0.05, 1e-3)
    found = SETTING.train([plan], {"algorithm": "adam", "width": 2, "steps": 4})
    (net,) = train_nets(plan.task, [2], steps=4)
    assert found.loss[0, -1] == pytest.approx(0.5 * net.estimate.loss, rel=1e-6)
    told = found.extras[0]["net"]
    assert told["standard_error"] == pytest.approx(0.5 * net.estimate.error, rel=1e-6)
    assert told["least_with_first_layer"] == pytest.approx(0.5 * least_loss(plan.task, net.tokens))
    assert found.least[0, -1] == told["least_of_width"] == 0.5 * float(theory.width_law(3, 1, 1, 2))
    assert "2 neurons in its first layer" in found.rule
    (forecast,) = SETTING.forecasts(found, 0)
    assert forecast.says == "the least of its width"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"d_e": 64}, {"width": 2}, "sees no encodings"),
        ({}, {"width": 2, "x_query": "fixed"}, "x_query would have no effect on a fully connected"),
        ({}, {"width": 2, "factors": 2}, "factors would have no effect on a fully connected"),
        ({"task": Task(3_000, 1, 1)}, {"width": 2}, "a net with 6,000 inputs is too large"),
        ({}, {"width": 0}, "width must be at least 1; got 0"),
        (
            {},
            {"algorithm": "sgd", "width": 2},
            r"--width \(width\) has no effect with algorithm sgd",
        ),
        ({}, {"algorithm": "gd", "queries": 2}, r"--queries \(queries\) has no effect"),
    ],
)
def test_nets_that_are_refused(change, options, message):
    plan = replace(Plan("small", Task(3, 1, 1), 0.05, 1e-3), **change)
    with pytest.raises(InputError, match=message):
        SETTING.train([plan], {"algorithm": "adam", **options})


@pytest.mark.parametrize("said", [{"factors": 2}, {"queries": 3}])
def test_descent_in_two_numbers_refuses_what_a_plan_says_for_samples(said):
    plan = Plan("small", Task(3, 1, 1), 0.05, 1e-3, training=OnlineChoices(**said))
    with pytest.raises(InputError, match=f"leave out {next(iter(said))}, or use --algorithm sgd"):
        SETTING.train([plan], {})
