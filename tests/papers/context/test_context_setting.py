"""The analysis and the training of plans, against stored numbers, many digits and plain loops."""

import json
import math
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from oracles.in_context import (
    GOLDEN,
    Instance,
    adam,
    combined,
    descent,
    exact_gram,
    exact_scores,
    predictions,
    printed,
    prompts,
    scores,
    stored,
    target,
)
from rich.console import Console

import lemmata as lm
from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata.papers.context.setting import (
    CONVERGENCE,
    SETTING,
    DeepTraining,
    Plan,
    PlanTraining,
    Task,
    Training,
    _analysis,
    batches_of,
    constants_of,
    draw_task,
    from_heads,
    ridge_predictions,
)
from lemmata.papers.context.setting._frozen import first_step
from lemmata.settings import Chart
from lemmata.training import Film


def golden_plan(name: str) -> Plan:
    """A stored instance, with the stored Q_h at the start."""
    instance, Q, w = stored(name)
    task = Task(instance.tokens, instance.representations, instance.N, instance.tau, name)
    plan = Plan(task, len(Q))
    vars(plan)["start"] = from_heads(Q, 0 * w)
    return plan


def small_plan(**changes: Any) -> Plan:
    task = draw_task(3, 5, 4, 2, 0.2, seed=1, name="small")
    return replace(Plan(task, 4, scale=0.7, seed=2), **changes)


def instance_of(plan: Plan) -> Instance:
    task = plan.task
    return Instance(task.tokens, task.representations, task.N, task.tau)


def heads_of(plan: Plan) -> np.ndarray:
    """The Q_h at the start, one after the other."""
    return np.asarray(plan.start.Q).transpose(1, 0, 2)


def analyzed(plan: Plan) -> dict[str, Any]:
    """The analysis as JSON has it."""
    return json.loads(json.dumps(plain(lm.analyze(plan).document()), allow_nan=False))


def words_of(plan: Plan) -> str:
    page = Console(width=200, file=StringIO())
    with page.capture() as shown:
        page.print(*lm.analyze(plan).describe())
    return " ".join(shown.get().split())


@pytest.mark.parametrize("name", GOLDEN)
def test_the_analysis_of_stored_instances(name: str):
    facts, constants = GOLDEN[name], GOLDEN[name]["constants"]
    found = analyzed(golden_plan(name))
    for value, expected, digits in (
        (found["loss"]["minimum"], facts["Lstar_corrected"], 1e-9),
        (found["loss"]["minimum_as_printed"], facts["Lstar_as_printed_WRONG"], 1e-9),
        (found["loss"]["initial_gap"], facts["gap_w0"], 1e-9),
        (found["loss"]["at_start"], facts["loss_w0"], 1e-9),
        (found["ridge"]["risk"], facts["risk_ridge_mtau"], 1e-9),
        (found["ridge"]["best_risk"], facts["risk_ridge_Ntau"], 1e-9),
        (found["zeta"]["value"], facts["zeta0"], 1e-6),
        (found["theory"]["gamma"], constants["gamma_min"], 1e-6),
        (found["theory"]["best_rate"], constants["rate_sup"], 1e-6),
    ):
        assert value == pytest.approx(expected, rel=digits)
    for version, key in (
        ("printed_61", "L61"),
        ("repaired_61", "L61_corrected"),
        ("simplified_17", "L17"),
    ):
        row = found["theory"]["versions"][version]
        assert row["L"] == pytest.approx(constants[key], rel=1e-6)
        assert row["eta_Q"] == pytest.approx(constants[f"etaQ_{key}"], rel=1e-6)
        assert row["eta_w"] == pytest.approx(constants[f"etaw_{key}"], rel=1e-6)
        assert row["guaranteed"] == pytest.approx(constants[f"rate_{key}"], rel=1e-6)
    versions = found["theory"]["versions"]
    steps = versions["printed_61"]["steps"]
    assert steps == pytest.approx(facts["T21_eps0.01_delta0.1_B_sqrtm"], rel=1e-6, abs=1)
    assert versions["repaired_17"]["L"] >= versions["repaired_61"]["L"]
    assert found["zeta"]["kind"] == "exact"
    assert found["theorems"]["theorem-1"] == {"applies": True, "broken": [], "open": []}
    assert found["problems"] == []


@pytest.mark.parametrize("name", GOLDEN)
def test_first_steps_of_stored_curves(name: str):
    plan, facts = golden_plan(name), GOLDEN[name]
    rate = facts["constants"]["etaw_L61"]
    for text, gap in facts["lazy_gap_at_theory_etaw"].items():
        t = int(text)
        if 1 <= t <= 100_000:
            assert first_step(plan.frozen, rate, gap * (1 + 1e-7)) == t
    assert first_step(plan.frozen, rate, 2 * plan.task.initial_gap) == 0


def least_squares(plan: Plan) -> list[tuple[np.ndarray, np.ndarray]]:
    """For every token the matrix B_k and what w_k should make of it."""
    instance = instance_of(plan)
    root = np.linalg.cholesky(instance.gram).T
    s, A = scores(instance, heads_of(plan)), target(instance)
    return [(root @ s[:, :, k], root @ A[:, k]) for k in range(instance.K)]


def loop_until(plan: Plan, rate: float, gap: float) -> int:
    """Gradient descent on w alone, step by step."""
    problems = least_squares(plan)
    B = np.stack([matrix for matrix, _ in problems])
    wanted = np.stack([vector for _, vector in problems])
    w = np.zeros((plan.task.K, plan.heads))
    for t in range(200_000):
        residual = np.einsum("knh,kh->kn", B, w) - wanted
        if np.sum(residual**2) / (2 * plan.task.K) <= gap:
            return t
        w = w - rate / plan.task.K * np.einsum("knh,kn->kh", B, residual)
    raise AssertionError


def test_the_steps_really_needed_are_those_of_a_loop():
    plan = replace(golden_plan("medium"), epsilon=0.3)
    vars(plan)["start"] = golden_plan("medium").start
    answer = analyzed(plan)
    time, theory = answer["time"], answer["theory"]
    chi = 5 + 2 * math.sqrt(5 * math.log(10)) + 2 * math.log(10)
    signal = np.linalg.norm(plan.task.representations[:, :5], 2)
    labels = math.sqrt(3) * (signal + math.sqrt(0.2 * chi))
    assert theory["label_bound"] == pytest.approx(labels, rel=1e-12)
    assert time["gap_needed"] == pytest.approx(0.6 * 0.3 / labels**2, rel=1e-12)
    eta_w = theory["versions"]["printed_61"]["eta_w"]
    assert time["at_theory_rate"] == loop_until(plan, eta_w, time["gap_needed"])
    assert time["at_tuned_rate"] == loop_until(plan, time["tuned_rate"], time["gap_needed"])
    assert time["at_tuned_rate"] < time["at_theory_rate"]
    largest = max(np.linalg.norm(B, 2) for B, _ in least_squares(plan))
    assert time["largest_stable_rate"] == pytest.approx(2 * plan.task.K / largest**2, rel=1e-10)


def test_few_heads_leave_a_floor():
    plan = small_plan(heads=2)
    left = [
        np.sum((B @ np.linalg.lstsq(B, v, rcond=None)[0] - v) ** 2) for B, v in least_squares(plan)
    ]
    answer = analyzed(plan)
    assert answer["time"]["floor"] == pytest.approx(sum(left) / (2 * plan.task.K), rel=1e-10)
    assert answer["time"]["at_tuned_rate"] is None
    assert answer["theory"] is None
    assert answer["zeta"] == {"kind": "zero", "value": 0.0, "tokens": 5}
    assert answer["theorems"]["theorem-1"]["broken"] == ["full_rank"]
    assert answer["theorems"]["proposition-1"]["broken"] == ["enough_heads"]
    assert "attention itself has to learn" in words_of(plan)


def saturated(scale: float = 1.0) -> Plan:
    task = draw_task(5, 7, 30, 3, 0.1, seed=3, unit=False, name="saturated")
    return Plan(task, 5, scale=scale, seed=4)


def exact_least(plan: Plan, k: int) -> Any:
    """lambda_min(B_k B_k') with four hundred digits."""
    instance = instance_of(plan)
    with mp.workdps(400):
        C, L = exact_scores(instance, heads_of(plan), k), mp.cholesky(exact_gram(instance))
        return min(mp.eigsy(L.T * C * C.T * L, eigvals_only=True))


def test_what_float64_cannot_tell_is_found_with_more_digits():
    plan = saturated()
    found = analyzed(plan)
    least = sorted(exact_least(plan, k) for k in range(plan.task.K))
    value = found["zeta"]["value"]
    assert found["zeta"]["kind"] == "at most"
    assert found["zeta"]["tokens"] == 4
    assert any(abs(value / one - 1) < 1e-10 for one in least)
    assert value >= least[0] * (1 - mpmath.mpf(10) ** -10)
    facts = vars(replace(constants_of(plan.task, plan.start), zeta=value))
    expected = printed(**facts)
    versions = found["theory"]["versions"]
    assert found["theory"]["gamma"] == pytest.approx(float(expected.gamma), rel=1e-9)
    assert versions["printed_61"]["L"] == pytest.approx(float(expected.L), rel=1e-9)
    assert versions["repaired_61"]["L"] == pytest.approx(float(expected.L_repaired), rel=1e-9)
    assert versions["simplified_17"]["L"] == pytest.approx(float(expected.L_simplified), rel=1e-9)
    assert found["assumptions"]["assumption-2"] == {"holds": None, "problems": ["zeta_unresolved"]}
    assert found["theorems"]["theorem-2"] == {
        "applies": False,
        "broken": ["unit"],
        "open": ["full_rank"],
    }
    text = words_of(plan)
    assert "at most" in text
    assert "over 4 tokens" in text


def test_numbers_that_no_float_holds_are_given_as_text():
    found = analyzed(saturated(scale=6.0))
    row = found["theory"]["versions"]["printed_61"]
    assert isinstance(row["L"], str)
    assert isinstance(row["eta_Q"], str)
    assert mpmath.mpf(row["L"]) * mpmath.mpf(row["eta_Q"]) == pytest.approx(1, rel=1e-4)
    assert mpmath.mpf(row["L"]) > mpmath.mpf(10) ** 308
    assert row["L"] in words_of(saturated(scale=6.0))


def test_where_more_digits_take_too_long_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_analysis, "MOST_WORK", 10)
    found = analyzed(saturated())
    assert found["zeta"] == {"kind": "unknown", "value": None, "tokens": 0}
    assert found["theory"] is None
    assert "float64 cannot tell it from zero" in words_of(saturated())


def test_a_theorem_may_apply_where_nobody_can_tell():
    near = draw_task(6, 7, 3, 2, 0.1, seed=0, name="near")
    plan = Plan(near, 6, scale=1e-5)
    found = analyzed(plan)
    assert found["theorems"]["theorem-1"]["applies"] is None
    assert "theorem-1 may apply (it is not known whether every B_k has full row rank" in words_of(
        plan
    )


def test_without_noise_there_is_no_theory():
    plan = small_plan(task=draw_task(3, 5, 4, 2, 0.0, seed=1, name="silent"))
    found = analyzed(plan)
    assert found["theory"] is None
    assert found["time"]["gap_needed"] == 0
    assert found["loss"]["minimum"] == pytest.approx(0, abs=1e-15)
    assert found["theorems"]["theorem-1"]["broken"] == ["noise", "full_rank"]
    assert "Without noise" in words_of(plan)


def test_with_all_labels_in_the_prompt_there_is_nothing_to_predict():
    plan = small_plan(task=draw_task(3, 3, 4, 2, 0.1, seed=1, name="all"))
    found = analyzed(plan)
    assert found["ridge"]["risk"] is None
    assert found["loss"]["minimum"] == 0
    assert "nothing to predict" in words_of(plan)


def run(plan: Plan, **options: Any) -> dict[str, Any]:
    """What is recorded of one plan, by name."""
    steps: list[int] = []
    done = SETTING.train([plan], options, track=lambda *_: lambda n: steps.append(n))
    assert sum(steps) == done.steps[-1]
    assert done.instances == (plan,)
    assert done.rate.shape == (1, 1)
    recorded = {name: done[name][0] for name in done.names}
    outcome = {"rule": done.rule, "diverged": done.diverged[0], "reason": done.reasons[0]}
    return recorded | outcome | done.extras[0]


def test_descent_at_the_rates_of_the_theory_is_the_stored_one():
    name = "tiny"
    stored_gaps = GOLDEN[name]["gd_theory_rates_L61"]
    steps = sorted(int(t) for t in stored_gaps)
    plan = golden_plan(name)
    found = run(plan, steps=1_000, record=tuple(steps))
    np.testing.assert_allclose(found["gap"], [stored_gaps[str(t)] for t in steps], rtol=1e-7)
    rate = GOLDEN[name]["constants"]["rate_L61"]
    bound = [stored_gaps["0"] * (1 - rate) ** t for t in steps]
    np.testing.assert_allclose(found["guarantee"], bound, rtol=1e-6)
    assert (found["gap"] <= found["guarantee"] * (1 + 1e-12)).all()
    assert found["eta_Q"] == pytest.approx(GOLDEN[name]["constants"]["etaQ_L61"], rel=1e-6)
    assert found["eta_w"] == pytest.approx(GOLDEN[name]["constants"]["etaw_L61"], rel=1e-6)
    assert found["rate"] == [found["eta_w"]]
    np.testing.assert_allclose(
        found["loss"], found["gap"] + GOLDEN[name]["Lstar_corrected"], rtol=1e-12
    )
    assert found["diverged"] is None
    assert "the step sizes of (16)" in found["rule"]


@pytest.mark.parametrize("algorithm", ["gd", "adam"])
def test_training_is_that_of_a_plain_loop(algorithm: str):
    plan, rate = small_plan(), 0.2 if algorithm == "gd" else 0.02
    instance, Q = instance_of(plan), heads_of(plan)
    w = np.zeros((plan.heads, plan.task.K))
    path = (
        descent(instance, Q, w, (rate, rate)) if algorithm == "gd" else adam(instance, Q, w, rate)
    )
    points = list(islice(path, 26))
    found = run(plan, algorithm=algorithm, rate=rate, steps=25, record=(0, 1, 7, 25))
    digits = 1e-9 if algorithm == "gd" else 2e-4
    kept = [points[t] for t in (0, 1, 7, 25)]
    np.testing.assert_allclose(found["gap"], [point.gap for point in kept], rtol=digits)
    np.testing.assert_allclose(found["in_domain"], 2 * found["gap"], rtol=1e-15)
    moved = [np.linalg.norm(point.Q - Q) / np.linalg.norm(Q) for point in kept]
    np.testing.assert_allclose(found["moved_Q"], moved, rtol=10 * digits, atol=1e-15)
    shifted = prompts(instance, np.ones(2), 2 * np.eye(2))
    for i, point in enumerate(kept):
        away = combined(instance, point.Q, point.w) - target(instance)
        error = np.mean(np.sum((shifted[:, :3] @ away) ** 2, axis=1)) / plan.task.K
        assert found["out_of_domain"][i] == pytest.approx(error, rel=digits)
    assert np.isnan(found["guarantee"]).all()


def test_divergence_is_told_with_its_step_and_advice():
    plan = small_plan()
    w = np.zeros((plan.heads, plan.task.K))
    path = descent(instance_of(plan), heads_of(plan), w, (40.0, 40.0))
    limit = 1e6 * plan.task.initial_gap
    step = next(t for t, point in enumerate(path) if point.gap > limit)
    found = run(plan, rate=40.0, steps=step + 5, record=(0,))
    assert found["diverged"] == step
    stable = 2 * plan.task.K / max(np.linalg.norm(B, 2) for B, _ in least_squares(plan)) ** 2
    assert f"diverged at step {step}: use a step size below 40" in found["reason"]
    assert f"stable below {stable:.4g}" in found["reason"]
    assert np.isfinite(found["gap"]).all()
    assert run(plan, rate=40.0, steps=step, record=(0,))["diverged"] == step
    assert run(plan, rate=40.0, steps=step - 1, record=(0,))["diverged"] is None


@pytest.mark.parametrize("steps", [1, 2, 9])
def test_adam_diverges_too(steps: int):
    found = run(small_plan(), algorithm="adam", rate=1e6, steps=steps, record=(0,))
    assert found["diverged"] == 1
    assert "1e-3 or less" in found["reason"]


def test_the_rates_are_asked_for_or_those_of_the_theory_or_usual():
    plan = golden_plan("small")
    theory = GOLDEN["small"]["constants"]
    asked = (theory["etaQ_L61"], theory["etaw_L61"])
    assert PlanTraining().rates(plan) == pytest.approx(asked, rel=1e-6)
    assert PlanTraining(rate=0.5).rates(plan) == (0.5, 0.5)
    assert PlanTraining(algorithm="adam").rates(plan) == (1e-3, 1e-3)
    assert PlanTraining(algorithm="adam", rate=0.1).rates(plan) == (0.1, 0.1)
    assert (PlanTraining().total, PlanTraining(algorithm="adam").total) == (10_000, 1_000)


@pytest.mark.parametrize("algorithm", ["gd", "adam"])
def test_plans_of_different_sizes_are_trained_side_by_side(algorithm: str):
    """Each is what a plain loop gives, whatever it is padded to, and the order is kept."""
    other = Plan(draw_task(2, 7, 3, 4, 0.3, seed=5, name="other"), 6)
    plans = [other, small_plan(heads=2)]
    options = {"algorithm": algorithm, "rate": 0.02, "steps": 9, "record": (0, 9)}
    done = SETTING.train(plans, options)
    assert done.instances == tuple(plans)
    for i, plan in enumerate(plans):
        instance, Q, w = instance_of(plan), heads_of(plan), np.zeros((plan.heads, plan.task.K))
        loops = {"gd": descent(instance, Q, w, (0.02, 0.02)), "adam": adam(instance, Q, w, 0.02)}
        last = list(islice(loops[algorithm], 10))[9]
        digits = 1e-9 if algorithm == "gd" else 2e-4
        assert done.gap[i, 0] == pytest.approx(plan.task.initial_gap, rel=digits)
        assert done.gap[i, -1] == pytest.approx(last.gap, rel=digits)
        moved = np.linalg.norm(last.Q - Q) / np.linalg.norm(Q)
        assert done.moved_Q[i, -1] == pytest.approx(moved, rel=10 * digits)
        model = done.model[i]
        assert model.plan is plan
        A_hat = combined(instance, last.Q, last.w)
        np.testing.assert_allclose(model.combined, A_hat, rtol=10 * digits, atol=1e-6)
        labels = np.arange(1.0, plan.task.N + 1)
        np.testing.assert_allclose(model.predict(labels), labels @ model.combined)


def test_plans_run_side_by_side_if_they_are_small_or_of_one_size():
    def sized(N: int, K: int, heads: int) -> Plan:
        return Plan(draw_task(N, K, 3, 2, 0.1, seed=0), heads)

    plans = [sized(20, 200, 20), sized(2, 5, 2), sized(20, 200, 21), sized(20, 900, 200)]
    plans += [sized(5, 9, 9), sized(1, 4, 1), sized(3, 4, 2)]
    sizes = [(plan.task.d, plan.task.N, plan.task.K, plan.heads) for plan in plans]
    assert list(batches_of(sizes)) == [[1, 5, 6], [4], [0, 2], [3]]
    assert list(batches_of(sizes[:1])) == [[0]]


def test_a_run_knows_its_columns():
    done = SETTING.train([small_plan()], {"rate": 0.2, "steps": 25, "record": [0, 1, 7]})
    assert done.steps.tolist() == [0, 1, 7, 25]
    with pytest.raises(AttributeError, match=r"unknown column 'gpa'; did you mean 'gap'\?"):
        _ = done.gpa
    columns = [column.name for column in SETTING.columns]
    assert columns == [*done.names[:-1], "sample_loss"]
    assert done.names[-1] == "rate"


def test_one_prompt_is_predicted_by_what_was_trained_and_by_ridge_regression():
    plan = small_plan()
    done = SETTING.train([plan], {"rate": 0.02, "steps": 9, "record": (0, 9)}, store=Film())
    (chart,) = (shown for shown in SETTING.pictures(done, 0) if shown.title == "One prompt")
    assert isinstance(chart, Chart)
    instance, best = instance_of(plan), chart.fixed["ridge regression"]
    labels = best[: instance.N]  # those of the examples are as they were given
    np.testing.assert_allclose(best, labels @ target(instance), rtol=1e-12)
    first = heads_of(plan), np.zeros((plan.heads, instance.K))
    last = list(islice(descent(instance, *first, (0.02, 0.02)), 10))[9]
    found = chart.curves["transformer"]
    np.testing.assert_array_equal(found[0], 0)
    expected = predictions(instance, last.Q, last.w, labels)
    np.testing.assert_allclose(found[-1], expected, rtol=1e-9)


def test_a_gap_that_rounding_may_have_made_is_not_given():
    """With one example descent is exact within a few steps, and the bound falls below 1e-20."""
    plan = Plan(draw_task(1, 2, 2, 2, 0.5, seed=0, name="easy"), 2)
    done = SETTING.train([plan], {"steps": 2_000, "record": (0, 10, 2_000)})
    assert done.guarantee[0, -1] < 1e-20 * done.gap[0, 0]
    for name in ("gap", "in_domain", "out_of_domain"):
        assert np.isnan(done[name][0]).tolist() == [False, False, True]
    assert done.loss[0, -1] == pytest.approx(plan.task.minimum, rel=1e-14)
    assert plan.task.gap(done.model[0].combined) < 1e-28
    assert (done.gap <= done.guarantee)[0, :2].all()


def test_a_sample_of_prompts_and_frozen_attention():
    plan = replace(small_plan(), scale=1.0)
    options = {"sample": 40, "batch": 8, "rate": 0.02, "steps": 30, "record": (0, 30)}
    done = SETTING.train([plan], {"algorithm": "adam", "frozen": True, **options})
    expected = Training(plan.task, plan.heads, frozen=True, seed=plan.seed, **options).run()
    for name in ("gap", "out_of_domain", "moved_Q", "sample_loss"):
        np.testing.assert_allclose(done[name][0], expected[name], rtol=1e-6)
    assert not done.moved_Q.any()
    assert done.sample_loss[0, 1] < done.sample_loss[0, 0]
    assert done.rule.startswith("Adam on w with Q frozen, batches of 8 from 40 prompts")


def test_a_seed_takes_the_place_of_that_of_the_plan():
    plan = small_plan()
    options = {"rate": 0.02, "steps": 9, "record": (0, 9)}
    usual, seeded = (SETTING.train([plan], options | more) for more in ({}, {"seed": 7}))
    other = SETTING.train([replace(plan, seed=7)], options)
    np.testing.assert_array_equal(seeded.gap, other.gap)
    assert seeded.gap[0, 1] != usual.gap[0, 1]
    A_hat = np.array(seeded.extras[0]["A_hat"])
    assert plan.task.gap(A_hat) == pytest.approx(seeded.gap[0, 1], rel=1e-12)


def test_an_encoder_is_trained_on_prompts():
    """With two layers; what it predicts in the end gives the loss that was recorded."""
    plan = small_plan()
    widths = {"layers": 2, "norm": "pre", "d_model": 4 * plan.heads, "d_ff": 6}
    sizes = {"sample": 40, "batch": 8, "rate": 0.02, "steps": 3, "record": (0, 3)}
    done = SETTING.train([plan], {"algorithm": "adam", **widths, **sizes, "seed": 5})
    how = DeepTraining(plan.task, heads=plan.heads, seed=5, **widths, **sizes)
    assert done.names == ["in_domain", "out_of_domain", "sample_loss"]
    assert done.rule.startswith("Adam on 2 layers (pre-norm, d_model = ")
    labels = how.test_labels()[0][:, : plan.task.N]
    errors = done.model[0].predict(labels) - ridge_predictions(plan.task, labels, plan.task.ridge)
    assert np.mean(errors**2) == pytest.approx(done.in_domain[0, -1], rel=1e-4)
    assert done.model[0].predict(labels[0]).shape == (plan.task.K,)
    assert done.diverged == (None,)
    assert done.sample_loss[0, 1] < done.sample_loss[0, 0]


def test_what_is_drawn_meets_the_hypotheses_and_depends_on_the_seed_alone():
    plans = SETTING.draw(12, seed=3)
    for plan in plans:
        assert not any(hypothesis.broken(plan.problems) for hypothesis in CONVERGENCE)
        assert plan.heads >= plan.task.N
        np.testing.assert_allclose(plan.task.norms, 1.0, rtol=1e-12)
    assert len({(p.task.N, p.task.K, p.task.d, p.task.m, p.heads) for p in plans}) == len(plans)
    again = SETTING.draw(5, seed=3)
    assert [p.document() for p in again] == [p.document() for p in plans[:5]]
    assert SETTING.draw(1, seed=4)[0].document() != plans[0].document()


@pytest.mark.parametrize("number", range(3))
def test_a_plan_is_read_back_as_it_was_written(tmp_path: Path, number: int):
    plan = [small_plan(bound=3.5, epsilon=0.2, delta=0.3), saturated(), SETTING.draw(1)[0]][number]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan.document()))
    (again,) = SETTING.read(file)
    assert again.document() == plan.document()
    assert again.largest_coefficient == plan.largest_coefficient
    np.testing.assert_array_equal(again.start.Q, plan.start.Q)
    np.testing.assert_array_equal(again.task.target, plan.task.target)


def test_hypotheses_have_names_and_an_unknown_one_lists_them():
    assert SETTING.hypothesis("unit").broken_by == {"not_unit"}
    with pytest.raises(InputError, match="known: unit, noise, full_rank"):
        SETTING.hypothesis("unti")


def test_tokens_that_are_not_of_norm_1_come_with_advice():
    message = next(p.message for p in saturated().problems if p.code == "not_unit")
    assert "divide each by its norm" in message


SILENT = Plan(draw_task(3, 5, 4, 2, 0.0, seed=1, name="silent"), 4)
TWINS = small_plan(
    task=replace(
        SILENT.task, tokens=2 * SILENT.task.tokens[:, [0, 0, 1, 2, 3]], tau=0.2, name="twins"
    )
)
WRONG: dict[str, tuple[Plan, dict[str, Any]]] = {
    "unknown algorithm 'ngd'; did you mean 'gd'? (known: gd, adam)": (
        small_plan(),
        {"algorithm": "ngd"},
    ),
    "unknown option of the context setting 'epsilon'; it takes algorithm (--algorithm), "
    "rate (--lr), steps (--steps), record (--record), sample": (small_plan(), {"epsilon": 0.0}),
    "--frozen (frozen) has no effect with algorithm gd; it is for adam": (
        small_plan(),
        {"frozen": True},
    ),
    "batch (--batch) has no effect without sample": (
        small_plan(),
        {"algorithm": "adam", "batch": 9},
    ),
    "sample and batch are numbers of prompts; got 5 and 0": (
        small_plan(),
        {"algorithm": "adam", "sample": 5, "batch": 0},
    ),
    "frozen must be true or false; got 'maybe'": (
        small_plan(),
        {"algorithm": "adam", "frozen": "maybe"},
    ),
    "layers must be a positive number; got 0": (small_plan(), {"algorithm": "adam", "layers": 0}),
    "seed must be a whole number from 0 to 2^32 - 1; got -1": (small_plan(), {"seed": -1}),
    "--layers (layers) has no effect with algorithm gd": (small_plan(), {"layers": 2}),
    "norm (--norm) has no effect with one layer; see --layers": (
        small_plan(),
        {"algorithm": "adam", "norm": "pre"},
    ),
    "frozen (--frozen) has no effect with several layers": (
        small_plan(),
        {"algorithm": "adam", "layers": 2, "frozen": True},
    ),
    "must divide it; say another one with --d-model": (
        small_plan(),
        {"algorithm": "adam", "layers": 2, "d_model": 1},
    ),
    "unknown option of the context setting 'lr'; it takes": (small_plan(), {"lr": 0.1}),
    "rate takes a positive number; got 'tight'": (small_plan(), {"rate": "tight"}),
    "steps takes a whole number; got 2.5": (small_plan(), {"steps": 2.5}),
    "record must be whole numbers; got [1, 'x']": (small_plan(), {"record": [1, "x"]}),
    "must be a positive number; got nan": (small_plan(), {"rate": math.nan}),
    "must be a positive number; got 0": (small_plan(), {"rate": 0.0}),
    "must not be negative": (small_plan(), {"steps": -1}),
    "too many": (small_plan(), {"steps": 10**12}),
    "can only record steps 0 to 9": (small_plan(), {"steps": 9, "record": (10,)}),
    "silent: the theory has no step size, as tau = 0; say one with --lr": (SILENT, {}),
    "small: the theory has no step size, as zeta_0 = 0": (small_plan(heads=2), {}),
    "saturated: the theory has no step size, as zeta_0 is too small": (saturated(), {}),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_run_is_refused_in_words(message: str):
    plan, options = WRONG[message]
    with pytest.raises(InputError) as error:
        SETTING.train([plan], options)
    assert message in str(error.value)


def test_without_a_plan_there_is_nothing_to_train():
    with pytest.raises(InputError, match="no plan"):
        SETTING.train([], {})


@pytest.mark.parametrize("plan", [SILENT, TWINS], ids=lambda plan: plan.name)
def test_what_breaks_a_hypothesis_is_trained_when_a_rate_is_said(plan: Plan):
    found = run(plan, rate=0.01, steps=20, record=(0, 20))
    assert found["gap"][1] < found["gap"][0]
    answer = [problem["code"] for problem in analyzed(plan)["problems"]]
    assert answer == [problem.code for problem in plan.problems]
