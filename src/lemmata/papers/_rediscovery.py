"""The page about failing statements that the adversary found again, made from the ledgers."""

from lemmata.claims import Adversary, Claim, Kind

from ._ledger import LONG, ledger_of
from ._paper import papers

INTRODUCTION = f"""# Rediscovery

Failing statements whose kind is a constant, a hypothesis or the substance. The adversary was given
the statement alone, without the counterexample that we made by hand, and {LONG:g} s for each.
Sizes are those of [the space of the setting](falsify.md): the number of samples, tokens and so on.
A figure, or an average over tasks, is nothing that an instance can break.
`python -m lemmata.papers rediscovery` writes this page from the ledgers.

| statement | kind | by hand | by machine | outcome | seconds |
| --- | --- | --- | --- | --- | --- |
"""


def rediscovery() -> str:
    """The page as Markdown."""
    rows, counts = [], []
    for name, paper in papers().items():
        entries = ledger_of(name).entries
        failing = [
            (claim, entries[claim.name])
            for claim in paper.claims
            if claim.kind not in (None, Kind.MISPRINT) and claim.name in entries
        ]
        rows += [_row(claim, entry) for claim, entry in failing]
        breakable = [entry for _, entry in failing if entry.outcome != "not searchable"]
        if breakable:
            again = sum(entry.certified for entry in breakable)
            counts.append(f"{name} {again} of {len(breakable)}")
    table = "\n".join(rows)
    return f"{INTRODUCTION}{table}\n\nFound again with a proof: {', '.join(counts)}.\n"


def _row(claim: Claim, entry: Adversary) -> str:
    by_hand, by_machine = (
        "-" if size is None else ", ".join(f"{number:g}" for number in size)
        for size in (entry.by_hand, entry.size)
    )
    assert claim.kind is not None
    outcome = "proved" if entry.certified else entry.outcome
    cells = (claim.name, claim.kind.value, by_hand, by_machine, outcome, f"{entry.seconds:g}")
    return f"| {' | '.join(cells)} |"
