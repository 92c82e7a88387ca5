"""Token files for the commands that take one."""

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from lemmata._errors import InputError
from lemmata.cli._targets import find_paper
from lemmata.tokens import Instance, read_embeddings, read_instances


def setting_of(key: str) -> ModuleType:
    """The room of a paper that trains: it has ``analyze`` and ``train``."""
    return importlib.import_module(f"lemmata.papers.{find_paper(key).key}.setting")


def read(file: Path, embeddings: Path | None, *, prefixes: bool) -> list[Instance]:
    """The instances of a token file, with embeddings from a file of their own if given."""
    instances = read_instances(file, prefixes=prefixes)
    if embeddings is None:
        return instances
    matrix = read_embeddings(embeddings)
    for instance in instances:
        if len(matrix) != instance.data.size:
            raise InputError(
                f"{embeddings}: {len(matrix)} rows, but {file} has {instance.data.size} tokens; "
                "token i, in order of first appearance, owns row i"
            )
    return [replace(instance, embeddings=matrix) for instance in instances]
