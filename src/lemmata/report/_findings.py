"""What an adversary found, as a table and in words."""

import json
from collections.abc import Sequence

from rich.table import Table

from lemmata._plain import plain
from lemmata.search import Finding, Outcome, Witness

STYLES = {
    Outcome.FAILS: "bold red",
    Outcome.SURVIVED: "green",
    Outcome.UNDECIDED: "yellow",
    Outcome.NOT_SEARCHABLE: "dim",
}

LONGEST = 400
"""An instance whose file is longer is not printed."""


def findings_table(findings: Sequence[Finding]) -> Table:
    """One line a claim."""
    table = Table(box=None, pad_edge=False)
    for title in ("status", "claim", "tried", "closest", "what happened"):
        table.add_column(title, overflow="fold", no_wrap=title in ("status", "claim"))
    for finding in findings:
        closest = "" if finding.closest is None else f"{finding.closest:.3g}"
        table.add_row(
            f"[{STYLES[finding.status]}]{finding.status.value}[/]",
            finding.claim,
            f"{finding.tried:,}",
            closest,
            finding.reason.replace("[", "\\["),
        )
    return table


def findings_text(finding: Finding) -> str:
    """One claim at length: what was searched, the witnesses, what does not matter in them."""
    lines = [f"{finding.claim}: {finding.status.value}", f"  {finding.statement}"]
    lines.append(f"  {finding.reason}")
    if finding.tried:
        aside = f", {finding.set_aside:,} outside its hypotheses" if finding.set_aside else ""
        lines.append(f"  tried: {finding.tried:,} instances{aside}")
    for scope in finding.scopes:
        lines.append(f"  gone through whole: {scope}")
    if finding.witness is not None:
        lines += _witness("smallest witness", finding.witness)
    worst = finding.worst
    if worst is not None and finding.witness is not None and worst.score < finding.witness.score:
        lines += _witness("most violated", worst)
    return "\n".join(lines)


def _witness(title: str, witness: Witness) -> list[str]:
    text = json.dumps(plain(witness.instance.document()), ensure_ascii=False)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text):,} characters)"
    lines = [f"  {title}: {shown}"]
    if witness.options:
        said = ", ".join(f"{name} {value}" for name, value in witness.options.items())
        lines.append(f"    trained with {said}")
    if "left" in witness.place:
        left, right = witness.place["left"], witness.place["right"]
        lines.append(f"    {left:.10g} against {right:.10g} at t = {witness.place['t']}")
    lines.append(
        f"    {'proved' if witness.certificate.proved else 'not proved'}: "
        f"{witness.certificate.says}"
    )
    if witness.degenerate is not None:
        lines.append(f"    degenerate: {witness.degenerate}")
    if witness.idle:
        lines.append(f"    does not matter: {'; '.join(witness.idle)}")
    return lines
