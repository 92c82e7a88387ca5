"""Verdicts as a table for a paper or a review."""

import re
from collections.abc import Iterable

from lemmata._latex import latex, latex_statement
from lemmata.claims import Verdict, worth

PLACES = re.compile(r"(?<=[])])(?=\\(?:sum|max|\{|\|)|[(\[])|(?<=\\\|)(?=\\(?:sum|max))")
"""Between factors, where a narrow column may break a formula."""

UNWELCOME = r"\penalty900 "
"""Breaks at relations and signs are better: LaTeX counts 500 and 700 for them."""


def breakable(statement: str) -> str:
    """A statement in LaTeX whose long formulas may be broken between factors, too."""
    return PLACES.sub(lambda _: UNWELCOME, statement)


def latex_table(verdicts: Iterable[Verdict]) -> str:
    """A ``longtable`` of booktabs style, one row a claim; any LaTeX sets it."""
    rows = [
        " & ".join(
            (
                latex(verdict.claim).replace("/", r"/\allowbreak{}"),
                verdict.status.value,
                latex(worth(verdict)),
                breakable(latex_statement(verdict.statement)),
            )
        )
        + r" \\ \addlinespace"
        for verdict in verdicts
    ]
    ragged = r">{\raggedright\arraybackslash}p"
    widths = [rf"{ragged}{{{share}\textwidth}}" for share in (0.19, 0.16, 0.4)]
    columns = rf"@{{}}{widths[0]}l{widths[1]}{widths[2]}@{{}}"
    lines = [
        "% needs the packages amsmath, array, booktabs and longtable",
        rf"\begin{{longtable}}{{{columns}}}",
        *(r"\toprule", r"claim & status & worth & statement \\", r"\midrule", r"\endhead"),
        *rows,
        *(r"\bottomrule", r"\end{longtable}"),
    ]
    return "\n".join(lines)
