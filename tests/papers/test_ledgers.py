"""The ledgers that ship with the package agree with the claims."""

import pytest

import lemmata as lm
from lemmata.papers import ledger_of

PAPERS = ("mechanics", "convergence", "selection", "context")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_was_attacked(paper: str) -> None:
    names = {claim.name for claim in lm.papers[paper].claims}
    assert set(ledger_of(paper).entries) == names


@pytest.mark.parametrize("paper", PAPERS)
def test_what_the_adversary_broke_is_known_to_fail(paper: str) -> None:
    entries = ledger_of(paper).entries
    news = [
        claim.name
        for claim in lm.papers[paper].claims
        if entries[claim.name].outcome == "fails" and claim.kind is None
    ]
    assert not news


@pytest.mark.parametrize("paper", PAPERS)
def test_a_claim_that_no_instance_breaks_says_why(paper: str) -> None:
    for name, entry in ledger_of(paper).entries.items():
        if entry.outcome == "not searchable":
            assert entry.reason, name
            assert entry.tried == 0, name
