"""The figures of the selection paper, drawn from made-up runs, their numbers computed again."""

import json
from typing import Any

import numpy as np
import pytest
from oracles.online import SIZES, made_up_followed, made_up_pairs, made_up_plan

from lemmata._plain import plain
from lemmata.claims import Bench
from lemmata.drawing import COLUMN_WIDTH, TEXT_WIDTH, Drawing
from lemmata.papers.selection.experiments import (
    ensembles,
    heat_maps,
    mean_fields,
    runs,
    switched_encodings,
)
from lemmata.papers.selection.experiments.ensembles import Rivals
from lemmata.papers.selection.experiments.heat_maps import HeatMap
from lemmata.papers.selection.experiments.switched_encodings import Switched
from lemmata.papers.selection.figures import FIGURES
from lemmata.papers.selection.setting import Plan, Task, Training
from lemmata.settings import Evidence

SAID = {
    "1": ["4η/d_e = 0.25", "R² = 1", "The paper does not say"],
    "2": ["is 0.0078 with fresh", "The paper does not say", "0.99 and 0."],
    "3": ["x_query = 0", "batch size", "5 %"],
    "4": ["at least 0.15", "18 %", "q = 8"],
    "5": ["Adam (step size 0.001"],
    "6": ["variance 1/(d + d_e)", "weights of sd 0.229"],
    "7": ["variance 1/(d + d_e)", "Adam"],
    "8": ["C = ", "at t = 40"],
}


def _switched(pairs: Evidence[Any]) -> Evidence[Switched]:
    longer = dict.fromkeys(SIZES.lengths, (0.2, 0.01))
    trained, untrained = dict.fromkeys(SIZES.lengths, 0.01), dict.fromkeys(SIZES.lengths, 0.4)
    return Evidence(
        tuple(
            Switched(pair.plan, 0.005, 0.15, 0.006, longer, trained, untrained, trained, 0.75)
            for pair in pairs
        )
    )


def _heat_map(query: str, moments: tuple[int, ...]) -> HeatMap:
    draw, d, d_e, last = np.random.default_rng(0), 3, 5, moments[-1]
    fade = 1 - 0.95 * np.array(moments) / last
    V, W = (
        fade[:, None, None] * draw.standard_normal(shape)[None]
        for shape in ((d, d + d_e), (d + d_e, d + d_e))
    )
    W[:, d:, d:] += 3 * (1 - fade)[:, None, None] * np.eye(d_e)[None]
    how = Training(
        Task(6, 2, d),
        d_e,
        threshold=1.0,
        steps=last,
        change=last // 2,
        later_rate=0.1,
        x_query=query,
    )
    return HeatMap(made_up_plan(query), how, moments, V, W)


@pytest.fixture(scope="module")
def bench() -> Bench:
    bench = Bench()
    pairs = made_up_pairs()
    inner = np.array([1.02, 0.1])
    eight = Plan("q = 8", Task(200, 8, 5), 1.0, 1e-3, d_e=170)
    made_up = {
        runs.SGD: pairs,
        runs.ADAM: made_up_pairs(adam=True),
        runs.SGD_RANDOM: made_up_pairs(spread=True),
        runs.ADAM_RANDOM: made_up_pairs(adam=True, spread=True),
        mean_fields.MEAN_FIELD: made_up_followed(pairs),
        switched_encodings.SWITCHED: _switched(pairs),
        ensembles.RIVALS: Evidence((Rivals(eight, 10_000, 8, {"y": [1]}, inner),)),
        heat_maps.HEAT_MAPS: Evidence(
            (
                _heat_map("zero", (0, 40)),
                _heat_map("fixed", (0, 40)),
                _heat_map("random", (0, 1, 10, 40)),
            )
        ),
    }
    bench._evidence |= {bench.bind(experiment): found for experiment, found in made_up.items()}
    return bench


@pytest.fixture(scope="module")
def drawings(bench: Bench) -> dict[str, Drawing]:
    figures = {figure.name.removeprefix("selection/"): figure for figure in FIGURES}
    return {name: figures[name].draw(bench) for name in SAID}


@pytest.mark.parametrize("name", SAID)
def test_figures_are_drawn(name: str, drawings: dict[str, Drawing]) -> None:
    drawing = drawings[name]
    assert drawing.picture.get_size_inches()[0] in (COLUMN_WIDTH, TEXT_WIDTH)
    assert not {"nan", "None", "–)"} & set(drawing.caption.split())
    for words in SAID[name]:
        assert words in drawing.caption, drawing.caption
    json.dumps(plain(drawing.numbers), allow_nan=False)
    drawing.picture.draw_without_rendering()


def test_panels_are_the_tested_tasks(drawings: dict[str, Drawing]) -> None:
    titles = [axes.get_title(loc="left") for axes in drawings["4"].picture.axes]
    assert titles == ["$T=30$, $q=2$", "$T=40$, $q=2$", "$T=20$, $q=3$", "$T=20$, $q=4$"]
    assert len(drawings["2"].picture.axes) == 2
    for axes in drawings["4"].picture.axes:
        assert axes.get_yscale() == "log"
        low, high = axes.get_ylim()
        values = np.concatenate([line.get_ydata() for line in axes.lines])
        assert low <= values.min() <= values.max() <= high


def test_tables_hold_the_means_of_the_last_tenth(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    pairs = bench.evidence(runs.SGD)
    for row in drawings["4"].numbers["at the end"]:
        name = f"population T={row['T']} q={row['q']}"
        ends = [pair.run(row["encodings"])[name][-6:] for pair in pairs]
        assert row["loss at the end"] == pytest.approx(np.mean(ends))
        assert row["sd of the seeds"] == pytest.approx(np.std(np.mean(ends, axis=1)))
        assert row["on 128 samples"] == pytest.approx(1.1 * np.mean(ends))
        assert row["share of d/(2q)"] == pytest.approx(np.mean(ends) * 2 * row["q"] / 3)
        # From x = 0.25 to 0.95, 1 / (1 + 100 x) falls by 96/26.
        stays = row["encodings"] == "fixed" and row["T"] > 20
        known = 0.0 if stays else np.log(96 / 26) / np.log(0.95 / 0.25)
        assert row["power of 1/t"] == pytest.approx(known, abs=0.02)
    best = drawings["4"].numbers["best of all steps"][0]
    assert best["fixed"] == pytest.approx(
        np.mean([pair.fixed["population T=30 q=2"].min() for pair in pairs])
    )


def test_the_line_of_figure_1_is_that_of_least_squares(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    """The made-up loss is z / (1 + t/10) up to a factor, so that its inverse is a line."""
    fit = drawings["1"].numbers["fit of 1/L"]
    factors = [one.run["loss"][-1] * 101 / 0.75 for one in bench.evidence(mean_fields.MEAN_FIELD)]
    assert fit["slope"] == pytest.approx(np.mean([1 / (7.5 * f) for f in factors]))
    assert fit["R^2"] == pytest.approx(1)
    # The first record below a twentieth of z: 1 + t/10 >= 20 times the factor.
    assert fit["from step"] == 200
    assert fit["to step"] == 1_000


def test_heat_maps_are_the_weights(bench: Bench, drawings: dict[str, Drawing]) -> None:
    found = bench.evidence(heat_maps.HEAT_MAPS).cases[-1]
    images = [axes.images[0] for axes in drawings["8"].picture.axes if axes.images]
    assert len(images) == 8
    for moment in range(4):
        np.testing.assert_array_equal(images[moment].get_array(), found.W[moment])
        np.testing.assert_array_equal(images[4 + moment].get_array(), found.V[moment])
    rows = drawings["3"].numbers["root mean squares of blocks"]
    assert {row["x_query"] for row in rows} == {"zero", "fixed", "random"}
    assert all(row["left"] == pytest.approx(0.05, abs=0.001) for row in rows)
