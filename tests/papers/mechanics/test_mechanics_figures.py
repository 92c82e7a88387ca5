"""The figures of the mechanics paper, drawn from few trials, their numbers computed again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from few_trials import FewTrials
from oracles.recorded import FACTS

from lemmata._plain import plain
from lemmata.claims import Bench, Experiment
from lemmata.drawing import COLUMN_WIDTH, TEXT_WIDTH, Drawing
from lemmata.papers.mechanics import experiments
from lemmata.papers.mechanics.figures import FIGURES, _acyclic
from lemmata.papers.mechanics.setting import TrainingRun

TRIALS = 6

REPORTED = {
    "mechanics/2": ["7/2"],
    "mechanics/3": ["above 0.99"],
    "mechanics/4": ["0.987", "less than 0.01"],
    "mechanics/4-limit": ["Figure 4"],
    "mechanics/4-parts": ["squared distances", "tied tokens share it"],
    "mechanics/5": ["reports above 0.99", "reports 0)", "authors' ε"],
    "mechanics/6": ["reports above 0.99", "reports 9.59", "reports 0.09", "authors' ε"],
}
"""What the captions quote of the paper, or say about every run."""


@dataclass
class FigureBench(FewTrials):
    """Fewer trials; the run of Figure 6 stands in for another loss of Figure 5."""

    def bind(self, experiment: Experiment[Any]) -> Experiment[Any]:
        bound = super().bind(experiment)
        if experiment is experiments.LITERAL_SQUARED_RUN:
            return super().bind(experiments.CROSS_ENTROPY_RUN)
        if experiment is _acyclic.LONG_RUN:
            return replace(bound, training=replace(bound.training, steps=8_000))
        return bound


@pytest.fixture(scope="module")
def bench() -> Bench:
    return FigureBench(trials=TRIALS)


@pytest.fixture(scope="module")
def drawings(bench: Bench) -> dict[str, Drawing]:
    return {figure.name: figure.draw(bench) for figure in FIGURES if figure.name in REPORTED}


@pytest.mark.parametrize("name", REPORTED)
def test_figures_are_drawn(name: str, drawings: dict[str, Drawing]) -> None:
    drawing = drawings[name]
    assert drawing.picture.get_size_inches()[0] in (COLUMN_WIDTH, TEXT_WIDTH)
    assert not {"nan", "None", "–)"} & set(drawing.caption.split())
    for words in REPORTED[name]:
        assert words in drawing.caption
    json.dumps(plain(drawing.numbers), allow_nan=False)
    drawing.picture.draw_without_rendering()


def test_every_figure_is_drawn_here() -> None:
    others = ["mechanics/phases"]  # the map has its own tests
    assert [figure.name for figure in FIGURES] == [*REPORTED, *others]


def test_figure_2_has_what_the_text_says(drawings: dict[str, Drawing]) -> None:
    numbers = drawings["mechanics/2"].numbers
    case = FACTS["fig2_reconstruction"]
    words = [[f"e{t + 1}" for t in sequence] for sequence in case["sequences"]]
    assert [row["input"].split() for row in numbers["samples"]] == words
    assert [row["label"] for row in numbers["samples"]] == [f"e{y + 1}" for y in case["labels"]]
    for name in ("O", "R"):
        places = [[t + 1 for t in row] for row in case[name]]
        assert [row[name] for row in numbers["samples"]] == places
    assert numbers["I"] == [4, 5, 6, 7]
    for graph, known in zip(numbers["graphs"], case["graphs"].values(), strict=True):
        edges = [edge.split(" > ") for edge in graph["edges"].split(", ")]
        assert edges == [[f"e{a + 1}", f"e{b + 1}"] for a, b in known["edges"]]
        components = sorted(sorted(c) for c in graph["components"])
        assert components == [[f"e{t + 1}" for t in c] for c in known["sccs"]]
    assert str(numbers["squared norm of W^mm"]) == "7/2"
    assert numbers["norm of W^cyc"] == pytest.approx(case["W_cyc_norm"], rel=1e-12)


def test_correlations_are_cosines_of_the_final_weights(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    for experiment, row in (
        (experiments.ACYCLIC_RUN, drawings["mechanics/3"].numbers["correlation at the end"][0]),
        (experiments.CYCLIC_RUN, drawings["mechanics/4"].numbers["at the end"][0]),
    ):
        run = trained_again(bench, experiment)
        assert len(run.datasets) == TRIALS
        found = [_cosine(run.weights(i), d.target) for i, d in enumerate(run.datasets)]
        _agree(row, found, 1e-12)


def test_distances_are_those_of_projected_weights(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    run = trained_again(bench, experiments.CYCLIC_RUN)
    found = []
    for i, d in enumerate(run.datasets):
        rows = [
            np.outer(d.E[a] - d.E[b], d.E[query]).ravel()
            for query, graph in d.graphs.items()
            for tied in graph.components
            for a in tied
            for b in tied
        ]
        inside = np.linalg.pinv(rows, rcond=1e-10) @ (rows @ run.weights(i).ravel())
        found.append(float(np.linalg.norm(inside - d.dense(d.correction).ravel())))
    numbers = drawings["mechanics/4"].numbers
    _agree(numbers["at the end"][1], found, 1e-9)
    assert numbers["trials below 0.01"] == sum(x < 0.01 for x in found)
    assert numbers["trials within 20 % of eta / 2"] == sum(0.004 <= x <= 0.006 for x in found)
    assert numbers["trials with W^cyc = 0"] == sum(d.correction.norm < 1e-9 for d in run.datasets)


def test_the_start_outside_the_span_explains_part_of_the_gap(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    """No gradient moves it: it is the same at the end, where it costs half its squared sine."""
    run = trained_again(bench, experiments.ACYCLIC_RUN)
    lost = []
    for i, d in enumerate(run.datasets):
        rows = np.array([np.outer(d.E[a] - d.E[b], d.E[q]).ravel() for q, (a, b) in d.pairs])
        outside = np.eye(rows.shape[1]) - np.linalg.pinv(rows) @ rows
        start, end = (outside @ W.ravel() for W in (d.initial_weights, run.weights(i)))
        np.testing.assert_allclose(start, end, atol=1e-10)
        lost.append((np.linalg.norm(end) / np.linalg.norm(run.weights(i))) ** 2 / 2)
    numbers = drawings["mechanics/3"].numbers
    share = numbers["of which from the part of W(0) that no gradient moves"]
    assert share == pytest.approx(float(np.mean(lost)), rel=1e-9)


def test_the_scheme_of_two_parts_arrives(drawings: dict[str, Drawing]) -> None:
    numbers = drawings["mechanics/4-limit"].numbers
    direction, ties, slower, orbit = numbers["final"]
    assert numbers["trials with 1 - correlation below 1e-6"] == TRIALS
    assert direction["largest"] < 1e-6 < 1e-3 < slower["smallest"]
    assert ties["largest"] < 1e-9 < 1e-3 < orbit["mean"]


def test_local_numbers_follow_from_the_final_weights(
    bench: Bench, drawings: dict[str, Drawing]
) -> None:
    squared = drawings["mechanics/5"].numbers
    for experiment, numbers in (
        (experiments.SQUARED_RUN, squared["(1 - softmax(C X's)_y)^2, as in the authors' program"]),
        (experiments.LITERAL_SQUARED_RUN, squared["(1 - u)^2, as in the text"]),
        (experiments.CROSS_ENTROPY_RUN, drawings["mechanics/6"].numbers),
    ):
        local = bench.evidence(experiment)
        sizes, hits, several = [], 0, []
        for case in local:
            here, E = [], case.instance.E
            for sample in case.instance.data.samples:
                logits = E[list(sample.tokens)] @ case.weights[-1] @ E[sample.query]
                attention = np.exp(logits) / np.exp(logits).sum()
                chosen = {t for t, a in zip(sample.tokens, attention, strict=True) if a > 0.01}
                here.append(len(chosen))
                hits += sample.label in chosen
            sizes += here
            several.append(max(here) > 1)
        selection = numbers["selection"]
        assert selection["samples"] == len(sizes) == 4 * TRIALS
        assert [selection[f"select {n}"] for n in (1, 2, 3)] == [sizes.count(n) for n in (1, 2, 3)]
        assert selection["label selected"] == hits
        assert numbers["trials where some sample selects several tokens"] == sum(several)
        for row, targets in zip(
            numbers["correlation at the end"],
            (
                [case.instance.target for case in local],
                [case.pseudo["authors"].margin.weights for case in local],
                [case.pseudo["selected"].margin.weights for case in local],
            ),
            strict=True,
        ):
            pairs = zip(local, targets, strict=True)
            _agree(row, [_cosine(case.weights[-1], W) for case, W in pairs], 1e-12)
        small = np.exp(local.log_gradient_norm[:, -1]) < 1e-15
        assert numbers["trials with |gradient| below 1e-15"] == small.sum()
        own = numbers["distance at the end"][1]
        assert own["exactly 0"] == sum(not case.pseudo["authors"].reduced.samples for case in local)


def trained_again(bench: Bench, experiment: Experiment[Any]) -> TrainingRun:
    """The run behind a figure, with its weights."""
    return experiment.training.run(bench.evidence(experiment).cases)


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sum(one * other) / np.linalg.norm(one) / np.linalg.norm(other))


def _agree(row: dict[str, float], found: Sequence[float], tolerance: float) -> None:
    assert row["mean"] == pytest.approx(sum(found) / len(found), abs=tolerance)
    assert row["smallest"] == pytest.approx(min(found), abs=tolerance)
    assert row["largest"] == pytest.approx(max(found), abs=tolerance)
    assert row["sd"] == pytest.approx(float(np.std(found)), abs=tolerance)
