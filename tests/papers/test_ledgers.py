"""The ledgers that ship with the package agree with the claims."""

from pathlib import Path

import pytest

import lemmata as lm
from lemmata.claims import Adversary
from lemmata.papers import ledger_of
from lemmata.papers._ledger import is_thin, size_by_hand
from lemmata.papers._rediscovery import rediscovery

DOCS = Path(__file__).parents[2] / "docs"

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


def test_the_page_about_rediscovery_is_that_of_the_ledgers() -> None:
    """`python -m lemmata.papers rediscovery` prints it."""
    assert (DOCS / "rediscovery.md").read_text(encoding="utf-8") == rediscovery()


def test_the_size_of_a_counterexample_by_hand() -> None:
    """That of Proposition 4 has three sentences over a, b and c."""
    paper = lm.papers["convergence"]
    size = size_by_hand(paper.claims["proposition-4"], paper.setting)
    assert size is not None
    assert size[1] == 3
    assert size_by_hand(paper.claims["lemma-1"], paper.setting) is None


@pytest.mark.parametrize(
    ("outcome", "tried", "size", "seconds", "thin"),
    [
        ("survived", 4, None, 3.2, True),
        ("undecided", 0, None, 7.2, True),  # nothing met its hypotheses in time
        ("survived", 20, None, 3.2, False),
        ("survived", 4, None, 60.1, False),
        ("undecided", 4, [2, 2], 3.0, False),  # broken without a proof
        ("not searchable", 0, None, 0.0, False),
    ],
)
def test_a_short_attack_on_few_instances_is_thin(
    outcome: str, tried: int, size: list | None, seconds: float, thin: bool
) -> None:
    row = Adversary(outcome, "", tried, 0, (), None, size, False, seconds)
    assert is_thin(row) is thin


@pytest.mark.parametrize("paper", PAPERS)
def test_few_instances_are_no_attack_unless_there_was_time(paper: str) -> None:
    assert not [name for name, row in ledger_of(paper).entries.items() if is_thin(row)]
