"""The command line as a user runs it: answers, exit codes, and nothing half-done."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from oracles.terminal import answer, run, write

import lemmata as lm
from lemmata import __version__

CONVERGENCE = ("--setting", "convergence")
EXAMPLE = "S V O P\nV O P\nO P P\nP S V\n"


def alone(program: str, *arguments: object) -> str:
    """What a program prints in a process of its own, without what the tests switch on."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return write(tmp_path, "example.txt", EXAMPLE)


def test_help_and_list_load_nothing_that_takes_time():
    program = (
        "import sys\n"
        "from lemmata.cli import main\n"
        "main(['list'])\n"
        "assert not {'jax', 'matplotlib', 'numpy', 'rich', 'scipy'} & set(sys.modules)\n"
        "main(['check', '--help'])\n"
    )
    printed = alone(program)
    assert "convergence/theorem-1" in printed
    assert "usage: lemmata check" in printed


def test_numbers_are_the_same_as_a_user_runs_it(example: Path):
    """Nothing depends on what the tests switch on: 64 bits, checks of shapes and promotion."""
    write(example.parent, "selection.json", {"T": 8, "q": 2, "d": 2})
    context = {"N": 2, "tau": 0.1, "H": 2, "K": 4, "d": 3, "m": 1}
    write(example.parent, "context.json", context)
    short = ("--steps", "40", "--record", "0,40", "--json")
    commands = [
        ["train", "example.txt", *short],
        ["train", "selection.json", "--setting", "selection", *short],
        ["train", "context.json", "--setting", "context", "--algorithm", "adam", *short],
        ["analyze", "example.txt", *CONVERGENCE, "--json"],
    ]
    expected = [run(*command, "--out", "here").stdout for command in commands]
    program = (
        "import json, sys\n"
        "from lemmata.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    main(words)\n"
    )
    there = [[*command, "--out", "there"] for command in commands]
    printed = alone(program, json.dumps(there)).splitlines(keepends=True)
    assert len(printed) == len(commands)
    assert printed == expected


def test_list_names_every_figure_and_claim(tmp_path: Path):
    papers = {paper["key"]: paper for paper in answer("list")["papers"]}
    assert set(papers) == {"context", "convergence", "mechanics", "selection"}
    paper = papers["convergence"]
    assert {"convergence/1", "convergence/2"} <= {figure["name"] for figure in paper["figures"]}
    assert len(paper["claims"]) > 50


@pytest.mark.parametrize("key", ["context", "convergence", "mechanics", "selection"])
def test_list_says_what_every_recorded_column_and_hypothesis_is(key: str):
    lines = [line.split(None, 2) for line in run("list", key).stdout.splitlines()]
    said = {kind: {row[1] for row in lines if row[0] == kind} for kind in ("column", "hypothesis")}
    setting = lm.papers[key].setting
    trained = lm.train(lm.draw(key), steps=2)
    assert {*trained.evidence.columns} - {"rate"} <= said["column"]
    assert said["hypothesis"] == {hypothesis.name for hypothesis in setting.hypotheses}
    assert all(len(row) == 3 for row in lines if row[0] in said)


def test_analyze_example_1(example: Path):
    found = answer("analyze", example, "--setting", "convergence")
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
    found = answer("train", example, *CONVERGENCE, *arguments, *record)
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
    found = answer("analyze", path, *CONVERGENCE)
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
    found = answer("analyze", path, *CONVERGENCE)
    codes = {problem["code"] for problem in found["problems"]}
    assert {"order_not_well_defined", "not_prefix_closed"} <= codes
    assert not found["acyclic"]
    assert found["max_margin"]["status"] == "infeasible"
    edges = [[row["winner"], row["loser"]] for row in found["max_margin"]["infeasibility"]]
    assert sorted(edges) == [["a", "b"], ["b", "a"]]
    options = [*CONVERGENCE, "--steps", 20, "--out", tmp_path / "out"]
    trained = answer("train", path, *options)
    assert set(trained["instances"][0]["correlation"]) == {None}


def test_embeddings_that_are_not_orthonormal_are_answered_and_trained(tmp_path: Path):
    (tmp_path / "data.txt").write_text(EXAMPLE)
    (tmp_path / "rows.json").write_text("[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0.6,0,0,0.8]]")
    arguments = ["data.txt", *CONVERGENCE, "--embeddings", "rows.json"]
    found = answer("analyze", *arguments)
    assert [p["code"] for p in found["problems"]] == ["embeddings_not_orthonormal"]
    assert found["max_margin"]["norm_squared_exact"] is None
    assert 0 <= found["max_margin"]["error_bound"] < 1e-7
    trained = answer("train", *arguments, "--steps", 3000, "--lr", 0.05)
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
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.words
    assert sorted(tmp_path.rglob("*")) == before


def test_check_on_own_data_and_strict(example: Path):
    claims = ["convergence/footnote-3", "convergence/lemma-5"]
    done = run("check", *claims, "--data", example, "--json", "--strict")
    assert done.returncode == 1
    verdicts = {v["claim"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert verdicts["convergence/footnote-3"]["status"] == "fails"
    assert verdicts["convergence/footnote-3"]["witness"]["t"] > 0
    assert verdicts["convergence/lemma-5"]["status"] == "holds"
    keys = {"claim", "status", "margin", "informative_from", "witness", "statement", "experiment"}
    assert keys <= verdicts["convergence/lemma-5"].keys()


def test_reproduce_one_figure(tmp_path: Path):
    found = answer("reproduce", "convergence/1", "--out", "out")
    assert found["figures"][0]["numbers"]
    for name in ("index.html", "verdicts.json", "convergence/1.svg", "convergence/1.pdf"):
        assert (tmp_path / "out" / "reproduce" / name).stat().st_size > 0


MISTAKES = {
    "chek": "unknown command 'chek'; did you mean 'check'?",
    "--verbose": "unknown option of lemmata '--verbose'; did you mean '--version'?",
    "list --jsn": "unknown option of lemmata list '--jsn'; did you mean '--json'?",
    "list --json=3": "--json: ignored explicit argument '3'",
    "list convergence mechanics": "unrecognized arguments: mechanics",
    "list -5": "unknown paper '-5' (known: context, convergence",
    "analyze": "required: FILE (see lemmata analyze --help)",
    "analyze example.txt --seed 3": "unknown option of lemmata analyze '--seed'",
    "analyze example.txt --figures svg,gif": "--figures takes svg, pdf, png, tex; got 'gif'",
    "reproduce mechanics/99": "unknown figure or claim of mechanics 'mechanics/99'; did you mean "
    "'mechanics/6'? (known: mechanics/2, mechanics/3, mechanics/4, ",
    "reproduce mechanics/theorm-3": "did you mean 'mechanics/theorem-3'?",
    "falsify": "required: CLAIM",
    "falsify convergence --budget -1": "--budget: takes a number that is not negative; got '-1'",
    "falsify convergence --scope K": "--scope is written like K=3,T=3,n=4; got 'K'",
    "check --seed -1": "--seed: takes a whole number that is not negative; got '-1'",
    "check --seed 1.5": "--seed: takes a whole number that is not negative; got '1.5'",
    "check --lr": "--lr needs a value",
    "check --data --json": "--data needs a value",
    "check --status good": "unknown status 'good'",
    "train example.txt -lr 3": "did you mean '--lr'?",
    "train example.txt --lr -1e-3": "positive number",
    "train example.txt --lr 1 --lr=2": "--lr is given twice",
    "train example.txt other.txt": "unrecognized arguments: other.txt",
    "reproduce --scale big": "--scale: invalid choice: 'big' (choose from",
}


@pytest.mark.parametrize("typed", MISTAKES)
def test_mistakes_are_answered_in_words(example: Path, typed: str):
    done = run(*typed.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert MISTAKES[typed] in done.words


def test_words_may_come_in_any_order(example: Path):
    one = run("train", "--steps", 3, "example.txt", "--predict", "S P", "--json", "--epsilon=0.5")
    assert one.returncode == 0, one.stderr
    options = ("--epsilon", 0.5, "--predict=S P", "--steps=3")
    assert run("train", "--json", *options, "example.txt").stdout == one.stdout
    document = json.loads(one.stdout)
    assert len(document["instances"][0]["predictions"]) == 1
    names = ["convergence/footnote-3", "convergence/lemma-5"]
    found = answer("check", names[0], "--data", "example.txt", names[1], "--seed", 1)
    assert found["seed"] == 1
    assert [verdict["claim"] for verdict in found["verdicts"]] == names


def test_without_a_command_the_commands_are_shown():
    done = run()
    assert done.returncode == 2
    for name in ("list", "reproduce", "check", "falsify", "analyze", "train"):
        assert name in done.stdout
        page = run(name, "--help")
        assert page.returncode == 0
        assert page.stdout.startswith(f"usage: lemmata {name}")
    assert run("--help").stdout == done.stdout
    assert run("--version").stdout == f"lemmata {__version__}\n"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_resumes_to_the_same_bits(example: Path, how: signal.Signals):
    record = ["--steps", 400_000, "--record", "1,1000,400000", "--json"]
    arguments = ["train", example, *CONVERGENCE, *record]
    whole = run(*arguments, "--out", "whole")
    # A shell that starts us in the background would have us ignore the signal.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{listen}; from lemmata.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments), "--out", "stopped"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        store = example.parent / "stopped" / "runs"
        deadline = time.monotonic() + 120
        while len(list(store.glob("*.npz"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(how)
        running.communicate(timeout=120)
    assert running.returncode != 0
    again = run(*arguments, "--out", "stopped")
    assert again.stdout == whole.stdout
