"""Every code block of README and docs runs, and prints what the page says."""

from pathlib import Path

import pytest
from oracles.pages import blocks, compare, run_page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_expected_output_may_leave_lines_out() -> None:
    compare("a\n...\nd", "a\nb\nc\nd\n", "here")
    compare("a   b", "a b", "here")
    for wrong in ("a\n...\ne", "b\n...\nd", "a\nd"):
        with pytest.raises(AssertionError):
            compare(wrong, "a\nb\nc\nd\n", "here")


def test_a_block_must_say_what_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\nsomething\n```\n")
    assert [block.kind for block in blocks(page)] == [""]
    with pytest.raises(AssertionError, match="of kind ''"):
        run_page(page)
