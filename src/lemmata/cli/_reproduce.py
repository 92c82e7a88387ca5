"""``lemmata reproduce``."""

from pathlib import Path

from lemmata import _verbs
from lemmata._errors import InputError, unknown_name
from lemmata._files import make_folder
from lemmata._inventory import claims_beside
from lemmata._plain import plain
from lemmata.claims import Bench, Claim, Scale, Verdicts
from lemmata.claims import check as check_claim
from lemmata.papers import Figure, papers, with_ledger
from lemmata.report import FigureEntry, save_drawing, terminal_table, write_report
from lemmata.training import Store

from ._check import exit_strictly
from ._progress import progress
from ._terminal import answers, messages, print_json


def command(
    targets: list[str], scale: Scale, seed: int, out: Path, as_json: bool, strict: bool
) -> None:
    """Draw, check, and write the report."""
    figures, claims = find_targets(targets)
    folder = make_folder(out / "reproduce")
    with progress() as track:
        bench = Bench(seed=seed, scale=scale, store=Store(out / "runs"), track=track)
        entries: list[FigureEntry] = []
        drawing_done = track("figures", len(figures))
        for figure in figures:
            drawing = figure.draw(bench)
            files = save_drawing(drawing, folder, figure.name)
            beside = claims_beside(figure.name)
            entries.append(FigureEntry(figure.name, figure.title, drawing, files, beside))
            drawing_done(1)
        checking_done = track("claims", len(claims))
        verdicts = []
        for claim in claims:
            verdicts.append(with_ledger(check_claim(claim, bench)))
            checking_done(1)
    verdicts = Verdicts(verdicts)
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
            answers().print(terminal_table(verdicts))
        for entry in entries:
            places = ", ".join(str(folder / file) for file in entry.files.values())
            messages().print(f"{entry.name}: {places}", highlight=False, markup=False)
        messages().print(f"report: [bold]{page}[/]")
    exit_strictly(verdicts, strict)


def find_targets(names: list[str]) -> tuple[list[Figure], list[Claim]]:
    """The figures and claims to reproduce; a paper means all of its own."""
    known = {figure.name: figure for paper in papers().values() for figure in paper.figures}
    figures: dict[str, Figure] = {}
    claims: dict[str, Claim] = {}
    for name in names or list(papers()):
        if name in papers():
            figures |= {figure.name: figure for figure in papers()[name].figures}
        if name in known:
            figures[name] = known[name]
        elif name.split("/")[0] in papers():
            claims |= {claim.name: claim for claim in _verbs.find_claims([name])}
        else:
            raise InputError(unknown_name("target", name, [*papers(), *known]))
    return list(figures.values()), list(claims.values())
