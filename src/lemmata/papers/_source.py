"""What a user's file brings: lemmas, settings, papers."""

import importlib.util
import sys
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from lemmata._errors import InputError, line_in, unknown_name
from lemmata.claims import Claim, claims_of
from lemmata.settings import AbstractSetting

from ._paper import Named, Paper, papers, settings


def is_file(name: str) -> bool:
    """Whether a name means a Python file, or something in one (``file.py::name``)."""
    return name.split("::")[0].endswith(".py")


_lines: ContextVar[dict[str, int] | None] = ContextVar("lines", default=None)
"""Where the claims of the file that is being run are declared, by name; None in a notebook."""


def note_declared(name: str, line: int) -> None:
    """Refuse a second claim of one name in a file; a cell of a notebook may be run again."""
    known = _lines.get()
    if known is None:
        return
    if name in known:
        raise InputError(
            f"{name} is declared twice, in lines {known[name]} and {line}, and the second would "
            "take the place of the first: give each function a name of its own"
        )
    known[name] = line


def load(file: Path) -> ModuleType:
    """Run a Python file as a module of its own name; it may import what stands beside it."""
    path = file.resolve()
    if not path.is_file():
        raise InputError(f"{file}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    outside = _lines.set({})
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except Exception as error:
        where = line_in(error, str(path))
        raise InputError(f"{file}{where}: {type(error).__name__}: {error}") from error
    finally:
        _lines.reset(outside)
    return module


def claims_in(name: str) -> list[Claim]:
    """The claims of a file, or the one of ``file.py::name``."""
    file, _, wanted = name.partition("::")
    module = load(Path(file))
    known = Named("claim", ((claim.name, claim) for claim in claims_of([module])))
    if not known:
        raise InputError(
            f"{file}: no claim is declared here; put @lm.claim(...) above a function that returns "
            "lm.at_least(...) or another comparison"
        )
    if not wanted:
        return list(known.values())
    chosen = [claim for full, claim in known.items() if wanted in (full, full.split("/", 1)[-1])]
    if not chosen:
        short = [full.split("/", 1)[-1] for full in known]
        raise InputError(f"{file}: {unknown_name('claim', wanted, short)}")
    return chosen


def find_setting(name: str | AbstractSetting[Any]) -> AbstractSetting[Any]:
    """A setting: itself, that of a paper, or the one of a file (``file.py``)."""
    if isinstance(name, AbstractSetting):
        return name
    if not is_file(name):
        return papers()[name].setting if name in papers() else settings()[name]
    file = Path(name.split("::")[0])
    return _setting_in(file, file.resolve(), file.read_bytes() if file.is_file() else b"")


@lru_cache(maxsize=16)
def _setting_in(file: Path, place: Path, content: bytes) -> AbstractSetting[Any]:
    """The one setting of a file: the same value as long as the file is the same."""
    module = load(file)
    found = [value for value in vars(module).values() if isinstance(value, AbstractSetting)]
    found += [value.setting for value in vars(module).values() if isinstance(value, Paper)]
    unique = list({id(setting): setting for setting in found}.values())
    if len(unique) != 1:
        raise InputError(
            f"{file}: expected one setting (a value of a class that extends lm.AbstractSetting), "
            f"found {len(unique)}"
        )
    return unique[0]
