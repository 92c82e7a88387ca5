"""The ledger: what the adversary did to every claim of a paper, as data that verdicts show.

``python -m lemmata.papers ledger [PAPER...]`` attacks all claims and writes it anew; with ``new``
before the papers, only claims that have no row yet, so that a run that was stopped goes on, and
those whose row says that a short attack met few instances.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from lemmata._files import write_json
from lemmata.claims import (
    Adversary,
    Bench,
    Claim,
    Status,
    Verdict,
    evidence_for,
    instance_of,
    judge,
)
from lemmata.search import Finding, attack
from lemmata.settings import AbstractSetting

from ._paper import papers

PLACE = Path(__file__).parent / "ledgers"

SECONDS, LONG = 3.0, 60.0
"""Time for each claim; the longer one for what is known to fail (how soon is it found again?), and
for what met few instances in the shorter."""

FEW = 20
"""Instances that are no attack to speak of."""


@dataclass(frozen=True)
class Ledger:
    """What the adversary did to each claim of a paper, by name."""

    entries: Mapping[str, Adversary]


@cache
def ledger_of(paper: str) -> Ledger:
    """The ledger that ships with a paper; empty if it has none."""
    file = files("lemmata.papers") / "ledgers" / f"{paper}.json"
    if not file.is_file():
        return Ledger({})
    rows = json.loads(file.read_text())["claims"]
    return Ledger({row.pop("claim"): _entry(row) for row in rows})


def _entry(row: dict) -> Adversary:
    return Adversary(**{**row, "scopes": tuple(row["scopes"])})


def with_ledger(verdict: Verdict) -> Verdict:
    """The verdict with what the adversary did to the claim, as far as that is known."""
    known = ledger_of(verdict.claim.split("/")[0]).entries.get(verdict.claim)
    if known is None or verdict.support is None:
        return verdict
    return replace(verdict, support=replace(verdict.support, adversary=known))


def summary(finding: Finding) -> Adversary:
    """What a verdict says about an attack."""
    return Adversary(
        outcome=finding.status.value,
        reason=finding.reason,
        tried=finding.tried,
        set_aside=finding.set_aside,
        scopes=finding.scopes,
        closest=finding.closest,
        size=None if finding.witness is None else list(finding.witness.size),
        certified=finding.certified,
        seconds=round(finding.seconds, 1),
    )


def write_ledger(
    names: Sequence[str], *, anew: bool = True, tell: Callable[[str], None] = lambda line: None
) -> None:
    """Attack every claim of these papers, or what was not attacked yet, and keep what came out."""
    for name in names:
        paper = papers()[name]
        known = {} if anew else dict(ledger_of(name).entries)
        for claim in paper.claims:
            if claim.name not in known or is_thin(known[claim.name]):
                found = _attacked(claim, paper.setting)
                known[claim.name] = found
                tell(f"{claim.name}: {found.outcome}, {found.tried:,} tried in {found.seconds} s")
            ordered = [claim.name for claim in paper.claims if claim.name in known]
            rows = [{"claim": name, **asdict(known[name])} for name in ordered]
            write_json(PLACE / f"{name}.json", {"claims": rows})


def _attacked(claim: Claim, setting: AbstractSetting[Any]) -> Adversary:
    """What comes of attacking a claim, and how large the witness by hand is."""
    found = summary(attack(claim, setting, budget=SECONDS if claim.kind is None else LONG))
    if is_thin(found):
        found = summary(attack(claim, setting, budget=LONG))
    return replace(found, by_hand=size_by_hand(claim, setting))


def is_thin(row: Adversary) -> bool:
    """Whether a claim was not broken only because few instances fit into a short attack."""
    searched = row.size is None and row.outcome != "not searchable"
    return searched and row.tried < FEW and row.seconds < LONG / 2


def size_by_hand(claim: Claim, setting: AbstractSetting[Any]) -> list[float | int] | None:
    """The size of the hand-made counterexample, as the adversary measures it; None without one."""
    if claim.counterexample is None or setting.space is None:
        return None
    bench = Bench()
    evidence = evidence_for(claim, bench)[1]
    for comparison in claim.counter(bench):
        judgement, cases = judge(comparison, evidence), comparison.cases or evidence.cases
        if judgement.status is Status.FAILS and judgement.case is not None:
            instance = instance_of(cases[judgement.case])
            if isinstance(instance, setting.instance_type):
                return list(setting.space.size(instance))
    return None
