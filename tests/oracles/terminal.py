"""Commands as typed, run in this process."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from lemmata.cli import main


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def words(self) -> str:
        """What was said on standard error, on one line."""
        return " ".join(self.stderr.split())


def run(*words: object, columns: int = 80) -> Done:
    """Run a command in the current folder; an exception that a user would see is a failure."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict("os.environ", COLUMNS=str(columns)),
    ):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
    return Done(code or 0, out.getvalue(), err.getvalue())


def answer(*words: object) -> Any:
    """The JSON document that a command prints when all is well."""
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(folder: Path, name: str, content: object) -> Path:
    """A file with a text, or with a document as JSON."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
