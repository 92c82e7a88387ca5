"""The code blocks of a page, and what running them prints.

The first word after the fence says what a block is: ``python`` is run, ``output`` is what the block
before it prints, ``console`` holds commands after a ``$`` with what they print, ``math`` and
``tree`` are for reading. A second word is a file name: the block is written to that file instead.
In expected output a line ``...`` stands for any lines, and runs of spaces count as one.

The files of ``examples`` beside a page are in the folder where it runs.
"""

import contextlib
import io
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .terminal import run

READ = ("math", "tree")
KINDS = ("python", "output", "console", "json", "text", "bash", *READ)

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the file it is written to, if any, and where it stands."""

    kind: str
    file: str
    text: str
    where: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order."""
    content = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(content):
        words = match[1].split()
        line = content[: match.start()].count("\n") + 1
        kind, file = [*words, "", ""][:2]
        found.append(Block(kind, file, match[2], f"{page.name}:{line}"))
    return found


def run_page(page: Path) -> None:
    """Run every block in the current folder, and compare what is printed."""
    names: dict[str, Any] = {"__name__": "page"}
    printed: str | None = None
    for example in (page.parent / "examples").glob("*.*"):
        shutil.copy(example, Path.cwd())
    for block in blocks(page):
        assert block.kind in KINDS, f"{block.where}: a block of kind '{block.kind}'"
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            printed = run_python(block, names)
        elif block.kind == "output":
            assert printed is not None, f"{block.where}: output of what?"
            compare(block.text, printed, block.where)
        elif block.kind == "console":
            run_console(block)


def run_python(block: Block, names: dict[str, Any]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(block.text, block.where, "exec"), names)
    return stream.getvalue()


def run_console(block: Block) -> None:
    """Each command after a ``$``, continued after a backslash."""
    text = block.text.replace("\\\n", " ")
    for chunk in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = chunk.partition("\n")
        words = shlex.split(command, comments=True)
        printed = run_command(words, block.where)
        if expected.strip():
            compare(expected, printed, f"{block.where}, {command}")


def run_command(words: list[str], where: str) -> str:
    if words[0] == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    assert words[0] == "lemmata", f"{where}: {words[0]} is not run here"
    done = run(*words[1:], columns=120)
    return done.stdout + done.stderr if done.returncode else done.stdout


def compare(expected: str, printed: str, where: str) -> None:
    """Line by line; ``...`` stands for any lines, and inside a line for a part of it."""
    pattern = "\n".join(
        r"(?:.*\n?)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*")
        for line in _lines(expected)
    )
    pattern = pattern.replace("(?:.*\\n?)*?\n", "(?:.*\\n)*?").replace(
        "\n(?:.*\\n?)*?", "(?:\\n.*)*?"
    )
    actual = "\n".join(_lines(printed))
    assert re.fullmatch(pattern, actual), f"{where}\nexpected:\n{expected}\nprinted:\n{printed}"


def _lines(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", line).strip() for line in text.strip().split("\n")]
