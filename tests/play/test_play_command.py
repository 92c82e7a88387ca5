"""``lemmata play`` as it is typed."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lemmata._errors import InputError
from lemmata.cli import main
from lemmata.play import _serve
from lemmata.play._server import Beginning

PROGRAM = "from lemmata.cli import main; main()"


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["play", "--no-browser", *words])
    assert stop.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_what_cannot_be_opened_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "long.txt").write_text("a b a\n" * 50_000)
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe a")
    (tmp_path / "data.csv").write_text("a,b")
    assert "No such file" in refusal(capsys, str(tmp_path / "none.txt"))
    assert "too many for a page" in refusal(capsys, str(tmp_path / "long.txt"))
    assert "not UTF-8" in refusal(capsys, str(tmp_path / "bytes.txt"))
    assert "the page takes .txt" in refusal(capsys, str(tmp_path / "data.csv"))
    assert "did you mean 'mechanics'" in refusal(capsys, "--setting", "mechanic")
    assert "no such file" in refusal(capsys, "--setting", str(tmp_path / "none.py"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "say another --port" in refusal(capsys, "--port", port)
    assert "say another --port" in refusal(capsys, "--port", "99999999")


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ImportError('no', name='uvicorn')")
    places = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "play"],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "needs uvicorn" in done.stderr
    assert "pip install 'lemmata[play]'" in done.stderr


def test_the_process_that_serves_does_not_load_jax() -> None:
    program = "import sys, lemmata.play; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_secret_is_kept_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _serve._token()
    place = tmp_path / "lemmata" / "play-token"
    assert place.stat().st_mode & 0o777 == 0o600
    assert _serve._token() == first
    place.chmod(0o644)  # somebody may have read it
    second = _serve._token()
    assert second != first
    assert place.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert len({_serve._token() for _ in range(5)}) == 5


def test_data_of_a_file_opens_the_page(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"sequence": ["a"], "label": "a"}')
    assert _serve._beginning(file, "mechanics") == Beginning(
        "mechanics", None, file.read_text(), ".jsonl"
    )
    own = _serve._beginning(None, "own.py::SETTING").own
    assert own is not None
    assert Path(own).is_absolute()
    with pytest.raises(InputError):
        _serve._beginning(tmp_path, "mechanics")
