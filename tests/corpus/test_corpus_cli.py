"""The command line on a corpus: what it prints, what it writes, what it refuses."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from oracles.terminal import run

from lemmata._errors import InputError

GENESIS = Path(__file__).parents[2] / "docs" / "examples" / "genesis.txt"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    done = run(
        *("analyze", GENESIS, "--window", "8", "--held-out", "0.1", "--workers", "1"),
        *("--out", folder, "--json"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["vocabulary"] == 858
    assert found["window"] == 8
    return folder / "analyze" / "genesis"


@pytest.mark.parametrize(("asked", "workers"), [((), 3), (("--workers", "2"), 2)])
def test_there_is_a_process_for_each_processor(
    asked: tuple[str, ...], workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def analyze(file: Path, **options: Any) -> None:
        seen.append(options["workers"])
        raise InputError("that is all we wanted to know")

    monkeypatch.setattr("lemmata.cli._corpus.analyze", analyze)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    run("analyze", GENESIS, "--window", "8", *asked, "--out", tmp_path)
    assert seen == [workers]


def test_the_page_stands_alone_and_can_be_searched(store: Path) -> None:
    page = (store / "index.html").read_text()
    assert "What attention will learn from genesis" in page
    assert 'data-token="begat"' in page
    assert "http" not in page
    assert "Where looking back helps" in page


def test_a_query_and_a_context(store: Path) -> None:
    done = run("analyze", store, "--query", "begat", "--context", "noah begat", "--json")
    found = json.loads(done.stdout)
    assert found["query"]["query"] == "begat"
    assert sum(found["choice"]["selected"].values()) == pytest.approx(1)
    assert set(found["choice"]["context"]) == {"noah", "begat"}
    told = run("analyze", store, "--query", "begat").stdout
    assert told.startswith("after 'begat'")


def test_training(store: Path, tmp_path: Path) -> None:
    words = ("--steps", "20", "--lr", "0.3", "--batch", "500", "--record", "0,20")
    done = run("train", store, *words, "--out", tmp_path, "--json")
    found = json.loads(done.stdout)
    assert found["steps"] == [0, 20]
    assert found["loss"][1] < found["loss"][0]
    assert found["held_out"]["samples"] > 0
    assert (tmp_path / "train" / "genesis.json").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["analyze", "{text}", "--query", "the"], "--query has no effect"),
        (["analyze", "{text}", "--memory", "2GB"], "--memory has no effect"),
        (["analyze", "{text}", "--window", "4", "--setting", "convergence"], "mechanics setting"),
        (["analyze", "{text}", "--window", "4", "--figures", "pdf"], "--figures has no effect"),
        (["analyze", "{text}", "--window", "0"], "--window takes a whole number"),
        (["analyze", "{text}", "--window", "4", "--memory", "much"], "--memory takes a size"),
        (["analyze", "{text}", "--window", "4", "--memory", "1MB"], "--memory is at least"),
        (["analyze", "{folder}"], "which needs --window"),
        (["analyze", "{store}", "--window", "4"], "--window has no effect"),
        (["analyze", "{store}", "--out", "x"], "--out has no effect"),
        (["analyze", "{store}", "--query", "noha"], "did you mean 'noah'"),
        (["analyze", "{store}", "--context", "!"], "the context has no token"),
        (["train", "{store}", "--algorithm", "magic"], "unknown algorithm 'magic'"),
        (["train", "{store}", "--loss", "log"], "unknown option of training on a corpus"),
        (["train", "{store}", "--steps", "many"], "--steps cannot be 'many'"),
        (["train", "{store}", "--setting", "context"], "takes no --setting"),
    ],
)
def test_what_has_no_effect_is_refused(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"text": GENESIS, "folder": GENESIS.parent, "store": store}
    done = run(*(word.format(**places) for word in words))
    assert done.returncode == 2
    assert says in done.words
    assert not any(files for _, _, files in os.walk(tmp_path))
