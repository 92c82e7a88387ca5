"""Verdicts as a table for a paper or a review."""

from collections.abc import Iterable

from lemmata._latex import latex
from lemmata.claims import Verdict, worth


def latex_table(verdicts: Iterable[Verdict]) -> str:
    """A ``longtable`` of booktabs style, one row a claim."""
    rows = [
        " & ".join(
            latex(word)
            for word in (verdict.claim, verdict.status.value, worth(verdict), verdict.statement)
        )
        + r" \\"
        for verdict in verdicts
    ]
    head = r"claim & status & worth & statement \\"
    lines = [
        r"% needs the packages booktabs and longtable, and LuaLaTeX or XeLaTeX for symbols",
        r"\begin{longtable}{p{0.2\textwidth}lp{0.2\textwidth}p{0.4\textwidth}}",
        *(r"\toprule", head, r"\midrule", r"\endhead"),
        *rows,
        *(r"\bottomrule", r"\end{longtable}"),
    ]
    return "\n".join(lines)
