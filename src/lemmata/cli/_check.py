"""``lemmata check``."""

import sys
from pathlib import Path
from typing import Any

from lemmata.claims import Status
from lemmata.cli._benches import Benches
from lemmata.cli._files import setting_of
from lemmata.cli._targets import find_claims
from lemmata.cli._terminal import answers, print_json, progress_bars
from lemmata.report import as_json as verdict_as_json
from lemmata.report import terminal_table


def check(
    names: list[str],
    data: Path | None,
    embeddings: Path | None,
    training: dict[str, Any],
    seed: int,
    as_json: bool,
    strict: bool,
) -> None:
    """Check the claims, on the default experiments or on the user's data."""
    claims = find_claims(names)
    options = {name: value for name, value in training.items() if value is not None}
    with progress_bars() as track:
        benches = {
            paper: Benches(
                seed=seed,
                track=track,
                instances=None if data is None else setting_of(paper).read(data, embeddings),
                options=options,
            )
            for paper in dict.fromkeys(claim.paper for claim in claims)
        }
        verdicts = [benches[claim.paper].check(claim) for claim in claims]
    if as_json:
        print_json({"seed": seed, "verdicts": [verdict_as_json(v) for v in verdicts]})
    else:
        answers().print(terminal_table(verdicts))
    exit_strictly(verdicts, strict)


def exit_strictly(verdicts: list[Any], strict: bool) -> None:
    """With ``--strict``, a statement that fails makes the command fail."""
    if strict and any(verdict.status == Status.FAILS for verdict in verdicts):
        sys.exit(1)
