"""The phase diagrams: drawn small, and points on both sides of every boundary computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles import phases as oracle

from lemmata._plain import plain
from lemmata.claims import Bench
from lemmata.drawing import TEXT_WIDTH, Drawing, picture_bytes
from lemmata.papers import papers
from lemmata.papers.context.figures import _phases as context
from lemmata.papers.convergence.figures import _phases as convergence
from lemmata.papers.mechanics.figures import _phases as mechanics
from lemmata.papers.selection.figures import _phases as selection

SMALL = {
    "mechanics": lambda: mechanics.draw(Bench(), (7, 9)),
    "convergence": lambda: convergence.draw(Bench(), (7, 4)),
    "selection": lambda: selection.draw(Bench(), (4, 2_000, 500)),
    "context": lambda: context.draw(Bench(), (7, 3, 2)),
}


@pytest.fixture(scope="module")
def drawings() -> dict[str, Drawing]:
    return {paper: draw() for paper, draw in SMALL.items()}


@pytest.mark.parametrize("paper", SMALL)
def test_maps_are_drawn(paper: str, drawings: dict[str, Drawing]) -> None:
    drawing = drawings[paper]
    assert f"{paper}/phases" in papers()[paper].figures.names
    assert drawing.picture.get_size_inches()[0] == TEXT_WIDTH
    assert not {"nan", "None", "–"} & set(drawing.caption.replace(".", " ").split())
    json.dumps(plain(drawing.numbers), allow_nan=False)
    assert picture_bytes(drawing.picture, "svg").rstrip().endswith(b"</svg>")


SHARES = (0.55, 2 / 3, 0.7, 0.95)
RATES = (0.25, 4.4, 5.2, 12.0, 25.0)


def test_a_tie_settles_exactly_up_to_the_edge() -> None:
    periods = mechanics.periods_over(np.array(SHARES), np.array(RATES), Bench())
    for i, rate in enumerate(RATES):
        for j, share in enumerate(SHARES):
            orbit = oracle.tie_orbit(share, rate, mechanics.STEPS, mechanics.KEPT)
            expected = oracle.least_period(orbit, mechanics.LONGEST, mechanics.STILL)
            assert periods[i, j] == expected, (rate, share)
            assert (expected == 1) == (rate * share * (1 - share) < 1)
    assert {1, 2, 3} <= set(periods.ravel().tolist())
    assert 0 in periods  # chaos, too


def test_the_mean_attention_on_an_orbit_is_the_share() -> None:
    for rate in (2.0, 7.0, 40.0):
        z = oracle.tie_orbit(0.7, rate, 2_000, 20_000)
        assert np.mean(1 / (1 + np.exp(-np.array(z)))) == pytest.approx(0.7, abs=2e-3)
    ours = mechanics.orbit(0.7, np.array([5.2]), kept=8)[0]
    theirs = oracle.tie_orbit(0.7, 5.2, 20_000, 8)
    assert sorted(ours) == pytest.approx(sorted(theirs), abs=2e-3)


def test_rare_inputs_wait_as_long_as_plain_loops_say() -> None:
    powers, margins = np.array([0.0, 3.0, 12.0, 40.0]), np.array([2.0, 100.0])
    times = convergence.times_over(powers, margins, Bench())
    for i, margin in enumerate(margins):
        for j, power in enumerate(powers):
            steps = oracle.waiting_steps(
                power, margin, convergence.RATE, convergence.LEVEL, convergence.STEPS
            )
            assert times[i, j] == pytest.approx(convergence.RATE * steps), (margin, power)
    # Skew costs nothing on one side of the line, and what the law says on the other.
    assert convergence.free_skew(2.0) < 3 < convergence.free_skew(100.0) < 12
    assert times[1, 1] < times[1, 0] + 2 < times[0, 1]
    law = convergence.law(powers, margins[:, None])
    assert np.abs(times - law)[:, 2:].max() < 3


def test_training_of_the_encodings_map_against_complex_steps() -> None:
    dimensions, records = np.array([12, 64]), np.array([20, 60])
    C = selection.trained_scale(dimensions, records, Bench())
    source = np.random.default_rng([0, 0])
    task = selection.TASK
    for row, d_e in zip(C, dimensions, strict=True):
        gaps = selection.draw_gaps(int(d_e), task.T - task.q, selection.PAIRS, source)
        for steps, found in zip(records, row, strict=True):
            assert found == pytest.approx(
                oracle.selection_scale(gaps, task.q, task.d, d_e, selection.RATE, int(steps)),
                rel=1e-5,
            )


@pytest.mark.parametrize(("d_e", "C"), [(16, 8.0), (100, 5.5)])
def test_half_is_missed_where_the_law_says(d_e: int, C: float) -> None:
    law = float(selection.reach_by_law(np.array([C]), np.array([d_e]))[0])
    lengths = np.array([int(law / 2), int(law), int(2 * law)])
    found = selection.missed_over(d_e, np.array([C]), lengths, 16_000, 0)[0]
    seeds = range(40)
    for length, value in zip(lengths, found, strict=True):
        again = [oracle.missed_attention(d_e, C, int(length), 2, s) for s in seeds]
        error = np.std(again) * np.sqrt(1 / len(again) + d_e / 16_000)
        assert abs(np.mean(again) - value) < 4 * error + 1e-3
    assert found[0] < 0.45 < 0.55 < found[2]
    assert abs(found[1] - 0.5) < 0.05


@pytest.mark.parametrize(("heads", "scale"), [(24, 1.0), (96, 30.0)])
def test_descent_at_the_theory_s_rates_against_a_loop(heads: int, scale: float) -> None:
    case = context.plan(context.N, context.D, heads, scale, 3)
    promised, _ = context.steps_of(case)
    rate = 0.9 * case.frozen.largest_stable_rate  # the same formulas, at a size that a loop can do
    most = 20_000
    steps = oracle.frozen_steps(case, rate, 0.05, most)
    assert steps == context.first_step(case.frozen, rate, 0.05 * case.constants.gap)
    assert steps is not None
    assert promised > steps


def test_fewer_heads_than_examples_leave_a_gap() -> None:
    for heads, reached in ((context.N - 1, False), (context.N, True)):
        floor = context.plan(context.N, context.D, heads, 2.0, 0).frozen.floor
        assert floor is not None
        assert (floor < 1e-12) == reached


@pytest.mark.parametrize(("n", "d"), [(6, 30), (6, 3), (6, 2), (8, 2), (9, 3), (10, 3), (4, 2)])
def test_the_degree_is_the_first_that_tells_the_points_apart(n: int, d: int) -> None:
    points = np.random.default_rng(n).standard_normal((n, d))
    points /= np.linalg.norm(points, axis=1)[:, None]
    k = context.degree(n, d)
    assert oracle.polynomial_rank(points, k) == n
    assert oracle.polynomial_rank(points, k - 1) < n


def test_zeta_goes_with_the_power_of_the_law() -> None:
    for n, d in ((6, 3), (6, 2)):
        power = context.fitted_power(n, d, 6, seed=7)
        assert abs(power["measured"] - power["law"]) < 5 * power["standard error"] + 0.1


def test_docs_speak_of_every_map() -> None:
    for paper in SMALL:
        page = Path(__file__).parents[2] / "docs" / f"{paper}.md"
        assert f"`{paper}/phases`" in page.read_text()
