"""Descent on plans again in ball arithmetic, against training and against mpmath."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat, ctx

import lemmata as lm
from lemmata.papers.context.setting import (
    SETTING,
    Plan,
    Task,
    Weights,
    evaluate,
    fixed,
    from_heads,
    system_of,
)
from lemmata.papers.context.setting._path import Path
from lemmata.papers.context.setting._replay import Descent

SPACE = SETTING.space
STEPS = np.array([0, 1, 2, 9, 60])
COLUMNS = ["gap", "loss", "guarantee", "in_domain", "out_of_domain", "moved_Q", "rate"]


def plan(kind: str) -> Plan:
    draw = np.random.default_rng(3)
    N, K, d, m, H = {"one example": (1, 3, 2, 2, 2), "wide": (2, 4, 3, 1, 3)}.get(
        kind, (2, 3, 2, 2, 2)
    )
    tokens = draw.standard_normal((d, K))
    features = draw.standard_normal((m, K)) * (1e3 if kind == "large" else 1.0)
    if kind != "long tokens":
        tokens /= np.linalg.norm(tokens, axis=0)
    return Plan(Task(tokens, features, N, 0.25, kind), H)


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 320
    yield
    ctx.prec = old


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("small", {}),
        ("small", {"rate": 4.0}),
        ("one example", {}),
        ("wide", {"rate": 0.1}),
        ("large", {}),
        ("long tokens", {"rate": 0.1}),
    ],
)
def test_training_agrees_with_balls(kind: str, options: dict) -> None:
    instance = plan(kind)
    run = lm.train([instance], record=tuple(STEPS.tolist()), steps=60, **options)
    columns = SPACE.replay(instance, options, STEPS)
    assert columns is not None
    assert list(columns) == COLUMNS
    for name, balls in columns.items():
        values = np.broadcast_to(getattr(run, name)[0], len(balls))
        if name == "guarantee" and options:
            assert np.isnan(values).all()
            assert not any(ball.is_finite() for ball in balls)
            continue
        middle = np.array([float(ball.mid()) for ball in balls])
        np.testing.assert_allclose(values, middle, rtol=1e-9, atol=1e-90)
        assert all(float(ball.rad()) <= 1e-60 * max(1, abs(float(ball.mid()))) for ball in balls)


def by_mpmath(
    instance: Plan, rates: tuple[float, float], steps: int, *, adam: bool = False
) -> dict[str, mpmath.mpf]:
    """The last row by plain loops in 60 digits: predictions, and a gradient by differences.

    The loss is E(prediction - label)^2 with E lambda lambda' = M: signal and noise apart.
    """
    task, H = instance.task, instance.heads
    N, K, d, m = task.N, task.K, task.d, task.m
    V = [[mpmath.mpf(x) for x in column] for column in task.tokens.T.tolist()]
    Z = [[mpmath.mpf(x) for x in column] for column in task.representations.T.tolist()]
    Q0 = np.asarray(instance.start.Q).transpose(1, 0, 2).tolist()

    def combined(theta: list) -> list[list]:
        Q = [[[theta[(h * d + a) * d + b] for b in range(d)] for a in range(d)] for h in range(H)]
        w = theta[H * d * d :]
        rows = []
        for k in range(K):
            total = [mpmath.mpf(0)] * N
            for h in range(H):
                key = [mpmath.fdot(Q[h][a], V[k]) for a in range(d)]
                powers = [mpmath.exp(mpmath.fdot(V[n], key)) for n in range(N)]
                share = [p / mpmath.fsum(powers) for p in powers]
                total = [t + w[h * K + k] * s for t, s in zip(total, share, strict=True)]
            rows.append(total)
        return rows

    def loss(theta: list) -> mpmath.mpf:
        error = mpmath.mpf(0)
        for k, a in enumerate(combined(theta)):
            signal = [mpmath.fsum(a[n] * Z[n][i] for n in range(N)) - Z[k][i] for i in range(m)]
            noise = [a[n] - (n == k) for n in range(N)] + ([] if k < N else [1])
            error += mpmath.fdot(signal, signal) + m * task.tau * mpmath.fdot(noise, noise)
        return error / (2 * K)

    start = [mpmath.mpf(x) for x in np.ravel(Q0).tolist()] + [mpmath.mpf(0)] * (H * K)
    theta, tiny = list(start), mpmath.mpf(10) ** -25
    slopes: list[list] = []
    for t in range(1, steps + 1):
        slope = []
        for i in range(len(theta)):
            ahead, behind = list(theta), list(theta)
            ahead[i], behind[i] = theta[i] + tiny, theta[i] - tiny
            slope.append((loss(ahead) - loss(behind)) / (2 * tiny))
        slopes.append(slope)
        if adam:  # the averages of all gradients so far, as sums
            slope = [
                _weighted([g[i] for g in slopes], 0.9, t)
                / (mpmath.sqrt(_weighted([g[i] ** 2 for g in slopes], 0.999, t)) + 1e-8)
                for i in range(len(theta))
            ]
        rate = [rates[0]] * (H * d * d) + [rates[1]] * (H * K)
        theta = [x - r * g for x, r, g in zip(theta, rate, slope, strict=True)]
    Q = range(H * d * d)
    moved = mpmath.sqrt(mpmath.fsum((theta[i] - start[i]) ** 2 for i in Q))
    return {
        "loss": loss(theta),
        "moved_Q": moved / mpmath.sqrt(mpmath.fsum(start[i] ** 2 for i in Q)),
    }


def _weighted(values: list, decay: float, t: int) -> mpmath.mpf:
    """The mean of values, each of which weighs ``decay`` times as much as the one after it."""
    weights = [mpmath.mpf(decay) ** (t - 1 - i) for i in range(t)]
    return mpmath.fdot(weights, values) / mpmath.fsum(weights)


@pytest.mark.parametrize(("kind", "frozen"), [("small", False), ("wide", False), ("small", True)])
def test_balls_of_adam_contain_what_mpmath_finds(kind: str, frozen: bool) -> None:
    """And training in single precision is near them."""
    instance, steps = plan(kind), 4
    options = {"algorithm": "adam", "rate": 0.05, **({"frozen": True} if frozen else {})}
    columns = SPACE.replay(instance, options, np.array([steps]))
    assert columns is not None
    with mpmath.workdps(60):
        found = by_mpmath(instance, (0.0 if frozen else 0.05, 0.05), steps, adam=True)
        for name, value in found.items():
            middle = mpmath.mpf(columns[name][0].mid().str(50, radius=False))
            assert abs(middle - value) <= mpmath.mpf(10) ** -28
    run = lm.train([instance], steps=steps, record=(steps,), **options)
    for name in ("gap", "loss", "in_domain", "out_of_domain", "moved_Q"):
        assert getattr(run, name)[0, -1] == pytest.approx(float(columns[name][0].mid()), rel=1e-4)


def test_adam_is_followed_as_far_as_it_stays_below_the_limit() -> None:
    options = {"algorithm": "adam", "rate": 1e9}
    columns = SPACE.replay(plan("small"), options, np.array([0, 1, 5]))
    assert columns is not None
    assert [ball.is_finite() for ball in columns["gap"]] == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "options"), [("small", {}), ("one example", {}), ("long tokens", {"rate": 0.3})]
)
def test_balls_contain_what_mpmath_finds(kind: str, options: dict) -> None:
    """Loss and motion to 30 digits, by other formulas: no A, no L*, no derivative worked out."""
    instance, steps = plan(kind), 3
    run = lm.train([instance], steps=steps, record=(steps,), **options)
    with mpmath.workdps(60):
        found = by_mpmath(instance, (run.extras[0]["eta_Q"], run.extras[0]["eta_w"]), steps)
        columns = SPACE.replay(instance, options, np.array([steps]))
        assert columns is not None
        for name, value in found.items():
            middle = mpmath.mpf(columns[name][0].mid().str(50, radius=False))
            assert abs(middle - value) <= mpmath.mpf(10) ** -28 * (
                abs(value) + mpmath.mpf(10) ** -12
            )


def test_what_does_not_move_is_ridge_regression() -> None:
    """A and L* in 60 digits by normal equations; without noise by the pseudoinverse."""
    for tau in (0.25, 0.0):
        for features in (np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 2, 0.5], [0.0, 1, 3]])):
            task = Task(np.eye(3), features, 2, tau)
            found = fixed(task)
            Z, ridge = features[:, :2], len(features) * tau
            inverse = (
                np.linalg.pinv(Z)
                if tau == 0
                else Z.T @ np.linalg.inv(Z @ Z.T + ridge * np.eye(len(Z)))
            )
            A = np.hstack([np.eye(2), inverse @ features[:, 2:]])
            target = np.array([float(x.mid()) for x in found.target.entries()]).reshape(2, 3)
            np.testing.assert_allclose(target, A, rtol=1e-12, atol=1e-15)
            missed = features[:, 2:] - Z @ A[:, 2:]
            least = (np.sum(missed**2) + ridge * (np.sum(A[:, 2:] ** 2) + 1)) / 6
            assert float(found.minimum.mid()) == pytest.approx(least, rel=1e-12, abs=1e-15)


def test_a_run_that_diverges_stays_where_it_was() -> None:
    instance, steps = plan("small"), np.array([0, 2, 500])
    run = lm.train([instance], rate=300.0, steps=500, record=(0, 2, 500))
    columns = SPACE.replay(instance, {"rate": 300.0}, steps)
    assert columns is not None
    assert run.diverged[0] is not None
    assert columns["gap"][2].overlaps(columns["gap"][2])
    np.testing.assert_allclose([float(x.mid()) for x in columns["gap"]], run.gap[0], rtol=1e-9)


def test_balls_stay_narrow_along_a_long_run() -> None:
    """1,000 steps cost three digits of ninety, where plain ball arithmetic is left with none."""
    columns = SPACE.replay(plan("small"), {}, np.array([0, 1_000]))
    assert columns is not None
    for name in COLUMNS[:-1]:
        last = columns[name][-1]
        assert float(last.rad()) < 1e-50 * float(last.mid())


def test_more_than_anybody_waits_for_is_not_begun() -> None:
    assert SPACE.replay(plan("small"), {}, np.array([0, 10**8])) is None
    sampled = {"algorithm": "adam", "sample": 100}
    assert SPACE.replay(plan("small"), sampled, np.array([0, 1])) is None


def test_small_gaps_and_motions_keep_their_digits() -> None:
    """Training keeps twelve digits of a gap of 1e-100, and of a motion far below rounding."""
    easy = replace(plan("one example"), heads=3)
    run = lm.train([easy], steps=300, record=(300,))
    columns = SPACE.replay(easy, {}, np.array([300]))
    assert columns is not None
    assert run.gap[0, -1] < 1e-60 * run.task[0].initial_gap
    assert run.gap[0, -1] == pytest.approx(float(columns["gap"][0].mid()), rel=1e-11)
    small = plan("small")
    run = lm.train([small], steps=300, record=(300,))
    columns = SPACE.replay(small, {}, np.array([300]))
    assert columns is not None
    assert 0 < run.moved_Q[0, -1] < 1e-8
    assert run.moved_Q[0, -1] == pytest.approx(float(columns["moved_Q"][0].mid()), rel=1e-9)


@pytest.mark.parametrize("w", [0.0, 0.3])
def test_errors_grow_by_no_more_than_the_bound(w: float) -> None:
    """Against the Hessian by automatic differentiation, at long tokens, where Q and w mix most."""
    tokens = 10 * np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    task = Task(tokens, np.array([[1.0, -1.0, 0.5]]), 2, 0.25)
    weights = from_heads(0.01 * np.ones((1, 2, 2)), np.full((1, 3), w))
    system, rate = system_of(task, 1), 1e-3

    def gap(flat: jax.Array) -> jax.Array:
        return evaluate(system, Weights(flat[:4].reshape(2, 1, 2), flat[4:].reshape(1, 3))).gap

    flat = jnp.concatenate([jnp.ravel(weights.Q), jnp.ravel(weights.w)])
    step = np.eye(7) - rate * np.asarray(jax.hessian(gap)(flat))
    start = [arb_mat(np.asarray(weights.Q)[:, 0].tolist())]
    descent = Descent(fixed(task), start, arb(rate), arb(rate))
    at = descent.at(replace(descent.first, w=arb_mat(np.asarray(weights.w).tolist())))
    largest = float(np.linalg.norm(step, 2))
    assert largest > 1.005
    assert largest <= float(descent._growth(at))


def test_a_place_stands_for_all_weights_within_its_error() -> None:
    """An error r is up to r in Q, and up to r sqrt(eta_w / eta_Q) in w."""
    chosen, r = plan("wide"), 0.01
    start = [arb_mat(Q.tolist()) for Q in np.asarray(chosen.start.Q).transpose(1, 0, 2)]
    descent = Descent(fixed(chosen.task), start, arb(1), arb(4))
    meant = descent.at(replace(descent.first, error=arb(r)))
    draw, sizes = np.random.default_rng(0), (len(start), chosen.task.d, chosen.task.d)
    for _ in range(5):
        by_Q, by_w = draw.uniform(-r, r, sizes), draw.uniform(-2 * r, 2 * r, (3, chosen.task.K))
        moved = [arb_mat(change.tolist()) for change in by_Q]
        one = descent.at(replace(descent.first, moved=moved, w=arb_mat(by_w.tolist())))
        assert meant.gap.contains(one.gap)
        pairs = zip(meant.attention, one.attention, strict=True)
        assert all(wide.contains(exact) for wide, exact in pairs)


@pytest.mark.parametrize("times", [0.5, 3.0])
def test_beyond_the_first_gap_what_is_left_is_taken_directly(times: float) -> None:
    chosen = plan("wide")
    path = Path(system_of(chosen.task, chosen.heads), chosen.start, jnp.ones(2))
    carried, direct = jnp.zeros_like(path.system.target), times * path.system.target
    np.testing.assert_array_equal(path._best(carried, direct), direct if times > 1 else carried)
