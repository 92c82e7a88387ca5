"""``lemmata list``."""

from lemmata.cli._terminal import answers, print_json
from lemmata.papers import papers


def list_everything(as_json: bool) -> None:
    """Papers, figures and claims with one line each, without running anything."""
    if as_json:
        print_json(
            {
                "papers": [
                    {
                        "key": paper.key,
                        "title": paper.title,
                        "authors": paper.authors,
                        "year": paper.year,
                        "figures": [{"name": f.name, "title": f.title} for f in paper.figures],
                        "claims": [
                            {"name": c.name, "where": c.where, "statement": c.statement}
                            for c in paper.claims
                        ],
                    }
                    for paper in papers().values()
                ]
            }
        )
        return
    from rich.table import Table

    console = answers()
    for paper in papers().values():
        console.print(f"[bold]{paper.key}[/]  {paper.authors} {paper.year}. {paper.title}")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style="cyan")
        table.add_column()
        for figure in paper.figures:
            table.add_row(figure.name, figure.title)
        for claim in paper.claims:
            table.add_row(claim.name, claim.statement)
        console.print(table, markup=False)
