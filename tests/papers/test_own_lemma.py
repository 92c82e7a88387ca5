"""Lemmas, settings and papers from files, on the paper that the docs show."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.terminal import answer, run

import lemmata as lm
from lemmata._errors import InputError
from lemmata.claims import declared_by
from lemmata.search._attack import _free_trainings

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "parabola.py"

LEMMAS = """
import lemmata as lm

@lm.claim("the size never grows", setting="parabola.py", hypotheses=["curved"])
def falls(run):
    return lm.at_most(run.size, 1)

@lm.claim("the size stays below 0.9", setting="parabola.py")
def too_small(run):
    return lm.at_most(run.size, 0.9)

@lm.claim("the loss is c w^2 / 2", setting="parabola.py")
def loss(run):
    return [lm.equal(run.loss, run.each(lambda p: p.curvature) * run.size**2 / 2)]

LONG = lm.experiment("parabola.py", rate=1.0, steps=3000)

@lm.claim("the loss vanishes", setting="parabola.py", on=LONG)
def vanishes(run):
    return lm.tends_to(run.loss, 0)

@lm.claim("curvatures are at most 1", setting="parabola.py", on="instances")
def curvature(instances):
    return lm.at_most([p.curvature for p in instances], 1)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the paper and a file of lemmas; we stand in it."""
    shutil.copy(EXAMPLE, tmp_path / "parabola.py")
    (tmp_path / "my_lemmas.py").write_text(LEMMAS)
    (tmp_path / "two.json").write_text(
        '[{"name": "a", "curvature": 0.5}, {"name": "b", "curvature": 30}]'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verdicts(*words: str) -> dict[str, dict[str, Any]]:
    return {v["claim"]: v for v in answer("check", *words)["verdicts"]}


def test_lemmas_of_a_file(folder: Path) -> None:
    judged = verdicts("my_lemmas.py")
    assert {name: v["status"] for name, v in judged.items()} == {
        "my_lemmas/falls": "holds",
        "my_lemmas/too_small": "fails",
        "my_lemmas/loss": "holds",
        "my_lemmas/vanishes": "holds",
        "my_lemmas/curvature": "holds",
    }
    wrong = judged["my_lemmas/too_small"]
    assert wrong["margin"] == pytest.approx(-0.1)
    assert wrong["witness"]["t"] == 0
    assert wrong["statement"] == "the size stays below 0.9"
    assert wrong["experiment"].startswith("20 random instances of the parabola setting")
    assert judged["my_lemmas/loss"]["resolution"] < 1e-12


def test_one_lemma_of_a_file(folder: Path) -> None:
    assert list(verdicts("my_lemmas.py::curvature")) == ["my_lemmas/curvature"]
    result = run("check", "my_lemmas.py::curvatrue")
    assert result.returncode == 2
    assert "did you mean 'curvature'?" in result.words


def test_a_lemma_on_the_users_data_speaks_of_it(folder: Path) -> None:
    (verdict,) = verdicts("my_lemmas.py::falls", "--data", "two.json").values()
    assert verdict["status"] == "fails"
    assert verdict["witness"]["dataset"] == "b"
    assert verdict["experiment"] == "your data: a, b; trained as usual"
    assert verdict["instance"] == {"name": "b", "curvature": 30.0}


def test_options_change_the_training_of_a_lemma_or_are_refused(folder: Path) -> None:
    (verdict,) = verdicts("my_lemmas.py::falls", "--data", "two.json", "--lr", "0.01").values()
    assert verdict["status"] == "holds"
    assert verdict["experiment"].endswith("with rate 0.01")
    for words, text in (
        (("--lr", "nonsense"), "--lr takes a number; got 'nonsense'"),
        (("--epsilon", "1"), "known: --lr, --steps"),
        (("--steps", "1.5"), "--steps takes a whole number"),
    ):
        result = run("check", "my_lemmas.py::falls", *words)
        assert result.returncode == 2
        assert text in result.words
    idle = run("check", "my_lemmas.py::curvature", "--lr", "0.1")
    assert idle.returncode == 2
    assert "my_lemmas/curvature trains nothing" in idle.words


def test_witnesses_are_files_that_are_read_back(folder: Path) -> None:
    shutil.copy("two.json", "data.json")
    verdicts("my_lemmas.py::falls", "--data", "two.json", "--out", "results")
    witness = json.loads(Path("results/check/witnesses/my_lemmas-falls.json").read_text())
    Path("again.json").write_text(json.dumps([witness]))
    (verdict,) = verdicts("my_lemmas.py::falls", "--data", "again.json").values()
    assert verdict["status"] == "fails"
    stored = json.loads(Path("results/check/verdicts.json").read_text())
    assert stored["verdicts"][0]["claim"] == "my_lemmas/falls"


def test_a_stored_run_is_used_until_its_step_changes(folder: Path) -> None:
    def size() -> float:
        trained = answer("train", "two.json", "--setting", "parabola.py", "--out", "o")
        return trained["instances"][0]["size"][1]

    assert size() == pytest.approx(0.95)
    files = {path: path.stat().st_mtime_ns for path in Path("o/runs").iterdir()}
    source = Path("parabola.py").read_text()
    Path("parabola.py").write_text(source.replace("a complete paper in one file", "a paper"))
    assert size() == pytest.approx(0.95)
    assert {path: path.stat().st_mtime_ns for path in Path("o/runs").iterdir()} == files
    Path("parabola.py").write_text(source.replace("state - self.rate", "state - 2 * self.rate"))
    assert size() == pytest.approx(0.9)


def test_a_whole_paper_from_a_file(folder: Path) -> None:
    judged = verdicts("parabola.py")
    assert list(judged) == ["parabola/lemma-1", "parabola/lemma-1/appendix"]
    assert {v["status"] for v in judged.values()} == {"holds"}
    analyzed = answer("analyze", "two.json", "--setting", "parabola.py")
    assert analyzed["instances"][1]["name"] == "b"
    page = run("analyze", "two.json", "--setting", "parabola.py", "--out", "o")
    assert page.returncode == 0, page.stderr
    assert Path("o/analyze/index.html").exists()


def test_a_paper_without_a_setting_says_so() -> None:
    paper = lm.Paper("words", "Only words", "Nobody", 2030, lm.Contents())
    with pytest.raises(lm.InputError, match=r"'words' has no setting.*mechanics"):
        _ = paper.setting


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import lemmata as lm\n", "no claim is declared here"),
        ("def:\n", "broken.py, line 1: SyntaxError"),
        ("x = 1\ny = 1 / 0\n", "broken.py, line 2: ZeroDivisionError"),
        (
            "import lemmata as lm\n@lm.claim('s', setting='parabola.py', hypotheses=['bent'])\n"
            "def f(run): return 1\n",
            "unknown hypothesis of the parabola setting 'bent' (known: curved)",
        ),
        (
            "import lemmata as lm\n@lm.claim('s', setting='mechnics')\ndef f(run): return 1\n",
            "did you mean 'mechanics'?",
        ),
        (
            "import lemmata as lm\n@lm.claim('s', setting='parabola.py', on='steps')\n"
            "def f(run): return 1\n",
            "on is 'runs', 'instances' or lm.experiment(...)",
        ),
        (
            "import lemmata as lm\n@lm.claim('s', setting='parabola.py')\n"
            "def f(run): return run.size > 0\n",
            "broken/f must return lm.at_least(...)",
        ),
        (
            "import lemmata as lm\n@lm.claim('s', setting='parabola.py')\n"
            "def f(run): return lm.at_least(run.sise, 0)\n",
            "did you mean 'size'?",
        ),
        (
            "import lemmata as lm\n@lm.claim('s', setting='parabola.py')\n"
            "def f(run): return lm.at_least(run.size[:, :3], run.size)\n",
            "the shapes do not fit",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(
    folder: Path, text: str, message: str
) -> None:
    Path("broken.py").write_text(text)
    result = run("check", "broken.py")
    assert result.returncode == 2
    assert message in result.words


def test_two_claims_of_one_name_are_refused(folder: Path) -> None:
    """The second function takes the name of the first, which would never be checked."""
    one = "@lm.claim('s', setting='parabola.py')\ndef f(run): return lm.at_most(run.size, 1)\n"
    Path("twice.py").write_text(f"import lemmata as lm\n{one}{one}")
    result = run("check", "twice.py")
    assert result.returncode == 2
    assert "twice/f is declared twice, in lines 2 and 4" in result.words
    scope: dict[str, Any] = {}
    for _ in range(2):  # a cell may be run again
        exec(f"import lemmata as lm\n{one}", scope)
    assert lm.check(scope["f"])[0].status == "holds"


def test_a_file_that_is_not_there(folder: Path) -> None:
    result = run("check", "nowhere.py")
    assert result.returncode == 2
    assert "there is no such file" in result.words


def test_the_verbs_in_python(folder: Path) -> None:
    setting = str(folder / "parabola.py")
    drawn = lm.draw(setting, 3, seed=1)
    assert [p.name for p in drawn] == ["parabola 0", "parabola 1", "parabola 2"]
    trained = lm.train(drawn, setting, steps=10)
    assert trained.size.shape == (3, len(trained.steps))
    assert trained["size"] is trained.size
    assert trained.names == ["loss", "size", "rate"]
    with pytest.raises(AttributeError, match="did you mean 'size'"):
        _ = trained.siz
    assert "<table>" in trained._repr_html_()
    assert len(repr(trained)) < 200
    assert len(trained.rows()) == 3 * len(trained.steps)
    one, many = lm.analyze(drawn[0], setting), lm.analyze(drawn, setting)
    assert one.document() == many[0].document()
    with pytest.raises(lm.InputError, match="the list is empty"):
        lm.train([], setting)
    with pytest.raises(lm.InputError, match="count must be at least 1"):
        lm.draw(setting, 0)


def test_checking_in_python(folder: Path) -> None:
    verdicts = lm.check("my_lemmas.py")
    assert [v.claim for v in verdicts.having("fails")] == ["my_lemmas/too_small"]
    assert verdicts["my_lemmas/falls"].status == "holds"
    assert "my_lemmas/falls" in verdicts._repr_html_()
    with pytest.raises(lm.InputError, match="unknown verdict"):
        verdicts["falls"]
    with pytest.raises(lm.InputError, match="is no claim"):
        lm.check(len)

    @lm.claim("in a notebook", setting=str(folder / "parabola.py"))
    def here(run: Any) -> Any:
        return lm.at_most(run.size, 1)

    (verdict,) = lm.check(here)
    assert (verdict.claim, verdict.status) == ("test_own_lemma/here", "holds")


def test_an_installed_package_brings_a_paper(folder: Path) -> None:
    """Through the entry-point group: metadata beside the module is all it takes."""
    info = folder / "parabola-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parabola\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lemmata.papers]\nparabola = parabola:PAPER\n")
    program = (
        "import sys; from lemmata.cli import main\n"
        "sys.argv = ['lemmata', 'list', 'parabola']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=False
    )
    assert "parabola/lemma-1/appendix" in done.stdout, done.stderr


def test_rare_hypotheses_are_met_by_other_instances() -> None:
    """The usual instances of mechanics have embeddings that are not orthonormal."""

    @lm.claim("W^mm is long", setting="mechanics", hypotheses=["orthonormal"], on="instances")
    def long(data):
        assert all(dataset.orthonormal for dataset in data)
        return lm.at_least(data.each(lambda d: d.norm), 0.0)

    (verdict,) = lm.check(long)
    assert verdict.support is not None
    assert verdict.support.instances == 20
    assert verdict.support.set_aside == 0
    assert verdict == lm.check(long)[0]


def test_theorems_that_are_known_to_fail_say_so() -> None:
    data = lm.mechanics.Dataset.from_sentences("ties", ["a b c a", "a b c b", "b c b"])
    said = {theorem.name: theorem.says for theorem in lm.analyze(data).theorems if theorem.applies}
    assert said
    for name, text in said.items():
        kind = lm.papers["mechanics"].claims[name].kind
        assert ("fails as printed" in text) is (kind is not None)


BROKEN = {
    "a column that does not exist": (lambda run: lm.at_least(run.nrom, 0), "unknown column 'nrom'"),
    "no comparison": (lambda run: None, "must return lm.at_least"),
    "an empty list": (lambda run: [], "must return lm.at_least"),
    "a division by nothing": (lambda run: lm.at_least(run.norm, 1 // 0), "ZeroDivisionError"),
    "shapes": (lambda run: lm.at_least(run.norm, np.ones((3, 2, 2))), "has 3 dimensions"),
    "complex numbers": (lambda run: lm.at_least(run.norm * 1j, 0), "complex numbers"),
    "texts": (lambda run: lm.at_least("abc", 1), "a side is no number"),
    "an attribute": (lambda run: lm.at_least(run.each(lambda d: d.W_mmm), 0), "W_mmm"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_of_a_lemma_are_told(name: str) -> None:
    check, message = BROKEN[name]

    def wrong(run):
        return check(run)

    short = lm.experiment("mechanics", steps=2, rate=0.1, count=2)
    claim = lm.claim("wrong", setting="mechanics", on=short)(wrong)
    with pytest.raises(InputError, match=message):
        lm.check(claim)
    with pytest.raises(InputError, match=message):
        lm.falsify(claim, budget=1.0)


def test_an_error_of_a_lemma_names_its_line(folder: Path) -> None:
    """Also where it arises in a library that the lemma calls: its own line is what it can mend."""
    text = (
        "import lemmata as lm\nimport numpy as np\n"
        "@lm.claim('s', setting='parabola.py')\n"
        "def f(run):\n"
        "    return lm.at_least(run.size, np.linalg.inv(np.zeros((2, 2))))\n"
    )
    Path("broken.py").write_text(text)
    with pytest.raises(InputError, match=r"f raised LinAlgError \(broken.py, line 5\): Sing"):
        lm.check("broken.py")
    scope: dict[str, Any] = {}
    exec(compile(text, "<ipython-input-1>", "exec"), scope)
    with pytest.raises(InputError, match=r"own/f raised LinAlgError \(in a cell, line 5\)"):
        lm.check(scope["f"])


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many instances each training of the mechanics setting had."""
    counts: list[int] = []
    kind = type(lm.mechanics.SETTING)
    train = kind.train

    def counted(self: Any, instances: Any, options: Any, **how: Any) -> Any:
        counts.append(len(instances))
        return train(self, instances, options, **how)

    monkeypatch.setattr(kind, "train", counted)
    return counts


def lemma(**how: Any) -> Any:
    """Something that holds after two steps, which every lemma here asks for anew."""

    def grows(run: Any) -> Any:
        return lm.at_most(run.norm, run.steps * 0.01 + 9)

    options = how.pop("options", {"steps": 2})
    chosen = lm.experiment("mechanics", **{"count": 3, **options})
    return lm.claim("the norm is small", setting="mechanics", on=chosen, **how)(grows).claims[0]


def test_equal_experiments_run_once(trainings: list[int]) -> None:
    from_list = {"steps": 2, "record": [1, 2], "start": np.eye(8)}
    same = {"record": range(1, 3), "steps": 2, "start": np.eye(8)}
    claims = [
        *(replace(lemma(), name=f"own/{i}") for i in range(2)),
        replace(lemma(hypotheses=["realizable"]), name="own/realizable"),
        *(replace(lemma(options=o), name=f"own/o{i}") for i, o in enumerate((from_list, same))),
    ]
    verdicts = lm.check(claims)
    assert [verdict.status for verdict in verdicts] == ["holds"] * 5
    assert trainings == [3, 3]


def test_other_experiments_run_by_themselves(trainings: list[int]) -> None:
    """Other options, and rare hypotheses, for which other instances are drawn."""
    claims = [
        replace(lemma(), name="own/a"),
        replace(lemma(options={"steps": 3}), name="own/b"),
        replace(lemma(hypotheses=["orthonormal"]), name="own/c"),
        replace(lemma(hypotheses=["orthonormal"]), name="own/d"),
    ]
    assert {verdict.status for verdict in lm.check(claims)} == {"holds"}
    assert trainings == [3, 3, 3]


def test_the_same_instances_are_the_same_experiment(trainings: list[int]) -> None:
    data = lm.draw("mechanics", 2)
    on_mine = [lemma(options={"steps": 2, "instances": list(data)}) for _ in range(2)]
    lm.check([replace(claim, name=f"own/{i}") for i, claim in enumerate(on_mine)])
    assert trainings == [2]


def test_a_setting_of_a_file_is_one_value_until_the_file_changes(folder: Path) -> None:
    first = lm.experiment("parabola.py")
    assert first == lm.experiment("parabola.py")
    Path("parabola.py").write_text(Path("parabola.py").read_text() + "\nMORE = 1\n")
    assert first != lm.experiment("parabola.py")


def test_no_warning_of_numpy_is_shown_for_a_lemma() -> None:
    """Infinite and unknown numbers are judged; here a warning would be an error."""

    def odd(run: Any) -> Any:
        return lm.at_most(run.norm / 0, np.nanmax(run.norm[:, :1] * np.nan, axis=1))

    short = lm.experiment("mechanics", steps=2, count=2)
    (verdict,) = lm.check(lm.claim("odd", setting="mechanics", on=short)(odd))
    assert verdict.status == "undecided"


def test_a_lemma_that_some_instances_do_not_fit_is_attacked_on_the_others() -> None:
    @lm.claim("at least two last tokens", setting="mechanics", on="instances")
    def several(data):
        return lm.at_most(data.each(lambda d: 1 // (len(d.graphs) - 1)), 1.0)

    assert lm.falsify(several, budget=3.0).tried > 1


def test_what_cannot_be_put_together_is_refused() -> None:
    with pytest.raises(InputError, match="setting is mechanics, but the experiment is one of conv"):
        lm.claim("mixed", setting="mechanics", on=lm.experiment("convergence"))
    data, plan = lm.draw("mechanics")[0], lm.draw("selection")[0]
    with pytest.raises(InputError, match="two settings cannot be put together: Dataset and Plan"):
        lm.train([data, plan])
    with pytest.raises(InputError, match=r"steps takes a whole number; got 1\.5"):
        lm.train(data, steps=1.5)
    for budget in (-1.0, float("nan")):
        with pytest.raises(InputError, match="budget must be a number of seconds"):
            lm.falsify("mechanics/equation-10", budget=budget)


def test_without_time_something_is_tried() -> None:
    @lm.claim("long", setting="mechanics", on="instances", hypotheses=["nonzero"])
    def long(data):
        return lm.at_least(data.each(lambda d: d.K), 1.0)

    finding = lm.falsify(long, budget=0.0)
    assert finding.tried > 0
    assert finding.status == "survived"


def test_a_run_that_has_not_begun_to_move_does_not_refute_a_limit() -> None:
    """Theorem 3.1 says that this loss goes to 0; until about T^2/(eta d) it stands still."""
    waits = lm.selection.Plan("waits", lm.selection.Task(200, 6, 2), 0.003, 1e-3)

    @lm.claim(
        "the loss goes to zero",
        setting="selection",
        on=lm.experiment("selection", instances=[waits], steps=100_000),
    )
    def vanishes(run: Any) -> Any:
        return lm.tends_to(run.loss, 0.0)

    (verdict,) = lm.check(vanishes)
    assert verdict.status == "undecided"
    assert "too short" in verdict.reason


def test_long_trainings_are_attacked_with_fewer_steps() -> None:
    """What leaves open for how long is first tried on many instances, not on few for long."""
    settings = lm.selection.SETTING, lm.mechanics.SETTING
    assert [setting.steps_of({}) for setting in settings] == [100_000, 4_000]
    assert settings[0].steps_of({"algorithm": "adam"}) == 1_000
    assert settings[0].steps_of({"algorithm": "adam", "steps": 7}) == 7
    assert lm.convergence.SETTING.steps_of({"steps": 9}) == 9

    @lm.claim("alpha stays below 9", setting="selection")
    def below(run: Any) -> Any:
        return lm.at_most(run.alpha, 9.0)

    @lm.claim("the same", setting="selection", on=lm.experiment("selection", steps=50_000))
    def for_long(run: Any) -> Any:
        return lm.at_most(run.alpha, 9.0)

    space = lm.selection.SETTING.space
    assert space is not None
    (open_claim,), (fixed_claim,) = declared_by(below), declared_by(for_long)
    shortest, *others = _free_trainings(open_claim, space)
    assert shortest == {"steps": 10}
    assert {"steps": 20_000} in others
    assert all("steps" not in options for options in _free_trainings(fixed_claim, space))


def test_what_is_trained_is_part_of_a_statement_that_does_not_say_it() -> None:
    """That 1 - u <= -log u is true of the log loss alone; how far and how fast is open."""

    @lm.claim("what is missed is less than the loss", setting="mechanics")
    def missed(run: Any) -> Any:
        return lm.at_most(run.log_missed, run.log_loss)

    space = lm.mechanics.SETTING.space
    assert space is not None
    (claim,) = declared_by(missed)
    tried = {name for options in _free_trainings(claim, space) for name in options}
    assert tried == {"rate", "steps"}
