"""Online training: stored runs, steps by hand, bits, blow-ups, and what is refused."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import sparse_selection as oracle
from oracles.deadline import within
from oracles.sparse_selection import FACTS

from lemmata._errors import InputError
from lemmata.papers.selection.setting import (
    OneHotAttention,
    Task,
    Training,
    TrainingRun,
    TwoScalars,
    near_orthogonal,
    run_all,
)
from lemmata.papers.selection.setting import (
    _online as online,
)
from lemmata.papers.selection.setting._encodings import draw_signs
from lemmata.training import (
    Recording,
    Store,
    _random,
    _run,
    fold,
    normals,
    run,
    stream,
    subsets,
)

REDUCED = Training(
    Task(40, 2, 3),
    40,
    threshold=0.6,
    samples=128,
    steps=3_000,
    record=(0, 1_000, 3_000),
    tests=((80, 2), (60, 3)),
    seed=1,
)
"""The stored problem; changing numbers only, a run needs no new compilation."""

TINY = Training(
    Task(12, 3, 2), 9, threshold=0.8, samples=10, initial=0.3, rate=0.3, steps=5, record=(0, 2, 5)
)
"""With an odd q and enough positions, no gradient is zero, which Adam would blow up."""


drawn_normals = jax.jit(normals, static_argnums=1)
drawn_subsets = jax.jit(subsets, static_argnums=(1, 2, 3))
drawn_signs = jax.jit(draw_signs, static_argnums=(1, 2, 3))


@pytest.fixture(scope="module")
def reduced() -> dict[str, TrainingRun]:
    found = run_all([REDUCED, replace(REDUCED, encodings="fixed")])
    return {one.how.encodings: one for one in found}


def bits(recording: Recording) -> list[bytes]:
    leaves = [*recording.series.values(), *jax.tree.leaves(recording.final)]
    return [np.asarray(leaf).tobytes() for leaf in leaves]


@pytest.mark.parametrize("encodings", ["stochastic", "fixed"])
def test_golden_runs(reduced, encodings):
    found, facts = reduced[encodings], FACTS["sgd_reduced_ci"][encodings]
    names = {"train_loss": "loss", "C": "C", "alpha": "alpha", "cosW": "cosine_W"}
    for step in (1_000, 3_000):
        at = found.recording.at(step)
        for recorded, name in names.items():
            mean, deviation = facts[str(step)][recorded]
            assert abs(found[name][at] - mean) < 5 * deviation, (step, name)
    assert found.diverged is None
    assert found["cosine_V"][-1] > 0.999


def two_number_loss(run: TrainingRun, E: np.ndarray, T: int) -> np.ndarray:
    """d/2 ||Y/q - alpha S||^2 for every subset, with W_pp and alpha alone."""
    d, q = run.how.task.d, run.how.task.q
    V, W = (np.asarray(part) for part in run.weights)
    alpha, E = np.trace(V[:, :d]) / d, E[:, :T]
    found = []
    for y in Task(T, q, d).draw_subsets(300, np.random.default_rng(T)):
        powers = np.exp(E.T @ W[d:, d:] @ oracle.subset_vector(E, y))
        error = -alpha * powers / powers.sum()
        error[y] += 1 / q
        found.append(d / 2 * error @ error)
    return np.array(found)


@pytest.mark.parametrize("encodings", ["stochastic", "fixed"])
@pytest.mark.parametrize("T", [40, 60, 80])
def test_golden_losses_without_tokens(reduced, encodings, T):
    found = reduced[encodings]
    if encodings == "fixed":
        members = [near_orthogonal(40, 80, 0.6, seed=1)]
    else:
        draw = np.random.default_rng(0)
        candidates = draw.choice([-1, 1], (6, 120, 40))
        members = [oracle.rejection(one, 80, 24)[0].T / math.sqrt(40) for one in candidates]
    each = np.array([two_number_loss(found, E, T) for E in members])
    error = each.mean(axis=1).std() / np.sqrt(len(each)) + each.std() / np.sqrt(each.size)
    recorded = FACTS["sgd_reduced_ci"][encodings]["3000"].get(f"xfree_T{T}")
    if recorded is not None:
        assert abs(each.mean() - recorded[0]) < 4 * recorded[1] + 3 * error
    if T != 60:
        # the run's estimate has the whole of V, which adds little, and other encodings or subsets
        measured = found.task("population", T, 2)[-1]
        assert measured == pytest.approx(each.mean(), abs=4 * error + 0.04 * each.mean())


def test_a_validation_set_is_the_definition_on_its_samples(reduced):
    found = reduced["fixed"]
    E = np.asarray(near_orthogonal(40, 80, 0.6, seed=1), dtype=np.float32).astype(float)
    source = fold(stream(1), jnp.uint32(online.MEASURES))
    for i, (T, q) in enumerate(((40, 2), (80, 2), (60, 3)), start=1):
        where = fold(source, jnp.uint32(i))
        shape = (online.TEST_SAMPLES, 3, 80)
        X = np.asarray(drawn_normals(fold(where, jnp.uint32(online.BATCH)), shape), dtype=float)
        y = np.asarray(drawn_subsets(fold(where, jnp.uint32(online.ENCODINGS)), len(X), q, T))
        X = X[:, :, :T]
        samples = oracle.Samples.of(X, y, E[:, :T], np.zeros((len(X), 3)))
        expected = np.asarray(oracle.batch_losses(*found.weights, samples))
        assert found.task("validation", T, q)[-1] == pytest.approx(expected.mean(), rel=2e-5)
        spread = expected.std() / math.sqrt(len(X))
        assert found.task("population", T, q)[-1] == pytest.approx(expected.mean(), abs=4 * spread)


def test_the_first_record_is_of_the_zero_predictor(reduced):
    found = reduced["stochastic"]
    assert math.isnan(found["loss"][0])
    assert found["alpha"][0] == found["C"][0] == 0
    for T, q in ((40, 2), (80, 2), (60, 3)):
        zero = 3 / (2 * q)
        assert found.task("population", T, q)[0] == pytest.approx(zero, rel=1e-6)
        # half of chi-squared with 3 degrees of freedom, over q
        spread = math.sqrt(6 / online.TEST_SAMPLES) / (2 * q)
        assert found.task("validation", T, q)[0] == pytest.approx(zero, abs=4 * spread)


def test_the_same_seed_gives_the_same_bits_and_another_does_not(reduced):
    short = replace(REDUCED, steps=20, record=(20,))
    first, again, other = (one.run().recording for one in (short, short, replace(short, seed=2)))
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)


def stopping_after(calls: int) -> Callable[[int], None]:
    seen: list[int] = []

    def progress(done: int) -> None:
        seen.append(done)
        if len(seen) >= calls:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("encodings", ["stochastic", "fixed"])
def test_a_stopped_run_resumes_to_the_same_bits(tmp_path, reduced, encodings):
    how = replace(REDUCED, encodings=encodings, steps=60, record=(0, 20, 40))
    store, done = Store(tmp_path), []
    with pytest.raises(KeyboardInterrupt):
        how.run(store=store, progress=stopping_after(2))
    resumed = how.run(store=store, progress=done.append)
    assert done == [20, 20, 20]
    assert bits(resumed.recording) == bits(how.run().recording)


def test_an_interruption_stops_all_runs(reduced):
    long = replace(REDUCED, steps=300_000, record=())
    start = time.monotonic()
    with pytest.raises(TimeoutError), within(1):
        run_all([long, replace(long, encodings="fixed")])
    assert time.monotonic() - start < 15


def test_the_last_step_is_recorded_whether_asked_for_or_not(reduced):
    how = replace(REDUCED, steps=30, record=(10,))
    assert how.run().steps.tolist() == [10, 30]
    assert replace(how, record=()).run().steps.tolist() == [0, 30]


def test_the_step_size_changes_when_it_should(reduced):
    how = replace(REDUCED, steps=12, record=(8, 9, 12))
    plain = how.run()
    later = replace(how, later_rate=0.0, change=9).run()
    for name in ("alpha", "C", "cosine_V"):
        np.testing.assert_array_equal(later[name][:2], plain[name][:2])
        assert later[name][2] == plain[name][1] != plain[name][2]
    half = replace(how, rate=0.5, later_rate=1.0, change=0).run()
    assert bits(half.recording) == bits(plain.recording)


@pytest.mark.parametrize("encodings", ["stochastic", "fixed"])
def test_a_run_that_blows_up_says_when_and_stays_there(reduced, encodings):
    how = replace(REDUCED, encodings=encodings, rate=1e4, steps=40, record=(0, 20))
    found = how.run()
    assert isinstance(found.diverged, int)
    assert 0 < found.diverged < 20
    assert all(np.isfinite(part).all() for part in found.weights)
    assert found["diverged"].tolist() == [-1, found.diverged, found.diverged]
    before = replace(how, steps=found.diverged, record=()).run()
    assert before.diverged is None
    for kept, then in zip(found.weights, before.weights, strict=True):
        np.testing.assert_array_equal(kept, then)
    assert found["loss"][-1] == before["loss"][-1]
    assert found["loss"][-1] < online.TOO_LARGE * how.task.zero_loss


def test_first_weights_that_are_too_large_diverge_at_step_0(reduced):
    how = replace(REDUCED, initial=1e4, steps=3, record=(0,))
    found = how.run()
    assert found.diverged == 0
    assert found["diverged"].tolist() == [-1, 0]
    start = how.dynamics().start
    for kept, drawn in zip(found.weights, start, strict=True):
        np.testing.assert_array_equal(kept, drawn[0])


def slopes_of(weights: list[np.ndarray], samples: oracle.Samples) -> list[np.ndarray]:
    """The gradient in V and W; or in V, K and Q with W = K'Q, entry by entry."""
    V, *attention = map(jnp.asarray, weights)
    if len(attention) == 1:
        return [np.asarray(g) for g in oracle.batch_gradient(V, *attention, samples)[1]]
    K, Q = attention
    of_V, of_W = oracle.batch_gradient(V, K.T @ Q, samples)[1]
    of_K, of_Q = (np.zeros(K.shape) for _ in range(2))
    for a, i in np.ndindex(*K.shape):
        of_K[a, i] = float(of_W[i] @ Q[a])
        of_Q[a, i] = float(K[a] @ of_W[:, i])
    return [np.asarray(of_V), of_K, of_Q]


def by_hand(how: Training) -> list[tuple[np.ndarray, np.ndarray]]:
    """The weights after every step, on the batches of the run, by the definition of everything."""
    source, (d, q, T), n = stream(how.seed), (how.task.d, how.task.q, how.task.T), how.samples
    width, asked = d + how.d_e, how.samples * how.queries
    first = fold(source, jnp.uint32(online.START))
    attention = [(how.factors, width)] * 2 if how.factors else [(width, width)]
    weights = [
        how.initial * np.asarray(drawn_normals(fold(first, jnp.uint32(i)), shape), dtype=float)
        for i, shape in enumerate([(d, width), *attention])
    ]
    fixed_query = drawn_normals(fold(source, jnp.uint32(online.QUERY)), (d,))
    if how.encodings == "fixed":
        E = near_orthogonal(how.d_e, how.longest, how.threshold, how.seed)[:, :T]
    mean, square = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    path = [tuple(weights)]
    for t in range(how.steps):
        step = fold(fold(source, jnp.uint32(online.STEPS)), jnp.uint32(t))
        if how.encodings == "stochastic":
            where = fold(step, jnp.uint32(online.ENCODINGS))
            drawn = drawn_signs(where, how.d_e, T, how.threshold)[0]
            E = np.asarray(drawn, dtype=float) / math.sqrt(how.d_e)
        x_query = {
            "zero": np.zeros((asked, d)),
            "fixed": np.tile(np.asarray(fixed_query, dtype=float), (asked, 1)),
            "random": np.asarray(
                drawn_normals(fold(step, jnp.uint32(online.QUERIES)), (asked, d)), float
            ),
        }[how.x_query]
        batch = fold(step, jnp.uint32(online.BATCH))
        X = np.asarray(drawn_normals(fold(batch, jnp.uint32(0)), (n, d, T)), float)
        y = np.asarray(drawn_subsets(fold(batch, jnp.uint32(1)), asked, q, T))
        repeated = np.array([X[i // how.queries] for i in range(asked)])
        samples = oracle.Samples.of(repeated, y, E, x_query)
        slopes = [how.queries * g for g in slopes_of(weights, samples)]
        later = how.later_rate is not None and t >= how.change
        rate = how.later_rate if later else how.rate
        for i, g in enumerate(map(np.asarray, slopes)):
            mean[i] = 0.9 * mean[i] + 0.1 * g
            square[i] = 0.999 * square[i] + 0.001 * g**2
            step_adam = mean[i] / (1 - 0.9 ** (t + 1))
            step_adam = step_adam / (np.sqrt(square[i] / (1 - 0.999 ** (t + 1))) + 1e-8)
            weights[i] = weights[i] - rate * (step_adam if how.algorithm == "adam" else g)
        path.append(tuple(weights))
    return path


ADAM = replace(TINY, algorithm="adam", x_query="random", rate=0.05, record=tuple(range(6)))
FIXED = replace(TINY, encodings="fixed", x_query="fixed", later_rate=0.1, change=3)
FACTORED = replace(FIXED, factors=4, queries=3, rate=0.1)


@pytest.fixture(scope="module")
def watched() -> tuple[TrainingRun, list[list[tuple[int, ...]]]]:
    """Steps of Adam, and the streams that were read between two records."""
    words, read, marks = _random.words, [], []

    def recording_words(source: jax.Array, count: int) -> jax.Array:
        jax.debug.callback(lambda one: read.append(tuple(one.tolist())), source)
        return words(source, count)

    def mark(_: int) -> None:
        jax.effects_barrier()
        marks.append(len(read))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_random, "words", recording_words)
        dynamics = ADAM.dynamics()
        mark(0)
        found = run(dynamics, np.array(ADAM.record), progress=mark, group=1, chunk=1)
    return TrainingRun(ADAM, found), [read[a:b] for a, b in pairwise(marks)]


def assert_made_by_hand(found: TrainingRun) -> None:
    path = by_hand(found.how)
    d, d_e = found.how.task.d, found.how.d_e
    for step in found.how.record:
        V, *attention = path[step]
        W = attention[0] if len(attention) == 1 else attention[0].T @ attention[1]
        at = found.recording.at(step)
        of_V, of_W = np.trace(V[:, :d]), np.trace(W[d:, d:])
        expected = {
            "alpha": of_V / d,
            "C": of_W / d_e,
            "cosine_V": of_V / math.sqrt(d) / np.linalg.norm(V),
            "cosine_W": of_W / math.sqrt(d_e) / np.linalg.norm(W),
        }
        for name, value in expected.items():
            assert found[name][at] == pytest.approx(value, abs=3e-6), (step, name)
    for ours, expected, first in zip(found.trained, path[-1], path[0], strict=True):
        np.testing.assert_allclose(ours, expected, atol=2e-5 * np.abs(expected - first).max())


def test_adam_by_hand(watched):
    assert_made_by_hand(watched[0])


def test_validation_with_fresh_encodings_and_queries(watched):
    found, (d, q, T) = watched[0], (ADAM.task.d, ADAM.task.q, ADAM.task.T)
    source = fold(stream(ADAM.seed), jnp.uint32(online.MEASURES))
    where = fold(source, jnp.uint32(1))
    count = online.TEST_SAMPLES
    X = np.asarray(drawn_normals(fold(where, jnp.uint32(online.BATCH)), (count, d, T)), float)
    y = np.asarray(drawn_subsets(fold(where, jnp.uint32(online.ENCODINGS)), count, q, T))
    x_query = np.asarray(drawn_normals(fold(where, jnp.uint32(online.QUERIES)), (count, d)), float)
    fresh = fold(fold(fold(source, jnp.uint32(0)), jnp.uint32(ADAM.steps)), jnp.uint32(0))
    drawn = drawn_signs(fresh, ADAM.d_e, T, ADAM.threshold)[0]
    samples = oracle.Samples.of(X, y, np.asarray(drawn, float) / math.sqrt(ADAM.d_e), x_query)
    expected = float(oracle.batch_losses(*found.weights, samples).mean())
    assert found.task("validation", T, q)[-1] == pytest.approx(expected, rel=2e-5)


def test_keys_and_queries_apart_and_three_queries_by_hand():
    found = FACTORED.run()
    assert_made_by_hand(found)
    _, K, Q = (np.asarray(leaf) for leaf in found.trained)
    np.testing.assert_allclose(found.weights.W, K.T @ Q, atol=1e-12)
    assert K.shape == (4, 11)


def test_nothing_is_drawn_from_the_same_words_twice(watched):
    # a clash of child numbers would give encodings and tokens the same bits at some step
    _, each = watched
    assert all(len(set(found)) == len(found) for found in each)
    # tokens, subsets and queries of the validation set, and subsets for the estimate
    fixed = set(each[0]).intersection(*each[1:])
    assert len(fixed) == 4
    fresh = [source for found in each for source in found if source not in fixed]
    assert len(set(fresh)) == len(fresh)
    # encodings for the estimates; from the second record on, a step before them
    assert [len(found) >= 8 + 4 * (t > 0) for t, found in enumerate(each)] == [True] * 6


@pytest.mark.parametrize(("group", "chunk"), [(1, 64), (1, 1), (13, 1), (2, 3)])
def test_groups_and_chunks_change_nothing(group, chunk):
    T = jnp.asarray([9.0, 12.0, 20.0])
    numbers = (jnp.full(3, 2.0), jnp.full(3, 2.0), T - 1, jnp.full(3, 0.5))
    problems = TwoScalars(OneHotAttention(T, jnp.full(3, 2.0)), *numbers)
    steps = np.array([0, 1, 5, 70, 71, 400])
    usual, found = run(problems, steps), run(problems, steps, group=group, chunk=chunk)
    assert found.series.keys() == usual.series.keys()
    for name, rows in usual.series.items():
        np.testing.assert_allclose(found.series[name], rows, rtol=1e-13)
    for a, b in zip(jax.tree.leaves(found.final), jax.tree.leaves(usual.final), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


CHANGES: list[dict[str, Any]] = [
    {"task": Task(12, 2, 2)},
    {"encodings": "fixed"},
    {"threshold": 0.75},
    {"samples": 4},
    {"algorithm": "adam"},
    {"rate": 0.2},
    {"later_rate": 0.2},
    {"change": 3},
    {"initial": 0.2},
    {"x_query": "fixed"},
    {"x_query": "random"},
    {"tests": ((12, 1),)},
    {"seed": 1},
    {"factors": 2},
    {"queries": 2},
    {"heads": 2},
]


def test_no_two_settings_share_a_stored_result():
    def key(how: Training) -> str:
        dynamics = how.dynamics()
        _, programs = _run._describe(dynamics, _run._advance_well, 1)
        return _run._key(programs, dynamics, np.array(how.record))

    keys = [key(replace(TINY, **change)) for change in [{}, *CHANGES]]
    assert len(set(keys)) == len(keys)
    assert key(TINY) == keys[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_e": 0}, "d_e must be a positive whole number"),
        ({"samples": 0}, "samples must be a positive whole number"),
        ({"rate": 0.0}, "the step size must be positive"),
        ({"rate": -1.0}, "rate must be a number that is not negative; got -1.0"),
        ({"rate": math.nan}, "rate must be a number that is not negative; got nan"),
        ({"later_rate": math.inf}, "later_rate must be a number that is not negative; got inf"),
        ({"factors": 3, "initial": 0.0}, "with K = Q = 0 no gradient moves either of them"),
        ({"queries": 0}, "queries must be a positive whole number"),
        ({"heads": 0}, "heads must be a positive whole number"),
        ({"heads": 101}, "there can be at most 100 heads; got 101"),
        ({"heads": 2, "initial": 0.0}, "heads that start at zero stay equal for ever"),
        ({"initial": -0.1}, "initial must be a number that is not negative; got -0.1"),
        ({"threshold": 1.5}, "the threshold must be between 0 and 1; got 1.5"),
        ({"d_e": 21, "threshold": 0.0}, "about inf draws would be needed for 12 sign vectors"),
        ({"tests": ((3, 4),)}, "q = 4 positions cannot be chosen out of T = 3"),
        ({"tests": ((40, 2),), "threshold": 0.2}, "no 40 unit vectors in 9 dimensions"),
        (
            {"tests": ((40, 2),), "threshold": 0.2, "encodings": "fixed"},
            "no 40 unit vectors in 9 dimensions",
        ),
        ({"tests": ((11, 10),)}, "a subset of 10 positions needs at least 10 dimensions; d_e is 9"),
    ],
)
def test_trainings_that_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(TINY, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": -1}, "the number of steps must not be negative; got -1"),
        ({"record": (7,)}, "can only record steps 0 to 5; got 5 to 7"),
        ({"seed": -3}, "a seed is a whole number from 0 to 4294967295; got -3"),
    ],
)
def test_runs_that_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(TINY, **change).run()


@pytest.mark.parametrize("name", ["encodings", "algorithm", "x_query"])
def test_unknown_words_are_refused(name):
    how = object.__new__(Training)
    values = {field: getattr(TINY, field) for field in Training.__dataclass_fields__}
    for field, value in {**values, name: "other"}.items():
        object.__setattr__(how, field, value)
    with pytest.raises(InputError, match=f"unknown {name} 'other' .known: "):
        Training.__post_init__(how)
