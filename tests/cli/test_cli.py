"""The command line as a user runs it: answers, exit codes, and nothing half-done."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CONVERGENCE = ("--setting", "convergence")
EXAMPLE = "S V O P\nV O P\nO P P\nP S V\n"


def lemmata(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from lemmata.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def answer(*arguments: object, cwd: Path) -> dict:
    done = lemmata(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "example.txt"
    path.write_text(EXAMPLE)
    return path


def test_help_and_list_do_not_import_jax(tmp_path: Path):
    program = (
        "import sys\n"
        "from lemmata.cli._list import list_everything\n"
        "list_everything(None, False)\n"
        "assert not {'jax', 'matplotlib', 'scipy'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "convergence/theorem-1" in done.stdout
    assert lemmata("--help", cwd=tmp_path).returncode == 0


def test_list_names_every_figure_and_claim(tmp_path: Path):
    papers = {paper["key"]: paper for paper in answer("list", cwd=tmp_path)["papers"]}
    assert set(papers) == {"context", "convergence", "mechanics", "selection"}
    paper = papers["convergence"]
    assert {"convergence/1", "convergence/2"} <= {figure["name"] for figure in paper["figures"]}
    assert len(paper["claims"]) > 50


def test_analyze_example_1(example: Path):
    found = answer("analyze", example, "--setting", "convergence", cwd=example.parent)
    assert found["collocation"] == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert found["queries"]["O"]["edges"] == [["O", "S"], ["O", "V"]]
    assert found["queries"]["P"]["components"] == [["O"], ["P"]]
    assert found["roles"]["P"]["non_comparable"] == ["S", "V"]
    assert found["max_margin"]["norm_squared_exact"] == "13/6"
    assert found["max_margin_ov"]["norm_squared_exact"] == "3"
    assert found["problems"] == []
    assert found["realizable"]
    assert found["acyclic"]


def test_train_example_1(example: Path):
    arguments = ["--stage1-steps", 900, "--stage1-lr", 0.1, "--steps", 900, "--lr", 0.025]
    record = ["--record", "2,10,100,900", "--predict", "S P", "--predict", "O S P"]
    found = answer("train", example, *CONVERGENCE, *arguments, *record, cwd=example.parent)
    instance = found["instances"][0]
    assert instance["steps"] == [2, 10, 100, 900]
    expected = [0.97009, 0.98600, 0.99540, 0.999517]
    assert instance["correlation"] == pytest.approx(expected, abs=5e-6)
    assert instance["one_minus_correlation"][-1] == pytest.approx(4.8349418933e-4, rel=1e-9)
    assert [p["next"] for p in instance["predictions"]] == ["V", "P"]


BROKEN = {
    "a a a": "single_token",
    "a b c\na c b\nb c a\nc a b": "collocation_conflict",
    "a b c": "collocation_missing",
    "a c\nb c\nc a": "collocation_not_injective",
    "a b a\nb c\nc a": "preimage_not_in_sentence",
    "b c c\na b c b\nc a": "confused_token",
    "a b\nb a": "nothing_to_attend",
}


@pytest.mark.parametrize(("text", "code"), BROKEN.items(), ids=BROKEN.values())
def test_analyze_answers_broken_assumptions(tmp_path: Path, text: str, code: str):
    path = tmp_path / "data.txt"
    path.write_text(text)
    found = answer("analyze", path, *CONVERGENCE, cwd=tmp_path)
    problem = next(p for p in found["problems"] if p["code"] == code)
    assert problem["where"]
    assert problem["message"]
    assert any(code in state["problems"] for state in found["assumptions"].values())


def test_analyze_answers_cycles_and_open_prefixes(tmp_path: Path):
    path = tmp_path / "data.json"
    samples = {
        "sequences": [["a"], ["b"], ["c"], ["a", "b", "c"], ["b", "a", "c"]],
        "labels": ["b", "c", "a", "b", "c"],
    }
    path.write_text(json.dumps(samples))
    found = answer("analyze", path, *CONVERGENCE, cwd=tmp_path)
    codes = {problem["code"] for problem in found["problems"]}
    assert {"order_not_well_defined", "not_prefix_closed"} <= codes
    assert not found["acyclic"]
    assert found["max_margin"]["status"] == "infeasible"
    edges = [[row["winner"], row["loser"]] for row in found["max_margin"]["infeasibility"]]
    assert sorted(edges) == [["a", "b"], ["b", "a"]]
    options = [*CONVERGENCE, "--steps", 20, "--out", tmp_path / "out"]
    trained = answer("train", path, *options, cwd=tmp_path)
    assert set(trained["instances"][0]["correlation"]) == {None}


def test_embeddings_that_are_not_orthonormal_are_answered_and_trained(tmp_path: Path):
    (tmp_path / "data.txt").write_text(EXAMPLE)
    (tmp_path / "rows.json").write_text("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0.6,0,0,0.8]]")
    arguments = ["data.txt", *CONVERGENCE, "--embeddings", "rows.json"]
    found = answer("analyze", *arguments, cwd=tmp_path)
    assert [p["code"] for p in found["problems"]] == ["embeddings_not_orthonormal"]
    assert found["max_margin"]["norm_squared_exact"] is None
    assert 0 <= found["max_margin"]["error_bound"] < 1e-7
    trained = answer("train", *arguments, "--steps", 3000, "--lr", 0.05, cwd=tmp_path)
    assert trained["instances"][0]["correlation"][-1] > 0.99


def bad_files(folder: Path) -> dict[str, list[object]]:
    """Arguments that must be refused, by the words that the message must contain."""
    (folder / "good.txt").write_text(EXAMPLE)
    (folder / "empty.txt").write_text("")
    (folder / "data.csv").write_text("a,b")
    (folder / "long.txt").write_text("a " * 5_000_000)
    (folder / "ragged.json").write_text(
        '{"sequences": [[0, 1]], "labels": [0], "embeddings": [[1, 0], [0]]}'
    )
    (folder / "nan.json").write_text(
        '{"sequences": [[0, 1]], "labels": [0], "embeddings": [[1, NaN], [0, 1]]}'
    )
    (folder / "file").write_text("")
    return {
        "empty": ["analyze", "empty.txt"],
        "unknown format": ["analyze", "data.csv"],
        "characters": ["analyze", "long.txt"],
        "same length": ["analyze", "ragged.json"],
        "finite": ["analyze", "nan.json"],
        "No such file": ["analyze", "missing.txt"],
        "steps must not be negative": ["train", "good.txt", "--steps", "-5"],
        "positive": ["train", "good.txt", "--lr", "nan"],
        "can only record": ["train", "good.txt", *CONVERGENCE, "--record", "2,5000"],
        "step numbers": ["train", "good.txt", "--record", "two"],
        "unknown token": ["train", "good.txt", "--predict", "S X"],
        "cannot write": ["train", "good.txt", "--out", "file/inside"],
        "cannot write to file/inside": ["reproduce", "--out", "file/inside"],
        "did you mean": ["check", "convergence/theorem-11"],
        "unknown setting": ["analyze", "good.txt", "--setting", "nowhere"],
    }


@pytest.mark.parametrize("case", range(15))
def test_bad_input_is_refused_in_words_and_leaves_nothing(tmp_path: Path, case: int):
    message, arguments = list(bad_files(tmp_path).items())[case]
    before = sorted(tmp_path.rglob("*"))
    done = lemmata(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_check_on_own_data_and_strict(example: Path):
    claims = ["convergence/footnote-3", "convergence/lemma-5"]
    done = lemmata("check", *claims, "--data", example, "--json", "--strict", cwd=example.parent)
    assert done.returncode == 1
    verdicts = {v["claim"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert verdicts["convergence/footnote-3"]["status"] == "fails"
    assert verdicts["convergence/footnote-3"]["witness"]["t"] > 0
    assert verdicts["convergence/lemma-5"]["status"] == "holds"
    keys = {"claim", "status", "margin", "informative_from", "witness", "statement", "experiment"}
    assert keys <= verdicts["convergence/lemma-5"].keys()


def test_reproduce_one_figure(tmp_path: Path):
    found = answer("reproduce", "convergence/1", "--out", "out", cwd=tmp_path)
    assert found["figures"][0]["numbers"]
    for name in ("index.html", "verdicts.json", "convergence/1.svg", "convergence/1.pdf"):
        assert (tmp_path / "out" / "reproduce" / name).stat().st_size > 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_resumes_to_the_same_bits(example: Path, how: signal.Signals):
    arguments = [
        "train",
        example,
        *CONVERGENCE,
        "--steps",
        400_000,
        "--record",
        "1,1000,400000",
        "--json",
    ]
    whole = lemmata(*arguments, "--out", "whole", cwd=example.parent)
    # A shell that starts us in the background would have us ignore the signal.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listen}; from lemmata.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments), "--out", "stopped"]
    with subprocess.Popen(
        command, cwd=example.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        store = example.parent / "stopped" / "runs"
        deadline = time.monotonic() + 120
        while len(list(store.glob("*.npz"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(how)
        running.communicate(timeout=120)
    assert running.returncode != 0
    again = lemmata(*arguments, "--out", "stopped", cwd=example.parent)
    assert again.stdout == whole.stdout
