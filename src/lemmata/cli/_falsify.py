"""``lemmata falsify``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lemmata import _verbs
from lemmata._errors import InputError
from lemmata._files import make_folder, write_json, write_whole
from lemmata._plain import plain
from lemmata.claims import Claim
from lemmata.report import findings_table, findings_text
from lemmata.search import Finding, Findings, Witness

from ._progress import watching
from ._terminal import answers, messages, print_json

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class FalsifyRequest:
    """What the user typed."""

    claims: Sequence[str]
    budget: float
    scope: str | None
    seed: int
    out: Path | None
    json: bool


def falsify(request: FalsifyRequest) -> None:
    """Attack the claims one after the other; the time is shared out among them."""
    scope = None if request.scope is None else read_scope(request.scope)
    claims = _verbs.find_claims(request.claims)
    folder = None if request.out is None else make_folder(request.out) / "falsify"
    findings: list[Finding] = []
    with watching() as watch:
        for finding in _verbs.attacks(
            claims, budget=request.budget, scope=scope, seed=request.seed, watch=watch
        ):
            findings.append(finding)
    found = Findings(findings)
    if folder is not None:
        _write(folder, found, claims, request)
    if request.json:
        results = [plain(finding.document()) for finding in found]
        print_json({"seed": request.seed, "results": results})
    else:
        _print(answers(), found)
    if len(found) < len(claims):
        messages().print(f"stopped: {len(claims) - len(found)} claims were not attacked")


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


def _write(
    folder: Path, findings: Findings, claims: Sequence[Claim], request: FalsifyRequest
) -> None:
    """What was found, as JSON and for a reader, and every witness as a file of its own."""
    results = [finding.document() for finding in findings]
    write_json(folder / "results.json", {"seed": request.seed, "results": results})
    told = "\n\n".join(findings_text(finding) for finding in findings)
    write_whole(folder / "findings.md", f"# What the adversary found\n\n{told}\n".encode())
    for finding, claim in zip(findings, claims, strict=False):
        for kind, witness in (("smallest", finding.witness), ("worst", finding.worst)):
            if witness is None or (kind == "worst" and witness.instance is finding.witness):
                continue
            path = folder / "witnesses" / f"{finding.claim.replace('/', '-')}-{kind}.json"
            write_json(path, witness.instance.document())
            if kind == "smallest":
                command = _command(claim, request, witness, path)
                messages().print(f"to see it again: {command}", highlight=False, soft_wrap=True)


def _command(claim: Claim, request: FalsifyRequest, witness: Witness, path: Path) -> str:
    """The command that shows the violation."""
    known = {option.name: option.flag for option in _verbs.setting_of(claim).options}
    options = [f"{known[name]} {value}" for name, value in witness.options.items()]
    name = next((n for n in request.claims if n.split("::")[0].endswith(".py")), None)
    target = claim.name
    if name is not None:
        target = f"{name.split('::')[0]}::{claim.name.split('/', 1)[-1]}"
    words = ["lemmata check", shlex.quote(target), "--data", shlex.quote(str(path)), *options]
    return " ".join(words)
