"""Several heads: their sum and its slope by plain loops, runs by hand, and what is recorded."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles import sparse_selection as oracle

import lemmata as lm
from lemmata._errors import InputError
from lemmata.papers.selection.setting import (
    SETTING,
    Batch,
    OnlineChoices,
    Plan,
    Task,
    Training,
    TrainingRun,
    Weights,
    loss_and_gradient,
    near_orthogonal,
    token_free_losses,
)
from lemmata.papers.selection.setting import _online as online
from lemmata.papers.selection.setting._encodings import draw_signs
from lemmata.papers.selection.setting._heads import (
    loss_and_gradient_of_heads,
    losses_of_heads,
    missed_by_heads,
    token_free_losses_of_heads,
)
from lemmata.play._pictures import picture_document
from lemmata.report import write_training
from lemmata.settings import Chart, Heat
from lemmata.training import Film, fold, normals, stream, subsets

drawn_normals = jax.jit(normals, static_argnums=1)
drawn_subsets = jax.jit(subsets, static_argnums=(1, 2, 3))
drawn_signs = jax.jit(draw_signs, static_argnums=(1, 2, 3))

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Z, z_query and the target."""


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def sample_of(X: np.ndarray, y: np.ndarray, E: np.ndarray, x_query: np.ndarray) -> Sample:
    z = np.concatenate([x_query, oracle.subset_vector(E, y)])
    return np.concatenate([X, E]), z, X[:, y].mean(axis=1)


def loss_of(V: np.ndarray, W: np.ndarray, samples: list[Sample]) -> float:
    """Half the squared error of the sum of all heads, averaged."""
    total = 0.0
    for Z, z, target in samples:
        output = sum(V_h @ Z @ softmax(Z.T @ W_h @ z) for V_h, W_h in zip(V, W, strict=True))
        total += 0.5 * float(np.sum((target - output) ** 2))
    return total / len(samples)


def slope_of(V: np.ndarray, W: np.ndarray, samples: list[Sample]) -> tuple[np.ndarray, np.ndarray]:
    """Its slope in every matrix, by the chain rule on Z written out."""
    of_V, of_W = np.zeros(V.shape), np.zeros(W.shape)
    for Z, z, target in samples:
        S = [softmax(Z.T @ W_h @ z) for W_h in W]
        wrong = sum(V_h @ Z @ s for V_h, s in zip(V, S, strict=True)) - target
        for h, s in enumerate(S):
            of_V[h] += np.outer(wrong, Z @ s) / len(samples)
            in_logits = (np.diag(s) - np.outer(s, s)) @ (Z.T @ V[h].T @ wrong)
            of_W[h] += np.outer(Z @ in_logits, z) / len(samples)
    return of_V, of_W


def draw_heads(
    heads: int, d: int, d_e: int, *, free: bool = False, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Random V and W; with ``free`` attention does not look at tokens."""
    draw = np.random.default_rng(seed)
    V = draw.standard_normal((heads, d, d + d_e))
    W = 0.4 * draw.standard_normal((heads, d + d_e, d + d_e))
    if free:
        W[:, :d] = 0
    return V, W


def draw_samples(T: int, q: int, d: int, d_e: int, count: int) -> tuple[Batch, list[Sample]]:
    draw, task = np.random.default_rng(7), Task(T, q, d)
    X, y = task.draw_tokens(count, draw), task.draw_subsets(count, draw)
    E, x_query = draw.standard_normal((d_e, T)) / 2, draw.standard_normal((count, d))
    batch = Batch(*map(jnp.asarray, (X, y, E, x_query)))
    return batch, [sample_of(*one, E, x) for *one, x in zip(X, y, x_query, strict=True)]


def test_the_loss_and_its_slope_by_finite_differences() -> None:
    V, W = draw_heads(3, 2, 4)
    batch, samples = draw_samples(5, 2, 2, 4, 4)
    loss, slope = jax.jit(loss_and_gradient_of_heads)(Weights(*map(jnp.asarray, (V, W))), batch)
    assert float(loss) == pytest.approx(loss_of(V, W, samples), rel=1e-12)
    each = jax.jit(losses_of_heads)(Weights(*map(jnp.asarray, (V, W))), batch)
    expected = [loss_of(V, W, [one]) for one in samples]
    np.testing.assert_allclose(each, expected, rtol=1e-11)
    step = 1e-5
    for matrices, found in ((V, slope.V), (W, slope.W)):
        for at in np.ndindex(*matrices.shape):
            kept, ends = matrices[at], []
            for moved in (kept + step, kept - step):
                matrices[at] = moved
                ends.append(loss_of(V, W, samples))
            matrices[at] = kept
            difference = (ends[0] - ends[1]) / (2 * step)
            assert difference == pytest.approx(float(found[at]), rel=1e-8, abs=1e-9)
    by_loops = slope_of(V, W, samples)
    for ours, theirs in zip(slope, by_loops, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)


def test_a_head_alone_is_one_head_and_equal_heads_move_alike() -> None:
    V, W = (jnp.asarray(matrices) for matrices in draw_heads(1, 2, 4))
    batch, _ = draw_samples(5, 2, 2, 4, 4)
    loss, slope = loss_and_gradient(Weights(V[0], W[0]), batch)
    alone = loss_and_gradient_of_heads(Weights(V, W), batch)
    halves = Weights(jnp.repeat(V / 2, 2, axis=0), jnp.repeat(W, 2, axis=0))
    shared = loss_and_gradient_of_heads(halves, batch)
    for found in (alone, shared):
        assert float(found[0]) == pytest.approx(float(loss), rel=1e-13)
    np.testing.assert_allclose(alone[1].W[0], slope.W, rtol=1e-12)
    np.testing.assert_allclose(alone[1].V[0], slope.V, rtol=1e-12)
    np.testing.assert_array_equal(shared[1].V[0], shared[1].V[1])
    np.testing.assert_array_equal(shared[1].W[0], shared[1].W[1])
    np.testing.assert_allclose(shared[1].V[0], slope.V, rtol=1e-12)
    np.testing.assert_allclose(shared[1].W[0], slope.W / 2, rtol=1e-12)


def test_losses_without_tokens_are_exact_averages_over_tokens() -> None:
    T, d, d_e = 4, 2, 5
    V, W = draw_heads(3, d, d_e, free=True)
    E = np.random.default_rng(1).standard_normal((d_e, T + 2)) / 2
    X, chances = oracle.quadrature(d, T)
    y = np.array([[0, 2], [3, 1]])
    weights = Weights(*map(jnp.asarray, (V, W)))
    found = jax.jit(token_free_losses_of_heads)(weights, jnp.asarray(y), jnp.asarray(E[:, :T]))
    padded = np.column_stack([y, [-1, -1]])
    in_longer = token_free_losses_of_heads(
        weights, jnp.asarray(padded), jnp.asarray(E), jnp.asarray(T)
    )
    for i, rows in enumerate(y):
        z = np.concatenate([np.zeros(d), oracle.subset_vector(E[:, :T], rows)])
        Z = np.concatenate([X, np.broadcast_to(E[:, :T], (len(X), d_e, T))], axis=1)
        S = [softmax(E[:, :T].T @ W_h[d:] @ z) for W_h in W]
        output = sum(Z @ s @ V_h.T for V_h, s in zip(V, S, strict=True))
        errors = X[:, :, rows].mean(axis=2) - output
        expected = float(chances @ (0.5 * np.sum(errors**2, axis=1)))
        assert float(found[i]) == pytest.approx(expected, rel=1e-11), rows
        assert float(in_longer[i]) == pytest.approx(expected, rel=1e-11), rows
    one = Weights(weights.V[:1], weights.W[:1])
    np.testing.assert_allclose(
        token_free_losses_of_heads(one, jnp.asarray(y), jnp.asarray(E[:, :T])),
        token_free_losses(Weights(one.V[0], one.W[0]), jnp.asarray(y), jnp.asarray(E[:, :T])),
        rtol=1e-12,
    )


def test_what_heads_miss_with_places_left_empty() -> None:
    """Among the subsets is one with the last position, where an empty place would point."""
    V, W = draw_heads(2, 2, 4)
    batch, _ = draw_samples(5, 2, 2, 4, 12)
    assert (np.asarray(batch.y) == 4).any()
    padded = batch._replace(y=jnp.pad(batch.y, ((0, 0), (0, 2)), constant_values=-1))
    weights = Weights(*map(jnp.asarray, (V, W)))
    for given in (batch, padded):
        found = missed_by_heads(weights, given)
        for h in range(2):
            missed = []
            for X, y, x in zip(batch.X, batch.y, batch.x_query, strict=True):
                Z, z, _ = sample_of(*map(np.asarray, (X, y, batch.E, x)))
                S = softmax(Z.T @ W[h] @ z)
                missed.append(sum(S[i] for i in range(5) if i not in np.asarray(y)))
            assert float(found[h]) == pytest.approx(np.mean(missed), rel=1e-11)


def by_hand(how: Training) -> list[list[np.ndarray]]:
    """V and W (or V, K and Q) of all heads after every step of SGD, on the batches of the run."""
    source, (d, q, T), n = stream(how.seed), (how.task.d, how.task.q, how.task.T), how.samples
    width, asked = d + how.d_e, how.samples * how.queries
    sizes = [(d, width), *([(how.factors, width)] * 2 if how.factors else [(width, width)])]
    first = fold(source, jnp.uint32(online.START))
    weights = [
        np.array(
            [
                how.initial * np.asarray(drawn_normals(fold(first, jnp.uint32(child)), size), float)
                for child in range(i, how.heads * len(sizes), len(sizes))
            ]
        )
        for i, size in enumerate(sizes)
    ]
    fixed_query = np.asarray(drawn_normals(fold(source, jnp.uint32(online.QUERY)), (d,)), float)
    x_query = np.tile(fixed_query if how.x_query == "fixed" else np.zeros(d), (asked, 1))
    path = [list(weights)]
    for t in range(how.steps):
        step = fold(fold(source, jnp.uint32(online.STEPS)), jnp.uint32(t))
        if how.encodings == "fixed":
            E = near_orthogonal(how.d_e, T, how.threshold, how.seed)
        else:
            where = fold(step, jnp.uint32(online.ENCODINGS))
            signs = drawn_signs(where, how.d_e, T, how.threshold)[0]
            E = np.asarray(signs, float) / math.sqrt(how.d_e)
        batch = fold(step, jnp.uint32(online.BATCH))
        X = np.asarray(drawn_normals(fold(batch, jnp.uint32(0)), (n, d, T)), float)
        y = np.asarray(drawn_subsets(fold(batch, jnp.uint32(1)), asked, q, T))
        samples = [sample_of(X[i // how.queries], y[i], E, x_query[i]) for i in range(asked)]
        V, *attention = weights
        W = attention[0]
        if how.factors:
            W = np.array([K.T @ Q for K, Q in zip(*attention, strict=True)])
        of_V, of_W = (how.queries * slope for slope in slope_of(V, W, samples))
        slopes = [of_V, of_W]
        if how.factors:
            K, Q = attention
            of_K = np.array([Q_h @ g.T for Q_h, g in zip(Q, of_W, strict=True)])
            slopes = [of_V, of_K, np.array([K_h @ g for K_h, g in zip(K, of_W, strict=True)])]
        weights = [w - how.rate * g for w, g in zip(weights, slopes, strict=True)]
        path.append(list(weights))
    return path


TWO = Training(
    Task(8, 2, 2),
    7,
    threshold=0.8,
    samples=6,
    initial=0.3,
    rate=0.3,
    steps=4,
    record=(0, 2, 4),
    heads=2,
)
FACTORED = replace(
    TWO, encodings="fixed", x_query="fixed", factors=3, queries=2, rate=0.1, heads=3, record=(4,)
)


@pytest.fixture(scope="module")
def two() -> TrainingRun:
    return TWO.run()


def assert_made_by_hand(found: TrainingRun) -> None:
    path = by_hand(found.how)
    d, d_e = found.how.task.d, found.how.d_e
    for ours, expected, first in zip(found.trained, path[-1], path[0], strict=True):
        assert ours.shape == expected.shape
        np.testing.assert_allclose(ours, expected, atol=2e-5 * np.abs(expected - first).max())
    for t in found.how.record:
        V, *attention = path[t]
        W = attention[0]
        if found.how.factors:
            W = np.array([K.T @ Q for K, Q in zip(*attention, strict=True)])
        expected = {
            "alpha": [np.trace(V_h[:, :d]) / d for V_h in V],
            "C": [np.trace(W_h[d:, d:]) / d_e for W_h in W],
            "cosine_V": [np.trace(v[:, :d]) / math.sqrt(d) / np.linalg.norm(v) for v in V],
            "cosine_W": [np.trace(w[d:, d:]) / math.sqrt(d_e) / np.linalg.norm(w) for w in W],
        }
        for name, values in expected.items():
            at = found.of_heads(name)[:, found.recording.at(t)]
            np.testing.assert_allclose(at, values, atol=3e-6, err_msg=f"{name} at {t}")


def test_two_heads_by_hand(two: TrainingRun) -> None:
    assert_made_by_hand(two)
    V, W = two.weights
    assert (V.shape, W.shape) == ((2, 2, 9), (2, 9, 9))


def test_three_heads_of_keys_and_queries_apart_by_hand() -> None:
    found = FACTORED.run()
    assert_made_by_hand(found)
    _, K, Q = (np.asarray(leaf) for leaf in found.trained)
    assert K.shape == (3, 3, 9)
    for h in range(3):
        np.testing.assert_allclose(found.weights.W[h], K[h].T @ Q[h], atol=1e-12)


def test_a_validation_set_and_what_heads_miss_on_it(two: TrainingRun) -> None:
    how, (d, q, T) = two.how, (two.how.task.d, two.how.task.q, two.how.task.T)
    source = fold(stream(how.seed), jnp.uint32(online.MEASURES))
    where, count = fold(source, jnp.uint32(1)), online.TEST_SAMPLES
    X = np.asarray(drawn_normals(fold(where, jnp.uint32(online.BATCH)), (count, d, T)), float)
    y = np.asarray(drawn_subsets(fold(where, jnp.uint32(online.ENCODINGS)), count, q, T))
    fresh = fold(fold(fold(source, jnp.uint32(0)), jnp.uint32(how.steps)), jnp.uint32(0))
    E = np.asarray(drawn_signs(fresh, how.d_e, T, how.threshold)[0], float) / math.sqrt(how.d_e)
    samples = [sample_of(X[i], y[i], E, np.zeros(d)) for i in range(count)]
    V, W = (np.asarray(part) for part in two.weights)
    expected = loss_of(V, W, samples)
    assert two.task("validation", T, q)[-1] == pytest.approx(expected, rel=2e-5)
    for W_h, found in zip(W, two.of_heads("missed"), strict=True):
        S = np.array([softmax(Z.T @ W_h @ z) for Z, z, _ in samples])
        S[np.arange(count)[:, None], y] = 0
        assert found[-1] == pytest.approx(S.sum(axis=1).mean(), rel=2e-5)


def test_the_first_head_starts_as_one_head_does() -> None:
    several, one = TWO.dynamics().start, replace(TWO, heads=1).dynamics().start
    for ours, alone in zip(several, one, strict=True):
        np.testing.assert_array_equal(ours[:, 0], alone)
        assert not np.any(ours[:, 0] == ours[:, 1])


PLAN = Plan("mine", Task(8, 2, 1), 0.5, 1e-2)
HOW: dict[str, Any] = {"algorithm": "sgd", "initial": 0.1, "samples": 8, "steps": 30}


def test_one_head_that_is_asked_for_changes_no_bit() -> None:
    said, unsaid = (lm.train(PLAN, **HOW, **more) for more in ({"heads": 1}, {}))
    assert said.rule == unsaid.rule
    assert said.names == unsaid.names
    for name in said.names:
        np.testing.assert_array_equal(said[name], unsaid[name])
    for name, matrix in said.weights[0].items():
        np.testing.assert_array_equal(matrix, unsaid.weights[0][name])
    assert said.extras[0].keys() == unsaid.extras[0].keys()


@pytest.fixture(scope="module")
def filmed() -> Any:
    options = {**HOW, "heads": 2, "record": (0, 10, 30)}
    return SETTING.train([PLAN], options, store=Film())


def test_the_columns_of_several_heads(filmed: Any) -> None:
    assert filmed.names == [
        "loss",
        "population",
        "least_missed",
        "most_missed",
        "least_alpha",
        "rate",
    ]
    of_heads = filmed.extras[0]["heads"]
    assert {name: values.shape for name, values in of_heads.items()} == dict.fromkeys(
        ("alpha", "C", "cosine_V", "cosine_W", "missed"), (2, 3)
    )
    V, W = filmed.weights[0]["V"], filmed.weights[0]["W"]
    np.testing.assert_allclose(of_heads["alpha"][:, -1], V[:, 0, 0], rtol=1e-6)
    # one-hot encodings: along I - 11'/T, whose trace is T - 1
    traces = [np.trace(W_h[1:, 1:]) / 7 for W_h in W]
    np.testing.assert_allclose(of_heads["C"][:, -1], traces, rtol=1e-5)
    norms = [np.linalg.norm(W_h) * math.sqrt(7) / 7 for W_h in W]
    np.testing.assert_allclose(of_heads["cosine_W"][:, -1] * norms, traces, rtol=1e-5)
    for name, least in (("missed", filmed.least_missed), ("alpha", filmed.least_alpha)):
        np.testing.assert_array_equal(least[0], of_heads[name].min(axis=0))
    np.testing.assert_array_equal(filmed.most_missed[0], of_heads["missed"].max(axis=0))
    assert (filmed.most_missed > filmed.least_missed).all()
    json.dumps(filmed.extras[0]["problems"])


def test_the_rule_says_how_many_and_that_no_theorem_covers_them(filmed: Any) -> None:
    assert filmed.rule.startswith(
        "stochastic gradient descent on V and W of 2 heads, whose outputs are added, a fresh batch "
        "a step: 30 steps of size 1. No theorem of the paper covers several heads: "
    )
    wide = replace(PLAN, name="wide", training=OnlineChoices(heads=3, factors=2, initial=0.1))
    short = {"algorithm": "adam", "samples": 8, "steps": 3}
    mixed = SETTING.train([PLAN, wide], short)
    assert mixed.rule.startswith("Adam on V and W or V, K and Q of 1 or 3 heads, whose outputs")
    assert np.isnan(mixed.alpha[1]).all()
    assert np.isnan(mixed.least_missed[0]).all()
    assert np.isfinite(mixed.alpha[0]).all()
    assert np.isfinite(mixed.least_missed[1]).all()
    assert np.isfinite(mixed.population).all()
    assert {name: matrix.shape for name, matrix in mixed.weights[1].items()} == {
        "V": (3, 1, 9),
        "W": (3, 9, 9),
        "K": (3, 2, 9),
        "Q": (3, 2, 9),
    }


def test_pictures_have_a_matrix_for_each_head(filmed: Any) -> None:
    chart, *heats = SETTING.pictures(filmed, 0)
    assert isinstance(chart, Chart)
    assert chart.x == ("head 1", "head 2")
    np.testing.assert_array_equal(chart.curves["alpha"].T, filmed.extras[0]["heads"]["alpha"])
    assert [heat.title for heat in heats] == ["W of head 1 of 2", "W of head 2 of 2"]
    for heat, W in zip(heats, filmed.weights[0]["W"], strict=True):
        assert isinstance(heat, Heat)
        assert heat.values.shape == (3, 9, 9)
        np.testing.assert_allclose(heat.values[-1], W, rtol=1e-6)
    assert [picture_document(picture)["kind"] for picture in (chart, *heats)] == [
        "chart",
        "heat",
        "heat",
    ]
    many = SETTING.train([PLAN], {**HOW, "steps": 1, "heads": 6}, store=Film())
    assert len(SETTING.pictures(many, 0)) == 1 + 4


def test_the_page_of_several_heads(filmed: Any, tmp_path: Path) -> None:
    page = write_training(tmp_path, "run", SETTING, filmed, "mine").read_text()
    for words in ("No theorem of the paper covers several heads", "best head misses", "2 heads"):
        assert words in page


def test_several_heads_that_diverge_are_told_what_is_stable() -> None:
    (reason,) = lm.train(PLAN, **HOW, heads=2, queries=4, rate=500.0).reasons
    assert reason is not None
    assert reason.endswith(
        "use a step size below 500 (gradient descent with equal heads is stable below "
        "2q/queries/heads = 0.5)"
    )


REFUSED: dict[str, tuple[Plan, dict[str, Any]]] = {
    "mine: heads that start at zero stay equal for ever; say how large the first weights are "
    "(initial, such as 0.1)": (PLAN, {"algorithm": "sgd", "heads": 2}),
    "heads must be at least 1; got 0": (PLAN, {**HOW, "heads": 0}),
    "mine: there can be at most 100 heads; got 101": (PLAN, {**HOW, "heads": 101}),
    "--heads (heads) has no effect with algorithm gd; it is for sgd, adam": (PLAN, {"heads": 2}),
    "is for one head, one W and one query a sequence; leave out queries, heads, or use": (
        replace(PLAN, training=OnlineChoices(heads=2, queries=2, initial=0.1)),
        {},
    ),
    "mine: heads would have no effect on a fully connected net; leave it out": (
        PLAN,
        {"algorithm": "adam", "width": 3, "heads": 2},
    ),
    "4 heads with heads (d + d_e)^2 = 36,024,004 (at most 25,000,000)": (
        replace(PLAN, task=Task(3_000, 2, 1)),
        {**HOW, "heads": 4},
    ),
    "heads samples queries d T = 64,000,000 (at most 50,000,000) are too many; ask for fewer": (
        PLAN,
        {**HOW, "samples": 100_000, "heads": 80},
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_several_heads_cannot_do_is_refused_in_words(message: str) -> None:
    plan, options = REFUSED[message]
    with pytest.raises(InputError) as error:
        SETTING.train([plan], options)
    assert message in str(error.value)
