"""The top of a report: what stands and what falls, in a few lines."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics
from lemmata.claims import KIND_MEANING, MEANING, Kind, Status, Verdict, tally
from lemmata.drawing import Drawing

from ._claims_page import KINDS, STATUSES, Anchors, by_importance
from ._document import badge
from ._pieces import count, facts, separated

SAYS = {
    Status.HOLDS: ("holds", "hold"),
    Status.VACUOUS: ("is vacuous", "are vacuous"),
    Status.UNDECIDED: ("is undecided", "are undecided"),
    Status.INAPPLICABLE: ("does not apply", "do not apply"),
    Status.FAILS: ("fails", "fail"),
}

FAILS_BY = {
    Kind.SUBSTANCE: "in substance",
    Kind.HYPOTHESIS: "for want of a hypothesis",
    Kind.CONSTANT: "in a constant",
    Kind.MISPRINT: "by a misprint",
}


@dataclass(frozen=True)
class FigureEntry:
    """A figure of a report.

    Attributes:
        name, title: what it is called.
        drawing: the picture, its caption and its numbers.
        files: what ``save_drawing`` wrote, relative to the folder of the report.
        claims: names of the claims that it bears on.
    """

    name: str
    title: str
    drawing: Drawing
    files: Mapping[str, str]
    claims: Sequence[str] = ()


@dataclass
class PaperEntry:
    """What a report has of a paper."""

    key: str
    title: str
    verdicts: list[Verdict] = field(default_factory=list)
    figures: list[FigureEntry] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return f"paper-{anchor(self.key)}"


def anchor(name: str) -> str:
    """A name as an identifier on a page.

    Examples:
        >>> anchor("mechanics/theorem-1"), anchor("<b> x")
        ('mechanics/theorem-1', '-b--x')
    """
    return re.sub(r"[^\w./-]", "-", name)


def lead(verdicts: Sequence[Verdict], papers: Sequence[PaperEntry]) -> str:
    """The run in a sentence."""
    many = count(len(verdicts), "claim")
    of = f" of {count(len(papers), 'paper')}" if len(papers) > 1 else ""
    return f"{many}{of}, each checked by computation as it is printed: {_tally_words(verdicts)}."


def _tally_words(verdicts: Sequence[Verdict], paper: str | None = None) -> Markup:
    """How many hold, fail and so on; with a paper, as links to its groups."""
    words = []
    for status, many in sorted(tally(verdicts).items(), key=lambda x: list(SAYS).index(x[0])):
        said = f"{many:,} {SAYS[status][many != 1]}"
        if many:
            there = f"#{paper}-{status.value}"
            words.append(element("a", said, href=there) if paper else join(said))
    kinds = Counter(verdict.kind for verdict in verdicts if verdict.status is Status.FAILS)
    by = [f"{kinds[kind]:,} {FAILS_BY[kind]}" for kind in KINDS if kinds[kind]]
    return join(separated(words, ", "), f" ({', '.join(by)})" if by else None)


def overview(papers: Sequence[PaperEntry]) -> Markup:
    """A line for each paper: how much of it stands."""
    rows = []
    for paper in papers:
        words = join(count(len(paper.verdicts), "claim"), ": ")
        words = join(words, _tally_words(paper.verdicts, paper.anchor)) if paper.verdicts else None
        rows.append(
            element(
                "li",
                element("h3", element("a", paper.title, href=f"#{paper.anchor}")),
                _bar(paper.verdicts),
                element("p", words or count(len(paper.figures), "figure")),
            )
        )
    return element(
        "section",
        element("h2", "At a glance"),
        element("ul", *rows, class_="papers"),
        id="overview",
    )


def _bar(verdicts: Sequence[Verdict]) -> Markup | None:
    """The shares of the statuses; the words below it say the same."""
    counts = tally(verdicts)
    pieces = [
        element("span", class_=status.value, style=f"flex-grow:{counts[status]}")
        for status in reversed(STATUSES)
        if counts[status]
    ]
    return element("div", *pieces, class_="bar", aria_hidden="true") if pieces else None


def gravest(verdicts: Sequence[Verdict], anchors: Anchors) -> Markup | None:
    """The claims that fail in substance, at once."""
    rows = [
        element(
            "li",
            element("a", verdict.claim, href=f"#{anchors[verdict.claim]}"),
            " ",
            mathematics(verdict.statement),
        )
        for verdict in by_importance(verdicts)
        if verdict.status is Status.FAILS and verdict.kind is Kind.SUBSTANCE
    ]
    if not rows:
        return None
    return element(
        "section",
        element("h2", "What falls in substance"),
        element("p", "What these say is not so.", class_="note"),
        element("ul", *rows, class_="gravest"),
    )


def legend() -> Markup:
    """What the words mean."""
    rows = [(badge(status.value, status.value), MEANING[status]) for status in reversed(STATUSES)]
    kinds = [(element("span", kind.value, class_="kind"), KIND_MEANING[kind]) for kind in KINDS]
    return element(
        "section",
        element("h2", "How to read this"),
        element(
            "p",
            "A claim is a statement of a paper, or one of ours about it (own), in our words. It is "
            "judged as it is printed; where a repaired version is true, it stands beside it as a "
            "claim of its own. A verdict is a computation on the instances that it lists; only "
            "fails is final.",
        ),
        facts(rows),
        element("p", "A failure is of one of four kinds:"),
        facts(kinds),
        class_="legend",
    )
