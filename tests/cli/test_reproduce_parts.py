"""What is reproduced in processes of its own, and what is said about it beforehand."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lemmata._errors import InputError
from lemmata._plain import plain
from lemmata.cli._parts import Part, reproduce_all, reproduce_part
from lemmata.cli._reproduce import how_long
from lemmata.papers import _durations, expected_seconds, note_finished
from lemmata.training import Store


def silent(title: str, total: int):
    return lambda done: None


def part(paper: str, *, figures: tuple[str, ...] = (), claims: tuple[str, ...] = (), out: str):
    return Part(
        paper,
        tuple(f"{paper}/{name}" for name in figures),
        tuple(f"{paper}/{name}" for name in claims),
        scale="quick",
        seed=0,
        out=Path(out),
    )


def test_papers_side_by_side_give_what_each_gives_alone():
    told: list[tuple[str, int]] = []

    def track(title: str, total: int):
        return lambda done: told.append((title, done))

    def parts(out: str) -> list[Part]:
        return [
            part("mechanics", claims=("definition-1", "lemma-1"), out=out),
            part("convergence", figures=("1",), out=out),
        ]

    both = reproduce_all(parts("both"), track)
    alone = [reproduce_part(one, silent) for one in parts("alone")]
    assert plain(both) == plain(alone)
    for file in ("convergence/1.svg", "convergence/1.pdf"):
        first, second = (Path(out, "reproduce", file).read_bytes() for out in ("both", "alone"))
        assert first == second
    titles = ("mechanics: claims", "mechanics: claims", "convergence: figures")
    assert sorted(told) == sorted((title, 1) for title in titles)


def test_errors_of_the_processes_are_told():
    parts = [part(name, figures=("nonsense",), out="out") for name in ("mechanics", "convergence")]
    with pytest.raises(InputError, match=r"unknown figure of \w+ '\w+/nonsense'"):
        reproduce_all(parts, silent)


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        (signal.SIGINT, 130, "goes on where this one left off"),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_an_interruption_leaves_no_process_behind(how: signal.Signals, code: int, says: str):
    words = ["reproduce", "mechanics/4", "context/4", "--out", "out"]
    # Tests that were started in the background have inherited that Ctrl-C is ignored.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{listen}; from lemmata.cli import main; main({words!r})"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stderr is not None
        assert "after" in running.stderr.readline() + running.stderr.readline()
        running.send_signal(how)
        assert says in running.stderr.read()
        assert running.wait() == code
        # Standard error was read to its end: all who could write to it are gone.


def test_the_time_at_the_scale_of_the_paper_is_said_beforehand(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    known = {
        "fixed_work": 1.0,
        "shares": {},
        "seconds": {"mechanics/4": 600, "context/claims": 2_000},
    }
    place = tmp_path / "durations.json"
    place.write_text(json.dumps(known))
    monkeypatch.setattr(_durations, "PLACE", place)
    monkeypatch.setattr(_durations, "fixed_work", lambda: 3.0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    parts = [
        part("mechanics", figures=("4", "5"), out="out"),
        part("context", claims=("lemma-1", "lemma-2"), out="out"),
    ]
    assert list(how_long(parts)) == [
        "mechanics/4: about 30 minutes",
        "mechanics/5: not measured yet",
        "context/claims: about 1.7 hours",
        "in all about 1.7 hours, beside what was not measured",
    ]
    store = Store(Path("out/runs"))
    note_finished("context/claims", store, seed=0)
    note_finished("mechanics/4", store, seed=1)
    assert list(how_long(parts[1:]))[-1] == "in all about 0 seconds"
    assert list(how_long(parts))[2:] == [
        "context/claims: finished before",
        "in all about 30 minutes, beside what was not measured",
    ]


def test_trainings_that_several_parts_share_are_counted_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    place = tmp_path / "durations.json"
    known = {
        "fixed_work": 1.0,
        "shares": {"selection/2": ["selection/1"], "selection/4": ["selection/1"]},
        "seconds": {"selection/1": 1000, "selection/2": 10, "selection/4": 1},
    }
    place.write_text(json.dumps(known))
    monkeypatch.setattr(_durations, "PLACE", place)
    monkeypatch.setattr(_durations, "fixed_work", lambda: 2.0)
    store = Store(tmp_path / "runs")
    two, four = "selection/2", "selection/4"
    assert expected_seconds([two, four], store, 0) == {two: 2020.0, four: 2.0}
    note_finished("selection/1", store, seed=0)
    assert expected_seconds([two, four], store, 0) == {two: 20.0, four: 2.0}
    assert expected_seconds([four], store, 1) == {four: 2002.0}


def test_every_duration_is_that_of_a_part():
    known = json.loads(_durations.PLACE.read_text())
    assert known["fixed_work"] > 0
    shared = {name for names in known["shares"].values() for name in names}
    assert {*known["shares"], *shared} <= set(known["seconds"])
    assert set(known["seconds"]) <= set(_durations.all_parts())
