"""Verdicts as a table for a paper or a review."""

from collections.abc import Iterable

from lemmata._latex import latex, latex_statement
from lemmata.claims import Verdict, worth


def latex_table(verdicts: Iterable[Verdict]) -> str:
    """A ``longtable`` of booktabs style, one row a claim; any LaTeX sets it."""
    rows = [
        " & ".join(
            (
                latex(verdict.claim).replace("/", r"/\allowbreak{}"),
                verdict.status.value,
                latex(worth(verdict)),
                latex_statement(verdict.statement),
            )
        )
        + r" \\[3pt]"
        for verdict in verdicts
    ]
    ragged = r">{\raggedright\arraybackslash}p"
    columns = rf"{ragged}{{0.2\textwidth}}l{ragged}{{0.17\textwidth}}{ragged}{{0.42\textwidth}}"
    lines = [
        "% needs the packages amsmath, array, booktabs and longtable",
        rf"\begin{{longtable}}{{{columns}}}",
        *(r"\toprule", r"claim & status & worth & statement \\", r"\midrule", r"\endhead"),
        *rows,
        *(r"\bottomrule", r"\end{longtable}"),
    ]
    return "\n".join(lines)
