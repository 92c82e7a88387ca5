"""Token files with embeddings from a file of their own: what papers about tokens read."""

from dataclasses import replace
from pathlib import Path

from lemmata._errors import InputError

from ._embeddings import read_embeddings
from ._readers import Instance, read_instances


def read_token_files(
    file: Path,
    embeddings: Path | None,
    *,
    prefixes: bool,
    log_frequencies: bool = False,
    initial_values: bool = False,
) -> list[Instance]:
    """The instances of a token file; ``prefixes`` as in ``read_instances``.

    ``log_frequencies`` says whether the setting takes frequencies that no counts can express, and
    ``initial_values`` whether it has a linear layer after attention, which starts somewhere.
    """
    instances = read_instances(file, prefixes=prefixes)
    if not log_frequencies and any(i.log_frequencies is not None for i in instances):
        raise InputError(f'{file}: this setting takes "counts", not "log_frequencies"')
    if not initial_values and any(i.initial_values is not None for i in instances):
        raise InputError(f'{file}: this setting has no "initial_values", only "initial_weights"')
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
