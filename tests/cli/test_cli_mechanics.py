"""The mechanics setting on the command line, on data that nobody would call nice."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles import descent
from oracles.recorded import AUTHORS, FACTS
from oracles.terminal import answer, run, write
from scipy.optimize import brentq

FIG2 = FACTS["fig2_reconstruction"]


def test_analyze_a_stored_dataset(tmp_path: Path):
    file = write(tmp_path, "data.json", {key: FIG2[key] for key in ("sequences", "labels")})
    found = answer("analyze", file, "--out", tmp_path / "out")
    assert found["setting"] == "mechanics"
    assert found["vocabulary"] == [0, 1, 2, 3]
    assert found["realizable"]
    assert not found["acyclic"]
    (problem,) = found["problems"]
    assert problem["code"] == "cyclic"
    assert "last token 1" in problem["where"]
    assert problem["message"]
    assert found["queries"]["0"]["edges"] == FIG2["graphs"]["0"]["edges"]
    assert found["queries"]["0"]["components"] == [[2], [1], [0], [3]]
    assert found["queries"]["1"]["components"] == [[0, 1, 2], [3]]
    margin = found["max_margin"]
    assert margin["status"] == "solved"
    assert margin["norm"] == pytest.approx(FIG2["W_mm_norm"], rel=1e-14)
    assert margin["norm_squared_exact"] == "7/2"
    assert margin["error_bound"] == 0
    assert found["cyclic_correction"]["norm"] == pytest.approx(FIG2["W_cyc_norm"], rel=1e-12)
    stored = json.loads((tmp_path / "out" / "analyze" / "analysis.json").read_text())
    assert stored == found


def test_json_alone_writes_nothing(tmp_path: Path):
    file = write(tmp_path, "data.txt", "a b a\n")
    answer("analyze", file)
    assert sorted(tmp_path.iterdir()) == [file]


def test_analyze_for_a_person_writes_a_report_where_it_is_told(tmp_path: Path):
    file = write(tmp_path, "data.txt", "a b c a\nb a c b\n")
    done = run("analyze", file, "--out", "here")
    assert done.returncode == 0, done.stderr
    assert "W^mm" in done.stdout
    assert (tmp_path / "here" / "analyze" / "analysis.json").stat().st_size > 0
    assert list((tmp_path / "here" / "analyze").glob("*.html"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.txt", "here"]


def test_train_the_authors_instances(tmp_path: Path):
    instances = AUTHORS["acyclic"]["instances"][:2]
    keys = ("sequences", "labels", "embeddings", "initial_weights")
    document = {"instances": [{key: one[key] for key in keys} for one in instances]}
    file = write(tmp_path, "data.json", document)
    arguments = ["--record", "1,100,1000", "--steps", 1000, "--lr", 0.01, "--out", "out"]
    found = answer("train", file, *arguments)
    assert "normalized gradient descent" in found["rule"]
    for instance, facts in zip(found["instances"], instances, strict=True):
        assert instance["steps"] == [1, 100, 1000]
        np.testing.assert_allclose(instance["correlation"], facts["correlation"][:3], atol=5e-6)
        gap = np.array(instance["one_minus_correlation"])
        np.testing.assert_allclose(1 - gap, instance["correlation"], rtol=1e-14)
        assert np.diff(instance["log_loss"]).max() < 0
        assert np.diff(instance["norm"][1:]).min() > 0
        assert instance["cyclic_distance"] == [0, 0, 0]


def plain_run(rate: float, steps: int) -> np.ndarray:
    rows = list(zip(FIG2["sequences"], FIG2["labels"], strict=True))
    return descent.train(rows, np.eye(4), np.zeros((4, 4)), rate, steps, normalized=False)[-1]


def test_train_gradient_descent_and_predict(tmp_path: Path):
    file = write(tmp_path, "data.json", {key: FIG2[key] for key in ("sequences", "labels")})
    options = ["--algorithm", "gd", "--lr", "tight", "--steps", 40, "--record", "0,40"]
    found = answer("train", file, *options, "--predict", "0 3 1", "--out", "o")
    (instance,) = found["instances"]
    W = plain_run(1 / FIG2["lipschitz_tight"], 40)
    assert instance["norm"] == pytest.approx([0, np.linalg.norm(W)], rel=1e-11)
    assert instance["correlation"][0] is None
    assert instance["correlation"][1] == pytest.approx(
        descent.correlation(W, np.array(FIG2["W_mm"])), abs=1e-11
    )
    assert instance["log_loss"][0] == pytest.approx(np.log(FIG2["loss_at_zero"]), rel=1e-13)
    inside = W[:3, 1] - W[:3, 1].mean()
    distance = np.linalg.norm(inside - np.array(FIG2["W_cyc"])[:3, 1])
    assert instance["cyclic_distance"][1] == pytest.approx(distance, abs=1e-10)
    (prediction,) = instance["predictions"]
    np.testing.assert_allclose(
        prediction["attention"], descent.softmax(W[[0, 3, 1], 1]), rtol=1e-10
    )
    assert prediction["next"] == 0


def test_train_along_the_path_and_the_flow(tmp_path: Path):
    file = write(tmp_path, "data.txt", "a b c a\nb a c b\nb a c a\n")
    for algorithm, words in (("path", "regularization path"), ("flow", "gradient flow")):
        options = ["--algorithm", algorithm, "--steps", 50, "--record", "0,5,50"]
        found = answer("train", file, *options, "--predict", "b a c", "--out", "out")
        assert words in found["rule"]
        (instance,) = found["instances"]
        assert instance["steps"] == [0, 5, 50]
        assert np.diff(instance["log_loss"]).max() < 0
        assert instance["correlation"][-1] > 0.9
        assert instance["cyclic_distance"][-1] < 0.05
        # Of three samples with a and b before c, two have the label a.
        (prediction,) = instance["predictions"]
        assert prediction["next"] == "a"
        assert prediction["probability"] == pytest.approx(2 / 3, abs=0.02)
        assert sum(prediction["attention"]) == pytest.approx(1)


NASTY = {
    "cycles": "a b c a\nb c a b\nc a b c\na b c b\nc b a c\n",
    "absent labels": "a b c\nb c d\nc d a\n",
    "identical": "a b a\n" * 30_000,
    "lopsided": "a b a\n" * 5_000 + "a b b\n",
    "one token": "a a\nb b\nc c\n",
    "quotes": '"a" \'b\' [bold] "a"\n[/bold] <b> &amp; \\ <b>\n',
    "unicode": "α 🎉 ß α\nß α 日本 ß\n\u202eabc x \u202eabc\n",
    "tabs": "a\tb\ta\n\t\nb\t a  b\r\n",
    "a long sequence": " ".join(map(str, range(300))) + " 7\n",
}

INFEASIBLE = {
    "sequences": [[0, 1, 2], [2, 1, 0], [0, 2, 1]],
    "labels": [1, 1, 2],
    "embeddings": [[1.0], [2.0], [3.0]],
}


@pytest.mark.parametrize("name", [*NASTY, "infeasible"])
def test_nasty_files_are_answered(tmp_path: Path, name: str):
    if name == "infeasible":
        file = write(tmp_path, "data.json", INFEASIBLE)
    else:
        file = write(tmp_path, "data.txt", NASTY[name])
    done = run("analyze", file, "--out", "out")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "analyze" / "analysis.json").read_text())
    codes = {problem["code"] for problem in found["problems"]}
    expected = {
        "cycles": {"cyclic"},
        "absent labels": {"label_not_in_sequence", "max_margin_zero"},
        "lopsided": {"cyclic", "max_margin_zero"},
        "one token": {"max_margin_zero"},
        "infeasible": {"infeasible", "embeddings_dependent", "embeddings_not_orthonormal"},
    }
    assert codes == expected.get(name, set())
    status = {"absent labels": "zero", "one token": "zero", "lopsided": "zero"}
    assert found["max_margin"]["status"] == status.get(
        name, "infeasible" if name == "infeasible" else "solved"
    )
    if name == "lopsided":
        assert found["cyclic_correction"]["norm"] == pytest.approx(
            np.log(5_000) / np.sqrt(2), rel=1e-10
        )
    if name == "infeasible":
        assert found["generalized"]["bound"]
        assert found["max_margin"]["norm"] is None


@pytest.mark.parametrize("name", ["absent labels", "infeasible"])
def test_nasty_files_are_trained(tmp_path: Path, name: str):
    if name == "infeasible":
        file = write(tmp_path, "data.json", INFEASIBLE)
    else:
        file = write(tmp_path, "data.txt", NASTY[name])
    found = answer("train", file, "--steps", 50, "--record", "1,50", "--out", "o")
    (instance,) = found["instances"]
    if name == "absent labels":
        assert not instance["trained"]
        assert "no label occurs in its sequence" in instance["reason"]
        assert instance["steps"] == instance["norm"] == []
        return
    assert instance["steps"] == [1, 50]
    assert instance["target"] == "generalized direction"
    # one number w, moved by 0.01 a step: the loss is least where its derivative vanishes
    logits = np.array([[3.0, 6.0, 9.0], [3.0, 2.0, 1.0], [2.0, 6.0, 4.0]])

    def slope(w: float) -> float:
        weights = np.exp(w * logits)
        return float(((weights * logits).sum(axis=1) / weights.sum(axis=1) - logits[:, 1]).sum())

    first, last = instance["norm"]
    assert first == pytest.approx(0.01, rel=1e-12)
    assert last == pytest.approx(brentq(slope, 0, 1), abs=0.01)


def bad_requests(folder: Path) -> dict[str, list[object]]:
    """What must be refused, by the words of the message."""
    write(folder, "good.txt", "a b c a\nb a c b\n")
    write(folder, "nan.json", '{"sequences": [[0, 1]], "labels": [0], "embeddings": [[NaN], [1]]}')
    write(folder, "head.json", [[1.0, 0.0], [0.0, 1.0]])
    unit = {"sequences": [[0, 1]], "labels": [0], "embeddings": [[1.0, 0.0], [3.0, 1.0]]}
    write(folder, "long.json", unit)
    return {
        "must be a finite number": ["analyze", "nan.json", "--out", "out"],
        "option of the mechanics setting '--stage1-steps'; did you mean '--steps'?": [
            *("train", "good.txt", "--stage1-steps", 5)
        ],
        "unknown algorithm": ["train", "good.txt", "--algorithm", "adagrad"],
        "unknown loss": ["train", "good.txt", "--loss", "hinge"],
        "positive number": ["train", "good.txt", "--lr", "nan"],
        "must not be negative": ["train", "good.txt", "--steps", "-1"],
        "epsilon must not be": ["train", "good.txt", "--epsilon", "-1"],
        "record steps 0 to 9": ["train", "good.txt", "--steps", 9, "--record", "10"],
        "--loss (loss) has no effect with algorithm path": [
            *("train", "good.txt", "--algorithm", "path", "--loss", "squared")
        ],
        "--loss (loss) has no effect with algorithm block": [
            *("train", "good.txt", "--algorithm", "block", "--loss", "squared")
        ],
        "--epsilon (epsilon) has no effect with algorithm gd; it is for ngd": [
            *("train", "good.txt", "--algorithm", "gd", "--epsilon", 0.5)
        ],
        "--lr (rate) has no effect with algorithm flow": [
            *("train", "good.txt", "--algorithm", "flow", "--lr", 0.5)
        ],
        "--head takes": ["train", "good.txt", "--head", "other"],
        "unknown token": ["train", "good.txt", "--predict", "a z"],
    }


@pytest.mark.parametrize("case", range(14))
def test_bad_requests_are_refused_in_words_and_leave_nothing(tmp_path: Path, case: int):
    message, arguments = list(bad_requests(tmp_path).items())[case]
    before = sorted(tmp_path.rglob("*"))
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.words
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("file", "head", "message"),
    [("good.txt", "head.json", "the head has shape"), ("long.json", "embedding", "Assumption 3")],
)
def test_heads_that_do_not_fit_are_refused_in_words(tmp_path: Path, file, head, message):
    bad_requests(tmp_path)
    done = run("train", file, "--loss", "squared", "--head", head, "--steps", 1)
    assert done.returncode == 2
    assert message in done.words


def test_a_step_size_that_is_neither_a_number_nor_a_name(tmp_path: Path):
    write(tmp_path, "good.txt", "a b a\n")
    done = run("train", "good.txt", "--lr", "fast")
    assert done.returncode == 2
    assert "'paper' (1/L) or 'tight' (1/L_tight); got 'fast'" in done.words
