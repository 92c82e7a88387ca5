"""What is computed for a page: the same as the command line computes, and nothing it must not."""

import json
import shlex
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lemmata._errors import InputError
from lemmata.cli import main
from lemmata.mechanics import Dataset
from lemmata.papers import papers, settings
from lemmata.play._catalogue import catalogue_of
from lemmata.play._jobs import HaltedError, Jobs, trains
from lemmata.play._requests import Ask
from lemmata.play._sheet import Sheet, read_sheet
from lemmata.settings import Example
from lemmata.training import Film

TEXT = "a b c a\nb a c b\nb c b"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(None, lambda: None, lambda news: None)


def news(jobs: Jobs, kind: str, text: str = TEXT, **said: Any) -> list[dict[str, Any]]:
    suffix = ".json" if text.startswith("{") else ".txt"
    setting = said.pop("setting", "mechanics")
    found = list(jobs.run(Ask(kind, setting, text, suffix, **said)))
    json.dumps(found, allow_nan=False)
    return found


def test_an_analysis_has_graphs_with_places_and_exact_limits(jobs: Jobs) -> None:
    (found,) = news(jobs, "analyze")
    orders = found["orders"]
    (graph,) = orders["graphs"]  # every sentence has c before its answer
    assert graph["query"] == "c"
    boxes = {token["text"].split()[0]: token for token in graph["picture"]["tokens"]}
    assert set(boxes) == {"a", "b", "c"}
    assert len(graph["picture"]["ties"]) == 1  # a and b beat each other
    assert boxes["c"]["top"] > boxes["a"]["top"]
    direction = orders["limits"][0]
    assert {"name": "Its square, exactly", "value": "2/3"} in direction["facts"]
    matrix = direction["matrix"]
    assert matrix["axes"] == ["word", "last word"]
    assert (matrix["rows"], matrix["columns"]) == (["a", "b", "c"], ["c"])
    assert matrix["values"] == [["1/3"], ["1/3"], ["-2/3"]]
    assert found["problems"][0]["where"].startswith("last token c")
    applies = {theorem["name"]: theorem["applies"] for theorem in found["theorems"]}
    assert applies["theorem-3"]
    assert not applies["theorem-1"]


def test_no_entry_of_a_large_limit_is_shown_as_zero(jobs: Jobs) -> None:
    text = "\n".join(f"w{i} w{(i * 7 + 1) % 20} q{i % 3} w{i}" for i in range(60))
    (found,) = news(jobs, "analyze", text=text)
    matrix = found["orders"]["limits"][0]["matrix"]
    assert len(matrix["rows"]) == 40  # of 60 words and 3 that ask
    assert matrix["hidden"] == 23 * 3
    entries = Dataset.from_sentences("all", text.split("\n")).margin.entries
    rows = sorted({row for row, _ in entries})[:40]
    known = sum(value != 0 for (row, _), value in entries.items() if row in rows)
    assert sum(value != "0" for row in matrix["values"] for value in row) == known


def test_the_linear_layer_has_axes_of_its_own(jobs: Jobs) -> None:
    text = "the cat\ncat sat\nsat the\nsat the cat sat"
    (found,) = news(jobs, "analyze", text=text, setting="convergence")
    attention, values = [limit["matrix"] for limit in found["orders"]["limits"]]
    assert attention["axes"] == ["word", "last word"]
    assert values["axes"] == ["next word", "word"]
    assert values["rows"] == values["columns"] == ["the", "cat", "sat"]
    follows = [row.index(max(row, key=Fraction)) for row in values["values"]]
    assert follows == [2, 0, 1]  # the follows sat, cat follows the, sat follows cat


def test_examples_have_lists_of_numbers_in_one_line() -> None:
    document = {"T": 20, "tests": [[5, 2], [40, 2]], "name": "a [ b ]", "words": ["x [", "] y"]}
    text = Example.of("", "", document).text
    assert json.loads(text) == document
    assert "  [5, 2],\n  [40, 2]\n" in text


def test_data_that_cannot_be_read_is_told_without_its_place_on_disk(jobs: Jobs) -> None:
    with pytest.raises(InputError, match=r"^play\.txt: ") as refusal:
        news(jobs, "analyze", text="alone")
    assert "/" not in str(refusal.value)
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        ("mechanics", {"steps": "300", "algorithm": "gd", "rate": "0.5"}),
        ("mechanics", {"steps": "40", "record": "1,7,8,40", "predict": ("a b c", "b c")}),
        ("convergence", {"steps": "30"}),
        ("selection", {"steps": "300"}),
        ("context", {"steps": "30"}),
    ],
    ids=["mechanics", "records", "convergence", "selection", "context"],
)
def test_the_command_gives_the_same_bits(jobs: Jobs, setting: str, options: dict[str, Any]) -> None:
    text = TEXT if setting == "mechanics" else papers()[setting].examples[0].text
    *early, last = news(jobs, "train", text, setting=setting, options=options)
    assert last["final"]
    assert not any(part["final"] for part in early)
    write, train = last["command"].strip().rsplit("\n", 1)
    subprocess.run(["sh", "-c", write], check=True)
    words = shlex.split(train)
    assert words[:2] == ["lemmata", "train"]
    main(words[1:])
    file = next(Path("lemmata-out/train").glob("*.json"))
    assert json.loads(file.read_text()) == last["document"]


def test_long_training_is_shown_early(jobs: Jobs) -> None:
    found = news(jobs, "train", options={"steps": "3000"})
    steps = [part["document"]["instances"][0]["steps"][-1] for part in found]
    assert steps == [16, 256, 3000]
    last = found[-1]["document"]["instances"][0]
    for part, digits in zip(found[:2], (1e-12, 0), strict=True):  # the first is a glance
        early = part["document"]["instances"][0]
        for t, norm in zip(early["steps"], early["norm"], strict=True):
            if t in last["steps"]:
                assert last["norm"][last["steps"].index(t)] == pytest.approx(norm, rel=digits)


def test_only_a_program_that_is_not_there_yet_is_compiled_quickly(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    films: list[bool] = []

    def run(sheet: Sheet, film: Film, *, final: bool) -> dict[str, Any]:
        films.append(film.quick)
        return {"final": final}

    def quick(**options: str) -> list[bool]:
        films.clear()
        news(jobs, "train", options=options)
        return list(films)

    monkeypatch.setattr(jobs, "_run", run)
    monkeypatch.setattr(type(jobs.settings["mechanics"]), "train", lambda *_, **__: None)
    assert quick(steps="3000") == [True, False, False]
    assert quick(steps="3000") == [False, False, False]
    assert quick(steps="200") == [True, False]
    news(jobs, "prepare", options={"steps": "500"})
    assert quick(steps="500") == [False, False]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TEXT, {"head": "/etc/passwd"}),
        (TEXT, {"head": "head.npy"}),
        (TEXT, {"start": "../start.json"}),
        ('{"sequences": [["a", "b"]], "labels": ["a"], "options": {"head": "x.npy"}}', {}),
        ('{"sequences": [["a", "b"]], "labels": ["a"], "options": {"start": "x.json"}}', {}),
    ],
    ids=str,
)
def test_no_file_is_read_that_a_page_names(
    jobs: Jobs, text: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("head.npy", "x.npy", "x.json"):
        Path(name).write_text("secret")
    with pytest.raises(InputError, match="files are for the command line"):
        news(jobs, "train", text, options=options)


def test_every_option_that_takes_a_path_says_so() -> None:
    """Whatever its words say of files, the page must know."""
    for setting in settings().values():
        for option in setting.options:
            assert option.file == (".npy" in f"{option.says} {option.expects}"), option.name


def test_unknown_settings_options_and_claims_are_refused(jobs: Jobs) -> None:
    with pytest.raises(InputError, match=r"no setting 'file\.py'"):
        news(jobs, "analyze", setting="file.py")
    with pytest.raises(InputError, match="unknown option"):
        news(jobs, "train", options={"stepz": "3"})
    with pytest.raises(InputError, match="has no effect with algorithm gd"):
        news(jobs, "train", options={"algorithm": "gd", "epsilon": "1"})
    for claim in ("", "mechanics", "lemma.py::x", "../lemma.py/x", "mechanics/lemma.py"):
        with pytest.raises(InputError):
            news(jobs, "attack", claim=claim)


def test_the_theorems_that_apply_are_judged_on_the_data(jobs: Jobs) -> None:
    found = news(jobs, "judge", text="a b c a\nb c b")
    last = found[-1]
    assert last["final"]
    statuses = {verdict["name"]: verdict["status"] for verdict in last["verdicts"]}
    (analysis,) = news(jobs, "analyze", text="a b c a\nb c b")
    assert set(statuses) == {t["name"] for t in analysis["theorems"] if t["applies"]}
    assert set(statuses.values()) <= {"holds", "vacuous", "fails", "undecided", "inapplicable"}


def test_at_a_glance_nothing_is_trained_and_the_verdicts_are_the_same(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {verdict["name"]: verdict for verdict in news(jobs, "judge")[-1]["verdicts"]}
    for setting in settings().values():
        monkeypatch.setattr(type(setting), "train", None)
    seen = {verdict["name"]: verdict for verdict in news(jobs, "glance")[-1]["verdicts"]}
    assert seen
    assert set(seen) < set(whole)
    for name, verdict in seen.items():
        assert verdict == whole[name]
        assert not trains(papers()["mechanics"].claims[name])


def test_formulas_come_with_the_news_and_words_stay_words(jobs: Jobs) -> None:
    (found,) = jobs.run(Ask("statement", "mechanics", claim="mechanics/theorem-1"))
    assert "<math>" in found["formulas"][found["statement"]]
    text = "<b> x <i>$x_1$</i> <b>\nx <b> <i>$x_1$</i> x"
    (found,) = news(jobs, "analyze", text=text)
    for markup in found["formulas"].values():
        assert "<b>" not in markup
        assert "<i>" not in markup
        assert "$" not in markup
    titles = [limit["title"] for limit in found["orders"]["limits"]]
    assert "<math>" in found["formulas"][titles[1]]


def test_a_witness_can_be_loaded(jobs: Jobs) -> None:
    """A claim that is known to fail is broken, and what breaks it is data for the page."""
    last = news(jobs, "attack", claim="mechanics/equation-19", seconds=20.0)[-1]
    assert last["finding"]["status"] == "fails"
    (found,) = news(jobs, "analyze", text=last["data"])
    assert found["orders"]["graphs"]


def test_a_job_can_be_called_off() -> None:
    def halt() -> None:
        raise HaltedError

    with pytest.raises(HaltedError):
        news(Jobs(None, halt, lambda told: None), "train", options={"steps": "50"})


@pytest.mark.parametrize(
    "text", [TEXT, "a END a\nEND\nEND_\nb a b", "a b $(touch x) `touch y` 'a\nEND END_ \\ END"]
)
def test_the_command_writes_the_data_as_it_is(text: str) -> None:
    sheet = read_sheet(Ask("train", "mechanics", text), settings()["mechanics"])
    subprocess.run(["sh", "-c", sheet.command.rsplit("\n", 2)[0]], check=True)
    assert Path("play.txt").read_text() == f"{text}\n"
    assert [file.name for file in Path().iterdir()] == ["play.txt"]


def test_the_catalogue_offers_every_setting_with_data_that_it_can_read() -> None:
    found = catalogue_of(dict(settings()), "mechanics")
    json.dumps(found, allow_nan=False)
    assert [setting["name"] for setting in found["settings"]] == list(settings())
    for setting in found["settings"]:
        assert setting["about"], setting["name"]
        assert setting["examples"]
        assert len(setting["claims"]) > 20
        for example in setting["examples"]:
            ask = Ask("analyze", setting["name"], example["text"], example["suffix"])
            assert read_sheet(ask, settings()[setting["name"]]).instances, example["title"]


OWN = """
import lemmata as lm
from lemmata.papers import find_setting

class OwnSetting(type(find_setting("mechanics"))):
    key = "own"

SETTING = OwnSetting()
"""


def test_a_setting_of_ones_own_comes_first() -> None:
    Path("own_setting.py").write_text(OWN)
    jobs = Jobs("own_setting.py", lambda: None, lambda told: None)
    (found,) = jobs.run(Ask("catalogue", "own_setting.py"))
    assert found["first"] == "own"
    offered = next(setting for setting in found["settings"] if setting["name"] == "own")
    assert offered["options"]
    assert not offered["examples"]
    (analysis,) = news(jobs, "analyze", setting="own")
    assert analysis["orders"]["graphs"]
