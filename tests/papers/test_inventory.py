"""What the papers say, held against what there is to cover it."""

import json
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from lemmata._inventory import KINDS, Item, inventory_of, summary
from lemmata.cli import main
from lemmata.papers import papers
from lemmata.papers._coverage import coverage

KEYS = ("context", "convergence", "mechanics", "selection")


def items_of(key: str) -> list[Item]:
    items = inventory_of(key)
    assert items is not None
    return items


@pytest.mark.parametrize("key", KEYS)
def test_every_item_is_told_apart_and_covered_or_said_to_be_missing(key: str) -> None:
    items = items_of(key)
    names = [item.item for item in items]
    assert len(set(names)) == len(names)
    assert {item.kind for item in items} <= set(KINDS)
    assert all(item.covered is not bool(item.missing) for item in items)
    assert all(item.about and item.where for item in items)


@pytest.mark.parametrize("key", KEYS)
def test_what_covers_an_item_exists(key: str) -> None:
    paper = papers()[key]
    claims = {claim.name.removeprefix(f"{key}/") for claim in paper.claims}
    figures = {figure.name.removeprefix(f"{key}/") for figure in paper.figures}
    for item in items_of(key):
        assert set(item.claims) <= claims, item.item
        assert set(item.figures) <= figures, item.item
        for name in item.code:
            room, rest = name.split(".", 1)
            attrgetter(rest)(import_module(f"lemmata.papers.{key}.{room}"))


@pytest.mark.parametrize("key", KEYS)
def test_every_claim_of_a_paper_covers_an_item(key: str) -> None:
    """But for our own findings; a version counts with the statement."""
    covering = {name.split("/")[0] for item in items_of(key) for name in item.claims}
    claims = {claim.name.removeprefix(f"{key}/").split("/")[0] for claim in papers()[key].claims}
    assert claims - {"own"} <= covering


def test_the_counts_add_up() -> None:
    items = [
        Item("Lemma 1", "lemma", "3", "a", claims=["lemma-1"]),
        Item("Lemma 2", "lemma", "3", "b", missing="its rate"),
        Item("Section 1", "text", "1", "c", because="an opinion"),
    ]
    assert summary(items) == [("lemma", 2, 1), ("text", 1, 1)]
    assert [item.by for item in items] == [
        "lemma-1",
        "missing: its rate",
        "cannot be checked: an opinion",
    ]


def test_coverage_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "mechanics", "--coverage"])
    lines = capsys.readouterr().out.splitlines()
    items = items_of("mechanics")
    assert len(lines) == 1 + len(items)
    assert lines[0].startswith(f"mechanics: {sum(i.covered for i in items)} of {len(items)} items")
    main(["list", "--coverage", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert [paper["key"] for paper in document["papers"]] == list(KEYS)
    assert document["papers"][2]["items"] == [item.document() for item in items]


def test_nothing_is_missing_and_the_page_says_so() -> None:
    """`python -m lemmata.papers coverage` prints docs/coverage.md."""
    for key in papers():
        assert [item.item for item in inventory_of(key) or [] if item.missing] == []
    page = Path(__file__).parents[2] / "docs" / "coverage.md"
    assert page.read_text(encoding="utf-8") == coverage()
