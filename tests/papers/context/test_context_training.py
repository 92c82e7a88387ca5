"""Training: stored runs, loops in NumPy, batches, what is measured on the way, and bits."""

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import in_context as oracle
from oracles.in_context import FACTS, GOLDEN

from lemmata.papers.context.setting import (
    AdamTraining,
    Task,
    Training,
    Weights,
    correlated_law,
    descend,
    draw_task,
    draw_weights,
    from_heads,
    system_of,
    train_together,
)
from lemmata.training import Recording, Store, fold, run, stream, words

STEPS = np.array([0, 1, 2, 10, 100, 1_000])
RATE = 1e-3
"""What the instances of our own are watched against, a rate that is not guaranteed."""


class Descended(NamedTuple):
    """An instance with its first weights and rates, and the stored gaps if there are any."""

    instance: oracle.Instance
    Q: np.ndarray
    w: np.ndarray
    rates: tuple[float, float]
    gaps: dict[str, float]


def cases() -> list[Descended]:
    """The stored instances at both of their rates, others of different shapes, and a large one."""
    found = []
    for name, facts in GOLDEN.items():
        instance, Q, w = oracle.stored(name)
        usual, theory = facts["gd"], facts["constants"]
        found += [
            Descended(instance, Q, 0 * w, (usual["etaQ"], usual["etaw"]), usual["gaps"]),
            Descended(
                instance,
                Q,
                0 * w,
                (theory["etaQ_L61"], theory["etaw_L61"]),
                facts["gd_theory_rates_L61"],
            ),
        ]
    for sizes, H, tau, unit, start, rates in (
        ((1, 4, 2, 3), 3, 0.25, True, 0.0, (0.02, 0.03)),
        ((3, 6, 4, 2), 5, 0.25, True, 0.0, (0.3, 0.4)),
        ((4, 7, 3, 3), 2, 0.25, False, 1.0, (0.3, 0.4)),
        ((2, 4, 3, 2), 4, 1e8, True, 0.0, (1e-12, 2e-10)),
    ):
        instance = oracle.draw(*sizes, tau, 20 + H, unit=unit)
        Q, w = oracle.draw_heads(instance, H, H)
        found.append(Descended(instance, Q, start * w, rates, {}))
    return found


CASES = cases()


def run_cases(steps: np.ndarray, **options: Any) -> Recording:
    return descend(
        [Task(*case.instance) for case in CASES],
        [from_heads(case.Q, case.w) for case in CASES],
        np.array([case.rates for case in CASES]),
        np.full(len(CASES), RATE),
        steps,
        **options,
    )


@pytest.fixture(scope="module")
def descended() -> Recording:
    return run_cases(STEPS)


@pytest.mark.parametrize("row", range(6))
def test_golden_descent(descended, row):
    gaps = CASES[row].gaps
    for step in STEPS:
        found = descended.series["gap"][row, descended.at(int(step))]
        rel = 1e-7 if step == 1_000 else 1e-9
        assert found == pytest.approx(gaps[str(step)], rel=rel), step


def largest_head(matrices: np.ndarray) -> float:
    return max(np.linalg.norm(one) for one in matrices)


def measured(case: Descended, points: list[oracle.Point]) -> dict[str, float]:
    """What is recorded at the last of these points, from its definition."""
    instance, last = case.instance, points[-1]
    root = np.linalg.cholesky(instance.gram).T
    B, B_first = (
        np.einsum("ij,jhk->kih", root, oracle.scores(instance, Q)) for Q in (last.Q, case.Q)
    )
    ratio = case.rates[1] / case.rates[0]
    squares = [(p.slopes[0] ** 2).sum() + ratio * (p.slopes[1] ** 2).sum() for p in points]
    gaps = [p.gap for p in points]
    labels = oracle.prompts(instance)
    A = oracle.target(instance)
    first = oracle.loss(labels, 0 * A) - oracle.loss(labels, A)
    steps = range(1, len(points))
    return {
        "gap": last.gap,
        "moved_Q": largest_head(last.Q - case.Q),
        "moved_scores": max(np.linalg.norm(one) for one in B - B_first),
        "least_eigenvalue": min(np.linalg.eigvalsh(one @ one.T)[0] for one in B),
        "largest_w": largest_head(last.w),
        "slope_Q": largest_head(last.slopes[0]),
        "slope_w": largest_head(last.slopes[1]),
        "largest_entry": np.abs(last.w).max(),
        "excess": max(math.log(gaps[t] / first) - t * math.log(1 - RATE) for t in steps),
        "descent": max(
            (gaps[t] - gaps[t - 1] + case.rates[0] / 2 * squares[t - 1]) / gaps[t - 1]
            for t in steps
        ),
        "steepness": min(s / gap for s, gap in zip(squares, gaps, strict=True)),
    }


def test_a_gap_is_judged_against_the_first_one() -> None:
    """Labels 2^-240 times as large have a loss 2^-480 times as large, and descend the same."""
    usual, s = oracle.draw(2, 4, 3, 2, 0.25, 7), 2.0**-240
    small = usual._replace(representations=s * usual.representations, tau=s**2 * usual.tau)
    Q, w = oracle.draw_heads(usual, 3, 7)
    found = descend(
        [Task(*usual), Task(*small)],
        [from_heads(Q, 0 * w)] * 2,
        np.array([[0.3, 0.4], [0.3 / s**2, 0.4 / s**2]]),
        np.full(2, RATE),
        np.array([0, 10]),
    )
    for name in ("excess", "descent"):
        first, second = found.series[name][:2, 1]
        assert np.isfinite(first)
        assert second == pytest.approx(first, rel=1e-9), name


@pytest.mark.parametrize("row", [6, 7, 8, 9])
def test_descent_by_a_loop(descended, row):
    case = CASES[row]
    points = list(islice(oracle.descent(case.instance, case.Q, case.w, case.rates), 101))
    for step in (10, 100):
        expected = measured(case, points[: step + 1])
        found = {name: rows[row, descended.at(step)] for name, rows in descended.series.items()}
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-11), step
        assert found["gap"] == pytest.approx(points[step].gap, rel=1e-9), step


def test_a_gap_keeps_its_digits_however_small():
    """With one example attention is 1, and a step of K / (2 (z^2 + m tau)) halves what is left."""
    task = Task(np.array([[1.0, -1.0]]), np.array([[1.0, 2.0]]), 1, 0.5)
    start = from_heads(np.ones((1, 1, 1)), np.zeros((1, 2)))
    steps = np.array([0, 10, 300])
    found = descend([task], [start], np.array([[1e-3, 2 / 3]]), np.zeros(1), steps)
    expected = task.initial_gap * 0.25 ** steps.astype(float)
    np.testing.assert_allclose(found.series["gap"][0], expected, rtol=1e-12)
    assert found.series["moved_scores"].tolist() == [[0.0] * 3]


def test_golden_adam_at_the_size_of_the_paper():
    task = draw_task(30, 200, 100, 20, 0.01, seed=0)
    facts = FACTS["paper_scale"]["adam_gap"]
    found = Training(task, 64, steps=100, record=(0, 1, 10, 30), seed=1_000).run()
    assert found.steps.tolist() == [0, 1, 10, 30, 100]
    assert found["gap"][0] == pytest.approx(FACTS["paper_scale"]["gap0"], rel=1e-5)
    for step, gap in zip((1, 10, 30, 100), found["gap"][1:], strict=True):
        assert gap == pytest.approx(facts[str(step)], rel=2e-3), step
    assert found["increases"].tolist() == [0] * 5


INSTANCE = oracle.draw(3, 6, 4, 2, 0.2, 30)
HEADS = oracle.draw_heads(INSTANCE, 4, 30)


def single(rate: float, sample: np.ndarray | None = None) -> AdamTraining:
    """Adam on one instance in float64, without a batch axis."""
    task = Task(*INSTANCE)
    return AdamTraining(
        system=system_of(task, 4),
        start=from_heads(*HEADS),
        rate=jnp.asarray(rate),
        elsewhere=jnp.asarray(task.gram),
        sample=None if sample is None else jnp.asarray(sample),
        source=stream(5),
        batch=7,
        frozen=False,
    )


@pytest.mark.parametrize("rate", [0.003, 0.3])
def test_adam_by_a_loop(rate):
    """The larger rate makes the gap rise now and then, seen when the next step looks at it."""
    dynamics = jax.tree.map(lambda leaf: leaf[None], single(rate))
    found = run(dynamics, np.array([60]), group=1, chunk=1)
    points = list(islice(oracle.adam(INSTANCE, *HEADS, rate), 61))
    series = {name: float(rows[0, 0]) for name, rows in found.series.items()}
    weights, last = found.final.weights, points[-1]
    assert series["gap"] == pytest.approx(last.gap, rel=1e-8)
    np.testing.assert_allclose(weights.Q[0].transpose(1, 0, 2), last.Q, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weights.w[0], last.w, rtol=1e-7, atol=1e-9)
    moved = np.linalg.norm(last.Q - HEADS[0]) / np.linalg.norm(HEADS[0])
    assert series["moved_Q"] == pytest.approx(moved, rel=1e-7)
    rises = sum(points[t + 1].gap > points[t].gap for t in range(59))
    assert (rises > 3) == (rate > 0.1)
    assert series["increases"] == rises


@eqx.filter_jit
def three_steps(dynamics: AdamTraining) -> tuple[Weights, Weights]:
    """The weights before each step, and the running mean of the gradient after it."""

    def step(state: Any, _: None) -> tuple[Any, tuple[Weights, Weights]]:
        after = dynamics.step(state)
        return after, (state.weights, after.optimizer.mu)

    return jax.lax.scan(step, dynamics.init(), length=3)[1]


@jax.jit
def batch_gradient(labels: jax.Array, Q: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Of the literal loss over a batch, by automatic differentiation."""
    tokens = jnp.asarray(INSTANCE.tokens)
    return jax.grad(oracle.literal_loss, argnums=(3, 4))(tokens, labels, 3, Q, w)


def test_the_slope_of_a_batch():
    """Read off Adam's running means, where the first step leaves a tenth of the gradient."""
    rng = np.random.default_rng(31)
    sample = oracle.sampled_prompts(INSTANCE, rng.normal(size=(50, 2)), rng)
    weights, means = three_steps(single(0.01, sample))
    before, batches = (0.0, 0.0), []
    for t in range(3):
        chosen = np.asarray(words(fold(stream(5), jnp.uint32(t)), 7)) % 50
        here, mean = ((leaf.Q[t].transpose(1, 0, 2), leaf.w[t]) for leaf in (weights, means))
        expected = batch_gradient(jnp.asarray(sample[chosen]), *here)
        for now, old, slope in zip(mean, before, expected, strict=True):
            np.testing.assert_allclose((now - 0.9 * old) / 0.1, slope, rtol=1e-9, atol=1e-12)
        before = mean
        batches.append(tuple(chosen))
    assert len(set(batches)) == 3


SMALL = Training(Task(*INSTANCE), 4, rate=0.01, steps=60, record=(0, 20, 40), batch=16, seed=3)


def test_what_a_run_measures():
    law = correlated_law(2, 0.5)
    found = replace(SMALL, law=law).run()
    Q, w = np.asarray(found.weights.Q).transpose(1, 0, 2), np.asarray(found.weights.w)
    combined = oracle.combined(INSTANCE, Q, w)
    labels = oracle.prompts(INSTANCE)
    gap = oracle.loss(labels, combined) - oracle.loss(labels, oracle.target(INSTANCE))
    assert found["gap"][-1] == pytest.approx(gap, rel=1e-4)
    elsewhere = oracle.prompts(INSTANCE, law.mean, law.mixing)[:, :3]
    error = ((elsewhere @ (combined - oracle.target(INSTANCE))) ** 2).mean()
    assert found["out_of_domain"][-1] == pytest.approx(error, rel=1e-4)
    shifted = oracle.prompts(INSTANCE, np.ones(2), 2 * np.eye(2))[:, :3]
    usual = ((shifted @ oracle.target(INSTANCE)) ** 2).mean()
    assert SMALL.run()["out_of_domain"][0] == pytest.approx(usual, rel=1e-5)
    assert found["gap"][-1] < 0.9 * found["gap"][0]


def test_a_sample_has_the_law_of_the_prompts():
    how = replace(SMALL, sample=20_000)
    drawn = np.asarray(how.dynamics().sample)[0].astype(float)
    labels = oracle.prompts(INSTANCE)
    products = drawn[:, :, None] * drawn[:, None, :]
    bars = products.std(axis=0) / math.sqrt(len(drawn))
    expected = labels.T @ labels / len(labels)
    assert (np.abs(products.mean(axis=0) - expected) < 4.5 * bars).all()
    again = np.asarray(replace(how, seed=4).dynamics().sample)[0]
    assert not np.array_equal(again[0], drawn[0])


def bits(recording: Recording) -> list[bytes]:
    leaves = [*recording.series.values(), *jax.tree.leaves(recording.final)]
    return [np.asarray(leaf).tobytes() for leaf in leaves]


def stopping_after(calls: int) -> Callable[[int], None]:
    seen: list[int] = []

    def progress(done: int) -> None:
        seen.append(done)
        if len(seen) >= calls:
            raise KeyboardInterrupt

    return progress


def test_runs_side_by_side_by_a_loop():
    """With different heads, which are padded, and different seeds and rates."""
    several = [SMALL, replace(SMALL, heads=2, seed=8, rate=0.02)]
    for how, found in zip(several, train_together(several), strict=True):
        start = draw_weights(how.task, how.heads, seed=how.seed)
        Q, w = np.asarray(start.Q).transpose(1, 0, 2), np.asarray(start.w)
        points = list(islice(oracle.adam(INSTANCE, Q, w, how.rate), 61))
        expected = [points[step].gap for step in found.steps]
        np.testing.assert_allclose(found["gap"], expected, rtol=1e-3)
        assert found.weights.Q.shape == start.Q.shape
        np.testing.assert_allclose(found.weights.w, points[-1].w, rtol=1e-3, atol=1e-4)


SAMPLED = replace(SMALL, sample=100, frozen=True)


@pytest.mark.parametrize("how", [SMALL, SAMPLED], ids=["population", "sample, Q held fixed"])
def test_a_stopped_run_resumes_to_the_same_bits(tmp_path, how):
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        how.run(store=Store(tmp_path), progress=stopping_after(2))
    resumed = how.run(store=Store(tmp_path), progress=done.append)
    assert done == [20, 20, 20]
    assert bits(resumed.recording) == bits(how.run().recording)
    assert bits(resumed.recording) != bits(replace(how, seed=4).run().recording)


def test_a_run_on_a_sample_with_attention_held_fixed():
    found, sample = SAMPLED.run(), np.asarray(SAMPLED.dynamics().sample)[0].astype(float)
    start = draw_weights(SAMPLED.task, 4, seed=3)
    np.testing.assert_array_equal(found.weights.Q, np.asarray(start.Q).astype(np.float32))
    assert found["moved_Q"].tolist() == [0] * 4
    Q, w = np.asarray(found.weights.Q).transpose(1, 0, 2), np.asarray(found.weights.w)
    expected = oracle.loss(sample, oracle.combined(INSTANCE, Q, w))
    assert found["sample_loss"][-1] == pytest.approx(expected, rel=1e-4)
    assert found["sample_loss"][0] == pytest.approx((sample**2).mean() / 2, rel=1e-5)
    assert (np.diff(found["sample_loss"]) < 0).all()


def test_a_stopped_descent_resumes_to_the_same_bits(tmp_path, descended):
    steps = np.arange(0, 150)
    with pytest.raises(KeyboardInterrupt):
        run_cases(steps, store=Store(tmp_path), progress=stopping_after(1))
    done: list[int] = []
    resumed = run_cases(steps, store=Store(tmp_path), progress=done.append)
    assert len(done) == 3
    assert sum(done) == 149 * len(CASES)
    assert bits(resumed) == bits(run_cases(steps))


def test_two_groups_of_instances_do_not_wait_for_each_other():
    """More instances than fit a group run in two threads; batched SVDs there never came back."""
    code = (
        "import jax\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "import numpy as np\n"
        "from lemmata.papers.context.setting import Plan, descend, draw_task\n"
        "plans = [Plan(draw_task(4, 10, 6, 3, 0.1, seed=i), 8, seed=i + 50) for i in range(26)]\n"
        "rates = np.array([[p.rates.Q, p.rates.w] for p in plans])\n"
        "found = descend([p.task for p in plans], [p.start for p in plans], rates,\n"
        "                np.zeros(26), np.array([0, 50, 400]))\n"
        "assert (found.series['gap'][:, -1] < found.series['gap'][:, 0]).all()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
