"""The selection setting on the command line: plans in, tables and pages out, words for mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles.sparse_selection import FACTS
from oracles.terminal import answer, run, write

SELECTION = ("--setting", "selection")
ONE_HOT = FACTS["onehot_time_to_eps"][0]
PLAN = {key: ONE_HOT[key] for key in ("T", "q", "d", "eta", "eps")}


def test_analyze_a_plan(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    found = answer("analyze", file, *SELECTION)
    assert found["setting"] == "selection"
    assert found["time"]["steps"] == ONE_HOT["t_first_loss_le_eps"]
    assert found["theorems"]["theorem-3.1"]["applies"]
    assert sorted(tmp_path.iterdir()) == [file]


def test_analyze_for_a_person_says_it_in_words_and_on_a_page(tmp_path: Path):
    rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0.1], [0.0, 0.6, -0.8]]
    plans = [PLAN | {"name": "<b>mine</b>"}, {"T": 5, "q": 2, "d": 1, "encodings": rows}]
    file = write(tmp_path, "plan.json", {"plans": plans})
    done = run("analyze", file, *SELECTION, "--out", "out")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert f"reached after {ONE_HOT['t_first_loss_le_eps']:,} steps" in words
    assert "theorem-3.1 applies" in words
    assert "delta < 1/10, as Theorem 3.3 asks: no" in words
    stored = json.loads((tmp_path / "out" / "analyze" / "analysis.json").read_text())
    assert [one["name"] for one in stored["instances"]] == ["<b>mine</b>", "plan 1"]
    page = (tmp_path / "out" / "analyze" / "index.html").read_text()
    assert "<h2>&lt;b&gt;mine&lt;/b&gt;</h2>" in page
    assert "<b>" not in page
    assert "largest |&lt;e_i, e_j&gt;|" in page
    assert f"{ONE_HOT['t_first_loss_le_eps']:,} steps" in page


def test_train_by_default_is_descent_in_two_numbers(tmp_path: Path):
    facts = FACTS["onehot_trajectories"][0]
    plan = {key: facts[key] for key in ("T", "q", "d", "eta")}
    file = write(tmp_path, "plan.json", plan)
    last = facts["points"][-1]
    record = f"0,{last['t']}"
    options = ["--steps", last["t"], "--record", record, "--out", "out"]
    found = answer("train", file, *SELECTION, *options)
    assert "in the two numbers alpha and C" in found["rule"]
    (instance,) = found["instances"]
    assert instance["steps"] == [0, last["t"]]
    assert instance["loss"][-1] == pytest.approx(last["loss"], rel=1e-9)
    shown = run("train", file, *SELECTION, *options)
    assert f"{last['alpha']:.6f}"[:6] in shown.stdout
    assert "attention missed" in " ".join(shown.stdout.split())


def test_embeddings_are_the_encodings_of_all_plans(tmp_path: Path):
    """Orthonormal rows: one-hot encodings, but that C has d_e coordinates to move, not T - 1."""
    T, q, d, eta = (PLAN[key] for key in ("T", "q", "d", "eta"))
    np.save(tmp_path / "rows.npy", np.eye(T)[:, ::-1])
    write(tmp_path, "plan.json", PLAN)
    options = ["--steps", 300, "--record", "300", "--embeddings", "rows.npy"]
    found = answer("train", "plan.json", *SELECTION, *options)
    alpha = C = 0.0
    for _ in range(300):
        s = 1 / (q + (T - q) * np.exp(-C))
        up = s - alpha * (q * s**2 + (1 - q * s) ** 2 / (T - q))
        pull = s * (1 - q * s) * (1 + q * alpha * (1 - T * s) / (T - q))
        alpha, C = alpha + eta * up, C + eta * d * alpha / T * pull
    (instance,) = found["instances"]
    assert instance["encodings"] == "given"
    assert instance["alpha"] == pytest.approx([alpha], rel=1e-6)
    assert instance["C"] == pytest.approx([C], rel=1e-6)


def test_a_diverging_run_is_an_answer(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    options = [*SELECTION, "--lr", 1e6, "--steps", 100, "--record", "0,100"]
    found = answer("train", file, *options)
    at = found["instances"][0]["diverged"]
    assert 0 < at <= 100
    done = run("train", file, *options)
    assert done.returncode == 0
    assert f"diverged at step {at}" in " ".join(done.stdout.split())


def test_train_adam_on_samples(tmp_path: Path):
    training = {"samples": 16, "x_query": "random", "initial": 0.05}
    plan = {"T": 8, "q": 2, "d": 2, "d_e": 10, "threshold": 0.8, "training": training}
    write(tmp_path, "plan.json", plan)
    options = [*SELECTION, "--algorithm", "adam", "--steps", 40, "--record", "0,40"]
    found = answer("train", "plan.json", *options)
    assert found["rule"].startswith("Adam on V and W")
    (instance,) = found["instances"]
    assert instance["steps"] == [0, 40]
    assert instance["loss"][0] is None
    assert 0 < instance["loss"][1] < 2
    assert instance["encodings"] == "random"


def test_the_default_algorithm_is_the_papers_own(tmp_path: Path):
    write(tmp_path, "data.txt", "a b c a\nb a c b\n")
    for setting in ("mechanics", "convergence"):
        options = ["--setting", setting, "--steps", 3, "--record", "3"]
        found = answer("train", "data.txt", *options)
        assert found["rule"].startswith("normalized gradient descent")


def bad_requests(folder: Path) -> dict[str, list[object]]:
    """What must be refused, by the words of the message."""
    write(folder, "good.json", PLAN)
    write(folder, "empty.json", "")
    write(folder, "broken.json", '{"T": ')
    write(folder, "nan.json", '{"T": 9, "q": 2, "d": 1, "eta": NaN}')
    write(folder, "huge.json", PLAN | {"T": 10**9})
    write(folder, "key.json", {"plans": [PLAN, PLAN | {"epsilon": 1}]})
    write(folder, "ragged.json", PLAN | {"encodings": [[1, 0], [1]]})
    write(folder, "twins.json", {"T": 4, "q": 2, "d": 1, "encodings": [[1, 0], [0, 1]] * 2})
    flat = [[1, 0], [0, 1], [-1, 0], [1, 1]]
    write(folder, "flat.json", {"T": 4, "q": 2, "d": 1, "encodings": flat, "name": "flat"})
    write(folder, "rows.json", [[1, 0], [0, 1]])
    write(folder, "tokens.txt", "a b c\n")
    train = ["train", "good.json"]
    return {
        "empty.json: the file is empty": ["analyze", "empty.json"],
        "broken.json: not valid JSON": ["analyze", "broken.json"],
        "eta must be a positive number; got nan": ["analyze", "nan.json"],
        "T = 1,000,000,000 is too large": ["analyze", "huge.json"],
        "key.json, plan 1: unknown key 'epsilon'; did you mean 'eps'?": ["analyze", "key.json"],
        "same length": ["analyze", "ragged.json"],
        "positions 0 and 2 have the same encoding": ["train", "twins.json"],
        "flat: some subset of the encodings is linearly dependent": ["analyze", "flat.json"],
        "No such file": ["analyze", "none.json"],
        "reads plans from .json": ["analyze", "tokens.txt"],
        "2 rows of encodings": ["analyze", "good.json", "--embeddings", "rows.json"],
        "unknown algorithm 'ngd'": [*train, "--algorithm", "ngd"],
        "--lr takes a positive number; got 'tight'": [*train, "--lr", "tight"],
        "the step size must be a positive number": [*train, "--lr", "-1"],
        "unknown option of the selection setting '--predict'": [*train, "--predict", "a b"],
        "unknown option of the selection setting '--loss'": [*train, "--loss", "log"],
        "can only record steps 0 to 5": [*train, "--steps", 5, "--record", "6"],
        "must not be negative": [*train, "--steps", "-2"],
    }


@pytest.mark.parametrize("case", range(18))
def test_bad_requests_are_refused_in_words_and_leave_nothing(tmp_path: Path, case: int):
    message, arguments = list(bad_requests(tmp_path).items())[case]
    before = sorted(tmp_path.rglob("*"))
    done = run(*arguments, *SELECTION)
    assert done.returncode == 2
    assert message in done.words
    assert sorted(tmp_path.rglob("*")) == before


def test_plans_are_not_tokens(tmp_path: Path):
    write(tmp_path, "plan.json", PLAN)
    done = run("analyze", "plan.json")
    assert done.returncode == 2
    assert '"sequences" and "labels"' in done.stderr
