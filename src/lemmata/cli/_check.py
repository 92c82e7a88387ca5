"""``lemmata check``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lemmata import _verbs
from lemmata._errors import InputError, unknown_name
from lemmata._files import make_folder, write_json
from lemmata._plain import plain
from lemmata.claims import Claim, Status, Verdict, Verdicts
from lemmata.report import LedgerTable, latex_table

from ._options import Flags, read_options
from ._progress import progress
from ._terminal import answers, messages, print_json


def command(
    claims: Sequence[str],
    data: Path | None,
    embeddings: Path | None,
    flags: Flags,
    status: str | None,
    latex: bool,
    seed: int,
    out: Path | None,
    as_json: bool,
    strict: bool,
) -> None:
    """Check the claims, on the default experiments or on the user's data."""
    if status is not None and status not in list(Status):
        raise InputError(unknown_name("status", status, [s.value for s in Status]))
    asked = _verbs.find_claims(claims)
    folder = None if out is None else make_folder(out)
    verdicts = _judge(asked, flags, data=data, embeddings=embeddings, seed=seed, out=folder)
    if folder is not None:
        write_verdicts(folder / "check", verdicts, seed)
    shown = verdicts if status is None else verdicts.having(status)
    if as_json:
        print_json({"seed": seed, "verdicts": [plain(v) for v in shown]})
    elif latex:
        print(latex_table(shown))
    elif shown:
        answers().print(LedgerTable(shown))
    else:
        messages().print(f"no verdict of {len(verdicts)} is '{status}'")
    exit_strictly(verdicts, strict)


def _judge(claims: Sequence[Claim], flags: Flags, **how: Any) -> Verdicts:
    """One setting after the other, because each reads the options in its own way."""
    verdicts = {}
    with progress() as track:
        done = track("claims", len(claims))
        for group in _by_setting(claims):
            options = read_options(_verbs.setting_of(group[0]), flags) if flags else {}
            refuse_idle(group, list(options))
            judged = _verbs.checker(**how, track=track, options=options)
            for claim in group:
                verdicts[claim.name] = judged(claim)
                done(1)
    return Verdicts([verdicts[claim.name] for claim in claims])


def _by_setting(claims: Sequence[Claim]) -> list[list[Claim]]:
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        key = claim.paper if claim.setting is None else claim.setting.key
        groups.setdefault(key, []).append(claim)
    return list(groups.values())


def refuse_idle(claims: Sequence[Claim], options: Sequence[str]) -> None:
    """Refuse options before anything runs, if some claim would not notice them."""
    idle = [claim.name for claim in claims if claim.experiment.training is None]
    if options and idle:
        more = f" and {len(idle) - 3} more" if len(idle) > 3 else ""
        verb = "trains" if len(idle) == 1 else "train"
        raise InputError(
            f"{', '.join(idle[:3])}{more} {verb} nothing, so that {', '.join(options)} would have "
            "no effect; name only claims about training"
        )


def write_verdicts(folder: Path, verdicts: Sequence[Verdict], seed: int) -> None:
    """The verdicts, and each witness that is an instance as a file that can be read back."""
    write_json(folder / "verdicts.json", {"seed": seed, "verdicts": verdicts})
    for verdict in verdicts:
        if verdict.status is Status.FAILS and verdict.instance is not None:
            name = verdict.claim.replace("/", "-")
            path = folder / "witnesses" / f"{name}.json"
            write_json(path, verdict.instance)
            messages().print(f"witness of {verdict.claim}: [bold]{path}[/]", highlight=False)


def exit_strictly(verdicts: Sequence[Verdict], strict: bool) -> None:
    """With ``--strict``, a statement that fails makes the command fail."""
    if strict and any(verdict.status is Status.FAILS for verdict in verdicts):
        sys.exit(1)
