"""The pages in a browser: filters, links, narrow screens, dark mode, and axe's rules.

Left out where Chromium, Playwright or axe is missing: ``apt-get install chromium`` and
``pip install playwright axe-playwright-python`` bring them.
"""

import dataclasses
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from oracles.terminal import run

from lemmata.claims import Adversary, Judgement, Kind, Status, Support, Tightness, Verdict
from lemmata.drawing import Drawing
from lemmata.report import FigureEntry, save_drawing, write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe_package = pytest.importorskip("axe_playwright_python", reason="axe is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed", allow_module_level=True)

AXE = next(Path(axe_package.__file__).parent.rglob("axe.min.js"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NASTY = "<script>alert('x')</script>"

SENTENCES = f"""
salt pepper please salt
pepper salt please pepper
bread thanks bread
bread pepper thanks bread
{NASTY.replace(" ", "")} & {"x" * 90} please salt
""".strip()


def verdict(name: str, status: Status, kind: Kind | None = None, words: str = NASTY) -> Verdict:
    witness = {"t": 30, "samples": [words, "[a] -> b"]}
    tightness = Tightness(2.0, 1.0, words, 3.0) if status is Status.HOLDS else None
    adversary = Adversary("survived", words, 12, 0, ("K <= 3",), 0.1, None, False, 1.0)
    return Verdict(
        claim=name,
        status=status,
        reason=words,
        statement=f"{words}: ‖W_kq(t)‖ ≥ tη/(2L‖W_kq*‖) − ‖W_kq(0)‖ for {name}",
        where="Section 1",
        experiment=words,
        parts=(Judgement(words, status, words, 0.5, 12.0, witness),) * 2,
        margin=0.5,
        informative_from=12.0,
        witness=witness,
        tightness=tightness,
        kind=kind,
        support=Support(3, 1, 100.0, 0, adversary),
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report, an analysis and a training, all with hostile words."""
    folder = tmp_path_factory.mktemp("pages")
    picture = Figure(figsize=(6, 3))
    picture.subplots().plot([0, 1], [0, 1])
    drawing = Drawing(picture, NASTY, {"rows": [{"a": 1, "b": NASTY}], "n": 2})
    files = save_drawing(drawing, folder, "first/1")
    figure = FigureEntry("first/1", NASTY, drawing, files, ["first/theorem-1"])
    verdicts = [
        verdict("first/theorem-1", Status.FAILS, Kind.SUBSTANCE),
        verdict("first/lemma-1", Status.FAILS, Kind.MISPRINT),
        verdict("first/lemma-2", Status.HOLDS),
        verdict("second/theorem-1", Status.VACUOUS),
        dataclasses.replace(verdict("second/lemma-7", Status.HOLDS), statement="plain words"),
    ]
    report = write_report(
        folder,
        title=NASTY,
        figures=[figure],
        verdicts=verdicts,
        settings={"seed": 0},
        papers={"first": f"A paper {NASTY}"},
    )
    sentences = folder / "sentences.txt"
    sentences.write_text(SENTENCES)
    run("analyze", sentences, "--out", folder)
    run("train", sentences, "--steps", "20", "--out", folder)
    plan = folder / "plan.json"
    plan.write_text('{"N": 4, "K": 6, "d": 5, "m": 3, "tau": 0.1, "H": 8}')
    run("analyze", plan, "--setting", "context", "--out", folder / "plan")
    return {
        "report": report,
        "analyze": folder / "analyze" / "index.html",
        "train": folder / "train" / "sentences.html",
        "plan": folder / "plan" / "analyze" / "index.html",
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def show(browser: Any, path: Path, width: int = 1100, scheme: str = "light", **options: Any) -> Any:
    """The page from disk, without network; whatever it complains about fails the test."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, **options
    )
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("console", lambda said: said.type == "error" and tab.complaints.append(said.text))
    tab.on("dialog", lambda dialog: tab.complaints.append(dialog.message))
    tab.goto(path.as_uri())
    return tab


@pytest.mark.parametrize("name", ["report", "analyze", "train", "plan"])
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (360, "dark")])
def test_axe_finds_nothing(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    tab = show(browser, pages[name], width, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true })")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    found = tab.evaluate("axe.run()")
    assert len(found["passes"]) > 10
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
    assert tab.complaints == []


def test_on_a_phone_no_word_is_cut_and_sentences_have_room(
    browser: Any, pages: dict[str, Path]
) -> None:
    tab = show(browser, pages["analyze"], 360)
    tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true })")
    tall = "all => all.filter((one) => one.offsetHeight > 30).map((one) => one.innerText)"
    assert tab.locator(".wide .token").count() > 20
    assert tab.locator(".wide .token").evaluate_all(tall) == []
    narrow = "all => all.filter((one) => one.offsetWidth < 180).map((one) => one.innerText)"
    assert tab.locator("td.prose").count() > 5
    assert tab.locator("td.prose").evaluate_all(narrow) == []


def seen(tab: Any) -> list[str]:
    cards = tab.query_selector_all(".claim")
    return [card.get_attribute("id") for card in cards if card.is_visible()]


def test_search_and_filters(browser: Any, pages: dict[str, Path]) -> None:
    tab = show(browser, pages["report"])
    said = partial(tab.inner_text, "#filter output")
    assert said() == "5 of 5 claims"
    assert seen(tab) == ["first/theorem-1", "first/lemma-1", "second/theorem-1"]
    tab.select_option("select[name=status]", "holds")
    assert seen(tab) == ["first/lemma-2", "second/lemma-7"]
    tab.select_option("select[name=paper]", "second")
    assert seen(tab) == ["second/lemma-7"]
    assert said() == "1 of 5 claims"
    tab.select_option("select[name=paper]", "")
    tab.select_option("select[name=status]", "")
    tab.select_option("select[name=kind]", "misprint")
    assert seen(tab) == ["first/lemma-1"]
    tab.select_option("select[name=kind]", "")
    tab.fill("input[name=words]", "w_kq LEMMA-2")
    assert seen(tab) == ["first/lemma-2"]
    tab.fill("input[name=words]", "no such words")
    assert seen(tab) == []
    tab.fill("input[name=words]", "")
    assert seen(tab) == ["first/theorem-1", "first/lemma-1", "second/theorem-1"]


def test_a_link_shows_what_it_points_to(browser: Any, pages: dict[str, Path]) -> None:
    tab = show(browser, pages["report"])
    tab.fill("input[name=words]", "theorem")
    tab.evaluate("location.hash = 'second/lemma-7'")
    tab.wait_for_selector("[id='second/lemma-7']", state="visible")
    assert tab.input_value("input[name=words]") == ""
    tab.goto(f"{pages['report'].as_uri()}#first/lemma-2")
    tab.reload()
    assert tab.is_visible("[id='first/lemma-2']")
    ends = "[...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.getAttribute('href'))"
    for end in tab.evaluate(ends):
        assert tab.evaluate("(end) => !!document.getElementById(end.slice(1))", end), end


def test_without_script_everything_is_there(browser: Any, pages: dict[str, Path]) -> None:
    tab = show(browser, pages["report"], java_script_enabled=False)
    assert not tab.is_visible("#filter")
    assert len(tab.query_selector_all(".claim")) == 5
    tab.click("#paper-first-holds > summary")
    assert tab.is_visible("[id='first/lemma-2']")


def test_figures_are_seen_in_the_dark(browser: Any, pages: dict[str, Path]) -> None:
    tab = show(browser, pages["report"], scheme="dark")
    tab.locator("figure img").scroll_into_view_if_needed()
    tab.wait_for_function("document.querySelector('figure img').naturalWidth > 0")
    ground = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    assert tab.evaluate(ground.format("figure img")) == "rgb(255, 255, 255)"
    assert tab.evaluate(ground.format("body")) != "rgb(255, 255, 255)"


def test_print_shows_every_claim_and_no_controls(browser: Any, pages: dict[str, Path]) -> None:
    tab = show(browser, pages["report"], scheme="dark")
    tab.emulate_media(media="print")
    assert not tab.is_visible("#filter")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert "lemma-2" in tab.inner_text("#paper-first-holds")


def test_print_shades_attention_and_leaves_out_what_is_folded(
    browser: Any, pages: dict[str, Path]
) -> None:
    tab = show(browser, pages["train"], scheme="dark")
    tab.emulate_media(media="print")
    adjust = "getComputedStyle(document.querySelector('.token')).printColorAdjust"
    assert tab.evaluate(adjust) == "exact"
    assert not tab.get_by_text("The numbers").is_visible()
