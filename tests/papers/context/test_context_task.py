"""The task: what is learned, what it costs at least, and which inputs are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import in_context as oracle
from oracles.in_context import FACTS, GOLDEN

from lemmata._errors import InputError
from lemmata.papers.context.setting import Plan, Task, draw_task, represent


def random_map(task: Task, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.6, (task.N, task.K))


@settings(max_examples=40)
@given(oracle.instances())
def test_the_target_is_that_of_34(instance):
    np.testing.assert_allclose(
        Task(*instance).target, oracle.target(instance), rtol=1e-11, atol=1e-12
    )


@settings(max_examples=40)
@given(oracle.instances(), st.integers(0, 10_000))
def test_the_loss_by_enumeration(instance, seed):
    task, labels = Task(*instance), oracle.prompts(instance)
    scale = oracle.loss(labels, 0 * task.target)
    assert task.minimum == pytest.approx(
        oracle.loss(labels, oracle.target(instance)), rel=1e-11, abs=1e-13 * scale
    )
    combined = random_map(task, seed)
    expected = oracle.loss(labels, combined)
    assert task.loss(combined) == pytest.approx(expected, rel=1e-11)
    assert task.gap(combined) == pytest.approx(
        expected - oracle.loss(labels, oracle.target(instance)), rel=1e-9, abs=1e-12 * scale
    )
    assert task.initial_gap == pytest.approx(scale - task.minimum, rel=1e-9, abs=1e-12 * scale)


def test_losses_of_many_maps_at_once():
    task = Task(*oracle.draw(2, 5, 3, 3, 0.2, 1))
    several = np.stack([random_map(task, seed) for seed in range(3)])
    np.testing.assert_allclose(task.loss(several), [task.loss(one) for one in several], rtol=1e-14)


@settings(max_examples=40)
@given(oracle.instances())
def test_no_direction_leads_down_from_the_target(instance):
    """The slope of the enumerated loss, by central differences of a quadratic function."""
    labels, combined = oracle.prompts(instance), Task(*instance).target
    scale = max(1.0, oracle.loss(labels, combined))
    for i, k in np.ndindex(combined.shape):
        step = np.zeros_like(combined)
        step[i, k] = 0.5
        slope = oracle.loss(labels, combined + step) - oracle.loss(labels, combined - step)
        assert abs(slope) < 1e-11 * scale


@settings(max_examples=40)
@given(oracle.instances())
def test_the_root_and_its_norms(instance):
    task, gram = Task(*instance), instance.gram
    size = np.abs(gram).max()
    np.testing.assert_allclose(task.gram, gram, rtol=1e-13, atol=1e-15 * size)
    np.testing.assert_allclose(task.root @ task.root, gram, rtol=1e-12, atol=1e-13 * size)
    np.testing.assert_allclose(task.root, task.root.T, atol=1e-14 * np.sqrt(size))
    assert np.linalg.eigvalsh(task.root).min() > 0
    columns = np.sqrt((task.root**2).sum(axis=0))
    assert task.largest_column == pytest.approx(columns.max(), rel=1e-12)
    assert task.spectral == pytest.approx(np.linalg.eigvalsh(gram).max() ** 0.5, rel=1e-12)


def ridge_regression(instance: oracle.Instance, labels: np.ndarray, r: float) -> np.ndarray:
    """Predictions of the queries' labels from the normal equations."""
    Z = instance.representations[:, : instance.N]
    fit = np.linalg.solve(Z @ Z.T + r * np.eye(instance.m), Z @ labels[:, : instance.N].T)
    return fit.T @ instance.representations[:, instance.N :]


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("N", "K", "m"), [(3, 6, 2), (2, 5, 4), (3, 3, 2)])
def test_risks_of_queries_by_enumeration(N, K, m, factor):
    """Without noise in their labels, so the enumerated error is less by m tau."""
    instance = oracle.draw(N, K, 3, m, 0.15, 7)
    regularizer, labels = factor * m * 0.15, oracle.prompts(instance)
    errors = (ridge_regression(instance, labels, regularizer) - labels[:, N:]) ** 2
    risks = Task(*instance).query_risks(regularizer)
    np.testing.assert_allclose(risks, errors.mean(axis=0) - m * 0.15, rtol=1e-11)


def test_risks_of_queries_by_sampling():
    instance, rng = oracle.draw(4, 7, 3, 3, 0.2, 8), np.random.default_rng(8)
    coefficients = rng.standard_normal((60_000, 3))
    labels = oracle.sampled_prompts(instance, coefficients, rng)
    clean = coefficients @ instance.representations[:, 4:]
    errors = (ridge_regression(instance, labels, 0.9) - clean) ** 2
    bars = errors.std(axis=0) / np.sqrt(len(errors))
    risks = Task(*instance).query_risks(0.9)
    assert (bars < 0.02 * risks).all()
    assert (np.abs(errors.mean(axis=0) - risks) < 4 * bars).all()


def test_m_tau_is_the_best_regularizer():
    task = Task(*oracle.draw(4, 9, 3, 3, 0.2, 9))
    least = task.query_risks(task.ridge).sum()
    assert all(task.query_risks(factor * task.ridge).sum() > least for factor in (0.8, 1.25))


@pytest.mark.parametrize(("N", "m"), [(2, 4), (4, 2), (3, 3)])
def test_without_noise(N, m):
    instance = oracle.draw(N, 7, 3, m, 0.0, 3)
    task, Z = Task(*instance), instance.representations
    inverse = np.linalg.pinv(Z[:, :N])
    np.testing.assert_allclose(task.target[:, N:], inverse @ Z[:, N:], atol=1e-12)
    np.testing.assert_array_equal(task.target[:, :N], np.eye(N))
    unseen = Z[:, N:] - Z[:, :N] @ inverse @ Z[:, N:]
    assert task.minimum == pytest.approx((unseen**2).sum() / 14, rel=1e-12, abs=1e-24)
    labels = oracle.prompts(instance)
    assert oracle.loss(labels, task.target) == pytest.approx(task.minimum, rel=1e-11, abs=1e-24)


def test_without_noise_equal_representations_count_once():
    Z = np.array([[1.0, 1.0, 0.5], [2.0, 2.0, -1.0], [0.3, 0.3, 0.4]])
    task = Task(np.eye(3), Z, 2, 0.0)
    np.testing.assert_allclose(task.target[:, 2], np.linalg.pinv(Z[:, :2]) @ Z[:, 2], atol=1e-12)
    unseen = Z[:, 2] - Z[:, :2] @ np.linalg.pinv(Z[:, :2]) @ Z[:, 2]
    assert task.minimum == pytest.approx((unseen**2).sum() / 6, rel=1e-12)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_golden_numbers(name):
    instance, Q, w = oracle.stored(name)
    facts, task = GOLDEN[name], Task(*instance)
    combined = np.array(facts["Ahat_w1"])
    np.testing.assert_allclose(oracle.combined(instance, Q, w), combined, rtol=1e-9)
    np.testing.assert_allclose(task.gram, facts["G"], rtol=1e-9)
    np.testing.assert_allclose(task.target, facts["A"], rtol=1e-9, atol=1e-15)
    found = {
        "Lstar_corrected": task.minimum,
        "fmax": task.largest_column,
        "Zbar_spectral": task.spectral,
        "A_spectral": np.linalg.norm(task.target, 2),
        "gap_w0": task.initial_gap,
        "loss_w0": task.loss(0 * task.target),
        "loss_w1": task.loss(combined),
        "gap_w1": task.gap(combined),
        "loss_w1_exact_cubature": task.loss(combined),
    }
    for key, value in found.items():
        assert value == pytest.approx(facts[key], rel=1e-9), key
    missing = (task.K - task.N) * task.ridge / (2 * task.K)
    assert task.minimum - missing == pytest.approx(facts["Lstar_as_printed_WRONG"], rel=1e-9)


def test_golden_minimum_at_the_size_of_the_paper():
    task = draw_task(30, 200, 100, 20, 0.01, seed=0)
    assert task.minimum == pytest.approx(FACTS["paper_scale"]["Lstar"], rel=1e-9)
    assert task.initial_gap == pytest.approx(FACTS["paper_scale"]["gap0"], rel=1e-9)


def test_drawn_tasks():
    unit, free = (draw_task(2, 40, 3, 2, 0.1, seed=5, unit=unit) for unit in (True, False))
    np.testing.assert_allclose(unit.norms, 1, rtol=1e-14)
    np.testing.assert_allclose(unit.tokens * free.norms, free.tokens, rtol=1e-14)
    np.testing.assert_array_equal(unit.representations, free.representations)
    assert unit.problems == ()
    assert unit.name == "unit tokens, N=2 K=40 d=3 m=2 tau=0.1, seed 5"
    assert draw_task(2, 4, 3, 2, 0.1, seed=5, name="mine").name == "mine"


def test_a_representation_of_ones_own():
    tokens = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]])
    found = represent(tokens, lambda v: np.array([v[0] * v[1], v[0] ** 2, 1.0]))
    np.testing.assert_array_equal(found, [[0, -2, 12], [1, 4, 9], [1, 1, 1]])
    with pytest.raises(InputError, match="a vector of the same length"):
        represent(tokens, lambda v: np.ones(int(v[0])))


TOKENS = np.eye(3)
REPRESENTATIONS = np.array([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((TOKENS[:, :0], REPRESENTATIONS[:, :0], 1, 0.1), "task: there are no tokens"),
        ((TOKENS, REPRESENTATIONS[:0], 1, 0.1), "task: there are no representations"),
        ((TOKENS * np.nan, REPRESENTATIONS, 1, 0.1), "the tokens must be finite numbers"),
        ((TOKENS, REPRESENTATIONS * np.inf, 1, 0.1), "the representations must be finite"),
        ((TOKENS, REPRESENTATIONS[:, :2], 1, 0.1), "3 tokens but 2 representations"),
        ((TOKENS, REPRESENTATIONS, 0, 0.1), "N = 0 examples, which must be at least 1"),
        ((TOKENS, REPRESENTATIONS, 4, 0.1), "N = 4 examples.* at most K = 3"),
        ((TOKENS, REPRESENTATIONS, 1, -0.1), "tau is a variance and not -0.1"),
        ((TOKENS, REPRESENTATIONS, 1, np.nan), "tau is a variance and not nan"),
        ((TOKENS, REPRESENTATIONS, 1, "much"), "tau is a variance and not 'much'"),
        ((TOKENS, REPRESENTATIONS, 1.5, 0.1), "N = 1.5 examples.* dictionary, and whole"),
        (([[1, 2]], [[1]], 4, -1), "2 tokens but 1 representations"),
        (([[1, 2], [3]], REPRESENTATIONS, 1, 0.1), "the tokens are a matrix of numbers"),
        (([1, 2], [[1, 2]], 1, 0.1), r"one column a token; got something of shape \(2,\)"),
    ],
)
def test_tasks_that_are_none(parts, message):
    with pytest.raises(InputError, match=message):
        # past the type checker of the tests, as a user would be
        Task.__post_init__(unchecked(*parts))


def test_lists_are_taken_for_matrices():
    task = unchecked([[1, 0], [0, 1]], [[1, 2]], 1, 0.1)
    Task.__post_init__(task)
    assert task.target.shape == (1, 2)
    same = Task(np.eye(2), np.array([[1.0, 2.0]]), 1, 0.1)
    np.testing.assert_array_equal(task.target, same.target)


def unchecked(tokens, representations, N, tau) -> Task:
    task = object.__new__(Task)
    given = {"tokens": tokens, "representations": representations, "N": N, "tau": tau}
    for name, value in given.items():
        object.__setattr__(task, name, value)
    return task


@pytest.mark.parametrize("sizes", [(0, 2, 1, 1), (1, 0, 1, 1), (1, 2, 0, 1), (1, 2, 1, -3)])
def test_sizes_that_are_none(sizes):
    with pytest.raises(InputError, match="must be a positive whole number"):
        draw_task(*sizes, 0.1, seed=0)


def codes(task: Task) -> set[str]:
    return {problem.code for problem in task.problems}


def test_problems_of_a_task():
    tokens = draw_task(3, 5, 3, 3, 0.1, seed=1).tokens
    Z = oracle.draw(3, 5, 3, 3, 0.1, 1).representations
    assert codes(Task(tokens, Z, 3, 0.1)) == set()
    assert codes(Task(1.001 * tokens, Z, 3, 0.1)) == {"not_unit"}
    assert codes(Task(tokens, Z, 3, 0.0)) == {"no_noise"}
    assert codes(Task(tokens, Z[:2], 3, 0.0)) == {"no_noise", "singular"}
    assert codes(Task(tokens, Z[:, [0, 0, 1, 2, 3]], 3, 0.0)) == {"no_noise", "singular"}
    assert codes(Task(tokens[:, [0, 1, 0, 2, 3]], Z, 3, 0.1)) == {
        "repeated_token",
        "no_distinct_row",
    }
    assert codes(Task(tokens[:, [0, 1, 2, 2, 2]], Z, 3, 0.1)) == set()
    assert codes(Task(np.eye(3), Z[:, :3], 3, 0.1)) == {"no_distinct_row"}
    message = Task(tokens[:, [0, 1, 0, 2, 3]], Z, 3, 0.1, "mine").problems[0]
    assert (message.where, message.message) == ("mine", "prompt tokens 0 and 2 are the same")


def test_problems_of_a_plan():
    task = draw_task(3, 6, 4, 2, 0.1, seed=2)
    assert Plan(task, 5).problems == ()
    assert [p.code for p in Plan(task, 2).problems] == ["few_heads", "no_full_rank"]
    repeated = Task(task.tokens[:, [0, 1, 1, 3, 4, 5]], task.representations, 3, 0.1)
    assert [p.code for p in Plan(repeated, 8).problems][-1] == "no_full_rank"
    saturated = draw_task(3, 6, 100, 2, 0.1, seed=2, unit=False)
    assert [p.code for p in Plan(saturated, 3).problems] == ["not_unit", "zeta_unresolved"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 0}, "a transformer needs at least one head; got H = 0"),
        ({"scale": 0.0}, "beta must be a positive number; got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be a positive number"),
        ({"bound": float("inf")}, "B must be a positive number"),
        ({"delta": 1.0}, "delta is a probability; got 1.0"),
    ],
)
def test_plans_that_are_none(changes, message):
    task = draw_task(2, 3, 2, 2, 0.1, seed=0)
    with pytest.raises(InputError, match=message):
        Plan(task, **{"heads": 3, **changes})
