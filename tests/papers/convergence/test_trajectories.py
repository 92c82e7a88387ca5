"""Algorithm 1 step by step: stored trajectories, mpmath, closed forms."""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles import textbook
from oracles.golden import GOLDEN, cases

from lemmata.papers.convergence.setting import Dataset, TwoStage, TwoStageRun
from lemmata.papers.convergence.setting._dynamics import CollocationTraining
from lemmata.tokens import TokenData
from lemmata.training import run

SMALL = ["example1", "lemma7_witness", "random_K6"]
LATE = ["drop_injectivity_k3_m2", "drop_injectivity_k2_m3", "drop_prefix_closure"]


def in_stored_order(matrix: np.ndarray, member: Dataset, names: list[str]) -> np.ndarray:
    """A matrix over tokens, which a dataset numbers by first appearance, in the file's order."""
    at = [member.data.vocabulary.index(name) for name in names]
    return matrix[np.ix_(at, at)]


@pytest.fixture(scope="module")
def late() -> dict[str, tuple[TwoStageRun, int]]:
    """The counterexamples to Proposition 2, until the loss has long stopped moving."""
    members = [Dataset(name, cases()[name].from_sentences or cases()[name].data) for name in LATE]
    found = TwoStage(steps=20_000, rate=0.5, record=(0, 2, 10, 100, 900)).run(members)
    return {name: (found, i) for i, name in enumerate(LATE)}


@pytest.fixture(params=[*SMALL, *LATE])
def pair(request) -> tuple[TwoStageRun, int, dict]:
    """A run, the row of a dataset in it, and what is stored about that dataset."""
    name = request.param
    found = request.getfixturevalue("trained" if name in SMALL else "late")
    return *found[name], cases()[name].facts["trajectory"]


def test_golden_stage_1(pair):
    found, i, facts = pair
    series = found.stage1.series
    assert found.rate_ov[i] == pytest.approx(facts["eta0"], rel=1e-15)
    assert series["log_loss"][i, 0] == pytest.approx(facts["stage1_log_loss_t0"], abs=1e-12)
    for step, row in facts["stage1"].items():
        if int(step) in found.stage1.steps:
            at = found.stage1.at(int(step))
            assert series["log_loss"][i, at] == pytest.approx(row["log_loss"], abs=1e-8)
            assert series["norm"][i, at] == pytest.approx(row["norm"], rel=1e-9)
            assert abs(series["one_minus_correlation"][i, at] - (1 - row["cos"])) < 1e-9
            assert series["smallest_margin"][i, at] == pytest.approx(row["margin"], rel=1e-9)
            assert series["largest_margin"][i, at] == pytest.approx(row["margin"], rel=1e-9)


def test_golden_stage_2(pair):
    found, i, facts = pair
    series = found.stage2.series
    assert found.rate_kq[i] == pytest.approx(facts["eta"], rel=1e-15)
    assert series["log_loss"][i, 0] == pytest.approx(facts["stage2_log_loss_t0"], abs=1e-8)
    for step, row in facts["stage2"].items():
        if int(step) in found.stage2.steps:
            at = found.stage2.at(int(step))
            assert series["log_loss"][i, at] == pytest.approx(row["log_loss"], abs=1e-8)
            assert series["norm"][i, at] == pytest.approx(row["norm"], rel=1e-9)
            assert series["log_gradient_norm"][i, at] == pytest.approx(
                row["log_gradient_norm"], abs=1e-8
            )
            gap = series["one_minus_correlation"][i, at]
            assert gap == pytest.approx(row["one_minus_cos"], rel=1e-7, abs=1e-12)
    assert series["log_loss"][i, -1] == pytest.approx(facts["log_loss_floor"], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "key"), [("example1", "mpmath_90_digits"), ("random_K6", "mpmath_60_digits")]
)
def test_golden_mpmath_trajectories(trained, name, key):
    found, i = trained[name]
    for step, row in cases()[name].facts["trajectory"][key].items():
        at = found.stage2.at(int(step))
        for what in ("log_loss", "norm"):
            value = found.stage2.series[what][i, at]
            assert value == pytest.approx(float(row[what]), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["example1", "random_K6"])
def test_golden_final_weights(trained, name):
    (found, i), facts = trained[name], cases()[name].facts
    W = in_stored_order(found.key_query(i), found.datasets[i], facts["vocabulary"])
    np.testing.assert_allclose(W, facts["W_kq_at_900"], rtol=1e-10, atol=0)


def test_golden_predictions_of_example_1(trained):
    found, i = trained["example1"]
    for words, facts in GOLDEN["example1"]["predictions_at_t900"].items():
        tokens = found.datasets[i].encode(list(words))
        guess = found.predict(i, tokens)
        np.testing.assert_allclose(found.attention(i, tokens), facts["attention"], rtol=1e-8)
        assert guess.max() == pytest.approx(facts["prob"], abs=1e-8)
        if "tie" not in facts["next"]:
            assert found.datasets[i].data.name(int(guess.argmax())) == facts["next"]


@pytest.mark.parametrize("name", LATE)
def test_late_weights_leave_the_form_of_proposition_2(late, name):
    # Proposition 2: under each query m/(k+m) on the k optimal tokens, -k/(k+m) on the m others
    (found, i), facts = late[name], cases()[name].facts
    names = facts["vocabulary"]
    form = np.zeros((len(names), len(names)))
    for query, types in facts["types"].items():
        k, m = len(types["optimal"]), len(types["non_optimal"])
        for token in types["optimal"]:
            form[names.index(token), names.index(query)] = m / (k + m)
        for token in types["non_optimal"]:
            form[names.index(token), names.index(query)] = -k / (k + m)
    assert np.sum(form**2) == pytest.approx(
        float(Fraction(facts["W_kq_star"]["prop2_norm_squared"]))
    )
    W = in_stored_order(found.key_query(i), found.datasets[i], names)
    gap = 1 - np.sum(W * form) / np.linalg.norm(W) / np.linalg.norm(form)
    stored = facts["trajectory"]["stage2"]["20000"]["one_minus_cos_to_prop2_form"]
    assert gap == pytest.approx(stored, rel=1e-8)


def test_columns_of_the_key_query_weights_sum_to_zero(trained, late):
    for found, i in (*trained.values(), *late.values()):
        W = found.key_query(i)
        np.testing.assert_allclose(W.sum(axis=0), 0, atol=2e-12 * max(1, np.abs(W).max()))


def test_stage_1_is_known_in_closed_form(trained):
    for found, i in trained.values():
        member, rate, t = found.datasets[i], found.rate_ov[i], found.stage1.steps
        K, margin, series = member.K, rate * t / np.sqrt(member.K - 1), found.stage1.series
        with mp.workdps(80):
            loss = [float(mp.log(K * mp.log1p((K - 1) * mp.exp(-mpf(float(d)))))) for d in margin]
        np.testing.assert_allclose(series["log_loss"][i], loss, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(series["norm"][i], rate * t, rtol=1e-12)
        assert np.all(series["one_minus_correlation"][i, 1:] < 1e-24)
        assert np.all(series["wrong_spread"][i] < 1e-12)
        star = np.eye(K)[[member.collocation.of(x) for x in range(K)]] - 1 / K
        np.testing.assert_allclose(found.value_logits(i), margin[-1] * star, rtol=1e-11)


def reference_trajectory(member: Dataset, margin: float, rate: float, steps: int) -> list[dict]:
    """Stage 2 by the textbook in 60 digits, with the paper's quantities at each step."""
    data, K = member.data, member.K
    n = member.collocation.following
    values = {(x, v): mpf(margin) * (v == n[x]) for x in range(K) for v in range(K)}
    W = {(x, q): mpf(0) for x in range(K) for q in range(K)}
    star = textbook.as_table(member.attention_margin.weights)
    records = []
    for _ in range(steps):
        found = textbook.gradients(data, values, W)
        length, size = textbook.norm(found.weights), textbook.norm(star)
        weight = []
        for s in data.samples:
            phi = textbook.softmax([W[x, s.query] for x in s.tokens])
            best = [p for p, x in zip(phi, s.tokens, strict=True) if n[x] == s.label]
            weight.append((best[0], mp.fsum(best), len(s.tokens)))
        edges = [
            W[a, q] - W[b, q] for q, graph in member.orders.graphs.items() for a, b in graph.edges
        ]
        records.append(
            {
                "log_loss": mp.log(found.loss),
                "log_gradient_norm": mp.log(length),
                "norm": textbook.norm(W),
                "descent_on_target": -mp.fsum(found.weights[c] * star[c] for c in W)
                / length
                / size,
                "smallest_weight": min(first for first, _, _ in weight),
                "smallest_growth": min(mp.log(first * count) for first, _, count in weight),
                "smallest_log_odds": min(mp.log(p / (1 - p)) for _, p, _ in weight if p < 0.9999),
                "smallest_margin": min(edges),
            }
        )
        W = textbook.descend(W, found.weights, rate, length)
    return records


def test_uneven_data_against_mpmath(trained):
    found, i = trained["uneven"]
    member, series = found.datasets[i], found.stage2.series
    margin = 900 * found.rate_ov[i] / np.sqrt(3)
    with mp.workdps(60):
        for t, row in enumerate(reference_trajectory(member, margin, found.rate_kq[i], 40)):
            for what, expected in row.items():
                assert series[what][i, t] == pytest.approx(float(expected), rel=1e-10, abs=1e-11)
    assert {"assumption_3", "not_prefix_closed"} <= {p.code for p in member.problems}


def test_nothing_to_attend_to_stays_at_zero(trained):
    found, i = trained["silent"]
    np.testing.assert_array_equal(found.key_query(i), np.zeros((2, 2)))
    series = found.stage2.series
    assert np.all(series["norm"][i] == 0)
    assert np.all(series["log_gradient_norm"][i] == -np.inf)
    assert np.all(np.isfinite(series["log_loss"][i]))
    assert np.ptp(series["log_loss"][i]) == 0
    assert np.isnan(series["smallest_margin"][i]).all()  # nobody beats anybody
    assert np.isnan(series["smallest_log_odds"][i]).all()


def test_an_input_that_almost_never_occurs_is_not_learned(trained):
    found, i = trained["skewed"]
    W = found.key_query(i)
    side = 900 * found.rate_kq[i] / np.sqrt(2)
    np.testing.assert_allclose(W, [[0, -side], [0, side]], rtol=1e-12)
    assert np.all(W[:, 0] == 0)
    gap = found.stage2.series["one_minus_correlation"][i, 1:]
    np.testing.assert_allclose(
        1 - gap, GOLDEN["theorem1_frequency_gap"]["cos_for_all_those_t"], rtol=1e-12
    )


def test_optimal_weight_can_fall_without_assumption_3():
    facts = GOLDEN["lemma5_without_assumption3"]
    rows = [("a", "b", 1, ""), ("b", "c", 1, ""), ("c", "a", 1, "")]
    rows += [("a" + 6 * "b" + 30 * "c", "b", 1000, ""), ("abbc", "b", 1, "")]
    member = Dataset("weights", TokenData.from_samples(rows))
    for steps in (1, 10, 22, 23, 24, 29):
        found = TwoStage(rate=facts["eta"], steps=steps, record="log").run([member])
        weight = found.attention(0, member.encode(list("abbc")))[0]
        assert weight == pytest.approx(facts["phi_optimal_of_abbc"][steps], rel=1e-9)


def test_stage_1_for_a_million_steps():
    K, rate = 4, 0.1
    following = np.array([1, 2, 3, 0])
    star = np.eye(K)[following] - 1 / K
    found = run(
        CollocationTraining(
            start=jnp.zeros((1, K, K)),
            following=jnp.asarray(following[None]),
            vocabulary=jnp.ones((1, K), dtype=bool),
            target=jnp.asarray(star[None]),
            rate=jnp.array([rate]),
        ),
        np.array([1, 10, 1000, 30_000, 10**6]),
    )
    assert np.all(found.series["one_minus_correlation"] <= 1e-12)
    np.testing.assert_allclose(found.series["norm"][0], rate * found.steps, rtol=1e-9)
    margin = rate * found.steps / np.sqrt(K - 1)
    np.testing.assert_allclose(found.series["log_loss"][0, 2:], np.log(12) - margin[2:], rtol=1e-9)
