"""``lemmata reproduce``."""

from pathlib import Path

from lemmata._files import make_folder
from lemmata.cli._benches import Benches
from lemmata.cli._check import exit_strictly
from lemmata.cli._targets import find_targets
from lemmata.cli._terminal import answers, messages, print_json, progress_bars
from lemmata.report import (
    FigureEntry,
    as_json,
    plain,
    save_drawing,
    terminal_table,
    write_report,
)


def reproduce(
    targets: list[str], paper_scale: bool, seed: int, out: Path, json: bool, strict: bool
) -> None:
    """Draw, check, and write the report."""
    figures, claims = find_targets(targets)
    folder = make_folder(out)
    from lemmata.training import Store

    with progress_bars() as track:
        bench = Benches(
            seed=seed, paper_scale=paper_scale, store=Store(folder / "runs"), track=track
        )
        entries: list[FigureEntry] = []
        drawing_done = track("figures", len(figures))
        for figure in figures:
            drawing = bench.draw(figure)
            files = save_drawing(drawing, folder, figure.name)
            entries.append((figure.name, figure.title, drawing, files))
            drawing_done(1)
        checking_done = track("claims", len(claims))
        verdicts = []
        for claim in claims:
            verdicts.append(bench.check(claim))
            checking_done(1)
    settings = {
        "targets": targets or ["everything"],
        "scale": "paper" if paper_scale else "quick",
        "seed": seed,
    }
    page = write_report(
        folder, title="Lemmata", figures=entries, verdicts=verdicts, settings=settings
    )
    if json:
        print_json(
            {
                "settings": settings,
                "verdicts": [as_json(verdict) for verdict in verdicts],
                "figures": [
                    {
                        "name": name,
                        "title": title,
                        "numbers": plain(drawing.numbers),
                        "files": files,
                    }
                    for name, title, drawing, files in entries
                ],
                "report": str(page),
            }
        )
    else:
        answers().print(terminal_table(verdicts))
        messages().print(f"report: [bold]{page}[/]")
    exit_strictly(verdicts, strict)
