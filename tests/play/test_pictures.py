"""Pictures at every record, against runs that end there."""

import json

import numpy as np
import pytest

from lemmata.papers import papers
from lemmata.play._pictures import picture_document
from lemmata.play._requests import Ask
from lemmata.play._sheet import read_sheet
from lemmata.settings import Attention, Chart, Heat, Plane, Slider
from lemmata.training import Film

SHORT = {"mechanics": 40, "convergence": 20, "selection": 300, "context": 12}
GAPS = {"mechanics": 8, "convergence": 5, "selection": 60, "context": 4}


def run_of(paper: str, tmp_path, monkeypatch, steps: int, film: bool = True):
    monkeypatch.chdir(tmp_path)
    setting, example = papers()[paper].setting, papers()[paper].examples[0]
    sheet = read_sheet(Ask("train", paper, example.text, example.suffix), setting)
    records = tuple(range(0, steps + 1, GAPS[paper]))
    options = {"steps": steps, "record": records}
    return setting, setting.train(sheet.instances, options, store=Film() if film else None)


@pytest.mark.parametrize("paper", SHORT)
def test_the_attention_of_a_record_is_that_of_a_run_which_ends_there(
    paper: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting, run = run_of(paper, tmp_path, monkeypatch, SHORT[paper])
    followed = [p for p in setting.pictures(run, 0) if isinstance(p, Attention)]
    early = int(run.steps[len(run.steps) // 2])
    _, short = run_of(paper, tmp_path, monkeypatch, early, film=False)
    record = list(run.steps).index(early)
    for looks, moment in ((setting.looks(short, 0), record), (setting.looks(run, 0), -1)):
        assert looks
        for look, picture in zip(looks, followed, strict=False):
            shown = picture.weights[moment][: len(look.after)]
            assert shown == pytest.approx(look.after[: len(shown)], rel=1e-12)
            start = picture.weights[0][: len(look.before)]
            assert start == pytest.approx(look.before[: len(start)], rel=1e-9)
    assert all(picture.weights.shape[0] == len(run.steps) for picture in followed)


def test_the_direction_of_w_goes_to_its_limit(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cosine of what is shown with what is shown as the limit is the recorded one."""
    setting, run = run_of("mechanics", tmp_path, monkeypatch, SHORT["mechanics"])
    (heat,) = [p for p in setting.pictures(run, 0) if isinstance(p, Heat)]
    assert heat.goal is not None
    assert np.linalg.norm(heat.goal) == pytest.approx(1)
    cosines = np.sum(heat.values * heat.goal, axis=(1, 2))
    assert cosines[1:] == pytest.approx(run.correlation[0, 1:], abs=1e-12)


def test_the_two_numbers_and_other_lengths(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, run = run_of("selection", tmp_path, monkeypatch, SHORT["selection"])
    shown = setting.pictures(run, 0)
    (plane,) = [p for p in shown if isinstance(p, Plane)]
    (chart,) = [p for p in shown if isinstance(p, Chart)]
    (heat,) = [p for p in shown if isinstance(p, Heat)]
    assert np.array_equal(plane.y, run.alpha[0])
    T = run.instances[0].T
    at_home = chart.x.index(T)
    assert chart.curves["loss"][:, at_home] == pytest.approx(run.loss[0], rel=1e-9)
    assert chart.fixed["even attention"][at_home] == pytest.approx((T - 2) / (4 * T))
    # W moves the logits of chosen and other positions apart by C, as attention shows
    chosen = np.eye(T)[:, :2].sum(axis=1)
    logits = heat.values[-1] @ chosen
    odds = np.exp(logits - logits.max())
    assert odds[:2].sum() / odds.sum() == pytest.approx(1 - run.missed[0, -1], rel=1e-9)
    assert plane.phases[0].first == 0
    assert plane.phases[-1].last == len(run.steps) - 1


def test_predictions_and_rates(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, run = run_of("context", tmp_path, monkeypatch, SHORT["context"])
    shown = setting.pictures(run, 0)
    rate, prompt = [p for p in shown if isinstance(p, Chart)]
    (heat,) = [p for p in shown if isinstance(p, Heat)]
    task = run.instances[0].task
    assert heat.values[-1] == pytest.approx(run.model[0].combined)
    gaps = [task.gap(matrix) for matrix in heat.values]
    assert gaps == pytest.approx(run.gap[0], rel=1e-9)
    assert task.gap(heat.goal) == pytest.approx(0, abs=1e-12)
    labels = prompt.fixed["ridge regression"][: task.N]  # ridge leaves the given labels
    assert prompt.curves["transformer"][-1] == pytest.approx(labels @ heat.values[-1])
    assert prompt.fixed["ridge regression"] == pytest.approx(labels @ heat.goal)
    given = rate.curves["given by training"]
    assert np.isnan(given[0]).all()
    assert given[-1] == pytest.approx(-np.diff(np.log(run.gap[0])) / np.diff(run.steps))
    promised = rate.fixed["promised by (18)"]
    assert (promised <= given[-1]).all()


@pytest.mark.parametrize("paper", ["selection", "context"])
def test_sliders_are_keys_of_the_file_and_hold_its_values(
    paper: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    setting = papers()[paper].setting
    for example in papers()[paper].examples:
        instance = read_sheet(Ask("analyze", paper, example.text, example.suffix), setting)
        document = json.loads(example.text)
        for slider in setting.sliders(instance.instances[0]):
            assert slider.least < slider.most
            assert slider.value == document[slider.name]
            _moved(setting, paper, document, slider)


def _moved(setting, paper: str, document: dict, slider: Slider) -> None:
    """At both ends the plan can still be read."""
    for end in (slider.least, slider.most):
        text = json.dumps({**document, slider.name: end})
        assert read_sheet(Ask("analyze", paper, text, ".json"), setting).instances


def test_numbers_are_short_and_what_is_not_finite_is_none() -> None:
    picture = Attention("t", ("a", "b"), np.array([[1 / 3, np.nan], [0.0, -1.23456789e-7]]))
    assert picture_document(picture)["weights"] == [[0.33333, None], [0.0, -1.2346e-07]]
