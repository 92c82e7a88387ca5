"""Sweeps: grids as typed, tasks that run once, results that merge, engines that lose workers."""

import json
import math
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.terminal import answer, run

import lemmata as lm
from lemmata._engines import dask
from lemmata.sweeps import Results, draw_sweep, points_of, read_axis
from lemmata.sweeps._table import same_order
from lemmata.sweeps._tasks import Group, run_group

WALKS = Path(__file__).parent / "walks.py"
TARGET = str(WALKS)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where walks say that they were made."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("WALK_LOG", str(path))
    return path


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("K=4..32..8", ["4", "12", "20", "28"]),
        ("K=3..1..-1", ["3", "2", "1"]),
        ("K=1..3", ["1", "2", "3"]),
        ("eta=1e-3..1e1..x10", ["0.001", "0.01", "0.1", "1", "10"]),
        ("eta=0.1..0.4..0.1", ["0.1", "0.2", "0.3", "0.4"]),
        ("T=10..160..x2", ["10", "20", "40", "80", "160"]),
        ("T=8..1..x0.5", ["8", "4", "2", "1"]),
        ("a=-1..-8..x2", ["-1", "-2", "-4", "-8"]),
        ("algorithm=gd,ngd", ["gd", "ngd"]),
        ("d=1,2..4,7", ["1", "2", "3", "4", "7"]),
    ],
)
def test_values_as_typed(text: str, values: list[str]) -> None:
    assert read_axis(text)[1] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("K=0..-1..0", "never gets from 0 to -1"),
        ("K=1..3..-1", "never gets"),
        ("K=1..8..x1", "never gets"),
        ("K=-1..8..x2", "never gets"),
        ("K=nan..3", "not a finite number"),
        ("K=1..inf", "not a finite number"),
        ("K=1..1e9", "at most 1,000,000"),
        ("K=1..1e9..x1.000000001", "at most 1,000,000"),
        ("K=1..2..3..4", "is no range"),
        ("K=1,,2", "no value"),
        ("K=2,2", "twice"),
        ("K", "--over takes"),
        ("=3", "--over takes"),
    ],
)
def test_bad_values_get_a_sentence(text: str, message: str) -> None:
    with pytest.raises(lm.InputError, match=message):
        read_axis(text)


def test_points_are_all_combinations_or_walk_together() -> None:
    axes = {"a": [1, 2], "b": ["x", "y"]}
    assert [tuple(p.values()) for p in points_of(axes, False)] == [
        (1, "x"),
        (1, "y"),
        (2, "x"),
        (2, "y"),
    ]
    assert [tuple(p.values()) for p in points_of(axes, True)] == [(1, "x"), (2, "y")]
    assert points_of({}, False) == [{}]
    with pytest.raises(lm.InputError, match="a has 2, b has 1"):
        points_of({"a": [1, 2], "b": [1]}, True)
    with pytest.raises(lm.InputError, match="1,000,000"):
        points_of({"a": range(1001), "b": range(1001)}, False)


def test_what_is_measured_is_what_a_formula_gives() -> None:
    """w = c (1 + seed) (1 - rate)^steps, written out."""
    table = lm.sweep(TARGET, {"c": [1.0, 3.0], "eta": "0.25,0.5"}, seeds=2)
    expected = [
        c * (1 + seed) * (1 - rate) ** 3 for c in (1, 3) for rate in (0.25, 0.5) for seed in (0, 1)
    ]
    assert table.place.tolist() == expected
    assert table["c"].tolist() == [1.0] * 4 + [3.0] * 4
    assert table.eta.tolist() == [0.25, 0.25, 0.5, 0.5] * 2
    assert table.measured == ("place",)
    point = table.document()["points"][3]
    assert point == {"parameters": {"c": 1.0, "eta": 0.5}, "seed": 1, "place": 0.25}
    first = table.csv().splitlines()
    assert first[:2] == ["c,eta,seed,place", "1.0,0.25,0,0.421875"]


def test_measures_by_name_and_by_place_in_the_analysis(log: Path) -> None:
    table = lm.sweep(TARGET, ["c=1,3"], measure=["hidden", "inner.square"])
    assert table.hidden.tolist() == [-0.125, -0.375]
    assert table["inner.square"].tolist() == [1.0, 9.0]
    with pytest.raises(lm.InputError, match=r"unknown measure 'innner'.*did you mean 'inner'"):
        lm.sweep(TARGET, measure=["innner"])
    with pytest.raises(lm.InputError, match="is no number"):
        lm.sweep(TARGET, measure=["words"])


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("time", "'time' of the analysis is no number; numbers in it: time.steps, time.standard_"),
        ("time.nonsense", r"unknown measure 'time.nonsense'.* \(known: time.steps, time.standard_"),
        ("time.stepps", r"did you mean 'time.steps'\? \(known: time.steps, "),
        ("T.more", r"unknown measure 'T.more'.* \(known: T\)"),
        ("encodings", "'encodings' of the analysis is no number$"),
    ],
)
def test_what_there_is_below_a_place_in_the_analysis(measure: str, told: str) -> None:
    with pytest.raises(lm.InputError, match=told):
        lm.sweep("selection", ["T=8"], measure=[measure])


def test_a_claim_is_judged_at_every_point() -> None:
    table = lm.sweep(f"{TARGET}::near", {"c": [1.0, 5.0]}, seeds=2)
    assert table.status.tolist() == ["holds", "holds", "fails", "fails"]
    assert table.margin.tolist() == [3.0, 2.0, -1.0, -6.0]
    assert table.tightness[0] == 4.0
    with pytest.raises(lm.InputError, match="--measure is for a setting"):
        lm.sweep(f"{TARGET}::near", measure=["place"])


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"z": [1]}, "unknown name to sweep over .*known: c, kind, rate, steps"),
        ({"kind": ["odd"]}, "unknown kind 'odd'"),
        ({"c": ["one"]}, "c takes a number; got 'one'"),
        ({"steps": "1.5"}, "takes a whole number"),
        ({"c": []}, "no values of c"),
        ({"c": [1.0, float("nan")]}, "c takes finite numbers; got nan"),
        ({"rate": "inf"}, "rate takes finite numbers; got inf"),
        ({"rate": "0.1,1e-1"}, "the grid has rate = 0.1 twice"),
        ({"lr": [0.1], "eta": [0.2]}, "eta is another name of rate"),
    ],
)
def test_names_and_values_are_checked_before_anything_runs(over, message: str, log: Path) -> None:
    with pytest.raises(lm.InputError, match=message):
        lm.sweep(TARGET, over)
    assert log.read_text() == ""


def test_nothing_is_run_twice_and_new_values_run_alone(tmp_path: Path, log: Path) -> None:
    out = tmp_path / "results"
    first = lm.sweep(TARGET, {"c": [1.0, 2.0]}, seeds=2, out=out)
    assert len(log.read_text().splitlines()) == 4
    again = lm.sweep(TARGET, {"c": [2.0, 1.0, 3.0]}, seeds=3, out=out)
    assert len(log.read_text().splitlines()) == 9
    assert again.place.tolist() == [c * s / 8 for c in (2, 1, 3) for s in (1, 2, 3)]
    assert first.place.tolist() == [c * s / 8 for c in (1, 2) for s in (1, 2)]
    lm.sweep(TARGET, {"c": [1.0]}, measure=["hidden"], out=out)
    assert len(log.read_text().splitlines()) == 10


def test_a_file_that_changed_is_run_again_and_one_that_moved_is_not(tmp_path: Path) -> None:
    here, there = tmp_path / "here" / "walks.py", tmp_path / "there" / "walks.py"
    for file in (here, there):
        file.parent.mkdir()
        shutil.copy(WALKS, file)
    said: list[str] = []
    asked = {"out": tmp_path / "results", "announce": said.append}
    lm.sweep(str(here), {"c": [1.0]}, **asked)
    lm.sweep(str(there), {"c": [1.0]}, **asked)
    here.write_text(WALKS.read_text().replace('options.get("steps", 3)', 'options.get("steps", 4)'))
    changed = lm.sweep(str(here), {"c": [1.0]}, **asked)
    assert said == ["1 task, 1 to run", "1 task, 0 to run", "1 task, 1 to run"]
    assert changed.place.tolist() == [1 / 16]


def test_words_and_numbers_in_one_column_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [{"task": "a", "rate": "paper", "seed": 0}, {"task": "b", "rate": 0.5, "seed": 0}]
    results = Results(tmp_path)
    for row in rows:
        results.write([row])
    points = {"b": {"rate": 0.5}, "c": {"rate": 0.25}, "a": {"rate": "paper"}}
    assert same_order(results.read(), points) == [rows[1], rows[0]]


def test_what_does_not_fit_into_memory_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(type(lm.papers["mechanics"].setting), "make", fail)
    with pytest.raises(lm.InputError, match="mechanics with K = 4 does not fit into memory"):
        lm.sweep("mechanics", {"K": [4]})


def test_a_library_that_is_missing_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    table = lm.sweep(TARGET, {"c": [1.0]})
    for name, convert in (("pandas", table.to_pandas), ("pyarrow", table.to_arrow)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(lm.InputError, match=f"pip install {name}"):
            convert()


def test_folders_copied_together_are_one_sweep(tmp_path: Path, log: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    lm.sweep(TARGET, {"c": [1.0, 2.0]}, out=here)
    lm.sweep(TARGET, {"c": [2.0, 3.0]}, out=there)
    shutil.copytree(there, here, dirs_exist_ok=True)
    assert len(list(here.glob("*.parquet"))) == 3
    before = log.read_text()
    table = lm.sweep(TARGET, {"c": [1.0, 2.0, 3.0]}, out=here)
    assert table.place.tolist() == [1 / 8, 2 / 8, 3 / 8]
    assert table.disagreements == []
    assert log.read_text() == before


def test_results_of_one_task_that_differ_are_told(tmp_path: Path) -> None:
    lm.sweep(TARGET, {"c": [1.0]}, out=tmp_path)
    (row,) = Results(tmp_path).read().values()
    Results(tmp_path).write([{**row, "place": np.nextafter(row["place"], 1.0)}])
    table = lm.sweep(TARGET, {"c": [1.0]}, out=tmp_path)
    ((one, other),) = table.disagreements
    assert {one["place"], other["place"]} == {0.125, np.nextafter(0.125, 1.0)}


def test_a_broken_file_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("nothing")
    with pytest.raises(lm.InputError, match="remove it"):
        lm.sweep(TARGET, out=tmp_path)


def test_exact_numbers_survive_the_file(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 5e-324, -0.0, float("inf"), None]
    rows = [{"task": f"{i}", "seed": i, "x": value} for i, value in enumerate(values)]
    Results(tmp_path).write(rows)
    read = Results(tmp_path).read()
    assert [read[f"{i}"]["x"] for i in range(5)] == values
    assert np.signbit(read["2"]["x"])


def test_workers_that_are_killed_lose_nothing(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers kill themselves at their first task; the table is that of one process."""
    quiet = lm.sweep(TARGET, {"c": [1.0, 2.0, 3.0]}, seeds=9)
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    monkeypatch.setenv("WALK_DEATHS", str(deaths))
    table = lm.sweep(TARGET, {"c": [1.0, 2.0, 3.0]}, seeds=9, workers=2, out=tmp_path / "r")
    assert len(os.listdir(deaths)) == 2
    assert table.document() == quiet.document()


def test_dask_gives_the_same_table_with_workers_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    quiet = lm.sweep(TARGET, {"c": [1.0, 2.0, 3.0]}, seeds=9)
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    monkeypatch.setenv("WALK_DEATHS", str(deaths))
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(silence_logs=50, **how) as cluster:
        address = cluster.scheduler_address
        table = lm.sweep(TARGET, {"c": [1.0, 2.0, 3.0]}, seeds=9, scheduler=address)
    assert len(os.listdir(deaths)) == 2
    assert table.document() == quiet.document()
    with pytest.raises(lm.InputError, match="no Dask scheduler answers"):
        lm.sweep(TARGET, scheduler="tcp://127.0.0.1:9")


def test_a_cluster_without_workers_is_told_and_goes_on_when_one_joins() -> None:
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 0, "threads_per_worker": 1, "dashboard_address": None}
    told: list[str] = []
    with distributed.LocalCluster(silence_logs=50, processes=False, **how) as cluster:

        def announce(line: str) -> None:
            told.append(line)
            if "no worker" in line:
                cluster.scale(1)

        engine = dask(math.sqrt, cluster.scheduler_address, announce, patience=0.2)
        assert sorted(engine([1, 4, 9])) == [(1, 1.0), (4, 2.0), (9, 3.0)]
    assert [line.split(" ")[0] for line in told[:1]] == ["no"]


def test_powers_are_fitted_with_their_error() -> None:
    """The place is exactly linear in c; with noise by hand, the slope is that of polyfit."""
    table = lm.sweep(TARGET, {"c": "1..16..x2"}, seeds=2)
    (fit,) = table.fits()
    assert (fit.measured, fit.parameter) == ("place", "c")
    assert fit.exponent == pytest.approx(1.0, abs=1e-12)
    assert fit.error < 1e-12


def points_of_line(line: Any) -> list[list[float]]:
    return line.get_xydata().tolist()


def test_pictures_have_every_point() -> None:
    drawing = draw_sweep(lm.sweep(TARGET, {"c": [4.0, 1.0, 2.0]}, seeds=2))
    curve, fitted = (line for axes in drawing.picture.axes for line in axes.lines)
    assert points_of_line(curve) == [[1.0, 0.1875], [2.0, 0.375], [4.0, 0.75]]
    # The fitted line is the mean of logarithms: seeds have 1 and 2 times c / 8.
    assert fitted.get_ydata() == pytest.approx(np.array([1, 2, 4]) * np.sqrt(2) / 8)
    assert "bands" in drawing.caption
    table = lm.sweep(f"{TARGET}::near", {"c": [5.0, 1.0], "rate": [0.5, 0.75, 0.875]})
    (mesh,) = draw_sweep(table).picture.axes[0].collections[:1]
    order = ["holds", "vacuous", "fails", "undecided", "inapplicable"]
    said = {(row["c"], row["rate"]): order.index(row["status"]) for row in table.rows}
    drawn = [[said[c, rate] for c in (1.0, 5.0)] for rate in (0.5, 0.75, 0.875)]
    assert mesh.get_array().tolist() == drawn
    assert {0, 2} <= {status for row in drawn for status in row}


def test_words_are_lines_of_their_own() -> None:
    over = {"c": [1.0, 2.0, 4.0], "kind": ["plain", "other"]}
    lines = draw_sweep(lm.sweep(TARGET, over)).picture.axes[0].lines
    assert [line.get_label() for line in lines] == ["kind = plain", "kind = other"]
    plain_line, other = map(points_of_line, lines)
    assert plain_line == [[1.0, 0.125], [2.0, 0.25], [4.0, 0.5]]
    assert [y for _, y in other] == [0.25, 0.5, 1.0]


def test_points_of_a_claim_have_the_colour_of_their_status() -> None:
    for over in ({"c": [5.0, 1.0, 2.0]}, {"kind": ["other", "plain"]}):
        table = lm.sweep(f"{TARGET}::near", over, seeds=3)
        axes = draw_sweep(table).picture.axes[0]
        marks = {line.get_label(): line for line in axes.lines}
        worst = dict.fromkeys(next(iter(over.values())), "fails") | {
            row[table.parameters[0]]: "holds"
            for row in table.rows
            if all(
                other["status"] == "holds"
                for other in table.rows
                if other[table.parameters[0]] == row[table.parameters[0]]
            )
        }
        for status in ("holds", "fails"):
            count = list(worst.values()).count(status)
            assert (len(marks[status].get_xdata()) if status in marks else 0) == count


def test_values_walked_through_together_are_one_line() -> None:
    over = {"c": [1.0, 2.0, 4.0], "rate": [0.5, 0.25, 0.5]}
    (line,) = draw_sweep(lm.sweep(TARGET, over, together=True)).picture.axes[0].lines
    assert [x for x, _ in points_of_line(line)] == [1.0, 2.0, 4.0]


def test_a_picture_of_three_parameters_is_refused() -> None:
    over = {"c": [1.0, 2.0], "kind": ["plain", "other"], "rate": [0.5, 0.25]}
    with pytest.raises(lm.InputError, match="one or two parameters; got 3"):
        draw_sweep(lm.sweep(TARGET, over))
    one = draw_sweep(lm.sweep(TARGET, over | {"kind": ["plain"], "rate": [0.5]}))
    assert points_of_line(one.picture.axes[0].lines[0]) == [[1.0, 0.125], [2.0, 0.25]]


def test_the_command_prints_points_and_resumes(tmp_path: Path, log: Path) -> None:
    words = ("sweep", TARGET, "--over", "c=1,2", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    found = answer(*words)
    assert [p["place"] for p in found["points"]] == [0.125, 0.25, 0.25, 0.5]
    shown = run(*words)
    assert "0 to run" in shown.stderr
    assert len(log.read_text().splitlines()) == 4
    folder = next((tmp_path / "sweep").iterdir())
    names = {path.name for path in folder.iterdir()}
    assert {"table.csv", "table.json", "picture.svg", "picture.pdf"} <= names
    assert json.loads((folder / "table.json").read_text())["points"] == found["points"]


@pytest.mark.parametrize(
    ("key", "over"),
    [
        ("mechanics", {"K": 5, "d": 7, "n": 3, "T": 4, "skew": 10.0, "scale": 2.0}),
        ("convergence", {"K": 6, "L": 4, "skew": 10.0}),
        ("selection", {"T": 9, "q": 2, "d": 2, "eta": 0.5}),
        ("context", {"N": 2, "K": 5, "d": 4, "m": 2, "H": 3, "norm": 2.0}),
    ],
)
def test_instances_have_the_sizes_that_were_asked_for(key: str, over: dict[str, float]) -> None:
    home = lm.papers[key].setting
    made = home.make(over, seed=3)
    if key in ("mechanics", "convergence"):
        assert over["K"] == made.K
        ratio = made.log_frequency[0] - made.log_frequency[-1]
        assert ratio == pytest.approx(np.log(10.0))
    if key == "mechanics":
        assert {len(s.tokens) for s in made.data.samples} == {4}
        np.testing.assert_allclose(np.linalg.norm(made.E, axis=1), 2.0)
        assert made.E.shape[1] == 7
    if key == "selection":
        assert (made.T, made.q, made.d, made.rate) == (9, 2, 2, 0.5)
    if key == "context":
        assert (made.task.N, made.task.K, made.task.d, made.heads) == (2, 5, 4, 3)
        np.testing.assert_allclose(np.linalg.norm(made.task.tokens, axis=0), 2.0)
    assert {p.name for p in home.parameters} >= set(over)
    assert home.make(over, seed=3).document() == made.document()


def test_a_real_setting_gives_what_train_gives() -> None:
    table = lm.sweep("mechanics", {"K": [4], "T": [3], "steps": [5]}, seeds=2)
    made = [lm.mechanics.SETTING.make({"K": 4, "T": 3}, seed) for seed in (0, 1)]
    trained = lm.train(made, steps=5)
    assert table.norm.tolist() == trained.norm[:, -1].tolist()


def test_keys_depend_on_everything_that_numbers_depend_on() -> None:
    group = Group(TARGET, {"c": 1.0}, (0, 1))
    others = [
        Group(TARGET, {"c": 2.0}, (0, 1)),
        Group(TARGET, {"c": 1.0}, (0, 1), ("hidden",)),
        Group("mechanics", {"c": 1.0}, (0, 1)),
        Group(TARGET, {"c": 1.0}, (0, 1), content="another file"),
    ]
    keys = {group.key(0), group.key(1), *(other.key(0) for other in others)}
    assert len(keys) == 6
    assert [row["task"] for row in run_group(group)] == [group.key(0), group.key(1)]
