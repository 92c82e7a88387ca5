r"""Statements as mathematics: written once, as people type them, and set as formulas.

A statement is a sentence with formulas in it, in Unicode (``‖W‖² ≤ η t``), in letters
(``||W||^2 <= eta t``) or in LaTeX between dollars. What reads like a formula becomes LaTeX here,
from which tables are set and MathML is made; what does not stays as it was written. So a formula
that is not recognised is shown as it was typed, and nothing is ever lost.
"""

import unicodedata
from dataclasses import dataclass

from ._formula import Reader
from ._lexer import tokens_of


@dataclass(frozen=True)
class Formula:
    """A piece of a statement that is mathematics, in LaTeX."""

    latex: str


def parts_of(statement: str) -> list[str | Formula]:
    r"""A statement as words and formulas, in order.

    Examples:
        >>> parts_of("the norm has ||W|| <= eta t.")
        ['the norm has ', Formula(latex='\\|W\\| \\le \\eta t'), '.']
    """
    reader = Reader(tokens_of(statement))
    parts: list[str | Formula] = []
    while reader.more:
        words, formula = "", None
        while reader.more and (formula := reader.formula()) is None:
            words += reader.take().text
        if words:
            parts.append(unicodedata.normalize("NFC", words))
        if formula is not None:
            parts.append(Formula(formula))
    return parts
