"""What an adversary found, as a table and in words."""

import json
from collections.abc import Callable, Mapping, Sequence

from rich.table import Table

from lemmata._plain import plain
from lemmata.search import MEANING, Finding, Outcome, Witness

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


def ledger_text(findings: Sequence[Finding], title: str, kinds: Mapping[str, str | None]) -> str:
    """All findings as a page in Markdown: what broke, and how hard the rest was tried.

    ``kinds`` are the sorts of failure that claims are known for; what breaks without one is news.
    """
    groups = {outcome: [f for f in findings if f.status is outcome] for outcome in Outcome}
    count = ", ".join(f"{len(group)} {outcome.value}" for outcome, group in groups.items() if group)
    seconds = sum(finding.seconds for finding in findings)
    lines = [f"# {title}", "", f"{len(findings)} claims in {seconds:,.0f} s: {count}.", ""]
    for outcome in (Outcome.FAILS, Outcome.UNDECIDED):
        if groups[outcome]:
            lines += [f"## {outcome.value.capitalize()}: {MEANING[outcome]}", ""]
        for finding in groups[outcome]:
            known = kinds.get(finding.claim)
            says = f"known to fail: {known}" if known else "not known to fail before"
            news = says if outcome is Outcome.FAILS else ""
            lines += [f"### `{finding.claim}`", "", f"{finding.statement}", "", news, ""]
            lines += ["```text", *findings_text(finding).split("\n")[2:], "```", ""]
    lines += _rows(
        groups[Outcome.SURVIVED],
        ("claim", "instances", "closest", "gone through whole"),
        lambda f: (f.claim, f"{f.tried:,}", f"{f.closest or 0:.2g}", "; ".join(f.scopes) or "-"),
    )
    lines += _rows(groups[Outcome.NOT_SEARCHABLE], ("claim", "why"), lambda f: (f.claim, f.reason))
    return "\n".join(lines)


def _rows(
    findings: Sequence[Finding],
    titles: Sequence[str],
    cells: Callable[[Finding], tuple[str, ...]],
) -> list[str]:
    """A table in Markdown under the name of the outcome; nothing for no findings."""
    if not findings:
        return []
    outcome = findings[0].status
    rows = [tuple(titles), ("---",) * len(titles), *map(cells, findings)]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return [f"## {outcome.value.capitalize()}: {MEANING[outcome]}", "", *table, ""]


def _witness(title: str, witness: Witness) -> list[str]:
    text = json.dumps(plain(witness.instance.document()), ensure_ascii=False)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text):,} characters)"
    lines = [f"  {title}: {shown}"]
    if witness.options:
        said = ", ".join(f"{name} {value}" for name, value in witness.options.items())
        lines.append(f"    trained with {said}")
    if "left" in witness.place:
        left, right = witness.place["left"], witness.place["right"]
        when = f" at t = {witness.place['t']}" if "t" in witness.place else ""
        lines.append(f"    {left:.10g} against {right:.10g}{when}")
    lines.append(
        f"    {'proved' if witness.certificate.proved else 'not proved'}: "
        f"{witness.certificate.says}"
    )
    if witness.degenerate is not None:
        lines.append(f"    degenerate: {witness.degenerate}")
    if witness.idle:
        lines.append(f"    does not matter: {'; '.join(witness.idle)}")
    return lines
