"""``lemmata falsify``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lemmata import _verbs
from lemmata._errors import InputError
from lemmata._files import make_folder, write_json, write_whole
from lemmata._plain import plain
from lemmata.claims import Claim
from lemmata.report import findings_table, findings_text, ledger_text
from lemmata.search import Finding, Findings

from ._progress import watching
from ._terminal import answers, messages, print_json

if TYPE_CHECKING:
    from rich.console import Console


def command(
    claims: Sequence[str],
    budget: float,
    scope: str | None,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Attack the claims one after the other; the time is shared out among them."""
    sizes = None if scope is None else read_scope(scope)
    asked = _verbs.find_claims(claims)
    folder = None if out is None else make_folder(out) / "falsify"
    findings: list[Finding] = []
    with watching() as watch:
        for finding in _verbs.attacks(asked, budget=budget, scope=sizes, seed=seed, watch=watch):
            findings.append(finding)
    found = Findings(findings)
    results = [plain(finding.document()) for finding in found]
    document = {"seed": seed, "results": results}
    if folder is not None:
        write_json(folder / "results.json", document)
        _write(folder, found, asked, claims)
    if as_json:
        print_json(document)
    else:
        _print(answers(), found)
    if len(found) < len(asked):
        messages().print(f"stopped: {len(asked) - len(found)} claims were not attacked")


def read_scope(text: str) -> dict[str, int]:
    """``K=3,T=3,n=4`` as numbers."""
    scope = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value.isdigit() or int(value) < 1:
            raise InputError(f"--scope is written like K=3,T=3,n=4; got '{text}'")
        scope[name] = int(value)
    return scope


def _print(console: "Console", findings: Findings) -> None:
    if len(findings) > 1:
        console.print(findings_table(findings))
    for finding in findings if len(findings) <= 3 else ():
        console.print(findings_text(finding), highlight=False, soft_wrap=True)


def _write(folder: Path, findings: Findings, claims: Sequence[Claim], typed: Sequence[str]) -> None:
    """What was found, for a reader, and every witness as a file of its own."""
    kinds = {claim.name: None if claim.kind is None else claim.kind.value for claim in claims}
    title = f"What the adversary did to {', '.join(typed) or 'everything'}"
    write_whole(folder / "ledger.md", ledger_text(findings, title, kinds).encode())
    messages().print(f"wrote {folder / 'ledger.md'}", highlight=False, soft_wrap=True)
    for finding, claim in zip(findings, claims, strict=False):
        for kind, witness in (("smallest", finding.witness), ("worst", finding.worst)):
            if witness is None or (kind == "worst" and witness.instance is finding.witness):
                continue
            path = folder / "witnesses" / f"{finding.claim.replace('/', '-')}-{kind}.json"
            write_json(path, witness.file)
            if kind == "smallest":
                command = _command(claim, typed, path)
                messages().print(f"to see it again: {command}", highlight=False, soft_wrap=True)


def _command(claim: Claim, typed: Sequence[str], path: Path) -> str:
    """The command that shows the violation."""
    name = next((n for n in typed if n.split("::")[0].endswith(".py")), None)
    target = claim.name
    if name is not None:
        target = f"{name.split('::')[0]}::{claim.name.split('/', 1)[-1]}"
    return f"lemmata check {shlex.quote(target)} --data {shlex.quote(str(path))}"
