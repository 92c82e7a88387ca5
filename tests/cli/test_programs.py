"""Compiled programs are kept where the user wants them, and never too many."""

import os
from pathlib import Path

import pytest

from lemmata import _programs
from lemmata._programs import SWITCH, keep_programs

JAX = "JAX_COMPILATION_CACHE_DIR"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a machine where nobody has said anything; what is said is forgotten afterwards."""
    for name in (JAX, SWITCH, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_they_go_to_the_cache_folder_of_the_user(tmp_path: Path) -> None:
    folder = keep_programs()
    assert folder is not None
    assert folder.parent == tmp_path / "cache" / "lemmata"
    assert os.environ[JAX] == str(folder)


def test_the_user_may_say_where_or_no(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SWITCH, str(tmp_path / "mine"))
    folder = keep_programs()
    assert folder is not None
    assert folder.parent == tmp_path / "mine"
    monkeypatch.delenv(JAX)
    monkeypatch.setenv(SWITCH, "off")
    assert keep_programs() is None
    assert JAX not in os.environ
    monkeypatch.delenv(SWITCH)
    monkeypatch.setenv(JAX, "elsewhere")
    assert keep_programs() is None
    assert os.environ[JAX] == "elsewhere"


def test_a_folder_that_cannot_be_written_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(SWITCH, str(tmp_path / "file"))
    assert keep_programs() is None
    assert JAX not in os.environ


def test_the_oldest_go_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep_programs()
    assert folder is not None
    for age, name in enumerate(["new", "older", "oldest"]):
        (folder / name).write_bytes(b"x" * 10)
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    monkeypatch.setattr(_programs, "LARGEST", 20)
    monkeypatch.delenv(JAX)
    keep_programs()
    assert sorted(path.name for path in folder.iterdir()) == ["new", "older"]
