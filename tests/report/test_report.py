"""The page and the JSON beside it."""

import dataclasses
import json
import math
import os
import re
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from lemmata.claims import Judgement, Kind, Status, Verdict
from lemmata.drawing import Drawing, style
from lemmata.report import FigureEntry, LedgerTable, write_report

NASTY = "<script>alert(\"x\" & 'y')</script>"


def verdict(status: Status = Status.FAILS, words: str = NASTY, parts: int = 2) -> Verdict:
    witness = {words: words, "samples": [words, "[a] -> b"], "pi": Fraction(1, 3), "t": math.inf}
    part = Judgement(words, status, words, math.nan, 12.0, witness)
    return Verdict(
        claim=f"paper/{words}",
        status=status,
        reason=words,
        statement=words,
        where=words,
        experiment=words,
        parts=(part,) * parts,
        margin=-math.inf,
        informative_from=12.0,
        witness=witness,
    )


@cache
def picture() -> bytes:
    """An SVG file with text, a clipped area and references."""
    with style():
        figure = Figure(figsize=(2, 1))
        axes = figure.subplots()
        axes.fill_between([0, 1], [0, 1], [1, 2])
        axes.set_title("words")
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def report(folder: Path, verdicts: list[Verdict] | None = None, words: str = NASTY) -> str:
    rows = [{"input": words, "value": np.nan}, {"input": "b", "value": 1e-7}]
    drawing = Drawing(None, words, {words: 1, "rows": rows, "exact": Fraction(13, 6)})
    (folder / "paper").mkdir(parents=True, exist_ok=True)
    figures = []
    for name in ("paper/1", "paper/2"):
        (folder / f"{name}.svg").write_bytes(picture())
        files = {"svg": f"{name}.svg"}
        figures.append(FigureEntry(name, words, drawing, files, [f"paper/{words}", "paper/none"]))
    path = write_report(
        folder,
        title=words,
        figures=figures,
        verdicts=[verdict(words=words)] if verdicts is None else verdicts,
        settings={"seed": 0, words: words},
    )
    assert path == folder / "index.html"
    return path.read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Collects what matters, and insists that tags are balanced."""

    void = frozenset({"meta", "input", "img", "path", "use", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.void:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def test_everything_is_escaped(tmp_path: Path) -> None:
    html = report(tmp_path)
    reader = read(html)
    assert reader.tags.count("script") == 1
    assert "<script>alert" not in html
    words = "".join(reader.text)
    for place in ("seed", "What supports this", "The numbers", "2 parts"):
        assert place in words
    assert words.count(NASTY) >= 15
    assert not any("alert" in name for name, _ in reader.attributes)


def test_the_page_loads_nothing_but_its_figures(tmp_path: Path) -> None:
    html = report(tmp_path, words="plain words")
    page = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"https?:|//|@import|url\((?!#)", page.replace("</", ""))
    assert not re.search(r"fetch|import|XMLHttp|https?:|innerHTML|eval", html[len(page) :])
    reader = read(html)
    assert not {"link", "iframe", "object", "embed"} & set(reader.tags)
    for name, value in reader.attributes:
        assert name not in ("srcset", "data", "background")
        if name in ("src", "href", "xlink:href") and not value.startswith("#"):
            assert (tmp_path / value).is_file()


def test_identifiers_are_unique_and_references_resolve(tmp_path: Path) -> None:
    html = report(tmp_path, words="plain words")
    attributes = read(html).attributes
    names = [value for name, value in attributes if name == "id"]
    assert len(names) == len(set(names))
    wanted = [v[1:] for n, v in attributes if n in ("href", "xlink:href") and v[0] == "#"]
    wanted += re.findall(r"url\(#([^)]*)\)", html)
    assert wanted
    assert set(wanted) <= set(names)


def test_the_ledger_says_it_all(tmp_path: Path) -> None:
    verdicts = [
        verdict(Status.VACUOUS, "first", 1),
        verdict(Status.HOLDS, "second"),
        verdict(Status.HOLDS, "third", 0),
    ]
    html = report(tmp_path, verdicts, "words")
    words = re.sub(r"\s+", " ", " ".join(read(html).text))
    assert "3 claims, each checked by computation as it is printed: 2 hold, 1 is vacuous." in words
    assert "vacuous true, but it excludes nothing" in words
    assert "would say something from t = 12 on" in words
    assert html.count("<article") == 3
    assert 'class="claim vacuous"' in html
    assert words.count("2 parts") == 1


def test_the_gravest_comes_first(tmp_path: Path) -> None:
    kinds = [Kind.MISPRINT, None, Kind.HYPOTHESIS, Kind.SUBSTANCE, Kind.CONSTANT]
    failing = [
        dataclasses.replace(verdict(words="w"), claim=f"paper/lemma-{i}", kind=kind)
        for i, kind in enumerate(kinds)
    ]
    weighty = dataclasses.replace(failing[0], claim="paper/theorem-1")
    vacuous = dataclasses.replace(verdict(Status.VACUOUS, "w"), claim="paper/theorem-2")
    html = report(tmp_path, [vacuous, *failing, weighty], "words")
    order = re.findall(r'<article id="paper/([\w-]+)"', html)
    expected = ["lemma-3", "lemma-2", "lemma-4", "theorem-1", "lemma-0", "lemma-1", "theorem-2"]
    assert order == expected
    words = re.sub(r"\s+", " ", "".join(read(html).text))
    said = "6 fail (1 in substance, 1 for want of a hypothesis, 1 in a constant, 2 by a misprint)"
    assert said in words
    gravest = html.split("What falls in substance")[1].split("</section>")[0]
    assert re.findall(r'href="#([^"]*)"', gravest) == ["paper/lemma-3"]


def test_figures_and_claims_point_to_each_other(tmp_path: Path) -> None:
    html = report(tmp_path, words="claim")
    figure = html.split("<figure")[1].split("</figure>")[0]
    assert 'href="#paper/claim"' in figure
    assert "none" not in figure
    card = html.split("<article")[1].split("</article>")[0]
    assert 'href="#figure-paper/1"' in card


def test_names_that_look_alike_have_places_of_their_own(tmp_path: Path) -> None:
    alike = [dataclasses.replace(verdict(words="w"), claim=f"paper/a{x}b") for x in "<>-"]
    names = [value for name, value in read(report(tmp_path, alike)).attributes if name == "id"]
    assert len(names) == len(set(names))


def test_json_is_valid_and_complete(tmp_path: Path) -> None:
    report(tmp_path)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = (tmp_path / "verdicts.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=refuse)
    assert list(document) == ["settings", "verdicts", "figures"]
    (found,) = document["verdicts"]
    assert found["status"] == "fails"
    assert found["margin"] is None
    assert found["witness"]["pi"] == "1/3"
    assert found["witness"]["t"] is None
    figure = document["figures"][0]
    assert figure["name"] == "paper/1"
    assert figure["files"] == {"svg": "paper/1.svg"}
    assert figure["numbers"]["exact"] == "13/6"
    assert figure["numbers"]["rows"][0]["value"] is None


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    assert report(tmp_path / "a") == report(tmp_path / "b")
    first, second = ((tmp_path / x / "verdicts.json").read_bytes() for x in "ab")
    assert first == second


def test_a_page_without_claims_or_figures(tmp_path: Path) -> None:
    path = write_report(tmp_path, title="t", figures=[], verdicts=[verdict()], settings={})
    read(path.read_text(encoding="utf-8"))
    html = report(tmp_path, [], "words")
    assert 'id="filter"' not in html
    assert "How to read this" not in html


def test_a_failed_write_keeps_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = report(tmp_path, words="old")

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path, title="new", figures=[], verdicts=[], settings={})
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["index.html", "paper", "verdicts.json"]


@pytest.mark.parametrize("width", [80, 140])
def test_terminal_table_keeps_every_word(width: int) -> None:
    words = "on [S V] -> O [red]the bound[/red] fails"
    console = Console(width=width, file=StringIO())
    console.print(LedgerTable([verdict(Status.VACUOUS, words), verdict(words="x")]))
    text = console.file.getvalue()
    squeezed = re.sub(r"\s+", "", text)
    assert "vacuous" in text
    assert "fails" in text
    assert "12" in text
    for word in words.split():
        assert word in squeezed
    assert (" reason" in text) is (width >= 100)  # a heading, where there is room for columns
