"""The context setting on the command line: plans in, tables and pages out, words for mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles.in_context import GOLDEN
from oracles.terminal import answer, run, write

CONTEXT = ("--setting", "context")
TINY = GOLDEN["tiny"]
TOKENS = np.array(TINY["inputs"]["S_dxK"]).T.tolist()
REPRESENTATIONS = np.array(TINY["inputs"]["Zhat_mxK"]).T.tolist()
PLAN = {
    "N": TINY["N"],
    "tau": TINY["tau"],
    "H": TINY["H"],
    "tokens": TOKENS,
    "representations": REPRESENTATIONS,
}


def test_analyze_a_plan(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    found = answer("analyze", file, *CONTEXT)
    assert found["setting"] == "context"
    assert found["loss"]["minimum"] == pytest.approx(TINY["Lstar_corrected"], rel=1e-9)
    assert found["theorems"]["theorem-1"]["applies"]
    assert sorted(tmp_path.iterdir()) == [file]


def test_analyze_for_a_person_says_it_in_words_and_on_a_page(tmp_path: Path):
    twins = {"N": 2, "tau": 0.1, "H": 2, "tokens": [[1, 0], [1, 0], [0, 2]], "m": 1}
    file = write(tmp_path, "plan.json", {"plans": [PLAN | {"name": "<b>mine</b>"}, twins]})
    done = run("analyze", file, *CONTEXT, "--out", "out")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert f"L* = {TINY['Lstar_corrected']:.6g}" in words
    assert f"{TINY['Lstar_as_printed_WRONG']:.6g}" in words
    assert "theorem-1 applies" in words
    assert "theorem-2 does not apply (it needs: every token has norm 1" in words
    assert "repeated_token: prompt tokens 0 and 1 are the same" in words
    stored = json.loads((tmp_path / "out" / "analyze" / "analysis.json").read_text())
    assert [one["name"] for one in stored["instances"]] == ["<b>mine</b>", "plan 1"]
    page = (tmp_path / "out" / "analyze" / "index.html").read_text()
    assert "<h2>&lt;b&gt;mine&lt;/b&gt;</h2>" in page
    assert "<b>" not in page
    assert "as printed in (61)" in page
    assert "theorem-1 applies" in page


def test_embeddings_are_the_tokens_of_all_plans(tmp_path: Path):
    np.save(tmp_path / "rows.npy", np.array(TOKENS))
    bare = {key: value for key, value in PLAN.items() if key != "tokens"}
    write(tmp_path, "bare.json", bare)
    write(tmp_path, "plan.json", PLAN)
    beside = answer("analyze", "bare.json", *CONTEXT, "--embeddings", "rows.npy")
    assert beside == answer("analyze", "plan.json", *CONTEXT)


def test_train_by_default_is_descent_at_the_rates_of_the_theory(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    options = ["--steps", 20, "--record", "0,20", "--out", "out"]
    found = answer("train", file, *CONTEXT, *options)
    assert "the step sizes of (16)" in found["rule"]
    (instance,) = found["instances"]
    assert instance["steps"] == [0, 20]
    assert instance["gap"][0] == pytest.approx(TINY["gap_w0"], rel=1e-9)
    assert instance["loss"][0] == pytest.approx(TINY["loss_w0"], rel=1e-9)
    assert instance["gap"][1] <= instance["guarantee"][1] < instance["gap"][0]
    shown = run("train", file, *CONTEXT, *options)
    assert f"{TINY['gap_w0']:.5g}" in shown.stdout
    assert "out of" in shown.stdout
    assert "…" not in shown.stdout


def test_a_diverging_run_is_an_answer(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    options = [*CONTEXT, "--lr", 1e4, "--steps", 20, "--record", "0,20"]
    found = answer("train", file, *options)
    at = found["instances"][0]["diverged"]
    assert 0 < at <= 20
    done = run("train", file, *options)
    assert done.returncode == 0
    assert f"diverged at step {at}" in " ".join(done.stdout.split())


def test_train_adam(tmp_path: Path):
    file = write(tmp_path, "plan.json", PLAN)
    options = ["--algorithm", "adam", "--lr", 0.05, "--steps", 100, "--record", "0,100"]
    found = answer("train", file, *CONTEXT, *options)
    assert found["rule"] == "Adam on Q and w, population loss, float32: 100 steps of size 0.05"
    (instance,) = found["instances"]
    assert instance["gap"][1] < 0.1 * instance["gap"][0]
    assert instance["out_of_domain"][1] > 4 * instance["in_domain"][1]


def bad_requests(folder: Path) -> dict[str, list[object]]:
    """What must be refused, by the words of the message."""
    write(folder, "good.json", PLAN)
    write(folder, "empty.json", "")
    write(folder, "broken.json", '{"N": ')
    write(folder, "nan.json", json.dumps(PLAN).replace("0.5,", "NaN,", 1))
    write(folder, "huge.json", {"N": 1, "tau": 1, "H": 10**9, "K": 2, "d": 1, "m": 1})
    write(folder, "key.json", {"plans": [PLAN, PLAN | {"heads": 1}]})
    write(folder, "many.json", PLAN | {"N": 5})
    write(folder, "silent.json", PLAN | {"tau": 0, "name": "silent"})
    write(folder, "tokens.txt", "a b c\n")
    write(folder, "rows.json", [[1, 0], [0, 1]])
    train = ["train", "good.json"]
    return {
        "empty.json: the file is empty": ["analyze", "empty.json"],
        "broken.json: not valid JSON": ["analyze", "broken.json"],
        "tau must be a number that is not negative; got nan": ["analyze", "nan.json"],
        "H = 1,000,000,000 is too large": ["analyze", "huge.json"],
        "key.json, plan 1: unknown key 'heads'": ["analyze", "key.json"],
        "N = 5 examples": ["train", "many.json"],
        "silent: the theory has no step size, as tau = 0": ["train", "silent.json"],
        "No such file": ["analyze", "none.json"],
        "the context setting reads plans from .json": ["analyze", "tokens.txt"],
        "has tokens of its own": ["analyze", "good.json", "--embeddings", "rows.json"],
        "unknown algorithm 'sgd'; did you mean 'gd'? (known: gd, adam)": [
            *(*train, "--algorithm", "sgd")
        ],
        "got 'tight'": [*train, "--lr", "tight"],
        "the step size must be a positive number": [*train, "--lr", "-1"],
        "unknown option of the context setting": [*train, "--predict", "a b"],
        "can only record steps 0 to 5": [*train, "--steps", 5, "--record", "6"],
        "must not be negative": [*train, "--steps", "-2"],
    }


@pytest.mark.parametrize("case", range(16))
def test_bad_requests_are_refused_in_words_and_leave_nothing(tmp_path: Path, case: int):
    message, arguments = list(bad_requests(tmp_path).items())[case]
    before = sorted(tmp_path.rglob("*"))
    done = run(*arguments, *CONTEXT)
    assert done.returncode == 2
    assert message in done.words
    assert sorted(tmp_path.rglob("*")) == before
