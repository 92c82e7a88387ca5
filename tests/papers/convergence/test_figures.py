"""The figures of the convergence paper, drawn from small runs."""

import json

import numpy as np
import pytest

from lemmata._plain import plain
from lemmata.claims import Bench
from lemmata.drawing import TEXT_WIDTH
from lemmata.papers.convergence.experiments import EXAMPLE_RUN, FASTER_RUN, JOINT_RUN, PAPER_RUN
from lemmata.papers.convergence.figures import FIGURES, _generalization, _joint
from lemmata.papers.convergence.setting import (
    Dataset,
    Joint,
    JointRun,
    TwoStage,
    example_1,
)
from lemmata.training import Recording


@pytest.fixture(scope="module")
def bench() -> Bench:
    """Every experiment of the figures on two small datasets, so that little is compiled."""
    datasets = [example_1(), Dataset.from_sentences("abab", ["abab", "ba"])]
    paper = TwoStage(stage1_steps=20, steps=20).run(datasets)
    example = TwoStage(stage1_rate=0.1, rate=0.025, record=(900,)).run(datasets)
    series = paper.stage2.series | {
        "value_one_minus_correlation": paper.stage1.series["one_minus_correlation"] + 0.1
    }
    recording = Recording(paper.stage2.steps, series, None)
    bench = Bench()
    bench._evidence |= {
        PAPER_RUN: paper,
        FASTER_RUN: example,
        EXAMPLE_RUN: example,
        JOINT_RUN: JointRun(tuple(datasets), Joint(), paper.rate_ov, recording, paper.inputs),
    }
    return bench


PAPER = [figure for figure in FIGURES if not figure.name.endswith("/phases")]
"""All but the map, which has its own tests."""


@pytest.mark.parametrize("figure", PAPER, ids=lambda figure: figure.name)
def test_figures_are_drawn(figure, bench: Bench) -> None:
    drawing = figure.draw(bench)
    assert drawing.picture.get_size_inches()[0] == TEXT_WIDTH
    assert len(drawing.caption) > 100
    assert "nan" not in drawing.caption
    json.dumps(plain(drawing.numbers), allow_nan=False)
    drawing.picture.draw_without_rendering()


def test_figure_1_holds_the_exact_structure(bench: Bench) -> None:
    numbers = plain(FIGURES[0].draw(bench).numbers)
    assert numbers["collocation"] == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert [row["order"] for row in numbers["orders"]] == [
        "S > P",
        "V > S",
        "O > S, O > V",
        "O > P",
    ]
    assert numbers["squared norm of W_ov*"] == "3"
    assert numbers["squared norm of W_kq*"] == "13/6"


def test_example_2_predicts_what_the_paper_says(bench: Bench) -> None:
    rows = _generalization.draw(bench).numbers["Example 2"]
    said = {row["input"]: row["predicted"] for row in rows}
    assert said["SP"] == "V"
    assert said["OSP"] == "P"
    assert said["SVP"] == "V or O"
    seen = {sample.tokens for sample in example_1().data.samples}
    assert not any(tuple(example_1().encode(list(words))) in seen for words in said)


def test_the_loss_of_stage_1_meets_that_of_stage_2(bench: Bench) -> None:
    """The loss computed during stage 1 leads to the one recorded at the start of stage 2."""
    run = bench.evidence(PAPER_RUN)
    for i, dataset in enumerate(run.datasets):
        scale = run.stage1.series["norm"][i, -1:] / dataset.norm_ov
        (loss,) = _joint._loss_before_attention(dataset, scale)
        recorded = run.stage2.series["log_loss"][i, 0]
        assert loss == pytest.approx(float(np.exp(recorded)), rel=1e-12)
