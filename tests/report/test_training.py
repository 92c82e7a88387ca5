"""The page of a training run: curves, what theory says about them, attention, numbers."""

import re
from pathlib import Path

import numpy as np
import pytest
from oracles.terminal import answer, run

import lemmata as lm
from lemmata.report import columns_of, write_training
from lemmata.settings import anchored

SENTENCES = "b c b\nc a b c\n"


def said(setting: str, run: lm.Run) -> dict[str, np.ndarray]:
    """What the setting forecasts about its only instance."""
    return {f.column: f.values for f in lm.papers[setting].setting.forecasts(run, 0)}


def test_a_law_goes_through_the_last_value_and_not_far_above_the_others() -> None:
    curve = anchored(np.array([3.0, 2.0, 1.0]), np.array([16.0, 4.0, 2.0]))
    np.testing.assert_array_equal(curve, [np.nan, 2.0, 1.0])


def test_plain_descent_grows_as_forecast(tmp_path: Path) -> None:
    """‖W(t)‖ from the run against ‖W^mm‖ ln t plus a constant, which is right late in training."""
    file = tmp_path / "s.txt"
    file.write_text(SENTENCES)
    trained = lm.train(file, algorithm="gd", steps=4000)
    forecast = said("mechanics", trained)
    late = trained.steps >= 1000
    size = np.sqrt((trained.W_mm[0] ** 2).sum())
    slope = np.diff(forecast["norm"][late]) / np.diff(np.log(trained.steps[late]))
    np.testing.assert_allclose(slope, size)
    np.testing.assert_allclose(trained.norm[0, late], forecast["norm"][late], rtol=2e-3)


def test_normalized_descent_in_two_stages_ends_where_forecast(tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text("a b\nb c\nc a\na b c c\n")
    trained = lm.train(file, "convergence", steps=4000)
    forecast = said("convergence", trained)
    np.testing.assert_array_equal(forecast["correlation"], 1.0)
    assert (trained.norm[0, 1:] <= forecast["norm"][1:] * (1 + 1e-12)).all()
    np.testing.assert_allclose(trained.log_loss[0, -1], forecast["log_loss"][-1], rtol=1e-6)
    known = trained.one_minus_correlation[0, -1]
    assert trained.correlation[0, -1] == pytest.approx(1 - known, abs=1e-12)
    assert known < 1e-20 or abs(known / forecast["one_minus_correlation"][-1] - 1) < 0.1


def test_descent_on_a_plan_falls_like_a_square_root(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"T": 9, "q": 2, "d": 3, "eps": 0.01, "eta": 1.0}')
    trained = lm.train(file, "selection", steps=100_000, record=(10_000, 100_000))
    forecast = said("selection", trained)
    np.testing.assert_allclose(trained.missed[0], forecast["missed"], rtol=0.05)
    assert forecast["loss"][-1] == 0.01


@pytest.mark.parametrize("setting", ["mechanics", "convergence"])
def test_attention_before_and_after(tmp_path: Path, setting: str) -> None:
    """Softmax by hand: uniform before; after, from the weights of the run."""
    file = tmp_path / "s.txt"
    file.write_text("b c b\n" if setting == "mechanics" else "a b\nb c\nc a\na b c\n")
    trained = lm.train(file, setting, steps=300)
    looks = lm.papers[setting].setting.looks(trained, 0)
    for look in looks:
        np.testing.assert_allclose(look.before, 1 / len(look.tokens))
        np.testing.assert_allclose(look.after.sum(), 1.0)
    assert looks[0].after.max() > 0.9


def test_the_page_holds_everything(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(SENTENCES)
    found = answer("train", tmp_path / "s.txt", "--predict", "b c", "--out", tmp_path / "o")
    entry = found["instances"][0]
    assert {f["column"] for f in entry["forecasts"]} == {"correlation", "one_minus_correlation"}
    assert entry["attention"][0]["input"] == ["b", "c"]
    page = (tmp_path / "o" / "train" / "s.html").read_text()
    for words in ("Curves", "Attention, before and after", "Predictions", "The numbers", "<svg"):
        assert words in page
    assert not re.search(r'(src|href)="(http|//)', page)
    assert (tmp_path / "o" / "train" / "s.svg").is_file()


def test_an_instance_that_was_not_trained_is_told(tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text("a b c\na c\nb <x>\n")
    home = lm.convergence.SETTING
    trained = lm.train(file, "convergence", steps=3)
    page = write_training(tmp_path, "s", home, trained, file.name).read_text()
    assert "Not trained" in page
    assert "<x>" not in page
    assert columns_of(home, trained, 0) == {}


@pytest.mark.parametrize("setting", ["mechanics", "selection", "context"])
def test_eighty_columns_cut_no_number(tmp_path: Path, setting: str) -> None:
    documents = {
        "mechanics": SENTENCES,
        "selection": '{"T": 9, "q": 2, "d": 3, "eps": 0.01}',
        "context": '{"N": 2, "K": 4, "d": 3, "m": 2, "tau": 0.1, "H": 3}',
    }
    file = tmp_path / ("s.txt" if setting == "mechanics" else "s.json")
    file.write_text(documents[setting])
    shown = run("train", file, "--setting", setting, "--steps", 50, "--out", tmp_path / "o")
    lines = shown.stdout.splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    assert "…" not in shown.stdout
    entry = answer("train", file, "--setting", setting, "--steps", 50, "--out", tmp_path / "o")
    column = {"mechanics": "norm", "selection": "alpha", "context": "moved_Q"}[setting]
    last = entry["instances"][0][column][-1]
    words = {float(word) for line in lines for word in line.split() if _is_number(word)}
    assert any(value == pytest.approx(last, rel=1e-4) for value in words)


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?", word))
