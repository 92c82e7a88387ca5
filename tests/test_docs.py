"""The documentation speaks of every claim and figure, and of what the command line offers."""

import re
from pathlib import Path

import pytest

from lemmata.papers import papers

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("paper", papers())
def test_every_claim_has_its_row(paper: str):
    page = (DOCS / f"{paper}.md").read_text()
    names = [claim.name.removeprefix(f"{paper}/") for claim in papers()[paper].claims]
    assert [name for name in names if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("paper", papers())
def test_no_row_speaks_of_a_claim_that_is_gone(paper: str):
    page = (DOCS / f"{paper}.md").read_text()
    rows = page.split("<!-- claims: from the registry -->")[1].split("<!-- end of claims -->")[0]
    names = {claim.name.removeprefix(f"{paper}/") for claim in papers()[paper].claims}
    found = (re.search(r"\| `([^`]+)` \|", row) for row in rows.splitlines())
    listed = {match[1] for match in found if match}
    assert listed == names


def test_the_index_links_every_page():
    index = (DOCS / "index.md").read_text()
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in index} == set()


def test_the_mechanics_page_names_every_algorithm_and_loss():
    options = {option.name: option for option in papers()["mechanics"].setting.options}
    page = (DOCS / "mechanics.md").read_text()
    names = (*options["algorithm"].choices, *options["loss"].choices)
    assert names
    assert [name for name in names if f"| `{name}` |" not in page] == []
