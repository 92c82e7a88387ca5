"""The adversary put to the test: ``python -m benchmarks.adversary [PAPER...]``.

It attacks the lemmas of ``conjectures``: the false ones must break, with a proof, and the true ones
must survive. How it finds failing statements again, the ledgers say (docs/rediscovery.md).
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from lemmata._verbs import find_claims, setting_of
from lemmata.search import Finding, attack

SECONDS = {"false": 60.0, "true": 20.0}
"""For a lemma that is false, and for one that is true."""

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


def show(paper: str, name: str, finding: Finding, note: str) -> None:
    size = "-" if finding.witness is None else finding.witness.size
    proved = "proved" if finding.certified else ""
    print(
        f"{paper} | {name} | {finding.status.value} {proved} | {size} | {note} | "
        f"{finding.seconds:.1f} s | {finding.tried:,}",
        flush=True,
    )


if __name__ == "__main__":
    lemmas(sys.argv[1:] or PAPERS)
