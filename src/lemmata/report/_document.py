"""What all pages have in common: one file in one style, which loads nothing from elsewhere."""

import re
from importlib.resources import files

from lemmata import __version__
from lemmata._html import Markup, element


def document(title: str, *body: object, script: str | None = None) -> str:
    """A document in the style of all pages; ``script`` is a file of this package in it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(_text("report.css"))),
    )
    main = element("main", *body)
    footer = element("footer", f"Lemmata {__version__}")
    code = None if script is None else element("script", Markup(_text(script)))
    whole = element("html", head, element("body", main, footer, code), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _text(name: str) -> str:
    return files("lemmata.report").joinpath(name).read_text(encoding="utf-8")


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


def badge(word: str, look: str) -> Markup:
    """A word that is coloured after a status."""
    return element("span", word, class_=f"badge {look}")
