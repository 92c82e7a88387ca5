"""The page in a browser: everything a person does with it, with no network but this machine."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="the page in a browser: get Chromium with apt-get install chromium"
)

FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))
PATIENCE = 120_000
"""Milliseconds, on a machine that is busy with other tests."""

PROGRAM = "from lemmata.cli import main; main()"
"""The command, whatever is installed."""

TEXT = "a b c a\nb a c b\nb c b"
OTHER = TEXT.replace("a", "p").replace("b", "q").replace("c", "r")
TWENTY = "\n".join(f"w{i} w{(i * 7 + 1) % 20} w{i % 3} w{i}" for i in range(20))


class Server:
    """``lemmata play`` as a user starts it."""

    def __init__(self, home: Path):
        self.home = home
        self.port = 0
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        """The same port as before, if there was one."""
        words = ["play", "--no-browser", "--port", str(self.port)]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.home / "cache")}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=self.home,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\w+/", line)
        assert found, line
        self.address, self.port = found[0], int(found[1])
        return process

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("home"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1300, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def open_page(context: BrowserContext, server: Server) -> Iterator[Callable[..., Page]]:
    """Opens pages; none of them may complain, or ask anybody else for anything."""
    complaints: list[str] = []

    def opened(fragment: str = "") -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.add(request.url.split("/")[2]))
        page.goto(f"{server.address}{fragment}")
        return page

    asked: set[str] = set()
    yield opened
    assert not complaints
    assert {name for name in asked if name} <= {f"127.0.0.1:{server.port}"}


def trained(page: Page) -> None:
    """Train, and wait until the last frame is shown."""
    page.click("#train")
    shown(page)


def shown(page: Page) -> None:
    page.bring_to_front()  # a browser hardly moves what is behind
    expect(page.locator("#copy-command")).to_be_enabled(timeout=PATIENCE)
    expect(page.locator("#pause")).to_have_text("Play", timeout=PATIENCE)


def held(page: Page, kind: str) -> Any:
    """What a button lets one save."""
    with page.expect_download() as download:
        page.click(kind)
    return json.loads(Path(download.value.path()).read_text())


def test_type_train_scrub_step_and_take_away(
    open_page: Callable[..., Page], server: Server, tmp_path: Path
) -> None:
    page = open_page()
    expect(page.locator("svg.graph")).to_have_count(2, timeout=PATIENCE)
    page.fill("#text", TEXT)
    expect(page.locator("svg.graph")).to_have_count(1)
    expect(page.locator("svg.graph")).to_have_attribute(
        "aria-label", re.compile("After c: .*a beats b")
    )
    expect(page.locator("#orders")).to_contain_text("norm² = 2/3")
    expect(page.locator("#problems")).to_contain_text("last token c")

    page.fill("#text", TWENTY)
    expect(page.locator("svg.graph")).to_have_count(3)
    page.fill("#text", TWENTY.replace("w19", "w20"))
    expect(page.locator("#orders")).to_contain_text("w20")

    page.fill("#text", "alone")
    expect(page.locator("#refused")).to_contain_text("play.txt: ")
    page.fill("#text", TEXT)
    expect(page.locator("#refused")).to_be_hidden()

    page.click("#options-fold > summary")
    page.select_option("#option-algorithm", "gd")
    page.fill("#option-steps", "500")
    page.locator("#option-steps").blur()
    trained(page)
    expect(page.locator("#moment")).to_have_text("t = 500")
    expect(page.locator("#rule")).to_contain_text("gradient descent on W: 500 steps")
    assert page.locator(".curve").count() >= 4

    chip = page.locator(".chip small").first
    late = chip.inner_text()
    page.locator("#scrub").fill("0")
    expect(page.locator("#moment")).to_have_text("t = 0")
    assert chip.inner_text() != late
    assert chip.inner_text() == "33"  # nothing is learnt yet: three words, a third each
    page.click("#step")
    expect(page.locator("#moment")).to_have_text("t = 1")
    page.locator("#scrub").fill("30")
    step = int(page.locator("#moment").inner_text().removeprefix("t = "))
    page.click("#step")  # not recorded, until it is asked for
    expect(page.locator("#moment")).to_have_text(f"t = {step + 1}", timeout=PATIENCE)
    expect(page.locator("#copy-command")).to_be_enabled(timeout=PATIENCE)
    page.click("#back")
    expect(page.locator("#moment")).to_have_text("t = 0")

    page.click("#copy-command")
    expect(page.locator("#taken")).to_contain_text("copied")
    command = page.evaluate("navigator.clipboard.readText()")
    numbers = held(page, "#save-json")
    assert step + 1 in numbers["instances"][0]["steps"]
    program = (
        f'lemmata() {{ "{sys.executable}" -c "from lemmata.cli import main; main()" "$@"; }}\n'
    )
    subprocess.run(["sh", "-c", program + command], cwd=tmp_path, check=True, capture_output=True)
    assert json.loads((tmp_path / "lemmata-out/train/play.json").read_text()) == numbers

    with page.expect_download() as download:
        page.click("#save-svg")
    picture = Path(download.value.path()).read_text()
    assert picture.startswith("<svg")
    assert picture.count("<svg ") > 4


def test_a_link_holds_everything_and_a_reload_finds_the_run(
    open_page: Callable[..., Page], context: BrowserContext, server: Server
) -> None:
    page = open_page()
    expect(page.locator("svg.graph").first).to_be_visible(timeout=PATIENCE)
    page.fill("#text", "x y z x\ny x z y\ny z y")
    page.click("#options-fold > summary")
    page.fill("#option-steps", "300")
    page.locator("#option-steps").blur()
    trained(page)
    page.locator("#scrub").fill("5")
    moment = page.locator("#moment").inner_text()
    page.reload()  # the server still has the run
    expect(page.locator("#moment")).to_have_text(moment, timeout=PATIENCE)
    expect(page.locator("#text")).to_have_value("x y z x\ny x z y\ny z y")
    other = open_page(page.url.replace(server.address, ""))  # another tab computes it again
    expect(other.locator("#moment")).to_have_text(moment, timeout=PATIENCE)
    assert held(page, "#save-json") == held(other, "#save-json")
    page.click("#train")
    page.reload()  # in the middle
    expect(page.locator("#copy-command")).to_be_enabled(timeout=PATIENCE)


def test_two_tabs_and_a_server_that_is_killed(
    open_page: Callable[..., Page], server: Server
) -> None:
    first, second = open_page(), open_page()
    for page, text in ((first, TEXT), (second, OTHER)):
        expect(page.locator("svg.graph").first).to_be_visible(timeout=PATIENCE)
        page.fill("#text", text)
        page.click("#options-fold > summary")
        page.fill("#option-steps", "200")
        page.locator("#option-steps").blur()
    first.click("#train")
    second.click("#train")
    shown(first)
    shown(second)
    expect(first.locator("#pictures")).to_contain_text("should select a")
    expect(second.locator("#pictures")).to_contain_text("should select p")
    assert "should select p" not in first.locator("#pictures").inner_text()
    before = held(first, "#save-json")

    server.kill()
    expect(first.locator("#banner")).to_be_visible()
    expect(first.locator("#banner")).to_contain_text("does not answer")
    server.process = server.start()
    for page in (first, second):
        expect(page.locator("#banner")).to_be_hidden(timeout=PATIENCE)
    first.fill("#text", "a b a\nb c b")
    expect(first.locator("svg.graph")).to_have_count(2, timeout=PATIENCE)
    first.fill("#text", TEXT)
    expect(first.locator("svg.graph")).to_have_count(1, timeout=PATIENCE)
    first.click("#train")
    shown(first)
    assert held(first, "#save-json") == before


def test_attack_a_claim_and_load_what_breaks_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator("svg.graph").first).to_be_visible(timeout=PATIENCE)
    page.select_option("#claim", "mechanics/equation-19")
    page.click("#assault")
    page.click("#load-witness", timeout=PATIENCE)
    expect(page.locator("#finding")).to_contain_text("Broken")
    expect(page.locator("#claim-says")).to_contain_text("known to fail as printed: a sign")
    assert json.loads(page.input_value("#text"))
    expect(page.locator("#refused")).to_be_hidden()
    expect(page.locator("#orders .facts")).to_be_visible()


def test_programs_and_verdicts_come_before_they_are_asked_for(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    expect(page.locator("#ready")).to_contain_text("ready", timeout=PATIENCE)
    page.fill("#text", TEXT.replace("a", "left"))
    expect(page.locator("#ready")).not_to_contain_text("ready")
    expect(page.locator("#statements")).not_to_contain_text("on this data")  # it was on other data
    expect(page.locator("#ready")).to_contain_text("ready", timeout=PATIENCE)
    expect(page.locator("#statements")).to_contain_text("on this data", timeout=PATIENCE)
    expect(page.locator("#statements")).to_contain_text("takes training to check")
    assert not page.locator("#copy-command").is_enabled()

    page.fill("#text", TEXT)
    page.fill("#text", TEXT.replace("a", "left"))  # a word and back: nothing has changed
    expect(page.locator("#ready")).to_contain_text("ready", timeout=PATIENCE)
    expect(page.locator("#statements")).to_contain_text("on this data", timeout=PATIENCE)


def saved_pictures(page: Page) -> list[str]:
    """The names of all pictures that can be saved; each is a document of its own."""
    found = []
    for button in page.locator("button.save").all():
        with page.expect_download() as download:
            button.click()
        root = ElementTree.parse(download.value.path()).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter())) > 5
        assert float(root.attrib["width"]) > 20
        found.append(download.value.suggested_filename)
    return found


def axe_finds_nothing(page: Page, width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true })")
    expect(page.locator("html")).to_have_js_property("scrollWidth", width)
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 10
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []


@pytest.mark.parametrize(
    ("setting", "moved", "pictures"),
    [
        ("mechanics", None, 3),
        ("convergence", None, 4),
        ("selection", "eta", 3),
        ("context", "tau", 3),
    ],
)
def test_every_setting_is_trained_saved_and_open_to_all(
    open_page: Callable[..., Page], setting: str, moved: str | None, pictures: int
) -> None:
    page = open_page()
    expect(page.locator("svg.graph").first).to_be_visible(timeout=PATIENCE)
    page.select_option("#setting", setting)
    if moved is not None:
        slider = page.locator(f"#slider-{moved}")
        expect(slider).to_be_visible(timeout=PATIENCE)
        before = json.loads(page.input_value("#text"))[moved]
        slider.fill("900")
        assert json.loads(page.input_value("#text"))[moved] != before
        ranges = page.locator("#sliders .ranges .outside, #sliders .ranges .inside")
        expect(ranges.first).to_be_visible()
    page.click("#options-fold > summary")
    page.fill("#option-steps", "40")
    page.locator("#option-steps").blur()
    trained(page)
    assert page.locator("figure.chart").count() >= (0 if moved is None else 2)
    assert page.locator("table.heat").count() >= 1
    assert page.locator("#statements math").count() > 2
    assert "$" not in page.locator("main").inner_text()
    cites = page.get_by_text("are equations of the paper").count()
    assert cites == (setting == "context")  # O(4) in another is no equation
    names = saved_pictures(page)
    assert len(names) == pictures
    assert all(name.endswith(".svg") for name in names)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    axe_finds_nothing(page, 1280, "light")
    axe_finds_nothing(page, 390, "dark")
