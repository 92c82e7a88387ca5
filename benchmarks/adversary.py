"""The adversary put to the test: ``python -m benchmarks.adversary lemmas|rediscovery [PAPER...]``.

``lemmas`` attacks those of ``conjectures``: the false ones must break, with a proof, and the true
ones must survive. ``rediscovery`` takes every failing statement of a paper, forgets its hand-made
counterexample, and looks for one from the statement alone.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lemmata as lm
from lemmata._verbs import find_claims, setting_of
from lemmata.claims import Claim, Kind
from lemmata.search import Finding, attack, read_back

SECONDS = {"false": 60.0, "true": 20.0, "rediscovery": 120.0}
"""For a lemma that is false, one that is true, and a failing statement."""

PAPERS = ("mechanics", "convergence", "selection", "context")


def lemmas(papers: Iterable[str]) -> None:
    """A line a lemma, and a last one with the counts."""
    wrong = 0
    for paper in papers:
        for claim in find_claims(Path(__file__).parent / "conjectures" / f"{paper}.py"):
            name = claim.name.split("/")[-1]
            budget = SECONDS["false" if name.startswith("false") else "true"]
            finding = attack(claim, setting_of(claim), budget=budget)
            good = finding.certified if name.startswith("false") else finding.witness is None
            wrong += not good
            show(paper, name, finding, "" if good else "WRONG")
    print(f"{wrong} wrong")


def rediscovery(papers: Iterable[str]) -> None:
    """Sizes of the witness by hand and by machine."""
    for paper in papers:
        for verdict in lm.check(paper).having("fails"):
            if verdict.kind is Kind.MISPRINT:
                continue
            (claim,) = find_claims(verdict.claim)
            finding = attack(claim, setting_of(claim), budget=SECONDS["rediscovery"])
            show(paper, verdict.claim, finding, f"by hand {_size(claim, verdict.instance)}")


def _size(claim: Claim, document: dict[str, Any] | None) -> Any:
    """The size of the instance in a verdict, as the adversary measures it."""
    space = setting_of(claim).space
    if document is None or space is None:
        return "-"
    return space.size(read_back(setting_of(claim), Document(document)))


class Document:
    """An instance of which only the document is known."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.held = document

    def document(self) -> dict[str, Any]:
        return self.held


def show(paper: str, name: str, finding: Finding, note: str) -> None:
    size = "-" if finding.witness is None else finding.witness.size
    proved = "proved" if finding.certified else ""
    print(
        f"{paper} | {name} | {finding.status.value} {proved} | {size} | {note} | "
        f"{finding.seconds:.1f} s | {finding.tried:,}",
        flush=True,
    )


if __name__ == "__main__":
    what, chosen = sys.argv[1], sys.argv[2:] or PAPERS
    {"lemmas": lemmas, "rediscovery": rediscovery}[what](chosen)
