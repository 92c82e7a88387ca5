"""Two numbers for the whole of training: stored paths, many digits, and the full matrices."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import sparse_selection as oracle
from oracles.sparse_selection import FACTS, Patterns

from lemmata.papers.selection.setting import (
    Average,
    Family,
    FamilyAttention,
    Moments,
    OneHotAttention,
    Scalars,
    TabulatedAttention,
    Task,
    TwoScalars,
    Weights,
    all_near_orthogonal,
    first_times,
    one_hot,
    population,
    trajectory,
)
from lemmata.training import run

SMALL_FAMILIES = {(4, 4, 2): Fraction(1, 2), (3, 3, 1): Fraction(1, 3)}
"""d_e, T, q and the threshold: all sign matrices, so that every symmetry is there."""


def stack(*problems: TwoScalars) -> TwoScalars:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *problems)


def one_hot_problem(T: int, q: int, d: int, rate: float) -> TwoScalars:
    attention = OneHotAttention(jnp.asarray(float(T)), jnp.asarray(float(q)))
    return with_attention(attention, d, q, T - 1, rate)


def with_attention(attention, d: int, q: int, inertia: int, rate: float, start=None) -> TwoScalars:
    numbers = (jnp.asarray(float(x)) for x in (d, q, inertia, rate))
    return TwoScalars(attention, *numbers, start)


@cache
def every_encoding(d_e: int, T: int, q: int) -> tuple[Family, FamilyAttention]:
    """All at once where they are many: the type checker looks at every single call."""
    E = all_near_orthogonal(d_e, T, float(SMALL_FAMILIES[d_e, T, q]))
    y = Task(T, q, 1).all_subsets()
    if len(E) < 1_000:
        return Family.of(E, y), FamilyAttention.of(E, y)
    e_y = np.linalg.pinv(np.moveaxis(E[:, :, y], 1, 3)).sum(axis=3)
    inner = np.einsum("mdt,msd->mst", E, e_y).reshape(-1, T)
    family = Family(jnp.asarray(E), jnp.asarray(e_y), jnp.asarray(Task(T, q, 1).indicators(y)))
    return family, FamilyAttention.from_inner(inner, np.tile(y, (len(E), 1)))


def family_attention(d_e: int, T: int, q: int, average: Average) -> FamilyAttention:
    _, found = every_encoding(d_e, T, q)
    return FamilyAttention(found.gaps, found.q, average)


def test_golden_paths():
    facts = FACTS["onehot_trajectories"]
    problems = [one_hot_problem(row["T"], row["q"], row["d"], row["eta"]) for row in facts]
    steps = sorted({point["t"] for row in facts for point in row["points"]})
    found = run(stack(*problems), np.array(steps))
    for i, row in enumerate(facts):
        for point in row["points"]:
            at = {name: rows[i, found.at(point["t"])] for name, rows in found.series.items()}
            for name in ("alpha", "C", "loss"):
                assert at[name] == pytest.approx(point[name], rel=1e-10, abs=1e-16)
            assert at["missed"] == pytest.approx(1 - row["q"] * point["s_plus"], rel=1e-9)


def test_measurements_look_one_step_ahead():
    found = run(stack(one_hot_problem(7, 2, 3, 0.4)), np.arange(30)).series
    for name in ("alpha", "C", "missed"):
        np.testing.assert_allclose(found[f"next_{name}"][0, :-1], found[name][0, 1:], rtol=1e-13)


def test_golden_times():
    facts = FACTS["onehot_time_to_eps"]
    problems = [one_hot_problem(row["T"], row["q"], row["d"], row["eta"]) for row in facts]
    sizes = [(row["T"], row["q"], row["d"], row["eps"]) for row in facts]
    kappa = np.array([math.sqrt(q * (T - q) * eps / (d * T)) for T, q, d, eps in sizes])
    found = first_times(
        stack(*problems),
        loss=np.array([row["eps"] for row in facts]),
        alpha=1 - 0.1 * kappa,
        missed=np.full(5, 0.5),
        most=1_000_000,
    )
    assert found.loss.tolist() == [row["t_first_loss_le_eps"] for row in facts]
    assert found.alpha.tolist() == [row["t1_phaseI_end"] for row in facts]


def test_first_times_by_a_plain_loop():
    T, q, d, rate = 9, 2, 3, 0.3
    wanted = [(0.3, 0.9, 0.5), (10.0, 0.0, 1.0), (0.05, 1.2, 0.1), (1e-9, 5.0, 1e-9)]
    expected = [[-1, -1, -1] for _ in wanted]
    alpha = C = 0.0
    for t in range(401):
        s = 1 / (q + (T - q) * math.exp(-C))
        u = 1 - q * s
        loss = d / 2 * ((1 - q * alpha * s) ** 2 / q + alpha**2 * u**2 / (T - q))
        for times, (for_loss, for_alpha, for_missed) in zip(expected, wanted, strict=True):
            met = (loss <= for_loss, alpha >= for_alpha, u <= for_missed)
            times[:] = [
                t if now and when < 0 else when for now, when in zip(met, times, strict=True)
            ]
        D = T * q * s**2 - 2 * q * s + 1
        step = alpha * d / (T - 1) * s * u * (1 + q * alpha * (1 - T * s) / (T - q))
        alpha, C = alpha + rate * (s - alpha * D / (T - q)), C + rate * step
    problems = stack(*[one_hot_problem(T, q, d, rate)] * len(wanted))
    loss, above, missed = np.array(wanted).T
    found = first_times(problems, loss=loss, alpha=above, missed=missed, most=400)
    np.testing.assert_array_equal(np.array(found).T, expected)
    assert expected[1] == [0, 0, 0]
    assert expected[3] == [-1, -1, -1]
    assert min(expected[0]) > 1


def test_golden_law_for_late_times():
    facts = FACTS["asymptotics_onehot"]["check"]
    T, q, d, rate, t = (facts[name] for name in ("T", "q", "d", "eta", "t"))
    problem = one_hot_problem(T, q, d, rate)
    path = trajectory(stack(problem), t, t)
    last = Scalars(path.alpha[0, -1], path.C[0, -1])
    assert float(last.C) == pytest.approx(facts["C"], abs=5e-4)
    assert float(problem.loss(last)) == pytest.approx(facts["loss"], rel=5e-3)
    assert float(problem.loss(last)) == pytest.approx((T - 1) / (4 * rate * t), rel=0.03)
    u = math.sqrt((T - 1) * (T - q) / (2 * rate * d * t))
    assert float(last.alpha) - 1 == pytest.approx(u, rel=0.05)


def assert_same_paths(problems: TwoScalars, expected: list[list[oracle.Point]]) -> None:
    path = trajectory(problems, len(expected[0]) - 1)
    losses = eqx.filter_vmap(lambda one, at: jax.lax.map(one.loss, at))(problems, path)
    for name, found in (("alpha", path.alpha), ("C", path.C), ("loss", losses)):
        exact = [[float(getattr(point, name)) for point in points] for points in expected]
        np.testing.assert_allclose(found, exact, rtol=1e-11, err_msg=name)


def test_one_hot_paths_in_fifty_digits():
    sizes = [(9, 2, 3, 1.0), (50, 5, 4, 3.0), (3, 2, 1, 0.7)]
    with mp.workdps(50):
        expected = [oracle.one_hot_path(*problem, 500) for problem in sizes]
    assert_same_paths(stack(*[one_hot_problem(*problem) for problem in sizes]), expected)
    assert min(points[-1].C for points in expected) > 1


@pytest.mark.parametrize("average", ["inside", "outside"])
@pytest.mark.parametrize("sizes", SMALL_FAMILIES)
def test_family_path_in_fifty_digits(average, sizes):
    d_e, T, q = sizes
    problem = with_attention(family_attention(d_e, T, q, average), 3, q, d_e, 0.7)
    with mp.workdps(50):
        found = oracle.patterns(d_e, T, q, SMALL_FAMILIES[sizes])
        steps = 40 if d_e == 4 else 300
        expected = oracle.family_path(found, T, q, 3, d_e, 0.7, steps, inside=average == "inside")
    assert_same_paths(stack(problem), [expected])
    assert expected[-1].C > 0.6


def test_paths_are_thinned_and_end_with_the_last_step():
    whole, thin = (trajectory(stack(one_hot_problem(9, 2, 3, 1.0)), 12, every) for every in (1, 4))
    np.testing.assert_array_equal(thin.C, whole.C[:, ::4])
    np.testing.assert_array_equal(thin.alpha, whole.alpha[:, ::4])


def descend(family: Family, d: int, rate: float, steps: int, average: Average) -> list[Weights]:
    """Gradient descent on the full matrices, from zero and with a query token."""
    width = d + family.E.shape[1]
    path = [Weights(jnp.zeros((d, width)), jnp.zeros((width, width)))]
    x_query = jnp.linspace(0.7, -1.1, d)
    for _ in range(steps):
        slope = population(family, path[-1], x_query, average).gradient
        path.append(jax.tree.map(lambda w, g: w - rate * g, path[-1], slope))
    return path


def assert_two_numbers(path: list[Weights], found: Scalars, direction: np.ndarray) -> None:
    """V = alpha [I 0] and W = C times the direction, all along."""
    d, width = path[0].V.shape
    expected = np.zeros((width, width))
    expected[d:, d:] = direction
    for t, (V, W) in enumerate(path):
        np.testing.assert_allclose(V, found.alpha[0, t] * np.eye(d, width), atol=1e-12)
        np.testing.assert_allclose(W, found.C[0, t] * expected, atol=1e-12)


@pytest.mark.parametrize(("T", "q", "d", "rate"), [(6, 2, 3, 1.5), (5, 3, 2, 1.0)])
def test_full_matrices_stay_on_the_one_hot_directions(T, q, d, rate):
    family = Family.of(one_hot(T)[None], Task(T, q, d).all_subsets())
    found = trajectory(stack(one_hot_problem(T, q, d, rate)), 60)
    path = descend(family, d, rate, 60, "outside")
    assert_two_numbers(path, found, np.eye(T) - np.full((T, T), 1 / T))
    assert found.C[0, -1] > 0.8


@pytest.mark.parametrize("average", ["inside", "outside"])
@pytest.mark.parametrize(("sizes", "steps", "rate"), [((4, 4, 2), 5, 5.0), ((3, 3, 1), 40, 1.0)])
def test_full_matrices_stay_on_the_directions_of_random_encodings(average, sizes, steps, rate):
    d_e, T, q = sizes
    family, _ = every_encoding(*sizes)
    problem = with_attention(family_attention(d_e, T, q, average), 2, q, d_e, rate)
    path = descend(family, 2, rate, steps, average)
    assert_two_numbers(path, trajectory(stack(problem), steps), np.eye(d_e))
    assert path[-1].W[-1, -1] > 0.5


def moments_in_digits(found: Patterns, q: int, C: float, *, inside: bool) -> list[mpf]:
    """The moments of u and of the squares, and their derivatives by differences in 700 digits."""
    total = sum(found.values())

    def mean(function: Callable[[oracle.Attention], mpf], at: mpf) -> mpf:
        parts = (count * function(oracle.attend(g, q, at)) for g, count in found.items())
        return mp.fsum(parts) / total

    def missed(at: mpf) -> mpf:
        return mean(lambda S: mp.fsum(S.others), at)

    def variance(at: mpf) -> mpf:
        middle = missed(at)
        return mpf(0) if inside else mean(lambda S: (mp.fsum(S.others) - middle) ** 2, at)

    def squares(at: mpf) -> mpf:
        if inside:
            return missed(at) ** 2 / len(next(iter(found)))
        return mean(lambda S: mp.fsum(w**2 for w in S.others), at)

    step = mpf(10) ** -40
    functions = (missed, variance, squares)
    slopes = [(f(mpf(C) + step) - f(mpf(C) - step)) / (2 * step) for f in functions]
    return [f(mpf(C)) for f in functions] + slopes


def assert_same_moments(found: Moments, expected: list[mpf], atol: float) -> None:
    every = [*expected, 1 - expected[0]]
    for name, value, exact in zip(Moments._fields, found, every, strict=True):
        assert float(value) == pytest.approx(float(exact), rel=1e-12, abs=atol), name


@pytest.mark.parametrize("C", [0.0, 0.7, 6.0, 50.0, 500.0])
def test_saturated_attention_in_many_digits(C):
    # beside 1, e^-500 is nothing; alone it is a number like any other
    atol = 0 if C else 1e-30
    with mp.workdps(700):
        for T, q in ((200, 3), (5, 4)):
            single = Patterns({(Fraction(0),) * (T - q): 1})
            attention = OneHotAttention(jnp.asarray(float(T)), jnp.asarray(float(q)))
            expected = moments_in_digits(single, q, C, inside=True)
            assert_same_moments(attention.moments(jnp.asarray(C)), expected, atol)
        family = oracle.patterns(3, 3, 1, Fraction(1, 3))
        for average in ("inside", "outside"):
            attention = family_attention(3, 3, 1, average)
            expected = moments_in_digits(family, 1, C, inside=average == "inside")
            assert_same_moments(attention.moments(jnp.asarray(C)), expected, atol)


@eqx.filter_jit
def tabulate(attention: FamilyAttention | TabulatedAttention, C: jax.Array) -> Moments:
    return jax.vmap(attention.moments)(C)


def test_a_table_stands_for_the_attention_it_was_made_of():
    exact = family_attention(3, 3, 1, "outside")
    table = TabulatedAttention.of(exact, 8.0, 401)
    C = jnp.asarray([0.0, 0.013, 0.4321, 1.0, 3.3333, 7.99, 8.0, 0.02 * 37, 99.0])
    found, expected = (tabulate(one, C) for one in (table, exact))
    np.testing.assert_allclose(
        np.array(found[:3])[:, :7], np.array(expected[:3])[:, :7], atol=1e-10
    )
    np.testing.assert_allclose(np.array(found[3:])[:, :7], np.array(expected[3:])[:, :7], atol=1e-6)
    on_grid = np.array(found)[:, 7], np.array(expected)[:, 7]
    np.testing.assert_allclose(*on_grid, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(np.array(found)[:, 8], np.array(expected)[:, 6], rtol=1e-10)
    paths = [
        trajectory(stack(with_attention(attention, 3, 1, 3, 0.7)), 300)
        for attention in (table, exact)
    ]
    assert 1 < paths[1].C[0, -1] < 8
    np.testing.assert_allclose(paths[0].alpha, paths[1].alpha, rtol=1e-7)
    np.testing.assert_allclose(paths[0].C, paths[1].C, rtol=1e-6, atol=1e-9)


def test_paths_start_where_they_are_told():
    start = Scalars(jnp.asarray(0.5), jnp.asarray(2.0))
    attention = OneHotAttention(jnp.asarray(9.0), jnp.asarray(2.0))
    problem = with_attention(attention, 3, 2, 8, 0.25, start)
    path = trajectory(stack(problem), 6, 3)
    assert path.alpha.shape == (1, 3)
    assert (path.alpha[0, 0], path.C[0, 0]) == (0.5, 2.0)
    s = 1 / (2 + 7 * math.exp(-2))
    first = problem.increments(start)
    assert float(first.alpha) == pytest.approx(s - 0.5 * (18 * s**2 - 4 * s + 1) / 7, rel=1e-13)
    expected = 0.5 * 3 / 8 * s * (1 - 2 * s) * (1 + (1 - 9 * s) / 7)
    assert float(first.C) == pytest.approx(expected, rel=1e-13)
    after = problem.step(start)
    assert float(after.C) == pytest.approx(2 + 0.25 * expected, rel=1e-15)
