"""Claims on a page: a card each, grouped by what became of them, the gravest first."""

from collections.abc import Mapping, Sequence

from lemmata._html import Markup, element, join
from lemmata._mathml import mathematics
from lemmata.claims import KIND_MEANING, Judgement, Kind, Status, Verdict
from lemmata.drawing import number

from ._document import badge
from ._pieces import count, facts, folded
from ._values import line

STATUSES = (Status.FAILS, Status.VACUOUS, Status.UNDECIDED, Status.INAPPLICABLE, Status.HOLDS)
KINDS = (Kind.SUBSTANCE, Kind.HYPOTHESIS, Kind.CONSTANT, Kind.MISPRINT)

WEIGHTY = ("theorem", "proposition", "corollary", "lemma")
"""The weightiest statements of a paper come first among those of one kind."""

TITLES = {
    Status.FAILS: "What falls",
    Status.VACUOUS: "True, but says nothing where it was checked",
    Status.UNDECIDED: "Undecided",
    Status.INAPPLICABLE: "Not applicable",
    Status.HOLDS: "What stands",
}

Anchors = Mapping[str, str]
"""Where a claim stands on the page, by its name."""


def by_importance(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The gravest failures first, weighty statements first among these, else in their order."""

    def rank(verdict: Verdict) -> tuple[int, int, int]:
        kind = len(KINDS) if verdict.kind is None else KINDS.index(verdict.kind)
        word = verdict.claim.partition("/")[2].partition("-")[0]
        weight = WEIGHTY.index(word) if word in WEIGHTY else len(WEIGHTY)
        return STATUSES.index(verdict.status), kind, weight

    return sorted(verdicts, key=rank)


def groups(
    verdicts: Sequence[Verdict],
    paper: str,
    anchors: Anchors,
    pictures: Mapping[str, Sequence[Markup]],
) -> Markup:
    """The claims of a paper by status; those that hold are folded away.

    ``pictures`` are those of the figures that bear on a claim, by its name.
    """
    ranked = by_importance(verdicts)
    sections = []
    for status in STATUSES:
        cards = [
            _card(verdict, anchors, pictures.get(verdict.claim, ()))
            for verdict in ranked
            if verdict.status is status
        ]
        if cards:
            title = join(TITLES[status], " ", element("small", count(len(cards), "claim")))
            sections.append(
                element(
                    "details",
                    element("summary", element("h3", title)),
                    *cards,
                    id=f"{paper}-{status.value}",
                    class_="group",
                    open=status is not Status.HOLDS,
                )
            )
    return join(*sections)


def _card(verdict: Verdict, anchors: Anchors, pictures: Sequence[Markup]) -> Markup:
    paper, _, name = verdict.claim.partition("/")
    kind = None if verdict.kind is None else verdict.kind.value
    return element(
        "article",
        element(
            "h4",
            badge(verdict.status.value, verdict.status.value),
            element("span", kind, class_="kind") if kind else None,
            element("code", name or paper),
            element("span", verdict.where, class_="where"),
        ),
        element("p", mathematics(verdict.statement), class_="statement"),
        element("p", verdict.reason, _aside(verdict), class_="outcome"),
        folded("What supports this", _support(verdict), _parts(verdict), *pictures),
        id=anchors[verdict.claim],
        class_=f"claim {verdict.status.value}",
        data_paper=paper,
        data_status=verdict.status.value,
        data_kind=kind,
        data_words=f"{verdict.claim} {verdict.where} {verdict.statement} {verdict.reason}".lower(),
    )


def _aside(verdict: Verdict) -> Markup | None:
    """From when on a bound says something."""
    if verdict.informative_from is None:
        return None
    would = "would say" if verdict.status is Status.VACUOUS else "says"
    start = number(verdict.informative_from)
    return element("span", f" · {would} something from t = {start} on", class_="aside")


def _support(verdict: Verdict) -> Markup:
    return facts(
        [
            ("Kind", _kind(verdict)),
            ("Smallest margin", None if verdict.margin is None else number(verdict.margin, 6)),
            ("At", line(verdict.witness) if verdict.witness else None),
            ("Could be sharpened", _sharpened(verdict)),
            ("Would have noticed", _noticed(verdict)),
            ("Looked at", _looked_at(verdict)),
            ("Experiment", verdict.experiment),
            ("Adversary", _attack(verdict)),
        ]
    )


def _kind(verdict: Verdict) -> str | None:
    return None if verdict.kind is None else f"{verdict.kind.value}: {KIND_MEANING[verdict.kind]}"


def _sharpened(verdict: Verdict) -> str | None:
    tightness = verdict.tightness
    if tightness is None:
        return None
    if tightness.attained:
        return f"no: it is attained on {tightness.dataset}"
    factor, amount = tightness.factor, tightness.amount
    size = f"by {number(amount)}" if factor is None else f"{number(factor)} times"
    return f"{size}; then it fails on {tightness.dataset}"


def _noticed(verdict: Verdict) -> str | None:
    if verdict.resolution is None:
        return None
    return f"a change of {number(verdict.resolution)}, relative to the sides; no smaller one"


def _looked_at(verdict: Verdict) -> str | None:
    support = verdict.support
    if support is None:
        return None
    words = [count(support.instances, "instance")]
    if support.set_aside:
        words.append(f"{support.set_aside:,} outside its hypotheses set aside")
    if support.steps is not None:
        words.append(f"up to step {number(support.steps)}")
    return f"{', '.join(words)}; seed {support.seed}"


def _attack(verdict: Verdict) -> str | None:
    """What the adversary did, if it was let loose on the claim."""
    adversary = None if verdict.support is None else verdict.support.adversary
    if adversary is None:
        return None
    words = [f"{adversary.outcome}: {adversary.reason}"]
    if adversary.tried:
        words.append(f"tried {count(adversary.tried, 'instance')}")
    words += [f"gone through whole: {scope}" for scope in adversary.scopes]
    if adversary.closest is not None:
        words.append(f"closest: {number(adversary.closest)}, relative to the sides")
    return "; ".join(words)


def _parts(verdict: Verdict) -> Markup | None:
    """All parts, if they say more than the verdict does."""
    if len(verdict.parts) < 2:
        return None
    rows = [element("li", *_part(part)) for part in verdict.parts]
    return join(
        element("p", f"{len(rows)} parts; the least favourable one decides:", class_="note"),
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
        badge(part.status.value, part.status.value),
        join(" ", words),
        *[element("p", note, class_="note") for note in notes],
    ]
