"""Drawings: the same picture gives the same files, and files appear whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from lemmata._errors import InputError
from lemmata.drawing import (
    COLUMN_WIDTH,
    PALETTE,
    Drawing,
    draw_band,
    draw_map,
    draw_priority_graph,
    draw_tokens,
    style,
)
from lemmata.drawing._graph import _layers, _places
from lemmata.report import save_drawing


def sketch() -> Drawing:
    """A picture with a curve, a graph, mathematics and a clipped band."""
    with style():
        picture = Figure(figsize=(COLUMN_WIDTH, 3.0))
        axes = picture.subplots(2, 2)
        rows = np.outer([1.0, 2.0, 3.0], np.arange(400.0))
        rows[0, 0] = np.nan
        draw_band(axes[0, 0], np.arange(400), rows, PALETTE["blue"], label=r"$\Vert W_x\Vert$")
        axes[0, 0].legend()
        names = {i: f"t{i}" for i in range(5)}
        draw_priority_graph(axes[0, 1], [(0, 1), (1, 2), (0, 2)], names, idle=[3, 4])
        draw_map(axes[1, 0], {0: 1, 1: 2, 2: 0}, names)
        draw_tokens(axes[1, 1], 0, 0, ["a", "b"], fills=[0.2, 0.8], marked=[True, False])
    return Drawing(picture, "a caption", {})


def test_the_same_picture_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    files = save_drawing(sketch(), tmp_path / "here", "paper/2")
    assert files == {"svg": "paper/2.svg", "pdf": "paper/2.pdf"}
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from test_drawings import sketch, save_drawing\n"
        "save_drawing(sketch(), Path(sys.argv[2]), 'paper/2')\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent), str(tmp_path / "there")],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
    )
    for name in files.values():
        content = (tmp_path / "here" / name).read_bytes()
        assert content == (tmp_path / "there" / name).read_bytes()
        assert b"CreationDate" not in content
        assert b"dc:date" not in content
    assert "<text" not in (tmp_path / "here" / files["svg"]).read_text()


def test_saving_leaves_no_trace_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = sketch()
    save_drawing(drawing, tmp_path, "x")
    before = (tmp_path / "x.svg").read_bytes()

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        save_drawing(drawing, tmp_path, "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.pdf", "x.svg"]
    assert (tmp_path / "x.svg").read_bytes() == before


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write to .*file"):
        save_drawing(sketch(), tmp_path / "file", "x")


def test_style_is_left_behind() -> None:
    with matplotlib.rc_context({"font.size": 31, "svg.hashsalt": "mine"}):
        with style():
            assert matplotlib.rcParams["svg.hashsalt"] == "lemmata"
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"
        assert matplotlib.rcParams["font.size"] == 31


def test_layers_put_winners_on_top_and_cycles_together() -> None:
    assert _layers([(3, 1), (1, 0), (3, 0)]) == [[3], [1], [0]]
    assert _layers([(0, 1), (1, 0), (1, 2)]) == [[0, 1], [2]]
    assert _layers([]) == []


def test_nodes_do_not_share_a_place() -> None:
    generator = np.random.default_rng(0)
    edges = [(a, b) for a in range(10) for b in range(a + 1, 10) if generator.random() < 0.4]
    places = _places(_layers(edges), edges)
    assert len(set(places.values())) == len(places)
    assert all(places[winner][1] > places[loser][1] for winner, loser in edges)


def test_bands_leave_out_unknown_records() -> None:
    axes = Figure().subplots()
    rows = np.array([[np.nan, 1.0, 2.0], [0.0, 3.0, 4.0]])
    draw_band(axes, np.arange(3), rows, "black")
    assert axes.lines[0].get_xdata().tolist() == [1, 2]
    assert axes.lines[0].get_ydata().tolist() == [2.0, 3.0]
