"""The page: a summary, one section a figure, and the ledger of claims."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from lemmata import __version__
from lemmata._html import Markup, element, join
from lemmata.claims import KIND_MEANING, MEANING, Judgement, Status, Verdict, tally
from lemmata.drawing import Drawing, number

from ._values import line, show

Section = tuple[str, str, Drawing, Mapping[str, str], str]
"""A figure's name, title, drawing, files, and its SVG."""


def page(
    title: str,
    sections: Sequence[Section],
    verdicts: Sequence[Verdict],
    settings: Mapping[str, Any],
) -> str:
    """The whole document."""
    return document(
        title,
        element(
            "header",
            element("h1", title),
            element("div", show(settings), class_="settings") if settings else None,
        ),
        _summary(sections, verdicts),
        *[_figure(i, *section) for i, section in enumerate(sections, start=1)],
        _ledger(verdicts) if verdicts else None,
    )


def document(title: str, *body: object) -> str:
    """A document in the style of all pages; it loads nothing."""
    css = files("lemmata.report").joinpath("report.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(css)),
    )
    footer = element("footer", f"Lemmata {__version__}")
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body, footer), lang='en')}\n"


def _summary(sections: Sequence[Section], verdicts: Sequence[Verdict]) -> Markup:
    contents = [
        element("li", element("a", f"{name}: {title}", href=f"#figure-{i}"))
        for i, (name, title, *_) in enumerate(sections, start=1)
    ]
    if verdicts:
        words = f"The ledger of {len(verdicts)} claim{'s' if len(verdicts) > 1 else ''}"
        contents.append(element("li", element("a", words, href="#ledger")))
    counts = tally(verdicts)
    rows = [
        element(
            "tr",
            element("td", counts[status], class_="number"),
            element("td", _badge(status)),
            element("td", MEANING[status]),
        )
        for status in MEANING
    ]
    return element(
        "section",
        element("nav", element("ul", *contents)),
        element("table", *rows, class_="counts") if verdicts else None,
        class_="summary",
    )


def _figure(
    index: int, name: str, title: str, drawing: Drawing, names: Mapping[str, str], svg: str
) -> Markup:
    links = [element("a", kind.upper(), href=path) for kind, path in names.items()]
    return element(
        "section",
        element("h2", element("span", name, class_="name"), " ", title),
        element(
            "figure",
            inline_svg(svg, f"f{index}-", title),
            element("figcaption", drawing.caption),
        ),
        element("p", *[join(link, " ") for link in links], class_="files") if links else None,
        element("details", element("summary", "The numbers"), show(drawing.numbers)),
        id=f"figure-{index}",
        class_="figure",
    )


def inline_svg(svg: str, prefix: str, label: str) -> Markup:
    """An SVG file as part of a page: no prolog, no metadata, no identifiers that could clash."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    opening = element("svg", role="img", aria_label=label).removesuffix("></svg>")
    return Markup(svg.replace("<svg", opening, 1))


def _ledger(verdicts: Sequence[Verdict]) -> Markup:
    choices = [_choice("all", "all", checked=True)]
    choices += [_choice(status.value, status.value) for status in MEANING]
    return element(
        "section",
        element("h2", "The ledger of claims"),
        element("form", "Show ", *choices, class_="filter"),
        *[_claim(verdict) for verdict in verdicts],
        id="ledger",
    )


def _choice(value: str, label: str, checked: bool = False) -> Markup:
    """A radio button that the style sheet listens to; without it everything shows."""
    button = element("input", type="radio", name="show", id=f"show-{value}", checked=checked)
    return element("label", button, label)


def _claim(verdict: Verdict) -> Markup:
    facts: list[tuple[str, Markup | str]] = [("Outcome", verdict.reason)]
    if verdict.margin is not None:
        facts.append(("Smallest margin", number(verdict.margin, 6)))
    if verdict.informative_from is not None:
        facts.append(_informative(verdict))
    if verdict.witness:
        facts.append(("Witness", line(verdict.witness)))
    facts += [("Experiment", verdict.experiment), *_worth(verdict), *_attacked(verdict)]
    rows = [join(element("dt", name), element("dd", value)) for name, value in facts]
    return element(
        "article",
        element("h3", _badge(verdict.status), element("code", verdict.claim)),
        element("p", verdict.where, class_="where"),
        element("p", verdict.statement, class_="statement"),
        element("dl", *rows),
        _parts(verdict),
        class_=f"claim {verdict.status.value}",
    )


def _informative(verdict: Verdict) -> tuple[str, str]:
    start = f"t = {number(verdict.informative_from)}"
    if verdict.status is Status.VACUOUS:
        return "Would say something", f"from {start}"
    return "Says something", f"from {start}"


def _worth(verdict: Verdict) -> list[tuple[str, Markup | str]]:
    """What sort of failure it is, and what the check could tell."""
    facts: list[tuple[str, Markup | str]] = []
    if verdict.kind is not None:
        facts.append(("Kind", f"{verdict.kind.value}: {KIND_MEANING[verdict.kind]}"))
    if verdict.tightness is not None:
        amount, factor = verdict.tightness.amount, verdict.tightness.factor
        size = f"by {number(amount)}" if factor is None else f"{number(factor)} times"
        facts.append(
            ("Could be sharpened", f"{size}; then it fails on {verdict.tightness.dataset}")
        )
    if verdict.resolution is not None:
        facts.append(("Resolution", number(verdict.resolution)))
    return facts


def _attacked(verdict: Verdict) -> list[tuple[str, Markup | str]]:
    """What the adversary did, if it was let loose on the claim."""
    adversary = None if verdict.support is None else verdict.support.adversary
    if adversary is None:
        return []
    scopes = f"; whole: {'; '.join(adversary.scopes)}" if adversary.scopes else ""
    tried = f" ({adversary.tried:,} instances{scopes})" if adversary.tried else ""
    return [("Adversary", f"{adversary.outcome}: {adversary.reason}{tried}")]


def _parts(verdict: Verdict) -> Markup | None:
    """All parts, if they say more than the verdict does."""
    if len(verdict.parts) < 2:
        return None
    rows = [element("li", *_part(part)) for part in verdict.parts]
    return element(
        "details",
        element("summary", f"{len(rows)} parts"),
        element("ul", *rows, class_="parts"),
    )


def _part(part: Judgement) -> list[Markup]:
    notes = []
    if part.margin is not None:
        notes.append(join("margin ", number(part.margin)))
    if part.informative_from is not None:
        notes.append(join("from t = ", number(part.informative_from)))
    if part.witness:
        notes.append(line(part.witness))
    named = part.reason.startswith(part.part)
    words = part.reason if named else f"{part.part}: {part.reason}"
    return [
        _badge(part.status),
        join(" ", words),
        *[element("p", note, class_="note") for note in notes],
    ]


def _badge(status: Status) -> Markup:
    return element("span", status.value, class_=f"badge {status.value}")
