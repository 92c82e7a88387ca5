"""The room of a paper that serves the user's own files."""

import importlib
from types import ModuleType

from lemmata.cli._targets import find_paper


def setting_of(key: str) -> ModuleType:
    """The room of a paper that trains: it has ``read``, ``analyze`` and ``train``."""
    return importlib.import_module(f"lemmata.papers.{find_paper(key).key}.setting")
