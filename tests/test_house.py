"""The house: rooms in one order, the same rooms in every paper, imports where one expects them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "lemmata"
PAPERS = ("context", "convergence", "mechanics", "selection")

ROOMS = (
    "tokens",
    "margin",
    "attention",
    "training",
    "drawing",
    "settings",
    "corpus",
    "claims",
    "search",
    "papers",
    "sweeps",
    "report",
    "play",
    "cli",
)
"""Data flows from left to right."""

PAPER_ROOMS = ("theory", "setting", "counterexamples", "experiments", "claims", "figures")
"""The same in every paper; each may use those before it."""

INSIDE_FUNCTIONS = {
    "matplotlib": "drawing takes its time to load, and most commands draw nothing",
    "pandas": "it is not needed otherwise",
    "polars": "it is not needed otherwise",
    "pyarrow": "it is not needed otherwise",
    "duckdb": "only sweeps and corpora need it, and it is an extra",
    "threadpoolctl": "only corpora need it, and it is an extra",
    "tokenizers": "only corpora with a tokenizer of their own need it, and it is an extra",
    "distributed": "only sweeps on a cluster need it, and it is an extra",
    "rich": "the command line starts fast because it loads this when there is something to show",
    "lemmata": "the command line starts fast because a command loads what it runs",
}
"""What may be imported inside a function, and why."""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def package_of(path: Path) -> list[str]:
    return ["lemmata", *path.relative_to(ROOT).parts[:-1]]


@cache
def imports(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Every module that a file imports, by its whole name, with the names taken from it."""
    return [found for node in ast.walk(tree_of(path)) for found in imported(path, node)]


def imported(path: Path, node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(node, ast.ImportFrom):
        package = package_of(path)
        above = package[: len(package) + 1 - node.level] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield module, tuple(alias.name for alias in node.names)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, ()


def room_of(path: Path) -> str | None:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else None


def test_a_module_imports_only_from_rooms_before_its_own() -> None:
    for path in modules():
        own = room_of(path)
        for module, _ in imports(path) if own else ():
            parts = module.split(".")
            if parts[0] == "lemmata" and len(parts) > 1 and parts[1] in ROOMS:
                assert ROOMS.index(parts[1]) <= ROOMS.index(own), f"{path} imports {module}"


def test_only_public_names_cross_rooms() -> None:
    """A private module (``_x``) is imported by its own folder alone."""
    every = ((path, *found) for path in modules() for found in imports(path))
    for path, module, names in every:
        package, parts = package_of(path), module.split(".")
        if parts[0] != "lemmata":
            continue
        for i, part in enumerate(parts):
            if part.startswith("_") and i > 1:
                assert parts[:i] == package[:i], f"{path} imports {module}"
        for name in names:
            if name.startswith("_") and not name.startswith("__") and len(parts) > 1:
                assert parts == package, f"{path} imports {name} from {module}"


def home_of(package: list[str]) -> list[str]:
    """The room that a module stands in; in ``papers``, the paper."""
    return package[:3] if package[1:2] == ["papers"] else package[:2]


def test_imports_are_relative_at_home_and_absolute_abroad() -> None:
    """So that one sees at a glance what a module takes from elsewhere."""
    for path in modules():
        home = home_of(package_of(path))
        for node in tree_of(path).body if len(home) > 1 else ():
            if isinstance(node, ast.ImportFrom) and (
                node.level or node.module.startswith("lemmata")
            ):
                ((module, _),) = imported(path, node)
                at_home = module.split(".")[: len(home)] == home
                assert (node.level > 0) == at_home, f"{path} imports {module}"


def test_imports_stand_at_the_top() -> None:
    every = ((path, node) for path in modules() for node in ast.walk(tree_of(path)))
    for path, function in every:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        inside = (node for line in function.body for node in ast.walk(line))
        for module, _ in (found for node in inside for found in imported(path, node)):
            top, what = module.split(".")[0], f"{path}: {function.name} imports {module}"
            assert top in INSIDE_FUNCTIONS, what
            if top == "lemmata":
                assert room_of(path) in ("cli", None), what


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_the_same_rooms(paper: str) -> None:
    folder = ROOT / "papers" / paper
    names = {path.stem for path in folder.iterdir() if path.name != "__pycache__"}
    assert names == {"__init__", "inventory", *PAPER_ROOMS}


@pytest.mark.parametrize("paper", PAPERS)
def test_rooms_of_a_paper_use_only_those_before_them(paper: str) -> None:
    folder = ROOT / "papers" / paper
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for module, names in imports(path):
            parts = module.split(".")
            if parts[:3] == ["lemmata", "papers", paper]:
                here = PAPER_ROOMS.index(own)
                for room in parts[3:4] or names:
                    before = PAPER_ROOMS.index(room)
                    assert before <= here, f"{path.relative_to(folder)} imports {module}"
            elif parts[:2] == ["lemmata", "papers"] and len(parts) > 2:
                assert parts[2] not in PAPERS, f"{path.relative_to(folder)} knows {parts[2]}"


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("papers", "cli")])
def test_only_papers_know_a_paper(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        for module, _ in imports(path):
            assert not any(module.startswith(f"lemmata.papers.{paper}") for paper in PAPERS)


def test_the_public_page_loads_nothing_until_it_is_used() -> None:
    program = (
        "import sys, lemmata as lm\n"
        "assert not {'jax', 'numpy', 'matplotlib', 'rich'} & sys.modules.keys()\n"
        "assert 'at_least' in dir(lm)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
