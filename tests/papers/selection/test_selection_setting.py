"""The setting: plans read, drawn, analysed and trained, against stored numbers and plain loops."""

import json
import math
from dataclasses import replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles.sparse_selection import FACTS, SMALL

import lemmata as lm
from lemmata._errors import InputError
from lemmata.papers import papers, theorems_about
from lemmata.papers.selection.setting import (
    ENCODED_PLANS,
    ONE_HOT_PLANS,
    SETTING,
    Family,
    OnlineChoices,
    Plan,
    PlanTraining,
    Task,
    Weights,
    _isometry,
    population,
)
from lemmata.papers.selection.setting import (
    _measure as measuring,
)
from lemmata.papers.selection.setting._findings import describe_encodings
from lemmata.papers.selection.setting._forecast import loss_elsewhere, two_scalars
from lemmata.papers.selection.setting._measure import (
    least_dimensions,
    measure,
    orthogonality_floor,
)
from lemmata.papers.selection.setting._sliders import sliders
from lemmata.papers.selection.theory import width_law


def given_plan(E: np.ndarray, q: int, d: int = 2, rate: float = 0.5, eps: float = 0.01) -> Plan:
    return Plan("mine", Task(E.shape[1], q, d), rate, eps, d_e=len(E), encodings=E)


def run(plan: Plan, algorithm: str = "gd", **more: Any) -> dict[str, Any]:
    """What training one plan gives, by name."""
    trained = SETTING.train([plan], {"algorithm": algorithm, **more})
    columns = {name: trained[name][0] for name in trained.names}
    return {
        **columns,
        **trained.extras[0],
        "steps": trained.steps,
        "diverged": trained.diverged[0],
        "reason": trained.reasons[0],
    }


def analyze_plan(plan: Plan) -> dict[str, Any]:
    return lm.analyze(plan).document()


def in_words(plan: Plan) -> str:
    return " ".join(str(item) for item in lm.analyze(plan).describe())


def test_small_encodings_are_measured_exactly():
    facts = FACTS["small_encoding"]
    found = measure(given_plan(SMALL, q=2))
    assert found.coherence == pytest.approx(facts["coherence"], rel=1e-12)
    assert found.isometry == pytest.approx(facts["rip_isometry_q2"], rel=1e-12)
    assert found.orthogonality == pytest.approx(facts["rip_orthogonality_q2"], rel=1e-12)
    assert found.exact
    assert found.below_tenth is False
    inner = []
    for y in combinations(range(6), 2):
        e_y = np.linalg.lstsq(SMALL[:, y].T, np.ones(2), rcond=None)[0]
        inner += [SMALL[:, i] @ e_y for i in range(6) if i not in y]
    assert found.off_subset == pytest.approx(np.abs(inner).max(), rel=1e-12)
    assert found.rival == pytest.approx(max(inner), rel=1e-12)
    assert found.off_subset_exact


def test_encodings_with_too_many_sets_get_lower_bounds(monkeypatch: pytest.MonkeyPatch):
    E = np.random.default_rng(0).standard_normal((6, 9)) * 0.4
    exact = measure(given_plan(E, q=3))
    monkeypatch.setattr(_isometry, "MOST_SETS", 0)
    monkeypatch.setattr(measuring, "MOST_NUMBERS", math.comb(9, 3) * 9 - 1)
    rough = measure(given_plan(E, q=3))
    assert exact.isometry_exact
    assert exact.off_subset_exact
    assert not rough.isometry_exact
    assert not rough.off_subset_exact
    for name in ("isometry", "off_subset"):
        assert 0.3 * getattr(exact, name) < getattr(rough, name) <= getattr(exact, name) + 1e-12


def test_the_floor_is_told_in_words_where_there_is_one():
    E = np.random.default_rng(0).standard_normal((4, 6))
    unit = E / np.linalg.norm(E, axis=0)
    floor, least = orthogonality_floor(4, 6, 2), least_dimensions(6, 2)
    said = f"is at least {floor:.4f}: delta < 1/10 is impossible below d_e = {least}"
    for E, told in ((unit, True), (2 * unit, False)):
        plan = given_plan(E, q=2)
        words = " ".join(map(str, describe_encodings(plan, measure(plan))))
        assert (said in words) == ("Orthogonality of any" in words) == told


def test_a_slider_moves_what_a_plan_file_may_change():
    always, given = {"q", "d", "eta", "eps"}, given_plan(np.eye(8), q=2)
    for plan, more in ((PLAIN, {"T"}), (RANDOM, {"T", "d_e"}), (given, set())):
        assert {slider.name for slider in sliders(plan)} == always | more


def test_a_delta_that_was_not_gone_through_is_open_below_a_tenth():
    open_ = measuring.Measured(0.01, 0.05, 0.05, 0.05, orthogonality_exact=False)
    assert open_.below_tenth is None
    assert replace(open_, orthogonality=0.1).below_tenth is False
    assert replace(open_, orthogonality_exact=True).below_tenth is True
    plan = Plan("p", Task(16, 2, 3), 0.1, 1e-3, d_e=4_000)
    assert measure(plan).below_tenth is measure(plan).exact


def simplex(corners: int) -> np.ndarray:
    """Unit vectors with inner products -1/(corners - 1), in one dimension less."""
    centred = np.eye(corners) - 1 / corners
    basis = np.linalg.svd(centred)[0][:, : corners - 1]
    return basis.T @ centred / np.linalg.norm(centred, axis=0)


def test_the_floor_is_reached_by_a_simplex_and_respected_by_others():
    assert measure(given_plan(simplex(5), q=1)).orthogonality == pytest.approx(
        orthogonality_floor(4, 5, 1), rel=1e-12
    )
    draw = np.random.default_rng(1)
    for d_e, T, q in ((2, 5, 1), (3, 6, 2), (3, 4, 3), (3, 5, 3), (4, 7, 2)):
        E = draw.standard_normal((d_e, T))
        E /= np.linalg.norm(E, axis=0)
        assert measure(given_plan(E, q=q)).orthogonality >= orthogonality_floor(d_e, T, q) - 1e-12


@pytest.mark.parametrize(("T", "q"), [(200, 3), (250, 3), (400, 3), (12, 2), (5, 3)])
def test_the_least_dimensions_are_those_from_which_the_floor_is_below_a_tenth(T: int, q: int):
    allowed = [d_e for d_e in range(1, T + 1) if orthogonality_floor(d_e, T, q) < 0.1]
    assert least_dimensions(T, q) == allowed[0]


def test_the_experiments_of_the_paper_cannot_have_the_isometry():
    assert orthogonality_floor(170, 200, 3) == pytest.approx(0.073, abs=5e-4)
    assert orthogonality_floor(170, 250, 3) == pytest.approx(0.106, abs=5e-4)
    assert orthogonality_floor(170, 400, 3) == pytest.approx(0.143, abs=5e-4)


@pytest.mark.parametrize("facts", FACTS["onehot_time_to_eps"][:6])
def test_times_of_one_hot_plans_are_the_stored_ones(facts: dict):
    plan = Plan("p", Task(facts["T"], facts["q"], facts["d"]), facts["eta"], facts["eps"])
    time = analyze_plan(plan)["time"]
    assert time["steps"] == pytest.approx(facts["t_first_loss_le_eps"], abs=facts["tol_steps"])
    assert time["standard_error"] == 0
    assert time["bound"] == pytest.approx(facts["bound_T2d_over_eta_eps"], rel=1e-12)
    assert time["steps_over_law"] == pytest.approx(facts["ratio_4_eta_eps_t_over_Tm1"], rel=1e-3)


def two_level_loss(alpha: float, C: float, T: int, q: int, d: int) -> float:
    s = 1 / (q + (T - q) * math.exp(-C))
    return d / 2 * ((1 - q * alpha * s) ** 2 / q + alpha**2 * (1 - q * s) ** 2 / (T - q))


def test_the_loss_at_twice_the_length_is_that_of_the_same_weights():
    T, q, d, eta = 12, 2, 3, 0.5
    alpha = C = 0.0
    while two_level_loss(alpha, C, T, q, d) > 0.01:
        s = 1 / (q + (T - q) * math.exp(-C))
        up = s - alpha * (q * s**2 + (1 - q * s) ** 2 / (T - q))
        pull = s * (1 - q * s) * (1 + q * alpha * (1 - T * s) / (T - q))
        alpha, C = alpha + eta * up, C + eta * alpha * d / (T - 1) * pull
    longer = two_level_loss(alpha, C, 2 * T, q, d)
    length = analyze_plan(Plan("p", Task(T, q, d), eta, 0.01))["length"]
    assert length["T"] == 24
    assert length["loss"] == pytest.approx(longer, rel=1e-9)
    assert length["ratio"] == pytest.approx(longer / two_level_loss(alpha, C, T, q, d), rel=1e-9)
    rho = (2 * T - q) / (T - q)
    law = (T - q) * ((rho - 1) ** 2 / q + rho**2 / (2 * T - q))
    assert length["law"] == pytest.approx(law, rel=1e-12)


def test_given_encodings_are_descended_in_two_numbers_exactly():
    """All 48 flips and switches of three coordinates, whole matrices, against the recursion."""
    E = np.array([[1.0, 0.2, -0.3, 0.1], [0.0, 0.9, 0.4, -0.2], [0.1, -0.1, 0.8, 0.7]])
    group = [
        np.diag(signs)[:, list(order)]
        for signs in product((1.0, -1.0), repeat=3)
        for order in permutations(range(3))
    ]
    plan = given_plan(E, q=2, rate=0.4)
    family = Family.of(np.stack([R @ E for R in group]), plan.task.all_subsets())
    weights = Weights(jnp.zeros((2, 5)), jnp.zeros((5, 5)))
    for _ in range(30):
        found = population(family, weights, jnp.array([0.3, -0.7]), "inside")
        weights = Weights(*(w - 0.4 * g for w, g in zip(weights, found.gradient, strict=True)))
    loss = float(population(family, weights, jnp.array([0.3, -0.7]), "inside").loss)
    recorded = run(plan, steps=30, record=(30,))
    C, alpha = recorded["C"][-1], recorded["alpha"][-1]
    expected = np.zeros((5, 5))
    expected[2:, 2:] = C * np.eye(3)
    np.testing.assert_allclose(weights.W, expected, atol=1e-7 * C)
    np.testing.assert_allclose(weights.V, alpha * np.eye(2, 5), atol=1e-7)
    assert recorded["loss"][-1] == pytest.approx(loss, rel=1e-7)


def slow_time(plan: Plan, draws: int, seed: int) -> int:
    """Lemma E.7 in plain loops over encodings drawn one vector at a time."""
    assert plan.d_e is not None
    draw = np.random.default_rng(seed)
    T, q, d = plan.task.T, plan.task.q, plan.task.d
    g = []
    for _ in range(draws):
        E = np.zeros((plan.d_e, 0))
        while E.shape[1] < T:
            new = draw.choice([-1.0, 1.0], plan.d_e) / math.sqrt(plan.d_e)
            if (np.abs(new @ E) <= plan.threshold + 1e-12).all():
                E = np.column_stack([E, new])
        y = draw.permutation(T)[:q]
        e_y = np.linalg.lstsq(E[:, y].T, np.ones(q), rcond=None)[0]
        g.append(np.delete(E.T @ e_y, y))
    gaps = 1 - np.array(g)
    alpha = C = 0.0
    for t in range(100_000):
        powers = np.exp(-C * gaps)
        total = q + powers.sum(axis=1)
        s = (1 / total).mean()
        loss = d / 2 * ((1 - q * alpha * s) ** 2 / q + alpha**2 * (1 - q * s) ** 2 / (T - q))
        if loss <= plan.epsilon:
            return t
        K = 1 - q * alpha * (T * s - 1) / (T - q)
        pull = ((powers * gaps).sum(axis=1) / total**2).mean()
        alpha, C = (
            alpha + plan.rate * (s - alpha * (q * s**2 + (1 - q * s) ** 2 / (T - q))),
            C + plan.rate * d * alpha / plan.d_e * K * pull,
        )
    raise AssertionError


def test_times_of_random_plans_agree_with_slow_draws_within_their_errors():
    plan = Plan("p", Task(12, 2, 3), 1.0, 0.02, d_e=24, threshold=0.6)
    time = analyze_plan(plan)["time"]
    slow = np.array([slow_time(plan, 400, seed) for seed in range(6)])
    error = math.hypot(time["standard_error"], slow.std(ddof=1) / math.sqrt(len(slow)))
    assert 0 < time["standard_error"] < 0.05 * time["steps"]
    assert abs(time["steps"] - slow.mean()) < 4 * error
    assert time["half_attention"] < time["steps"]


def test_a_time_beyond_the_search_is_none_and_said_so():
    found = SETTING.analyze(Plan("p", Task(100_000, 3, 1), 1e-6, 1e-9))
    assert found.time.steps is None
    assert found.document()["time"]["steps_over_bound"] is None
    assert found.length.ratio is None
    words = " ".join(str(item) for item in found.describe())
    assert "not reached within 20,000,000 steps" in words


@pytest.mark.parametrize("facts", FACTS["length_generalisation_orthogonal_limit"][:3])
def test_losses_at_another_length_are_the_stored_ones(facts: dict):
    plan = Plan("p", Task(facts["T1"], facts["q"], facts["d"]), 1.0, 1e-3)
    for T, key in ((facts["T1"], "loss_T1"), (facts["T2"], "loss_T2")):
        found = loss_elsewhere(
            plan, np.array([facts["alpha"]]), np.array([facts["C"]]), T=T, q=facts["q"]
        )
        np.testing.assert_allclose(found, facts[key], rtol=1e-8)


def test_there_are_no_encodings_for_lengths_that_were_not_given():
    plan = given_plan(SMALL, q=2)
    at = np.ones(1)
    assert loss_elsewhere(plan, at, at, T=7, q=2) is None
    assert loss_elsewhere(plan, at, at, T=5, q=2) is not None
    tight = Plan("p", Task(10, 2, 1), 1.0, 0.1, d_e=9, threshold=0.35)
    assert loss_elsewhere(tight, at, at, T=40, q=2) is None


def test_the_floor_of_a_net_is_what_its_width_cannot_hold():
    task = Task(6, 2, 2)
    Y = task.indicators(task.all_subsets())
    trace = np.linalg.eigvalsh(np.kron(Y.T @ Y / len(Y) / 4, np.eye(2)))
    width = analyze_plan(Plan("p", task, 1.0, 0.1))["width"]
    assert (width["transformer"], width["fully_connected"], width["narrower"]) == (8, 12, True)
    assert width["floor"] == pytest.approx(trace[: 12 - 8].sum() / 2, rel=1e-12)
    paper = {row["m"]: row["value"] for row in FACTS["fcn"]["width_m_no_half"] if row["T"] == 200}
    assert float(width_law(200, 3, 5, 175)) == pytest.approx(paper[175], rel=1e-12)


def test_which_theorem_applies():
    fine = analyze_plan(Plan("p", Task(20, 3, 2), 1 / 80, 0.003))
    told = in_words(Plan("p", Task(20, 3, 2), 1 / 80, 0.003))
    assert "theorem-3.1 applies: " in told
    assert "theorem-3.3 does not apply (it needs: encodings are not one-hot" in told
    assert fine["theorems"]["theorem-3.1"] == {"applies": True, "broken": [], "open": []}
    for about_encodings in ("theorem-3.3", "theorem-e.6", "corollary-e.8", "corollary-e.16"):
        assert fine["theorems"][about_encodings]["broken"] == ["not_one_hot"]
    large = Plan("p", Task(12, 3, 2), 7.0, 0.5)
    bad = analyze_plan(large)
    broken = ["sparse", "small_loss", "small_step"]
    assert bad["theorems"]["theorem-3.1"]["broken"] == broken
    codes = [problem["code"] for problem in bad["problems"]]
    assert codes == ["q_out_of_range", "large_epsilon", "large_step"]
    assert "not below 2q = 6" in in_words(large)
    near = analyze_plan(Plan("p", Task(9, 2, 3), 1.0, 0.019, d_e=1_500))
    assert near["measured"]["below_tenth"] == (near["measured"]["delta"] < 0.1)
    assert near["theorems"]["theorem-3.3"]["applies"] == near["measured"]["below_tenth"]
    assert near["theorems"]["theorem-3.1"]["broken"][0] == "one_hot"


@pytest.mark.parametrize(("q", "left"), [(1, True), (4, True), (5, False)])
def test_theorems_are_about_plans_that_leave_a_position_out(q: int, left: bool):
    plan = Plan("p", Task(5, q, 2), 0.01, 1e-3)
    assert (ONE_HOT_PLANS(plan), ENCODED_PLANS(plan)) == (left, False)
    for encoded in (replace(plan, d_e=8), replace(plan, d_e=5, encodings=np.eye(5))):
        assert (ONE_HOT_PLANS(encoded), ENCODED_PLANS(encoded)) == (False, left)


def test_encodings_that_cannot_be_told_apart_are_named():
    E = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    with pytest.raises(
        InputError, match="mine: some subset of the encodings is linearly dependent"
    ):
        SETTING.analyze(given_plan(np.column_stack([E, -E[:, 0]]), q=2))
    assert "cannot single out that subset" in in_words(given_plan(E, q=2))


@pytest.mark.parametrize("facts", FACTS["onehot_trajectories"][:2])
def test_descent_of_one_hot_plans_is_the_stored_one(facts: dict):
    plan = Plan("p", Task(facts["T"], facts["q"], facts["d"]), facts["eta"], 1e-3)
    points = facts["points"]
    steps = tuple(point["t"] for point in points)
    found = run(plan, steps=max(steps), record=steps)
    for name in ("alpha", "C", "loss"):
        expected = [point[name] for point in points]
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-14)
    assert found["diverged"] is None


def test_descent_says_where_it_diverged():
    plan = Plan("p", Task(12, 2, 3), 1e5, 1e-3)
    alpha, C, t = 0.0, 0.0, 0
    while abs(alpha) <= 1e6:
        s = 1 / (2 + 10 * math.exp(-C))
        u = 1 - 2 * s
        change = s - alpha * (2 * s**2 + u**2 / 10)
        pull = alpha * 3 / 11 * s * u * (1 + 2 * alpha * (1 - 12 * s) / 10)
        alpha, C, t = alpha + 1e5 * change, C + 1e5 * pull, t + 1
    found = run(plan, steps=50, record=(0, 50))
    assert found["diverged"] == t
    assert f"diverged at step {t}: use a step size below 100000" in found["reason"]
    assert np.isfinite(found["alpha"]).all()


def test_descent_looks_at_other_tasks():
    plan = Plan("p", Task(12, 2, 3), 0.5, 1e-3, training=OnlineChoices(tests=((24, 2), (12, 4))))
    found = run(plan, steps=2_000, record=(2_000,))
    alpha, C = found["alpha"][0], found["C"][0]
    for T, q in plan.training.tests:
        loss = two_level_loss(alpha, C, T, q, 3)
        assert found["tests"][f"T={T} q={q}"][0] == pytest.approx(loss, rel=1e-12)


CHOICES = OnlineChoices(samples=1_024, tests=((5, 2),))
ONLINE = Plan("p", Task(8, 2, 2), 1.0, 1e-3, training=CHOICES)


def test_samples_and_population_agree_for_one_hot_encodings():
    exact = run(ONLINE, steps=150, record=(150,))
    online = run(ONLINE, "sgd", steps=150, record=(0, 150), rate=1.0)
    for name in ("alpha", "C"):
        assert online[name][-1] == pytest.approx(exact[name][-1], rel=0.05)
    assert online["population"][-1] == pytest.approx(exact["loss"][-1], rel=0.15)
    assert 0.995 < online["cosine_W"][-1] <= 1 + 1e-6
    assert online["diverged"] is None


def test_training_on_samples_says_that_it_diverged():
    found = run(ONLINE, "sgd", rate=1e8, steps=40, record=(0,))
    assert 0 <= found["diverged"] <= 40
    assert list(found["steps"]) == [0, 40]
    assert found["reason"].startswith(f"diverged at step {found['diverged']}")


def test_given_encodings_are_those_trained_on():
    mine = replace(ONLINE, d_e=8, encodings=np.eye(8))
    first, second = (run(plan, "sgd", steps=20, record=(20,)) for plan in (ONLINE, mine))
    np.testing.assert_array_equal(first["alpha"], second["alpha"])
    np.testing.assert_allclose(first["C"], second["C"] * 8 / 7, rtol=1e-12)
    np.testing.assert_array_equal(first["tests"]["T=5 q=2"], second["tests"]["T=5 q=2"])
    other = replace(mine, encodings=np.roll(np.eye(8), 1, axis=0) * 0.5)
    assert run(other, "sgd", steps=20, record=(20,))["C"] != pytest.approx(second["C"], rel=1e-3)


def test_the_rate_is_asked_for_or_planned_or_usual():
    stated = Plan("p", Task(8, 2, 2), 0.25, 1e-3, training=OnlineChoices(rate=0.25))
    silent = replace(stated, training=OnlineChoices())
    assert PlanTraining(algorithm="sgd", rate=0.5).step_size(stated) == 0.5
    assert PlanTraining(algorithm="sgd").step_size(stated) == 0.25
    assert PlanTraining(algorithm="sgd").step_size(silent) == 1.0
    assert PlanTraining(algorithm="adam").step_size(stated) == 1e-3
    assert PlanTraining().step_size(silent) == 0.25


PLAIN = Plan("p", Task(8, 2, 2), 0.1, 1e-3)
RANDOM = Plan("p", Task(8, 2, 2), 0.1, 1e-3, d_e=8, threshold=0.8)
WRONG: dict[str, tuple[Plan, dict[str, Any]]] = {
    "unknown algorithm 'ngd'; did you mean 'gd'? (known: gd, sgd, adam)": (
        PLAIN,
        {"algorithm": "ngd"},
    ),
    "unknown option of the selection setting 'loss'; it takes algorithm (--algorithm)": (
        PLAIN,
        {"loss": "log"},
    ),
    "unknown option of the selection setting 'epsilon'": (PLAIN, {"epsilon": 0.0}),
    "--samples (samples) has no effect with algorithm gd; it is for sgd, adam": (
        PLAIN,
        {"samples": 16},
    ),
    "--x-query (x_query) has no effect with algorithm gd": (PLAIN, {"x_query": "fixed"}),
    "unknown x_query 'zeros'; did you mean 'zero'? (known: zero, fixed, random)": (
        PLAIN,
        {"algorithm": "sgd", "x_query": "zeros"},
    ),
    "samples must be at least 1; got 0": (PLAIN, {"algorithm": "sgd", "samples": 0}),
    "seed must be at least 0; got -1": (PLAIN, {"seed": -1}),
    "rate takes a positive number; got 'tight'": (PLAIN, {"rate": "tight"}),
    "must be a positive number; got nan": (PLAIN, {"rate": math.nan}),
    "must be a positive number; got 0": (PLAIN, {"rate": 0.0}),
    "must not be negative": (PLAIN, {"steps": -1}),
    "too many": (PLAIN, {"steps": 10**12}),
    "can only record steps 0 to 9": (PLAIN, {"steps": 9, "record": (10,)}),
    "leave out initial": (replace(PLAIN, training=OnlineChoices(initial=0.1)), {}),
    "leaves the two directions": (replace(RANDOM, training=OnlineChoices("fixed")), {}),
    "stochastic encodings are random ones": (
        replace(PLAIN, training=OnlineChoices("stochastic")),
        {"algorithm": "sgd"},
    ),
    "needs encodings for 9 positions": (
        replace(RANDOM, encodings=np.eye(8), training=OnlineChoices(tests=((9, 2),))),
        {"algorithm": "sgd"},
    ),
    "coincide now and then": (replace(RANDOM, threshold=1.0), {"algorithm": "adam"}),
    "is too large; use --algorithm gd": (
        Plan("p", Task(9_000, 2, 2), 0.1, 1e-3),
        {"algorithm": "sgd"},
    ),
    "p: no 80 unit vectors": (
        replace(RANDOM, threshold=0.3, training=OnlineChoices(tests=((80, 2),))),
        {"algorithm": "sgd"},
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_requests_that_cannot_run_are_refused_in_words(message: str):
    plan, options = WRONG[message]
    with pytest.raises(InputError) as error:
        SETTING.train([plan], options)
    assert message in str(error.value)


def test_groups_share_nothing_but_the_plan():
    plan = Plan("p", Task(12, 2, 3), 1.0, 0.02, d_e=24, threshold=0.6)
    dynamics = two_scalars(plan)
    tables = np.asarray(jax.tree.leaves(dynamics.attention)[2])
    assert len(tables) == 4
    assert len({table.tobytes() for table in tables}) == 4


ROUND_TRIPS = {
    "one-hot": Plan("p", Task(20, 3, 2), 1 / 80, 0.003),
    "rate": Plan("p", Task(20, 3, 2), 0.01, 0.003, training=OnlineChoices(rate=0.01)),
    "random": Plan("p", Task(8, 2, 2), 0.15, 1e-3, 24, 0.8, training=OnlineChoices(rate=0.15)),
    "training": Plan(
        "p",
        Task(8, 2, 2),
        1 / 80,
        1e-3,
        training=OnlineChoices("fixed", None, 0.5, 7, 16, 0.1, "random", ((9, 2), (8, 3)), seed=5),
    ),
    "given": replace(given_plan(SMALL, 2), training=OnlineChoices(rate=0.5)),
}


@pytest.mark.parametrize("kind", ROUND_TRIPS)
def test_a_plan_that_is_written_is_read_back(kind: str, tmp_path: Path):
    plan, file = ROUND_TRIPS[kind], tmp_path / "plan.json"
    file.write_text(json.dumps(plan.document()))
    (back,) = SETTING.read(file)
    np.testing.assert_array_equal(back.encodings, plan.encodings)
    assert replace(back, encodings=None) == replace(plan, encodings=None)


def test_plans_that_are_drawn_meet_the_theorems_and_are_read_back(tmp_path: Path):
    plans = SETTING.draw(24, seed=3)
    assert [plan.name for plan in plans] == [plan.name for plan in SETTING.draw(24, seed=3)]
    assert plans[0].name != SETTING.draw(1, seed=4)[0].name
    assert len({(plan.task.T, plan.task.q, plan.task.d) for plan in plans}) > 20
    for plan in plans:
        theorems = {t.name: t for t in theorems_about(papers()["selection"], plan)}
        assert theorems[("theorem-3.1", "theorem-3.3")[plan.kind == "given"]].applies
        if plan.kind == "given":
            assert plan.encodings is not None
            gram = plan.encodings.T @ plan.encodings
            np.testing.assert_allclose(gram, np.eye(plan.task.T), atol=1e-15)
    file = tmp_path / "plans.json"
    file.write_text(json.dumps({"plans": [plan.document() for plan in plans]}))
    assert [plan.rate for plan in SETTING.read(file)] == [plan.rate for plan in plans]


def test_a_run_has_its_columns_as_attributes():
    plans = [*SETTING.draw(2), given_plan(SMALL, 2), SETTING.draw(3)[2]]
    trained = SETTING.train(plans, {"steps": 50, "record": (0, 10, 50)})
    assert trained.names == ["loss", "alpha", "C", "missed", "rate"]
    assert trained.alpha.shape == trained.loss.shape == (4, 3)
    assert trained.rate[:, 0].tolist() == [plan.rate for plan in plans]
    assert [case.name for case in trained.evidence] == [plan.name for plan in plans]
    for i, plan in enumerate(plans):
        alone = SETTING.train([plan], {"steps": 50, "record": (0, 10, 50)})
        np.testing.assert_array_equal(alone.loss[0], trained.loss[i])
    assert not SETTING.hypothesis("converges").broken(trained.evidence.cases[0].problems)
    assert SETTING.hypothesis("isometry").broken(trained.evidence.cases[2].problems)


def test_what_is_asked_for_replaces_what_the_plan_says():
    plan = Plan("p", Task(8, 2, 2), 0.1, 1e-3)
    options = {"algorithm": "sgd", "rate": 0.5, "seed": 3, "samples": 16, "x_query": "random"}
    training = PlanTraining(**options).online(PlanTraining(**options).of(plan))
    assert (training.rate, training.seed, training.samples) == (0.5, 3, 16)
    assert training.x_query == "random"
    assert PlanTraining(seed=9).of(plan).training.seed == 9
    with pytest.raises(InputError, match="there is no plan to train"):
        SETTING.train([], {})
    with pytest.raises(InputError, match="unknown hypothesis of the selection setting 'sprase'"):
        SETTING.hypothesis("sprase")


def test_a_subset_of_everything_is_not_analysed() -> None:
    """A plan file cannot say it, but a plan made in Python can."""
    for d_e in (None, 20):
        with pytest.raises(InputError, match="all: q = T = 5 leaves no position to ignore"):
            SETTING.analyze(Plan("all", Task(5, 5, 1), 0.1, 1e-3, d_e=d_e))
