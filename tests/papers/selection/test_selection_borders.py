"""Where hypotheses, limits and shares end, from both sides; what a page shows of made-up runs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.papers.selection.setting import SETTING, OnlineChoices, Plan, Task
from lemmata.papers.selection.setting import _forecast as forecasting
from lemmata.papers.selection.setting import _hypotheses as hypotheses
from lemmata.papers.selection.setting._analysis import _length, _time, _width, isometry_problem
from lemmata.papers.selection.setting._findings import describe_encodings, describe_time
from lemmata.papers.selection.setting._forecast import Forecast, draw_encodings, two_scalars
from lemmata.papers.selection.setting._making import make
from lemmata.papers.selection.setting._measure import Measured, measure
from lemmata.papers.selection.setting._pictures import _phases, _plane, _weights
from lemmata.papers.selection.setting._plan_training import PlanTraining
from lemmata.papers.selection.setting._sliders import sliders
from lemmata.papers.selection.setting._trained_plan import TrainedPlan
from lemmata.settings import Attention, Chart, Evidence, Heat, Run


def plan_of(T: int, q: int, d: int, rate: float = 0.5, eps: float = 0.01, **more: Any) -> Plan:
    return Plan("p", Task(T, q, d), rate, eps, **more)


def codes(plan: Plan) -> set[str]:
    return {problem.code for problem in plan.problems}


def above(x: float) -> float:
    return float(np.nextafter(x, math.inf))


def below(x: float) -> float:
    return float(np.nextafter(x, -math.inf))


def test_hypotheses_end_where_the_theorems_say() -> None:
    """2 <= q < T/4, eps < dT/(100 (T-q) q), eta <= 1/(20 d^2), eta <= d_e^2/(40 d^2 T)."""
    for T, q, broken in ((8, 2, True), (9, 2, False), (9, 1, True), (12, 3, True), (13, 3, False)):
        assert ("q_out_of_range" in codes(plan_of(T, q, 1))) == broken
    limit = 16 * 10 / (100 * 8 * 2)  # 1/10
    assert "large_epsilon" in codes(plan_of(10, 2, 16, eps=limit))
    assert "large_epsilon" not in codes(plan_of(10, 2, 16, eps=below(limit)))
    assert "large_epsilon" in codes(plan_of(3, 3, 1, eps=1e-30))
    assert "large_step" not in codes(plan_of(9, 2, 2, rate=1 / 80))
    assert "large_step" in codes(plan_of(9, 2, 2, rate=above(1 / 80)))
    few = {"d_e": 16, "threshold": 0.5}
    assert "large_stochastic_step" not in codes(plan_of(10, 2, 2, rate=0.16, **few))
    assert "large_stochastic_step" in codes(plan_of(10, 2, 2, rate=above(0.16), **few))
    assert "large_stochastic_step" not in codes(plan_of(10, 2, 2, rate=9.0))


def turned(T: int, mu: float, stretch: float = 0.0) -> np.ndarray:
    """Unit vectors of which two have the inner product mu, and the last is longer."""
    E = np.eye(T)
    E[:2, 1] = mu, math.sqrt(1 - mu**2)
    E[:, -1] *= math.sqrt(1 + stretch)
    return E


@pytest.mark.parametrize(
    ("E", "q", "delta"),
    [
        (turned(9, 0.03), 2, math.sqrt(2) * 2 * 0.03),  # below 1/10, and not measured
        (turned(9, 0.01, 0.08), 2, 0.08 + 0.01),
        (turned(9, 0.02, 0.04), 3, math.sqrt(2) * 3 * 0.02),
        (turned(9, 0.05), 2, 0.05),  # measured
        (turned(40, 0.08), 1, 0.08),
        (turned(41, 0.08), 1, math.sqrt(2) * 0.08),  # too many positions
        (turned(9, 0.11), 2, math.sqrt(2) * 2 * 0.11),  # plainly too much
        (turned(9, 0.05, 0.12), 2, 0.12 + 0.05),
    ],
)
def test_delta_is_bounded_or_measured(E: np.ndarray, q: int, delta: float) -> None:
    plan = plan_of(E.shape[1], q, 1, d_e=len(E), encodings=E)
    assert plan._largest_delta == pytest.approx(delta, rel=1e-9)
    assert ("isometry_not_certain" in codes(plan)) == (delta >= 0.1)


def test_delta_of_random_and_one_hot_encodings() -> None:
    assert plan_of(9, 2, 1)._largest_delta == 0.0
    drawn = plan_of(9, 2, 1, d_e=900, threshold=0.03)
    assert drawn._largest_delta == pytest.approx(math.sqrt(2) * 2 * 0.03)
    assert "isometry_not_certain" not in codes(drawn)
    assert "isometry_not_certain" in codes(plan_of(9, 2, 1, d_e=900, threshold=0.036))


@pytest.mark.parametrize("label", ["eta", "eps"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_numbers_of_a_plan_are_positive(label: str, value: float) -> None:
    numbers = {"rate": 0.5, "eps": 0.5} | {{"eta": "rate", "eps": "eps"}[label]: value}
    with pytest.raises(InputError, match=f"p: {label} must be a positive number"):
        plan_of(9, 2, 1, **numbers)
    for shape in ((2, 9), (3, 8)):
        with pytest.raises(InputError, match="expected T = 9 and d_e = 3"):
            plan_of(9, 2, 1, d_e=3, encodings=np.ones(shape))


def test_codes_of_hypotheses() -> None:
    known = {
        "SPARSE": {"q_out_of_range"},
        "SMALL_LOSS": {"large_epsilon"},
        "SMALL_STEP": {"large_step"},
        "STOCHASTIC_STEP": {"large_stochastic_step"},
        "RESTRICTED": {"no_isometry"},
        "ISOMETRY": {"no_isometry", "isometry_not_certain"},
        "CONVERGES": {"diverged"},
        "FITS": {"too_large"},
        "POSITIONS": {"one_position"},
        "PROPER": {"all_chosen"},
        "SEPARATED": {"encodings_too_close"},
        "GUIDING": {"encodings_mislead"},
        "NARROWER": {"no_narrower"},
    }
    assert {name: set(getattr(hypotheses, name).broken_by) for name in known} == known


def test_sliders_reach_from_where_to_where() -> None:
    eta, eps = 1 / 180, 3 * 9 / (100 * 7 * 2)
    found = {s.name: s for s in sliders(plan_of(9, 2, 3, 0.25, 0.02))}
    assert [(s.name, s.value, s.least, s.most, s.whole) for s in found.values()] == [
        ("T", 9, 3, 200, True),
        ("q", 2, 1, 8, True),
        ("d", 3, 1, 20, True),
        ("eta", 0.25, 0.001, 8.0, False),
        ("eps", 0.02, 1e-6, 1.0, False),
    ]
    assert found["q"].ranges == ((2, 2, "2 ≤ q < T/4"),)
    ends = [(least, most) for least, most, _ in found["eta"].ranges]
    assert ends == [(0.0, pytest.approx(eta)), (0.0, 4.0)]
    assert found["eta"].ranges[0][2].startswith("Theorem 3.1: eta")
    assert found["eps"].ranges[0][:2] == (0.0, pytest.approx(eps))
    tops = {T: sliders(plan_of(T, 1, 1))[1].ranges[0][1] for T in (8, 9, 12, 13)}
    assert tops == {8: 1, 9: 2, 12: 2, 13: 3}
    assert {T: sliders(plan_of(T, 1, 1))[1].most for T in (2, 3, 4)} == {2: 2, 3: 2, 4: 3}
    wide = {s.name: s for s in sliders(plan_of(9, 2, 1_000, d_e=30))}
    assert wide["eps"].most == pytest.approx(2 * 9_000 / 1_400)
    assert (wide["d_e"].value, wide["d_e"].least, wide["d_e"].most) == (30, 8, 400)
    assert sliders(plan_of(90, 9, 1, d_e=30))[-1].least == 9
    assert "Theorem 3.3" in wide["eta"].ranges[0][2]


def test_plans_are_made_by_their_sizes() -> None:
    plan = make({}, 7)
    assert (plan.T, plan.q, plan.d, plan.d_e) == (20, 2, 3, None)
    assert (plan.name, plan.training) == ("seed 7", OnlineChoices(seed=7))
    assert plan.rate == pytest.approx(1 / 180, rel=1e-15)
    assert plan.epsilon == pytest.approx(60 / 3_600 / 2, rel=1e-15)
    plan = make({"T": 9, "q": 3, "d": 1, "d_e": 6, "eta": 0.3, "eps": 0.2}, 0)
    assert (plan.T, plan.q, plan.d, plan.d_e) == (9, 3, 1, 6)
    assert (plan.rate, plan.epsilon) == (0.3, 0.2)
    assert make({"d": 1, "d_e": 20}, 0).rate == 20 / 40


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({"T": 100_000}, True),
        ({"T": 100_001}, False),
        ({"d": 100_000}, True),
        ({"d": 100_001}, False),
        ({"d_e": 100_000}, True),
        ({"d_e": 100_001}, False),
        ({"T": 2_000, "d_e": 10_000}, True),
        ({"T": 2_000, "d_e": 10_001}, False),
        ({"T": 2_001, "d_e": 3}, False),
        ({"q": 3, "d_e": 3}, True),
        ({"q": 4, "d_e": 3}, False),
        ({"training": {"seed": 2**32 - 1}}, True),
        ({"training": {"tests": [[100_000, 2]]}}, True),
        ({"training": {"tests": [[100_001, 2]]}}, False),
        ({"training": {"tests": [[5, 5]]}}, False),
        ({"training": {"initial": 0, "later_rate": 0, "change": 0, "seed": 0}}, True),
        ({"training": {"queries": 0}}, False),
        ({"training": {"heads": 0}}, False),
        ({"training": {"heads": 1}}, True),
        ({"d_e": 9, "threshold": 1}, True),
    ],
)
def test_plan_files_end_at_these_sizes(tmp_path: Path, said: dict, fits: bool) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"T": 5, "q": 2, "d": 1} | said))
    if fits:
        (plan,) = SETTING.read(file)
        assert plan.document()["T"] == said.get("T", 5)
        assert plan.epsilon == pytest.approx(plan.d * plan.T / (200 * (plan.T - plan.q) * plan.q))
    else:
        with pytest.raises(InputError, match=r"plan\.json"):
            SETTING.read(file)


def trained(plan: Plan, **series: Any) -> TrainedPlan:
    return TrainedPlan(plan, {k: np.asarray(v, dtype=float) for k, v in series.items()}, None, {})


def run_of(one: TrainedPlan, steps: tuple[int, ...]) -> Run:
    columns = {name: values[None] for name, values in one.series.items()}
    plans = (one.plan,)
    evidence = Evidence(plans, np.array(steps), columns)
    return Run("selection", "", plans, evidence, (None,), (True,), diverged=(None,), model=(one,))


SERIES = {
    "alpha": [0.0, 1.4, 0.5, 1.0],
    "C": [0.0, 1.0, 2.0, 3.0],
    "loss": [0.5, 0.3, 0.01, 0.001],
    "missed": [0.8, 0.6, 0.4, 0.3],
}
STEPS = (0, 1, 4, 16)


def test_forecasts_of_a_descent() -> None:
    """Missed attention falls like 1/sqrt(t), through the last record."""
    run = run_of(trained(plan_of(10, 2, 1), **SERIES), STEPS)
    found = {f.column: f.values.tolist() for f in SETTING.forecasts(run, 0)}
    assert found["alpha"] == [1.0] * 4
    assert found["loss"] == [0.01] * 4
    assert found["missed"] == pytest.approx([math.nan, 1.2, 0.6, 0.3], nan_ok=True)
    drawn = run_of(trained(plan_of(10, 2, 1, d_e=30), **SERIES), STEPS)
    assert [f.column for f in SETTING.forecasts(drawn, 0)] == ["alpha", "loss"]
    one = trained(plan_of(10, 2, 1), **SERIES)
    stopped = TrainedPlan(one.plan, one.series, 3, {})
    assert SETTING.forecasts(run_of(stopped, STEPS), 0) == []


@pytest.mark.parametrize(("T", "q", "shown"), [(20, 2, 12), (20, 13, 14), (5, 4, 5), (20, 11, 12)])
def test_attention_on_the_chosen_and_on_others(T: int, q: int, shown: int) -> None:
    run = run_of(trained(plan_of(T, q, 1), **SERIES), STEPS)
    (look,) = SETTING.looks(run, 0)
    names = [f"chosen {n}" for n in range(1, q + 1)] + [f"other {n}" for n in range(1, T - q + 1)]
    after = [0.7 / q] * q + [0.3 / (T - q)] * (T - q)
    assert look.tokens == names[:shown]
    assert look.before == pytest.approx([1 / T] * shown)
    assert look.after == pytest.approx(after[:shown])
    assert f"the {q} chosen of {T} positions" in look.title
    (picture,) = [p for p in SETTING.pictures(run, 0) if isinstance(p, Attention)]
    shown = min(T, max(16, q + 1))
    assert list(picture.tokens) == names[:shown]
    assert picture.goal == tuple(range(q))
    for row, off in zip(picture.weights, SERIES["missed"], strict=True):
        even = [(1 - off) / q] * q + [off / (T - q)] * (T - q)
        assert row == pytest.approx(even[:shown])


def test_attention_is_not_shown_where_it_differs_from_one_subset_to_another() -> None:
    for plan, series in (
        (plan_of(10, 2, 1, d_e=30), SERIES),
        (plan_of(10, 2, 1), SERIES | {"missed": [0.8, 0.6, 0.4, math.nan]}),
        (plan_of(10, 2, 1), {"loss": [0.5] * 4}),
    ):
        assert SETTING.looks(run_of(trained(plan, **series), STEPS), 0) == []


def test_the_path_of_two_numbers_with_where_alpha_would_rest() -> None:
    """The best alpha for a weight s on each chosen position and o on each other one."""
    T, q = 10, 2
    plane = _plane(trained(plan_of(T, q, 4), **SERIES))
    assert (plane.x.tolist(), plane.y.tolist()) == (SERIES["C"], SERIES["alpha"])
    ((grid, rest),) = plane.lines.values()
    assert (len(grid), grid[0], grid[-1]) == (200, 0.0, 3.0)
    s = np.exp(grid) / (q * np.exp(grid) + T - q)
    o = (1 - q * s) / (T - q)
    np.testing.assert_allclose(rest, s / (q * s**2 + (T - q) * o**2), rtol=1e-12)
    # alpha is above 1 - kappa/10 at record 1, and the loss at most eps at record 2
    assert [(p.name, p.first, p.last) for p in plane.phases] == [
        ("Phase I", 0, 1),
        ("Phase II", 1, 2),
        ("done", 2, 3),
    ]
    backwards = SERIES | {"C": [0.0, -1.0, 2.0, math.nan]}
    plane = _plane(trained(plan_of(T, q, 4), **backwards))
    ((grid, _),) = plane.lines.values()
    assert (grid[0], grid[-1]) == (-1.0, 2.0)
    assert _plane(trained(plan_of(T, q, 4, d_e=30), **SERIES)).lines == {}


def test_phase_one_ends_at_one_minus_kappa_over_ten() -> None:
    """kappa = sqrt(q (T-q) eps / (d T)) = sqrt(2 * 8 * 0.01 / (4 * 10)) = 0.0632."""
    level = 1 - math.sqrt(16 * 0.01 / 40) / 10
    for alpha, end in ((level * (1 + 1e-12), 1), (level * (1 - 1e-12), 2)):
        series = SERIES | {"alpha": [0.0, alpha, 1.0, 1.0]}
        assert _plane(trained(plan_of(10, 2, 4), **series)).phases[0].last == end


@pytest.mark.parametrize(
    ("alpha", "loss", "phases"),
    [
        ([0.0, 0.9, 1.0], [9.0, 0.1, 0.0], [("Phase I", 0, 1), ("Phase II", 1, 2)]),
        ([0.0, 0.0, 0.9], [9.0, 0.1, 0.1], [("Phase I", 0, 2)]),
        ([0.0, 0.9, 1.0], [9.0, 0.05, 0.0], [("Phase I", 0, 1), ("done", 1, 2)]),
        ([0.9, 0.9, 1.0], [0.05, 0.04, 0.0], [("done", 0, 2)]),
        ([0.0, 0.0, 0.89], [0.04, 0.0, 0.0], [("Phase I", 0, 2)]),
    ],
)
def test_phases_follow_each_other(alpha: list, loss: list, phases: list) -> None:
    found = _phases(np.array(alpha), np.array(loss), 0.9, 0.05)
    assert [(phase.name, phase.first, phase.last) for phase in found] == phases


def test_w_is_shown_up_to_forty_rows() -> None:
    def heats(plan: Plan) -> list[Heat]:
        return list(_weights(trained(plan, **SERIES)))

    (heat,) = heats(plan_of(40, 2, 1))
    assert heat.rows == heat.columns == tuple(str(n) for n in range(1, 41))
    for C, shown in zip(SERIES["C"], heat.values, strict=True):
        np.testing.assert_allclose(shown, C * (np.eye(40) - 1 / 40), atol=1e-15)
    assert heats(plan_of(41, 2, 1)) == []
    (heat,) = heats(plan_of(50, 2, 1, d_e=40))
    np.testing.assert_array_equal(heat.values[2], 2 * np.eye(40))
    assert heats(plan_of(9, 2, 1, d_e=41)) == []


def test_other_lengths_and_even_attention() -> None:
    """The mean of T tokens misses half of d (1/q - 1/T); attention on y weighs (1 - u)/q."""
    training = OnlineChoices(tests=((7, 2), (500, 3)))
    plan = plan_of(10, 4, 3, training=training)
    run = run_of(trained(plan, **SERIES), STEPS)
    (chart,) = [p for p in SETTING.pictures(run, 0) if isinstance(p, Chart)]
    assert chart.x == (5, 7, 10, 20, 40, 80, 160, 500)
    assert chart.log_x
    assert chart.log_y
    even = [1.5 * (1 / 4 - 1 / T) for T in chart.x]
    assert chart.fixed["even attention"] == pytest.approx(even)
    losses = chart.curves["loss"]
    assert losses.shape == (4, 8)
    for n, T in enumerate(chart.x):
        weight = 4 * math.exp(2.0)
        u = (T - 4) / (weight + T - 4)
        chosen, others = 0.5 * (1 - u) / 4, 0.5 * u / (T - 4)
        expected = 1.5 * (4 * (1 / 4 - chosen) ** 2 + (T - 4) * others**2)
        assert losses[2, n] == pytest.approx(expected, rel=1e-9)
    longer = run_of(trained(plan_of(10, 5, 1), **SERIES), STEPS)
    (chart,) = [p for p in SETTING.pictures(longer, 0) if isinstance(p, Chart)]
    assert chart.x[0] == 10  # with five positions none would be left
    given = plan_of(4, 2, 1, d_e=4, encodings=np.eye(4))
    shown = SETTING.pictures(run_of(trained(given, **SERIES), STEPS), 0)
    assert not [p for p in shown if isinstance(p, Chart)]
    assert SETTING.pictures(run_of(trained(plan, loss=[0.5] * 4), STEPS), 0) == []


def forecast_of(reached: list[int], halved: list[int]) -> Forecast:
    groups = len(reached)
    numbers = np.array([0.9, 1.0, 1.1, 1.2][:groups]), np.linspace(2.0, 3.0, groups)
    loss = np.full(groups, 0.004)
    return Forecast(np.array(reached), np.array(halved), *numbers, loss, 77)


def test_times_over_groups() -> None:
    """Their mean, and its standard error: 10 and 14 have the deviation sqrt(8)."""
    plan = plan_of(9, 2, 3, 0.25, 0.02, d_e=12)
    time = _time(plan, forecast_of([10, 14], [4, 5]))
    assert (time.steps, time.half_attention, time.searched) == (12.0, 4.5, 77)
    assert time.standard_error == pytest.approx(2.0)
    assert time.bound == pytest.approx(81 * 3 / (0.25 * 0.02))
    assert time.law == pytest.approx(12 / (4 * 0.25 * 0.02))
    assert time.plateau_law == pytest.approx(12 * 9 / (0.25 * 3))
    assert time.steps_over_bound == pytest.approx(12 / 48_600)
    assert time.steps_over_law == pytest.approx(12 / 600)
    one = _time(plan, forecast_of([10], [0]))
    assert (one.steps, one.standard_error, one.half_attention) == (10.0, 0.0, 0.0)
    never = _time(plan, forecast_of([10, -1], [-1, 3]))
    assert (never.steps, never.standard_error, never.half_attention) == (None, None, None)
    assert (never.steps_over_bound, never.steps_over_law) == (None, None)
    at_once = _time(plan, forecast_of([0, 0], [0, 0]))
    assert (at_once.steps, at_once.standard_error) == (0.0, 0.0)


def test_laws_of_length_and_width() -> None:
    """rho = 16/7 for T = 9, q = 2: 7 ((9/7)^2 / 2 + (16/7)^2 / 16)."""
    plan = plan_of(9, 2, 3)
    found = _length(plan, forecast_of([5], [3]))
    assert (found.T, found.paper) == (18, 4.0)
    assert found.law == pytest.approx(7 * ((9 / 7) ** 2 / 2 + (16 / 7) ** 2 / 16))
    u = 16 / (16 + 2 * math.exp(2.0))
    loss = 1.5 * ((1 - 0.9 + 0.9 * u) ** 2 / 2 + 0.81 * u**2 / 16)
    assert found.loss == pytest.approx(loss, rel=1e-9)
    assert found.ratio == pytest.approx(loss / 0.004, rel=1e-9)
    never = _length(plan, forecast_of([-1], [3]))
    assert (never.loss, never.ratio) == (None, None)
    width = _width(plan)
    # 27 inputs, 12 neurons: 15 of the eigenvalues 7 / (2 * 9 * 8) are left
    assert (width.transformer, width.fully_connected, width.narrower) == (12, 27, True)
    assert width.floor == pytest.approx(15 * 7 / 144 / 2)
    assert _width(plan_of(2, 1, 2)).narrower is False  # 4 and 4


def test_what_keeps_encodings_from_an_isometry() -> None:
    plan = plan_of(9, 2, 3)
    assert isometry_problem(plan, Measured(0.0, 0.09, 0.05, 0.0)) == ()
    (problem,) = isometry_problem(plan, Measured(0.0, 0.03, 0.1, 0.0))
    assert (problem.code, problem.message) == ("no_isometry", "delta is 0.1")
    (problem,) = isometry_problem(plan, Measured(0.0, 0.2, 0.1, 0.0, orthogonality_exact=False))
    assert problem.message == "delta is at least 0.2"
    (problem,) = isometry_problem(plan, Measured(0.0, 0.02, 0.01, 0.0, isometry_exact=False))
    assert problem.message.startswith("delta is at least 0.02; there are too many sets")


def test_words_about_borders() -> None:
    time = _time(plan_of(9, 2, 3), forecast_of([5], [3]))
    for rate, word in ((4.0, "stops being stable"), (3.99, "Descent is stable")):
        said = list(describe_time(plan_of(9, 2, 3, rate), time, 4))
        assert word in str(said[-1])
    plan = plan_of(9, 2, 3, d_e=12)
    for rival, count in ((1.0, 3), (1 - 2e-9, 2), (1 - 1e-10, 3)):
        found = list(describe_encodings(plan, Measured(0.1, 0.1, 0.1, 0.1, rival)))
        assert len(found) == count
    for floor, word in ((0.0999, "does not rule out"), (0.1, "impossible below d_e = 8")):
        measured = Measured(0.1, 0.1, 0.1, 0.1, floor=floor, least_d_e=8)
        assert word in str(list(describe_encodings(plan, measured))[-1])


@pytest.mark.parametrize(
    ("T", "count"), [(9, 64), (468, 64), (469, 63), (7_500, 4), (7_501, 4), (6_000, 5)]
)
def test_subsets_under_an_encoding(T: int, count: int) -> None:
    """64 at most, four at least, 30,000 inner products in between."""
    assert forecasting._subsets(Task(T, 2, 1)) == count


def test_groups_of_random_encodings_have_four_members_of_their_own(monkeypatch) -> None:
    """Sixteen seeds for each seed of a plan, and subsets that are never the same."""
    numbered = lambda d_e, T, threshold, seed: np.full((d_e, T), float(seed))  # noqa: E731
    monkeypatch.setattr(forecasting, "near_orthogonal", numbered)
    seen, subsets = [], set()
    for seed in (0, 1, 2**28):
        training = OnlineChoices(seed=seed)
        plan = plan_of(500, 2, 1, d_e=12, threshold=0.9, training=training)
        for group in range(4):
            drawn = draw_encodings(plan, plan.task, group)
            assert len(drawn) == 4
            seen += [int(E[0, 0]) for E, _ in drawn]
            subsets |= {y.tobytes() for _, y in drawn}
            assert {y.shape for _, y in drawn} == {(60, 2)}
    assert seen == [*range(32), *range(16)]
    assert len(subsets) == 48


def test_the_search_for_the_time_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 times the laws and 100,000 more; a table over C reaches beyond where descent goes."""
    plan = plan_of(9, 2, 3, 0.25, 0.02)
    assert forecasting.plateau(plan) == 8 * 9 / (0.25 * 3)
    assert forecasting.tail(plan) == 8 / (4 * 0.25 * 0.02)
    assert forecasting.forecast(plan).searched == 100_000 + 30 * (96 + 400)
    monkeypatch.setitem(forecasting.MOST_STEPS, "one-hot", 7)
    found = forecasting.forecast(plan)
    assert (found.searched, found.reached.tolist(), found.done) == (7, [-1], False)
    assert np.isnan(found.loss).all()
    kappa = math.sqrt(2 * 98 * 1e-12 / 100)
    assert forecasting._highest(plan_of(100, 2, 1, eps=1e-12)) == pytest.approx(
        2.5 * math.log(98 / (2 * kappa)) + 10
    )
    assert forecasting._highest(plan_of(9, 2, 1)) == 20.0
    rough = forecasting._highest(plan_of(90_000, 2, 1, eps=1e9))  # at most one half is missed
    assert rough == pytest.approx(2.5 * math.log(89_998 / 1.0) + 10)


def test_tables_have_a_power_of_two_of_points() -> None:
    """400 points at a spacing of 1/20 reach 20; 512 are the next power of two."""
    problems = two_scalars(plan_of(5, 2, 1, d_e=12, threshold=0.9))
    assert len(np.asarray(problems.rate)) == 4
    shapes = {np.shape(leaf) for leaf in vars(problems.attention).values()}
    assert any(512 in shape or 513 in shape for shape in shapes)


def test_step_sizes_of_trainings() -> None:
    stated = plan_of(9, 2, 3, training=OnlineChoices(rate=0.7))
    for options, rate in (
        ({}, 0.5),
        ({"rate": 0.3}, 0.3),
        ({"algorithm": "sgd"}, 0.7),
        ({"algorithm": "sgd", "rate": 0.3}, 0.3),
        ({"algorithm": "adam"}, 1e-3),
    ):
        assert PlanTraining(**options).step_size(stated) == rate
    smallest = {"seed": 0, "samples": 1, "factors": 0, "queries": 1, "heads": 1, "width": 1}
    for name, least in smallest.items():
        PlanTraining(**{name: least})
        with pytest.raises(InputError, match=f"{name} must be at least {least}; got {least - 1}"):
            PlanTraining(**{name: least - 1})


@pytest.mark.parametrize(("most", "groups"), [(24, 1), (23, 4)])
def test_few_subsets_are_all_gone_through(monkeypatch, most: int, groups: int) -> None:
    """Six pairs of four positions."""
    monkeypatch.setattr(forecasting, "ALL_INNER", most)
    plan = plan_of(4, 2, 1, d_e=4, encodings=np.eye(4))
    assert len(forecasting.attentions(plan, plan.task)) == groups
    with pytest.raises(InputError, match="no encodings for 5 positions"):
        forecasting.attentions(plan, Task(5, 2, 1))


def test_only_random_encodings_are_drawn() -> None:
    """Signs of 30 coordinates exceed 1/2 if 22 or more agree, or 22 or more do not."""
    random = measure(plan_of(5, 2, 1, d_e=30, threshold=0.5))
    miss = 2 * sum(math.comb(30, k) for k in range(8)) / 2**30
    assert random.draws == pytest.approx(sum((1 - miss) ** -n for n in range(5)), rel=1e-9)
    slanted = np.eye(5) + 0.01
    assert measure(plan_of(5, 2, 1, d_e=5, encodings=slanted)).draws is None
