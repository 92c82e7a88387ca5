"""The four-layer transformer: its network, training, claims and figures."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from jaxtyping import Array
from scipy.stats import kstest, uniform

from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata.claims import Bench, Status, Verdict, check, claims_of
from lemmata.drawing import COLUMN_WIDTH, TEXT_WIDTH
from lemmata.papers.context.claims import deep as claims
from lemmata.papers.context.experiments.deep import DEEP, HEADS, DeepRuns, Heads, paper_training
from lemmata.papers.context.figures import _deep, _deep_heads
from lemmata.papers.context.setting import Plan, draw_task
from lemmata.papers.context.setting._deep import DeepDynamics, DeepRun, DeepTraining
from lemmata.settings import Evidence
from lemmata.training import Recording, fold, stream, words

CLAIMS = {claim.name.removeprefix("context/"): claim for claim in claims_of([claims])}
TINY = DeepTraining(
    draw_task(3, 7, 4, 2, 0.1, seed=1), d_model=6, d_ff=5, heads=2, layers=3, batch=4, rate=0.01
)


@pytest.fixture(scope="module")
def tiny() -> DeepDynamics:
    """One instance in float64, no array as it starts, so that norms do something too."""
    return in_double(TINY)


def in_double(how: DeepTraining) -> DeepDynamics:
    rng = np.random.default_rng(0)
    single = jax.tree.map(
        lambda leaf: leaf[0].astype(float) if eqx.is_inexact_array(leaf) else leaf[0],
        how.dynamics(),
    )
    start = jax.tree.map(
        lambda leaf: leaf + jnp.asarray(0.3 * rng.standard_normal(leaf.shape)), single.start
    )
    return eqx.tree_at(lambda one: one.start, single, start)


@pytest.fixture(scope="module")
def predict(tiny: DeepDynamics) -> Callable[..., np.ndarray]:
    """Predictions for two hundred prompts, with any tokens."""

    def found(tokens: Array, labels: Array) -> Array:
        return eqx.tree_at(lambda one: one.tokens, tiny, tokens).predict(tiny.start, labels)

    compiled = jax.jit(found)
    return lambda *inputs: np.asarray(compiled(*map(jnp.asarray, inputs)))


def normalized(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * scale + shift


def by_hand(tiny: DeepDynamics, row: np.ndarray, *, post: bool = True) -> np.ndarray:
    """One prompt through the network: one layer and one head at a time."""
    net, tokens, heads = jax.tree.map(np.asarray, tiny.start), np.asarray(tiny.tokens), TINY.heads
    shown = np.where(np.arange(len(row)) < TINY.task.N, row, 0.0)
    x = np.vstack([tokens, shown]).T @ net.embed.weight.T + net.embed.bias
    layers = net.layers
    norms = layers.of_attention, layers.of_widening
    for i in range(len(layers.widen.weight)):
        first, second = (lambda x, n=n, i=i: normalized(x, n.weight[i], n.bias[i]) for n in norms)
        parts, inner = layers.attention, x if post else first(x)
        q, k, v = (
            inner @ part.weight[i].T
            for part in (parts.query_proj, parts.key_proj, parts.value_proj)
        )
        size = x.shape[1] // heads
        attended = np.zeros_like(x)
        for h in range(heads):
            own = slice(h * size, (h + 1) * size)
            powers = np.exp(q[:, own] @ k[:, own].T / np.sqrt(size))
            attended[:, own] = powers @ v[:, own] / powers.sum(axis=1, keepdims=True)
        x = x + attended @ parts.output_proj.weight[i].T
        x = first(x) if post else x
        inner = x if post else second(x)
        wide = np.maximum(inner @ layers.widen.weight[i].T + layers.widen.bias[i], 0)
        x = x + wide @ layers.narrow.weight[i].T + layers.narrow.bias[i]
        x = second(x) if post else x
    x = x if post else normalized(x, net.last.weight, net.last.bias)
    return (x @ net.read.weight.T + net.read.bias)[:, 0]


def test_predictions_by_hand(tiny: DeepDynamics, predict: Callable[..., np.ndarray]):
    labels = np.asarray(tiny.tests[1])
    expected = np.array([by_hand(tiny, row) for row in labels])
    np.testing.assert_allclose(predict(tiny.tokens, labels), expected, rtol=1e-10, atol=1e-10)


def test_predictions_by_hand_with_norms_before_parts():
    found, row = in_double(replace(TINY, norm="pre")), np.linspace(-1, 2, 7)
    predicted = found.predict(found.start, jnp.asarray(row[None]))[0]
    expected = by_hand(found, row, post=False)
    np.testing.assert_allclose(predicted, expected, rtol=1e-10, atol=1e-10)
    assert np.abs(expected - by_hand(found, row)).max() > 0.01


def test_queries_may_change_places(tiny: DeepDynamics, predict: Callable[..., np.ndarray]):
    """Nothing but its token tells a query from another one, and its label is not shown."""
    order = np.array([0, 1, 2, 5, 3, 6, 4])
    labels = np.asarray(tiny.tests[0])
    hidden = np.where(np.arange(7) < 3, labels, 7.0)
    before = predict(tiny.tokens, labels)
    after = predict(tiny.tokens[:, order], hidden)
    np.testing.assert_allclose(after, before[:, order], rtol=1e-12, atol=1e-12)
    assert np.abs(after - before).max() > 0.01


def test_what_is_measured(tiny: DeepDynamics):
    """The loss on training prompts, and the distances to ridge regression."""
    found = jax.jit(lambda at: tiny.measure(at))(tiny.init())
    task = TINY.task
    seen = np.asarray(tiny.sample[:200])
    away = np.array([by_hand(tiny, row) for row in seen]) - seen
    assert float(found["training"]) == pytest.approx(np.sum(away**2) / (2 * 7 * 200), rel=1e-10)
    for name, rows in zip(("in_domain", "out_of_domain"), TINY.test_labels(), strict=True):
        y = rows[:, : task.N]
        ridge = np.linalg.solve(task.Z @ task.Z.T + 2 * 0.1 * np.eye(2), task.Z @ y.T)
        goal = np.hstack([y, ridge.T @ task.Z_query])
        away = np.array([by_hand(tiny, row) for row in rows]) - goal
        assert float(found[name]) == pytest.approx(np.sum(away**2) / (200 * 7), rel=1e-5)


def test_first_step_of_adam(tiny: DeepDynamics):
    """The gradient on the batch against differences, array by array, and what Adam makes of it."""
    state = jax.jit(lambda at: tiny.step(at))(tiny.init())
    drawn = np.asarray(words(fold(stream(0), jnp.uint32(0)), TINY.batch)) % 10_000
    rows = tiny.sample[drawn.astype(int)]
    loss = jax.jit(lambda at: tiny.loss(at, rows))
    _, shaped = ravel_pytree(tiny.start)
    gradient = jax.tree.leaves(shaped(state.optimizer.mu / 0.1))
    leaves, shape = jax.tree.flatten(tiny.start)
    rng = np.random.default_rng(2)
    for i, (old, slope, new) in enumerate(
        zip(leaves, gradient, jax.tree.leaves(state.weights), strict=True)
    ):
        way = rng.standard_normal(slope.shape)
        high, low = (
            float(loss(jax.tree.unflatten(shape, [*leaves[:i], old + s * way, *leaves[i + 1 :]])))
            for s in (1e-5, -1e-5)
        )
        slope = np.asarray(slope)
        assert np.sum(slope * way) == pytest.approx((high - low) / 2e-5, rel=1e-5, abs=1e-8)
        expected = np.asarray(old) - 0.01 * slope / (np.abs(slope) + 1e-8)
        np.testing.assert_allclose(new, expected, rtol=1e-6, atol=1e-9)
    assert int(state.t) == 1


def test_prompts_follow_the_two_laws():
    """E lambda lambda' is I, and 4 I + 11'; three standard errors of 200 prompts."""
    how = replace(TINY, task=draw_task(2, 6, 4, 2, 0.0, seed=3))
    Z = how.task.representations
    inside, outside = (np.mean(rows**2, axis=0) for rows in how.test_labels())
    for found, moment in ((inside, np.eye(2)), (outside, 4 * np.eye(2) + 1)):
        expected = np.einsum("mk,mn,nk->k", Z, moment, Z)
        assert np.all(np.abs(found / expected - 1) < 3 * np.sqrt(2 / 200))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": 4}, "must divide it; got H = 4"),
        ({"layers": 0}, "layers must be a positive"),
        ({"norm": "both"}, "unknown norm 'both'"),
    ],
)
def test_impossible_networks(change: dict[str, int], said: str):
    with pytest.raises(InputError, match=said):
        replace(TINY, **change)


def operations(jaxpr: Any) -> int:
    """Two for each multiplication in a matrix product, loops unrolled."""
    total = 0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            size = np.prod([equation.invars[0].aval.shape[axis] for axis in contracted])
            total += 2 * int(size * np.prod(equation.outvars[0].aval.shape))
        times = equation.params.get("length", 1)
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            total += times * operations(inner) if hasattr(inner, "eqns") else 0
    return total


def test_operations_are_those_of_the_gradient(tiny: DeepDynamics):
    traced = jax.make_jaxpr(jax.grad(tiny.loss))(tiny.start, tiny.sample[: TINY.batch])
    assert operations(traced.jaxpr) == TINY.flops_per_step


def test_linear_parts_start_uniform_within_one_over_the_root_of_what_goes_in():
    is_linear = lambda part: isinstance(part, eqx.nn.Linear)  # noqa: E731
    parts = jax.tree.leaves(TINY.network(), is_leaf=is_linear)
    numbers = [
        np.ravel(leaf) * np.sqrt(part.in_features)
        for part in filter(is_linear, parts)
        for leaf in jax.tree.leaves(part)
    ]
    assert kstest(np.concatenate(numbers), uniform(-1, 2).cdf).pvalue > 0.01


def test_a_run_diverges_at_the_first_record_without_a_loss():
    steps = np.array([0, 5, 10, 20])
    for losses, first in (([2.0, 1.0, np.inf, np.nan], 10), ([2.0, 1.0, 0.5, 0.4], None)):
        recording = Recording[Any](steps, {"training": np.array([losses])}, None)
        assert DeepRun(TINY, recording).diverged == first


def test_the_papers_size():
    """4 layers of 256 and 512, K = 200 tokens: 770 billion operations, and the embedding."""
    inner = 4 * (4 * 256**2 + 2 * 256 * 512 + 2 * 200 * 256) + 256
    assert paper_training().flops_per_step == 256 * 200 * (6 * inner + 4 * 101 * 256)


@pytest.fixture(scope="module")
def bench() -> Bench:
    """The default run of Figure 2b; Figure 5 made up."""
    return with_heads(made_up(0.05, 0.002, one=0.02))


def with_heads(evidence: Evidence[Heads]) -> Bench:
    """A bench on which Figure 5 gives this evidence."""
    bench = Bench()
    bench._evidence[bench.bind(HEADS)] = evidence
    return bench


MADE_UP = replace(TINY, task=draw_task(8, 16, 16, 8, 0.01, seed=0, unit=False), d_model=16)


def made_up(shift: float, spread: float, one: float = 0.0) -> Evidence[Heads]:
    """Losses that halve every ten steps; with 16 heads higher by about exp(shift) than with 4, and
    with one head by exp(one). A step takes twice as long with 16."""
    steps, around = np.arange(0, 41, 10), spread * np.array([-1.0, 0.0, 1.0])
    cases = []
    for heads, own, each in (
        (1, 0.1, one + 0 * around),
        (4, 0.1, 0 * around),
        (16, 0.2, shift + around),
    ):
        runs = []
        for seed, up in enumerate(each):
            series = {
                name: np.array([size * 2.0 ** (-steps / 10) * np.exp(up * (steps > 0))])
                for name, size in (("training", 1.0), ("in_domain", 2.0), ("out_of_domain", 9.0))
            }
            how = replace(MADE_UP, seed=seed, heads=heads)
            runs.append(DeepRun(how, Recording[Any](steps, series, None)))
        cases.append(Heads(f"H={heads}", heads, tuple(runs), own))
    return Evidence(tuple(cases), steps)


@pytest.mark.parametrize("name", CLAIMS)
def test_default_verdicts(bench: Bench, name: str):
    verdict = check(CLAIMS[name], bench)
    too_short = name == "figure-2b/converges"
    assert verdict.status is (Status.UNDECIDED if too_short else Status.HOLDS), verdict.reason


def judged(name: str, evidence: Evidence[Heads]) -> Verdict:
    return check(CLAIMS[name], with_heads(evidence))


@pytest.mark.parametrize(
    ("shift", "spread", "iterations", "per_step"),
    [
        # The standard error is spread/sqrt(3); Student's t decides at 9.92 of it, 5.73 spreads.
        (0.06, 0.01, Status.HOLDS, Status.HOLDS),
        (0.05, 0.01, Status.UNDECIDED, Status.HOLDS),
        (-0.05, 0.01, Status.UNDECIDED, Status.HOLDS),
        (-0.06, 0.01, Status.FAILS, Status.HOLDS),
        (0.68, 0.01, Status.HOLDS, Status.UNDECIDED),
        (0.80, 0.01, Status.HOLDS, Status.FAILS),
        (-0.80, 0.01, Status.FAILS, Status.FAILS),
    ],
)
def test_heads_are_judged_by_students_t(
    shift: float, spread: float, iterations: Status, per_step: Status
):
    evidence = made_up(shift, spread)
    verdict = judged("figure-5/iterations", evidence)
    assert verdict.status is iterations
    assert verdict.witness is not None
    assert verdict.witness["left"] == pytest.approx(shift)
    assert judged("own/deep-heads-per-step", evidence).status is per_step


def test_four_layers_above_the_least_loss_of_one_head_are_noticed():
    """Losses a hundred times as high."""
    evidence = made_up(0.05, 0.002, one=np.log(100))
    assert judged("figure-5/few-heads", evidence).status is Status.FAILS


def test_the_least_loss_of_one_head_by_a_search(bench: Bench):
    """Columns of random attention, w fitted, never come below; the best simplex point does."""
    case = bench.evidence(HEADS).cases[0]
    task, rng = case.runs[0].how.task, np.random.default_rng(0)
    gram, total = task.gram, 0.0
    for column in task.target.T:
        points = rng.dirichlet(np.full(task.N, 0.3), size=20_000)
        cross, own = points @ gram @ column, np.einsum("pi,ij,pj->p", points, gram, points)
        total += float(column @ gram @ column - (cross**2 / own).max())
    assert case.floor < total / task.K < 1.6 * case.floor


def test_attention_weights_are_those_of_the_forward_pass(tiny: DeepDynamics):
    """Powers of e in the program that predicts; there is a loop over layers."""
    traced = jax.make_jaxpr(tiny.predict)(tiny.start, tiny.sample[: TINY.batch])
    assert powers(traced.jaxpr) == TINY.attention_per_step


def powers(jaxpr: Any) -> int:
    total = 0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "exp":
            total += int(np.prod(equation.outvars[0].aval.shape))
        times = equation.params.get("length", 1)
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            total += times * powers(inner) if hasattr(inner, "eqns") else 0
    return total


def test_the_largest_ratio_of_linear_maps(bench: Bench):
    (found,) = bench.evidence(DEEP)
    inside, outside = found.how.test_labels()[:, :, : found.how.task.N]
    rng = np.random.default_rng(0)
    for _ in range(50):
        away = rng.standard_normal((inside.shape[1], 3))
        assert np.sum((outside @ away) ** 2) <= found.linear_ratio * np.sum((inside @ away) ** 2)
    values, vectors = np.linalg.eig(np.linalg.solve(inside.T @ inside, outside.T @ outside))
    worst = np.real(vectors[:, np.argmax(np.real(values))])
    ratio = np.sum((outside @ worst) ** 2) / np.sum((inside @ worst) ** 2)
    assert ratio == pytest.approx(found.linear_ratio, rel=1e-8)


def test_the_experiment_about_heads(bench: Bench):
    """With the sizes of the other run, so that nothing is compiled again."""
    sizes = DeepRuns(32, 64, 16, 3e-3, heads=(4,), steps=2, records=2, seeds=2)
    assert replace(sizes, steps=600, records=30, seeds=1) == DEEP.training
    done: list[int] = []
    small = replace(HEADS, instances=DEEP.instances, training=sizes)
    found = Bench(track=lambda title, total: done.append).evidence(small)
    (case,) = found
    assert sum(done) == 4
    assert case.seconds > 0
    assert case["training"].shape == (2, 3)
    assert case["training"][0, 0] == pytest.approx(bench.evidence(DEEP).cases[0]["training"][0])
    assert case["training"][0, 0] != case["training"][1, 0]
    assert case.heights == pytest.approx(np.log(case["training"][:, 1:]).mean(axis=1))


def test_claims_about_a_users_plan():
    """Four layers are trained on its task; the prompts and the witness are of that plan."""
    plan = Plan(draw_task(2, 4, 4, 2, 0.5, seed=0, name="mine"), heads=2)
    bench = Bench(instances=[plan], options={"steps": 6, "records": 6})
    verdicts = {name: check(claim, bench) for name, claim in CLAIMS.items()}
    assert all(v.status is not Status.INAPPLICABLE for v in verdicts.values())
    assert verdicts["figure-5/work"].status is Status.HOLDS
    assert "mine" in str(verdicts["figure-2b/ood-above"].witness)
    (run,) = bench.evidence(DEEP)
    assert run.how.task is plan.task
    assert {case.group for case in bench.evidence(HEADS)} == {"mine"}
    short = Bench(instances=[plan], options={"steps": 2, "records": 2})
    assert "too few records" in check(CLAIMS["figure-2b/trend"], short).reason


def test_figure_2b(bench: Bench):
    drawing = _deep.draw(bench)
    assert drawing.picture.get_size_inches()[0] == COLUMN_WIDTH
    drawing.picture.draw_without_rendering()
    json.dumps(plain(drawing.numbers), allow_nan=False)
    (found,) = bench.evidence(DEEP)
    (axes,) = drawing.picture.axes
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), found["in_domain"])
    assert axes.lines[3].get_ydata()[0] == found.how.task.minimum
    for said in ("7.75\xa0×\xa010¹¹", "13 seconds", "Where the paper is silent: τ = 0.01", "H = 4"):
        assert said in drawing.caption


def test_figure_5(bench: Bench):
    """In four seconds all 40 steps with 4 heads, 20 with 16."""
    drawing = _deep_heads.draw(bench)
    assert drawing.picture.get_size_inches()[0] == TEXT_WIDTH
    drawing.picture.draw_without_rendering()
    json.dumps(plain(drawing.numbers), allow_nan=False)
    assert drawing.numbers["seconds"] == pytest.approx(4.0)
    _, few, many = drawing.numbers["by number of heads"]
    assert (few["steps"], many["steps"]) == (40, 20)
    assert few["inference, in domain"] == pytest.approx(2 / 16)
    assert many["training loss"] == pytest.approx(np.exp(0.05) / 4, rel=1e-4)
    assert many["training loss after all steps"] == pytest.approx(np.exp(0.05) / 16, rel=1e-4)
    assert _deep_heads.final(bench.evidence(HEADS).cases[1], "training", 0.5) == pytest.approx(
        2**-0.5
    )
    assert "H = 16: 200 ms a step, 20 steps" in drawing.caption
