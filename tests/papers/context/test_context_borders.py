"""Where hypotheses and limits of plans end, from both sides; what a page shows of made-up runs."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.papers.context.setting import SETTING, Plan, Task, correlated_law, shifted_law
from lemmata.papers.context.setting import _analysis as analysis
from lemmata.papers.context.setting import _hypotheses as hypotheses
from lemmata.papers.context.setting import _plan_file as plan_file
from lemmata.papers.context.setting._batches import SHAPES, batches_of, group_of, shape_of
from lemmata.papers.context.setting._deep import PROMPTS
from lemmata.papers.context.setting._findings import (
    Duration,
    Losses,
    Zeta,
    _number,
    _steps,
    as_document,
)
from lemmata.papers.context.setting._making import make
from lemmata.papers.context.setting._model import Weights
from lemmata.papers.context.setting._pictures import _rate
from lemmata.papers.context.setting._plan_training import PlanTraining, TrainedPlan
from lemmata.papers.context.setting._sliders import sliders
from lemmata.settings import Attention, Chart, Evidence, Heat, Run


def plan_of(N: int, K: int, d: int = 2, m: int = 2, heads: int = 3, tau: float = 0.1) -> Plan:
    draw = np.random.default_rng(1)
    tokens, features = draw.standard_normal((d, K)), draw.standard_normal((m, K))
    return Plan(Task(tokens / np.linalg.norm(tokens, axis=0), features, N, tau, "p"), heads)


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in plan.problems}


def test_codes_of_hypotheses() -> None:
    known = {
        "UNIT": ({"not_unit"}, set()),
        "NOISE": ({"no_noise"}, set()),
        "FULL_RANK": ({"no_full_rank", "singular", "zeta_unresolved"}, {"zeta_unresolved"}),
        "RESOLVED": ({"zeta_unresolved"}, set()),
        "ENOUGH_HEADS": ({"few_heads"}, set()),
        "DISTINCT_ROW": ({"no_distinct_row", "repeated_token"}, set()),
    }
    found = {name: getattr(hypotheses, name) for name in known}
    assert {n: (set(h.broken_by), set(h.left_open_by)) for n, h in found.items()} == known
    theorem, start = hypotheses.CONVERGENCE, hypotheses.INITIALIZATION
    assert [h.name for h in theorem] == ["unit", "noise", "full_rank"]
    assert [h.name for h in start] == ["distinct_row", "enough_heads", "noise"]
    assert {h.name for h in hypotheses.HYPOTHESES} == {h.name for h in found.values()}


def test_as_many_heads_as_examples() -> None:
    for heads, few in ((2, True), (3, False), (4, False)):
        assert ("few_heads" in codes(plan_of(3, 5, heads=heads))) == few
        assert ("no_full_rank" in codes(plan_of(3, 5, heads=heads))) == few
    plan = plan_of(3, 5, heads=4)
    tokens = plan.task.tokens.copy()
    tokens[:, 1] = tokens[:, 0]
    same = replace(plan, task=replace(plan.task, tokens=tokens))
    assert codes(same) >= {"repeated_token", "no_full_rank"}


@pytest.mark.parametrize("size", [9e-10, -9e-10, 1.1e-9, -1.1e-9])
def test_unit_tokens_are_so_up_to_rounding(size: float) -> None:
    plan = plan_of(2, 4)
    tokens = plan.task.tokens.copy()
    tokens[:, 3] *= 1 + size
    moved = replace(plan, task=replace(plan.task, tokens=tokens))
    assert ("not_unit" in codes(moved)) == (abs(size) > 1e-9)


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({"heads": 1}, True),
        ({"heads": 0}, False),
        ({"scale": 1e-300}, True),
        ({"scale": 0.0}, False),
        ({"scale": math.inf}, False),
        ({"epsilon": 0.0}, False),
        ({"bound": 0.0}, False),
        ({"bound": 1e-9}, True),
        ({"delta": 0.0}, False),
        ({"delta": 1.0}, False),
        ({"delta": 0.999}, True),
        ({"delta": 1e-9}, True),
    ],
)
def test_numbers_of_a_plan(said: dict, fits: bool) -> None:
    plan = plan_of(2, 4)
    if fits:
        assert replace(plan, **said).largest_coefficient == said.get("bound", math.sqrt(2))
    else:
        with pytest.raises(InputError, match="p: "):
            replace(plan, **said)


BARE = {"N": 3, "tau": 0.1, "H": 4, "K": 6, "d": 5, "m": 2}


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({"N": 6}, True),
        ({"N": 7}, False),
        ({"tau": 0}, True),
        ({"tau": 1e30}, True),
        ({"tau": 1.1e30}, False),
        ({"tau": 1e-30}, True),
        ({"tau": 0.9e-30}, False),
        ({"B": 1e-30}, True),
        ({"beta": 1e31}, False),
        ({"H": 10_000}, True),
        ({"H": 10_001}, False),
        ({"d": 10_001}, False),
        ({"m": 10_001, "N": 1, "K": 1}, False),
        ({"seed": 2**32 - 1}, True),
        ({"delta": 0.999}, True),
        ({"delta": 0.0}, False),
    ],
)
def test_plan_files_end_at_these_numbers(tmp_path: Path, said: dict, fits: bool) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(BARE | said))
    if fits:
        (plan,) = SETTING.read(file)
        assert plan.heads == said.get("H", 4)
        assert plan.task.tau == said.get("tau", 0.1)
    else:
        with pytest.raises(InputError, match=r"plan\.json: "):
            SETTING.read(file)


@pytest.mark.parametrize("largest", [1e30, -1e30, 1.1e30, -1.1e30])
def test_entries_of_a_plan_file_are_moderate(tmp_path: Path, largest: float) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0], [largest, 1.0]]
    said = {"N": 1, "tau": 0.1, "H": 1, "tokens": rows, "representations": rows}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(said))
    if abs(largest) <= 1e30:
        assert SETTING.read(file)[0].task.tokens[0, 2] == largest
    else:
        with pytest.raises(InputError, match=r"tokens: an entry is larger than 1e\+30"):
            SETTING.read(file)


@pytest.mark.parametrize(
    ("N", "H", "K", "d", "m", "name"),
    [
        (100, 2_000, 100, 100, 4_472, None),
        (200, 1, 500, 1, 1, None),
        (1, 1, 10_000, 4_472, 10, None),
        (100, 2_001, 100, 1, 1, "N H K"),
        (200, 1, 501, 1, 1, "N N K"),
        (1, 2_000, 2, 101, 1, "H d d"),
        (1, 1, 2, 1, 4_473, "m m"),
        (1, 1, 10_001, 1, 1, "K"),
        (1, 1, 2, 10_001, 1, "d"),
    ],
)
def test_arrays_of_a_plan_have_twenty_million_numbers(N, H, K, d, m, name) -> None:
    tokens, features = np.broadcast_to(0.5, (K, d)), np.broadcast_to(0.5, (K, m))
    if name is None:
        plan_file._check_sizes(N, H, tokens, features, "here")
    else:
        with pytest.raises(InputError, match=f"here: {name} = "):
            plan_file._check_sizes(N, H, tokens, features, "here")


def test_random_arrays_are_counted_before_they_are_drawn(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(plan_file, "MOST_NUMBERS", 6 * 5 * 5)
    file = tmp_path / "plan.json"
    for d, fits in ((5, True), (26, False)):
        file.write_text(json.dumps(BARE | {"d": d, "H": 2}))
        if fits:
            assert SETTING.read(file)
        else:
            with pytest.raises(InputError, match="K d = 156 is too large"):
                SETTING.read(file)


def test_sliders_reach_from_where_to_where() -> None:
    plan = plan_of(3, 7, heads=4, tau=0.25)
    found = sliders(plan)
    assert [(s.name, s.value, s.least, s.most, s.whole) for s in found] == [
        ("N", 3, 1, 6, True),
        ("H", 4, 1, 32, True),
        ("tau", 0.25, 0.001, 10.0, False),
    ]
    assert found[1].ranges == ((3, 32, "Proposition 1: as many heads as examples, H ≥ N"),)
    rate = float(plan.rates.guaranteed)
    said = f"Theorem 1: tau > 0: (18) promises a rate of {rate:.2g}"
    assert found[2].ranges == ((0.001, 10.0, said),)
    assert sliders(plan_of(3, 7, heads=2))[2].ranges[0][2] == "Theorem 1: tau > 0"


def test_plans_are_made_by_their_sizes() -> None:
    plan = make({}, 5)
    task = plan.task
    assert (task.N, task.K, task.d, task.m, task.tau) == (4, 10, 6, 3, 0.1)
    assert (plan.heads, plan.scale, plan.name) == (8, 1.0, "seed 5")
    assert plan.seed == int(np.random.default_rng([5, 1]).integers(2**31))
    np.testing.assert_allclose(task.norms, 1.0, rtol=1e-14)
    sizes = {"N": 2, "K": 5, "d": 3, "m": 1, "tau": 0.5, "H": 3, "beta": 2.0, "norm": 0.5}
    other = make(sizes, 5)
    assert numbers(other) == (2, 5, 3, 1, 0.5, 3, 2.0)
    np.testing.assert_allclose(other.task.norms, 0.5, rtol=1e-14)


def numbers(plan: Plan) -> tuple:
    task = plan.task
    return task.N, task.K, task.d, task.m, task.tau, plan.heads, plan.scale


def test_drawn_plans_are_of_these_sizes() -> None:
    drawn = SETTING.draw(120)
    assert {p.task.N for p in drawn} == {1, 2, 3, 4, 5}
    assert {p.task.K - p.task.N for p in drawn} == set(range(1, 9))
    assert {p.task.d for p in drawn} <= set(range(2, 10))
    assert {p.task.d for p in drawn} >= {2, 9}
    assert {p.task.m for p in drawn} == set(range(1, 7))
    assert all(p.task.N <= p.heads <= 3 * p.task.N for p in drawn)
    assert {p.heads for p in drawn if p.task.N == 1} == {1, 2, 3}
    taus = [p.task.tau for p in drawn]
    assert 0.031 < min(taus) < 0.04
    assert 0.9 < max(taus) <= 1.0
    assert all(tau == round(tau, 3) for tau in taus)
    task = drawn[3].task
    sizes = f"N={task.N} K={task.K} d={task.d} m={task.m}"
    assert task.name == f"drawn 3: {sizes} tau={task.tau:g} H={drawn[3].heads}"
    assert SETTING.draw(1, seed=1)[0].document() != drawn[0].document()


@pytest.mark.parametrize(("m", "least"), [(1, -1.0), (2, -1.0), (3, -0.5), (5, -0.25)])
def test_correlations_end_where_the_matrix_is_singular(m: int, least: float) -> None:
    for correlation in (least, 1.0, least - 0.1, 1.1):
        with pytest.raises(InputError, match="a common correlation"):
            correlated_law(m, correlation)
    for correlation in (least + 1e-6, 0.0, 1 - 1e-6):
        moment = correlated_law(m, correlation).second_moment
        expected = [[1.0 if i == j else correlation for j in range(m)] for i in range(m)]
        np.testing.assert_allclose(moment, expected, atol=1e-9)
    np.testing.assert_array_equal(
        shifted_law(m).second_moment, [[5.0 if i == j else 1.0 for j in range(m)] for i in range(m)]
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1_234.0, "1,234"),
        (1_234.5, "1234"),
        (999_999_999.0, "999,999,999"),
        (1e9, "1e+09"),
        (-2.0, "-2"),
        (mpmath.mpf(12_345), "12,345"),
        (mpmath.mpf("1e-400"), "1.0e-400"),
        (mpmath.mpf("1e400"), "1.0e+400"),
        (mpmath.mpf(0), "0"),
    ],
)
def test_numbers_in_words(value: Any, text: str) -> None:
    assert _number(value) == text
    assert not isinstance(value, float) or _steps(value) == text


def test_findings_as_json() -> None:
    zeta = Zeta("at most", mpmath.mpf("1e-400"), 2)
    said = as_document({"a": zeta, "b": (1, mpmath.mpf(2))})
    assert said == {"a": {"kind": "at most", "value": "1.0e-400", "tokens": 2}, "b": [1, 2.0]}
    assert as_document(mpmath.mpf(0)) == 0.0
    assert _steps(None) == "more than 1e300"
    told = [str(next(Losses(0.5, printed, 0.1, 0.6).describe())) for printed in (0.5, 0.25)]
    assert ["the paper's formula" in text for text in told] == [False, True]
    zetas = [str(next(Zeta("at most", 0.5, tokens).describe())) for tokens in (1, 2)]
    assert ["one token" in text for text in zetas] == [True, False]


def test_losses_and_risks() -> None:
    """Z = (1, 0), queries 2 and 0 with m tau = 0.5: ridge gives 2/3 of a label for each of z."""
    task = Task(np.eye(4), np.array([[1.0, 0.0, 2.0, 0.0]]), 2, 0.5, "p")
    plan = Plan(task, 2)
    found = analysis._losses(plan)
    minimum = ((2 - 2 / 1.5) ** 2 + (2 / 1.5) ** 2 * 0.5 + 2 * 0.5) / 8
    assert found.minimum == pytest.approx(minimum)
    assert found.minimum_as_printed == pytest.approx(minimum - 2 * 0.5 / 8)
    assert found.at_start == pytest.approx(found.minimum + found.initial_gap)
    ridge = analysis._ridge(plan)
    assert (ridge.regularizer, ridge.best) == (0.5, 1.0)
    for level, risk in ((0.5, ridge.risk), (1.0, ridge.best_risk)):
        gain = 2 / (1 + level)
        assert risk == pytest.approx(((2 - gain) ** 2 + 0.5 * gain**2) / 2)
    every = analysis._ridge(Plan(replace(task, N=4), 4))
    assert (every.regularizer, every.risk, every.best, every.best_risk) == (0.5, None, None, None)


def test_tokens_for_more_digits_are_as_many_as_there_is_time_for(monkeypatch) -> None:
    """H (d^2 + N d + N^2) + 10 N^3 multiplications for each of four tokens at most."""
    plan = plan_of(3, 8, d=2, heads=5)
    work = 5 * (4 + 6 + 9) + 10 * 27
    for most, count in ((4 * work, 4), (9 * work, 4), (4 * work - 1, 3), (work, 1), (work - 1, 0)):
        monkeypatch.setattr(analysis, "MOST_WORK", most)
        assert len(analysis._exact_tokens(plan)) == count
    assert (analysis.PARTS, analysis.MOST_EXACT) == ((0.5, 0.8, 0.9, 0.95, 0.98, 0.99), 4)


def test_how_long_held_attention_takes() -> None:
    plan = replace(plan_of(2, 4, d=3, heads=4), epsilon=0.3)
    found = analysis._duration(plan, None)
    assert found.gap_needed == pytest.approx(2 * 0.1 * 0.3 / plan.label_bound**2)
    frozen = plan.frozen
    assert found.largest_stable_rate == frozen.largest_stable_rate
    assert found.at_theory_rate is None
    if found.tuned_rate is not None:
        parts = [found.tuned_rate / frozen.largest_stable_rate]
        assert any(parts[0] == pytest.approx(p) for p in analysis.PARTS)
        steps = [
            analysis.first_step(frozen, p * frozen.largest_stable_rate, found.gap_needed)
            for p in analysis.PARTS
        ]
        assert found.at_tuned_rate == min(s for s in steps if s is not None)
    silent = analysis._duration(plan_of(2, 4, d=3, heads=4, tau=0.0), None)
    assert (silent.gap_needed, silent.at_tuned_rate) == (0.0, None)
    rates = {"largest_stable_rate": 1.0, "tuned_rate": 0.9, "at_tuned_rate": 7.0}
    held = [Duration(0.1, floor, left, **rates) for floor, left in FLOORS]
    words = [" ".join(map(str, one.describe(None))) for one in held]
    assert ["leaves" in text or "leave a gap" in text for text in words] == [1, 0, 1, 0]


FLOORS = ((0.11, 0.0), (0.1, 9.0), (None, 0.11), (None, 0.1))


def test_small_plans_are_padded_to_a_shape() -> None:
    assert shape_of([(2, 2, 4, 2)]) == (2, 2, 4, 2)
    for place in range(4):
        size = [2, 2, 4, 2]
        size[place] += 1
        assert shape_of([tuple(size)]) == SHAPES[1] == (4, 4, 8, 4)
        size[place] = 17
        assert shape_of([tuple(size)]) is None
    assert shape_of([(1, 2, 3, 1), (2, 1, 4, 9)]) == (16, 16, 16, 16)
    assert shape_of([(8, 8, 8, 8)]) == (8, 8, 8, 8)
    one = (1, 1, 1, 1)
    counts = [(1, 1), (4, 1), (5, 16), (64, 16), (65, 128), (512, 128), (513, 128)]
    assert [(n, group_of([one] * n)) for n, _ in counts] == counts
    assert group_of([(17, 1, 1, 1)]) is None


def test_large_plans_run_with_those_of_their_size() -> None:
    """H (N K + d^2) numbers: a batch is padded to four times its smallest at most."""
    small, base, four, more = (1, 1, 2, 1), (20, 1, 2, 1), (40, 1, 2, 1), (41, 1, 2, 1)
    assert list(batches_of([base, small, base])) == [[1], [0, 2]]
    # 1602 is below four times 402, 1608 is that, and 1683 above
    assert list(batches_of([four, base])) == [[1, 0]]
    assert list(batches_of([(40, 2, 4, 1), base])) == [[1, 0]]
    assert list(batches_of([more, base])) == [[1], [0]]
    assert list(batches_of([small, (3, 1, 2, 1)])) == [[0], [1]]


def trained(plan: Plan, **series: Any) -> TrainedPlan:
    """W = 0, so that attention is even, and w = 1/H, so that a prediction is the mean label."""
    d, H, K = plan.task.d, plan.heads, plan.task.K
    zero = Weights(np.zeros((d, H, d)), np.full((H, K), 1 / H))
    weights = Weights(*map(jnp.asarray, (zero.Q, zero.w)))
    begun = TrainedPlan(plan, plan.start, {}, None)
    moments = (begun, TrainedPlan(plan, weights, {}, None))
    return TrainedPlan(plan, weights, series, None, moments)


def run_of(one: TrainedPlan, **columns: Any) -> Run:
    plans, steps = (one.plan,), np.array([0, 5])
    table = {name: np.array([values], dtype=float) for name, values in columns.items()}
    evidence = Evidence(plans, steps, table)
    return Run("context", "", plans, evidence, (None,), (True,), diverged=(None,), model=(one,))


def even_attention(plan: Plan, k: int) -> np.ndarray:
    """From token k at the examples at the start, the mean over the heads, one by one."""
    task, Q = plan.task, np.asarray(plan.start.Q)
    rows = []
    for h in range(plan.heads):
        odds = np.exp([task.tokens[:, n] @ Q[:, h] @ task.tokens[:, k] for n in range(task.N)])
        rows.append(odds / odds.sum())
    return np.mean(rows, axis=0)


@pytest.mark.parametrize(
    ("N", "K", "asking", "shown", "followed"),
    [(2, 4, 2, 2, 2), (13, 18, 3, 12, 5), (12, 20, 3, 12, 6), (17, 19, 2, 12, 2), (3, 6, 3, 3, 3)],
)
def test_who_asks_and_what_they_look_at(N, K, asking, shown, followed) -> None:
    plan = plan_of(N, K)
    run = run_of(trained(plan), gap=[2.0, 1.0], guarantee=[math.nan] * 2)
    looks = SETTING.looks(run, 0)
    assert [look.title.split()[1] for look in looks] == [str(N + n + 1) for n in range(asking)]
    for n, look in enumerate(looks):
        assert look.tokens == [f"example {i}" for i in range(1, shown + 1)]
        assert look.before == pytest.approx(even_attention(plan, N + n)[:shown])
        assert look.after == pytest.approx([1 / N] * shown)
    pictures = [p for p in SETTING.pictures(run, 0) if isinstance(p, Attention)]
    assert [p.title.split()[1] for p in pictures] == [str(N + n + 1) for n in range(followed)]
    for n, picture in enumerate(pictures):
        assert len(picture.tokens) == min(N, 16)
        assert picture.weights[0] == pytest.approx(even_attention(plan, N + n)[:16])
        assert picture.weights[1] == pytest.approx([1 / N] * min(N, 16))


@pytest.mark.parametrize("K", [40, 41])
def test_matrices_are_shown_up_to_forty_tokens(K: int) -> None:
    plan = plan_of(2, K)
    run = run_of(trained(plan), gap=[2.0, 1.0], guarantee=[math.nan] * 2)
    shown = SETTING.pictures(run, 0)
    heats = [p for p in shown if isinstance(p, Heat)]
    charts = [p.title for p in shown if isinstance(p, Chart)]
    assert charts == (["The rate", "One prompt"] if K == 40 else ["The rate"])
    assert len(heats) == (K == 40)
    for heat in heats:
        assert heat.rows == ("example 1", "example 2")
        assert heat.columns == tuple(str(k) for k in range(1, 41))
        np.testing.assert_allclose(heat.values[1], 1 / 2)
        np.testing.assert_allclose(heat.goal[:, :2], np.eye(2))
    (prompt,) = [p for p in shown if getattr(p, "title", "") == "One prompt"] or [None]
    if prompt is not None:
        stream, task = np.random.default_rng(0), plan.task
        law = stream.standard_normal(2)
        noise = math.sqrt(0.1 * (law @ law)) * stream.standard_normal(40)
        labels = law @ task.representations + noise
        assert prompt.x == tuple(range(1, 41))
        assert prompt.curves["transformer"][1] == pytest.approx([labels[:2].mean()] * 40)
        np.testing.assert_allclose(prompt.fixed["ridge regression"][:2], labels[:2])


def test_rates_are_shown_once_they_are_known() -> None:
    plan = plan_of(2, 4)
    one, plans = trained(plan), (plan,)
    gap = [[8.0, 4.0, 4.0, 1.0, 0.5]]
    bound = [[8.0 * math.exp(-0.1 * t) for t in (0, 1, 2, 4, 8)]]
    for promised in (bound, [[math.nan] * 5]):
        columns = {"gap": np.array(gap), "guarantee": np.array(promised)}
        evidence = Evidence(plans, np.array([0, 1, 2, 4, 8]), columns)
        run = Run("context", "", plans, evidence, (None,), (True,), diverged=(None,), model=(one,))
        chart = _rate(run, 0)
        assert chart.x == (1, 2, 4, 8)
        assert chart.log_x
        assert chart.log_y
        rates = [math.log(2), math.nan, math.log(4) / 2, math.log(2) / 4]
        for record, row in enumerate(chart.curves["given by training"]):
            expected = rates[:record] + [math.nan] * (4 - record)
            assert row.tolist() == pytest.approx(expected, nan_ok=True)
        fixed = chart.fixed.get("promised by (18)")
        assert fixed is None if promised is not bound else fixed == pytest.approx([0.1] * 4)


def test_forecasts_are_the_least_loss_and_the_bound() -> None:
    plan = plan_of(2, 4)
    run = run_of(trained(plan), guarantee=[2.0, 0.5])
    found = {f.column: f.values.tolist() for f in SETTING.forecasts(run, 0)}
    assert found == {
        "loss": [plan.task.minimum] * 2,
        "gap": [2.0, 0.5],
        "in_domain": [4.0, 1.0],
    }
    run = run_of(trained(plan), guarantee=[math.nan] * 2)
    assert [f.column for f in SETTING.forecasts(run, 0)] == ["loss"]


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"sample": 0}, True),
        ({"sample": -1}, False),
        ({"batch": 1}, True),
        ({"batch": 0}, False),
        ({"seed": 0}, True),
        ({"seed": 2**32 - 1}, True),
        ({"seed": 2**32}, False),
        ({"seed": -1}, False),
        ({"layers": 1}, True),
        ({"layers": 0}, False),
    ],
)
def test_numbers_of_a_training(options: dict, fits: bool) -> None:
    if fits:
        assert PlanTraining(**options).seeded(plan_of(2, 4)).seed == options.get("seed", 1)
    else:
        with pytest.raises(InputError):
            PlanTraining(**options)


def test_rates_of_adam_and_of_the_theory() -> None:
    plan = plan_of(2, 4)
    assert PlanTraining(algorithm="adam").rates(plan) == (1e-3, 1e-3)
    assert PlanTraining(algorithm="adam", rate=0.5).rates(plan) == (0.5, 0.5)
    assert PlanTraining(rate=0.5).rates(plan) == (0.5, 0.5)
    eta_Q, eta_w = PlanTraining().rates(plan)
    assert eta_w / eta_Q == pytest.approx(float(plan.rates.gamma) ** 2)
    assert [PlanTraining(algorithm=a).total for a in ("gd", "adam")] == [10_000, 1_000]
    assert PlanTraining().batch == 256
    assert (PlanTraining().d_model, PlanTraining().d_ff) == (64, 128)
    deep = PlanTraining(algorithm="adam", layers=2, d_model=9)
    assert deep.refusal(plan_of(2, 4, heads=3)) is None
    assert "H = 2 must divide it" in str(deep.refusal(plan_of(2, 4, heads=2)))


def test_an_encoder_has_a_usual_number_of_prompts() -> None:
    assert PlanTraining(algorithm="adam", layers=2, sample=7).prompts == 7
    assert PlanTraining(algorithm="adam", layers=2).prompts == PROMPTS > 7
