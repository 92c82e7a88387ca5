"""The page of a whole run: what stands and what falls in each paper, its figures, its claims."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics
from lemmata.claims import Verdict

from ._claims_page import KINDS, STATUSES, Anchors, groups
from ._document import badge, document
from ._overview import FigureEntry, PaperEntry, anchor, gravest, lead, legend, overview
from ._pieces import folded, separated
from ._values import line, show


def page(
    title: str,
    figures: Sequence[FigureEntry],
    verdicts: Sequence[Verdict],
    settings: Mapping[str, Any],
    papers: Mapping[str, str],
) -> str:
    """The whole document; ``papers`` are their titles by the first word of names."""
    anchors = _anchors(verdict.claim for verdict in verdicts)
    listed = _by_paper(figures, verdicts, papers)
    return document(
        title,
        element(
            "header",
            element("h1", title),
            element("p", lead(verdicts, listed), class_="lead") if verdicts else None,
            element("p", line(settings), class_="settings") if settings else None,
        ),
        overview(listed),
        gravest(verdicts, anchors),
        legend() if verdicts else None,
        _filters(listed) if verdicts else None,
        *[_paper(paper, anchors) for paper in listed],
        script="report.js",
    )


def _by_paper(
    figures: Iterable[FigureEntry], verdicts: Iterable[Verdict], titles: Mapping[str, str]
) -> list[PaperEntry]:
    """Claims and figures under the first word of their names, in order of appearance."""
    papers: dict[str, PaperEntry] = {}

    def of(name: str) -> PaperEntry:
        key = name.partition("/")[0]
        return papers.setdefault(key, PaperEntry(key, titles.get(key, key)))

    for verdict in verdicts:
        of(verdict.claim).verdicts.append(verdict)
    for figure in figures:
        of(figure.name).figures.append(figure)
    return list(papers.values())


def _anchors(names: Iterable[str]) -> dict[str, str]:
    """Identifiers that no two claims share."""
    taken: Counter[str] = Counter()
    anchors: dict[str, str] = {}
    for name in names:
        plain = anchor(name)
        taken[plain] += 1
        anchors[name] = plain if taken[plain] == 1 else f"{plain}--{taken[plain]}"
    return anchors


def _filters(papers: Sequence[PaperEntry]) -> Markup:
    """Search and choices over all claims; a page without script has no use for them."""
    choices = {
        "paper": [paper.key for paper in papers if paper.verdicts],
        "status": [status.value for status in STATUSES],
        "kind": [kind.value for kind in KINDS],
    }
    selects = [
        element(
            "label",
            name,
            element(
                "select",
                element("option", "all", value=""),
                *[element("option", value, value=value) for value in values],
                name=name,
            ),
        )
        for name, values in choices.items()
    ]
    return element(
        "form",
        element(
            "label",
            "search",
            element("input", type="search", name="words"),
        ),
        *selects,
        element("output", name="count", aria_live="polite"),
        id="filter",
        role="search",
        aria_label="claims",
        hidden=True,
    )


def _paper(paper: PaperEntry, anchors: Anchors) -> Markup:
    """Its claims, those with a figure beside it, then its figures at full length."""
    pictures: dict[str, list[Markup]] = {}
    for figure in paper.figures:
        there = element("a", _picture(figure), href=f"#figure-{anchor(figure.name)}")
        for name in figure.claims:
            pictures.setdefault(name, []).append(there)
    verdicts = {verdict.claim: verdict for verdict in paper.verdicts}
    return element(
        "section",
        element("h2", paper.title),
        groups(paper.verdicts, paper.anchor, anchors, pictures),
        *[_figure(figure, verdicts, anchors) for figure in paper.figures],
        id=paper.anchor,
        class_="paper",
    )


def _picture(figure: FigureEntry) -> Markup:
    """The picture from its file, which is fetched when it comes into view."""
    return element("img", src=quote(figure.files["svg"]), alt=figure.title, loading="lazy")


def _figure(figure: FigureEntry, verdicts: Mapping[str, Verdict], anchors: Anchors) -> Markup:
    """The picture, what it shows, and the claims that it bears on."""
    beside = [
        element(
            "li",
            badge(verdict.status.value, verdict.status.value),
            " ",
            element("a", name.partition("/")[2], href=f"#{anchors[name]}"),
            " ",
            mathematics(verdict.statement),
        )
        for name in figure.claims
        if (verdict := verdicts.get(name)) is not None
    ]
    links = [element("a", kind.upper(), href=quote(path)) for kind, path in figure.files.items()]
    return element(
        "figure",
        element("h3", element("span", figure.name, class_="name"), " ", figure.title),
        _picture(figure),
        element(
            "figcaption",
            element("p", mathematics(figure.drawing.caption)),
            join(element("p", "It bears on:"), element("ul", *beside, class_="beside"))
            if beside
            else None,
            element("p", separated(links, " "), class_="files"),
            folded("The numbers", show(figure.drawing.numbers)),
        ),
        id=f"figure-{anchor(figure.name)}",
    )
