"""``lemmata reproduce``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lemmata._errors import InputError, unknown_name
from lemmata._files import make_folder
from lemmata._plain import plain
from lemmata.claims import Claim, Scale, Verdicts
from lemmata.papers import Figure, Paper, expected_seconds, papers
from lemmata.report import LedgerTable, write_report
from lemmata.training import Store

from ._check import exit_strictly
from ._parts import Part, most_processes, reproduce_all
from ._progress import progress
from ._terminal import announce, answers, messages, print_json


def command(
    targets: list[str], scale: Scale, seed: int, out: Path, as_json: bool, strict: bool
) -> None:
    """Draw, check, and write the report."""
    figures, claims = find_targets(targets)
    folder = make_folder(out / "reproduce")
    parts = by_paper(figures, claims, scale, seed, out)
    if scale == "paper":
        for line in how_long(parts):
            announce(line)
    with progress() as track:
        results = reproduce_all(parts, track)
    found = {entry.name: entry for entries, _ in results for entry in entries}
    entries = [found[figure.name] for figure in figures]
    given = {verdict.claim: verdict for _, verdicts in results for verdict in verdicts}
    verdicts = Verdicts([given[claim.name] for claim in claims])
    settings = {"targets": targets or ["everything"], "scale": scale, "seed": seed}
    titles = {key: f"{p.title} ({p.authors} {p.year})" for key, p in papers().items()}
    page = write_report(
        folder,
        title="Lemmata: what stands",
        figures=entries,
        verdicts=verdicts,
        settings=settings,
        papers=titles,
    )
    if as_json:
        shown = [
            {
                "name": entry.name,
                "title": entry.title,
                "numbers": plain(entry.drawing.numbers),
                "files": entry.files,
            }
            for entry in entries
        ]
        answer = {"settings": settings, "verdicts": [plain(v) for v in verdicts]}
        print_json(answer | {"figures": shown, "report": str(page)})
    else:
        if verdicts:
            answers().print(LedgerTable(verdicts))
        for entry in entries:
            places = ", ".join(str(folder / file) for file in entry.files.values())
            announce(f"{entry.name}: {places}")
        messages().print(f"report: [bold]{page}[/]")
    exit_strictly(verdicts, strict)


def find_targets(names: list[str]) -> tuple[list[Figure], list[Claim]]:
    """The figures and claims to reproduce; a paper means all of its own."""
    known = {figure.name: figure for paper in papers().values() for figure in paper.figures}
    figures: dict[str, Figure] = {}
    claims: dict[str, Claim] = {}
    for name in names or list(papers()):
        key = name.split("/")[0]
        if name in papers():
            figures |= {figure.name: figure for figure in papers()[name].figures}
            claims |= {claim.name: claim for claim in papers()[name].claims}
        elif name in known:
            figures[name] = known[name]
        elif key in papers():
            claims[name] = _claim_of(papers()[key], name)
        else:
            raise InputError(unknown_name("target", name, [*papers(), *known]))
    return list(figures.values()), list(claims.values())


def _claim_of(paper: Paper, name: str) -> Claim:
    """A claim by its whole name; where there is none, figures might have been meant, too."""
    if name not in paper.claims.names:
        known = [*paper.figures.names, *paper.claims.names]
        raise InputError(unknown_name(f"figure or claim of {paper.key}", name, known))
    return paper.claims[name]


def by_paper(
    figures: Sequence[Figure], claims: Sequence[Claim], scale: Scale, seed: int, out: Path
) -> list[Part]:
    """What is to be reproduced, one part a paper."""
    of: dict[str, tuple[list[str], list[str]]] = {}
    for kind, things in enumerate((figures, claims)):
        for thing in things:
            of.setdefault(thing.name.split("/")[0], ([], []))[kind].append(thing.name)
    return [
        Part(key, tuple(drawn), tuple(checked), scale, seed, out)
        for key, (drawn, checked) in of.items()
    ]


def how_long(parts: Sequence[Part]) -> Iterator[str]:
    """What will take how long on this machine, in words."""
    spent, unknown = [], ""
    for part in parts:
        expected = expected_seconds(part.pieces, Store(part.out / "runs"), part.seed)
        spent.append(sum(seconds or 0.0 for seconds in expected.values()))
        for piece, seconds in expected.items():
            if seconds is None:
                unknown = ", beside what was not measured"
                yield f"{piece}: not measured yet"
            else:
                yield f"{piece}: {f'about {_minutes(seconds)}' if seconds else 'finished before'}"
    # A paper is one process, and all wait for the longest.
    longest = max(sum(spent) / most_processes(parts), *spent, 0.0)
    yield f"in all about {_minutes(longest)}{unknown}"


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5_400 else f"{seconds / 3_600:.1f} hours"
